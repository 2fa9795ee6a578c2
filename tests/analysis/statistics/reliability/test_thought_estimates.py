"""Answers from 8 thoughts beside those from many: bias, interval and counted answers; benchmarks ask the model."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import runs
from analysis.measures.reworded import AGREEMENT
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from helpers.thinking_runs import write_thinking_run
from helpers.thought_resampling import check_estimates, draw_thoughts, estimate_ratio


@pytest.fixture(scope="module")
def thoughts():
    """What 400 thoughts of every prompt say: two kinds of them, unequal masses, and some without an end."""
    rng = np.random.default_rng(31)
    shape = (24, 2, 400)
    lean = rng.beta(1.5, 1.5, (24, 1, 1)) + rng.uniform(-0.2, 0.2, (24, 2, 1))
    share = np.where(rng.random(shape) < lean, rng.beta(8, 1, shape), rng.beta(1, 6, shape))
    mass = rng.uniform(0.6, 1, shape)
    has_ended = rng.random(shape) < 0.9
    return np.where(has_ended, share * mass, np.nan), np.where(has_ended, mass, np.nan)


@pytest.mark.slow
def test_eight_thoughts_are_unbiased_their_interval_covers_and_counting_varies_more(thoughts):
    checked = check_estimates(np.random.default_rng(32), *thoughts, draws=1000, studies=500)
    assert abs(checked.bias) < 0.002 and checked.largest_bias < 0.005 + 3 * checked.largest_error
    assert 0.92 < checked.coverage < 0.98
    assert checked.worse == 0 and checked.variance < 0.8 * checked.counting


def test_the_ratio_that_is_checked_is_the_one_of_the_page(thoughts, tmp_path):
    yes, mass, _ = draw_thoughts(np.random.default_rng(33), *thoughts, 8)
    ratio, spread, number = estimate_ratio(yes, mass)
    has_ended = ~np.isnan(mass)
    share = np.where(has_ended, yes / mass, 0.5)
    run = write_thinking_run(tmp_path / "run", share, np.where(has_ended, mass, 1.0), has_ended, crossed=False)
    study = next(study for study in read_reworded_studies(runs.open_runs(run)) if study.measure == AGREEMENT)
    assert study.values[0] == pytest.approx(ratio, abs=1e-12)
    assert study.spread[0] == pytest.approx(spread, abs=1e-12, nan_ok=True)
    assert study.samples[0] == pytest.approx(number, nan_ok=True)
