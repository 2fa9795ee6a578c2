"""What an interval says of a limit: beside SciPy where the interval is one of its own, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.check.limits.tails import (
    compute_tails_of_interval,
    compute_tails_of_share,
    compute_tails_of_t_with_extra_item,
)
from analysis.statistics.resampling import bootstrap_intervals, compute_mean_per_draw
from helpers.mean_shapes import allow_errors, draw_shape

SHARES = (0.0, 1.0)


@pytest.mark.parametrize(("yes", "n", "limit"), [(9, 62, 0.2), (0, 62, 0.05), (62, 62, 0.9), (150, 300, 0.45)])
def test_wilsons_interval_gives_the_exact_binomial_test_of_scipy_to_1e_6(yes, n, limit):
    tails = compute_tails_of_interval(yes / n, proportion_confint(yes, n, method="wilson"), limit, n, bounds=SHARES)
    assert tails.test == "exact binomial"
    assert tails.p_at_most == pytest.approx(stats.binomtest(yes, n, limit, "greater").pvalue, rel=1e-6)
    assert tails.p_at_least == pytest.approx(stats.binomtest(yes, n, limit, "less").pvalue, rel=1e-6)
    assert (tails.lower, tails.upper) == pytest.approx(proportion_confint(yes, n, method="beta"), rel=1e-6)


def test_an_estimated_number_of_answers_is_lowered_as_korn_and_graubard_do():
    ends = proportion_confint(0.3 * 80, 80, method="wilson")
    tails = compute_tails_of_interval(0.3, ends, 0.2, 30, bounds=SHARES)
    lowered = 80 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 29)) ** 2
    expected = compute_tails_of_share(0.3, lowered, 0.2)
    assert (tails.p_at_most, tails.lower) == pytest.approx((expected.p_at_most, expected.lower), rel=1e-6)
    assert tails.test == "exact binomial of 73 effective answers"


def test_an_interval_by_t_gives_the_one_sided_tests_of_scipy_to_1e_12():
    values = np.random.default_rng(1).normal(3, 2, 40)
    ends = stats.ttest_1samp(values, 0).confidence_interval()
    tails = compute_tails_of_interval(values.mean(), tuple(ends), 2.4, 40)
    for side, p in (("greater", tails.p_at_most), ("less", tails.p_at_least)):
        assert p == pytest.approx(stats.ttest_1samp(values, 2.4, alternative=side).pvalue, rel=1e-12)
    assert (tails.lower, tails.upper) == tuple(ends)


def test_an_interval_of_a_correlation_is_symmetric_on_its_own_scale():
    """Fisher's z of 50 points is normal: where it counts, p is that of z, also near 1."""
    r, error = 0.9, 1 / np.sqrt(47)
    ends = tuple(np.tanh(np.arctanh(r) + np.array([-1, 1]) * stats.norm.ppf(0.975) * error))
    tails = compute_tails_of_interval(r, ends, 0.8, bounds=(-1.0, 1.0))
    assert tails.p_at_most == pytest.approx(stats.norm.sf((np.arctanh(r) - np.arctanh(0.8)) / error), rel=1e-6)
    assert compute_tails_of_interval(r, ends, 1.5).p_at_least == 0  # beyond what it can be


def test_an_interval_that_is_longer_above_tests_by_the_end_on_the_side_of_the_limit():
    tails = compute_tails_of_interval(1.0, (0.8, 1.6), 1.3, 1e6)
    assert tails.p_at_least == pytest.approx(stats.norm.sf(0.3 / (0.6 / stats.norm.ppf(0.975))), rel=1e-4)
    assert tails.p_at_most == pytest.approx(stats.norm.sf(-0.3 / (0.2 / stats.norm.ppf(0.975))), rel=1e-4)


