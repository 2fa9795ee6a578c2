"""Test whether items are answered as before, up to a limit.

*These wordings*: of an item, the share of its wordings, valid on both sides, that are answered as before; its mean over
items is tested as a share.

*Wordings like these*: an item in a new wording is answered by option k with probability p_k now, q_k before. Its change
is

    d = sum_k (p_k - q_k)^2 / 2 = (P(X = X') + P(Y = Y')) / 2 - P(X = Y),

with X, X' the answers now to two different wordings, and Y, Y' those before. Each probability is estimated by the pairs
of different wordings that it is about, which is unbiased; one wording in two orders of its options is no such pair. An
item that is answered in one way in some wordings, and in another way in the others, has d = 0 as long as its shares
stay, so that rewording alone costs nothing, and an item with one answer that is another one now has d = 1. So 1 - d is
a share of items only where every item always has one answer. Else it is more lenient than a share of answers: of an
item of which half of the answers are other ones now, d is 1 / 4. Whoever prints it says so.
The mean of d over items is tested by t, with a jackknife over wordings where items share them, and as a share with the
effective number of items; p is the larger one. Without any change in n items, it is limit^n: 72 items show 95 %.

Few wordings that items share do not rule out an odd one, in which all items are answered otherwise now. d is a squared
length, so a share e of odd wordings makes it e^2 at most: d above D takes a share above sqrt(D). Where none of n
wordings changed any item, `p_holds` is at least (1 - sqrt(D))^n: 15 wordings show 95 %. Else one wording more
counts as odd: with E an exponential number, T of t and s the standard error, `p_holds` is at least the probability that

    d + s T >= (sqrt(D) - (1 - sqrt(D)) E / n)^2,    with 0 in place of a bracket below 0.

Where a small part of the wordings is odd, this is not enough: d and its jackknife are made of pairs of wordings, and a
single odd one among 20 makes no pair. So `p_holds` is at least that of a test of single wordings, too. What a
wording w changes is a vector, c_w: the shares now less those before, of all options of all items, scaled so that its
length is at most 1. d is the squared length of their mean over all wordings: it is above D only if the mean of
x_w = c_w . u is above sqrt(D), for the direction u of that mean. Taken for u is the axis along which wordings change
answers most, the first principal one without centring: so an odd wording counts as odd though it is the only one, and
what moves to and fro counts little. p is Gaffke's (`analysis.statistics.bounded_mean`) of the claim that the mean of x
is at least sqrt(D): where all items change in odd wordings and none in others, it is that of the binomial number of odd
ones; without any change it is (1 - sqrt(D))^n, as above. That this axis is near enough is what simulations say
(`tests/benchmarks/bench_odd_wordings.py`).

Nor do few rule out one in which all items move back: of n wordings and such a one, `p_broken` is at least the
probability that d + s T <= (sqrt(D) + (1 + sqrt(D)) E / n)^2.

Estimates are those of `analysis.check.answer_changes`.
"""

from __future__ import annotations

import numpy as np

from analysis.check.answer_changes import (
    compute_mean_change_jackknife_variance,
    compute_wording_shifts_on_principal_axis,
    estimate_change_of_each_item,
)
from analysis.check.judged_means import NO_WORDINGS, ONE_ITEM, JudgedMean, extend_interval_to_unrefuted_limit
from analysis.check.limits.claims import find_largest_refuted_claim
from analysis.check.limits.tails import FARTHEST, compute_tails_of_share
from analysis.statistics.bounded_mean import compute_bounded_mean_interval, compute_p_of_mean_at_least
from analysis.statistics.reliability.panel import (
    Parts,
    compute_p_norm_of_squared_limits,
    compute_squared_half_widths_and_freedom,
    estimate_panel_mean,
)
from analysis.statistics.reliability.replication import find_p_that_excludes_a_distance
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.skewness import has_few_values_unlike_commonest

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
    tails = compute_tails_of_share(panel.mean, panel.share, limit)
    ends, p_values = (tails.lower, tails.upper), (tails.p_at_least, tails.p_at_most)
    return JudgedMean(panel.mean, *ends, *p_values, panel.n_items, n_wordings, SHARE)


