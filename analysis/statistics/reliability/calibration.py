"""See whether probabilities that an order stands come true: foreseen from one half of the data, seen in the other.

The wordings are cut into two random halves, and, where other items are meant, too, the items. Each half foresees for
every pair of models how likely the other keeps their order (`replication.compute_same_sign_probabilities`); the
halves are as large, so that the other one is "another study of this size". Probabilities are *calibrated* where, among
pairs with probabilities about p, the share that keeps its order is about p.

Reference
---------
Dawid, A. P. (1982). The well-calibrated Bayesian. JASA 77, 605-610.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.pair_means import estimate_mean_differences_of_model_pairs
from analysis.statistics.reliability.panel import Anew
from analysis.statistics.reliability.replication import (
    compute_same_sign_probabilities,
    estimate_pair_difference_prior,
    sum_variances_and_freedom,
)
from analysis.statistics.significance import ROUNDING

SPLITS, MOST = 10, 300  # cuts into halves; pairs in all cuts: of many models, fewer cuts, at least one
LEAST = 4  # wordings, and items: two in each half
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of classes of probabilities: a sign that was found is no less likely than 0.5


def compare_predicted_and_kept_orders(values: Array, crossed: bool, anew: Anew, *, seed: int = 0) -> Array:
    """Foresee and see whether pairs of models keep their order.

    Parameters
    ----------
    values
        Answers (models, items, wordings), NaN where there is none; compared are the cells that all models have.
    crossed
        Whether all items share the wordings.
    anew
        "wordings": the halves have the same items; "both": the halves share neither.
    seed
        Of the cuts into halves.

    Returns
    -------
    array (2, cases)
        Probability, and 1 where the other half has the same sign, else 0. A case is a pair in one half of one cut;
        there is none without an order in either half, or with too few items or wordings.
    """
    values = np.where(np.isnan(values).any(axis=0), np.nan, values)
    is_usable: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = is_usable.any(axis=1), is_usable.any(axis=0)
    values, n_pairs = values[:, rows][:, :, columns], len(values) * (len(values) - 1) // 2
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(max(1, min(SPLITS, MOST // max(1, n_pairs)))):
        halves = _split_answers_into_halves(values, crossed, anew, rng)
        if halves is None:
            continue
        priors = [estimate_pair_difference_prior(half, crossed, anew) for half in halves]
        pairs = [estimate_mean_differences_of_model_pairs(half, crossed, anew) for half in halves]
        for own, other, prior in zip(pairs, pairs[::-1], priors, strict=True):
            errors = sum_variances_and_freedom(own.variances, own.freedoms)
            # Two items that balance do so exactly, but for rounding.
            other_means = np.where(np.abs(other.means) > ROUNDING, other.means, 0.0)
            cases.append((compute_same_sign_probabilities(own.means, *errors, prior), own.means * other_means))
    probabilities, signs = np.concatenate([np.zeros((2, 0)), *cases], axis=1)
    is_usable = ~np.isnan(probabilities) & ~np.isnan(signs) & (signs != 0)
    return np.stack([probabilities[is_usable], signs[is_usable] > 0])


def _split_answers_into_halves(
    values: Array, crossed: bool, anew: Anew, rng: np.random.Generator
) -> tuple[Array, Array] | None:
    """Cut the answers into two halves; None where one would have too little."""
    has_answer = ~np.isnan(values[0])
    if anew == "wordings" and not crossed:
        enough = has_answer.sum(axis=1) >= LEAST
        values, has_answer = values[:, enough], has_answer[enough]
    n_items, width = has_answer.shape
    if n_items < LEAST or (crossed and width < LEAST):
        return None
    first = second = has_answer
    if crossed:
        first = has_answer & (rng.permutation(width) < width // 2)
    elif anew == "wordings":
        # Ranks of random numbers, missing answers last: of an item's 5 answers, the first half has ranks 0 and 1.
        order = np.argsort(np.argsort(np.where(has_answer, rng.random(has_answer.shape), np.inf), axis=1), axis=1)
        first = has_answer & (order < has_answer.sum(axis=1, keepdims=True) // 2)
    if crossed or anew == "wordings":
        second = has_answer & ~first
    if anew == "both":  # of wordings of their own, other items bring others
        items = rng.permutation(n_items) < n_items // 2
        first, second = first & items[:, None], second & ~items[:, None]
    if not (first.any() and second.any()):  # where many answers are missing
        return None
    return np.where(first, values, np.nan), np.where(second, values, np.nan)


def iterate_calibration_rows_by_class(cases: Array) -> Iterator[tuple[float, float, int, float, float]]:
    """Yield, by class of probabilities: lower and upper edge, cases, mean probability, share that came true."""
    # The probabilities .5, .6 and 1 are in the classes 0, 1 and 4: each begins at its lower edge, the last has both.
    place = np.clip(np.searchsorted(EDGES, cases[0], side="right") - 1, 0, len(EDGES) - 2)
    for number, (low, high) in enumerate(pairwise(EDGES)):
        class_cases = cases[:, place == number]
        if class_cases.shape[1]:
            yield low, high, class_cases.shape[1], float(class_cases[0].mean()), float(class_cases[1].mean())
