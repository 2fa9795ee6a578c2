"""See whether probabilities that an order stands come true: foreseen from one half of the data, seen in the other.

The wordings are cut into two random halves, and, where other items are meant, too, the items. Each half foresees for
every pair of models how likely the other keeps their order (`replication.same_sign`); the halves are as large, so that
the other one is "another study of this size". Probabilities are *calibrated* where, among pairs with probabilities
about p, the share that keeps its order is about p.

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
from analysis.statistics.reliability.panel import Anew, panel
from analysis.statistics.reliability.replication import among, same_sign

SPLITS, MOST = 10, 300  # cuts into halves; pairs in all cuts, of which there is at least one
LEAST = 4  # wordings, and items: two in each half
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of classes of probabilities: a sign that was found is no less likely than 0.5


def held_out(values: Array, crossed: bool, anew: Anew, *, seed: int = 0) -> Array:
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
    known: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = known.any(axis=1), known.any(axis=0)
    values = values[:, rows][:, :, columns]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(max(1, min(SPLITS, MOST // max(1, len(pairs))))):
        halves = _halves(values, crossed, anew, rng)
        for own, other in (halves, halves[::-1]) if halves else ():
            known_here = among(own, crossed, anew)
            for a, b in pairs:
                here, there = panel(own[a] - own[b], crossed), panel(other[a] - other[b], crossed)
                found.append((same_sign(here, anew, known_here), here.mean * there.mean))
    cases = np.array(found, float).reshape(-1, 2).T
    known = ~np.isnan(cases).any(axis=0) & (cases[1] != 0)
    return np.stack([cases[0, known], cases[1, known] > 0])


def _halves(values: Array, crossed: bool, anew: Anew, rng: np.random.Generator) -> tuple[Array, Array] | None:
    """Cut the answers into two halves; None where one would have too little."""
    known = ~np.isnan(values[0])
    if anew == "wordings" and not crossed:
        enough = known.sum(axis=1) >= LEAST
        values, known = values[:, enough], known[enough]
    n_items, width = known.shape
    if n_items < LEAST or (crossed and width < LEAST):
        return None
    first = second = known
    if crossed:
        first = known & (rng.permutation(width) < width // 2)
    elif anew == "wordings":
        # Ranks of random numbers, missing answers last: of an item's 5 answers, the first half has ranks 0 and 1.
        order = np.argsort(np.argsort(np.where(known, rng.random(known.shape), np.inf), axis=1), axis=1)
        first = known & (order < known.sum(axis=1, keepdims=True) // 2)
    if crossed or anew == "wordings":
        second = known & ~first
    if anew == "both":  # of wordings of their own, other items bring others
        items = rng.permutation(n_items) < n_items // 2
        first, second = first & items[:, None], second & ~items[:, None]
    return np.where(first, values, np.nan), np.where(second, values, np.nan)


def classes(cases: Array) -> Iterator[tuple[float, float, int, float, float]]:
    """Sum cases up by classes of probabilities: lower and upper edge, cases, mean probability, share that came true."""
    # The probabilities .5, .6 and 1 are in the classes 0, 1 and 4: each begins at its lower edge, the last has both.
    place = np.clip(np.searchsorted(EDGES, cases[0], side="right") - 1, 0, len(EDGES) - 2)
    for number, (low, high) in enumerate(pairwise(EDGES)):
        own = cases[:, place == number]
        if own.shape[1]:
            yield low, high, own.shape[1], float(own[0].mean()), float(own[1].mean())
