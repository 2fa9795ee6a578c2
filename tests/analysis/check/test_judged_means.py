"""One-sided tests of changes: against SciPy, slow versions, and how often they err at their limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from analysis.check import judged_means
from analysis.check.judged_means import FEW, MCNEMAR, NO_WORDINGS, SAME, SCORE, SIGN, T_BOTH, T_ITEMS
from analysis.compare.equivalence import compute_score_p_of_shares_worse_by_margin
from helpers.mean_shapes import allow_errors

judge = judged_means.judge_answers_not_worse_by_margin


def write_pairs(ups: int, downs: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers of 0 and 1 now and before, of which so many are better and worse."""
    now = np.repeat([1.0, 0.0, 1.0], [ups, downs, n - ups - downs])[:, None]
    before = np.repeat([0.0, 1.0, 1.0], [ups, downs, n - ups - downs])[:, None]
    return now, before


def test_p_of_t_is_that_of_scipy_to_1e_9():
    half = np.random.default_rng(1).normal(0, 0.05, 20)
    differences = np.concatenate([half, -half]) - 0.01  # symmetric: nothing is skewed
    tested = judge(0.5 + differences[:, None], np.full((40, 1), 0.5), False, 0.02)
    for p, alternative in ((tested.p_broken, "less"), (tested.p_holds, "greater")):
        assert p == pytest.approx(stats.ttest_1samp(differences, -0.02, alternative=alternative).pvalue, rel=1e-9)
    assert tested.number == pytest.approx(-0.01) and tested.test == T_ITEMS


def test_without_a_margin_answers_of_0_and_1_have_the_exact_test():
    tested = judge(*write_pairs(3, 14, 60), False, 0.0)
    assert tested.p_broken == pytest.approx(stats.binomtest(3, 17, alternative="less").pvalue, rel=1e-12)
    assert tested.p_holds == pytest.approx(stats.binomtest(3, 17, alternative="greater").pvalue, rel=1e-12)
    assert tested.test == MCNEMAR


@pytest.mark.parametrize(("ups", "downs", "n", "margin"), [(4, 9, 80, 0.05), (10, 3, 50, 0.02), (7, 20, 200, 0.1)])
def test_the_score_is_that_of_the_likeliest_shares(ups, downs, n, margin):
    def lose(share: float) -> float:  # of items that are better; worse ones are as many, and the margin
        return -(
            ups * np.log(share) + downs * np.log(share + margin) + (n - ups - downs) * np.log(1 - 2 * share - margin)
        )

    share = optimize.minimize_scalar(lose, bounds=(1e-9, (1 - margin) / 2 - 1e-9), method="bounded",
                                     options={"xatol": 1e-12}).x  # fmt: skip
    z = (downs - ups - n * margin) / np.sqrt(n * (2 * share + margin - margin**2))
    p = compute_score_p_of_shares_worse_by_margin(ups, downs, n, margin)
    assert p == pytest.approx(stats.norm.cdf(z), rel=1e-5)
    tested = judge(*write_pairs(ups, downs, n), False, margin)
    assert tested.p_holds >= p and tested.p_broken >= 1 - p and tested.test == SCORE


def test_where_nothing_or_little_differs_items_are_counted():
    same = judge(*write_pairs(0, 0, 183), False, 0.02)
    assert same.p_holds == pytest.approx(0.98**183) and same.p_holds < 0.025 and same.test == SAME
    rounded = judge(np.full((20, 3), [0.9 - 1e-16, 0.9, 0.9]), np.full((20, 3), 0.9), False, 0.02)
    assert rounded.number == 0 and rounded.test == SAME  # -4e-17 was shown
    few = judge(*write_pairs(0, 2, 400), False, 0.02)
    assert few.p_holds == pytest.approx(stats.binom.cdf(2, 400, 0.02)) and few.test == FEW
    assert few.p_broken > 0.025  # never found by so few
    shift = judge(np.full((30, 1), 0.4), np.full((30, 1), 0.5), False, 0.02)
    assert (shift.p_broken, shift.p_holds, shift.test) == (0.5**30, 1.0, SIGN)
    assert np.isnan(judge(*write_pairs(0, 1, 1), False, 0.02).p_holds)
    unbounded = judge(np.zeros((50, 1)), np.zeros((50, 1)), False, 0.02, has_range=False)
    assert np.isnan(unbounded.p_holds) and unbounded.p_broken == 1


@pytest.mark.parametrize("has_range", [True, False])
def test_items_that_are_all_better_by_the_same_hold_no_more_often_than_the_level(has_range):
    """Better by .1 in nine items of ten, worse by 1 in the tenth: 20 items without one "held" in .12 of studies."""
    draw, studies = np.random.default_rng(0), 400
    n_held = 0
    for _ in range(studies):
        is_worse = draw.random((20, 1)) < 0.1
        now, before = np.where(is_worse, 0.0, 0.6), np.where(is_worse, 1.0, 0.5)
        n_held += judge(now, before, False, 0.01, has_range=has_range).p_holds < 0.025
    assert n_held <= allow_errors(studies, 0.025)
    same = judge(np.full((60, 1), 0.6), np.full((60, 1), 0.5), False, 0.02)
    assert same.p_holds == pytest.approx((0.98 / 1.1) ** 60) and same.test == SIGN


