"""Describe answers on ordered options: distributions over ranks 1 to K, arrays (..., K).

Where answers have different numbers of options, all have the width of the largest: ranks that an answer lacks hold 0,
and `n_options` says how many it has. An answer that is not there is NaN in all ranks.

References
----------
Baumgartner, H. and Steenkamp, J.-B. (2001). Response styles in marketing research. Journal of Marketing Research 38,
143-156 (shares at the ends and in the middle).
Vallender, S. S. (1974). Calculation of the Wasserstein distance between probability distributions on the line. Theory
of Probability and its Applications 18, 784-786 (distance of two distributions as the area between their sums).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.sampling import compute_variance_of_binary_samples
from analysis.statistics.resampling import Array
from analysis.statistics.spread import compute_mean_pair_distances

MIDDLE = 0.5  # the score of an answer that is on no side
ON_NO_SIDE = 1e-9  # a score that is so near the middle is in it: 0.2 + 0.3 and 0.5 are not the same number


def compute_mean_answer_scores(shares: Array, n_options: npt.ArrayLike) -> Array:
    """Compute s, the mean answer from 0 to 1: (sum of k p_k - 1) / (K - 1).

    Parameters
    ----------
    shares
        p_k: (..., K).
    n_options
        K of every answer, of the shape (...).

    Returns
    -------
    array (...)
        0 is the lowest option, 1 the highest; of two options the share of the higher one, to the last digit.

    >>> compute_mean_answer_scores(np.array([[0.25, 0.5, 0.25], [0.5, 0.5, 0.0]]), np.array([3, 2])).tolist()
    [0.5, 0.5]
    """
    return np.asarray((shares * np.arange(shares.shape[-1])).sum(axis=-1) / (np.asarray(n_options) - 1))


def compute_score_variances_of_sampled_answers(shares: Array, n_options: npt.ArrayLike, n_samples: Array) -> Array:
    """Compute the variance (n - 1) of the scores of the samples behind each answer, 0 to 1 each.

    Parameters
    ----------
    shares, n_options
        As in `compute_mean_answer_scores`: which share of the samples gave each option.
    n_samples
        How many samples there are: (...).

    Returns
    -------
    array (...)
        NaN below two samples.
    """
    if shares.shape[-1] == 2:
        return compute_variance_of_binary_samples(shares[..., 1], n_samples)
    numbers = np.arange(shares.shape[-1]) / (np.asarray(n_options)[..., None] - 1)
    squares = (shares * (numbers - compute_mean_answer_scores(shares, n_options)[..., None]) ** 2).sum(axis=-1)
    n = np.where(n_samples > 1, n_samples, np.nan)
    return np.asarray(squares * n / (n - 1))


def compute_answer_entropies_in_bits(shares: Array) -> Array:
    """Compute the entropy of every answer in bits, - sum of p_k log2 p_k: 0 where one option has all.

    >>> compute_answer_entropies_in_bits(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares == 0, 0.0, -shares * np.log2(shares))
    return np.asarray(terms.sum(axis=-1))


def compute_shares_of_end_options(shares: Array, n_options: npt.ArrayLike) -> Array:
    """Compute the share of the lowest and the highest option, p_1 + p_K.

    Parameters
    ----------
    shares, n_options
        As in `compute_shares_of_middle_option`.

    Returns
    -------
    Array (...): 1 where there are two options, and so nothing between the ends.
    """
    return np.asarray(shares[..., 0] + _pick_share_at_rank(shares, np.asarray(n_options)))


def compute_shares_of_middle_option(shares: Array, n_options: npt.ArrayLike) -> Array:
    """Compute the share of the middle option, p_((K + 1) / 2).

    Parameters
    ----------
    shares
        (..., options): those of each option, in order; of fewer options, those behind the last are not looked at.
    n_options
        How many there are (K), one number or (...).

    Returns
    -------
    Array (...): NaN where K is even.
    """
    n_options = np.broadcast_to(np.asarray(n_options), shares.shape[:-1])
    middle = _pick_share_at_rank(shares, (n_options + 1) // 2)
    return np.where(n_options % 2 == 1, middle, np.nan)


def _pick_share_at_rank(shares: Array, rank: npt.NDArray[np.int64]) -> Array:
    """Take the share of one rank of every answer."""
    place = np.broadcast_to(np.asarray(rank) - 1, shares.shape[:-1])
    return np.asarray(np.take_along_axis(shares, place[..., None], axis=-1)[..., 0])


def find_place_of_most_probable_option(shares: Array) -> Array:
    """Find the place of the most probable option, from 0 on; NaN where two are, or there is no answer.

    >>> find_place_of_most_probable_option(np.array([[0.2, 0.8], [0.5, 0.5], [np.nan, np.nan]])).tolist()
    [1.0, nan, nan]
    """
    filled = np.where(np.isnan(shares), -1.0, shares)
    highest = filled.max(axis=-1)
    is_single = (filled == highest[..., None]).sum(axis=-1) == 1
    return np.where(is_single & (highest > 0), filled.argmax(axis=-1), np.nan)


def compute_wordings_share_off_modal_option(modes: Array, n_ranks: int) -> Array:
    """Compute the share of wordings whose most probable option is not that of most wordings.

    Parameters
    ----------
    modes
        From `find_place_of_most_probable_option`: (..., wordings). Wordings without a mode are left out.
    n_ranks
        Most options of an answer.

    Returns
    -------
    array (...)
        NaN below two wordings with a mode. Where two options are that of equally many, either counts.
    """
    n = (~np.isnan(modes)).sum(axis=-1)
    most = np.max([(modes == rank).sum(axis=-1) for rank in range(n_ranks)], axis=0)
    return np.asarray((n - most) / np.where(n > 1, n, np.nan))


def compute_minority_side_and_middle_shares(scores: Array) -> tuple[Array, Array]:
    """Compute the share of wordings on the other side of the middle than most wordings, and of those in the middle.

    Parameters
    ----------
    scores
        (..., wordings), 0 to 1; NaN where there is no answer.

    Returns
    -------
    tuple of two arrays (...)
        Shares of the wordings with an answer. One exactly in the middle is on no side. NaN below two wordings.

    >>> flips, middle = compute_minority_side_and_middle_shares(np.array([0.2, 0.3, 0.8, 0.5]))
    >>> float(flips), float(middle)
    (0.25, 0.25)
    """
    n = (~np.isnan(scores)).sum(axis=-1)
    above, below = (scores > MIDDLE + ON_NO_SIDE).sum(axis=-1), (scores < MIDDLE - ON_NO_SIDE).sum(axis=-1)
    at_least_two = np.where(n > 1, n, np.nan)
    return np.asarray(np.minimum(above, below) / at_least_two), np.asarray((n - above - below) / at_least_two)


def compute_mean_wasserstein_between_wordings(shares: Array, n_options: npt.ArrayLike) -> Array:
    """Compute the mean distance between the distributions of two wordings: Wasserstein-1 on ranks, by K - 1.

    The distance of two is the sum over k < K of abs(F_k - G_k), with F and G the sums of shares up to rank k. Its mean
    over pairs is that of every rank, added up.

    Parameters
    ----------
    shares
        (..., wordings, K).
    n_options
        K of the item: (...).

    Returns
    -------
    array (...)
        0 to 1; NaN below two wordings with an answer.
    """
    total = np.zeros(shares.shape[:-2])
    sums = np.zeros(shares.shape[:-1])
    for rank in range(shares.shape[-1] - 1):
        sums = sums + shares[..., rank]
        total = total + compute_mean_pair_distances(sums)
    return np.asarray(total / (np.asarray(n_options) - 1))
