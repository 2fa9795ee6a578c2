"""The share of items answered as before: against its definition, and what rewording alone does to it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from analysis.check import answer_changes, same_answers
from analysis.check.answer_changes import compute_wording_shifts_on_principal_axis, estimate_change_of_each_item
from analysis.statistics.bounded_mean import compute_p_of_mean_at_least

judge = same_answers.judge_share_of_same_answers


def draw_answers(items: int, wordings: int, options: int = 3, holes: float = 0.1, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    answers = draw.integers(0, options, (items, wordings)).astype(float)
    return np.where(draw.random(answers.shape) < holes, np.nan, answers)


def compare_slowly(now: list[float], before: list[float], *, same_wordings: bool) -> float:
    """The change of one item, pair by pair."""
    n, m = range(len(now)), range(len(before))
    if same_wordings:
        n = m = [k for k in n if now[k] == now[k] and before[k] == before[k]]
    else:
        n, m = ([k for k in range(len(side)) if side[k] == side[k]] for side in (now, before))
    of_now = [now[j] == now[k] for j, k in product(n, n) if j != k]
    of_before = [before[j] == before[k] for j, k in product(m, m) if j != k]
    across = [now[j] == before[k] for j, k in product(n, m) if j != k or not same_wordings]
    return (np.mean(of_now) + np.mean(of_before)) / 2 - np.mean(across)


@pytest.mark.parametrize("same_wordings", [True, False])
def test_changes_are_those_of_all_pairs_to_1e_12(same_wordings):
    now, before = draw_answers(12, 7, seed=1), draw_answers(12, 7 if same_wordings else 5, seed=2)
    slow = [compare_slowly(list(a), list(b), same_wordings=same_wordings) for a, b in zip(now, before, strict=True)]
    np.testing.assert_allclose(estimate_change_of_each_item(now, before, same_wordings=same_wordings), slow, atol=1e-12)


def test_only_a_change_costs_and_rewording_alone_does_not():
    one, other = np.zeros((1, 6)), np.ones((1, 6))
    assert (
        estimate_change_of_each_item(one, one, same_wordings=True) == 0
        and estimate_change_of_each_item(one, other, same_wordings=True) == 1
    )
    draw = np.random.default_rng(5)
    shares, turned = np.array([0.8, 0.2]), np.array([0.5, 0.5])
    for after, true in ((shares, 0.0), (turned, 0.09)):
        now, before = (draw.choice(2, (20_000, 5), p=p).astype(float) for p in (after, shares))
        for is_same in (True, False):
            changes = estimate_change_of_each_item(now, before, same_wordings=is_same)
            assert changes.mean() == pytest.approx(true, abs=4 * changes.std() / np.sqrt(len(changes)))


def test_one_wording_in_several_orders_is_no_pair_of_wordings():
    draw = np.random.default_rng(6)
    shares = draw.beta(3, 1, (4000, 1))
    now, before = ((draw.random((4000, n)) < shares).astype(float) for n in (3, 4))
    in_orders = now.repeat(8, axis=1), before.repeat(2, axis=1)  # temperature 0: alike in every order
    told = estimate_change_of_each_item(*in_orders, same_wordings=False, orders=(8, 2))
    np.testing.assert_allclose(told, estimate_change_of_each_item(now, before, same_wordings=False), atol=1e-12)
    assert told.mean() == pytest.approx(0, abs=4 * told.std() / np.sqrt(len(told)))
    assert (
        estimate_change_of_each_item(*in_orders, same_wordings=False).mean() > 0.05
    )  # as wordings, they are taken for a change
    assert np.isnan(
        estimate_change_of_each_item(now[:, :1].repeat(8, axis=1), before, same_wordings=False, orders=(8, 1))
    ).all()
    tested = judge(in_orders[0], in_orders[0], False, 0.95, like_these=True, orders=(8, 8))
    assert (tested.number, tested.n_wordings) == (1, 3)


def test_for_these_wordings_it_is_the_exact_binomial_test_of_single_answers():
    now = np.zeros((80, 1))
    before = np.where(np.arange(80)[:, None] < 9, 1.0, 0.0)
    tested = judge(now, before, False, 0.95)
    assert tested.number == pytest.approx(71 / 80)
    assert tested.p_broken == pytest.approx(stats.binomtest(71, 80, 0.95, "less").pvalue, rel=1e-6)
    assert (tested.lower, tested.upper) == pytest.approx(stats.binomtest(71, 80).proportion_ci(), rel=1e-6)


def test_72_items_without_a_change_show_95_percent_and_71_do_not():
    for n, holds in ((72, True), (71, False)):
        for is_like in (False, True):
            answers = draw_answers(n, 1, holes=0).repeat(4, axis=1)
            assert (judge(answers, answers, False, 0.95, like_these=is_like).p_holds < 0.025) == holds


@pytest.mark.parametrize("same_wordings", [True, False])
def test_the_jackknife_leaves_out_one_wording_after_the_other(same_wordings, monkeypatch):
    now, before = draw_answers(9, 6, seed=3), draw_answers(9, 6 if same_wordings else 4, seed=4)
    expected = []
    for place in range(1 if same_wordings else 2):
        means = []
        for k in range((now, before)[place].shape[1]):
            sides = [np.delete(side, k, axis=1) if same_wordings or number == place else side
                     for number, side in enumerate((now, before))]  # fmt: skip
            means.append(np.nanmean(estimate_change_of_each_item(*sides, same_wordings=same_wordings)))
        expected.append(((len(means) - 1) * np.var(means), len(means) - 1))
    monkeypatch.setattr(answer_changes, "_MOST_COUNTS", 60)  # in several steps
    parts = answer_changes.compute_mean_change_jackknife_variance(now, before, same_wordings=same_wordings)
    np.testing.assert_allclose(parts, expected, rtol=1e-9)


def test_shared_wordings_need_three_and_one_wording_tells_nothing():
    answers = draw_answers(90, 2, holes=0)
    assert np.isnan(judge(answers, draw_answers(90, 2, holes=0, seed=9), True, 0.95, like_these=True).p_holds)
    assert np.isnan(judge(answers[:, :1], answers[:, :1], False, 0.95, like_these=True).p_holds)


@pytest.mark.filterwarnings("error")
def test_where_no_item_is_left_without_a_wording_nothing_is_told_and_nothing_warned():
    """NumPy warned of the mean of an empty slice."""
    now = np.array([[0.0, 1.0, np.nan], [np.nan, 1.0, 1.0]])  # all share the second wording alone
    tested = judge(now, now, True, 0.9, like_these=True)
    assert np.isnan([tested.p_broken, tested.p_holds]).all() and tested.test == same_answers.NO_WORDINGS


def test_one_item_with_two_wordings_is_said_to_be_one():
    """It said "no test: one item, 50 items"."""
    answers = draw_answers(50, 2, holes=0)
    answers[1:, 1] = np.nan
    tested = judge(answers, answers, False, 0.95, like_these=True)
    assert (tested.n_items, tested.test) == (1, "no test: one item")


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("n_items", [30, 300])
def test_at_the_limit_neither_is_claimed_in_more_than_a_fortieth_of_studies(n_items):
    """Half of the items are answered now so, now so; a change turns their shares round: 7.5 % of items are 0.05."""
    draw = np.random.default_rng(n_items)
    p = []
    for _ in range(400):
        shares = np.where(draw.random((n_items, 1)) < 0.5, 1.0, draw.random((n_items, 1)))
        turned = np.where(draw.random((n_items, 1)) < 0.075, 1 - shares, shares)
        now, before = (draw.random((n_items, 8)) < turned, draw.random((n_items, 8)) < shares)
        tested = judge(now * 1.0, before * 1.0, False, 0.95, like_these=True, same_wordings=False)
        p.append((tested.p_broken, tested.p_holds))
    assert ((np.array(p) < 0.025).mean(axis=0) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 400)).all()


def test_shared_wordings_without_a_change_are_counted_and_15_show_95_percent():
    for wordings, holds in ((15, True), (14, False)):
        answers = draw_answers(80, 1, holes=0).repeat(wordings, axis=1)
        tested = judge(answers, answers, True, 0.95, like_these=True)
        assert (tested.p_holds < 0.025) == (tested.lower > 0.95) == holds
        assert tested.p_holds == pytest.approx(max((1 - np.sqrt(0.05)) ** wordings, 0.95**80))


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("wordings", [5, 20])
def test_few_shared_wordings_do_not_hide_an_odd_one(wordings):
    """In so many wordings all items are answered otherwise that the limit is the truth; by t, 5 "hold" in .25."""
    draw, n_held = np.random.default_rng(wordings), 0
    for _ in range(100):
        before = draw.integers(0, 2, (100, 1)).repeat(wordings, axis=1).astype(float)
        is_other = (draw.random(wordings) < np.sqrt(0.05)) ^ (draw.random(before.shape) < 0.01)
        now = np.where(is_other, 1 - before, before)
        n_held += judge(now, before, True, 0.95, like_these=True).p_holds < 0.025
    assert n_held <= 8


@pytest.mark.parametrize(("wordings", "changed", "is_broken"), [(5, 1.0, False), (10, 0.7, True), (20, 0.1, False)])
def test_few_shared_wordings_do_not_rule_out_one_in_which_all_items_move_back(wordings, changed, is_broken):
    before = draw_answers(200, 1, options=2, holes=0).repeat(wordings, axis=1)
    now = np.where(np.arange(200)[:, None] < 200 * changed, 1 - before, before)
    tested = judge(now, before, True, 0.95, like_these=True)
    assert (tested.p_broken < 0.025) == (tested.upper < 0.95) == is_broken


def test_a_single_odd_wording_of_twenty_is_no_proof_though_it_makes_no_pair():
    """With sqrt(.05) of odd wordings, the limit is the truth: then at most one of 20 is odd in .043 of studies."""
    before = np.zeros((100, 20))
    now = before.copy()
    now[:80, 7] = 1
    sizes = compute_wording_shifts_on_principal_axis(now, before, same_wordings=True)
    np.testing.assert_allclose(sizes, np.where(np.arange(20) == 7, np.sqrt(0.8), 0.0), atol=1e-12)
    tested = judge(now, before, True, 0.95, like_these=True)
    assert estimate_change_of_each_item(now, before, same_wordings=True).max() == 0  # what d and its jackknife see
    assert tested.p_holds == pytest.approx(compute_p_of_mean_at_least((1 + sizes) / 2, (1 + np.sqrt(0.05)) / 2))
    assert tested.p_holds > 0.025 and tested.lower < 0.95
    now[:] = before
    now[:, 7] = 1
    p = judge(now, before, True, 0.95, like_these=True).p_holds
    assert p == pytest.approx(stats.binom.cdf(1, 20, np.sqrt(0.05))) and p > 0.025


@pytest.mark.parametrize("same_wordings", [True, False])
def test_changes_of_wordings_are_projected_on_their_first_axis(same_wordings):
    """Pair by pair, with holes, and with an order more of each wording; of fresh wordings, those of one place."""
    now, before = draw_answers(12, 10, seed=1), draw_answers(12, 10 if same_wordings else 12, seed=2)
    n_wordings, items, options = 5, range(12), range(3)
    if same_wordings:
        is_common = ~np.isnan(now) & ~np.isnan(before)
        now, before = np.where(is_common, now, np.nan), np.where(is_common, before, np.nan)

    def change(item, wording):
        shares = []
        for side in (now, before):
            answers = side[item, 2 * wording : 2 * wording + 2]
            answers = answers[~np.isnan(answers)]
            shares.append([np.mean(answers == option) if len(answers) else np.nan for option in options])
        return np.subtract(*shares)

    changes = np.array([[change(item, wording) for wording in range(n_wordings)] for item in items])
    products = np.array([[np.nanmean((changes[:, v] * changes[:, w]).sum(axis=1)) / 2 for v in range(n_wordings)]
                         for w in range(n_wordings)])  # fmt: skip
    axis = np.ones(n_wordings)
    for _ in range(3000):  # the power method
        axis = products @ axis / np.linalg.norm(products @ axis)
    expected = axis * np.sqrt(axis @ products @ axis) * np.sign(axis.sum())
    sizes = compute_wording_shifts_on_principal_axis(now, before, same_wordings=same_wordings, orders=(2, 2))
    np.testing.assert_allclose(sizes, expected, atol=1e-9)
    assert sizes.mean() > 0 and (sizes < 0).any()


def test_changes_to_and_fro_hardly_count_as_those_of_an_odd_wording():
    """A tenth of the answers moves in each of 20 wordings, either way: that still holds."""
    draw = np.random.default_rng(0)
    before = draw.integers(0, 2, (300, 20)).astype(float)
    now = np.where(draw.random(before.shape) < 0.1, 1 - before, before)
    assert judge(now, before, True, 0.95, like_these=True).p_holds < 0.025


def test_an_odd_wording_counts_as_one_more_in_which_items_move_back():
    """As simulated: t, and an exponential number in place of the odd wording."""
    draw, change, error, n, freedom = np.random.default_rng(0), 0.3, 0.05, 30, 29
    odd = draw.exponential(size=400_000) / n
    length = np.sqrt(0.05) * (1 + odd) + odd  # of the others, where the mean length is at the limit
    p = same_answers.compute_p_with_extreme_wording_added(change, error, n, freedom, 0.95, is_broken=True)
    simulated = (change + error * draw.standard_t(freedom, 400_000) <= length**2).mean()
    assert p == pytest.approx(simulated, abs=4 * np.sqrt(p / 400_000))


@pytest.mark.parametrize("n_orders", [1, 2])
@pytest.mark.parametrize("share", [0.0, 0.08, 0.3])
def test_wordings_without_answers_do_not_count_as_drawn(n_orders, share):
    """They made p of "it holds" small: of 8 wordings that changed nothing, 92 without an answer made 100."""
    draw = np.random.default_rng(0)
    answers = draw.integers(0, 2, (60, 8 * n_orders)).astype(float)
    now = np.where(draw.random(answers.shape) < share, 1 - answers, answers)
    few, many = (
        judge(*sides, True, 0.95, like_these=True, same_wordings=True, orders=(n_orders, n_orders))
        for sides in (
            (now, answers),
            [np.hstack([side, np.full((60, 92 * n_orders), np.nan)]) for side in (now, answers)],
        )
    )
    assert many.p_holds == pytest.approx(few.p_holds, rel=1e-12)
    assert many.p_broken == pytest.approx(few.p_broken, rel=1e-12)
    assert (many.lower, many.upper) == pytest.approx((few.lower, few.upper), rel=1e-12)


@pytest.mark.parametrize("changed", [0.0, 0.7])
def test_wordings_with_answers_on_one_side_only_do_not_count_as_drawn(changed):
    """Of 8 wordings, 40 more made 28: all answers to .7 of the items were found changed by p = 1e-5, not .04."""
    before = np.zeros((80, 8))
    now = np.where(np.arange(80)[:, None] < 80 * changed, 1 - before, before)
    none, some = np.full((80, 20), np.nan), np.zeros((80, 20))
    few, many = (
        judge(*sides, True, 0.95, like_these=True)
        for sides in ((now, before), (np.hstack([now, some, none]), np.hstack([before, none, some])))
    )
    assert many == few and few.n_wordings == 8 and few.p_broken > 0.025


def test_wordings_of_items_that_tell_of_no_change_do_not_count_as_drawn():
    """An item in one wording of its own has no d."""
    answers = np.full((110, 38), np.nan)
    answers[:80, :8] = 0
    answers[80 + np.arange(30), 8 + np.arange(30)] = 0
    few, many = (judge(side, side, True, 0.95, like_these=True) for side in (answers[:80, :8], answers))
    assert (many.p_holds, many.lower) == (few.p_holds, few.lower) and few.p_holds > 0.025
