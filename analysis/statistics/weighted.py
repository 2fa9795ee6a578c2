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

import numpy as np

from analysis.statistics.resampling import Array, Columns, sd
from analysis.statistics.rounding import settled

_PAIRS = 4_000_000  # pairs of items, times draws, held at a time: 16 MB
_EXACT = 2**24  # a whole number below it is exact in single precision
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
    return {"kurtosis": _kurtosis(counts, values, biased), "variance": sd(counts, values) ** 2}


def kurtosis(counts: Array, values: Array, *, biased: bool = True, scale: float | None = None) -> Array:
    """Compute Fisher's kurtosis of the drawn items, see `moments`: (draws, units); NaN if all are equal."""
    return _kurtosis(counts, _settled(values, scale), biased)


def _kurtosis(counts: Array, values: Array, biased: bool) -> Array:
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
    ones = [_indicators(column) for column in nearest(values).T]
    starts = np.cumsum([0, *(one.shape[1] for one in ones[:-1])])
    shares = counts @ np.hstack(ones) / counts.sum(axis=1, keepdims=True)
    bits = shares * np.log2(np.where(shares > 0, shares, 1))
    return {
        "mode_share": np.maximum.reduceat(shares, starts, axis=1),
        "entropy": 0.0 - np.add.reduceat(bits, starts, axis=1),
    }


def _indicators(values: Array) -> Array:
    """Mark the items that have each distinct value, in the order of the values: (items, distinct values) of 0 and 1."""
    distinct, which = np.unique(values, return_inverse=True)
    return np.eye(len(distinct))[which]


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
    x, y = _alike(columns["score"], scale), _alike(columns["gold"], scale)
    return {"tau": _tau(counts, x, y), "spearman": _spearman(counts, x, y), "pearson": _pearson(counts, x, y)}


def tau(counts: Array, x: Array, y: Array, *, scale: float | None = None) -> Array:
    """Compute Kendall's tau-b with ties and repeated items: twice (items, units) -> (draws, units)."""
    return _tau(counts, _alike(x, scale), _alike(y, scale))


def pearson(counts: Array, x: Array, y: Array, *, scale: float | None = None) -> Array:
    """Compute Pearson's correlation: twice (items, units) -> (draws, units)."""
    return _pearson(counts, _alike(x, scale), _alike(y, scale))


def _settled(values: Array, scale: float | None) -> Array:
    """Free every unit of (items, units) from rounding noise."""
    return np.column_stack([settled(unit, scale) for unit in values.T])


def _alike(values: Array, scale: float | None) -> Array:
    """Settle scores, those of one unit for all where all have the same: as a rule, the human score."""
    return _settled(values[:, :1] if (values == values[:, :1]).all() else values, scale)


def _tau(counts: Array, x: Array, y: Array) -> Array:
    """Compute tau-b from the pairs of items: how often each was drawn, times whether it is concordant or tied.

    The signs of a pair are the same for all draws, so that all draws of all units are one matrix product. A draw of n
    items has fewer than n^2 pairs.
    """
    balance = untied_x = untied_y = np.zeros((len(counts), 1))
    drawn = counts.astype(np.float32 if counts.sum(axis=1).max() ** 2 < _EXACT else np.float64)
    step = max(1, _PAIRS // counts.size)
    for start in range(0, counts.shape[1], step):
        first, second = np.nonzero(np.arange(start, min(start + step, len(x)))[:, None] < np.arange(len(x)))
        pairs = drawn[:, first + start] * drawn[:, second]
        of_x, of_y = (np.sign(v[first + start] - v[second]).astype(drawn.dtype) for v in (x, y))
        balance, untied_x, untied_y = (
            total + pairs @ signs
            for total, signs in ((balance, of_x * of_y), (untied_x, np.abs(of_x)), (untied_y, np.abs(of_y)))
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        untied = untied_x * untied_y
        return np.where(untied > 0, balance / np.sqrt(untied), np.nan)


def _spearman(counts: Array, x: Array, y: Array) -> Array:
    """Compute Pearson's correlation of the ranks."""
    found = []
    for unit in range(max(x.shape[1], y.shape[1])):
        if unit < x.shape[1]:
            of_x, square_x = _ranked(counts, x[:, unit])
        if unit < y.shape[1]:
            of_y, square_y = _ranked(counts, y[:, unit])
        product, squares = np.einsum("di,di,di->d", counts, of_x, of_y), square_x * square_y
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.where(squares > 0, np.clip(product / np.sqrt(squares), -1, 1), np.nan))
    return np.column_stack(found)


def _ranked(counts: Array, values: Array) -> tuple[Array, Array]:
    """Rank a score in every draw, ties sharing their mean rank.

    In the draw "a, b, b, c" of the values 5, 7, 9 (counts 1, 2, 1), b has the ranks 2 and 3, so both get 2.5. Twice the
    distance of a rank to the mean rank is how many drawn items are below, less how many are above.

    Returns
    -------
    tuple
        Twice the distances (draws, items), and the sum of their squares over the drawn items (draws,).
    """
    distances = counts @ np.sign(values - values[:, None])
    return distances, np.einsum("di,di,di->d", counts, distances, distances)


def _pearson(counts: Array, x: Array, y: Array) -> Array:
    n = counts.sum(axis=1, keepdims=True)
    left, right = x - x.mean(axis=0), y - y.mean(axis=0)  # without it, squares are subtracted below and digits are lost
    sum_x, sum_y, square_x, square_y, product = (counts @ v for v in (left, right, left**2, right**2, left * right))
    of_x, of_y = square_x - sum_x**2 / n, square_y - sum_y**2 / n
    varies = (of_x > _RESIDUE * square_x) & (of_y > _RESIDUE * square_y)
    for values, spread in ((x, of_x), (y, of_y)):
        varies = varies & (spread > n * (_RESIDUE * np.abs(values).max(axis=0)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, np.clip((product - sum_x * sum_y / n) / np.sqrt(of_x * of_y), -1, 1), np.nan)
