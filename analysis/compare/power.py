"""Say what a comparison could find: the least difference that its items decide, and the items that another one takes.

Both are of the test that was made, at the level that Holm's correction asks of the smallest of all p values. Of the
paired t test, with the standard deviation of the items' differences in this comparison, power is that of a noncentral t
distribution. Of the exact test of McNemar, it is that of a binomial number of items that differ, each of which is a
coin: few items, or few that differ, find less than a t test would. (The module `planning` knows the power of studies
with wordings, too; it loads much more, and a comparison is to take seconds.)

References
----------
Cohen, J. (1988). Statistical Power Analysis, section 2.5 (power of t tests).
Duffy, S. W. (1984). Asymptotic and exact power for the McNemar test and its analogue with R controls per case.
Biometrics 40, 1005-1015.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.planning import find_least_items_with_power

PAIRED_T, MCNEMAR, SIGN = "paired t", "exact McNemar", "sign test"
SIGN_BOUND = "bound of the sign test"  # its p, had all items that differ gone one way
POWER = 0.8
MOST_ITEMS, MOST_DEVIATIONS = 10_000_000, 1_000  # more are not tried
_MOST_COUNTED = 10_000  # where more items differ, the exact test has the power of a t test
_REACH = 8  # standard deviations of the number of items that differ: what lies beyond has no weight
_STEPS = 25  # of a bisection


def find_least_difference_and_needed_items(row: Mapping[str, Any], level: float) -> tuple[float, float]:
    """Find the least difference that the test of a row finds, and how many items find its difference.

    Parameters
    ----------
    row
        With test, n_items, n_items_differing, difference, has_range (whether answers lie within 0 and 1), and spread,
        the standard deviation of the items' differences, NaN where these items do not tell it.
    level
        1 less the level of the test.

    Returns
    -------
    tuple of two floats
        As `find_least_difference` and `find_least_items_for_difference`; a difference above the range is NaN, too.
    """
    n_items, difference = row["n_items"], row["difference"]
    if row["test"] == MCNEMAR:
        differing = row["n_items_differing"] / n_items
        return (
            find_least_share_difference(differing, n_items, level),
            find_least_items_of_share_difference(differing, difference, level),
        )
    least = find_least_difference(row["spread"], n_items, level)
    return np.nan if row["has_range"] and least > 1 else least, find_least_items_for_difference(
        row["spread"], difference, level
    )


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
        In the unit of the differences; NaN where the spread is unknown or 0, for one item, or where it is beyond
        some 500 standard deviations.
    """
    if not spread > 0 or n_items < 2:
        return np.nan
    low, high = 0.0, 1.0
    while not _has_t_test_enough_power(high, n_items, level):
        low, high = high, 2 * high
        if high > MOST_DEVIATIONS:
            return np.nan
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _has_t_test_enough_power(middle, n_items, level) else (middle, high)
    return high * spread


def find_least_items_for_difference(spread: float, difference: float, level: float) -> float:
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
    return _find_least_number_of_items_with_power(lambda n_items: _has_t_test_enough_power(effect, n_items, level))


def find_least_share_difference(differing: float, n_items: int, level: float) -> float:
    """Find the least true difference of shares that the exact test of McNemar finds with a power of 0.8.

    Parameters
    ----------
    differing
        Share of the items in which both sides differ; of a larger difference, all that differ do so in one direction.
    n_items, level
        As in `find_least_difference`.

    Returns
    -------
    float
        NaN where these items find none, however large it is.
    """

    def has_power(difference: float) -> bool:
        return _has_mcnemar_test_enough_power(max(differing, difference), difference, n_items, level)

    low, high = 0.0, 1.0
    if not has_power(high):
        return np.nan
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if has_power(middle) else (middle, high)
    return high


def find_least_items_of_share_difference(differing: float, difference: float, level: float) -> float:
    """Find the least number of items in which the exact test of McNemar finds a difference with a power of 0.8.

    Parameters
    ----------
    differing
        Share of the items in which both sides differ, of all items that there are.
    difference, level
        As in `find_least_items_for_difference`.

    Returns
    -------
    float
        NaN where there is no difference, or more than ten million are needed.
    """
    if not abs(difference) > 0:
        return np.nan
    return _find_least_number_of_items_with_power(
        lambda n_items: _has_mcnemar_test_enough_power(differing, abs(difference), n_items, level)
    )


def _find_least_number_of_items_with_power(has_power: Callable[[int], bool]) -> float:
    """Find the least number of items, from 2 on, that has power; NaN where it is too large."""
    least = find_least_items_with_power(has_power, 2, MOST_ITEMS)
    return float(least) if np.isfinite(least) else np.nan


def _has_t_test_enough_power(effect: float, n_items: int, level: float) -> bool:
    """Tell whether the test finds a difference, in standard deviations of the items, with the wanted power."""
    from scipy.special import nctdtr, stdtrit

    freedom, shift = n_items - 1, effect * np.sqrt(n_items)
    limit = stdtrit(freedom, (1 + level) / 2)
    # That the test finds the other sign has next to no probability here, and SciPy does not compute it well.
    return bool(1 - nctdtr(freedom, shift, limit) >= POWER)


def _has_mcnemar_test_enough_power(differing: float, difference: float, n_items: int, level: float) -> bool:
    """Tell whether the exact test finds a difference, 0 to `differing`, in its direction with the wanted power."""
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    expected, spread = n_items * differing, np.sqrt(n_items * differing * (1 - differing))
    if expected > _MOST_COUNTED and differing > difference**2:
        return _has_t_test_enough_power(difference / np.sqrt(differing - difference**2), n_items, level)
    ends = expected - _REACH * spread - _REACH, expected + _REACH * spread + _REACH
    counts = np.arange(max(int(ends[0]), 1), min(int(ends[1]), n_items) + 1)
    weights = np.exp(
        gammaln(n_items + 1) - gammaln(counts + 1) - gammaln(n_items - counts + 1)
        + xlogy(counts, differing) + xlog1py(n_items - counts, -differing)
    )  # fmt: skip
    if counts[-1] > 2 * _MOST_COUNTED:  # few of many counts: a table of all would take seconds
        most = _find_max_opposing_items_for_significance(level, counts)
    else:
        most = _list_max_opposing_items_for_significance(level, int(counts[-1]).bit_length())[counts]
    other_way = (1 - difference / differing) / 2
    found = np.where(most < 0, 0.0, bdtr(most.clip(0), counts, other_way))
    return bool(weights @ found >= POWER)


@lru_cache(maxsize=64)
def _list_max_opposing_items_for_significance(level: float, n_bits: int) -> npt.NDArray[np.float64]:
    """List how many of 0, 1, 2 ... items that differ may go the other way in a difference that is found.

    The counts are those of at most `n_bits` bits: a search asks for the same ones at every step. Below 0, no number of
    them is few enough.
    """
    return _find_max_opposing_items_for_significance(level, np.arange(2**n_bits))


def _find_max_opposing_items_for_significance(level: float, counts: npt.NDArray[np.int_]) -> npt.NDArray[np.float64]:
    """Find how many of so many items that differ may go the other way; below 0, none are few enough."""
    from scipy.special import bdtr, bdtrik

    most = np.floor(np.nan_to_num(bdtrik((1 - level) / 2, counts, 0.5), nan=0.0).clip(0))
    return most - (2 * bdtr(most, counts, 0.5) >= 1 - level)
