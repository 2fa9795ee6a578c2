"""Estimate the share of flips of wordings that mean the same as their original, from a sheet that people filled in.

A flip is an answer unlike the one to the original. Some wordings mean something else, and flip more often: the share of
flips over all wordings is then too high. Whether wordings pass a check is known of all of them, what people say of
those on the sheet only, which are drawn at random from every item. People's verdict is taken for the truth.

*Two-phase sampling, post-stratified.* All wordings are parted into strata: flips or not, passes the check or not (or
has no score). The sheet tells which share q of a stratum means the same, and all wordings how large the stratum is.
With w the share of a stratum, summed over the strata with a flip and over all of them,

    corrected = (sum of q w with a flip) / (sum of q w).

Every item counts as much as another one: its wordings weigh 1 / n, those on the sheet 1 / m. So it is the probability
that a wording flips if it means the same, where an item is drawn, and one of its wordings. That the check errs more
often where a wording flips does no harm, since its errors are estimated in either stratum. The inversion of a matrix of
errors (Rogan and Gladen) needs errors that are independent of flips: where they are not, it is off by up to .27 in the
simulation below. A weak check only leaves more for the sheet to tell: there is no check too weak for this, but sheets
too small. A stratum of which nobody read a wording is put together with those that flip as it does.

*Interval.* Over items, each with its part of the sheet: both samples are in it. With A and B an item's parts of both
sums, each with what people say beyond q of the item's wordings on the sheet, an item moves the ratio by (A - corrected
B) / sum of B. The variance is made of these, and the interval is one of t, with as many degrees of freedom as there are
items on the sheet, less one, on the logit scale. Where no item moves the ratio, or it is 0 or 1, that would have no
width: it is Wilson's then, as of all shares (`analysis.statistics.shares`).

Of a side (the wordings that flip, or the others), people may have called all the same that they read, or none, or all
but a few. Then q is too near 1 or 0 for t: of six flips read, all the same, no item moves it, and .6 of all may be. So
where fewer than `LEAST` of either kind were read, the wordings of the side that nobody read may have either end of
Wilson's interval of q, with as many answers as the items with such wordings (those with more count as more, by Kish's
formula); how far that moves the ratio is added to the distances of all three intervals, as squares. In 500 simulated
studies each of 12 to 1,000 items, without a check, with a good and a weak one, that of the corrected share held the
truth in .93 or more where it is shown, and that of the change, too; without this and `LEAST` flips, in .49 or more.

The interval of the change, corrected - uncorrected, is made of both intervals and of the correlation of both shares
over items, as Newcombe's is (Zou and Donner): t's of the difference would hold the truth in .89 of small studies. That
of the *excess*, corrected - part * uncorrected, is t's, as only its lower end is asked for: it was above 0 in at most
.04 of these studies where the truth was just below.

*Not shown* is the corrected share where the sheet is too small: it needs `LEAST` items with wordings on it
(`forms.LEAST`), as many wordings that flip, as many that do not (or all that there are), and one that means the same.
Nor is it shown where people call more than `MOST_DECOYS` of the decoys on it the same: verdicts that are wrong for 5 %
of the wordings moved it by .7 points in the simulation, for 10 % by 1.5, for 20 % by 3.3.

`tests/benchmarks/bench_meaning_correction.py` simulates bias and coverage, beside those of the bootstrap and of
Wilson's interval; `docs/meaning.md` has the table.

References
----------
Tenenbein, A. (1970). A double sampling scheme for estimating from binomial data with misclassifications. JASA 65,
1350-1361. Cochran, W. G. (1977). Sampling Techniques, sections 5A.9 and 12.2. Saerndal, C.-E., Swensson, B. and
Wretman, J. (1992). Model Assisted Survey Sampling, sections 7.6 and 9.7. Rogan, W. J. and Gladen, B. (1978). Estimating
prevalence from the results of a screening test. American Journal of Epidemiology 107, 71-76. Korn, E. L. and Graubard,
B. I. (1999). Analysis of Health Surveys, section 3.6 (t intervals on the logit scale). Zou, G. Y. and Donner, A.
(2008). Construction of confidence limits about effect measures: a general approach. Statistics in Medicine 27,
1693-1702.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.forms import LEAST
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import Array, combine_newcombe_distances, estimate_share, wilson

NO_SHEET = "nobody read these wordings"
FEW_ITEMS = f"fewer than {LEAST} items have wordings that people read"
FEW_FLIPS = f"people read fewer than {LEAST} of the wordings that change the answer"
FEW_STAY = f"people read fewer than {LEAST} of the wordings that leave the answer as it is"
NONE_SAME = "people call no wording the same"
MOST_DECOYS = 0.1  # share of decoys that people may call the same; with more, nothing is corrected
POOR_READERS = f"people call more than {100 * MOST_DECOYS:g} % of the decoys the same"
_ROUNDING = 1e-9  # a smaller standard error is none


@dataclass(frozen=True, slots=True)
class CorrectedShare:
    """Hold the share of flips over all wordings, and over those that mean the same.

    Attributes
    ----------
    uncorrected, uncorrected_lower, uncorrected_upper
        Of all wordings, mean over items, with its 95 % interval.
    corrected, lower, upper
        Of wordings that mean the same, with its 95 % interval; NaN where `reason` says why it is not shown.
    change, change_lower, change_upper
        corrected - uncorrected, with its 95 % interval, paired over items; the ends are NaN where people call all
        wordings the same.
    excess, excess_lower, excess_upper
        corrected - part * uncorrected, with its 95 % interval (t), paired over items; the ends are NaN where no item
        moves it, such as where no answer flips.
    sensitivity, specificity
        Of wordings on the sheet that mean the same, the share that passes; of those that do not, the share that fails.
        NaN where there are none with a score. Whether they have answers does not matter here.
    n_items, n_sheet
        Items with answers, and wordings with answers that people read.
    reason
        Why the corrected share is not shown; else empty.
    """

    uncorrected: float
    uncorrected_lower: float
    uncorrected_upper: float
    corrected: float
    lower: float
    upper: float
    change: float
    change_lower: float
    change_upper: float
    excess: float
    excess_lower: float
    excess_upper: float
    sensitivity: float
    specificity: float
    n_items: int
    n_sheet: int
    reason: str = ""


def estimate_flip_share_corrected_for_meaning(
    flips: npt.ArrayLike, passes: npt.ArrayLike, same: npt.ArrayLike, items: npt.ArrayLike, decoy_error: float = np.nan,
    part: float = 1.0,
) -> CorrectedShare:  # fmt: skip
    """Estimate the share of flips of wordings that mean the same, see the module's docstring.

    Parameters
    ----------
    flips
        Per wording: 1 where its answer is unlike that to the original, 0 where not, NaN where there is none (it is left
        out).
    passes
        1 where its score reaches the threshold of the check, 0 where not, NaN where it has no score.
    same
        1 where most people say that it means the same, 0 where most say that it does not, NaN where it is not on the
        sheet or as many say both.
    items
        The item.
    decoy_error
        Share of decoys that most people called the same; NaN where there were none.
    part
        Part of the uncorrected share that the excess is over.

    Returns
    -------
    CorrectedShare
        NaN throughout without an answer.
    """
    flip, passing, truth = (np.asarray(values, float) for values in (flips, passes, same))
    sensitivity, specificity = _compute_mean(passing[truth == 1]), 1 - _compute_mean(passing[truth == 0])
    has_answer = ~np.isnan(flip)
    flip, passing, truth = (values[has_answer] for values in (flip, passing, truth))
    item = np.unique(np.asarray(items)[has_answer], return_inverse=True)[1]
    n_items, on_sheet = len(np.unique(item)), ~np.isnan(truth)
    n_read = len(np.unique(item[on_sheet]))
    flip_shares = np.bincount(item, flip) / np.bincount(item)
    uncorrected = _estimate_ratio(flip_shares, np.ones(n_items), n_items)
    corrected, change, excess = ((np.nan, np.nan, np.nan) for _ in range(3))
    reason = _explain_missing_corrected_share(flip, truth, n_read)
    if not reason and decoy_error > MOST_DECOYS:
        reason = POOR_READERS
    if not reason:
        same_flips, same_wordings = estimate_item_shares_of_kept_meaning_and_flips(flip, passing, truth, item)
        ratio = _estimate_ratio(same_flips, same_wordings, n_read)
        sums = same_flips.sum(), same_wordings.sum()
        least, most = _compute_ratio_range_by_wilson_ends_of_unread_wordings(flip, truth, item, *sums)
        ends = ratio.value, ratio.lower, ratio.upper
        value, lower, upper = _widen_interval_by_distances_to_bounds(ends, ratio.value, least, most)
        corrected = value, max(lower, 0.0), min(upper, 1.0)
        change = _estimate_difference_of_ratios(ratio, uncorrected)
        change = _widen_interval_by_distances_to_bounds(change, ratio.value, least, most)
        excess = _estimate_ratio_minus_part_of_other_ratio(ratio, uncorrected, part, n_read)
        excess = _drop_interval_without_width(_widen_interval_by_distances_to_bounds(excess, ratio.value, least, most))
    return CorrectedShare(
        uncorrected.value, uncorrected.lower, uncorrected.upper, *corrected, *change, *excess,
        sensitivity, specificity, n_items, int(on_sheet.sum()), reason,
    )  # fmt: skip


def _explain_missing_corrected_share(flip: Array, truth: Array, n_read: int) -> str:
    """Say why the corrected share is not shown; empty where it is."""
    if not n_read:
        return NO_SHEET
    if n_read < LEAST:
        return FEW_ITEMS
    for side, reason in ((flip > 0, FEW_FLIPS), (flip == 0, FEW_STAY)):
        is_read = ~np.isnan(truth[side])
        if is_read.sum() < LEAST and not is_read.all():
            return reason
    return "" if (truth == 1).any() else NONE_SAME


def estimate_item_shares_of_kept_meaning_and_flips(
    flip: Array, passing: Array, truth: Array, item: npt.NDArray[np.intp]
) -> tuple[Array, Array]:
    """Estimate, per item, the share of its wordings that flip and mean the same, and the share that means the same.

    The sums over items are those of the module's docstring. An item's part has what people say beyond q of its wordings
    on the sheet, too, so that its spread over items is that of both samples.

    Parameters
    ----------
    flip, passing, truth
        `flips`, `passes` and `same` of `estimate_flip_share_corrected_for_meaning`; every wording has an answer, and
        wordings with a flip and those without are on the sheet where there are some.
    item
        Numbers of items from 0 on.

    Returns
    -------
    tuple of two arrays (items,)
    """
    stratum = 3 * (flip > 0).astype(int) + np.where(np.isnan(passing), 2, (passing > 0).astype(int))
    on_sheet = ~np.isnan(truth)
    for side in (flip > 0, flip == 0):
        if set(stratum[side]) - set(stratum[side & on_sheet]):  # a stratum of which nobody read a wording
            stratum[side] = stratum[side].min(initial=5)

    def sum_weighted_values(is_in: npt.NDArray[np.bool_], values: Array) -> Array:
        """Sum values over wordings, each weighed by 1 / their number in its item: (strata, items)."""
        n_of_item = np.bincount(item[is_in], minlength=item.max() + 1)[item[is_in]]
        sums = np.bincount(6 * item[is_in] + stratum[is_in], values[is_in] / n_of_item, 6 * (item.max() + 1))
        return np.asarray(sums.reshape(-1, 6).T)

    ones = np.ones(len(item))
    size = sum_weighted_values(ones > 0, ones)
    read = sum_weighted_values(on_sheet, ones)
    same = sum_weighted_values(on_sheet, truth)
    n_size, n_read, n_same = (part.sum(axis=1, keepdims=True) for part in (size, read, same))
    share, scale = (np.divide(part, n_read, out=np.zeros((6, 1)), where=n_read > 0) for part in (n_same, n_size))
    parts = share * size + scale * (same - share * read)
    return parts[3:].sum(axis=0), parts.sum(axis=0)


@dataclass(frozen=True, slots=True)
class _Ratio:
    """Hold a ratio of sums over items, its interval, and how far every item moves it."""

    value: float
    lower: float
    upper: float
    influence: Array


_NOTHING = _Ratio(np.nan, np.nan, np.nan, np.zeros(0))


def _estimate_ratio(numerator: Array, denominator: Array, n_read: int) -> _Ratio:
    """Estimate a ratio of sums over items, and its interval with n_read - 1 degrees of freedom."""
    from scipy.special import expit, logit

    total = denominator.sum()
    if not total > 0:
        return _NOTHING
    value = float(numerator.sum() / total)
    influence = (numerator - value * denominator) / total
    half = _compute_half_width_of_interval(influence, n_read)
    if half > _ROUNDING and 0 < value < 1:
        lower, upper = expit(logit(value) + np.array([-1, 1]) * half / (value * (1 - value)))
    else:
        share = estimate_share([(numerator[:, None], denominator[:, None])], LEVEL)
        (lower,), (upper,) = share.lower, share.upper
    return _Ratio(value, float(lower), float(upper), influence)


def _compute_ratio_range_by_wilson_ends_of_unread_wordings(
    flip: Array, truth: Array, item: npt.NDArray[np.intp], same_flips: float, same_wordings: float
) -> tuple[float, float]:
    """Return the least and the largest ratio if unread wordings of a side have either end of Wilson's interval of q.

    Only where people read few wordings of the side that mean the same, or few that do not; else t knows enough.
    """
    on_sheet, weight = ~np.isnan(truth), 1 / np.bincount(item)[item]
    n_read_of_item = np.bincount(item[on_sheet], minlength=item.max() + 1)
    ends = []
    for side, size in ((flip > 0, same_flips), (flip == 0, same_wordings - same_flips)):
        is_read = side & on_sheet
        n_same, unread = truth[is_read].sum(), weight[side & ~on_sheet].sum()
        if not unread or min(n_same, is_read.sum() - n_same) >= LEAST:
            ends.append((size, size))
            continue
        counts = np.bincount(item[is_read])
        share = np.asarray(np.average(truth[is_read], weights=1 / n_read_of_item[item[is_read]]))
        lower, upper = wilson(share, counts.sum() ** 2 / (counts**2).sum(), LEVEL)
        most = min(size + unread * (upper - share), weight[side].sum())
        ends.append((max(size - unread * (share - lower), 0.0), most))
    (least_flips, most_flips), (least_others, most_others) = ends
    return least_flips / (least_flips + most_others or 1.0), most_flips / (most_flips + least_others or 1.0)


def _widen_interval_by_distances_to_bounds(
    figure: tuple[float, float, float], ratio: float, least: float, most: float
) -> tuple[float, float, float]:
    """Add how far a ratio is from its bounds, as squares, to the distances of a figure, which moves as it does."""
    value, lower, upper = figure
    if ratio - least > _ROUNDING:
        lower = value - float(np.hypot(value - lower, ratio - least))
    if most - ratio > _ROUNDING:
        upper = value + float(np.hypot(upper - value, most - ratio))
    return value, lower, upper


def _estimate_difference_of_ratios(corrected: _Ratio, uncorrected: _Ratio) -> tuple[float, float, float]:
    """Estimate the difference of two ratios of the same items, and the ends of its interval."""
    value = corrected.value - uncorrected.value
    moves, moves_all = corrected.influence, uncorrected.influence
    if np.abs(moves - moves_all).max() < _ROUNDING:  # people call all wordings the same: nothing is corrected
        return value, np.nan, np.nan
    products = float(moves @ moves_all), float(np.sqrt(moves @ moves)), float(np.sqrt(moves_all @ moves_all))
    correlation = products[0] / (products[1] * products[2]) if min(products[1:]) > _ROUNDING else 0.0
    below, above = (
        float(combine_newcombe_distances(np.asarray(first), np.asarray(second), np.asarray(correlation)))
        for first, second in (
            (corrected.value - corrected.lower, uncorrected.upper - uncorrected.value),
            (corrected.upper - corrected.value, uncorrected.value - uncorrected.lower),
        )
    )
    return value, value - below, value + above


def _estimate_ratio_minus_part_of_other_ratio(
    corrected: _Ratio, uncorrected: _Ratio, part: float, n_read: int
) -> tuple[float, float, float]:
    """Estimate how far a ratio is above a part of another one of the same items, and the ends of t's interval."""
    value = corrected.value - part * uncorrected.value
    half = _compute_half_width_of_interval(corrected.influence - part * uncorrected.influence, n_read)
    return value, value - half, value + half


def _drop_interval_without_width(figure: tuple[float, float, float]) -> tuple[float, float, float]:
    """Leave an interval out that is a point: items that are all alike do not tell how far others would differ."""
    value, lower, upper = figure
    return figure if upper - lower > _ROUNDING else (value, np.nan, np.nan)


def _compute_half_width_of_interval(influence: Array, n_read: int) -> float:
    """Compute half the width of t's interval of a figure that the items move so far; NaN for a single item."""
    from scipy.special import stdtrit

    if n_read < 2:
        return np.nan
    n = len(influence)
    variance = float(influence @ influence) * n / (n - 1)
    return float(stdtrit(n_read - 1, (1 + LEVEL) / 2)) * float(np.sqrt(variance))


def _compute_mean(values: Array) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan
