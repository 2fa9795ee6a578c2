"""A change over looks: against exact permutations, textbook tests and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from analysis.statistics.drift import (
    compute_least_p_of_change,
    compute_z_values_of_looks,
    count_windows_of_planned_looks,
    detect_change_over_looks,
)
from analysis.statistics.permuted_sums import compute_z_of_sum_permuted_within_items


def all_sums(values):
    """Every sum that is possible, of each item any of its values."""
    return np.array([sum(choice) for choice in itertools.product(*values.T)])


def test_the_tail_is_that_of_all_permutations():
    """Of 7 items and 5 looks, 78,125 sums: the tail with half of the sum itself, within 6 % of it up to 1 in 1,000."""
    values = np.random.default_rng(0).gamma(1.0, 1.0, (5, 7))
    values -= values.mean(axis=0)
    sums, there = all_sums(values), np.ones(values.shape, bool)
    for total in np.quantile(sums, [0.6, 0.8, 0.95, 0.99, 0.999]):
        exact = (sums > total + 1e-9).mean() + (np.abs(sums - total) <= 1e-9).mean() / 2
        assert stats.norm.sf(compute_z_of_sum_permuted_within_items(values, there, total)) == pytest.approx(
            exact, rel=0.06
        )


def test_the_largest_sum_has_its_own_probability():
    values = np.array([[1.0, 0.5, 1.0], [0.0, 0.5, -2.0], [-1.0, -1.0, 1.0]])
    z = compute_z_of_sum_permuted_within_items(values, np.ones(values.shape, bool), 2.5)
    assert stats.norm.sf(z) == pytest.approx(1 / 3 * 2 / 3 * 2 / 3, rel=1e-9)


def test_of_0_and_1_it_is_the_test_of_cochran_mantel_and_haenszel():
    """Far from the tail, where that is normal: within 0.05 of its z without the correction of continuity."""
    rng = np.random.default_rng(3)
    answers = [(rng.random((300, 1)) < 0.7).astype(float) for _ in range(4)]
    before, last = np.concatenate(answers[:-1], axis=1), answers[-1][:, 0]
    tables = [
        [[last[i], 1 - last[i]], [before[i].sum(), 3 - before[i].sum()]]
        for i in range(300)
        if 0 < last[i] + before[i].sum() < 4
    ]
    theirs = StratifiedTable([np.array(table) for table in tables]).test_null_odds(correction=False)
    assert compute_z_values_of_looks(answers)[-1] ** 2 == pytest.approx(theirs.statistic, abs=0.05)


def test_shared_fresh_wordings_are_the_units_of_an_exact_test_of_ranks():
    """Against every way to choose the last look's 4 of all 12 wordings; of equal ones, none speaks for a change."""
    rng = np.random.default_rng(4)
    answers = [rng.normal(size=(10, 1)) + rng.normal(0, 0.3, (1, 4)) for _ in range(3)]
    ranks = stats.rankdata(np.concatenate([look.mean(axis=0) for look in answers]))
    sums = np.array([sum(chosen) for chosen in itertools.combinations(ranks, 4)])
    exact = min((sums >= ranks[8:].sum()).mean(), (sums <= ranks[8:].sum()).mean())
    z = compute_z_values_of_looks(answers, has_shared_fresh_wordings=True)
    assert np.isnan(z[0])
    assert stats.norm.sf(abs(z[2])) == pytest.approx(min(exact, 0.5), rel=1e-9)
    assert np.sign(z[2]) == np.sign(ranks[8:].sum() - sums.mean())
    assert compute_z_values_of_looks([answers[0]] * 3, has_shared_fresh_wordings=True)[1:].tolist() == [0, 0]
    alone = compute_z_values_of_looks([answers[0][:, :1], answers[1][:, :1]], has_shared_fresh_wordings=True)
    assert np.isnan(alone).all()  # of two wordings, either is the higher one


@pytest.mark.parametrize("n_before", [90, 700])  # exact, and so many that it is not
def test_many_shared_wordings_have_the_p_of_scipy(n_before):
    rng = np.random.default_rng(6)
    before, last = rng.normal(size=(1, n_before)), rng.normal(0.5, 1.0, size=(1, 30))
    theirs = stats.mannwhitneyu(last[0], before[0], alternative="greater", method="exact" if n_before == 90 else "auto")
    z = compute_z_values_of_looks([before, last], has_shared_fresh_wordings=True)[1]
    assert stats.norm.sf(z) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_one_odd_template_is_no_change():
    """It stands far apart from all before it, but one of twelve looks is the lowest."""
    rng = np.random.default_rng(5)
    looks = [rng.normal(0, 0.3, (40, 1)) + rng.normal(0, 0.01) for _ in range(11)]
    looks.append(looks[0] - 5)
    assert detect_change_over_looks(looks, has_shared_fresh_wordings=True).p[-1] == 1