def _test_mean_change_of_items(
    now: Array, before: Array, crossed: bool, limit: float, *, same_wordings: bool, orders: tuple[int, int]
) -> JudgedMean:
    """Test the mean change of items in wordings like these."""
    if same_wordings:  # a wording that has answers on one side only tells nothing, and is not counted
        is_common = ~np.isnan(now) & ~np.isnan(before)
        now, before = np.where(is_common, now, np.nan), np.where(is_common, before, np.nan)
    changes = estimate_change_of_each_item(now, before, same_wordings=same_wordings, orders=orders)
    is_asked = (~np.isnan(now)).reshape(len(now), now.shape[1] // orders[0], orders[0]).any(axis=2)
    n_wordings = float(is_asked.sum(axis=1).mean()) if len(now) else np.nan
    is_known = ~np.isnan(changes)
    values = changes[is_known]
    n = len(values)
    if n < 2:
        counted, test = (n, ONE_ITEM) if n else (len(now), NO_WORDINGS)
        return JudgedMean(np.nan, np.nan, np.nan, np.nan, np.nan, counted, n_wordings, test)
    share = 1 - float(values.mean())
    parts: Parts = ((float(values.var(ddof=1)) / n, n - 1.0),)
    now, before = now[is_known], before[is_known]
    if crossed:
        parts += compute_mean_change_jackknife_variance(now, before, same_wordings=same_wordings, orders=orders)
    variance = sum(part for part, _ in parts)
    if np.isnan(variance):  # two shared wordings: without one of them, there is no pair left
        return JudgedMean(min(share, 1.0), np.nan, np.nan, np.nan, np.nan, n, n_wordings, NO_WORDINGS)
    inside = share * (1 - share)
    effective = min(inside / variance, n) if inside > 0 and variance > 0 else float(n)
    tails = compute_tails_of_share(min(max(share, 0.0), 1.0), effective, limit)  # unbiased, it may lie outside
    p_broken, p_holds, lower, upper = tails.p_at_least, tails.p_at_most, tails.lower, tails.upper
    if has_few_values_unlike_commonest(values):
        p_broken = max(p_broken, 0.5 ** int((values != 0).sum()))
    elif variance > 0:
        p = find_p_that_excludes_a_distance(abs(share - limit), parts) / 2
        p_broken, p_holds = (
            (max(p_broken, p), max(p_holds, 1 - p)) if share < limit else (max(p_broken, 1 - p), max(p_holds, p))
        )
        half = float(np.sqrt(compute_p_norm_of_squared_limits(*compute_squared_half_widths_and_freedom(parts, LEVEL))))
        lower, upper = min(lower, share - half), max(upper, share + half)
    if crossed:
        p_broken, p_holds, lower, upper = _widen_p_and_interval_for_extreme_wordings(
            (p_broken, p_holds, lower, upper), now, before, 1 - share, parts, limit,
            same_wordings=same_wordings, orders=orders,
        )  # fmt: skip
    lower, upper = extend_interval_to_unrefuted_limit(lower, upper, limit, p_broken, p_holds)
    number, lower, upper = np.clip([share, lower, upper], 0.0, 1.0).tolist()
    return JudgedMean(number, lower, upper, p_broken, p_holds, n, n_wordings, CHANGE)


def _widen_p_and_interval_for_extreme_wordings(
    tested: tuple[float, float, float, float], now: Array, before: Array, change: float, parts: Parts, limit: float, *,
    same_wordings: bool, orders: tuple[int, int],
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return p of broken and of holds, and the ends of the interval, with what few shared wordings do not rule out."""
    p_broken, p_holds, lower, upper = tested
    n_drawn = min(
        int((~np.isnan(side)).reshape(len(side), side.shape[1] // n_orders, n_orders).any(axis=(0, 2)).sum())
        for side, n_orders in zip((now, before), orders, strict=True)
    )  # a wording without answers tells nothing
    numbers = change, float(np.sqrt(sum(part for part, _ in parts))), n_drawn, min(free for _, free in parts)
    sizes = compute_wording_shifts_on_principal_axis(now, before, same_wordings=same_wordings, orders=orders)
    p_broken = max(p_broken, compute_p_with_extreme_wording_added(*numbers, limit, is_broken=True))
    p_holds = max(
        p_holds, compute_p_with_extreme_wording_added(*numbers, limit), compute_same_share_gaffke_p(sizes, limit)
    )
    lower = find_largest_refuted_claim(lambda claim: compute_p_with_extreme_wording_added(*numbers, claim), lower)
    upper = 1 - find_largest_refuted_claim(
        lambda claim: compute_p_with_extreme_wording_added(*numbers, 1 - claim, is_broken=True), 1 - upper
    )
    return p_broken, p_holds, min(lower, _find_same_share_lower_end(sizes)), upper


def compute_p_with_extreme_wording_added(
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

    >>> [round(compute_p_with_extreme_wording_added(0.0, 0.0, n_wordings, np.nan, 0.95), 3) for n_wordings in (14, 15)]
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


def compute_same_share_gaffke_p(sizes: Array, limit: float) -> float:
    """Compute p of the claim that 1 less the mean change is at most a limit, from single wordings.

    Parameters
    ----------
    sizes
        From `compute_wording_shifts_on_principal_axis`.
    limit
        Share, from 0 to 1.

    Returns
    -------
    float
        Gaffke's p of the claim that the mean size is at least the square root of 1 less the limit.

    >>> [round(compute_same_share_gaffke_p(np.zeros(n_wordings), 0.95), 3) for n_wordings in (14, 15)]
    [0.029, 0.022]
    """
    return compute_p_of_mean_at_least((1 + sizes) / 2, (1 + float(np.sqrt(max(1 - limit, 0.0)))) / 2)


def _find_same_share_lower_end(sizes: Array) -> float:
    """Return the lower end of 1 less the mean change that agrees with `compute_same_share_gaffke_p`."""
    _, upper = compute_bounded_mean_interval((1 + sizes) / 2)
    return 1 - max(2 * upper - 1, 0.0) ** 2
