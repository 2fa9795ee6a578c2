"""Say how far numbers along the last axis of an array are apart: SD, range, and the mean distance of two of them."""

from __future__ import annotations

import numpy as np

from analysis.statistics.resampling import Array


def compute_standard_deviations(scores: Array) -> Array:
    """Return the SD (n - 1) over the last axis; NaN below two scores."""
    is_known = ~np.isnan(scores)
    n = is_known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(is_known, scores, 0).sum(axis=-1, keepdims=True) / n[..., None]
        squares = (np.where(is_known, scores - centre, 0) ** 2).sum(axis=-1)
        return np.sqrt(squares / np.where(n > 1, n - 1, np.nan))


def compute_ranges(scores: Array) -> Array:
    """Return the highest less the lowest score over the last axis; NaN without a score."""
    highest, lowest = np.fmax.reduce(scores, axis=-1), np.fmin.reduce(scores, axis=-1)
    return np.asarray(highest - lowest)


def compute_mean_pair_distances(scores: Array) -> Array:
    """Return the mean absolute difference of two different scores along the last axis.

    Of n sorted scores x_(1) ... x_(n) it is 2 / (n (n - 1)) times the sum of (2 i - n - 1) x_(i) (Gini's mean
    difference), so that no pair is looked at.

    Parameters
    ----------
    scores
        (..., n), NaN where there is none.

    Returns
    -------
    array (...)
        NaN below two scores.

    >>> compute_mean_pair_distances(np.array([[0.0, 1.0, 3.0], [1.0, np.nan, np.nan]])).tolist()
    [2.0, nan]
    """
    n = (~np.isnan(scores)).sum(axis=-1)
    in_order = np.sort(scores, axis=-1)  # NaN last
    weights = 2 * np.arange(1, scores.shape[-1] + 1) - n[..., None] - 1
    sums = np.where(np.isnan(in_order), 0.0, weights * in_order).sum(axis=-1)
    return np.asarray(2 * sums / np.where(n > 1, n * (n - 1.0), np.nan))


def compute_mean_distances_to_others(scores: Array) -> Array:
    """Return how far every score along the last axis is from the others there, on average.

    Of n sorted scores x_(1) ... x_(n), the sum of the distances of x_(i) is (2 i - n) x_(i) - 2 (x_(1) + ... + x_(i)) +
    (x_(1) + ... + x_(n)). The mean over all scores is `compute_mean_pair_distances`.

    Parameters
    ----------
    scores
        (..., n), NaN where there is none.

    Returns
    -------
    array (..., n)
        NaN where there is no score, or no other one.

    >>> compute_mean_distances_to_others(np.array([[3.0, 0.0, 1.0], [1.0, np.nan, np.nan]])).tolist()
    [[2.5, 2.0, 1.5], [nan, nan, nan]]
    """
    n = (~np.isnan(scores)).sum(axis=-1, keepdims=True)
    order = np.argsort(scores, axis=-1)  # NaN last
    in_order = np.take_along_axis(scores, order, axis=-1)
    sums = np.cumsum(np.nan_to_num(in_order), axis=-1)
    weights = 2 * np.arange(1, scores.shape[-1] + 1) - n
    means = (weights * in_order - 2 * sums + sums[..., -1:]) / np.where(n > 1, n - 1.0, np.nan)
    in_place = np.empty_like(means)
    np.put_along_axis(in_place, order, np.maximum(means, 0.0), axis=-1)
    return in_place
