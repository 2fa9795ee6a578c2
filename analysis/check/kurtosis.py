"""Test whether the kurtosis of scores over items changed, by exchanging now and before in items.

A numeric bias piles scores up on one number (Sato et al.): that is a peak, which kurtosis shows, and no mean. Kurtosis
has no interval that holds with few items (`analysis.statistics.forms`). But of a model that did not change, the score
of an item now could as well be the one before: so both sides are exchanged at random in every item, and p is the share
of draws whose kurtosis differs by as much. It is exact for "nothing changed", with as few items as there are, and says
nothing of how large a difference may be: there is no margin, no interval, and no "holds". Draws end at the twentieth
that differs by as much (Besag and Clifford), and at 100,000: a large p takes few draws, and a small one is still found.

Items count by the mean over their wordings. It must be of as many wordings on both sides, and where items share
wordings, of the same ones: other ones move all items at once.

References
----------
Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
Fisher, R. A. (1935). The Design of Experiments, section 21.
"""

from __future__ import annotations

import numpy as np

from analysis.check.judged_means import JudgedMean
from analysis.statistics.resampling import Array
from analysis.statistics.rounding import remove_rounding_noise
from analysis.statistics.significance import ROUNDING

LEAST_ITEMS = 4
TEST, FEW_ITEMS, ALIKE = "exchange of sides", "no test: fewer than 4 items", "no test: all scores of a side are equal"
OTHER_WORDINGS = "no test: other wordings, or another number of them"
_ENOUGH = 20  # draws that differ by as much
_DRAWS, _MOST_DRAWS = 1_000, 100_000


def judge_change_of_kurtosis_over_items(now: Array, before: Array, *, is_exchangeable: bool = True) -> JudgedMean:
    """Test whether the kurtosis of items is another one now.

    Parameters
    ----------
    now, before
        Scores (items, wordings), NaN where either side has none.
    is_exchangeable
        Whether what is now could as well be before, if nothing changed: with other wordings that items share, or
        another number of wordings, it could not.

    Returns
    -------
    JudgedMean
        Of the kurtosis now less before, with a two-sided `p_broken`, and without interval and `p_holds`.
    """
    is_common = ~np.isnan(now) & ~np.isnan(before)
    counts = is_common.sum(axis=1)
    has_answer = counts > 0
    sides = np.stack([np.where(is_common, side, 0.0).sum(axis=1)[has_answer] for side in (now, before)])
    sides /= counts[has_answer]
    n = sides.shape[1]
    n_wordings = float(counts[has_answer].mean()) if n else np.nan
    if n < LEAST_ITEMS:
        return JudgedMean(np.nan, np.nan, np.nan, np.nan, np.nan, n, n_wordings, FEW_ITEMS)
    sides = remove_rounding_noise(sides.ravel()).reshape(sides.shape)
    scale = float(sides.std()) or 1.0
    powers = ((sides - sides.mean()) / scale)[..., None] ** np.arange(1, 5)  # sides, items, powers
    of_both = powers.sum(axis=(0, 1))
    now_kurtosis, before_kurtosis = _compute_kurtosis_from_power_sums(powers.sum(axis=1), n)
    difference = float(now_kurtosis - before_kurtosis)
    test = ALIKE if np.isnan(difference) else TEST if is_exchangeable else OTHER_WORDINGS
    if test != TEST:
        return JudgedMean(difference, np.nan, np.nan, np.nan, np.nan, n, n_wordings, test)
    draw, n_far, n_draws = np.random.default_rng(0), 0, 0
    while n_far < _ENOUGH and n_draws < _MOST_DRAWS:
        is_exchanged = draw.integers(0, 2, (_DRAWS, n)).astype(float)
        sums = powers[0].sum(axis=0) + is_exchanged @ (powers[1] - powers[0])
        differences = _compute_kurtosis_from_power_sums(sums, n) - _compute_kurtosis_from_power_sums(of_both - sums, n)
        is_far = ~(np.abs(differences) < abs(difference) - ROUNDING)  # where a side has no kurtosis, it counts as far
        last = min(int(np.searchsorted(is_far.cumsum(), _ENOUGH - n_far)) + 1, _DRAWS)
        n_far += int(is_far[:last].sum())
        n_draws += last
    p = n_far / n_draws if n_far == _ENOUGH else (n_far + 1) / (n_draws + 1)
    return JudgedMean(difference, np.nan, np.nan, p, np.nan, n, n_wordings, TEST)


def _compute_kurtosis_from_power_sums(sums: Array, n: int) -> Array:
    """Compute Fisher's kurtosis from the sums of the first four powers (..., 4); NaN where all values are equal."""
    first, second, third, fourth = np.moveaxis(sums / n, -1, 0)
    variance = second - first**2
    tails = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(variance > ROUNDING, tails / variance**2 - 3, np.nan))
