"""Read agreement, its logit and accuracy of studies whose answers have one of two meanings.

Of the protocol `agreement`, wordings are the paraphrases without the original, else all, with the canonical meaning of
each answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.measures import agreement
from analysis.measures.reworded.numbering import list_items_in_places, number_items_and_wordings
from analysis.measures.reworded.study import (
    ACCURACY,
    AGREEMENT,
    LOGIT,
    Study,
    average_answers_into_array,
    has_several_wordings,
)
from analysis.measures.thoughts import (
    build_sample_moments_sql,
    has_sampled_probabilities,
    list_thought_conditions,
)
from analysis.runs.folder import quote_sql_literal
from analysis.statistics.reliability.sampling import compute_yes_no_sample_variance

if TYPE_CHECKING:
    from analysis.runs import Runs


def read_agreement_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read studies by agreement, by its logit where there are probabilities, by accuracy where right answers are known.

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
    agreement.create_agreement_tables(runs, study_names)
    codes = number_items_and_wordings(runs, study_names, _list_studies_without_originals(runs, study_names))
    for name in study_names:
        units = runs.execute("SELECT model, condition FROM units WHERE study = ? ORDER BY position", [name]).fetchall()
        study_codes = codes[codes["study"] == name]
        if study_codes.empty or not units:
            continue
        rows = _read_agreement_rows(runs, name, study_codes)
        crossed = bool(study_codes["crossed"].iloc[0])
        shape = len(units), int(study_codes["item_code"].max()) + 1, int(study_codes["wording_code"].max()) + 1
        wordings = list(study_codes.sort_values("wording_code")["wording"].unique()) if crossed else []
        validity = np.full(len(units), np.nan)
        means = rows.groupby("unit")["validity"].mean()
        validity[means.index] = means
        validities = average_answers_into_array(rows, "validity", shape)
        right = study_codes["gold"].notna().any()
        for measure in (AGREEMENT, LOGIT, ACCURACY):
            if measure == AGREEMENT or rows[measure].notna().any():
                headline = measure == (ACCURACY if right else AGREEMENT)
                values = average_answers_into_array(rows, measure, shape)
                samples = spread = counting = None
                if measure == AGREEMENT and rows["samples"].notna().any():
                    samples = average_answers_into_array(rows, "samples", shape)
                    spread = compute_yes_no_sample_variance(values, samples)
                    if rows["counting"].notna().any():
                        counting = average_answers_into_array(rows, "counting", shape)
                        of_thoughts = average_answers_into_array(rows, "spread", shape)
                        spread = np.where(np.isnan(counting), spread, of_thoughts)
                yield Study(
                    name, measure, headline, crossed, units, validity, values, wordings, samples, spread,
                    counting=counting, thought_conditions=list_thought_conditions(runs.info["conditions"][name]),
                    validities=validities, items=list_items_in_places(study_codes),
                )  # fmt: skip


def has_rewordings(runs: Runs, study_names: list[str]) -> bool:
    """Tell whether these studies can be compared over wordings.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Returns
    -------
    Whether an item of one of them has two wordings other than its original.
    """
    return has_several_wordings(runs, study_names)


def _list_studies_without_originals(runs: Runs, study_names: list[str]) -> list[str]:
    """List the studies whose original wordings are not compared with the others: those of protocol `agreement`."""
    return [name for name in study_names if runs.info["studies"][name]["protocol"] == agreement.PROTOCOL]


def _read_agreement_rows(runs: Runs, study: str, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the answers of a study: unit, item_code, wording_code, validity and the measures."""
    label = str(runs.info["studies"][study]["canonical"][0])
    columns, join = "a.samples, NULL::DOUBLE AS spread, NULL::DOUBLE AS counting", ""
    if has_sampled_probabilities(runs, study):
        numbers = f"[CAST(entry = {quote_sql_literal(label)} AS DOUBLE) FOR entry IN s.canonical] AS option_numbers"
        moments = build_sample_moments_sql(
            f"SELECT r.*, {numbers} FROM responses AS r JOIN stimuli AS s USING (study, item, variant) "
            "WHERE study = $study"
        )
        columns = "coalesce(m.samples, a.samples) AS samples, m.spread, m.counting"
        join = f"LEFT JOIN ({moments}) AS m USING (model, condition, item, variant)"
    runs.con.register("reliability_codes", codes[["item", "variant", "row"]])
    try:
        rows: dict[str, Any] = runs.execute(
            f"""
            SELECT u.unit, c.row, a.agreement, a.validity, {columns}
            FROM (SELECT * FROM answers WHERE study = $study) AS a
            JOIN reliability_codes AS c USING (item, variant)
            JOIN (SELECT model, condition, row_number() OVER (ORDER BY position) - 1 AS unit FROM units
                  WHERE study = $study) AS u USING (model, condition)
            {join}""",
            {"study": study},
        ).fetchnumpy()
    finally:
        runs.con.unregister("reliability_codes")
    place = rows["row"]
    answers = {
        name: np.ma.filled(rows[name].astype(float), np.nan)
        for name in (AGREEMENT, "validity", "samples", "spread", "counting")
    }
    first = codes["gold"].eq(label).where(codes["gold"].notna()).to_numpy(float)[place]
    share = answers[AGREEMENT]
    right = np.where(np.isnan(share) | np.isnan(first), np.nan, (share >= 0.5) == (first == 1))
    inside = np.where((share > 0) & (share < 1), share, np.nan)
    return pd.DataFrame({
        "unit": rows["unit"], "item": codes["item_code"].to_numpy()[place],
        "wording": codes["wording_code"].to_numpy()[place], **answers, LOGIT: np.log(inside / (1 - inside)),
        ACCURACY: right,
    }, copy=False)  # fmt: skip
