"""See whether probabilities that an order stands come true: foreseen from one half of the data, seen in the other.

The wordings are cut into two random halves, and, where other items are meant, too, the items. Each half foresees for
every pair of models how likely the other keeps their order (`replication.compute_panel_same_sign_probability`); the
halves are as large, so that the other one is "another study of this size". Probabilities are *calibrated* where, among
pairs with probabilities about p, the share that keeps its order is about p.

Reference
---------
Dawid, A. P. (1982). The well-calibrated Bayesian. JASA 77, 605-610.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.panel import Anew, estimate_panel_mean
from analysis.statistics.reliability.replication import (
    compute_panel_same_sign_probability,
    estimate_pair_difference_prior,
)

SPLITS, MOST = 10, 300  # cuts into halves; pairs in all cuts, of which there is at least one
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
    pairs = list(combinations(range(len(values)), 2))
    values = np.where(np.isnan(values).any(axis=0), np.nan, values)
    is_usable: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = is_usable.any(axis=1), is_usable.any(axis=0)
    values = values[:, rows][:, :, columns]
    rng = np.random.default_rng(seed)
    case_rows = []
    for _ in range(max(1, min(SPLITS, MOST // max(1, len(pairs))))):
        halves = _split_into_halves(values, crossed, anew, rng)
        for own_half, other_half in (halves, halves[::-1]) if halves else ():
            prior = estimate_pair_difference_prior(own_half, crossed, anew)
            for a, b in pairs:
                own_panel, other_panel = (
                    estimate_panel_mean(own_half[a] - own_half[b], crossed),
                    estimate_panel_mean(other_half[a] - other_half[b], crossed),
                )
                case_rows.append(
                    (compute_panel_same_sign_probability(own_panel, anew, prior), own_panel.mean * other_panel.mean)
                )
    cases = np.array(case_rows, float).reshape(-1, 2).T
    is_usable = ~np.isnan(cases).any(axis=0) & (cases[1] != 0)
    return np.stack([cases[0, is_usable], cases[1, is_usable] > 0])


def _split_into_halves(
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
    return np.where(first, values, np.nan), np.where(second, values, np.nan)


def summarize_cases_by_probability(cases: Array) -> Iterator[tuple[float, float, int, float, float]]:
    """Sum cases up by classes of probabilities: lower and upper edge, cases, mean probability, share that came true."""
    # The probabilities .5, .6 and 1 are in the classes 0, 1 and 4: each begins at its lower edge, the last has both.
    place = np.clip(np.searchsorted(EDGES, cases[0], side="right") - 1, 0, len(EDGES) - 2)
    for number, (low, high) in enumerate(pairwise(EDGES)):
        class_cases = cases[:, place == number]
        if class_cases.shape[1]:
            yield low, high, class_cases.shape[1], float(class_cases[0].mean()), float(class_cases[1].mean())
