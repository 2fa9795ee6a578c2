"""Compute what range, SD and flips of an item would be with k of its wordings: exactly, without drawing any.

Lowest and highest of many answers lie further apart than those of few, so that ranges of studies with different numbers
of wordings do not compare. Here k of an item's n answers are drawn without replacement, and the figure is the mean over
all such draws:

- *range*: with sorted answers x_1 ... x_n, the j-th is the highest of k with probability C(j - 1, k - 1) / C(n, k), and
  the lowest with the same the other way round;
- *flips*: the number of drawn answers that agree is hypergeometric;
- *SD*: the mean over all draws of the variance (k - 1 below) is the variance of all n answers, whatever k is. So its
  root is the SD of all of them.

References
----------
David, H. A. and Nagaraja, H. N. (2003). Order Statistics, section 3.7 (sampling without replacement).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from analysis.statistics.reliability.components import Array


def compute_expected_range_with_k(values: Array, k: int) -> Array:
    """Compute the expected range of k answers of every item.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none.
    k
        From 2 on.

    Returns
    -------
    array (items,)
        NaN for an item with fewer than k answers.
    """
    ordered = np.sort(values, axis=1)  # NaN stands last
    n = (~np.isnan(values)).sum(axis=1)
    ranges = np.full(len(values), np.nan)
    for size in np.unique(n[n >= k]):
        # Of 3 answers and k = 2, the 1st, 2nd and 3rd are the highest with 0, 1/3 and 2/3, the lowest with 2/3, 1/3, 0.
        place = np.arange(1, size + 1)
        highest = np.exp(
            _compute_log_binomial_coefficient(place - 1, k - 1) - _compute_log_binomial_coefficient(size, k)
        )
        rows = n == size
        ranges[rows] = ordered[rows, :size] @ (highest - highest[::-1])
    return ranges


def compute_flip_probability_with_k(values: Array, k: int, threshold: float) -> Array:
    """Compute the probability of every item to flip with k answers: more than a share of them is with the minority.

    Parameters
    ----------
    values, k
        As in `compute_expected_range_with_k`; from 0.5 on, an answer agrees, as on the page on stability.
    threshold
        Share of the answers that may be with the minority without a flip.

    Returns
    -------
    array (items,)
        NaN for an item with fewer than k answers.
    """
    n = (~np.isnan(values)).sum(axis=1)
    agree = (values >= 0.5).sum(axis=1)
    n_agreeing = np.arange(k + 1)
    is_flip = np.minimum(n_agreeing, k - n_agreeing) / k > threshold
    pairs, which = np.unique(np.stack([n, agree]), axis=1, return_inverse=True)
    chances = [
        _compute_hypergeometric_probabilities(size, yes, k)[is_flip].sum() if size >= k else np.nan
        for size, yes in pairs.T.tolist()
    ]
    return np.asarray(chances)[which.ravel()]


def _compute_hypergeometric_probabilities(n: int, n_yes: int, k: int) -> Array:
    """Return the probabilities of 0 ... k agreeing answers among k of n, of which `n_yes` agree."""
    n_agreeing = np.arange(k + 1.0)
    logs = _compute_log_binomial_coefficient(n_yes, n_agreeing) + _compute_log_binomial_coefficient(
        n - n_yes, k - n_agreeing
    )
    return np.exp(logs - _compute_log_binomial_coefficient(n, k))


def _compute_log_binomial_coefficient(n: npt.ArrayLike, k: npt.ArrayLike) -> Array:
    """Return the logarithm of "n choose k": minus infinity where k is below 0 or above n."""
    whole, part = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    inside = (part >= 0) & (part <= whole)
    whole, part = np.where(inside, whole, 0.0), np.where(inside, part, 0.0)
    return np.where(inside, gammaln(whole + 1) - gammaln(part + 1) - gammaln(whole - part + 1), -np.inf)
