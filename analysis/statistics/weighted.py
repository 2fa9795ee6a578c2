"""Compute weighted moments and correlations, for the bootstrap of `analysis.statistics.resampling`.

Every function takes counts (draws, items), how often each item was drawn. A row of ones gives the measure itself, so
one formula serves the estimate and its draws. Undefined values are NaN: the kurtosis of a constant score, and any
correlation with a constant score. What differs by rounding only is equal (`analysis.statistics.rounding`); `scale` is
the width of the scale that the scores are on, by default their largest absolute value.

References
----------
Joanes, D. N. and Gill, C. A. (1998). Comparing measures of sample skewness and kurtosis. The Statistician 47, 183-189.
Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251 (tau-b).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.statistics.resampling import Array, Columns, sd
from analysis.statistics.rounding import settled

_BLOCK = 512  # items whose pairs are held at a time
# Sums of equal scores are rounded: they leave at most this spread, relative to their mean square and to their mean.
_RESIDUE, _RESOLUTION = 1e-13, 1e-15


def moments(counts: Array, values: Array, *, biased: bool = True, scale: float | None = None) -> dict[str, Array]:
    """Compute kurtosis (Fisher's: 0 for a normal distribution) and variance (n - 1) over the drawn items.

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).
    biased
        True: kurtosis is m4 / m2^2 - 3 (g2 of Joanes and Gill, the default of scipy). False: it is G2, which is 0 on
        average over samples of a normal distribution, and needs four items.
    scale
        Width of the scale.

    Returns
    -------
    dict
        kurtosis, variance: (draws, units).
    """
    values = _settled(values, scale)
    return {"kurtosis": kurtosis(counts, values, biased=biased, scale=scale), "variance": sd(counts, values) ** 2}


def kurtosis(counts: Array, values: Array, *, biased: bool = True, scale: float | None = None) -> Array:
    """Compute Fisher's kurtosis of the drawn items, see `moments`: (draws, units); NaN if all are equal."""
    values = _settled(values, scale)
    n = counts.sum(axis=1, keepdims=True)
    centre = values.mean(axis=0)
    centred = values - centre  # without it, large powers are subtracted below and digits are lost
    first, second, third, fourth = (counts @ centred**power / n for power in (1, 2, 3, 4))
    spread = second - first**2
    tails = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    constant = (spread <= _RESIDUE * second) | (spread <= (_RESOLUTION * centre) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(constant, np.nan, tails / spread**2 - 3)
        if biased:
            return np.asarray(excess)
        return np.where(n > 3, (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6), np.nan)


def nearest(values: Array) -> Array:
    """Round every score to the nearest whole number, halves up, so that no number is favoured (8.5 is 9, 7.5 is 8)."""
    return np.asarray(np.floor(np.asarray(values, float) + 0.5))


def concentration(counts: Array, values: Array) -> dict[str, Array]:
    """Measure how the drawn scores spread over the whole numbers, each score counted at the nearest one.

    Returns
    -------
    dict
        mode_share: share of the most frequent number, 0 to 1; entropy: in bits, 0 for one number only and log2(k) for
        k numbers that are equally frequent; (draws, units).
    """
    shares = [_sums(counts, nearest(column)) / counts.sum(axis=1, keepdims=True) for column in values.T]
    entropies = [-(part * np.log2(part, out=np.zeros_like(part), where=part > 0)).sum(axis=1) + 0.0 for part in shares]
    return {
        "mode_share": np.column_stack([part.max(axis=1) for part in shares]),
        "entropy": np.column_stack(entropies),
    }


def mode(values: Array) -> tuple[float, int]:
    """Find the most frequent number (of several, the lowest) and count the different numbers; see `nearest`."""
    numbers, sizes = np.unique(nearest(values), return_counts=True)
    return (float(numbers[sizes.argmax()]), len(numbers)) if len(numbers) else (np.nan, 0)


def correlations(columns: Columns, counts: Array, *, scale: float | None = None) -> dict[str, Array]:
    """Correlate columns `score` and `gold` (items, units) by Kendall's tau-b, Spearman and Pearson.

    Returns
    -------
    dict
        tau, spearman, pearson: (draws, units); NaN if either column is constant over the drawn items.
    """
    found: dict[str, list[Array]] = {"tau": [], "spearman": [], "pearson": []}
    gold: _Ranked | None = None
    for x, y in zip(_settled(columns["score"], scale).T, _settled(columns["gold"], scale).T, strict=True):
        if gold is None or not np.array_equal(y, gold.values):  # as a rule, all units have the same human score
            gold = _rank(counts, y)
        score = _rank(counts, x)
        found["tau"].append(_tau(counts, score, gold))
        found["spearman"].append(_spearman(counts, score, gold))
        found["pearson"].append(pearson(counts, x, y))
    return {name: np.column_stack(units) for name, units in found.items()}


def tau(counts: Array, x: Array, y: Array, *, scale: float | None = None) -> Array:
    """Compute Kendall's tau-b of two scores (items,) in every draw, with ties and repeated items: (draws,)."""
    return _tau(counts, _rank(counts, settled(x, scale)), _rank(counts, settled(y, scale)))


def pearson(counts: Array, x: Array, y: Array, *, scale: float | None = None) -> Array:
    """Compute Pearson's correlation of two scores (items,) in every draw: (draws,)."""
    x, y = settled(x, scale), settled(y, scale)
    n = counts.sum(axis=1)
    left, right = x - x.mean(), y - y.mean()  # without it, squares are subtracted below and digits are lost
    powers = counts @ np.column_stack([left, right, left**2, right**2, left * right])
    sum_x, sum_y, square_x, square_y, product = powers.T
    of_x, of_y = square_x - sum_x**2 / n, square_y - sum_y**2 / n
    varies = (of_x > _RESIDUE * square_x) & (of_y > _RESIDUE * square_y)
    for values, spread in ((x, of_x), (y, of_y)):
        varies &= spread > n * (_RESIDUE * np.abs(values).max()) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, np.clip((product - sum_x * sum_y / n) / np.sqrt(of_x * of_y), -1, 1), np.nan)


