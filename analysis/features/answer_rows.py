"""Hold the answers of many models beside the features of their wordings: a frame of all together may be too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.features.attributes import read_attribute_column
from analysis.features.frames import read_or_compute_features
from analysis.features.names import FEATURES
from analysis.measures.agreement import create_agreement_tables
from analysis.runs.folder import UNIT, quote_sql_literal

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from analysis.runs import Runs

# Convention for invalid answers -> agreement, in SQL over the view `answers`.
_AGREEMENT_SQL = {
    "dropped": "agreement",
    "inconsistent": "coalesce(agreement, 0) * CASE WHEN written THEN validity ELSE 1 END",
}
_MEASURES = ("agreement", "logit", "text_logprob")


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Hold a row per answer, by unit and place of its wording; see `join_answers_with_features`.

    Attributes
    ----------
    units
        Study, model and condition of every unit.
    wordings
        A row per stimulus, by study and place in it: item and variant (categorical), features and attributes.
    starts
        The answers of unit i are the rows from `starts[i]` to before `starts[i + 1]`.
    place
        Of every answer: index into the rows of `wordings`.
    measures
        agreement, logit and text_logprob of every answer; without the last one where no answer has it.
    """

    units: list[tuple[str, str, str]]
    wordings: pd.DataFrame
    starts: NDArray[np.int64]
    place: NDArray[np.int32]
    measures: dict[str, NDArray[np.float64]]

    def build_answer_frame_of_unit_range(self, first: int = 0, last: int | None = None) -> pd.DataFrame:
        """Build the frame of the answers of the units from number `first` to `last`; its index says which rows.

        Parameters
        ----------
        first, last
            Numbers of units, both included; no `last`: to the end.

        Returns
        -------
        DataFrame
            A row per answer.
        """
        import pandas as pd

        end = len(self.units) if last is None else last + 1
        rows = slice(int(self.starts[first]), int(self.starts[end]))
        unit = np.repeat(np.arange(first, end), np.diff(self.starts[first : end + 1]))
        names: dict[str, Any] = {}
        for key, labels_of_units in zip(UNIT, zip(*self.units, strict=True), strict=True):
            codes, labels = pd.factorize(pd.Series(labels_of_units, dtype=object))
            names[key] = pd.Categorical.from_codes(codes[unit], categories=labels)
        wordings = self.wordings.take(self.place[rows]).set_axis(pd.RangeIndex(rows.start, rows.stop))
        names |= {key: wordings.pop(key).array for key in ("item", "variant")}
        for name in _MEASURES:
            names[name] = self.measures[name][rows] if name in self.measures else np.full(len(unit), np.nan)
        names |= dict(wordings.items())
        return pd.DataFrame(names, index=wordings.index, copy=False)

    def build_frame_of_unit(self, unit: tuple[str, str, str]) -> pd.DataFrame:
        """Build the frame of the answers of one of `units`; see `build_answer_frame_of_unit_range`."""
        number = self.units.index(unit)
        return self.build_answer_frame_of_unit_range(number, number)

    def tabulate_answered_wordings(self) -> pd.DataFrame:
        """Select the wordings that have an answer, with a column text_logprob: NaN where no answer has one."""
        is_answered = np.zeros(len(self.wordings), bool)
        is_answered[self.place] = True
        return self.wordings[is_answered].assign(text_logprob=0.0 if "text_logprob" in self.measures else np.nan)

    def iterate_units(self) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
        """Yield study, model and condition of every unit with answers, and their frame."""
        for number in np.flatnonzero(np.diff(self.starts)).tolist():
            yield self.units[number], self.build_answer_frame_of_unit_range(number, number)


