"""Designs reach what was asked for, with no item too many, and a pilot foresees the whole."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.reliability.panel import panel
from analysis.statistics.reliability.planning import designs, needed_error


def answers(rng, items, wordings, shared=0.05):
    return (
        rng.normal(0, 0.3, (items, 1)) + rng.normal(0, shared, (1, wordings)) + rng.normal(0, 0.2, (items, wordings))
    )  # fmt: skip


@pytest.mark.parametrize("crossed", [True, False])
def test_designs_reach_the_error_with_the_fewest_items(crossed):
    panels = [panel(answers(np.random.default_rng(seed), 30, 6), crossed) for seed in range(2)]
    found = designs(panels, 0.03)
    assert found
    for design in found:
        assert design.error <= 0.03
        assert max(each.error_at(design.items - 1, design.wordings) for each in panels) > 0.03
        assert design.prompts == design.items * design.wordings == design.cost
    assert [design.cost for design in found] == sorted(design.cost for design in found)


def test_shared_wordings_that_differ_too_much_allow_no_design_with_few():
    found = designs([panel(answers(np.random.default_rng(0), 40, 10, shared=0.3), True)], 0.05)
    assert found and min(design.wordings for design in found) > 10


def test_costs_choose_the_design():
    pilot = [panel(answers(np.random.default_rng(1), 30, 6), False)]
    dear_items, dear_wordings = designs(pilot, 0.03, 100, 0.01)[0], designs(pilot, 0.03, 0.01, 1)[0]
    assert dear_items.wordings > dear_wordings.wordings and dear_items.items < dear_wordings.items
    assert dear_items.cost == pytest.approx(100 * dear_items.items + 0.01 * dear_items.prompts)


def test_a_tenth_of_the_wordings_foresees_the_error_of_the_others():
    """62 items in 500 wordings of their own: within 10 %."""
    values = answers(np.random.default_rng(2), 62, 500, shared=0)
    pilot, rest = panel(values[:, :50], False), panel(values[:, 50:], False)
    assert pilot.error_at(62, 450) == pytest.approx(rest.error("both"), rel=0.1)


def test_the_error_that_a_difference_needs_has_the_power():
    """Within 2 points, over 2,000 simulated studies."""
    error = needed_error(0.1, 0.8)
    drawn = np.random.default_rng(3).normal(0.1, error, 2000)
    assert (np.abs(drawn) > 1.96 * error).mean() == pytest.approx(0.8, abs=0.02)