def by_unit(measure: Callable[[Array, Array, Array], Array], counts: Array, x: Array, y: Array) -> Array:
    """Apply a measure of two scores, `tau` or `pearson`, to every unit: twice (items, units) -> (draws, units)."""
    return np.column_stack([measure(counts, one, other) for one, other in zip(x.T, y.T, strict=True)])


def _settled(values: Array, scale: float | None) -> Array:
    """Free every unit of (items, units) from rounding noise."""
    return np.column_stack([settled(unit, scale) for unit in values.T])


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Hold the ranks of one score in every draw.

    Attributes
    ----------
    values
        The score (items,).
    ranks
        Rank of every item among the drawn ones, from 1, ties sharing their mean rank: (draws, items).
    ties
        How often each distinct value was drawn: (draws, distinct values).
    """

    values: Array
    ranks: Array
    ties: Array


def _rank(counts: Array, values: Array) -> _Ranked:
    """Rank a score in every draw.

    In the draw "a, b, b, c" of the values 5, 7, 9 (counts 1, 2, 1), b has the ranks 2 and 3, so both get 2.5.
    """
    ties = _sums(counts, values)
    ranks = ties.cumsum(axis=1) - ties + (ties + 1) / 2
    return _Ranked(values, ranks[:, np.unique(values, return_inverse=True)[1]], ties)


def _sums(counts: Array, values: Array) -> Array:
    """Count how often each distinct value was drawn, in the order of the values: (draws, distinct values)."""
    _, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(which.max() + 1))
    return np.asarray(np.add.reduceat(counts[:, order], starts, axis=1))


def _tau(counts: Array, x: _Ranked, y: _Ranked) -> Array:
    """Compute tau-b from c' S c / 2, the concordant minus the discordant pairs of a draw with counts c.

    S (items, items) holds sign(x_i - x_j) sign(y_i - y_j). It is the same for all draws, so that a draw costs a matrix
    product instead of a sort.
    """
    small = counts.astype(np.float32)  # whole numbers far below 2^24: exact, and twice as fast
    balance = np.zeros(len(counts))
    for start in range(0, len(x.values), _BLOCK):
        rows = slice(start, start + _BLOCK)
        signs = np.sign(x.values[rows, None] - x.values) * np.sign(y.values[rows, None] - y.values)
        balance += np.einsum("di,di->d", counts[:, rows], small @ signs.T.astype(np.float32))
    drawn = counts.sum(axis=1)
    untied = np.prod([drawn**2 - (score.ties**2).sum(axis=1) for score in (x, y)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(untied > 0, balance / np.sqrt(untied), np.nan)


def _spearman(counts: Array, x: _Ranked, y: _Ranked) -> Array:
    """Compute Pearson's correlation of the ranks.

    The ranks of n items have the mean (n + 1) / 2, and their squared distances from it sum to (n^3 - sum t^3) / 12,
    with t the sizes of the ties.
    """
    n = counts.sum(axis=1)
    product = np.einsum("di,di,di->d", counts, x.ranks, y.ranks) - n * ((n + 1) / 2) ** 2
    squares = np.prod([(n**3 - (score.ties**3).sum(axis=1)) / 12 for score in (x, y)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, np.clip(product / np.sqrt(squares), -1, 1), np.nan)
