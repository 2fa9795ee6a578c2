"""Intervals of shares against scipy, a published example, a slow independent implementation, and known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.resampling import bootstrap_differences, bootstrap_intervals, compute_mean_per_draw
from analysis.statistics.shares import clopper_pearson, estimate_share, newcombe


def column(values):
    return np.asarray(values, float)[:, None]


def known(parts, wholes=None):
    part = column(parts)
    return estimate_share([(part, np.ones_like(part) if wholes is None else column(wholes))], 0.95)


def ends(found):
    lower, upper = found if isinstance(found, tuple) else (found.lower, found.upper)
    return float(lower[0]), float(upper[0])


def answers(both, first, second, neither):
    """Two yes/no answers to every item, from the cells of their table of counts."""
    cells = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return [known(side) for side in zip(*cells, strict=True)]


def slow_newcombe(both, first, second, neither):
    """Newcombe (1998), section 2, method 10, from the counts e, f, g, h of the paper and scipy's Wilson intervals."""
    n = both + first + second + neither
    one, other = (stats.binomtest(count, n) for count in (both + first, both + second))
    (l2, u2), (l3, u3) = (found.proportion_ci(0.95, method="wilson") for found in (one, other))
    p2, p3 = (both + first) / n, (both + second) / n
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    numerator = both * neither - first * second
    if numerator > 0:
        numerator = max(numerator - n / 2, 0)
    phi = numerator / math.sqrt(product) if product else 0.0
    below = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u3 - p3) + (u3 - p3) ** 2)
    above = math.sqrt((u2 - p2) ** 2 - 2 * phi * (u2 - p2) * (p3 - l3) + (p3 - l3) ** 2)
    return p2 - p3 - below, p2 - p3 + above


@pytest.mark.parametrize(("count", "n"), [(0, 11), (11, 11), (0, 1), (1, 1), (1, 10), (3, 7), (17, 62), (61, 62)])
def test_one_answer_per_item_is_the_plain_wilson_interval(count, n):
    wanted = stats.binomtest(count, n).proportion_ci(0.95, method="wilson")
    found = ends(known([1] * count + [0] * (n - count)))
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found[0] == 0, found[1] == 1) == (count == 0, count == n)  # not 1e-17, which is printed as "<0.01"
    assert found[1] - found[0] > 0.05


def test_the_example_of_a_textbook():
    # Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8: complete response
    # before and after treatment, 59, 6, 16 and 80 patients; Newcombe's interval is -0.1186 to -0.0046.
    found = ends(newcombe(*answers(59, 6, 16, 80)))
    assert tuple(round(end, 4) for end in found) == (-0.1186, -0.0046)


@pytest.mark.parametrize(
    "table",
    [(59, 6, 16, 80), (1, 1, 7, 12), (14, 5, 0, 22), (0, 0, 0, 11), (11, 0, 0, 0), (5, 0, 0, 6), (0, 5, 6, 0),
     (0, 1, 0, 0), (3, 2, 2, 3), (10, 40, 1, 2)],
)  # fmt: skip
def test_paired_shares_equal_the_slow_way(table):
    lower, upper = ends(newcombe(*answers(*table)))
    assert (lower, upper) == pytest.approx(slow_newcombe(*table), abs=1e-12)
    assert upper - lower > 0.05
    assert -1 <= lower < upper <= 1


def test_equal_answers_to_every_item_leave_a_doubt_about_their_difference():
    # Of 11 items both flip on none, on five, on all: the difference is 0, and known no better than that.
    for flips in (0, 5, 11):
        lower, upper = ends(newcombe(*answers(flips, 0, 0, 11 - flips)))
        assert lower < -0.1 and upper > 0.1


def test_the_order_of_the_two_turns_the_interval_around():
    a, b = answers(8, 5, 1, 12)
    lower, upper = ends(newcombe(a, b))
    assert ends(newcombe(b, a)) == pytest.approx((-upper, -lower), abs=1e-12)