def join_answers_with_features(
    runs: Runs, *, original: bool = False, invalid: str = "dropped", attributes: Sequence[str] = (),
    units: pd.DataFrame | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Join responses with the features of their wordings, for the mixed models.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`; studies with two canonical labels.
    original
        Keep the original wordings, too. The default is paraphrases only, as in Haller et al., section 4.3.
    invalid
        Invalid answers are "dropped", so that agreement is of the valid ones and may be undefined, or "inconsistent":
        they count as not agreeing, among the samples of one wording, too. Probabilities are of the valid answers under
        both, as nothing was drawn that could be invalid; only a row without any mass counts.
    attributes
        Attributes of the wordings, from `attributes.list_attribute_columns`, which become further columns.
    units
        study, model, condition: those whose responses are read; None: all.

    Returns
    -------
    DataFrame
        One row per answer, by study, model, condition (in the order of run.json) and place in the study: study, model,
        condition, item, variant (categorical); agreement (0 to 1, NaN where undefined); logit (log p(agree) -
        log p(disagree) from log-probabilities, infinite if one of the two is 0, NaN if a row has none);
        text_logprob (NaN if a row has none); and the columns of `analysis.features.FEATURES`.
    """
    return read_answers_with_wording_features(
        runs, original=original, invalid=invalid, attributes=attributes, units=units
    ).build_answer_frame_of_unit_range()


def read_answers_with_wording_features(
    runs: Runs, *, original: bool = False, invalid: str = "dropped", attributes: Sequence[str] = (),
    units: pd.DataFrame | None = None,
) -> AnswerRows:  # fmt: skip
    """Read answers, and the features of their wordings.

    Parameters
    ----------
    runs, original, invalid, attributes, units
        As in `join_answers_with_features`.

    Returns
    -------
    AnswerRows
        In the order of run.json and of the wordings in their study.
    """
    import pandas as pd

    stimuli = read_or_compute_features(runs)
    wordings = pd.DataFrame(
        {name: pd.Categorical(stimuli[name], stimuli[name].unique()) for name in ("item", "variant")}
        | {name: stimuli[name] for name in FEATURES}
        | {name: read_attribute_column(runs, name).array for name in attributes}
    )
    create_agreement_tables(runs)
    asked_units = runs.execute("SELECT study, model, condition FROM units ORDER BY position").fetchall()
    runs.con.register(
        "units_to_read", pd.DataFrame(asked_units, columns=list(UNIT)) if units is None else units[list(UNIT)]
    )
    try:
        n_answers = _count_answers_per_unit_to_read(runs, original, len(asked_units))
        chunks = runs.iterate_query_results_in_chunks(_build_answers_sql(runs, original, _AGREEMENT_SQL[invalid]))
        starts, place, measures = sort_answer_chunks_into_arrays(chunks, n_answers)
    finally:
        runs.con.unregister("units_to_read")
    return AnswerRows(asked_units, wordings, starts, place, measures)


def _count_answers_per_unit_to_read(runs: Runs, keep_original: bool, n_units: int) -> NDArray[np.int64]:
    """Count the answers of every unit that `_build_answers_sql` reads."""
    counts = np.zeros(n_units, np.int64)
    rows = runs.execute(
        f"""
        SELECT position, sum(n_rows)::BIGINT
        FROM item_patterns JOIN (SELECT * FROM units SEMI JOIN units_to_read USING (study, model, condition))
             USING (study, model, condition)
        {"" if keep_original else "WHERE NOT original"} GROUP BY position"""
    ).fetchall()
    for unit, count in rows:
        counts[unit] = count
    return counts


def sort_answer_chunks_into_arrays(
    chunks: Iterable[pd.DataFrame], n_answers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], dict[str, NDArray[np.float64]]]:
    """Sort answers into arrays that are made once: all chunks, and a sorted copy of them, would be three times that.

    Parameters
    ----------
    chunks
        Answers in any order: the columns unit, place and those of `_MEASURES`.
    n_answers
        Number of answers of every unit.

    Returns
    -------
    starts, place, measures
        As in `AnswerRows`.
    """
    starts = np.concatenate([[0], np.cumsum(n_answers)])
    place = np.empty(starts[-1], np.int32)
    measures = {name: np.empty(starts[-1]) for name in _MEASURES[:2]}
    next_row = starts[:-1].copy()
    for chunk in chunks:
        unit = chunk["unit"].to_numpy(np.int64)
        order = np.argsort(unit, kind="stable")
        n_new = np.bincount(unit, minlength=len(n_answers))
        # The rows of a unit follow those that earlier chunks had of it.
        rows = np.repeat(next_row - (np.cumsum(n_new) - n_new), n_new) + np.arange(len(unit))
        next_row += n_new
        place[rows] = chunk["place"].to_numpy(np.int32)[order]
        for name in _MEASURES:
            values = chunk[name].to_numpy(float)
            if name not in measures and not np.isnan(values).all():
                measures[name] = np.full(starts[-1], np.nan)
            if name in measures:
                measures[name][rows] = values[order]
    for start, end in pairwise(starts.tolist()):
        if (np.diff(place[start:end]) < 0).any():
            order = np.argsort(place[start:end], kind="stable")
            for values in (place, *measures.values()):
                values[start:end] = values[start:end][order]
    return starts, place, measures


def _build_answers_sql(runs: Runs, keep_original: bool, agreement_sql: str) -> str:
    """Write the SQL of the answers of `units_to_read`: unit, place and the columns of `_MEASURES`."""
    first_labels = " ".join(
        f"WHEN {quote_sql_literal(study)} THEN {quote_sql_literal(str(fields['canonical'][0]))}"
        for study, fields in runs.info["studies"].items()
    )
    return f"""
        WITH places AS (
            SELECT study, item, variant, row_number() OVER (ORDER BY study, position) - 1 AS place,
                   list_position(canonical, CASE study {first_labels} END) AS agree
            FROM stimuli)
        SELECT u.position AS unit, place, {agreement_sql} AS agreement,
               logprob[agree] - logprob[3 - agree] AS logit, text_logprob
        FROM answers JOIN places USING (study, item, variant)
             JOIN (SELECT * FROM units SEMI JOIN units_to_read USING (study, model, condition)) AS u
             USING (study, model, condition)
        {"" if keep_original else "WHERE NOT original"}"""
