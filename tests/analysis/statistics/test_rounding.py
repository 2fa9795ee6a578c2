"""What is rounding, and what is variation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics import correlation
from analysis.statistics.rounding import NOISE, are_scores_constant, remove_rounding_noise

SCORES = st.lists(st.floats(0, 9, allow_subnormal=False), min_size=1, max_size=12)


@given(SCORES)
def test_scores_without_noise_stay_what_they_are(values):
    values = np.round(np.array(values), 6)  # differences are 1e-6 or nothing
    np.testing.assert_array_equal(remove_rounding_noise(values, 9.0), values)


@given(SCORES, st.integers(0, 99))
def test_noise_is_taken_away_and_nothing_else(values, seed):
    values = np.round(np.array(values), 3)
    noisy = values + np.random.default_rng(seed).uniform(-1e-12, 1e-12, len(values))
    found = remove_rounding_noise(noisy, 9.0)
    assert np.abs(found - values).max() < 1e-11
    assert len(np.unique(found)) == len(np.unique(values))


@pytest.mark.parametrize("scale", [1.0, 9.0, 1e6])
def test_the_limit_is_a_standard_deviation_of_1e_9_of_the_scale(scale):
    shape = np.array([-1.0, 1, -1, 1])  # its standard deviation is 1
    assert are_scores_constant(5 + shape * scale * NOISE * 0.9, scale)
    assert not are_scores_constant(5 + shape * scale * NOISE * 1.1, scale)


def test_correlations_over_models_do_not_take_noise_for_a_measure():
    """r was .52 and rho .60 between scores and the noise on a constant."""
    x = np.arange(5.0)
    noisy = 0.7 + 1e-13 * np.array([1.0, 0, 3, 2, 4])
    for method in correlation.METHODS:
        for pair in ((x, noisy), (noisy, x)):
            found = correlation.correlate_over_models(*pair, method=method)
            assert np.isnan([found.r, found.p]).all() and found.caution == correlation.CONSTANT


def test_what_the_given_variable_explains_is_said_to_be_explained():
    rng = np.random.default_rng(0)
    x, given_ = rng.normal(size=8), np.arange(8.0)
    found = correlation.correlate_over_models(x, 3 * given_ + 1, control=given_)
    assert np.isnan(found.r) and found.caution == correlation.EXPLAINED
