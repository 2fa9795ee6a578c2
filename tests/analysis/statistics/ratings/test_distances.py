"""Distances of distributions against scipy and slow sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from analysis.statistics.ratings.distances import compute_total_variation, compute_wasserstein


@pytest.mark.parametrize("k", [2, 3, 5, 11])
def test_distances_are_those_of_scipy_and_of_slow_sums(k):
    p, q = np.random.default_rng(k).dirichlet(np.ones(k), (2, 20))
    ranks = np.arange(1, k + 1)
    expected = [wasserstein_distance(ranks, ranks, a, b) / (k - 1) for a, b in zip(p, q, strict=True)]
    np.testing.assert_allclose(compute_wasserstein(p, q), expected, atol=1e-12)
    slow = [sum(abs(float(x) - float(y)) for x, y in zip(a, b, strict=True)) / 2 for a, b in zip(p, q, strict=True)]
    np.testing.assert_allclose(compute_total_variation(p, q), slow, atol=1e-12)


def test_places_beyond_the_last_option_change_nothing():
    p, q = np.random.default_rng(1).dirichlet(np.ones(4), 2)
    longer = [np.append(values, [0, 0]) for values in (p, q)]
    assert compute_wasserstein(*longer, 4) == pytest.approx(float(compute_wasserstein(p, q)), abs=1e-15)


def test_hand_made_distances():
    """Santurkar et al. 2023: from all on 1 to all on 4 of 4 it is 3, of 3 at most; neighbours are a third apart."""
    first, second, last = np.eye(4)[[0, 1, 3]]
    assert compute_wasserstein(first, last) == 1
    assert compute_wasserstein(first, second) == pytest.approx(1 / 3)
    assert compute_total_variation(first, second) == compute_total_variation(first, last) == 1
    assert compute_wasserstein(first, first) == 0
