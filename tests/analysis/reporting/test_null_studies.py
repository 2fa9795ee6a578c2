"""First sentences about models among which there is nothing to find: a small tests/benchmarks/bench_null.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "bench_null.py"
STUDIES = 50  # a rule that claims something in .27, as ten choices one by one, is missed with a probability of .05


@pytest.fixture(scope="module")
def null():
    described = importlib.util.spec_from_file_location("bench_null", BENCHMARK)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def claimed(null):
    """Name of a cell -> number of studies that claim something: one by one, and now.

    Of ten models, among which rules without a correction claim most, or of five, where pairs are named.
    """
    cells = {name: claim for name, models, claim in null.list_cells() if models <= 10}  # the last: most models
    return {
        name: np.multiply(STUDIES, null.measure_cell(claim, STUDIES, seed))
        for seed, (name, claim) in enumerate(cells.items())
    }


def test_one_study_of_twenty_claims_something_at_most(claimed):
    most = binom.isf(0.001, STUDIES, 0.05)
    assert {cell: now for cell, (_, now) in claimed.items() if now > most} == {}
    total = sum(now for _, now in claimed.values())
    assert total <= binom.isf(0.01, STUDIES * len(claimed), 0.05)


def test_the_studies_would_show_a_rule_without_correction(claimed):
    """Ten models judged one by one, and a reliability by its estimate, claim something far more often."""
    for name in ("a reliability: identical, own wordings", "answers change: flips at the limit, .10",
                 "choices change: at the limit, .05", "negation costs: at the limit, 5 points"):  # fmt: skip
        assert claimed[name][0] > binom.isf(0.001, STUDIES, 0.05), name