def test_answers_of_one_item_that_always_agree_count_once():
    single = [1, 0, 0, 1, 1, 0, 0]
    assert ends(known([5 * x for x in single], [5] * 7)) == pytest.approx(ends(known(single)), abs=1e-12)
    models = [(column(single), np.ones((7, 1)))] * 3
    assert ends(estimate_share(models, 0.95)) == pytest.approx(ends(known(single)), abs=1e-12)


def test_all_or_none_of_many_answers_are_judged_by_the_items():
    wanted = stats.binomtest(9, 9).proportion_ci(0.95, method="wilson")
    assert ends(known([40] * 9, [40] * 9)) == pytest.approx((wanted.low, 1.0), abs=1e-12)
    # Answers of one item more than of the others are no more items.
    assert ends(known([400, *[4] * 8], [400, *[4] * 8]))[0] < wanted.low


def test_one_answer_less_narrows_nothing_at_once():
    """An interval that jumps from "none of 9" to "of 360 independent answers" would be no honest one."""
    lowest = [ends(known([40 - wrong, *[40] * 8], [40] * 9))[0] for wrong in (0, 1, 2, 5)]
    assert max(lowest) - min(lowest) < 0.05


def test_items_without_an_answer_do_not_count():
    with_gap = known([1, 0, 1, 0], [1, 1, 1, 0])
    assert ends(with_gap) == pytest.approx(ends(known([1, 0, 1])), abs=1e-12)
    assert np.isnan(ends(known([0, 0], [0, 0]))).all()


def test_a_mean_over_two_groups_of_items_is_one_share_of_all_of_them():
    """Two tasks with six items each: the plain mean of their shares is the share of all twelve."""
    first, second = [1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]
    asked = np.repeat([1.0, 0.0], 6)
    parts = [(column([*first, *[0] * 6]), column(asked)), (column([*[0] * 6, *second]), column(1 - asked))]
    assert ends(estimate_share(parts, 0.95)) == pytest.approx(ends(known([*first, *second])), abs=1e-12)


def covered(draw, truth):
    part, whole = draw
    found = estimate_share([(part, whole)], 0.95)
    return float(((found.lower <= truth) & (truth <= found.upper)).mean())


@pytest.mark.parametrize(("n", "before", "least"), [(10, 0.39, 0.91), (20, 0.62, 0.92), (62, 0.81, 0.95)])
def test_coverage_of_a_share_of_one_in_twenty(n, before, least):
    """Of 20,000 draws of n items; the bootstrap's intervals held the truth in the share `before` (n = 10: .39)."""
    answered = (np.random.default_rng(1).random((n, 20_000)) < 0.05).astype(float)
    assert covered((answered, np.ones_like(answered)), 0.05) > least > before


@pytest.mark.parametrize("alike", [0.1, 0.5, 0.9])  # the correlation of two answers to one item
@pytest.mark.parametrize("truth", [0.05, 0.3, 0.95])
def test_coverage_where_items_have_ten_answers_each(truth, alike):
    rng = np.random.default_rng(2)
    both = (1 - alike) / alike
    chances = rng.beta(truth * both, (1 - truth) * both, (20, 4_000))
    assert covered((rng.binomial(10, chances).astype(float), np.full((20, 4_000), 10.0)), truth) > 0.93


@pytest.mark.parametrize("together", [0.0, 0.7])  # how often the second answer repeats the first
def test_coverage_of_a_paired_difference(together):
    rng = np.random.default_rng(3)
    a = (rng.random((20, 20_000)) < 0.15).astype(float)
    b = np.where(rng.random(a.shape) < together, a, rng.random(a.shape) < 0.05)
    truth = 0.15 - (together * 0.15 + (1 - together) * 0.05)
    lower, upper = newcombe(*(estimate_share([(side, np.ones_like(side))], 0.95) for side in (a, b)))
    assert ((lower <= truth) & (truth <= upper)).mean() > 0.94


def figures(columns, counts):
    return {
        "mean": compute_mean_per_draw(counts, columns["x"]),
        "flips": compute_mean_per_draw(counts, columns["flipped"]),
    }


