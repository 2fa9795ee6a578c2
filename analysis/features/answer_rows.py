"""Hold the answers of many models beside the features of their wordings: a frame of all together may be too large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.features.attributes import read_attribute_column
from analysis.features.frames import read_features
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
_COLUMNS: dict[str, type[Any]] = {
    "unit": np.int32, "place": np.int32, "agreement": float, "logit": float, "text_logprob": float,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Hold a row per answer, by unit and place of its wording; see `join_answers_with_features`.

    Attributes
    ----------
    units
        Study, model and condition of every unit.
    wordings
        A row per stimulus, by study and place in it: item and variant (categorical), features and attributes.
    unit, place
        Of every answer: indices into `units` and into the rows of `wordings`.
    measures
        agreement, logit and text_logprob of every answer.
    """

    units: list[tuple[str, str, str]]
    wordings: pd.DataFrame
    unit: NDArray[np.int32]
    place: NDArray[np.int32]
    measures: dict[str, NDArray[np.float64]]

    def build_frame(self, start: int = 0, end: int | None = None) -> pd.DataFrame:
        """Build the frame of the answers from row `start` to before row `end`; its index says which these are."""
        import pandas as pd

        rows = slice(start, len(self.place) if end is None else end)
        names: dict[str, Any] = {}
        for key, labels_of_units in zip(UNIT, zip(*self.units, strict=True), strict=True):
            codes, labels = pd.factorize(pd.Series(labels_of_units, dtype=object))
            names[key] = pd.Categorical.from_codes(codes[self.unit[rows]], categories=labels)
        wordings = self.wordings.take(self.place[rows]).set_axis(pd.RangeIndex(rows.start, rows.stop))
        names |= {key: wordings.pop(key).array for key in ("item", "variant")}
        names |= {name: values[rows] for name, values in self.measures.items()} | dict(wordings.items())
        return pd.DataFrame(names, index=wordings.index, copy=False)

    def select_answered_wordings(self) -> pd.DataFrame:
        """Select the wordings that have an answer, with a column text_logprob: NaN where no answer has one."""
        is_answered = np.bincount(self.place, minlength=len(self.wordings)) > 0
        has_logprob = not np.isnan(self.measures["text_logprob"]).all()
        return self.wordings[is_answered].assign(text_logprob=0.0 if has_logprob else np.nan)

    def iterate_units(self) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
        """Yield study, model and condition of every unit with answers, and their frame."""
        starts = np.flatnonzero(np.diff(self.unit, prepend=-1))
        for start, end in pairwise(map(int, (*starts, len(self.unit)))):
            yield self.units[self.unit[start]], self.build_frame(start, end)


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
    return read_answer_rows(runs, original=original, invalid=invalid, attributes=attributes, units=units).build_frame()


def read_answer_rows(
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

    stimuli = read_features(runs)
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
        chunks = list(runs.iterate_frames(_build_answers_sql(runs, original, _AGREEMENT_SQL[invalid])))
    finally:
        runs.con.unregister("units_to_read")
    columns = {
        name: np.concatenate([np.zeros(0, kind), *(chunk.pop(name).to_numpy(kind) for chunk in chunks)])
        for name, kind in _COLUMNS.items()
    }
    number = columns["unit"].astype(np.int64) * len(wordings) + columns["place"]
    if (np.diff(number) < 0).any():
        order = np.argsort(number, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
    return AnswerRows(asked_units, wordings, columns.pop("unit"), columns.pop("place"), columns)


def _build_answers_sql(runs: Runs, keep_original: bool, agreement_sql: str) -> str:
    """Write the SQL of the answers of `units_to_read`: the columns of `_COLUMNS`."""
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
