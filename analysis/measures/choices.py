"""Read which choice every model took in every wording and order of the options, and refuse questions with gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.part_names import name_part_beside_total, name_parts_beside_rest
from analysis.runs import Runs
from analysis.runs.folder import ORIGINAL, quote_sql_literal
from ground.errors import InputError, shorten_to_one_line

PROTOCOL = "choice"
TEXTS, PER_BYTE = "texts", " per byte"
ALL, NO_SUBSET = "all", "none"
NO_CHOICE, NOT_ASKED = -1, -2
"""In arrays of choices: no choice could be read; the question has no such order."""
Codes: TypeAlias = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Choices:
    """Hold what the models chose in one study; arrays are (questions, wordings, orders) or (..., units).

    Attributes
    ----------
    study
        Its name.
    units
        Model and condition of every unit, in the order of run.json. Probabilities of the choices' texts are read twice:
        as they are, and per byte, under the name of the condition with `PER_BYTE`.
    items, subsets
        Ids of the questions in the order of the study, and the subset of each.
    wordings
        Patterns, the original first.
    orders
        Numbers of the orders, as in the names of variants.
    letters
        The letters of the study, in order.
    asked_mask
        Whether the question has this wording in this order.
    size, right
        How many choices the question has, and the place of the right one among those shown: -2 where not asked.
    chosen_letter, chosen_place
        The choice that was taken, by its letter in the question's own order, and by its place among those shown: the
        number of the letter, -1 where the answer is none of them, -2 where the unit was not asked.
    gold
        Number of the letter of the right choice in the question's own order: (questions,).
    validity
        Of every unit: mean mass on the options, or the share of texts that could be read; where only bounds of the mass
        are known, the lower one.
    validity_at_most
        Of every unit: the upper bound, where only bounds are known; else NaN.
    readings
        Of every unit: how its texts are read, "letter" or "strict"; empty where it has none, or others read them.
    texts, otherwise
        Of every answer, how many texts it was read from, and how many of them the other reading reads differently;
        NaN where that was not counted: (questions, wordings, orders, units).
    validities
        Of every answer, its mass, or the share of its texts that could be read; NaN where not asked, and of a unit of
        which only bounds are known: (questions, wordings, orders, units).
    """

    study: str
    units: tuple[tuple[str, str], ...]
    items: npt.NDArray[np.object_]
    subsets: npt.NDArray[np.object_]
    wordings: tuple[str, ...]
    orders: tuple[int, ...]
    letters: tuple[str, ...]
    asked_mask: npt.NDArray[np.bool_]
    size: Codes
    right: Codes
    chosen_letter: Codes
    chosen_place: Codes
    gold: Codes
    validity: npt.NDArray[np.float64]
    validity_at_most: npt.NDArray[np.float64]
    readings: tuple[str, ...]
    texts: npt.NDArray[np.float64]
    otherwise: npt.NDArray[np.float64]
    validities: npt.NDArray[np.float64]

    def select_questions(self, is_selected: npt.NDArray[np.bool_]) -> Choices:
        """Keep some of the questions."""
        names = ("items", "subsets", "asked_mask", "size", "right", "chosen_letter", "chosen_place", "gold", "texts",
                 "otherwise", "validities")  # fmt: skip
        return replace(self, **{name: getattr(self, name)[is_selected] for name in names})

    def split_by_subset(self) -> Mapping[str, Choices]:
        """Return all questions, and those of each subset where there are several; of one, all have its name."""
        names = [str(name) for name in dict.fromkeys(self.subsets)]
        if len(names) == 1:
            return {ALL if names == [NO_SUBSET] else names[0]: self}
        parts = {
            name_part_beside_total(name, ALL, "subset"): self.select_questions(self.subsets == name) for name in names
        }
        return {ALL: self, **parts}


def read_choice_studies(runs: Runs) -> list[Choices]:
    """Read all studies of the protocol; once per `Runs`.

    The choice of a response is its likeliest option where it holds probabilities, else what its text parses to, else
    the option of most samples. Two options that are equally likely are no choice.

    Raises
    ------
    InputError
        For no such study; a question that lacks a wording, an order or a response to one of them; a variant without an
        order in its name, without a right choice among its options, or with letters that run.json does not list; two
        variants of the same wording and order; choices without texts where their probabilities are to be divided by
        their length.
    """
    return runs.compute_once(
        "choice studies", lambda: [_read_choice_study(runs, study) for study in require_choice_study_names(runs)]
    )


def read_choice_studies_with_gaps(runs: Runs) -> list[Choices]:
    """Read all studies as `read_choice_studies`, but with questions that lack wordings, orders or responses.

    Raises
    ------
    InputError
        As `read_choice_studies`, but not for what a question lacks.
    """
    return runs.compute_once(
        "choice studies with gaps",
        lambda: [_read_choice_study(runs, study, with_gaps=True) for study in require_choice_study_names(runs)],
    )


def require_choice_study_names(runs: Runs) -> list[str]:
    """List the studies of the protocol; refuse runs without one.

    Raises
    ------
    InputError
        Where there is none.
    """
    names = runs.list_studies_of_protocols(PROTOCOL)
    if not names:
        raise InputError(f"{runs.join_folder_paths()}: no run of the protocol '{PROTOCOL}'")
    return names


def _read_choice_study(runs: Runs, study: str, *, with_gaps: bool = False) -> Choices:
    """Read one study into arrays, and refuse it where questions or answers have gaps, unless they may."""
    variants = _read_choice_variants(runs, study)
    items = variants.drop_duplicates("item")
    wordings = sorted(
        variants["pattern"].unique(), key=lambda name: (name != ORIGINAL, len(name), name)
    )  # paraphrase_2 before _10
    orders = tuple(sorted(map(int, variants["number"].unique())))
    letters = tuple(map(str, runs.info["studies"][study]["canonical"]))
    cell_index = [
        variants["item"].map({item: number for number, item in enumerate(items["item"])}).to_numpy(),
        variants["pattern"].map(wordings.index).to_numpy(),
        np.searchsorted(orders, variants["number"]),
    ]
    shape = (len(items), len(wordings), len(orders))
    position, size, right = (np.full(shape, NOT_ASKED, kind) for kind in (np.int64, np.int8, np.int8))
    for array, column in ((position, "position"), (size, "size"), (right, "right_place")):
        array[*cell_index] = variants[column]
    gold = items["gold"].map(letters.index).to_numpy(np.int8)
    no_answers, no_values = np.full((*shape, 0), NOT_ASKED, np.int8), np.zeros(0)
    questions = Choices(
        study, (), items["item"].to_numpy(object), items["subset"].to_numpy(object), tuple(wordings), orders, letters,
        position >= 0, size, right, no_answers, no_answers, gold, no_values, no_values, (),
        *(no_answers.astype(float),) * 3,
    )  # fmt: skip
    if not with_gaps:
        _refuse_question_lacking_wording_or_order(runs, questions)
    # Of 3 wordings and 2 orders, question 1, wording 0, order 1 is the cell 1 * 6 + 0 * 2 + 1 = 7.
    _create_variant_places_table(runs, variants, np.ravel_multi_index(tuple(cell_index), shape))
    units = _list_models_and_conditions_of_choices(runs, study)
    choices = replace(questions, units=tuple(units), **_read_choice_answers(runs, study, units, letters, shape))
    if not with_gaps:
        _refuse_partly_answered_questions(runs, choices, position)
    return choices


def _read_choice_variants(runs: Runs, study: str) -> pd.DataFrame:
    """Read the stimuli; `number` is that of the order, from the end of the variant's name."""
    frame = runs.sql(
        """SELECT item, variant, pattern, position, gold, len(options) AS size, list_distinct(canonical) AS letters,
                   map_extract(attributes, 'subset')[1] AS subset,
                   coalesce(list_position(canonical, gold), 0) - 1 AS right_place,
                   coalesce(try_cast(regexp_extract(variant, '/([0-9]{1,4})$', 1) AS INTEGER), 0) AS number
            FROM stimuli WHERE study = ? ORDER BY position""",
        [study],
    )
    frame["subset"] = name_parts_beside_rest(frame["subset"], NO_SUBSET, "subset")
    canonical_letters = set(map(str, runs.info["studies"][study]["canonical"]))
    wrong_by_problem = {
        "has no order: its name must end in the order's number, as in original/1": ~(frame["number"] > 0),
        "has no right choice among its options": ~(frame["right_place"] >= 0),
        "has letters that are not in run.json: study: canonical": ~frame["letters"].map(canonical_letters.issuperset),
        "has an order that another variant of the same wording has": frame.duplicated(["item", "pattern", "number"]),
    }
    for problem, is_wrong in wrong_by_problem.items():
        if is_wrong.any():
            row = frame[is_wrong].iloc[0]
            raise InputError(
                f"{runs.find_path_of_study(study)}: stimuli.parquet: item {row['item']!r}, variant {row['variant']!r} "
                f"{problem}"
            )
    return frame


def _list_models_and_conditions_of_choices(runs: Runs, study: str) -> list[tuple[str, str]]:
    """List models and conditions in the order of run.json; one that has the texts' probabilities stands for two."""
    conditions = runs.info["conditions"][study]
    return [
        (model, condition + ending)
        for model, condition in runs.list_units_of_study(study)
        for ending in (("", PER_BYTE) if conditions[condition].get("way") == TEXTS else ("",))
    ]


def _create_variant_places_table(runs: Runs, variants: pd.DataFrame, cell_numbers: npt.NDArray[np.int64]) -> None:
    """Note for every variant its place in the arrays, as the table `choice_cells`; positions name variants."""
    index = pd.DataFrame({"position": variants["position"], "cell": cell_numbers})
    runs.con.register("choice_index", index)
    runs.execute("CREATE OR REPLACE TEMP TABLE choice_cells AS SELECT * FROM choice_index")
    runs.con.unregister("choice_index")


def _read_choice_answers(
    runs: Runs, study: str, units: Sequence[tuple[str, str]], letters: Sequence[str], shape: tuple[int, ...]
) -> dict[str, Any]:
    """Fill what `Choices` has of all units: choices by letter and by place, validity, and how texts were read."""
    size = int(np.prod(shape)), len(units)
    chosen_letters, chosen_places = (np.full(size, NOT_ASKED, np.int8) for _ in range(2))
    texts, otherwise, validities = (np.full(size, np.nan) for _ in range(3))
    validity, validity_at_most = np.full(len(units), np.nan), np.full(len(units), np.nan)
    for unit, (model, condition) in enumerate(units):
        rows = _read_unit_choices(runs, study, model, condition, letters)
        chosen_letters[rows["cell"], unit], chosen_places[rows["cell"], unit] = rows["letter"], rows["place"]
        for array, name in ((texts, "texts"), (otherwise, "read_otherwise")):
            array[rows["cell"], unit] = np.ma.filled(rows[name].astype(float), np.nan)
        lows, highs = (np.ma.filled(rows[name].astype(float), np.nan) for name in ("validity", "most"))
        if not len(lows):  # every prompt failed
            continue
        validity[unit] = float(lows.mean())
        if (highs > lows).any():  # those known exactly are the sure ones: alone they would say too much
            validity_at_most[unit] = float(highs.mean())
        else:
            validities[rows["cell"], unit] = lows
    cells = {"chosen_letter": chosen_letters, "chosen_place": chosen_places, "texts": texts, "otherwise": otherwise,
             "validities": validities}  # fmt: skip
    conditions = runs.info["conditions"][study]
    readings = tuple(find_text_reading_rule(conditions[condition.removesuffix(PER_BYTE)]) for _, condition in units)
    return {
        **{name: array.reshape(*shape, len(units)) for name, array in cells.items()},
        "validity": validity, "validity_at_most": validity_at_most, "readings": readings,
    }  # fmt: skip


