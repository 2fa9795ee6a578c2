"""Designs reach what was asked for, with no item too many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability.flips import build_flip_share_error_forecast
from analysis.statistics.reliability.forecast import (
    MeanForecast,
    build_mean_error_forecast,
    predict_standard_error,
)
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.planning import Goal, compute_power_of_difference_test, list_sufficient_designs
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.reliability.sampling import SampleSpread

pytestmark = pytest.mark.slow


def answers(rng, items, wordings, shared=0.05):
    return (
        rng.normal(0, 0.3, (items, 1)) + rng.normal(0, shared, (1, wordings)) + rng.normal(0, 0.2, (items, wordings))
    )  # fmt: skip


@pytest.mark.parametrize("crossed", [True, False])
def test_designs_reach_the_error_with_the_fewest_items(crossed):
    drawn = [answers(np.random.default_rng(seed), 30, 6) for seed in range(2)]
    pilots, panels = (
        [build_mean_error_forecast(each, crossed) for each in drawn],
        [estimate_panel_mean(each, crossed) for each in drawn],
    )
    found = list_sufficient_designs(pilots, Goal(0.03), crossed=crossed)
    assert found
    for design in found:
        expected = max(each.predict_standard_error_at_size(design.items, design.wordings) for each in panels)
        assert design.error == pytest.approx(expected, abs=1e-12) and design.error <= 0.03
        assert max(each.predict_standard_error_at_size(design.items - 1, design.wordings) for each in panels) > 0.03
        assert design.prompts == design.items * design.wordings == design.cost and design.samples is None
    assert [design.cost for design in found] == sorted(design.cost for design in found)


def test_shared_wordings_that_differ_too_much_allow_no_design_with_few():
    found = list_sufficient_designs(
        [build_mean_error_forecast(answers(np.random.default_rng(0), 40, 10, shared=0.3), True)],
        Goal(0.05),
        crossed=True,
    )
    assert found and min(design.wordings for design in found) > 10


def test_costs_choose_the_design():
    pilot = [build_mean_error_forecast(answers(np.random.default_rng(1), 30, 6), False)]
    dear_items = list_sufficient_designs(pilot, Goal(0.03), crossed=False, cost_item=100, cost_wording=0.01)[0]
    dear_wordings = list_sufficient_designs(pilot, Goal(0.03), crossed=False, cost_item=0.01, cost_wording=1)[0]
    assert dear_items.wordings > dear_wordings.wordings and dear_items.items < dear_wordings.items
    assert dear_items.cost == pytest.approx(100 * dear_items.items + 0.01 * dear_items.prompts)


def test_designs_of_sampled_texts_count_every_text():
    pilot = build_mean_error_forecast(answers(np.random.default_rng(2), 30, 6), False, SampleSpread(0.1, 10.0, np.nan))
    found = list_sufficient_designs([pilot], Goal(0.05), crossed=False, samples=(1, 10))
    assert {design.samples for design in found} == {1, 10}
    for design in found:
        assert design.prompts == design.items * design.wordings * design.samples
        assert predict_standard_error(pilot, design.items, design.wordings, design.samples) == design.error <= 0.05
    items = {(design.wordings, design.samples): design.items for design in found}
    assert all(items[k, 10] < items[k, 1] for k in (1, 2, 5))


def test_flips_need_two_wordings():
    pilot = build_flip_share_error_forecast(
        np.random.default_rng(3).random((40, 9)) - np.linspace(0, 1, 40)[:, None] + 0.5, 0.2
    )
    found = list_sufficient_designs([pilot], Goal(0.06), crossed=False)
    assert min(design.wordings for design in found) == 2
    assert all(predict_standard_error(pilot, design.items, design.wordings) <= 0.06 for design in found)


def test_power_with_own_wordings_is_that_of_a_noncentral_t():
    pilot = MeanForecast(0.09, 0.0, 0.04)
    for items, wordings, difference in ((5, 2, 0.3), (20, 4, 0.15), (200, 10, 0.05)):
        error = np.sqrt((0.09 + 0.04 / wordings) / items)
        limit, shift = stats.t.ppf(0.975, items - 1), difference / error
        expected = stats.nct.sf(limit, items - 1, shift) + stats.nct.cdf(-limit, items - 1, shift)
        assert compute_power_of_difference_test(pilot, difference, items, wordings, crossed=False) == pytest.approx(
            expected, abs=0.005
        )


@pytest.mark.parametrize(
    ("items", "wordings", "difference"), [(62, 5, 0.18), (300, 5, 0.12), (30, 20, 0.18), (300, 2, 0.5)]
)
def test_power_with_shared_wordings_is_that_of_the_test(items, wordings, difference):
    """Within 2 points, and two standard errors, of the share of 600 simulated studies that find the difference."""
    rng = np.random.default_rng(items)
    drawn = [estimate_panel_mean(difference + answers(rng, items, wordings, 0.07), True) for _ in range(600)]
    foreseen = compute_power_of_difference_test(
        MeanForecast(0.09, 0.07**2, 0.04), difference, items, wordings, crossed=True
    )
    seen = np.mean([compute_p_of_panel_mean_against_value(each, "both") < 0.05 for each in drawn])
    assert 0.3 < foreseen < 0.95
    assert seen == pytest.approx(foreseen, abs=0.02 + 2 * np.sqrt(foreseen * (1 - foreseen) / 600))


@pytest.mark.parametrize("crossed", [True, False])
def test_designs_find_a_difference_with_the_fewest_items(crossed):
    pilots = [build_mean_error_forecast(answers(np.random.default_rng(seed), 30, 6), crossed) for seed in range(2)]
    found = list_sufficient_designs(pilots, Goal(difference=0.1, power=0.9), crossed=crossed)
    assert found and (not crossed or min(design.wordings for design in found) > 1)  # one shared wording has no test
    for design in found[:5]:
        powers = [
            min(compute_power_of_difference_test(each, 0.1, items, design.wordings, crossed=crossed) for each in pilots)
            for items in (design.items - 1, design.items)
        ]
        assert powers[0] < 0.9 <= powers[1]


def test_a_test_needs_two_items_and_two_shared_wordings():
    pilot = MeanForecast(0.09, 0.01, 0.04)
    assert np.isnan(
        [
            compute_power_of_difference_test(pilot, 1.0, 1, 5, crossed=True),
            compute_power_of_difference_test(pilot, 1.0, 5, 1, crossed=True),
        ]
    ).all()
    assert compute_power_of_difference_test(MeanForecast(0.0, 0.0, 0.0), 0.1, 5, 5, crossed=True) == 1
