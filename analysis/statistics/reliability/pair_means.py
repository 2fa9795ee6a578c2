"""Compute the mean differences of all pairs of models at once, and the parts of their variances.

The answers of a difference of two models, less its means, are those of one model less its means, minus those of the
other. So each sum of squares of a difference is the squared distance of two models, and no difference is held: 5,000
pairs of 100 models with 31,000 answers would be 155 million numbers. All figures are those of
`panel.estimate_panel_mean`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.incidence import measure_which_items_have_which_wordings
from analysis.statistics.reliability.panel import Anew, AnswerMask, split_crossed_variance_of_mean_by_redraws


@dataclass(frozen=True, slots=True)
class PairMeans:
    """Hold the mean differences of pairs of models, the first less the second, in the order of `combinations`.

    Attributes
    ----------
    means
        (pairs,): as `Panel.mean` of the difference.
    variances, freedoms
        (pairs, parts): as `Panel.parts`, of one way of drawing anew.
    """

    means: Array
    variances: Array
    freedoms: Array


def estimate_mean_differences_of_model_pairs(values: Array, crossed: bool, anew: Anew) -> PairMeans:
    """Compute the mean difference of every pair of models and the parts of its variance.

    Parameters
    ----------
    values
        Answers (models, items, wordings); NaN in the same cells of all models.
    crossed
        Whether all items share the wordings.
    anew
        What another study draws anew.

    Returns
    -------
    PairMeans
    """
    has_answer = ~np.isnan(values[0])
    rows, columns = has_answer.any(axis=1), has_answer.any(axis=0)
    if not (rows.all() and columns.all()):
        values, has_answer = values[:, rows][:, :, columns], has_answer[rows][:, columns]
    answers = np.where(has_answer, values, 0.0)
    n_items, per_item, sums = len(has_answer), has_answer.sum(axis=1), answers.sum(axis=2)
    # Sums are subtracted, not means: those of 0 and 1 are whole numbers, and two items that balance do so exactly.
    differences = [((sums[first] - sums[first + 1 :]) / per_item).mean(axis=1) for first in range(len(sums))]
    means, of_items = np.concatenate(differences), sums / per_item
    between = (
        _compute_squared_distances_of_model_pairs(of_items - of_items.mean(axis=1, keepdims=True))
        / (n_items - 1 or np.nan)
        / n_items
    )
    if anew == "items" or (anew == "both" and not crossed):
        return PairMeans(means, between[:, None], np.full((len(means), 1), n_items - 1.0))
    deviations = np.where(has_answer, answers - of_items[:, :, None], 0.0)
    if not crossed:
        variances, freedoms = _compute_nested_wording_variances_and_freedom(deviations, has_answer)
        return PairMeans(means, variances[:, None], freedoms[:, None])
    wording, residual = _estimate_shared_and_residual_components(deviations, has_answer)
    incidence = measure_which_items_have_which_wordings(has_answer, True)
    parts = split_crossed_variance_of_mean_by_redraws(between, wording, residual, incidence, has_answer.shape[1])[anew]
    part_variances, part_freedoms = zip(*parts, strict=True)
    return PairMeans(means, np.stack(part_variances, axis=1), np.tile(part_freedoms, (len(means), 1)))


def _compute_squared_distances_of_model_pairs(numbers: Array) -> Array:
    """Return the squared distance of every pair of models (models, numbers): (pairs,)."""
    from scipy.spatial.distance import pdist

    return np.asarray(pdist(numbers.reshape(len(numbers), -1), "sqeuclidean"))


def _compute_nested_wording_variances_and_freedom(deviations: Array, has_answer: AnswerMask) -> tuple[Array, Array]:
    """Compute the variances of means over the wordings that every item has for itself, and their degrees of freedom."""
    totals = squares = np.zeros(len(deviations) * (len(deviations) - 1) // 2)
    for number, is_answered in enumerate(has_answer):
        n = int(is_answered.sum())
        of_item = _compute_squared_distances_of_model_pairs(deviations[:, number, is_answered]) / (n - 1 or np.nan) / n
        totals, squares = totals + of_item, squares + of_item**2 / (n - 1 or np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals / len(has_answer) ** 2, np.where(totals > 0, totals**2 / squares, np.nan)


def _estimate_shared_and_residual_components(deviations: Array, has_answer: AnswerMask) -> tuple[Array, Array]:
    """Estimate the components of shared wordings and of what is left, from answers less the means of their items."""
    # The normal equations of the wordings, with the items taken out, as in `components`: the same for all models.
    weights = has_answer / has_answer.sum(axis=1)[:, None]
    equations = np.diag(has_answer.sum(axis=0).astype(float)) - weights.T @ has_answer
    effects, _, rank, _ = np.linalg.lstsq(equations, deviations.sum(axis=1).T, rcond=1e-9)
    freedom = int(has_answer.sum()) - len(has_answer) - int(rank)
    if freedom < 1 or not rank or len(has_answer) < 2:
        return (np.full(len(deviations) * (len(deviations) - 1) // 2, np.nan),) * 2
    left = np.where(has_answer, deviations - effects.T[:, None, :], 0.0)
    left = np.where(has_answer, left - left.sum(axis=2, keepdims=True) / has_answer.sum(axis=1)[:, None], 0.0)
    residual = _compute_squared_distances_of_model_pairs(left) / freedom
    explained = _compute_squared_distances_of_model_pairs(deviations - left)
    return (explained - rank * residual) / np.trace(equations), residual
