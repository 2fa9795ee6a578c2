"""Compare the answer to every wording with that to the original of its item: same model, condition, order of options.

What an answer is depends on the protocol; it is that of the other pages:

- *two answers* (`measures.agreement`): the value is the share of the first answer in the frame of the original, and the
  answer is the first one from one half on. Rewordings that turn the meaning of the answers round, such as antonyms, are
  no paraphrases, and are left out;
- *choices* (`measures.choices`): the value is the probability of the right option, as a share of that of all, or 1 or 0
  where there are no probabilities; the answer is the option that was chosen;
- *rating scales* (`measures.ratings`): the value is the mean answer, 0 to 1, after reversing; the answer is the side of
  the middle that it is on. A wording in the middle is not on the other side; beside an original in the middle, nothing
  can be.

A wording with the text of the original, but for blanks around it, is the original, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures import agreement, choices, ratings
from analysis.measures.choices import PER_BYTE, Choices
from analysis.measures.ratings import Ratings, average_known_over_first_axis
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL
from analysis.statistics.ordered import MIDDLE, ON_NO_SIDE
from analysis.statistics.resampling import Array


@dataclass(frozen=True)
class AnswersBesideOriginal:
    """Hold the answers of one study to its paraphrases, beside those to the originals.

    Attributes
    ----------
    study
        Its name.
    units
        Model and condition of every unit, in the order of run.json.
    wordings
        A row per paraphrase of an item that has an original: item, variant; wording: the variant, of choices without
        the number of the order of the options.
    flips
        (units, wordings): 1 where the answer is another than that to the original, 0 where not, NaN where either is
        missing.
    values, distances
        (units, wordings): the value, and how far it is from that of the original, 0 to 1.
    validity
        Of every unit, the mean mass or share of valid answers; of two answers, over these wordings; the lower bound,
        where not all of the probability was shown.
    validity_at_most
        Of every unit, the upper bound; NaN where the validity is exact.
    """

    study: str
    units: list[tuple[str, str]]
    wordings: pd.DataFrame
    flips: Array
    values: Array
    distances: Array
    validity: Array
    validity_at_most: Array


@dataclass(frozen=True)
class _Answers:
    """Hold values and answers of a study, each (units, stimuli), and the validity and its upper bound, NaN where the
    validity is exact, each (units,) or (units, stimuli).

    Answers are numbers that tell them apart, NaN where there is none; of sides, 0 is on neither side.
    """

    units: list[tuple[str, str]]
    values: Array
    answers: Array
    validity: Array
    validity_at_most: Array
    are_sides: bool = False


def tabulate_answers_beside_original(runs: Runs) -> pd.DataFrame:
    """Read the answers to all paraphrases as a row each, beside those to the originals.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition, item, variant, wording (categorical); flip, distance, value as in
        `AnswersBesideOriginal`. In the order of run.json and of the study.
    """
    parts = [
        _tabulate_answers_of_study_beside_original(study) for study in read_studies_with_answers_beside_original(runs)
    ]
    names = ["study", "model", "condition", "item", "variant", "wording"]
    frame = (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*names, "flip", "distance", "value"])
    )
    return frame.astype(dict.fromkeys(names, "category") | dict.fromkeys(("flip", "distance", "value"), "float64"))


def _tabulate_answers_of_study_beside_original(study: AnswersBesideOriginal) -> pd.DataFrame:
    """List the answers of a study, unit after unit."""
    n_units, n_wordings = study.flips.shape
    columns: dict[str, Any] = {"study": pd.Categorical.from_codes(np.zeros(n_units * n_wordings, int), [study.study])}
    for place, name in enumerate(("model", "condition")):
        codes, names = pd.factorize(pd.Series([unit[place] for unit in study.units], dtype=object))
        columns[name] = pd.Categorical.from_codes(np.repeat(codes, n_wordings), names)
    for name in ("item", "variant", "wording"):
        codes, names = pd.factorize(study.wordings[name])
        columns[name] = pd.Categorical.from_codes(np.tile(codes, n_units), names)
    values = {"flip": study.flips, "distance": study.distances, "value": study.values}
    return pd.DataFrame(columns | {name: array.ravel() for name, array in values.items()}, copy=False)


def read_studies_with_answers_beside_original(runs: Runs) -> list[AnswersBesideOriginal]:
    """Read every study of two answers, of choices and of rating scales, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    list of AnswersBesideOriginal
        In the order of run.json; without studies that have no paraphrase of an original.
    """
    return runs.compute_once("beside original", lambda: list(_read_studies_with_originals(runs)))


def _read_studies_with_originals(runs: Runs) -> Iterator[AnswersBesideOriginal]:
    """Yield every study that has paraphrases of originals."""
    protocol_by_study = {name: fields["protocol"] for name, fields in runs.info["studies"].items()}
    apart = {choices.PROTOCOL, ratings.PROTOCOL}
    of_two = {
        name
        for name, fields in runs.info["studies"].items()
        if len(fields["canonical"]) == 2 and protocol_by_study[name] not in apart
    }
    for name, protocol in protocol_by_study.items():
        if protocol not in apart and name not in of_two:
            continue
        stimuli = _read_stimuli_beside_originals(
            runs, name, by_order=protocol == choices.PROTOCOL, by_answers=name in of_two
        )
        if not (stimuli["origin"] >= 0).any():
            continue
        answers: _Answers | None
        if name in of_two:
            answers = _read_answers_of_two_option_study(runs.select_studies(of_two) or runs, name, len(stimuli))
        elif protocol == choices.PROTOCOL:
            answers = _read_answers_of_choice_study(runs.select_protocols({protocol}) or runs, name, stimuli)
        else:
            answers = _read_answers_of_rating_study(runs.select_protocols({protocol}) or runs, name, stimuli)
        if answers is not None:
            yield _build_answers_beside_original(name, stimuli, answers)


def _read_stimuli_beside_originals(runs: Runs, study: str, *, by_order: bool, by_answers: bool) -> pd.DataFrame:
    """Read the stimuli of a study in order, with the place of the original that each is compared with, or -1.

    With `by_order`, it has the same order of the options; with `by_answers`, answers mean the same as in it.
    """
    number = "coalesce(try_cast(regexp_extract(variant, '/([0-9]{1,4})$', 1) AS INTEGER), 0)" if by_order else "0"
    frame = runs.sql(
        f"""SELECT item, variant, pattern, text, {number} AS number,
                   array_to_string(options, chr(10)) AS options, array_to_string(canonical, chr(10)) AS canonical
            FROM stimuli WHERE study = ? ORDER BY position""",
        [study],
    )
    frame["wording"] = frame["variant"].str.replace(r"/[0-9]{1,4}$", "", regex=True) if by_order else frame["variant"]
    is_original = (frame["pattern"] == ORIGINAL).to_numpy()
    groups = frame.groupby(["item", "number"], sort=False).ngroup().to_numpy()
    first = np.full(groups.max(initial=-1) + 1, -1)
    places = np.flatnonzero(is_original)[::-1]  # of several originals, the first one stands last here, and stays
    first[groups[places]] = places
    origin = np.where(is_original, -1, first[groups])
    beside = frame.iloc[origin]
    texts = frame["text"].str.strip().to_numpy()
    is_other = (texts == texts[origin]) & (origin >= 0)
    if by_answers:
        has_same_options = beside["options"].to_numpy() == frame["options"].to_numpy()
        is_other |= has_same_options & (beside["canonical"].to_numpy() != frame["canonical"].to_numpy())
    return frame.assign(origin=np.where(is_other, -1, origin))


def _read_answers_of_two_option_study(runs: Runs, study: str, n_stimuli: int) -> _Answers:
    """Read the share of the first answer, and whether it is the answer."""
    agreement.create_agreement_tables(runs)
    units = runs.list_units_of_study(study)
    rows = runs.execute(
        """
        SELECT u.unit, s.place, a.agreement, a.validity,
               CASE WHEN a.hidden > 0 THEN least(1, a.validity + a.hidden) ELSE a.validity END AS validity_at_most
        FROM (SELECT * FROM answers WHERE study = $study) AS a
        JOIN (SELECT item, variant, row_number() OVER (ORDER BY position) - 1 AS place FROM stimuli
              WHERE study = $study) AS s USING (item, variant)
        JOIN (SELECT model, condition, row_number() OVER (ORDER BY position) - 1 AS unit FROM units
              WHERE study = $study) AS u USING (model, condition)""",
        {"study": study},
    ).fetchnumpy()
    values, validity, validity_at_most = (
        _arrange_values_by_unit_and_place(rows, name, (len(units), n_stimuli))
        for name in ("agreement", "validity", "validity_at_most")
    )
    return _Answers(units, values, np.where(np.isnan(values), np.nan, values >= 0.5), validity, validity_at_most)


def _arrange_values_by_unit_and_place(rows: Mapping[str, Any], name: str, shape: tuple[int, int]) -> Array:
    """Lay a column of rows with `unit` and `place` out as an array; NaN where there is no row, or null."""
    array = np.full(shape, np.nan)
    array[rows["unit"], rows["place"]] = np.ma.filled(rows[name].astype(float), np.nan)
    return array


def _read_answers_of_choice_study(runs: Runs, study: str, stimuli: pd.DataFrame) -> _Answers | None:
    """Read the probability of the right option, and the letter of the choice; without what is read per byte."""
    read_study: Choices | None = next(
        (s for s in choices.read_choice_studies_with_gaps(runs) if s.study == study), None
    )
    if read_study is None:
        return None
    is_plain = [not condition.endswith(PER_BYTE) for _, condition in read_study.units]
    cells = (
        pd.Index(read_study.items).get_indexer(stimuli["item"]),
        pd.Index(read_study.wordings).get_indexer(stimuli["pattern"]),
        np.searchsorted(read_study.orders, stimuli["number"]),
    )
    letters = read_study.chosen_letter[cells][:, is_plain].T.astype(float)
    chosen = np.where(letters < 0, np.nan, letters)
    units = [unit for unit, is_kept in zip(read_study.units, is_plain, strict=True) if is_kept]
    is_right = np.where(np.isnan(chosen), np.nan, letters == read_study.gold[cells[0]])
    rows = runs.execute(
        """
        SELECT u.unit, s.place, r.probability[s.right_place] / nullif(list_sum(r.probability), 0) AS share
        FROM (SELECT * FROM responses WHERE study = $study AND probability IS NOT NULL) AS r
        JOIN (SELECT item, variant, list_position(canonical, gold) AS right_place,
                     row_number() OVER (ORDER BY position) - 1 AS place FROM stimuli WHERE study = $study) AS s
            USING (item, variant)
        JOIN (SELECT model, condition, row_number() OVER (ORDER BY position) - 1 AS unit FROM units
              WHERE study = $study) AS u USING (model, condition)""",
        {"study": study},
    ).fetchnumpy()
    shares = _arrange_values_by_unit_and_place(rows, "share", (len(units), len(stimuli)))
    return _Answers(
        units, np.where(np.isnan(shares), is_right, shares), chosen, read_study.validity[is_plain],
        read_study.validity_at_most[is_plain],
    )  # fmt: skip


def _read_answers_of_rating_study(runs: Runs, study: str, stimuli: pd.DataFrame) -> _Answers | None:
    """Read the mean answer after reversing, and the side of the middle: -1, 1, or 0 for the middle."""
    read_study: Ratings | None = next((s for s in ratings.read_ratings_with_originals(runs) if s.name == study), None)
    if read_study is None:
        return None
    places = read_study.variants.set_index(["item", "variant"]).loc[
        pd.MultiIndex.from_frame(stimuli[["item", "variant"]])
    ]
    values = read_study.keyed_scores[:, places["item_code"], places["wording_code"]]
    side = np.where(np.abs(values - MIDDLE) <= ON_NO_SIDE, 0.0, np.sign(values - MIDDLE))
    units = list(read_study.units[["model", "condition"]].itertuples(index=False, name=None))
    validity, validity_at_most = (read_study.units[name].to_numpy(float) for name in ("validity", "validity_at_most"))
    return _Answers(units, values, side, validity, validity_at_most, are_sides=True)


def _build_answers_beside_original(study: str, stimuli: pd.DataFrame, answers: _Answers) -> AnswersBesideOriginal:
    """Compare the answers to every paraphrase with those to its original."""
    origin = stimuli["origin"].to_numpy()
    places: npt.NDArray[np.intp] = np.flatnonzero(origin >= 0)
    answer, first = answers.answers[:, places], answers.answers[:, origin[places]]
    is_other = answer != first
    if answers.are_sides:
        first = np.where(first == 0, np.nan, first)
        is_other = answer == -first
    validity, validity_at_most = (
        bound if bound.ndim == 1 else average_known_over_first_axis(bound[:, places].T)
        for bound in (answers.validity, answers.validity_at_most)
    )
    return AnswersBesideOriginal(
        study, answers.units, stimuli.iloc[places][["item", "variant", "wording"]].reset_index(drop=True),
        np.where(np.isnan(answer) | np.isnan(first), np.nan, is_other),
        answers.values[:, places],
        np.abs(answers.values[:, places] - answers.values[:, origin[places]]),
        validity, np.where(validity_at_most > validity, validity_at_most, np.nan),
    )  # fmt: skip
