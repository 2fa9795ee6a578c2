"""Read agreement, its logit and accuracy of studies whose answers have one of two meanings.

Of the protocol `agreement`, wordings are the paraphrases without the original, else all, with the canonical meaning of
each answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.measures import agreement
from analysis.measures.reworded.numbering import list_item_ids_by_number, read_stimuli_with_item_and_wording_numbers
from analysis.measures.reworded.study import (
    ACCURACY,
    AGREEMENT,
    LOGIT,
    AnswerMeans,
    Study,
    has_item_in_several_wordings,
)
from analysis.measures.thoughts import (
    build_sample_moments_sql,
    has_probabilities_after_single_thoughts,
    list_thought_conditions,
)
from analysis.runs import Runs
from analysis.runs.folder import quote_sql_literal
from analysis.statistics.reliability.sampling import compute_variance_of_binary_samples
from analysis.statistics.resampling import Array

has_rewordings = has_item_in_several_wordings  # other than the original


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
    protocols = {name: runs.info["studies"][name]["protocol"] for name in study_names}
    without_originals = [name for name, protocol in protocols.items() if protocol == agreement.PROTOCOL]
    codes = read_stimuli_with_item_and_wording_numbers(runs, study_names, without_originals)
    for name in study_names:
        units = runs.list_units_of_study(name)
        study_codes = codes[codes["study"] == name]
        if study_codes.empty or not units:
            continue
        crossed = bool(study_codes["crossed"].iloc[0])
        shape = len(units), int(study_codes["item_code"].max()) + 1, int(study_codes["wording_code"].max()) + 1
        wordings = list(study_codes.sort_values("wording_code")["wording"].unique()) if crossed else []
        answers, validity, validity_at_most = _build_measure_arrays_and_mean_validities(runs, name, study_codes, shape)
        samples, spread, counting = (answers.pop(column) for column in ("samples", "spread", "counting"))
        validities = answers.pop("validity")
        right = study_codes["gold"].notna().any()
        for measure, values in answers.items():
            if measure != AGREEMENT and values is None:
                continue
            own_samples = samples if measure == AGREEMENT else None
            own_spread = None
            if own_samples is not None and values is not None:
                own_spread = compute_variance_of_binary_samples(values, own_samples)
                if counting is not None:
                    own_spread = np.where(np.isnan(counting), own_spread, np.nan if spread is None else spread)
            yield Study(
                name, measure, measure == (ACCURACY if right else AGREEMENT), crossed, units, validity,
                np.full(shape, np.nan) if values is None else values, wordings, own_samples, own_spread,
                counting=counting if measure == AGREEMENT else None,
                thought_conditions=list_thought_conditions(runs.info["conditions"][name]),
                validities=np.full(shape, np.nan) if validities is None else validities,
                items=list_item_ids_by_number(study_codes), validity_at_most=validity_at_most,
            )  # fmt: skip


def _build_measure_arrays_and_mean_validities(
    runs: Runs, study: str, codes: pd.DataFrame, shape: tuple[int, int, int]
) -> tuple[dict[str, Array | None], Array, Array]:
    """Read the answers of a study, some rows at a time.

    Returns
    -------
    answers
        Each measure, in the order of their studies, and validity, samples, spread and counting: (units, items,
        wordings), None without any.
    validity, validity_at_most
        Mean of every unit over its rows, NaN without any; and its upper bound, NaN where the mean is exact.
    """
    label = str(runs.info["studies"][study]["canonical"][0])
    first = codes["gold"].eq(label).where(codes["gold"].notna()).to_numpy(float)
    place_in_unit = (codes["item_code"] * shape[2] + codes["wording_code"]).to_numpy()
    names = (AGREEMENT, LOGIT, ACCURACY, "validity", "samples", "spread", "counting")
    means = {name: AnswerMeans(shape) for name in names}
    validity_sums, hidden_sums, n_rows = np.zeros((3, shape[0]))
    for rows in _iterate_frames_of_agreement_rows(runs, study, codes, label):
        row, unit = rows["row"].to_numpy(), rows["unit"].to_numpy()
        answers = {name: rows[name].to_numpy(float) for name in names if name in rows}
        share, is_first = answers[AGREEMENT], first[row]
        inside = np.where((share > 0) & (share < 1), share, np.nan)
        answers[LOGIT] = np.log(inside / (1 - inside))
        has_right_answer = ~(np.isnan(share) | np.isnan(is_first))
        answers[ACCURACY] = np.where(has_right_answer, (share >= 0.5) == (is_first == 1), np.nan)
        for name, values in answers.items():
            means[name].add_answers(unit * (shape[1] * shape[2]) + place_in_unit[row], values)
        has_validity = ~np.isnan(answers["validity"])
        validity_sums += np.bincount(unit[has_validity], answers["validity"][has_validity], shape[0])
        hidden_sums += np.bincount(unit[has_validity], rows["hidden"].to_numpy(float)[has_validity], shape[0])
        n_rows += np.bincount(unit[has_validity], minlength=shape[0])
    answer_means = {name: of_name.average() for name, of_name in means.items()}
    validities, is_bounded = answer_means["validity"], hidden_sums > 0
    if validities is not None:  # those known exactly are the sure ones: alone they would say too much
        validities[is_bounded] = np.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        validity, hidden = validity_sums / n_rows, hidden_sums / n_rows
    return answer_means, validity, np.where(is_bounded, np.minimum(1.0, validity + hidden), np.nan)


def _iterate_frames_of_agreement_rows(
    runs: Runs, study: str, codes: pd.DataFrame, label: str
) -> Iterator[pd.DataFrame]:
    """Yield rows of a study, some at a time: unit, row of `codes`, agreement, validity, hidden, of samples."""
    columns, join = "a.samples", ""
    if has_probabilities_after_single_thoughts(runs, study):
        numbers = f"[CAST(entry = {quote_sql_literal(label)} AS DOUBLE) FOR entry IN s.canonical] AS option_numbers"
        moments = build_sample_moments_sql(
            f"SELECT r.*, {numbers} FROM responses AS r JOIN stimuli AS s USING (study, item, variant) "
            "WHERE study = $study"
        )
        columns = "coalesce(m.samples, a.samples) AS samples, m.spread, m.counting"
        join = f"LEFT JOIN ({moments}) AS m USING (model, condition, item, variant)"
    runs.con.register("reliability_codes", codes[["item", "variant", "row"]])
    try:
        yield from runs.iterate_query_results_in_chunks(
            f"""
            SELECT u.unit, c.row, a.agreement, a.validity, a.hidden, {columns}
            FROM (SELECT * FROM answers WHERE study = $study) AS a
            JOIN reliability_codes AS c USING (item, variant)
            JOIN (SELECT model, condition, row_number() OVER (ORDER BY position) - 1 AS unit FROM units
                  WHERE study = $study) AS u USING (model, condition)
            {join}""",
            {"study": study},
        )
    finally:
        runs.con.unregister("reliability_codes")
