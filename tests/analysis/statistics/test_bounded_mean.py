"""Gaffke's test: exact where a formula is known, else beside a slow version that draws the weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.bounded_mean import (
    compute_bounded_mean_interval,
    compute_p_of_mean_at_least,
    compute_p_of_mean_at_most,
)
from helpers.mean_shapes import SHAPES, allow_errors, draw_shape


@pytest.mark.parametrize(
    ("n", "yes", "limit"),
    [
        (30, 27, 0.7),
        (30, 30, 0.9),
        (30, 0, 0.1),
        (1, 1, 0.5),
        (2, 1, 0.5),
        (5, 3, 1e-4),
        (300, 299, 0.9),
        (10_000, 9_000, 0.89),
    ],
)
def test_of_values_of_0_and_1_it_is_the_exact_binomial_test_to_9_digits(n, yes, limit):
    values = np.repeat([1.0, 0.0], [yes, n - yes])
    above, below = (stats.binomtest(yes, n, limit, side).pvalue for side in ("greater", "less"))
    # Of the two, the smaller one is exact in itself; the other is 1 less something small.
    assert compute_p_of_mean_at_most(values, limit) == pytest.approx(above, rel=1e-9 if above < 0.5 else 1e-6)
    assert compute_p_of_mean_at_least(values, limit) == pytest.approx(below, rel=1e-9 if below < 0.5 else 1e-6)


@pytest.mark.parametrize(("n", "yes"), [(30, 27), (30, 30), (30, 0), (62, 1), (300, 150)])
def test_its_interval_is_that_of_clopper_and_pearson_to_6_digits(n, yes):
    ends = proportion_confint(yes, n, method="beta")
    assert compute_bounded_mean_interval(np.repeat([1.0, 0.0], [yes, n - yes])) == pytest.approx(ends, abs=1e-6)


def test_of_one_value_it_is_the_bound_of_markov():
    assert compute_p_of_mean_at_most(np.array([0.8]), 0.2) == pytest.approx(0.25, rel=1e-9)


def test_of_two_values_it_is_the_integral_over_the_weights():
    x, y, limit = 0.9, 0.3, 0.2

    def share_of_weights(first, second):  # of the third weight, which 0 has, the exponential tail
        return np.exp(-first - second - max((first * (x - limit) + second * (y - limit)) / limit, 0))

    expected = integrate.dblquad(share_of_weights, 0, 40, 0, 40, epsabs=1e-10)[0]
    assert compute_p_of_mean_at_most(np.array([x, y]), limit) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_it_is_what_drawn_weights_give_within_the_error_of_the_draws():
    draw = np.random.default_rng(1)
    values, limit, draws = draw.beta(2, 3, 20), 0.31, 400_000
    weights = draw.exponential(size=(draws, 21))
    share = float((weights @ (np.append(values, 0.0) - limit) <= 0).mean())
    assert compute_p_of_mean_at_most(values, limit) == pytest.approx(
        share, abs=4 * np.sqrt(share * (1 - share) / draws)
    )


def test_of_many_values_it_is_near_the_t_test():
    values = np.random.default_rng(2).beta(2, 3, 20_000)
    for limit in (0.398, 0.402):
        p = stats.ttest_1samp(values, limit, alternative="greater").pvalue
        assert compute_p_of_mean_at_most(values, limit) == pytest.approx(p, rel=0.02, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "limit", "p"), [([], 0.5, 1), ([0.0, 0.0], 0.1, 1), ([0.5, 0.7], 0, 0), ([0.5], -1, 0)]
)
def test_what_has_no_weights_is_certain(values, limit, p):
    assert compute_p_of_mean_at_most(np.array(values), limit) == p
    assert compute_bounded_mean_interval(np.zeros(0)) == (0, 1)


def test_values_that_are_mostly_1_never_show_more_than_their_number():
    """30 valid answers and no other: 10 % of invalid ones are not seen in .042 of studies."""
    lower, _ = compute_bounded_mean_interval(np.full(30, 0.9999))
    assert lower == pytest.approx(0.025 ** (1 / 30), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_at_the_limit_it_errs_in_no_more_than_its_level(shape):
    draw, studies = np.random.default_rng(3), 300
    values, mean = draw_shape(draw, shape, (studies, 30))
    for compute_p in (compute_p_of_mean_at_most, compute_p_of_mean_at_least):
        p_values = np.array([compute_p(row, mean) for row in values])
        for level in (0.025, 0.025 / 20):
            assert (p_values < level).sum() <= allow_errors(studies, level)