def test_shared_wordings_widen_what_is_said_of_wordings_like_these():
    draw = np.random.default_rng(3)
    before = draw.random((40, 6))
    now = before + draw.normal(-0.03, 0.02, (1, 6)) + draw.normal(0, 0.05, (40, 6))
    these, like = (judge(now, before, True, 0.02, like_these=is_like) for is_like in (False, True))
    assert like.test == T_BOTH and like.lower < these.lower < these.upper < like.upper
    assert like.p_broken > these.p_broken
    blind = judge(now[:, :1], before[:, :1], True, 0.02, like_these=True, knows_wordings=False)
    assert blind.test == NO_WORDINGS and np.isnan([blind.p_broken, blind.p_holds, blind.lower]).all()
    still = judge(before, before, True, 0.02, like_these=True)
    assert still.p_holds == pytest.approx(0.98**6)  # six wordings are no proof


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "churn"), [(30, 0.0), (30, 0.1), (300, 0.1)])
def test_at_the_limit_neither_is_claimed_in_more_than_a_fortieth_of_studies(n_items, churn):
    draw = np.random.default_rng(n_items)
    p = []
    for _ in range(500):
        before = (draw.random((n_items, 1)) < 0.7).astype(float)
        turn = draw.random((n_items, 1))
        worse, better = (before == 1) & (turn < (churn + 0.02) / 0.7), (before == 0) & (turn < churn / 0.3)
        tested = judge(np.where(worse, 0.0, np.where(better, 1.0, before)), before, False, 0.02)
        p.append((tested.p_broken, tested.p_holds))
    assert ((np.array(p) < 0.025).mean(axis=0) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 500)).all()


def draw_odd_wordings(items: int, wordings: int, odd: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers now and before in shared wordings; in odd ones, all are wrong now, so that odd * .9 are lost."""
    draw = np.random.default_rng(seed)
    before = (draw.random((items, wordings)) < 0.9).astype(float)
    now = np.where(draw.random((items, wordings)) < 0.05, draw.random((items, wordings)) < 0.9, before)
    return np.where(draw.random(wordings) < odd, 0.0, now), before


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("wordings", [5, 20])
def test_few_shared_wordings_do_not_hide_an_odd_one(wordings):
    """By t, five wordings without the odd one "hold" in .6 of studies."""
    n_held = sum(
        judge(*draw_odd_wordings(100, wordings, 0.1, seed), True, 0.09, like_these=True).p_holds < 0.025
        for seed in range(100)
    )
    assert n_held <= 7


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("wordings", [5, 40])
def test_few_shared_wordings_without_an_odd_better_one_break_nothing(wordings):
    """Worse by .1 in nine wordings of ten, and far better in the tenth: by t, five are "broken" in .6 of studies."""
    draw, n_broken = np.random.default_rng(wordings), 0
    for _ in range(60):
        before, now = draw.uniform(0.1, 0.15, (30, wordings)), draw.uniform(0, 0.05, (30, wordings))
        now = np.where(draw.random(wordings) < 0.1, now + 0.95, now)
        n_broken += judge(now, before, True, 0.0, like_these=True).p_broken < 0.025
    assert n_broken <= 5


def test_many_shared_wordings_hold_and_the_interval_says_so():
    for wordings, holds in ((10, False), (60, True)):
        tested = judge(*draw_odd_wordings(100, wordings, 0.0, 3), True, 0.1, like_these=True)
        assert (tested.p_holds < 0.025) == (tested.lower > -0.1) == holds
    ranked = judge(*draw_odd_wordings(100, 10, 0.5, 3), True, 0.0, like_these=True)
    assert ranked.p_broken < 0.025 and ranked.upper < 0  # what is far worse in most of the wordings is found


def test_an_odd_wording_counts_as_one_more_that_is_worse_by_1():
    """As simulated: t with the error that the interval tells, and an exponential number in place of that wording.

    It is never less than the chance that none of 60 wordings that are all alike was the odd one.
    """
    now, before = draw_odd_wordings(400, 60, 0.0, 5)
    panel = judged_means.estimate_panel_mean(now - before, True, is_share=False, corrects_skewness=True)
    error = (panel.mean - panel.compute_interval("both")[0]) / stats.t.ppf(0.975, 59)
    draw = np.random.default_rng(0)
    worse = panel.mean + 0.08 + error * draw.standard_t(59, 400_000) < 0.92 * draw.exponential(size=400_000) / 60
    p = judge(now, before, True, 0.08, like_these=True).p_holds
    none_is_odd = (0.92 / (1 + panel.mean)) ** 60
    assert p == pytest.approx(max(worse.mean(), none_is_odd), abs=4 * np.sqrt(p / 400_000))


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize(("n_wordings", "loss"), [(5, 0.8), (10, 0.42)])
def test_a_loss_balanced_by_rare_odd_wordings_is_seldom_broken(n_wordings, loss):
    """At the limit: a share of wordings is better by 1, the others are worse by `loss`. Many draws have none."""
    draw, margin = np.random.default_rng(n_wordings), 0.02
    n_broken = 0
    for _ in range(200):
        is_odd = draw.random(n_wordings) < (loss - margin) / (1 + loss)
        before = np.where(is_odd, 0.0, 1.0) * np.ones((100, 1))
        now = np.where(is_odd, 1.0, draw.random((100, n_wordings)) >= loss)
        n_broken += judge(now, before, True, margin, like_these=True).p_broken < 0.025
    assert n_broken <= 12  # of 200; .025 gives more in .4 % of series of 200


def test_wordings_without_answers_do_not_count_as_drawn():
    """They made p of "it holds" small: of 8 wordings that changed nothing, 92 without an answer made 100."""
    answers = np.random.default_rng(0).integers(0, 2, (60, 8)).astype(float)
    wide = np.hstack([answers, np.full((60, 92), np.nan)])
    tested = judge(wide, wide, True, 0.05, like_these=True)
    assert tested.p_holds == pytest.approx(0.95**8, rel=1e-12)