@pytest.mark.parametrize("bounds", [None, SHARES, (-1.0, 1.0), (1.0, 5.0)])
@pytest.mark.parametrize(
    ("estimate", "ends"), [(0.3, (0.21, 0.4)), (0.05, (0.0, 0.2)), (0.7, (0.75, 0.9)), (0.0, (0.0, 0.1))]
)
def test_its_own_interval_is_where_p_is_the_level(bounds, estimate, ends):
    if bounds == (1.0, 5.0):
        estimate, ends = 1 + 4 * estimate, (1 + 4 * ends[0], 1 + 4 * ends[1])
    tails = compute_tails_of_interval(estimate, ends, 0.5, 40, bounds=bounds)
    for limit, side in ((tails.lower, "p_at_most"), (tails.upper, "p_at_least")):
        if limit not in (bounds or ()) and limit != estimate:
            p = getattr(compute_tails_of_interval(estimate, ends, limit, 40, bounds=bounds), side)
            assert p == pytest.approx(0.025, abs=1e-5)


def test_without_an_interval_there_is_no_p():
    for estimate, ends in ((0.3, (np.nan, np.nan)), (np.nan, (0.1, 0.2)), (0.3, (-np.inf, 0.4))):
        tails = compute_tails_of_interval(estimate, ends, 0.5, 30)
        assert np.isnan([tails.p_at_most, tails.p_at_least, tails.lower, tails.upper]).all()


def test_an_item_more_is_what_drawn_ones_give_within_the_error_of_the_draws():
    draw, draws = np.random.default_rng(2), 1_000_000
    estimate, half, limit, n = 0.9, 0.02, 0.86, 50
    error = half / stats.t.ppf(0.975, n - 1)
    far = draw.exponential(size=draws) * limit / n
    share = float((estimate - error * draw.standard_t(n - 1, draws) - far <= limit).mean())
    p = compute_tails_of_t_with_extra_item(estimate, (estimate - half, estimate + half), limit, n, n - 1).p_at_most
    assert p == pytest.approx(share, abs=4 * np.sqrt(share / draws))


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize("shape", ["near 0", "80 % zeros", "valid but for 1 %"])
def test_intervals_that_are_drawn_err_in_no_more_than_the_level(shape):
    studies, n = 200, 30
    values, mean = draw_shape(np.random.default_rng(4), shape, (n, studies))
    drawn = bootstrap_intervals(
        {"x": values}, lambda columns, counts: {"x": compute_mean_per_draw(counts, columns["x"])}, draws=500
    )["x"]
    tails = [
        compute_tails_of_interval(estimate, (lower, upper), mean, n, bounds=SHARES)
        for estimate, lower, upper in zip(drawn.estimate, drawn.lower, drawn.upper, strict=True)
    ]
    for level in (0.025, 0.025 / 20):
        for side in ("p_at_most", "p_at_least"):
            assert sum(getattr(tail, side) < level for tail in tails) <= allow_errors(studies, level)


@pytest.mark.parametrize(("number", "n"), [(0, 30), (4, 50), (90, 100), (72, 72)])
def test_a_share_has_the_exact_binomial_test_and_interval(number, n):
    tails = compute_tails_of_share(number / n, n, 0.9)
    assert tails.p_at_least == pytest.approx(stats.binomtest(number, n, 0.9, "less").pvalue, rel=1e-9)
    assert tails.p_at_most == pytest.approx(stats.binomtest(number, n, 0.9, "greater").pvalue, rel=1e-9)
    ends = stats.binomtest(number, n).proportion_ci(method="exact")
    assert (tails.lower, tails.upper) == pytest.approx((ends.low, ends.high), abs=1e-9)


def test_a_share_outside_0_to_1_counts_as_the_nearer_end():
    """An unbiased share of items that changed may be below 0; of 1.03 in 20 answers, the lower end was .90, not .83."""
    assert compute_tails_of_share(1.03, 20.0, 0.9) == compute_tails_of_share(1.0, 20.0, 0.9)
    assert compute_tails_of_share(-0.2, 20.0, 0.1) == compute_tails_of_share(0.0, 20.0, 0.1)
