"""Test a mean of values between 0 and 1 of which only two bounds are known, and no single value.

With m the true mean and x the mean that was found, of n independent values between 0 and 1,

    P(mean >= x) <= exp(-n K(x, m)) for x > m,  K(x, m) = x log(x / m) + (1 - x) log((1 - x) / (1 - m)),

and likewise below m (Hoeffding 1963, theorem 1, equation 2.1). It needs no single value and no variance, and so finds
less than Gaffke's test (`bounded_mean`). The lower bound of the found mean is held against a limit from below, and the
upper one from above: what lies between them counts for neither side.

References
----------
Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. Journal of the American Statistical
Association 58, 13-30.
"""

from __future__ import annotations

import math

_STEPS = 60  # halvings of the range in which an end of an interval lies


def compute_p_of_partly_known_mean_at_most(lowest: float, n: float, limit: float) -> float:
    """Bound the p value of the claim that the mean of a population is at most a limit.

    Parameters
    ----------
    lowest
        The found mean, or its lower bound: 0 to 1.
    n
        Number of independent values; of a mean with unequal weights, 1 divided by the largest one.
    limit
        0 to 1.

    Returns
    -------
    float
        At least the true p: small where even the lower bound is far above the limit; 1 where it is not above it.

    >>> round(compute_p_of_partly_known_mean_at_most(1.0, 10, 0.8), 12) == round(0.8**10, 12)
    True
    """
    if not lowest > limit:
        return 1.0
    return math.exp(-n * _compute_divergence(lowest, limit))


def compute_p_of_partly_known_mean_at_least(highest: float, n: float, limit: float) -> float:
    """Bound the p value of the claim that the mean of a population is at least a limit.

    Parameters
    ----------
    highest
        The found mean, or its upper bound.
    n, limit
        As in `compute_p_of_partly_known_mean_at_most`.

    Returns
    -------
    float
        As there.
    """
    return compute_p_of_partly_known_mean_at_most(1 - highest, n, 1 - limit)


def compute_partly_known_mean_interval(lowest: float, highest: float, n: float, level: float) -> tuple[float, float]:
    """Compute the interval of all limits that neither test refutes.

    Parameters
    ----------
    lowest, highest
        Bounds of the found mean.
    n
        As in `compute_p_of_partly_known_mean_at_most`.
    level
        Of each side, such as .025.

    Returns
    -------
    tuple of float
        Lower and upper end; with that level on each side, it holds the true mean at least as often as 1 less twice it.
    """
    return _find_least_limit(lowest, n, level), 1 - _find_least_limit(1 - highest, n, level)


def _find_least_limit(lowest: float, n: float, level: float) -> float:
    """Find the lowest limit below the found mean that is not refuted, by halving the range: p rises with the limit."""
    low, high = 0.0, lowest
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if compute_p_of_partly_known_mean_at_most(lowest, n, middle) < level:
            low = middle
        else:
            high = middle
    return low


def _compute_divergence(found: float, limit: float) -> float:
    """Compute K(x, m); infinite where the limit allows no value such as those found."""
    parts = ((found, limit), (1 - found, 1 - limit))
    return sum(x * math.log(x / m) if m > 0 else math.inf for x, m in parts if x > 0)
