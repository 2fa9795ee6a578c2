"""Say what a comparison could find: the least difference that its items decide, and the items that another one takes.

Both are of the paired t test, with the standard deviation of the items' differences in this comparison, and the level
that Holm's correction asks of the smallest of all p values. Power is that of a noncentral t distribution. (The module
`planning` knows that of studies with wordings, too; it loads much more, and a comparison is to take seconds.)

Reference
---------
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (power of t tests).
"""

from __future__ import annotations

import numpy as np

POWER = 0.8
MOST_ITEMS, MOST_DEVIATIONS = 10_000_000, 1_000  # more are not tried
_STEPS = 25  # of a bisection


def find_least_difference(spread: float, n_items: int, level: float) -> float:
    """Find the least true difference that so many items decide with a power of 0.8.

    Parameters
    ----------
    spread
        Standard deviation of the items' differences.
    n_items
        How many there are.
    level
        1 less the level of the test.

    Returns
    -------
    float
        In the unit of the differences; NaN where the spread is unknown or 0, for one item, or where it is beyond a
        thousand standard deviations.
    """
    if not spread > 0 or n_items < 2:
        return np.nan
    low, high = 0.0, 1.0
    while not _has_power(high, n_items, level):
        low, high = high, 2 * high
        if high > MOST_DEVIATIONS:
            return np.nan
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _has_power(middle, n_items, level) else (middle, high)
    return high * spread


def find_least_items(spread: float, difference: float, level: float) -> float:
    """Find the least number of items that decide a difference with a power of 0.8, if it is the true one.

    Parameters
    ----------
    spread, level
        As in `find_least_difference`.
    difference
        The true difference.

    Returns
    -------
    float
        NaN where there is no difference, or the spread is unknown or 0, or more than ten million are needed.
    """
    if not spread > 0 or not abs(difference) > 0:
        return np.nan
    effect = abs(difference) / spread
    low, high = 1, 2  # the first is not enough
    while not _has_power(effect, high, level):
        low, high = high, 2 * high
        if high > MOST_ITEMS:
            return np.nan
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _has_power(effect, middle, level) else (middle, high)
    return float(high)


def _has_power(effect: float, n_items: int, level: float) -> bool:
    """Tell whether the test finds a difference, in standard deviations of the items, with the wanted power."""
    from scipy.special import nctdtr, stdtrit

    freedom, shift = n_items - 1, effect * np.sqrt(n_items)
    limit = stdtrit(freedom, (1 + level) / 2)
    # That the test finds the other sign has next to no probability here, and SciPy does not compute it well.
    return bool(1 - nctdtr(freedom, shift, limit) >= POWER)
