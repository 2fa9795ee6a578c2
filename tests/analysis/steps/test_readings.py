"""The steps of the notebook give what the tables have, and kappa that of statsmodels."""

from __future__ import annotations

import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from analysis import runs
from analysis.measures.readings import read_reading_groups
from analysis.pages.readings import tables
from analysis.steps.readings import (
    PAIR,
    ROW,
    compute_kappas_of_sides_of_half,
    compute_wording_sd_of_each_reading,
    cross_tabulate_sides_of_half,
    list_first_model_answers_by_reading,
    select_page_rows_that_steps_recompute,
)
from helpers import reading_runs


def test_steps_agree_with_the_tables(tmp_path):
    frame = reading_runs.reading_rows(items=6, wordings=5, samples=6, no_rule=0.6)
    opened = runs.open_runs(reading_runs.write_readings(tmp_path / "run", frame))
    values = list_first_model_answers_by_reading(read_reading_groups(opened))
    spreads, sides = compute_wording_sd_of_each_reading(values), cross_tabulate_sides_of_half(values)
    table = select_page_rows_that_steps_recompute(tables.tabulate_readings(opened, resamples=0), spreads, ROW)
    assert table["wording_sd"].to_numpy(float) == pytest.approx(spreads["wording_sd"].to_numpy(float), abs=1e-12)
    pairs = select_page_rows_that_steps_recompute(
        tables.tabulate_agreement_of_reading_pairs(opened, resamples=0), sides, PAIR
    )
    assert pairs["same_side"].to_numpy(float) == pytest.approx(sides["same_side"].to_numpy(float))
    kappas = compute_kappas_of_sides_of_half(sides, cohens_kappa)
    ours = select_page_rows_that_steps_recompute(
        tables.tabulate_agreement_of_reading_pairs(opened, resamples=0), kappas, PAIR
    )
    assert ours["kappa"].to_numpy(float) == pytest.approx(kappas["kappa"].to_numpy(float), nan_ok=True)


def test_without_groups_there_are_no_values():
    assert list_first_model_answers_by_reading([]).empty
    assert compute_wording_sd_of_each_reading(list_first_model_answers_by_reading([])).empty
    assert cross_tabulate_sides_of_half(list_first_model_answers_by_reading([])).empty
