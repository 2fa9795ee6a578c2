"""Intervals of shares of right answers near 1, where the answer to a wording is a mean over orders of the options."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability.panel import estimate_panel_mean

pytestmark = pytest.mark.slow

ITEMS, STUDIES = 62, 500


def right(rng, hard, chance):
    """Two orders in each of three wordings: a share `hard` of the items is answered rightly by chance, all else always.

    The answers of one item go together, and the means of items are mostly 1.
    """
    of_item = np.where(rng.random(ITEMS) < hard, chance, 1.0)
    return rng.binomial(2, of_item[:, None], (ITEMS, 3)) / 2


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize(
    ("hard", "chance"), [(0.09, 0.5), (0.18, 0.75), (0.045, 0.0), (0.01, 0.5), (0.02, 0.75), (0.005, 0.0)]
)
def test_they_cover_and_stay_within_0_and_1(hard, chance, crossed):
    rng, truth, held = np.random.default_rng(0), 1 - hard * (1 - chance), 0
    for _ in range(STUDIES):
        values = right(rng, hard, chance)
        found = estimate_panel_mean(values, crossed, is_share=True)
        (low, high), (like_low, like_high) = found.compute_interval("items"), found.compute_interval("both")
        assert 0 <= like_low <= low <= found.mean <= high <= like_high <= 1
        assert found.share >= ITEMS - 1e-9  # a mean over orders varies no more than single answers do
        held += low <= truth <= high
    assert held / STUDIES >= 0.93


@pytest.mark.parametrize(("hard", "chance"), [(0.09, 0.5), (0.18, 0.75)])
def test_those_by_t_would_not(hard, chance):
    """Why Wilson's are used: the same studies of a share of .955."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(STUDIES):
        means = right(rng, hard, chance).mean(axis=1)
        half = stats.t.ppf(0.975, ITEMS - 1) * stats.sem(means)
        held += abs(means.mean() - 0.955) <= half
    assert held / STUDIES < 0.925


def test_what_is_no_share_keeps_t():
    """Agreement within 0 and 1, and a difference that happens to be 0 or 1 for every item."""
    agree = np.random.default_rng(1).beta(9, 1, (20, 4))
    means = agree.mean(axis=1)
    expected = stats.t.interval(0.95, 19, means.mean(), stats.sem(means))
    assert estimate_panel_mean(agree, False).compute_interval("items") == pytest.approx(expected, abs=1e-12)
    apart = np.zeros((20, 4))
    apart[:6] = 1
    expected = stats.t.interval(0.95, 19, 0.3, stats.sem(apart.mean(axis=1)))
    assert estimate_panel_mean(apart, False, is_share=False).compute_interval("items") == pytest.approx(
        expected, abs=1e-12
    )
    assert np.isnan(estimate_panel_mean(np.zeros((20, 4)), False, is_share=False).compute_interval("both")).all()
