"""Say why figures of some scores are missing."""

from __future__ import annotations

import numpy as np

from analysis.statistics.resampling import Array
from analysis.statistics.rounding import are_scores_constant

EQUAL = "all scores are equal"  # so that neither kurtosis nor any correlation is defined


def list_reasons_kurtosis_or_tau_is_undefined(
    scores: Array, gold: Array, width: float, *, biased: bool = True
) -> list[str]:
    """Say why the kurtosis of some scores, or their correlation with the human scores, is undefined.

    Parameters
    ----------
    scores, gold
        One score and one human score per item (items,), NaN where there is none.
    width
        Width of the scale, of which `rounding.NOISE` is no variation.
    biased
        As in `weighted.kurtosis`: the corrected kurtosis needs four scores.

    Returns
    -------
    list of str
        Empty where all figures are defined.
    """
    defined_scores = scores[~np.isnan(scores)]
    if not len(defined_scores):
        return ["no score"]
    if len(defined_scores) < 2:
        return ["only one score"]
    if are_scores_constant(defined_scores, width):
        return [EQUAL]
    few = ["no kurtosis from fewer than four scores"] if not biased and len(defined_scores) < 4 else []
    return [*few, *_list_reasons_for_no_correlation(scores, gold, width)]


def _list_reasons_for_no_correlation(scores: Array, gold: Array, width: float) -> list[str]:
    """Say why scores and human scores have no correlation: too few of both, or constant ones."""
    has_both = ~np.isnan(scores) & ~np.isnan(gold)
    if not has_both.any():
        return ["no human score"]
    if has_both.sum() < 2:
        return ["only one item with a score and a human score"]
    equal = {"equal scores where there is a human score": scores, "all human scores are equal": gold}
    return [why for why, values in equal.items() if are_scores_constant(values[has_both], width)]
