"""Test whether two figures of the same items differ.

Two shares are compared by the exact sign test of McNemar's table (`compute_mcnemar_p_of_share_differences`) where both
have one answer to each of the same items: flips, or the valid, consistent or right answers of two models. All other
differences are tested with the draws of the bootstrap (`compute_two_sided_bootstrap_p`): means, correlations, and
shares with several answers per item. Where only few items differ, the bootstrap finds a difference too often; a
difference of two means has another test (`compute_paired_permutation_p_and_least_p`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from analysis.statistics.shares import Array, DerivedFigure, Shares

_CHUNK = 2_000_000  # signs held at a time: 16 MB
ROUNDING = 1e-12  # a difference up to this one is none: sums in another order differ by as much


def compute_two_sided_bootstrap_p(samples: Array, n_items: int) -> Array:
    """Test differences against 0 by inverting their interval.

    p is twice the share of draws on the other side of 0, where a draw of 0 is on both sides, and (r + 1) / (draws + 1)
    in place of a share r / draws (Davison and Hinkley 1997, section 4.2); then widened as the interval is
    (`compute_tail_share_matching_t_interval`). No p value is below `compute_smallest_bootstrap_p`: the draws never hold
    what no item shows, so from few items their own would be too small. Up to the correction of r, p < 0.05 means that
    the 95 % interval does not hold 0.

    Parameters
    ----------
    samples
        Draws of the differences: (draws, pairs).
    n_items
        How many items were drawn from.

    Returns
    -------
    array (pairs,)
        p values; NaN where a draw is undefined.
    """
    sides = np.minimum((samples <= ROUNDING).sum(axis=0), (samples >= -ROUNDING).sum(axis=0))
    p = np.clip(
        _convert_tail_share_to_p((sides + 1) / (len(samples) + 1), n_items),
        compute_smallest_bootstrap_p(len(samples), n_items),
        1.0,
    )
    return np.where(np.isnan(samples).any(axis=0), np.nan, p)


def compute_smallest_bootstrap_p(draws: int, n_items: npt.ArrayLike) -> Array:
    """Return the smallest p value that `compute_two_sided_bootstrap_p` can give.

    If two sides do not differ, they can be exchanged in every item. So however large a difference of n items is, one at
    least as large has a probability of 2 / 2^n or more, as in `mcnemar`.

    Parameters
    ----------
    draws, n_items
        How many draws there are, and how many items they are of (of any shape).

    Returns
    -------
    array
        Of the shape of `n_items`; NaN without draws.
    """
    if not draws:
        return np.full(np.shape(n_items), np.nan)
    n = np.asarray(n_items, float)
    return np.minimum(np.maximum(_convert_tail_share_to_p(np.full(n.shape, 1 / (draws + 1)), n), 2.0 ** (1 - n)), 1.0)


def compute_tail_share_matching_t_interval(level: float, n_items: int) -> float:
    """Return the share of draws to leave out at each end, so that percentiles are as wide as a t interval.

    The variance of a mean over draws of n items is (n - 1) / n of the one that is estimated for it, with n - 1 degrees
    of freedom. So in place of (1 - level) / 2, the share is what a normal distribution has beyond t sqrt(n / (n - 1)).
    For a mean of normal values these percentiles are the t interval.

    Parameters
    ----------
    level
        Coverage, such as 0.95.
    n_items
        Two or more.

    Returns
    -------
    float
        Of 10 items, 0.0086 for a level of 0.95.
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-stdtrit(n_items - 1, (1 + level) / 2) * np.sqrt(n_items / (n_items - 1))))


def _convert_tail_share_to_p(tail_share: Array, n_items: npt.ArrayLike) -> Array:
    """Turn the share of draws on one side of 0 into the two-sided p value at which the interval leaves out so many.

    The interval is that of `compute_tail_share_matching_t_interval`.
    """
    from scipy.special import ndtri, stdtr

    n = np.maximum(n_items, 2.0)
    return np.asarray(2 * stdtr(n - 1, ndtri(np.minimum(tail_share, 0.5)) * np.sqrt((n - 1) / n)))


