"""Test one-sided, on arrays, whether a mean difference or a share keeps its limit: what rules on changes rest on.

A difference of two means over items, such as accuracy now less before, is tested by the t interval of a panel
(`analysis.statistics.reliability.panel`): for these wordings by its items, for wordings like these by items and
wordings. Where t errs, p is bounded:

- *None differs*, and answers lie within 0 and 1: where the mean is M worse, an item is worse with a probability of at
  least M, and n items show none with (1 - M)^n at most.
- *Few differ* (`Panel.few`): for the same reason `p_holds` is that of a binomial number of items that are worse; and
  what is worse is never found by fewer than six items.
- *Answers are 0 or 1*, in one wording of each item: p is at least that of the score test of paired shares
  (`analysis.compare.equivalence`); with a margin of 0 it is that of the exact test of McNemar.
- *All differ by the same*: a sign test; `p_holds` is at least the chance that none of n items is the one that is worse
  by 1, ((1 - M) / (1 + d))^n with a difference d, and there is none without a range.
- *Few wordings that all items share* do not rule out an odd one, in which all items are worse, or better. For wordings
  like these, `p_holds` is at least that with one wording more that is worse by 1 (`limits.tails`); where no wording
  moves any item, it is ((1 - M) / (1 + d))^n of n wordings and a difference d. `p_broken` is at least that with one
  wording more that is better by 1. By t alone, what is worse by .1 in nine wordings of ten, and so much better in the
  tenth that nothing changed on average, is found worse in .6 of studies in five wordings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.check.limits.tails import Tails, compute_tails_of_t_with_extra_item
from analysis.check.outcomes import LEVEL
from analysis.compare.equivalence import compute_score_p_of_shares_worse_by_margin
from analysis.statistics.reliability.panel import Anew, Panel, estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING

T_ITEMS, T_BOTH = "t over items", "t over items and wordings"
SCORE, MCNEMAR, SIGN = "score test and t over items", "exact McNemar", "sign test"
FEW, SAME = "binomial: few items differ", "binomial: no item differs"
NO_WORDINGS, ONE_ITEM = "no test: one wording tells nothing of others", "no test: one item"


@dataclass(frozen=True, slots=True)
class JudgedMean:
    """Hold a mean that was tested against a limit.

    Attributes
    ----------
    number, lower, upper
        The mean, and its two-sided 95 % interval; NaN: none.
    p_broken, p_holds
        One-sided p of "the limit is kept", and of "it is not kept"; NaN: no test.
    n_items, n_wordings
        Items, and wordings per item on average.
    test
        In words.
    """

    number: float
    lower: float
    upper: float
    p_broken: float
    p_holds: float
    n_items: int
    n_wordings: float
    test: str


def judge_answers_not_worse_by_margin(
    now: Array, before: Array, crossed: bool, margin: float, *, like_these: bool = False, knows_wordings: bool = True,
    has_range: bool = True,
) -> JudgedMean:  # fmt: skip
    """Test whether answers are worse now than before, by more than a margin.

    Parameters
    ----------
    now, before
        Answers (items, wordings), higher ones better; NaN where either has none.
    crossed
        Whether all items share the wordings.
    margin
        How much worse counts as none, from 0 on.
    like_these
        Whether it is asked for wordings like these, not for these.
    knows_wordings
        Whether the answers tell how far other wordings would move the difference.
    has_range
        Whether answers lie within 0 and 1.

    Returns
    -------
    JudgedMean
        Of the difference now less before; the limit is -margin.
    """
    panel = estimate_panel_mean(now - before, crossed, is_share=False, corrects_skewness=True)
    is_single = has_range and panel.n == panel.n_items and _are_answers_binary(now) and _are_answers_binary(before)
    tested = _judge_mean_difference_over_items(panel, margin, has_range=has_range, is_single=is_single)
    if not like_these or panel.n_items < 2:
        return tested
    untested = replace(tested, lower=np.nan, upper=np.nan, p_broken=np.nan, p_holds=np.nan, test=NO_WORDINGS)
    if not knows_wordings:
        return untested
    if not crossed:  # other items come with other wordings: that is one test
        return tested
    p_broken, p_holds = _compute_both_one_sided_p_values(panel, "both", -margin)
    if np.isnan(p_broken):  # no wording moves any item: of as few wordings, another one may
        n_answered = int((~np.isnan(now - before)).any(axis=0).sum())  # a wording without answers tells nothing
        if np.isnan(sum(variance for variance, _ in panel.parts["both"])):
            return untested
        p_broken, p_holds = 1.0, np.nan
        if has_range:
            p_broken, p_holds = _compute_both_p_values_of_equal_differences(panel.mean, margin, n_answered)
    lower, upper = panel.compute_interval("both")
    if has_range and sum(variance for variance, _ in panel.parts["both"]) > ROUNDING**2:
        odd = _compute_tails_with_extreme_wording(panel, margin)
        p_broken, p_holds = max(p_broken, odd.p_at_least), max(p_holds, odd.p_at_most)
        lower, upper = np.fmin(lower, 2 * odd.lower - 1), np.fmax(upper, 2 * odd.upper - 1)
    p_broken, p_holds = float(np.fmax(p_broken, tested.p_broken)), float(np.maximum(p_holds, tested.p_holds))
    lower, upper = extend_interval_to_unrefuted_limit(lower, upper, -margin, p_broken, p_holds)
    return replace(tested, lower=lower, upper=upper, p_broken=p_broken, p_holds=p_holds, test=T_BOTH)


def extend_interval_to_unrefuted_limit(
    lower: float, upper: float, limit: float, p_broken: float, p_holds: float
) -> tuple[float, float]:  # fmt: skip
    """Let an interval reach as far as the test that decides.

    Parameters
    ----------
    lower, upper
        Its ends; NaN where there is none, which stays so.
    limit
        With which the number is compared.
    p_broken, p_holds
        One-sided; NaN where nothing was tested.

    Returns
    -------
    tuple
        The ends. It holds the limit on every side on which the limit is not refuted.

    >>> extend_interval_to_unrefuted_limit(-0.5, -0.06, -0.02, 0.031, 1.0)
    (-0.5, -0.02)
    """
    return lower if p_holds < LEVEL else min(lower, limit), upper if p_broken < LEVEL else max(upper, limit)


def _compute_both_p_values_of_equal_differences(mean: float, margin: float, n_alike: int) -> tuple[float, float]:
    """Return p of broken and of holds where wordings, or items, are all alike: that of n none was the odd one."""
    p_broken = ((1 + margin) / (1 - mean)) ** n_alike if mean < -margin else 1.0
    p_holds = (max(1 - margin, 0.0) / (1 + mean)) ** n_alike if mean > -margin else 1.0
    return float(p_broken), float(p_holds)


def _compute_tails_with_extreme_wording(panel: Panel, margin: float) -> Tails:
    """Test differences from -1 to 1, moved to 0 to 1, by t and one wording more that is -1 or 1."""
    lower, upper = replace(panel, few=False).compute_interval("both")
    freedom = min(free for _, free in panel.parts["both"])
    fewest = min(panel.n_items, panel.n_wordings)
    ends = (lower + 1) / 2, (upper + 1) / 2
    return compute_tails_of_t_with_extra_item((panel.mean + 1) / 2, ends, max(1 - margin, 0.0) / 2, fewest, freedom)


def _are_answers_binary(answers: Array) -> bool:
    """Tell whether all answers are 0 or 1."""
    return bool(((answers == 0) | (answers == 1) | np.isnan(answers)).all())


def _judge_mean_difference_over_items(panel: Panel, margin: float, *, has_range: bool, is_single: bool) -> JudgedMean:
    """Test a difference for these wordings."""
    from scipy.special import bdtr

    n, means = panel.n_items, panel.means
    lower, upper = panel.compute_interval("items") if n else (np.nan, np.nan)
    tested = JudgedMean(panel.mean, lower, upper, np.nan, np.nan, n, panel.n / n if n else np.nan, T_ITEMS)
    if n < 2:
        return replace(tested, test=ONE_ITEM)
    ups, downs = int((means > ROUNDING).sum()), int((means < -ROUNDING).sum())
    if ups + downs == 0:
        p_holds = float(max(1 - margin, 0.0) ** n) if has_range else np.nan
        return replace(tested, number=0.0, p_broken=1.0, p_holds=p_holds, test=SAME)
    if is_single and margin == 0:
        p = float(bdtr(ups, ups + downs, 0.5)), float(bdtr(downs, ups + downs, 0.5))
        return replace(tested, p_broken=p[0], p_holds=p[1], test=MCNEMAR)
    p_broken, p_holds = _compute_both_one_sided_p_values(panel, "items", -margin)
    if np.isnan(p_broken):  # all differ by the same
        if not panel.mean > -margin:
            return replace(tested, p_broken=0.5**n, p_holds=1.0, test=SIGN)
        p_holds = 0.5**n
        if margin > 0:
            p_of_none_worse = _compute_both_p_values_of_equal_differences(panel.mean, margin, n)[1]
            p_holds = max(p_holds, p_of_none_worse) if has_range else np.nan
        return replace(tested, p_broken=1.0, p_holds=p_holds, test=SIGN)
    if panel.few:
        p_broken = max(p_broken, 0.5 ** (ups + downs))
        if margin > 0:
            p_holds = float(bdtr(downs, n, min(margin, 1.0))) if has_range else np.nan
        else:
            p_holds = max(p_holds, 0.5 ** (ups + downs))
        return replace(tested, p_broken=p_broken, p_holds=p_holds, test=FEW)
    if is_single and margin < 1:
        p_score = compute_score_p_of_shares_worse_by_margin(ups, downs, n, margin)
        return replace(tested, p_broken=max(p_broken, 1 - p_score), p_holds=max(p_holds, p_score), test=SCORE)
    return replace(tested, p_broken=p_broken, p_holds=p_holds)


def _compute_both_one_sided_p_values(panel: Panel, anew: Anew, limit: float) -> tuple[float, float]:
    """Compute p of "the mean is at least the limit", and of "it is at most the limit"; NaN where nothing varies."""
    # Where few items differ, the two-sided p is a bound, which cannot be halved into p and 1 - p.
    p = compute_p_of_panel_mean_against_value(replace(panel, few=False), anew, limit) / 2
    return (p, 1 - p) if panel.mean < limit else (1 - p, p)


def average_item_means(answers: Array) -> float:
    """Average the means of all items that have an answer.

    Parameters
    ----------
    answers
        (items, wordings), NaN where there is none.

    Returns
    -------
    float
        NaN without any answer.
    """
    means = [row[~np.isnan(row)].mean() for row in answers if not np.isnan(row).all()]
    return float(np.mean(means)) if means else float("nan")
