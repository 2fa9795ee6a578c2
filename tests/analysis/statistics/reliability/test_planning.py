"""Designs reach what was asked for, with no item too many."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.reliability.forecast import error, largest, of_flips, of_mean
from analysis.statistics.reliability.panel import panel
from analysis.statistics.reliability.planning import designs, needed_error
from analysis.statistics.reliability.sampling import Sampled


def answers(rng, items, wordings, shared=0.05):
    return (
        rng.normal(0, 0.3, (items, 1)) + rng.normal(0, shared, (1, wordings)) + rng.normal(0, 0.2, (items, wordings))
    )  # fmt: skip


@pytest.mark.parametrize("crossed", [True, False])
def test_designs_reach_the_error_with_the_fewest_items(crossed):
    drawn = [answers(np.random.default_rng(seed), 30, 6) for seed in range(2)]
    pilots, panels = [of_mean(each, crossed) for each in drawn], [panel(each, crossed) for each in drawn]
    found = designs(pilots, 0.03, crossed=crossed)
    assert found
    for design in found:
        expected = max(each.error_at(design.items, design.wordings) for each in panels)
        assert design.error == pytest.approx(expected, abs=1e-12) and design.error <= 0.03
        assert max(each.error_at(design.items - 1, design.wordings) for each in panels) > 0.03
        assert design.prompts == design.items * design.wordings == design.cost and design.samples is None
    assert [design.cost for design in found] == sorted(design.cost for design in found)


def test_shared_wordings_that_differ_too_much_allow_no_design_with_few():
    found = designs([of_mean(answers(np.random.default_rng(0), 40, 10, shared=0.3), True)], 0.05, crossed=True)
    assert found and min(design.wordings for design in found) > 10


def test_costs_choose_the_design():
    pilot = [of_mean(answers(np.random.default_rng(1), 30, 6), False)]
    dear_items = designs(pilot, 0.03, crossed=False, cost_item=100, cost_wording=0.01)[0]
    dear_wordings = designs(pilot, 0.03, crossed=False, cost_item=0.01, cost_wording=1)[0]
    assert dear_items.wordings > dear_wordings.wordings and dear_items.items < dear_wordings.items
    assert dear_items.cost == pytest.approx(100 * dear_items.items + 0.01 * dear_items.prompts)


def test_designs_of_sampled_texts_count_every_text():
    pilot = of_mean(answers(np.random.default_rng(2), 30, 6), False, Sampled(0.1, 10.0, np.nan))
    found = designs([pilot], 0.05, crossed=False, samples=(1, 10))
    assert {design.samples for design in found} == {1, 10}
    for design in found:
        assert design.prompts == design.items * design.wordings * design.samples
        assert largest([pilot], design.items, design.wordings, design.samples) == design.error <= 0.05
    items = {(design.wordings, design.samples): design.items for design in found}
    assert all(items[k, 10] < items[k, 1] for k in (1, 2, 5))


def test_flips_need_two_wordings():
    pilot = of_flips(np.random.default_rng(3).random((40, 9)) - np.linspace(0, 1, 40)[:, None] + 0.5, 0.2)
    found = designs([pilot], 0.06, crossed=False)
    assert min(design.wordings for design in found) == 2
    assert all(error(pilot, design.items, design.wordings) <= 0.06 for design in found)


def test_the_error_that_a_difference_needs_has_the_power():
    """Within 2 points, over 2,000 simulated studies."""
    error = needed_error(0.1, 0.8)
    drawn = np.random.default_rng(3).normal(0.1, error, 2000)
    assert (np.abs(drawn) > 1.96 * error).mean() == pytest.approx(0.8, abs=0.02)
