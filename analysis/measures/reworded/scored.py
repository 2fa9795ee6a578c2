"""Read the scores of protocol `scored` in every wording of an item, each measure as a study of its own.

All wordings of an item are compared, the original too. Wordings that name their template in the attribute `template`,
or are templates by their texts, are shared by all items. A measure with a range is scaled by it: a score on 1-5 is
(score - 1) / 4, so that scores on two ranges compare; without a range it stays in its unit. Nothing is turned: of a
measure whose lower scores are better, `Study.lower_is_better` says so, and only what ranks models looks at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.reworded.numbering import list_item_ids_by_number, read_stimuli_with_item_and_wording_numbers
from analysis.measures.reworded.study import (
    ACCURACY,
    AGREEMENT,
    LOGIT,
    RIGHT,
    SCORE,
    Study,
    average_answers_into_array,
    has_item_in_several_wordings,
)
from analysis.runs import Runs
from analysis.statistics.resampling import Array
from analysis.statistics.rounding import DIGITS
from ground.errors import InputError
from ground.impossible_rows import read_scale_ends

PROTOCOL = "scored"
HIGHER, LOWER = "higher", "lower"
TAKEN = frozenset({ACCURACY, AGREEMENT, LOGIT, RIGHT, SCORE})  # names of measures that mean something else


@dataclass(frozen=True, slots=True)
class Scored:
    """Hold the scores of one study by one measure.

    Attributes
    ----------
    study
        The scores as an array, scaled by the range; `Study.measure` is the name of the measure.
    scores
        (units, items, wordings) in the unit of the measure, NaN where there is none.
    low, width
        Score that is 0 in `study`, and how far 1 is above it: 0 and 1 for a measure without a range.
    variants
        item, variant, item_code, wording_code: which wording is in which place.
    """

    study: Study
    scores: Array
    low: float
    width: float
    variants: pd.DataFrame

    def find_score_dividing_share_of_range(self, share: float) -> float:
        """Return the score that parts a share of the range, or without one that share of all scores.

        Without a range, where that is the worst score, which all pass, it is the next better one. Scores that differ
        from it by rounding only pass, too: 55 passes .55 of 0 to 100, which is 55.00000000000001.
        """
        scores = self.scores[~np.isnan(self.scores)]
        if self.study.has_range:
            limit = self.low + share * self.width
            same = scores[np.abs(scores - limit) <= DIGITS * self.width]
            return float(same.max(initial=limit) if self.study.lower_is_better else same.min(initial=limit))
        if not scores.size:
            return math.nan
        quantile = float(np.quantile(scores, share))
        is_turned = self.study.lower_is_better
        better = scores[scores < quantile] if is_turned else scores[scores > quantile]
        if not better.size or quantile != (scores.max() if is_turned else scores.min()):
            return quantile
        return float(better.max() if is_turned else better.min())


def read_scored_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read the studies of protocol `scored`, one for each measure; the first measure of a study is its headline.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Yields
    ------
    A study per measure.
    """
    yield from (scored.study for scored in list_scored_per_study_and_measure(runs) if scored.study.name in study_names)


def has_rewordings(runs: Runs, study_names: list[str]) -> bool:
    """Tell whether these studies can be compared over wordings or samples.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Returns
    -------
    Whether an item of one of them has two wordings, the original counted, or a response several samples.
    """
    if has_item_in_several_wordings(runs, study_names, count_original=True):
        return True
    return any(
        scored.study.samples is not None
        for scored in list_scored_per_study_and_measure(runs)
        if scored.study.name in study_names
    )


def list_scored_per_study_and_measure(runs: Runs) -> list[Scored]:
    """Read every study of protocol `scored` by every measure, once per `Runs`.

    Returns
    -------
    list of Scored
        In the order of run.json.

    Raises
    ------
    InputError
        For a condition without a measure, or with a range or direction that is none, and a measure whose range or
        direction differs between conditions.
    """
    return runs.compute_once("scores of measures", lambda: list(_iterate_scored_per_study_and_measure(runs)))


