"""Range, flips and SD at k wordings are the means over all subsets of k."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from analysis.statistics.reliability.at_k import flips_at, range_at
from analysis.statistics.reliability.templates import intervals, summary


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_at_k_is_the_mean_over_all_subsets(k):
    rng = np.random.default_rng(0)
    values = np.round(rng.random((4, 7)), 1)  # with ties, and answers of exactly 0.5
    values[1, 5:] = np.nan
    found, flips = range_at(values, k), flips_at(values, k, 0.2)
    for row, own in enumerate(values):
        known = own[~np.isnan(own)]
        if len(known) < k:
            assert np.isnan(found[row]) and np.isnan(flips[row])
            continue
        drawn = np.array(list(combinations(known, k)))
        agree = (drawn >= 0.5).sum(axis=1)
        assert found[row] == pytest.approx(np.ptp(drawn, axis=1).mean(), abs=1e-12)
        assert flips[row] == pytest.approx((np.minimum(agree, k - agree) / k > 0.2).mean(), abs=1e-12)
        assert drawn.var(axis=1, ddof=1).mean() == pytest.approx(known.var(ddof=1), abs=1e-12)


def test_many_wordings_are_no_overflow():
    values = np.random.default_rng(1).random((2, 500))
    assert range_at(values, 500) == pytest.approx(np.ptp(values, axis=1), abs=1e-9)
    assert (np.diff([range_at(values, k).mean() for k in (2, 5, 50, 400)]) > 0).all()


def test_templates_are_summed_up_as_printed():
    """MaxP .8, AvgP .6, saturation 1 - (.8 - .6) = .8, combined .8 x .8 (Mizrahi et al., section 5)."""
    found = summary(np.array([0.8, 0.6, 0.4]))
    expected = {"highest": 0.8, "mean": 0.6, "lowest": 0.4, "range": 0.4, "sd": 0.2, "gain": 0.2, "saturation": 0.8,
                "combined": 0.64, "q50": 0.6, "q25": 0.5, "q05": 0.42}  # fmt: skip
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=1e-12)


def test_templates_have_intervals_unless_they_cannot():
    right = (np.random.default_rng(2).random((80, 4)) < [0.3, 0.5, 0.5, 0.8]).astype(float)
    found = intervals(right)
    assert np.isnan(found.pop("sd")[1:]).all()
    assert all(low < value < high for value, low, high in found.values())
    assert intervals(right[:, :1])["highest"][1] == pytest.approx(
        binomtest(int(right[:, 0].sum()), 80).proportion_ci(0.95, method="wilson").low, abs=1e-12
    )  # of one template, nothing is chosen
    sure = intervals(np.ones((5, 3)))["highest"]
    assert sure[1] < 0.6 and sure[2] == 1  # five right answers are no certainty
    assert np.isnan(intervals(right[:1])["mean"][1:]).all()


@pytest.mark.parametrize(("spread", "items"), [(0.0, 62), (0.3, 62), (0.1, 200)])
def test_intervals_over_templates_hold(spread, items):
    """Draws of items covered .6 to .8 of highest, range and gain where templates hardly differ: now .90 or more."""
    rng, held = np.random.default_rng(5), Counter()
    for _ in range(100):
        levels = rng.normal(0.5, spread, 5)
        right = rng.normal(size=(items, 1)) + rng.normal(0, 0.5, (items, 5)) + levels > 0
        truth = summary(norm.cdf(levels / np.sqrt(1.25)))
        for name, (_, low, high) in intervals(right.astype(float)).items():
            held[name] += low - 1e-12 <= truth[name] <= high + 1e-12
    assert held.pop("sd") == 0
    assert min(held.values()) >= 90 - 6  # two standard errors of the simulation
