"""Make the tables about answers, and what of their changes is meaning: runs in, tidy frame out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.meaning_corrected import correct_flip_shares_for_check_errors
from analysis.measures.meaning_flips import (
    ALL,
    StudyAnswers,
    compare_chosen_with_all_wordings,
    read_answers_of_checked_studies,
    tabulate_all_and_same_meaning_flips,
)
from analysis.runs import Runs
from analysis.runs.folder import UNIT
from analysis.statistics.mixed import Result, fit_mixed_models
from analysis.statistics.mixed.design import INTERCEPT, FitInput
from analysis.statistics.mixed.fits import Fit
from analysis.statistics.multiplicity import holm, replace_underflowed_p_values
from analysis.statistics.resampling import DRAWS, Array
from ground.errors import InputError

STEPS = 10
"""How many thresholds there are: the lowest score, and then each leaves out a tenth of the wordings more."""
CERTIFIED = "certified"  # wordings that reach the threshold
_EFFECT_COLUMNS = (
    "n_rows", "n_items", "estimate", "lower", "upper", "estimate_std", "p", "p_holm", "p_robust", "p_robust_holm",
    "warnings",
)  # fmt: skip
EFFECT = "distance ~ meaning_score + (1 | item)"


def tabulate_flips_of_all_and_same_meaning(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Tabulate what all wordings do to the answers, and what those do that mean the same.

    Parameters
    ----------
    runs, resamples, seed
        As in `measures.meaning_flips.tabulate_all_and_same_meaning_flips`.

    Returns
    -------
    DataFrame
        Its columns, both rows of a model beside each other.
    """
    table = tabulate_all_and_same_meaning_flips(runs, resamples=resamples, seed=seed)
    if table.empty:
        return table
    return table.iloc[np.argsort(table.groupby(list(UNIT), sort=False).ngroup(), kind="stable")].reset_index(drop=True)


def tabulate_flips_by_meaning_threshold(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Tabulate what wordings that reach a threshold of the best check do to answers, beside as many of all wordings.

    Parameters
    ----------
    runs, resamples, seed
        As in `tabulate_flips_of_all_and_same_meaning`.

    Returns
    -------
    DataFrame
        study, model, condition; check: the best one; threshold: the lowest score, and deciles of the scores of all
        wordings, as far as two items have one above; kept: share of the wordings with a score that reach it;
        wordings: `CERTIFIED`, or `ALL` of the same items; n_items, n_items_changed, n_wordings, k, n_items_k, flip, sd,
        range_k with X_lower, X_upper and no_interval as in `tabulate_flips_of_all_and_same_meaning`. No rows of a study
        without a used check.
    """
    parts = [
        part
        for answers in read_answers_of_checked_studies(runs)
        for part in _compare_wordings_above_each_threshold(answers, resamples, seed)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _compare_wordings_above_each_threshold(answers: StudyAnswers, resamples: int, seed: int) -> list[pd.DataFrame]:
    """Compare wordings above every threshold with all wordings; an equal threshold counts once."""
    best, scores = answers.meaning.verdict_deciding_check_quality, answers.scores[~np.isnan(answers.scores)]
    if best is None or not len(scores):
        return []
    parts = []
    for threshold in np.unique(np.quantile(scores, np.arange(STEPS) / STEPS, method="lower")):
        comparison = compare_chosen_with_all_wordings(answers, answers.scores >= threshold)
        if (comparison.sizes > 0).sum(axis=1).max(initial=0) < 2:
            break
        _, table = comparison.build_resampling_columns_and_interval_table(resamples, seed)
        n_units = len(answers.beside.units)
        parts.append(
            table.assign(
                check=best.check, threshold=threshold, kept=float((scores >= threshold).mean()),
                wordings=[ALL] * n_units + [CERTIFIED] * n_units,
            )
        )  # fmt: skip
    return parts


def tabulate_check_error_corrected_flip_shares(runs: Runs) -> pd.DataFrame:
    """Tabulate the share of flips among wordings of the same meaning, corrected for the errors of the check.

    Returns
    -------
    DataFrame
        As of `measures.meaning_corrected.correct_flip_shares_for_check_errors`.
    """
    return correct_flip_shares_for_check_errors(runs)


def tabulate_meaning_score_effect_on_distance(runs: Runs) -> pd.DataFrame:
    """Tabulate how far answers are from that to the original, by how surely their wording means the same.

    Returns
    -------
    DataFrame
        study, model, condition; check: the best one; n_rows, n_items; estimate, lower, upper, estimate_std, p, p_holm
        (over all rows), p_robust, p_robust_holm of the score in `EFFECT`; warnings: what weakens the fit, or why there
        is none. Of choices, distances are means over the orders of the options. No rows of a study without a used
        check.
    """
    fits, unfitted, checks = list[tuple[FitInput, Fit]](), list[dict[str, Any]](), dict[str, str]()
    for answers in read_answers_of_checked_studies(runs):
        if answers.meaning.verdict_deciding_check_quality is None:
            continue
        checks[answers.beside.study] = answers.meaning.verdict_deciding_check_quality.check
        for unit, distances in zip(answers.beside.units, answers.distances, strict=True):
            names = dict(zip(UNIT, (answers.beside.study, *unit), strict=True))
            try:
                rows = _list_unit_distances_with_meaning_scores(answers, distances).assign(**names)
                fits += fit_mixed_models(rows, EFFECT, by=UNIT).fits
            except InputError as error:
                unfitted.append({**names, "n_rows": 0, "n_items": 0, "warnings": f"not fitted: {error}"})
    parts = [_list_effects_of_meaning_score(Result(UNIT, fits))] if fits else []
    parts += [pd.DataFrame(unfitted)] if unfitted else []
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True).reindex(columns=[*UNIT, *_EFFECT_COLUMNS])
    has_test = table["p_robust"].notna()
    table.loc[has_test, "p_robust_holm"] = holm(table.loc[has_test, "p_robust"])
    return table.assign(check=table["study"].map(checks))


def _list_unit_distances_with_meaning_scores(answers: StudyAnswers, distances: Array) -> pd.DataFrame:
    """List the answers of a unit with a distance and a score: item, distance, meaning_score."""
    item, wording = np.nonzero(~np.isnan(distances) & ~np.isnan(answers.scores))
    return pd.DataFrame({
        "item": np.array(answers.items, object)[item], "distance": distances[item, wording],
        "meaning_score": answers.scores[item, wording],
    })  # fmt: skip


def _list_effects_of_meaning_score(result: Result) -> pd.DataFrame:
    """List the effect of the score in every fit, and what weakens the fit."""
    slopes = result.table[result.table["term"] != INTERCEPT]
    diagnostics = result.diagnostics.set_index(list(UNIT))
    doubts = [
        "; ".join(filter(None, (
            "" if fit["converged"] else "not converged",
            "singular: items do not differ" if fit["singular"] else "",
            f"left out: {fit['dropped']}" if fit["dropped"] else "",
            fit["message"],
        )))
        for fit in diagnostics.to_dict("records")
    ]  # fmt: skip
    warnings = pd.Series(doubts, diagnostics.index, name="warnings").reset_index()
    return replace_underflowed_p_values(warnings.merge(slopes, on=list(UNIT), how="left"))