def shares(columns):
    return {"flips": [[(columns["flipped"], np.ones_like(columns["flipped"]))]]}


def test_the_bootstrap_leaves_the_named_figures_to_the_rule_of_shares():
    """No flip in 11 items was [0, 0], and the difference of two such models too."""
    x = np.random.default_rng(0).random((11, 2))
    columns = {"x": x, "flipped": np.zeros((11, 2))}
    single = bootstrap_intervals(columns, figures, shares, draws=100)
    wilson = stats.binomtest(0, 11).proportion_ci(0.95, method="wilson")
    assert single["flips"].estimate.tolist() == [0, 0]
    assert single["flips"].lower.tolist() == [0, 0]
    assert single["flips"].upper == pytest.approx([wilson.high] * 2)
    pair = bootstrap_differences(columns, figures, [(0, 1)], shares, draws=100)["flips"]
    assert pair.estimate[0] == 0
    assert (pair.lower[0], pair.upper[0]) == pytest.approx(slow_newcombe(0, 0, 0, 11))
    plain = bootstrap_intervals(columns, figures, draws=100)
    assert single["mean"].lower.tolist() == plain["mean"].lower.tolist()
    assert (single["flips"].missing == "").all()


def test_a_unit_that_is_no_share_is_resampled():
    columns = {"x": np.random.default_rng(1).random((8, 2)), "n": np.array([[1.0, 0.0]] * 8)}
    found = bootstrap_intervals(
        columns,
        lambda c, n: {"mean": compute_mean_per_draw(n, c["x"])},
        lambda c: {"mean": [[(c["x"], c["n"])]]},
        draws=50,
    )["mean"]
    plain = bootstrap_intervals({"x": columns["x"]}, lambda c, n: {"mean": compute_mean_per_draw(n, c["x"])}, draws=50)[
        "mean"
    ]
    assert found.lower[1] == plain.lower[1]
    assert found.lower[0] != plain.lower[0]


def test_without_draws_there_are_no_intervals():
    found = bootstrap_intervals({"x": np.ones((3, 1)), "flipped": np.zeros((3, 1))}, figures, shares, draws=0)
    assert np.isnan([found["flips"].lower[0], found["mean"].lower[0]]).all()
    assert found["mean"].missing.tolist() == [""]


@pytest.mark.parametrize(("yes", "n"), [(0, 5), (1, 10), (13, 62), (62, 62), (999, 1000)])
def test_exact_intervals_are_those_of_scipy_and_statsmodels(yes, n):
    for level in (0.95, 0.999):
        exact = stats.binomtest(yes, n).proportion_ci(level, method="exact")
        found = clopper_pearson(np.asarray(yes / n), n, level)
        assert tuple(map(float, found)) == pytest.approx((exact.low, exact.high), abs=1e-9)
        assert tuple(map(float, found)) == proportion_confint(np.asarray(yes / n * n), n, 1 - level, method="beta")
    assert np.isnan(clopper_pearson(np.asarray(np.nan), n, 0.95)).all()


def test_a_weighted_mean_of_shares_is_judged_by_the_weighted_answers_of_every_item():
    """Three models by 3 : 2 : 1. The slow way: an item counts with its weighted mean; two items more, as always."""
    answers = np.random.default_rng(3).integers(0, 2, (3, 12)).astype(float)
    weights = np.array([3.0, 2.0, 1.0])
    parts = [
        (column(of_model), column(np.ones(12)), np.array([w])) for of_model, w in zip(answers, weights, strict=True)
    ]
    share = estimate_share([*parts, (column(answers[0]), column(np.ones(12)), np.array([0.0]))], 0.95)
    of_items = np.append(weights @ answers / 6, [0, 1])
    n = of_items.mean() * (1 - of_items.mean()) / (((of_items - of_items.mean()) / 14) ** 2).sum() - 2
    p, z = (weights @ answers / 6).mean(), 1.959963984540054
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    assert (share.estimate[0], *ends(share)) == pytest.approx((p, middle - half, middle + half), abs=1e-12)
