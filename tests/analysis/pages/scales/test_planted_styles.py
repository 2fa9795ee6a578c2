"""Planted response styles come out, and none is claimed where there is none (larger: bench_scale_styles.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow
BENCH = Path(__file__).resolve().parents[3] / "benchmarks" / "bench_scale_styles.py"
STUDIES = 30  # three standard errors: .18 of acquiescence, .08 of order, .06 of ends, .03 of the score; bench: more


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_scale_styles", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("crossed", [False, True], ids=["own wordings", "shared wordings"])
def test_planted_styles_come_out_from_ten_items_on(bench, crossed):
    """Bias below 2 % of what was planted, or within three standard errors of so few studies; coverage of 500: bench."""
    parts = [bench.simulate_planted(seed, items=10, scales=1, crossed=crossed) for seed in range(STUDIES)]
    table = bench.summarize(parts)
    assert set(table.index) == {"acquiescence", "ends", "order", "score"}
    assert (table["bias"].abs() < np.maximum(0.02, 3 * table["bias_error"])).all(), table
    shown = table["coverage"].dropna()
    assert set(table.index) - set(shown.index) == ({"ends"} if crossed else set())  # it would cover .90 to .94
    assert (shown >= 0.92 - 2 * np.sqrt(0.95 * 0.05 / STUDIES)).all(), table


@pytest.mark.parametrize("crossed", [False, True], ids=["own wordings", "shared wordings"])
def test_no_style_is_claimed_where_there_is_none(bench, crossed):
    """In at most 5 % of the studies, up to two standard errors of so few."""
    claimed = np.mean([bench.simulate_neutral(seed, items=10, scales=1, crossed=crossed) for seed in range(STUDIES)])
    assert claimed <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / STUDIES)
