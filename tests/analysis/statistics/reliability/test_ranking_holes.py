"""The reliability of a ranking where items have only some of the shared wordings."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.reliability.components import estimate_model_variance_components
from analysis.statistics.reliability.generalizability import (
    compute_relative_coefficient,
    compute_relative_coefficient_interval,
)
from helpers.ranked_models import draw_answers
from helpers.unlike_items import Design


@pytest.mark.slow
@pytest.mark.parametrize("design", [Design(5, 19), Design(4, 8), Design(5, 5, crossed=False)], ids=str)
def test_intervals_cover_the_reliability_of_the_wordings_that_items_have(design):
    """A small version of tests/benchmarks/bench_ranking_holes.py; before: .63 with 5 of 19 wordings."""
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(120):
        answers, truth = draw_answers(rng, n_models=6, n_items=62, design=design, spread=0.5)
        components = estimate_model_variance_components(answers, design.crossed)
        low, high = compute_relative_coefficient_interval(components)
        if low == low:
            assert (
                0
                <= low
                <= compute_relative_coefficient(components, components.n_items, components.n_wordings)
                <= high
                <= 1
            )
            covered.append(low <= truth <= high)
    assert len(covered) > 100
    assert np.mean(covered) >= 0.92 - 2 * np.sqrt(0.08 * 0.92 / len(covered))


def test_nothing_is_told_from_too_few_wordings_of_few_items():
    rng = np.random.default_rng(8)
    for _ in range(20):
        answers, _ = draw_answers(rng, n_models=6, n_items=10, design=Design(2, 19), spread=0.0)
        components = estimate_model_variance_components(answers, crossed=True)
        assert components is None or np.isnan(compute_relative_coefficient_interval(components)).all()
