"""Test whether two shares of the same items differ: the exact sign test of McNemar's table."""

from __future__ import annotations

import numpy as np

from analysis.statistics.resampling import Array


def mcnemar(first: Array, second: Array) -> tuple[Array, Array]:
    """Test pairs of yes/no columns, item by item: exact two-sided p values, and the smallest that were possible.

    Only items where the two differ count: without a difference between the sides, each of these says "yes" on the first
    side with probability 1/2. The bootstrap is no test here: it never draws what no item shows, so from few items its p
    values are too small.

    Parameters
    ----------
    first, second
        Arrays (items, pairs) of 1 and 0; NaN where the item has no value.

    Returns
    -------
    tuple
        p (pairs,), 1 where no item differs; and p if all items differed in one direction, 2^(1 - n). Both NaN below two
        items, as an interval.

    References
    ----------
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12, 153-157; exact form: Agresti, Categorical Data Analysis, section 11.1.
    """
    n = (~np.isnan(first - second)).sum(axis=0)
    ups, downs = (first > second).sum(axis=0), (first < second).sum(axis=0)
    p = np.array(
        [min(2 * _tail(min(up, down), up + down), 1.0) for up, down in zip(ups.tolist(), downs.tolist(), strict=True)]
    )
    unknown = n < 2
    return np.where(unknown, np.nan, p), np.where(unknown, np.nan, 2.0 ** (1 - n))


def _tail(most: int, n: int) -> float:
    """Return the probability of at most so many heads in n throws of a coin; scipy would take a second to import."""
    term = total = 1
    for k in range(most):
        term = term * (n - k) // (k + 1)
        total += term
    return total / 2**n
