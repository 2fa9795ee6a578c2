"""Test whether items are answered as before, up to a limit.

*These wordings*: of an item, the share of its wordings, valid on both sides, that are answered as before; its mean over
items is tested as a share.

*Wordings like these*: an item in a new wording is answered by option k with probability p_k now, q_k before. Its change
is

    d = sum_k (p_k - q_k)^2 / 2 = (P(X = X') + P(Y = Y')) / 2 - P(X = Y),

with X, X' the answers now to two different wordings, and Y, Y' those before. Each probability is estimated by the pairs
of different wordings that it is about, which is unbiased; one wording in two orders of its options is no such pair. An
item that is answered now so, now so, has d = 0 as long as its shares stay, so that rewording alone costs nothing, and
an item with one answer that is another one now has d = 1. So 1 - d is a share of items only where every item always has
one answer. Else it is more lenient than a share of answers: of an item of which half of the answers are other ones now,
d is 1 / 4. Whoever prints it says so.
The mean of d over items is tested by t, with a jackknife over wordings where items share them, and as a share with the
effective number of items; p is the larger one. Without any change in n items, it is limit^n: 72 items show 95 %.

Few wordings that items share do not rule out an odd one, in which all items are answered otherwise now. d is a squared
length, so a share e of odd wordings makes it e^2 at most: d above D takes a share above sqrt(D). Where none of n
wordings changed any item, p of "it holds" is at least (1 - sqrt(D))^n: 15 wordings show 95 %. Else one wording more
counts as odd: with E an exponential number, T of t and s the standard error, p is at least the probability that

    d + s T >= (sqrt(D) - (1 - sqrt(D)) E / n)^2.

Nor do few rule out one in which all items move back: of n wordings and such a one, p of "it is broken" is at least the
probability that d + s T <= (sqrt(D) + (1 + sqrt(D)) E / n)^2.

References
----------
Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution. Annals of Mathematical Statistics
19, 293-325 (means over pairs).
Miller, R. G. (1974). The jackknife: a review. Biometrika 61, 1-15.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.check.judged_means import (
    NO_WORDINGS,
    ONE_ITEM,
    JudgedMean,
    compute_clopper_pearson_interval,
    compute_clopper_pearson_p_values,
    extend_interval_to_limit,
)
from analysis.check.limits.claims import find_refuted_claim
from analysis.check.limits.tails import FARTHEST
from analysis.statistics.reliability.panel import (
    Parts,
    combine_squared_limits,
    compute_squared_limits,
    estimate_panel_mean,
)
from analysis.statistics.reliability.replication import find_p_for_variance_parts
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.skewness import has_few_unlike_values

Counts: TypeAlias = npt.NDArray[np.int64]
_MOST_COUNTS = 2_000_000  # held at a time: 16 MB
SHARE = "binomial with the effective number of items"
CHANGE = "t over items, and binomial"


def judge_share_of_same_answers(
    now: Array, before: Array, crossed: bool, limit: float, *, like_these: bool = False, same_wordings: bool = True,
    orders: tuple[int, int] = (1, 1),
) -> JudgedMean:  # fmt: skip
    """Test whether the share of answers that are as before is at least a limit; for wordings like these, whether 1 less
    the mean change d of items is.

    Parameters
    ----------
    now, before
        Answers as numbers of options (items, wordings), NaN where there is no valid one.
    crossed
        Whether all items share the wordings.
    limit
        Share, from 0 to 1.
    like_these
        Whether it is asked for wordings like these, not for these.
    same_wordings
        Whether a place is the same wording on both sides; else only wordings like these can be asked about.
    orders
        In how many orders of the options each wording was asked, now and before; they stand side by side.

    Returns
    -------
    JudgedMean
        Of the share, or of 1 less the mean change.
    """
    if like_these or not same_wordings:
        return _test_mean_change_of_items(now, before, crossed, limit, same_wordings=same_wordings, orders=orders)
    is_common = ~np.isnan(now) & ~np.isnan(before)
    panel = estimate_panel_mean(np.where(is_common, now == before, np.nan), crossed, is_share=True)
    n_wordings = panel.n / panel.n_items / orders[0] if panel.n_items else np.nan
    if panel.n_items < 2:
        return JudgedMean(panel.mean, np.nan, np.nan, np.nan, np.nan, panel.n_items, n_wordings, ONE_ITEM)
    p_broken, p_holds = compute_clopper_pearson_p_values(panel.mean, panel.share, limit)
    ends = compute_clopper_pearson_interval(panel.mean, panel.share)
    return JudgedMean(panel.mean, *ends, p_broken, p_holds, panel.n_items, n_wordings, SHARE)


def _test_mean_change_of_items(
    now: Array, before: Array, crossed: bool, limit: float, *, same_wordings: bool, orders: tuple[int, int]
) -> JudgedMean:
    """Test the mean change of items in wordings like these."""
    changes = estimate_change_of_each_item(now, before, same_wordings=same_wordings, orders=orders)
    is_asked = (~np.isnan(now)).reshape(len(now), now.shape[1] // orders[0], orders[0]).any(axis=2)
    n_wordings = float(is_asked.sum(axis=1).mean()) if len(now) else np.nan
    is_known = ~np.isnan(changes)
    values = changes[is_known]
    n = len(values)
    if n < 2:
        test = ONE_ITEM if n else NO_WORDINGS
        return JudgedMean(np.nan, np.nan, np.nan, np.nan, np.nan, len(now), n_wordings, test)
    share = 1 - float(values.mean())
    parts: Parts = ((float(values.var(ddof=1)) / n, n - 1.0),)
    if crossed:
        parts += _compute_jackknife_variance_over_wordings(
            now[is_known], before[is_known], same_wordings=same_wordings, orders=orders
        )
    variance = sum(part for part, _ in parts)
    if np.isnan(variance):  # two shared wordings: without one of them, there is no pair left
        return JudgedMean(min(share, 1.0), np.nan, np.nan, np.nan, np.nan, n, n_wordings, NO_WORDINGS)
    inside = share * (1 - share)
    effective = min(inside / variance, n) if inside > 0 and variance > 0 else float(n)
    p_broken, p_holds = compute_clopper_pearson_p_values(share, effective, limit)
    lower, upper = compute_clopper_pearson_interval(share, effective)
    if has_few_unlike_values(values):
        p_broken = max(p_broken, 0.5 ** int((values != 0).sum()))
    elif variance > 0:
        p = find_p_for_variance_parts(abs(share - limit), parts) / 2
        p_broken, p_holds = (
            (max(p_broken, p), max(p_holds, 1 - p)) if share < limit else (max(p_broken, 1 - p), max(p_holds, p))
        )
        half = float(np.sqrt(combine_squared_limits(*compute_squared_limits(parts, LEVEL))))
        lower, upper = min(lower, share - half), max(upper, share + half)
    if crossed:
        n_drawn = min(
            int((~np.isnan(side)).reshape(len(side), side.shape[1] // n_orders, n_orders).any(axis=(0, 2)).sum())
            for side, n_orders in zip((now, before), orders, strict=True)
        )  # a wording without answers tells nothing
        numbers_of_share = 1 - share, np.sqrt(variance), n_drawn, min(free for _, free in parts)
        p_holds = max(p_holds, compute_p_with_extreme_wording(*numbers_of_share, limit))
        p_broken = max(p_broken, compute_p_with_extreme_wording(*numbers_of_share, limit, is_broken=True))
        lower = find_refuted_claim(lambda claim: compute_p_with_extreme_wording(*numbers_of_share, claim), lower)
        upper = 1 - find_refuted_claim(
            lambda claim: compute_p_with_extreme_wording(*numbers_of_share, 1 - claim, is_broken=True), 1 - upper
        )
    lower, upper = extend_interval_to_limit(lower, upper, limit, p_broken, p_holds)
    number, lower, upper = np.clip([share, lower, upper], 0.0, 1.0).tolist()
    return JudgedMean(number, lower, upper, p_broken, p_holds, n, n_wordings, CHANGE)


def compute_p_with_extreme_wording(
    change: float, error: float, n_wordings: int, freedom: float, limit: float, *, is_broken: bool = False
) -> float:  # fmt: skip
    """Compute p of the claim that 1 less the mean change is at most a limit, with one odd wording more.

    Parameters
    ----------
    change, error
        The mean change and its standard error, both 0 where no wording changed any item.
    n_wordings
        That all items share.
    freedom
        Degrees of freedom of the error.
    limit
        Share, from 0 to 1.
    is_broken
        Whether the claim is that it is at least the limit: then the odd wording moves answers the other way.

    Returns
    -------
    float

    >>> [round(compute_p_with_extreme_wording(0.0, 0.0, n_wordings, np.nan, 0.95), 3) for n_wordings in (14, 15)]
    [0.029, 0.022]
    """
    from scipy.special import stdtr

    length = np.sqrt(max(1 - limit, 0.0))  # of the change, as that of a vector
    if not error > 0 and change <= 0:
        return 1.0 if is_broken else float((1 - length) ** n_wordings)
    if is_broken:
        distances = (length + (1 + length) * FARTHEST / n_wordings) ** 2 - change
    else:
        distances = change - np.maximum(length - (1 - length) * FARTHEST / n_wordings, 0.0) ** 2
    tails = stdtr(freedom, distances / error) if error > 0 else (distances >= 0).astype(float)
    p, observed = min(float(np.trapezoid(tails * np.exp(-FARTHEST), FARTHEST)), 1.0), np.sqrt(max(change, 0.0))
    # Of n wordings that are all alike, the chance that none was the odd one, as in `tails`.
    if is_broken and observed > length:
        p = max(p, float(((1 + length) / (1 + observed)) ** n_wordings))
    elif not is_broken and observed < length:
        p = max(p, float(((1 - length) / (1 - observed)) ** n_wordings))
    return p


def estimate_change_of_each_item(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int] = (1, 1)
) -> Array:
    """Estimate the change d of every item, see the module's docstring.

    Parameters
    ----------
    now, before, same_wordings, orders
        As in `judge_share_of_same_answers`.

    Returns
    -------
    array (items,)
        From -1 to 1; NaN where either side has answers to fewer than two wordings.
    """
    counted = _count_answers_and_pairs_within_wordings(now, before, same_wordings=same_wordings, orders=orders)
    return _compute_changes_from_option_counts(*(counts.sum(axis=1) for counts in counted))


def _count_answers_and_pairs_within_wordings(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int]
) -> tuple[Counts, ...]:
    """Count what the answers to every wording, (items, wordings, ...), add to the pairs of
    `_compute_changes_from_option_counts`.

    Returns
    -------
    tuple
        Answers by option now and before; of the answers to one wording, which are no pair of different wordings, the
        pairs that are alike now, before and across, and all pairs now, before and across.
    """
    if same_wordings:
        is_common = ~np.isnan(now) & ~np.isnan(before)
        now, before = np.where(is_common, now, np.nan), np.where(is_common, before, np.nan)
    options = np.unique(np.concatenate([now[~np.isnan(now)], before[~np.isnan(before)]]))
    dtype = np.int16 if max(orders) < 128 else np.int64  # squares fit; sums are larger by themselves
    by_option = [
        (side[:, :, None] == options).reshape(len(side), side.shape[1] // n, n, len(options)).sum(axis=2, dtype=dtype)
        for side, n in zip((now, before), orders, strict=True)
    ]
    sizes = [counts.sum(axis=-1) for counts in by_option]
    none = np.zeros((len(now), 1), int)
    alike_across, all_across = (
        ((by_option[0] * by_option[1]).sum(axis=-1), sizes[0] * sizes[1]) if same_wordings else (none, none)
    )
    alike = [(counts**2).sum(axis=-1) for counts in by_option]
    return (*by_option, *alike, alike_across, *(size**2 for size in sizes), all_across)


def _compute_changes_from_option_counts(
    counts_now: Counts, counts_before: Counts, alike_now: Counts, alike_before: Counts, alike_across: Counts,
    all_now: Counts, all_before: Counts, all_across: Counts,
) -> Array:  # fmt: skip
    """Compute changes from counts of options (..., options), less the pairs of answers to one wording."""
    n, m = counts_now.sum(axis=-1), counts_before.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share_now = ((counts_now**2).sum(axis=-1) - alike_now) / (n**2 - all_now)
        share_before = ((counts_before**2).sum(axis=-1) - alike_before) / (m**2 - all_before)
        share_across = ((counts_now * counts_before).sum(axis=-1) - alike_across) / (n * m - all_across)
        changes = (share_now + share_before) / 2 - share_across
    return np.where((n**2 > all_now) & (m**2 > all_before), changes, np.nan)


def _compute_jackknife_variance_over_wordings(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int] = (1, 1)
) -> Parts:  # fmt: skip
    """Compute the variance of the mean change by leaving out one wording after the other, of each side's own."""
    counted = _count_answers_and_pairs_within_wordings(now, before, same_wordings=same_wordings, orders=orders)
    totals = [counts.sum(axis=1) for counts in counted]
    # What goes with a wording of both: its answers on both sides; else its answers on its own side.
    groups = [tuple(range(len(counted)))] if same_wordings else [(0, 2, 5), (1, 3, 6)]
    parts = []
    for group in groups:
        has_answers = np.any([counted[place].any(axis=(0, 2)) for place in group if place < 2], axis=0)
        n_wordings = int(has_answers.sum())
        if n_wordings < 3:
            return ((np.nan, np.nan),)
        step = max(1, _MOST_COUNTS // counted[group[0]][:, 0].size)
        means: list[float] = []
        for start in range(0, len(has_answers), step):
            left = [
                total - np.moveaxis(counts[:, start : start + step], 1, 0) if place in group else total
                for place, (total, counts) in enumerate(zip(totals, counted, strict=True))
            ]
            means.extend(np.nanmean(_compute_changes_from_option_counts(*left), axis=-1))
        spread = np.array(means)[has_answers]
        variance = (n_wordings - 1) / n_wordings * float(((spread - spread.mean()) ** 2).sum())
        parts.append((variance, n_wordings - 1.0))
    return tuple(parts)