def find_text_reading_rule(condition_fields: Mapping[str, Any]) -> str:
    """Find how texts were read; runs of before there were two readings say `reply_rule` only: strictly."""
    return str(condition_fields.get("reply_reading") or ("strict" if "reply_rule" in condition_fields else ""))


def drop_repeated_per_byte_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows of texts' probabilities per byte: the same answers once more, which sentences would count twice.

    >>> frame = pd.DataFrame({"condition": ["c", "c per byte", "d per byte"]})
    >>> drop_repeated_per_byte_rows(frame)["condition"].tolist()
    ['c', 'd per byte']
    """
    is_second = np.zeros(len(frame), bool)
    for name in (name for name in frame if name.startswith("condition")):
        plain = frame[name].str.removesuffix(PER_BYTE)
        is_second |= ((plain != frame[name]) & plain.isin(frame[name])).to_numpy()
    return frame[~is_second]


def _read_unit_choices(
    runs: Runs, study: str, model: str, condition: str, letters: Sequence[str]
) -> dict[str, npt.NDArray[Any]]:
    """Read the cell, the place and the letter of the choice, and the validity of every response of one unit."""
    name, is_per_byte = condition.removesuffix(PER_BYTE), condition.endswith(PER_BYTE)
    scores = "coalesce(r.logprob, r.probability)"
    if is_per_byte:
        scores = f"[pair[1] / pair[2] FOR pair IN list_zip(coalesce(r.logprob, {_LOGARITHMS}), {_LENGTHS})]"
    letters_sql = ", ".join(map(quote_sql_literal, letters))
    rows = runs.execute(
        f"""
        SELECT cell, item, coalesce(place, 0) - 1 AS place,
               coalesce(list_position([{letters_sql}], canonical[place]), 0) - 1 AS letter,
               CASE WHEN scores IS NOT NULL THEN mass WHEN samples > 0 THEN 1 - invalid / samples
                    ELSE CAST(place IS NOT NULL AS DOUBLE) END AS validity,
               CASE WHEN scores IS NOT NULL AND mass IS NOT NULL THEN coalesce(mass_upper, mass) ELSE validity
                    END AS most,
               short, texts, read_otherwise
        FROM (SELECT *, CASE WHEN scores IS NOT NULL THEN {_build_place_of_largest_sql("scores")}
                             WHEN answer IS NOT NULL THEN list_position(options, answer)
                             ELSE {_build_place_of_largest_sql("counts")} END AS place
              FROM (SELECT c.cell, s.item, s.variant, r.answer, s.options, s.canonical, {scores} AS scores,
                           r."count" AS counts, r.mass, r.mass_upper, len(r.output) AS texts,
                           r.read_otherwise, coalesce(r.invalid, 0) AS invalid,
                           list_sum(r."count") + coalesce(r.invalid, 0) AS samples,
                           {f"coalesce(list_min({_LENGTHS}), 0) < 1" if is_per_byte else "false"} AS short
                    FROM responses AS r
                    JOIN stimuli AS s ON s.study = r.study AND s.item = r.item AND s.variant = r.variant
                    JOIN choice_cells AS c ON c.position = s.position
                    WHERE r.study = ? AND r.model = ? AND r.condition = ? AND s.study = r.study))""",
        [study, model, name],
    ).fetchnumpy()
    where = f"{runs.find_path_of_study(study)}: responses: model {model!r}, condition {name!r}"
    for number in np.flatnonzero(np.ma.filled(rows["short"], False))[:1]:
        raise InputError(
            f"{where}: item {rows['item'][number]!r}: a choice has no text (attributes choice_A ...), so its "
            "probability cannot be divided by its length"
        )
    return dict(rows)


# Where probabilities are bounds, a run has no logarithms of them (results/schema.json).
_LOGARITHMS = "[CASE WHEN p > 0 THEN ln(p) ELSE CAST('-inf' AS DOUBLE) END FOR p IN r.probability]"
_LENGTHS = "[strlen(map_extract(s.attributes, 'choice_' || letter)[1]) FOR letter IN s.canonical]"


def _build_place_of_largest_sql(scores: str) -> str:
    """Return the SQL of the place of the largest of some scores; null where two are the largest, or there is none."""
    ordered = f"list_reverse_sort({scores})"
    return f"CASE WHEN len({scores}) = 1 OR {ordered}[1] > {ordered}[2] THEN list_position({scores}, {ordered}[1]) END"


_WHOLE_PARTS = (
    "; let where keep the same wordings of every question; what is left among wordings of the same meaning is in table "
    "meaning_flips of the whole run"
)


def _refuse_question_lacking_wording_or_order(runs: Runs, choices: Choices) -> None:
    """Refuse a question that lacks a wording, or an order that others with as many choices have."""
    n_choices = choices.size.max(axis=(1, 2))
    for number in np.unique(n_choices):
        question_rows = np.flatnonzero(n_choices == number)
        asked_mask = choices.asked_mask[question_rows]
        for item, wording, order in np.argwhere(~asked_mask & asked_mask.any(axis=(0, 1)))[:1]:
            is_order = asked_mask[item, wording].any()
            missing = f"order {choices.orders[order]}" if is_order else "any order"
            others = f"others with {number} choices" if is_order else "others"
            raise InputError(
                f"{runs.find_path_of_study(choices.study)}: stimuli.parquet: question "
                f"{choices.items[question_rows[item]]!r} lacks {missing} of wording {choices.wordings[wording]!r}, "
                f"which {others} have; it cannot be compared{_WHOLE_PARTS if runs.part else ''}"
            )


def _refuse_partly_answered_questions(runs: Runs, choices: Choices, stimulus_positions: npt.NDArray[np.int64]) -> None:
    """Refuse a question of which a unit has some responses and lacks others; say why, where a response failed."""
    has_answer = choices.chosen_letter != NOT_ASKED
    has_some = has_answer.any(axis=(1, 2))
    gaps = np.argwhere(choices.asked_mask[..., None] & ~has_answer & has_some[:, None, None, :])
    if not len(gaps):
        return
    item, wording, order, unit = gaps[0]
    (variant,) = runs.execute(
        "SELECT variant FROM stimuli WHERE study = ? AND position = ?",
        [choices.study, int(stimulus_positions[item, wording, order])],
    ).fetchone() or ("",)
    model, condition = choices.units[unit]
    failed = runs.execute(
        "SELECT error FROM errors WHERE study = ? AND model = ? AND condition = ? AND item = ? AND variant = ?",
        [choices.study, model, condition.removesuffix(PER_BYTE), choices.items[item], variant],
    ).fetchone()
    why = f" (it failed: {shorten_to_one_line(failed[0], 120)})" if failed else ""
    raise InputError(
        f"{runs.find_path_of_study(choices.study)}: responses: question {choices.items[item]!r}, wording "
        f"{choices.wordings[wording]!r}, order {choices.orders[order]}: model {model!r} under "
        f"{condition.removesuffix(PER_BYTE)!r} has no answer{why}, but has some to other orders or wordings of it "
        f"({len(gaps):,} lack one); repeat the command that wrote the answers, then report"
    )
