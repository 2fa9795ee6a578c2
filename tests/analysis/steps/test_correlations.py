"""Measures are paired with size, benchmarks and accuracy, and correlated by functions of pingouin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.steps.correlations import (
    PAIR,
    correlate_measures_with_facts_by_pingouin,
    pair_measures_with_facts,
    pivot_measures_by_model,
    select_recomputable_headline_coefficients,
)
from analysis.steps.rows import compute_by_group

MODELS = list("abcde")
FACTS = pd.DataFrame(
    {"parameters": [6.0, 7.0, 8.0, 9.0, 10.0], "Exam": [1.0, 2.0, np.nan, 4.0, 3.0], "Other": np.nan}, MODELS
)


def build_values(values=(0.1, 0.3, 0.2, 0.4, 0.5), accuracy=(0.5, 0.6, 0.4, 0.9, 0.8), **fields) -> pd.DataFrame:
    """The values of one measure, a row per model."""
    about = {"page": "p", "study": "s", "condition": "c", "measure": "Range", "compared": True, "silent": False,
             "headline": True}  # fmt: skip
    return pd.DataFrame({**about, "model": MODELS, "value": values, "accuracy": accuracy, **fields})


def test_a_measure_is_paired_with_what_is_known_of_its_models():
    pairs = pair_measures_with_facts(build_values(), FACTS)
    assert pairs["benchmark"].unique().tolist() == ["parameters", "Exam", "accuracy"]
    assert pairs[pairs["benchmark"] == "accuracy"]["score"].tolist() == [0.5, 0.6, 0.4, 0.9, 0.8]
    assert pairs[pairs["benchmark"] == "Exam"]["size"].tolist() == FACTS["parameters"].tolist()
    assert pivot_measures_by_model(pairs)["Range, s"].to_dict() == dict(
        zip(MODELS, [0.1, 0.3, 0.2, 0.4, 0.5], strict=True)
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"compared": False},
        {"headline": False},
        {"silent": [True, True, False, False, False]},
        {"values": [0.1, None, None, 0.4, 0.5]},
    ],
)
def test_values_that_are_not_compared_and_measures_of_few_models_are_left_out(fields):
    pairs = pair_measures_with_facts(build_values(**fields), FACTS)
    assert pairs.empty
    assert pivot_measures_by_model(pairs).empty
    assert compute_by_group(pairs, PAIR, "rho", stats.spearmanr, ["value", "score"]).empty


def test_pingouin_is_given_complete_rows_and_ranks_for_spearman():
    pingouin = pytest.importorskip("pingouin")
    values = build_values([0.1, 0.3, np.inf, 0.4, 0.5])
    found = correlate_measures_with_facts_by_pingouin(
        pair_measures_with_facts(values, FACTS), pingouin.pairwise_corr, pingouin.partial_corr
    )
    r = found.set_index(["benchmark", "method"])["r"]
    assert r["parameters", "spearman"] == pytest.approx(stats.spearmanr([1, 2, 5, 3, 4], [1, 2, 3, 4, 5]).statistic)
    assert r["Exam", "pearson"] == pytest.approx(np.corrcoef([0.1, 0.3, 0.4, 0.5], [1, 2, 4, 3])[0, 1])
    x, y, z = [0.1, 0.3, 0.4, 0.5], [0.5, 0.6, 0.9, 0.8], [6, 7, 9, 10]
    xy, xz, yz = (np.corrcoef(*pair)[0, 1] for pair in ([x, y], [x, z], [y, z]))
    assert r["accuracy", "pearson given size"] == pytest.approx((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)))
    assert ("parameters", "pearson given size") not in r
    constant = correlate_measures_with_facts_by_pingouin(
        pair_measures_with_facts(build_values(values=0.5), FACTS), pingouin.pairwise_corr, pingouin.partial_corr
    )
    assert constant["r"].isna().all()


def test_undefined_and_perfect_partial_coefficients_are_not_compared():
    about = {"page": "p", "study": "s", "condition": "c", "measure": "Range", "benchmark": "Exam", "n": 5}
    table = pd.DataFrame([
        {**about, "method": method, "r": r, "headline": headline}
        for method, r, headline in [
            ("pearson", 1.0, True), ("pearson given size", -1.0, True), ("spearman", np.nan, True),
            ("spearman given size", 0.5, False),
        ]
    ])  # fmt: skip
    assert select_recomputable_headline_coefficients(table)["method"].tolist() == ["pearson"]
    assert select_recomputable_headline_coefficients(pd.DataFrame()).empty
