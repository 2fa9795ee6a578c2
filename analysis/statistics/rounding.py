"""Tell scores that vary from scores that differ by rounding only.

Sums of floats in another order differ in their last digits. Ranks and moments take every difference for a real one: the
tau of such scores is an order of noise, and their kurtosis its shape. So scores whose standard deviation is below
`NOISE` of the scale are one score. Of scores that vary, two are one only if they differ in their last digits.
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.resampling import Array

NOISE = 1e-9  # share of the scale below which a standard deviation is rounding
DIGITS = 1e-12  # share of the scale, or else of a score itself, below which its distance to the next one is rounding
# Shares of all squares below which a difference of two sums of squares is rounding, and the square of such a number.
ROUNDING_OF_SQUARES, SQUARED_ROUNDING = 1e-14, 1e-24


def are_scores_constant(values: Array, scale: float | None = None) -> bool:
    """Tell whether some scores are the same but for rounding.

    Parameters
    ----------
    values
        One score per item, none of them NaN.
    scale
        Width of the scale that the scores are on; None: the largest absolute score.

    Returns
    -------
    bool
        Whether their standard deviation is at most `NOISE` of the scale.
    """
    return bool(np.std(values) <= NOISE * float(np.abs(values).max() if scale is None else scale))


def remove_rounding_noise(values: Array, scale: float | None = None) -> Array:
    """Return scores without rounding noise: those that differ by nothing else are exactly equal.

    Parameters
    ----------
    values, scale
        As in `are_scores_constant`.

    Returns
    -------
    array (items,)
        Constant scores (see `are_scores_constant`) all become the lowest of them. Of scores that vary, neighbours in
        order that are nearer to each other than `DIGITS` (of the scale, or of their own size) become the lower one; all
        others stay.

    >>> (remove_rounding_noise(np.array([8.0, 8.0 + 1e-14, 5.0])).tolist(),
    ...  remove_rounding_noise(np.array([8.0 + 1e-12, 8.0])).tolist())
    ([8.0, 8.0, 5.0], [8.0, 8.0])
    >>> remove_rounding_noise(np.array([1e10, 2.0, 3.0])).tolist()
    [10000000000.0, 2.0, 3.0]
    """
    values = np.asarray(values, float)
    if not len(values):
        return values
    ordered, place = np.unique(values, return_inverse=True)
    if are_scores_constant(values, scale):
        return np.full(len(values), ordered[0])
    first = np.append(True, np.diff(ordered) > DIGITS * (np.abs(ordered[1:]) if scale is None else scale))
    # Ordered, 5, 8 and 8 + 1e-14 begin new scores at True, True, False: each is the one numbered 0, 1, 1 of 5 and 8.
    return np.asarray(ordered[np.flatnonzero(first)][np.cumsum(first) - 1][place])


def compute_variance_without_rounding(values: Array) -> float:
    """Compute the variance of some numbers: 0 where they differ by rounding only, and NaN of a single one.

    >>> compute_variance_without_rounding(np.full(7, 0.7)), float(np.full(7, 0.7).var()) > 0
    (0.0, True)
    """
    if len(values) < 2:
        return np.nan
    apart = values - values[0]
    return float(np.where(np.abs(apart) > DIGITS * np.abs(values).max(), apart, 0.0).var(ddof=1))


def drop_rounding_of_sums(part: float, total: float, share: float = ROUNDING_OF_SQUARES) -> float:
    """Return what sums of squares leave of each other; 0 where it is below a share of the whole.

    Parameters
    ----------
    part, total
        The difference of some sums, and the sum that they are parts of.
    share
        Below which the difference is rounding.

    Returns
    -------
    float

    >>> [drop_rounding_of_sums(part, 0.3) for part in (0.3 - (0.1 + 0.2), 0.1, np.nan)]
    [0.0, 0.1, nan]
    """
    return 0.0 if abs(part) <= share * total < np.inf else part  # NaN stays, and what is too large to be squared