def _iterate_scored_per_study_and_measure(runs: Runs) -> Iterator[Scored]:
    """Yield every study by every measure."""
    names = runs.list_studies_of_protocols(PROTOCOL)
    codes = read_stimuli_with_item_and_wording_numbers(runs, names) if names else pd.DataFrame()
    for name in names:
        study_codes = codes[codes["study"] == name]
        units = runs.list_units_of_study(name)
        if study_codes.empty or not units:
            continue
        rows = _read_rows_with_scores(runs, name, study_codes)
        validity = _compute_share_of_responses_with_score(runs, name)
        validity_rows = (
            _read_validity_rows(runs, name, study_codes) if min(validity.values(), default=1.0) < 1 else None
        )
        measures: dict[str, list[int]] = {}  # -> places of its units among all of the study
        for unit, (_, condition) in enumerate(units):
            fields = runs.info["conditions"][name][condition]
            refuse_malformed_measure_fields(
                f"{runs.join_folder_paths(name)}: run.json: condition {condition!r}", fields
            )
            measures.setdefault(fields["measure"], []).append(unit)
        for measure, places in measures.items():
            ends, is_turned = _read_range_and_direction(runs, name, measure, [units[place][1] for place in places])
            scored = _build_scored_of_measure(
                name, measure, units, places, rows, study_codes, ends, validity=validity, lower_is_better=is_turned,
                validity_rows=validity_rows,
            )  # fmt: skip
            yield replace(scored, study=replace(scored.study, headline=measure == next(iter(measures))))


def refuse_malformed_measure_fields(where: str, fields: Mapping[str, Any]) -> None:
    """Refuse a condition whose scores cannot be understood.

    Parameters
    ----------
    where
        The condition, for messages.
    fields
        Its fields in run.json.

    Raises
    ------
    InputError
        No measure, a range that is none, an unknown direction.
    """
    ends = fields.get("range")
    if not fields.get("measure"):
        raise InputError(f"{where}: no measure; name what its scores measure")
    if ends is not None and read_scale_ends(fields) is None:
        raise InputError(f"{where}: range is {ends!r}; it must be two numbers, the lower one first, or null")
    if fields.get("direction", HIGHER) not in (HIGHER, LOWER, None):
        raise InputError(f"{where}: direction is {fields['direction']!r}; it must be {HIGHER} or {LOWER}")


def _read_range_and_direction(
    runs: Runs, study: str, measure: str, condition_names: Sequence[str]
) -> tuple[list[float] | None, bool]:
    """Return the range of a measure, and whether lower is better; refuse conditions that differ in them."""
    fields = [runs.info["conditions"][study][condition] for condition in condition_names]
    settings = {(tuple(entry.get("range") or ()), entry.get("direction") or HIGHER) for entry in fields}
    if len(settings) > 1:
        raise InputError(
            f"{runs.join_folder_paths(study)}: run.json: measure {measure!r} has another range or direction "
            "under some conditions; name the measures apart"
        )
    return fields[0].get("range"), fields[0].get("direction") == LOWER


