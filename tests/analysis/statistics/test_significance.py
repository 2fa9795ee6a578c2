"""The exact sign test of paired shares, against statsmodels' exact McNemar test and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from statsmodels.stats import contingency_tables

from analysis.statistics.resampling import bootstrap_differences, compute_mean_per_draw
from analysis.statistics.significance import (
    compute_paired_permutation_p_and_least_p,
    compute_smallest_bootstrap_p,
    mcnemar,
)


def test_statsmodels_gives_the_same():
    rng = np.random.default_rng(1)
    first, second = (rng.random((40, 30)) < share for share in (0.5, rng.random(30)))
    p, least = mcnemar(first.astype(float), second.astype(float))
    for pair in range(30):
        a, b = first[:, pair], second[:, pair]
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        assert p[pair] == pytest.approx(contingency_tables.mcnemar(table, exact=True).pvalue, abs=1e-12)
    assert (least == 2.0**-39).all()


def test_by_hand():
    # Five items flip on the first side only: 2 / 2^5. One on each side: nothing. No value: no item. One item: no test.
    first = np.array([[1.0, 1, 1], [1, 0, np.nan], [1, 1, np.nan], [1, 0, np.nan], [1, 0, np.nan], [0, 0, np.nan]])
    second = np.array([[0.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    p, least = mcnemar(first, second)
    assert p[:2].tolist() == [0.0625, 1.0]
    assert least[:2].tolist() == [2 / 64, 2 / 64]
    assert np.isnan([p[2], least[2]]).all()


def test_one_rule_for_all_shares():
    """Shares with one answer to each of the same items get McNemar's p; all others get that of the draws."""
    rng = np.random.default_rng(4)
    one = (rng.random((30, 3)) < [0.8, 0.4, 0.4]).astype(float)
    several = np.round(one * 0.5 + rng.random((30, 3)) * 0.5, 1)  # shares of ten answers
    asked = np.ones((30, 3))
    asked[0, 2] = 0  # the last unit has no answer to one item
    one[0, 2] = 0

    def figures(columns, counts):
        return {name: compute_mean_per_draw(counts, columns[name]) for name in ("one", "several")}

    def shares(columns):
        return {"one": [[(columns["one"], columns["asked"])]], "several": [[(columns["several"], columns["asked"])]]}

    columns = {"one": one, "several": several, "asked": asked}
    found = bootstrap_differences(columns, figures, [(0, 1), (0, 2)], shares, draws=199)
    expected = contingency_tables.mcnemar(
        [[0, (one[:, 0] > one[:, 1]).sum()], [(one[:, 0] < one[:, 1]).sum(), 0]], exact=True
    ).pvalue
    assert found["one"].p[0] == pytest.approx(expected, abs=1e-12)
    assert found["one"].p_least.tolist() == [2.0**-29, compute_smallest_bootstrap_p(199, 30)]
    assert found["several"].p_least.tolist() == [compute_smallest_bootstrap_p(199, 30)] * 2
    without_draws = bootstrap_differences(columns, figures, [(0, 1)], shares, draws=0)
    assert without_draws["one"].p[0] == found["one"].p[0] and np.isnan(without_draws["several"].p[0])


def test_exchanged_sides_are_all_signs_in_turn():
    """Nine items by all 512 exchanges, the slow way; the draws differ from these by chance (standard error 0.003)."""
    rng = np.random.default_rng(3)
    differences = np.round(rng.normal([0.0, 0.5, 2.0], 1, (9, 3)), 1)
    p, least = compute_paired_permutation_p_and_least_p(differences, 20_000, 0)
    signs = np.array(list(itertools.product([-1, 1], repeat=9)))
    for pair, values in enumerate(differences.T):
        sums = [abs(sum(sign * value for sign, value in zip(row, values, strict=True))) for row in signs]
        expected = np.mean([total >= abs(values.sum()) - 1e-9 for total in sums])
        assert p[pair] == pytest.approx(expected, abs=0.012)
    assert (least == 2.0**-8).all()


def test_exchanged_answers_of_yes_and_no_are_the_test_of_mcnemar():
    rng = np.random.default_rng(2)
    first, second = (rng.random((40, 12)) < share for share in (0.5, rng.random(12)))
    p, _ = compute_paired_permutation_p_and_least_p(first.astype(float) - second, 20_000, 1)
    assert p == pytest.approx(mcnemar(first.astype(float), second.astype(float))[0], abs=0.015)


def test_exchanging_says_nothing_without_items_or_draws_and_everything_where_all_are_equal():
    values = np.array([[0.0, 1, np.nan], [0, 1, np.nan], [0, np.nan, 2]])
    p, least = compute_paired_permutation_p_and_least_p(values, 100, 0)
    assert p[0] == 1 and p[1] == pytest.approx(0.5, abs=0.15) and np.isnan(p[2])
    assert least[:2].tolist() == [0.25, 0.5] and np.isnan(least[2])
    assert np.isnan(compute_paired_permutation_p_and_least_p(values, 0, 0)).all()


def test_without_items_there_is_no_permutation_test():
    p, least = compute_paired_permutation_p_and_least_p(np.zeros((0, 1)), 100, 0)
    assert np.isnan([p, least]).all()
