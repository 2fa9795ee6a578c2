"""Find how unusual a sum over items is, if each item could have any of its values with the same probability.

This is the permutation test of one look against others, stratified by item: for answers of 0 and 1, the test of
Cochran, Mantel and Haenszel. The permutations are beyond counting, so the tail is found by a saddlepoint approximation,
as r*. It is close to the exact tail with half the probability of the sum itself (mid-p), also far out, and is never
smaller than the probability of the largest sum that there is, which is known exactly.

References
----------
Barndorff-Nielsen, O. E. (1991). Modified signed log likelihood ratio. Biometrika 78, 557-563 (r*).
Robinson, J. (1982). Saddlepoint approximations for permutation tests and confidence intervals. JRSS B 44, 91-101.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING

_SMALL_Z = 0.05  # r* is a difference of large numbers near 0, where z and r are the same
_STEPS = 60  # of a search for the saddlepoint


def compute_z_of_sum_permuted_within_items(values: Array, has_value: npt.NDArray[np.bool_], total: float) -> float:
    """Return the z of the upper tail of a sum over items, if each has any of its values with the same probability.

    Parameters
    ----------
    values
        (looks, items), with a mean of 0 in every item.
    has_value
        Which of them there are.
    total
        The sum, from 0 on.

    Returns
    -------
    float
        From 0 on.
    """
    from scipy.special import log_ndtr, ndtri_exp

    n_values = has_value.sum(axis=0)
    scale = float(np.sqrt((values**2).sum(axis=0) @ (1 / n_values)))
    values, total = values / scale, total / scale
    largest = np.where(has_value, values, -np.inf).max(axis=0)
    ties = (has_value & (values >= largest - ROUNDING)).sum(axis=0)
    # The most that the data can say: that every item has its largest value.
    log_p_of_most = float(np.log(ties / n_values).sum())
    z_of_most = max(-float(ndtri_exp(log_p_of_most)), 0.0) if log_p_of_most < log_ndtr(0.0) else 0.0
    if total >= largest.sum() - ROUNDING:
        return z_of_most
    if total < _SMALL_Z:
        return min(total, z_of_most)
    tilt, log_mean, variance = _find_saddlepoint_tilt_and_cumulants(values, has_value, total)
    root = np.sqrt(max(2 * (tilt * total - log_mean), 0.0))
    if root < _SMALL_Z or not tilt > 0 or not variance > 0:
        return min(total, z_of_most)
    corrected = root + np.log(tilt * np.sqrt(variance) / root) / root
    return float(np.clip(corrected, 0.0, z_of_most))


def _find_saddlepoint_tilt_and_cumulants(
    values: Array, has_value: npt.NDArray[np.bool_], total: float
) -> tuple[float, float, float]:
    """Find the tilt with the total as expected sum, the log mean of exp(tilt x sum), and the variance."""

    def compute_tilted_moments(tilt: float) -> tuple[float, float, float]:
        exponents = np.where(has_value, tilt * values, -np.inf)
        top = exponents.max(axis=0)
        weights = np.exp(exponents - top)
        sums = weights.sum(axis=0)
        first = (weights * values).sum(axis=0) / sums
        second = (weights * values**2).sum(axis=0) / sums
        log_mean = float((top + np.log(sums / has_value.sum(axis=0))).sum())
        return log_mean, float(first.sum()), float((second - first**2).sum())

    low, high = 0.0, np.inf
    tilt = total
    for _ in range(_STEPS):
        log_mean, expected, variance = compute_tilted_moments(tilt)
        if abs(expected - total) <= ROUNDING:
            break
        low, high = (tilt, high) if expected < total else (low, tilt)
        step = tilt + (total - expected) / variance if variance > 0 else np.inf
        # Newton's step where it stays within what is known; else half the way, or twice as far.
        tilt = step if low < step < min(high, 4 * tilt) else (low + high) / 2 if np.isfinite(high) else 2 * tilt
    return tilt, log_mean, variance