def test_p_is_paid_for_all_windows_and_never_rises():
    """Of two looks, p is that of the t test over items here, times the windows."""
    rng = np.random.default_rng(5)
    answers = [rng.normal(0.4 * look, 1.0, (40, 3)) for look in range(2)]
    means = [look.mean(axis=1) for look in answers]
    theirs = stats.ttest_rel(means[1], means[0]).pvalue
    z = compute_z_values_of_looks(answers)[1]
    windows = count_windows_of_planned_looks(10)
    assert windows == sum(int(np.log2(look)) + 1 for look in range(1, 10))
    drift = detect_change_over_looks(answers, looks=10)
    assert drift.p[1] == pytest.approx(min(windows * max(theirs, 2 * stats.norm.sf(abs(z))), 1.0), rel=1e-9)
    long = detect_change_over_looks([rng.normal(0.1 * (look > 3), 0.3, (40, 2)) for look in range(12)], looks=50)
    assert np.isnan(long.p[0]) and (np.diff(long.p[1:]) <= 0).all()


def test_looks_beyond_the_planned_ones_are_not_tested():
    looks = [np.full((30, 2), 0.5) + np.random.default_rng(n).normal(0, 0.1, (30, 2)) for n in range(4)]
    looks.append(looks[-1] + 5)
    assert detect_change_over_looks(looks, looks=4).p[-1] > 0.5
    assert detect_change_over_looks(looks, looks=5).p[-1] < 0.001


def test_the_same_answers_each_time_never_alarm_and_a_change_of_some_items_is_none_of_the_mean():
    """With other hardware, answers to the same wordings move a little, up and down: not their mean."""
    rng = np.random.default_rng(6)
    answers = rng.random((62, 4))
    assert detect_change_over_looks([answers] * 50).p[-1] == 1
    moved = [detect_change_over_looks([answers] * 10 + [answers + rng.normal(0, 0.01, (62, 4))] * 10).p[-1]
             for _ in range(20)]  # fmt: skip
    assert min(moved) > 0.05
    assert detect_change_over_looks([answers] * 10 + [answers - 0.01 * rng.random((62, 1))]).p[-1] < 0.001


def test_a_change_is_found_where_it_begins():
    rng = np.random.default_rng(7)
    drift = detect_change_over_looks([rng.normal(-0.3 * (look >= 6), 1.0, (60, 10)) for look in range(12)])
    assert drift.p[5] > 0.05 > drift.p[-1]
    assert drift.first_changed == 6
    assert drift.likely_first <= 6 <= drift.likely_last
    assert drift.likely_last - drift.likely_first <= 4


def test_items_and_looks_without_answers_are_left_out():
    rng = np.random.default_rng(8)
    answers = [rng.random((20, 3)) for _ in range(4)]
    answers[2][:] = np.nan
    answers[1][3] = np.nan
    drift = detect_change_over_looks(answers)
    assert np.isnan(drift.z).tolist() == [True, False, True, False]
    nothing = detect_change_over_looks([np.full((3, 2), np.nan)] * 3)
    assert np.isnan(nothing.p).all() and nothing.first_changed == -1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["right or wrong", "shares", "shared wordings", "odd templates"])
def test_fifty_looks_without_a_change_seldom_alarm(kind):
    """Of .05 expected at most, more would happen once in 1,000. The benchmark has thousands of years."""
    rng = np.random.default_rng(9)
    is_shared = kind in ("shared wordings", "odd templates")
    years, most = (30, 6) if is_shared else (60, 8)  # a year of shared wordings takes five times as long
    alarms = 0
    for _ in range(years):
        places = rng.normal(1.0, 1.0, (30, 1))
        looks = []
        for _ in range(50):
            is_odd = rng.random((1, 3)) < 0.1 if kind == "odd templates" else kind == "shared wordings"
            shared = np.where(is_odd, rng.normal(-2.0 * (kind == "odd templates"), 0.5, (1, 3)), 0.0)
            share = 1 / (1 + np.exp(-(places + shared + rng.normal(0, 0.5, (30, 3)))))
            looks.append((rng.random((30, 3)) < share).astype(float) if kind == "right or wrong" else share)
        alarms += detect_change_over_looks(looks, is_shared).p[-1] < 0.05
    assert alarms <= most


@pytest.mark.parametrize(("n_wordings", "n_looks"), [(7, 2), (8, 2), (1, 6), (2, 6), (3, 3), (4, 3)])
def test_the_least_p_of_shared_wordings_is_that_of_looks_that_rise_each_time(n_wordings, n_looks):
    """Of wordings of their own, only the number of items counts."""
    rising = np.arange(n_wordings * n_looks, dtype=float).reshape(n_looks, 1, n_wordings)
    answers = [look + np.linspace(0, 0.1, 40)[:, None] for look in rising]
    p = detect_change_over_looks(answers, has_shared_fresh_wordings=True).p[-1]
    assert compute_least_p_of_change(answers, has_shared_fresh_wordings=True) == pytest.approx(p, rel=1e-9)
    assert compute_least_p_of_change(answers) == count_windows_of_planned_looks() * 2.0**-39


@pytest.mark.parametrize("n_wordings", [(2, 2), (1, 2, 2), (2, 1, 1, 1)])
def test_no_order_of_shared_wordings_has_a_smaller_p(n_wordings):
    """By all orders, with as many planned looks as there are."""
    ends, n_looks = np.cumsum(n_wordings), len(n_wordings)
    looks_by_order = [
        [np.tile(look, (40, 1)) for look in np.split(np.array(order, float), ends[:-1])]
        for order in itertools.permutations(range(ends[-1]))
    ]
    least = min(detect_change_over_looks(looks, True, n_looks).p[-1] for looks in looks_by_order)
    assert compute_least_p_of_change(looks_by_order[0], True, n_looks) == pytest.approx(least, rel=1e-9)
