"""The measures of scores as statistics that `analysis.resampling` can resample.

All take counts (draws, items), how often each item was drawn; counts of 1 give the measure itself, so that an estimate
and its draws come from the same formula. What is undefined is NaN: the kurtosis of a constant score, the correlation
with one.

References
----------
Joanes, D. N. and Gill, C. A. (1998). Comparing measures of sample skewness and kurtosis. The Statistician 47, 183-189.
Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251 (tau-b).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from analysis.resampling import Array, Columns, sd

_BLOCK = 512  # items whose pairs are held at a time
# Spread below which a score is constant but for rounding, relative to its square and to its mean.
_RESIDUE, _RESOLUTION = 1e-13, 1e-15


def moments(counts: Array, values: Array, *, biased: bool = True) -> dict[str, Array]:
    """Kurtosis (Fisher's: 0 for a normal distribution) and variance (n - 1) over the drawn items.

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).
    biased
        Kurtosis as m4 / m2^2 - 3 (g2 of Joanes and Gill, the default of scipy), else G2, for which a normal sample has
        an expectation of 0; G2 needs four items.

    Returns
    -------
    dict
        kurtosis, variance: (draws, units).
    """
    return {"kurtosis": kurtosis(counts, values, biased=biased), "variance": sd(counts, values) ** 2}


def kurtosis(counts: Array, values: Array, *, biased: bool = True) -> Array:
    """Fisher's kurtosis of the drawn items, see `moments`; NaN where all are equal."""
    n = counts.sum(axis=1, keepdims=True)
    centre = values.mean(axis=0)
    centred = values - centre  # else the powers below cancel
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
    """The whole number nearest to every score, halves up, so that no number is favoured (8.5 is 9, 7.5 is 8)."""
    return np.asarray(np.floor(np.asarray(values, float) + 0.5))


def concentration(counts: Array, values: Array) -> dict[str, Array]:
    """How the drawn items' scores spread over the whole numbers, each score counted at the nearest one.

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
    """The most frequent number (of several the lowest) and how many different numbers occur; see `nearest`."""
    numbers, sizes = np.unique(nearest(values), return_counts=True)
    return (float(numbers[sizes.argmax()]), len(numbers)) if len(numbers) else (np.nan, 0)


def correlations(columns: Columns, counts: Array) -> dict[str, Array]:
    """Kendall's tau-b, Spearman's and Pearson's correlation of columns `score` and `gold` (items, units).

    Returns
    -------
    dict
        tau, spearman, pearson: (draws, units); NaN where either column is constant over the drawn items.
    """
    measures: dict[str, Callable[[Array, Array, Array], Array]] = {
        "tau": tau, "spearman": spearman, "pearson": pearson
    }  # fmt: skip
    pairs = list(zip(columns["score"].T, columns["gold"].T, strict=True))
    return {name: np.column_stack([measure(counts, x, y) for x, y in pairs]) for name, measure in measures.items()}


def tau(counts: Array, x: Array, y: Array) -> Array:
    """Kendall's tau-b of two scores (items,) in every draw, ties and repeated items included: (draws,).

    With c the counts of a draw, concordant minus discordant pairs are c' S c / 2, where S holds the products of the
    signs of all differences; a draw costs one matrix product rather than a sort.
    """
    counts = np.asarray(counts)
    small = counts.astype(np.float32)  # whole numbers far below 2^24: exact, and twice as fast
    balance = np.zeros(len(counts))
    for start in range(0, len(x), _BLOCK):
        rows = slice(start, start + _BLOCK)
        signs = np.sign(x[rows, None] - x) * np.sign(y[rows, None] - y)
        balance += np.einsum("di,di->d", counts[:, rows], small @ signs.T.astype(np.float32))
    untied = _untied(counts, x) * _untied(counts, y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(untied > 0, balance / np.sqrt(untied), np.nan)


def spearman(counts: Array, x: Array, y: Array) -> Array:
    """Spearman's correlation of two scores (items,) in every draw, midranks for ties: (draws,)."""
    return pearson(counts, _midranks(counts, x), _midranks(counts, y))


def pearson(counts: Array, x: Array, y: Array) -> Array:
    """Pearson's correlation of two columns, (items,) or (draws, items), in every draw: (draws,)."""
    n = counts.sum(axis=1, keepdims=True)
    left, right = (values - (counts * values).sum(axis=1, keepdims=True) / n for values in (x, y))
    product, of_left, of_right = ((counts * part).sum(axis=1) for part in (left * right, left**2, right**2))
    varies = _varies(counts, x, of_left) & _varies(counts, y, of_right)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, np.clip(product / np.sqrt(of_left * of_right), -1, 1), np.nan)


def _varies(counts: Array, values: Array, squares: Array) -> npt.NDArray[np.bool_]:
    """Whether a spread is more than rounding leaves of a constant."""
    largest = np.abs(values).max(axis=-1)
    return np.asarray(squares > counts.sum(axis=1) * (_RESIDUE * largest) ** 2)


def _sums(counts: Array, values: Array) -> Array:
    """How often each distinct value was drawn, the values in order: (draws, distinct values)."""
    _, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(which.max() + 1))
    return np.asarray(np.add.reduceat(counts[:, order], starts, axis=1))


def _untied(counts: Array, values: Array) -> Array:
    """Twice the number of drawn pairs that differ in value: (draws,)."""
    return np.asarray(counts.sum(axis=1) ** 2 - (_sums(counts, values) ** 2).sum(axis=1))


def _midranks(counts: Array, values: Array) -> Array:
    """Rank of every item among the drawn ones, from 1, ties sharing their mean rank: (draws, items)."""
    sums = _sums(counts, values)
    _, which = np.unique(values, return_inverse=True)
    return np.asarray((sums.cumsum(axis=1) - sums + (sums + 1) / 2)[:, which])