def _build_scored_of_measure(
    name: str, measure: str, units: Sequence[tuple[str, str]], places: Sequence[int], rows: pd.DataFrame,
    codes: pd.DataFrame, ends: Sequence[float] | None, *, validity: Mapping[tuple[str, str], float],
    lower_is_better: bool, validity_rows: pd.DataFrame | None,
) -> Scored:  # fmt: skip
    """Lay the scores of one measure out as arrays; `places` are those of its units among all of the study."""
    low, width = (float(ends[0]), float(ends[1]) - float(ends[0])) if ends else (0.0, 1.0)
    own_places = np.full(len(units), -1)
    own_places[list(places)] = np.arange(len(places))
    rows = _renumber_rows_of_known_units(rows, own_places)
    shape = len(places), int(codes["item_code"].max()) + 1, int(codes["wording_code"].max()) + 1
    scores = average_answers_into_array(rows, "score", shape)
    crossed = bool(codes["crossed"].iloc[0])
    samples = spread = None
    if (rows["samples"] > 1).any():
        samples = average_answers_into_array(rows, "samples", shape)
        spread = average_answers_into_array(rows.assign(spread=rows["spread"] / width**2), "spread", shape)
    own_units = [units[place] for place in places]
    study = Study(
        name, f"{measure} (score)" if measure in TAKEN else measure, True, crossed, own_units,
        np.array([validity.get(unit, np.nan) for unit in own_units]), (scores - low) / width,
        list(codes.sort_values("wording_code")["wording"].unique()) if crossed else [], samples, spread,
        has_range=ends is not None, range_text=f"{low:g}-{low + width:g}" if ends else "",
        lower_is_better=lower_is_better, items=list_item_ids_by_number(codes), validities=None if validity_rows is None
        else average_answers_into_array(_renumber_rows_of_known_units(validity_rows, own_places), "validity", shape),
    )  # fmt: skip
    return Scored(study, scores, low, width, codes[["item", "variant", "item_code", "wording_code"]])


def _renumber_rows_of_known_units(rows: pd.DataFrame, own_places: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Keep the rows of units that have a place of their own, which is above -1, and put them there."""
    unit = own_places[rows["unit"].to_numpy(int)]
    own_rows = rows.assign(unit=unit)
    return own_rows if (unit >= 0).all() else own_rows[unit >= 0]  # of a single measure, without another copy


def _read_rows_with_scores(runs: Runs, study: str, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of a study: places of unit, item and wording; score, number of samples, their variance."""
    rows = "SELECT * FROM responses WHERE study = $study AND score IS NOT NULL"
    columns = (
        "r.score, coalesce(len(r.sample_score), 1) AS samples, "
        "CASE WHEN len(r.sample_score) > 1 THEN list_aggregate(r.sample_score, 'var_samp') END AS spread"
    )
    return _read_rows_with_places(runs, study, codes, rows, columns)


def _read_validity_rows(runs: Runs, study: str, codes: pd.DataFrame) -> pd.DataFrame:
    """Return all that was asked, failures, too: places of unit, item and wording; validity: 1 with a score, else 0."""
    rows = (
        "SELECT model, condition, item, variant, CAST(score IS NOT NULL AS DOUBLE) AS validity FROM responses "
        "WHERE study = $study UNION ALL SELECT model, condition, item, variant, 0.0 FROM errors WHERE study = $study"
    )
    return _read_rows_with_places(runs, study, codes, rows, "r.validity")


def _read_rows_with_places(runs: Runs, study: str, codes: pd.DataFrame, rows: str, columns: str) -> pd.DataFrame:
    """Return columns of some rows, both in SQL, with places of unit, item and wording."""
    runs.con.register("scored_codes", codes[["item", "variant", "item_code", "wording_code"]])
    try:
        return runs.sql(
            f"""
            SELECT u.unit, c.item_code AS item, c.wording_code AS wording, {columns}
            FROM ({rows}) AS r
            JOIN scored_codes AS c USING (item, variant)
            JOIN (SELECT model, condition, row_number() OVER (ORDER BY position) - 1 AS unit FROM units
                  WHERE study = $study) AS u USING (model, condition)""",
            {"study": study},
        )
    finally:
        runs.con.unregister("scored_codes")


def _compute_share_of_responses_with_score(runs: Runs, study: str) -> dict[tuple[str, str], float]:
    """Return for every unit the share of its responses that have a score; those that failed have none."""
    rows = runs.execute(
        """
        SELECT model, condition, sum(scored) / count(*) FROM (
            SELECT model, condition, CASE WHEN score IS NULL THEN 0 ELSE 1 END AS scored FROM responses
            WHERE study = $study
            UNION ALL SELECT model, condition, 0 FROM errors WHERE study = $study)
        GROUP BY model, condition""",
        {"study": study},
    ).fetchall()
    return {(model, condition): float(share) for model, condition, share in rows}
