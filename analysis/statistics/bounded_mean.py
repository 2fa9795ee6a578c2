"""Test the mean of values between 0 and 1 against a limit, by a test that needs few items and no shape of them.

A t test believes that what it did not see is like what it saw. Of items that are mostly near 1 and seldom 0, such as
the validity of answers, 30 may hold no 0 by chance: then t finds the mean above .99 though it is not. Gaffke's test
adds an item as far out as can be. For the claim that the mean is at most m, it weighs the values x_1 ... x_n and
x_0 = 0 at random, by the gaps between n sorted uniform numbers, and p is the probability that the weighted mean is at
most m. The weights are exponential numbers E divided by their sum, so that

    p = P(sum_j (x_j - m) E_j <= 0).

Of values of 0 and 1 it is the exact binomial test, and its interval is that of Clopper and Pearson; of many items of
any shape it is near the t test. That it errs in no more than its level is proven for these, and otherwise what all
simulations say (`tests/benchmarks/bench_check_numbers.py`).

The sum is inverted from its moment generating function exp K(s) = prod_j 1 / (1 - (x_j - m) s): p is the integral of
exp K(s) / -s along a vertical line through the saddle point on the negative side, to 10 digits also far out in the
tails, where Holm's correction looks.

References
----------
Gaffke, N. (2005). Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable.
Mathematical Methods of Statistics 14, 451-467.
Learned-Miller, E. and Thomas, P. S. (2019). A new confidence interval for the mean of a bounded random variable.
arXiv 1905.06208 (its relation to Clopper and Pearson, and to Student).
Daniels, H. E. (1987). Tail probability approximations. International Statistical Review 55, 37-48.
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.shares import Array

_STEP, _BLOCK, _BLOCKS = 0.08, 16, 20  # of the integral, over the inverse hyperbolic sine of the distance
_NOTHING = 1e-15  # of the sum so far: what a block adds where the integral is at its end
_ROUNDING = 1e-9  # of the limit: values this near it count as equal to it
_MANY, _BINS = 2_000, 500  # of more values, near ones count by their mean: it takes 1e-6 off their variance at most
_PRECISION = 1e-7  # of an end of an interval
_LEAST = 1e-300  # of a p value: its normal quantile is still a number


def compute_p_of_mean_at_most(values: Array, limit: float) -> float:
    """Test the claim that the mean of a population is at most a limit.

    Parameters
    ----------
    values
        Of independent items, within 0 and 1: (items,).
    limit
        In the same unit.

    Returns
    -------
    float
        One-sided p: small where the mean is above the limit. 1 without items; 0 for a limit below 0.

    >>> from scipy.stats import binomtest
    >>> p = compute_p_of_mean_at_most(np.repeat([1.0, 0.0], [27, 3]), 0.7)
    >>> bool(abs(p - binomtest(27, 30, 0.7, "greater").pvalue) < 1e-9)
    True
    """
    from scipy.optimize import brentq

    if limit < 0:
        return 0.0
    values, numbers = _bin_many_values_into_means_and_counts(np.append(np.clip(values, 0.0, 1.0), 0.0))
    distances = values - limit
    distances[np.abs(distances) <= _ROUNDING * max(limit, _ROUNDING)] = 0.0
    if not distances.max() > 0:
        return 1.0
    if not distances.min() < 0:
        return 0.0

    def compute_integrand_slope(place: float) -> float:
        """Return the slope of the logarithm of the integrand, which is least at the saddle point."""
        return float(numbers @ (distances / (1 - distances * place)) - 1 / place)

    end = 1 / distances.min()  # below 0; the integrand has a pole here and one at 0
    saddle = brentq(compute_integrand_slope, end * (1 - 1e-13), end * 1e-9, xtol=abs(end) * 1e-13, rtol=1e-9)
    ratios = distances / (1 - distances * saddle)
    scale = 1 / np.sqrt(numbers @ ratios**2 + saddle**-2)
    total, is_counted = 0.0, bool((numbers > 1).any())
    for block in range(_BLOCKS):
        places = _STEP * (np.arange(_BLOCK) + 0.5 + block * _BLOCK)
        heights = 1j * scale * np.sinh(places)
        # Relative to exp K at the saddle point: no factor is below 1, and a product beyond all numbers adds nothing.
        with np.errstate(over="ignore", invalid="ignore"):
            factors = 1 - heights[:, None] * ratios
            factors = np.exp(np.log(factors) @ numbers) if is_counted else np.multiply.reduce(factors, axis=1)
            parts = np.nan_to_num((np.cosh(places) / factors / -(saddle + heights)).real)
        total += float(parts.sum())
        if abs(parts[-1]) <= _NOTHING * abs(total):
            break
    at_saddle = -(numbers @ np.log1p(-distances * saddle))
    return float(np.clip(np.exp(at_saddle) * total * scale * _STEP / np.pi, 0.0, 1.0))


def _bin_many_values_into_means_and_counts(values: Array) -> tuple[Array, Array]:
    """Return values and how often each occurs; of very many, the means of those that are within 1 / `_BINS`."""
    if len(values) <= _MANY:
        return values, np.ones(len(values))
    _, bins = np.unique((values * _BINS).astype(np.int64), return_inverse=True)
    numbers = np.bincount(bins).astype(float)
    return np.bincount(bins, values) / numbers, numbers


def compute_p_of_mean_at_least(values: Array, limit: float) -> float:
    """Test the claim that the mean of a population is at least a limit.

    Parameters
    ----------
    values, limit
        As of `compute_p_of_mean_at_most`.

    Returns
    -------
    float
        One-sided p: small where the mean is below the limit.
    """
    return compute_p_of_mean_at_most(1 - np.asarray(values), 1 - limit)


def compute_bounded_mean_interval(values: Array) -> tuple[float, float]:
    """Return the limits between which neither claim is refuted: the 95 % interval.

    Parameters
    ----------
    values
        As of `compute_p_of_mean_at_most`.

    Returns
    -------
    tuple of float
        0 and 1 without items.

    >>> [round(end, 4) for end in compute_bounded_mean_interval(np.repeat([1.0, 0.0], [27, 3]))]
    [0.7347, 0.9789]
    """
    return _find_lower_end_of_mean_interval(np.asarray(values)), 1 - _find_lower_end_of_mean_interval(
        1 - np.asarray(values)
    )


def _find_lower_end_of_mean_interval(values: Array) -> float:
    """Return the limit at which the claim "the mean is at most this" has p = 0.025."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if not values.max(initial=0.0) > 0:
        return 0.0

    def compute_excess_over_tail(limit: float) -> float:
        """Return how far p is above 0.025, as normal quantiles: this is nearly linear in the limit."""
        return float(ndtri(np.clip(compute_p_of_mean_at_most(values, limit), _LEAST, 1 - _NOTHING)) - ndtri(0.025))

    return float(brentq(compute_excess_over_tail, 0.0, float(values.max()), xtol=_PRECISION))