def compute_mcnemar_p_of_share_differences(
    shares: Shares | None, columns: Mapping[str, Array], units_a: npt.NDArray[np.intp], units_b: npt.NDArray[np.intp]
) -> dict[str, tuple[Array, Array]]:
    """Test differences of two shares by `mcnemar`, where both sides have one answer to each of the same items.

    Parameters
    ----------
    shares, columns
        As in `resampling.bootstrap_differences`.
    units_a, units_b
        The units of every pair.

    Returns
    -------
    dict
        Name of the figure -> p and least p by pair; NaN where items have several answers, or only one side has one.
    """
    p_by_figure = {}
    for name, parts in (shares(columns) if shares else {}).items():
        if len(parts) != 1 or isinstance(parts[0], DerivedFigure) or len(parts[0]) != 1:
            continue
        part, whole = parts[0][0][:2]
        single = (((whole == 0) | (whole == 1)) & ((part == 0) | (part == 1))).all(axis=0)
        same = single[units_a] & single[units_b] & (whole[:, units_a] == whole[:, units_b]).all(axis=0)
        answers = np.where(whole > 0, part, np.nan)
        p, least = mcnemar(answers[:, units_a], answers[:, units_b])
        p_by_figure[name] = np.where(same, p, np.nan), np.where(same, least, np.nan)
    return p_by_figure


def compute_paired_permutation_p_and_least_p(differences: Array, draws: int, seed: int) -> tuple[Array, Array]:
    """Test sums of paired differences against 0: both sides are exchanged at random in every item.

    What `mcnemar` does for answers of yes and no: if the sides do not differ, each difference could as well have the
    other sign. p is the share of draws whose sum is as far from 0 as that of the data, the data counted as a draw. Of
    45 multiple-choice questions, of which few vary in their wordings, the bootstrap finds a difference of two equal
    models in 8 % of simulated studies, this test in 4 % (`tests/analysis/pages/choice/test_coverage.py`).

    Parameters
    ----------
    differences
        Array (items, pairs), one side minus the other; NaN where an item is not in both.
    draws, seed
        Number of exchanges and their seed; the same for all pairs.

    Returns
    -------
    tuple
        p (pairs,), and the smallest that so few items or draws allow. Both NaN below two items, or without draws.

    References
    ----------
    Fisher, R. A. (1935). The Design of Experiments, section 21. Phipson, B. and Smyth, G. K. (2010). Permutation
    p-values should never be zero. Statistical Applications in Genetics and Molecular Biology 9, 39.
    """
    n = (~np.isnan(differences)).sum(axis=0)
    filled_differences = np.nan_to_num(differences)
    far, rng = np.abs(filled_differences.sum(axis=0)) - ROUNDING, np.random.default_rng(seed)
    beyond, size = np.zeros(filled_differences.shape[1]), max(1, _CHUNK // max(1, len(filled_differences)))
    for start in range(0, draws, size):
        signs = rng.integers(0, 2, (min(size, draws - start), len(filled_differences))) * 2.0 - 1.0
        beyond += (np.abs(signs @ filled_differences) >= far).sum(axis=0)
    unknown = (n < 2) | (draws == 0)
    least = np.where(unknown, np.nan, np.maximum(1 / (draws + 1), 2.0 ** (1 - n)))
    return np.maximum(np.where(unknown, np.nan, (beyond + 1) / (draws + 1)), least), least


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
    from scipy.special import bdtr

    n = (~np.isnan(first - second)).sum(axis=0)
    ups, downs = (first > second).sum(axis=0), (first < second).sum(axis=0)
    p = np.minimum(2 * bdtr(np.minimum(ups, downs), ups + downs, 0.5), 1.0)
    unknown = n < 2
    return np.where(unknown, np.nan, p), np.where(unknown, np.nan, 2.0 ** (1 - n))
