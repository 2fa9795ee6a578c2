"""Hoeffding's bound of a mean: at least the exact p of the binomial test, never wrong too often, and its interval."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.statistics import partly_known_mean
from analysis.statistics.partly_known_mean import (
    compute_p_of_partly_known_mean_at_least,
    compute_p_of_partly_known_mean_at_most,
    compute_partly_known_mean_interval,
)


def test_the_examples_are_right():
    assert doctest.testmod(partly_known_mean).failed == 0


@pytest.mark.parametrize(("hits", "n", "limit"), [(30, 30, 0.9), (95, 100, 0.9), (60, 100, 0.5), (3, 40, 0.2)])
def test_p_is_at_least_that_of_the_exact_test(hits, n, limit):
    at_most = compute_p_of_partly_known_mean_at_most(hits / n, n, limit)
    at_least = compute_p_of_partly_known_mean_at_least(hits / n, n, limit)
    assert at_most >= binomtest(hits, n, limit, "greater").pvalue - 1e-12
    assert at_least >= binomtest(hits, n, limit, "less").pvalue - 1e-12
    assert min(at_most, at_least) < max(at_most, at_least) == 1


def test_what_lies_between_the_bounds_counts_for_neither_side():
    assert compute_p_of_partly_known_mean_at_most(0.4, 1000, 0.6) == 1
    assert compute_p_of_partly_known_mean_at_least(0.9, 1000, 0.6) == 1


def test_an_item_with_more_weight_makes_the_test_more_careful_and_it_errs_seldom():
    """Of 40 items at the limit, 20 of which have five times as many wordings: n is 1 divided by the largest weight."""
    draw, weights = np.random.default_rng(1), np.repeat([1.0, 5.0], 20)
    weights /= weights.sum()
    means = (draw.random((4000, 40)) < 0.8) @ weights
    p = [compute_p_of_partly_known_mean_at_most(mean, 1 / weights.max(), 0.8) for mean in means]
    assert np.mean(np.array(p) < 0.025) <= 0.025


def test_the_ends_of_the_interval_are_where_p_is_the_level():
    low, high = compute_partly_known_mean_interval(0.7, 0.9, 50, 0.025)
    assert compute_p_of_partly_known_mean_at_most(0.7, 50, low) == pytest.approx(0.025, rel=1e-9)
    assert compute_p_of_partly_known_mean_at_least(0.9, 50, high) == pytest.approx(0.025, rel=1e-9)
    assert compute_partly_known_mean_interval(0.0, 1.0, 50, 0.025) == (0.0, 1.0)
