"""The built-in engine against R's lme4, lmerTest and performance: the values in tests/reference/mixed.csv."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from reference.mixed_data import FORMULAS, datasets

REFERENCE = pd.read_csv(Path(__file__).parents[3] / "reference" / "mixed.csv", keep_default_na=True)
DATA = datasets()


@pytest.fixture(scope="module", params=FORMULAS)
def pair(request):
    """(result of the built-in engine, R's rows) of one data set."""
    expected = REFERENCE[REFERENCE["dataset"] == request.param].reset_index(drop=True)
    return mixed.fit_mixed_models(DATA[request.param], FORMULAS[request.param], engine="profile"), expected


def test_coefficients(pair):
    table, expected = pair[0].table, pair[1]
    assert list(table["term"]) == list(expected["term"])
    for column, tolerance in {"estimate": 1e-6, "se": 1e-5, "df": 1e-3, "lower": 1e-4, "upper": 1e-4}.items():
        np.testing.assert_allclose(table[column], expected[column], rtol=0, atol=tolerance, err_msg=column)


def test_p_values(pair):
    table, expected = pair[0].table, pair[1]
    readable = expected["p"] > 1e-12
    np.testing.assert_allclose(table["p"][readable], expected["p"][readable], rtol=1e-4)
    assert (table["p"][~readable] < 1e-11).all()


def test_criterion_and_variances(pair):
    found, expected = pair[0].diagnostics.iloc[0], pair[1].iloc[0]
    assert found["reml"] == pytest.approx(expected["reml"], abs=1e-6)
    assert found["sigma"] == pytest.approx(expected["sigma"], abs=1e-6)
    assert found["sd_item"] == pytest.approx(expected["sd_item"], abs=1e-4)
    assert found["singular"] == expected["singular"]
    assert (found["n_rows"], found["n_items"]) == (expected["n_rows"], expected["n_items"])


def test_explained_variance(pair):
    found, expected = pair[0].diagnostics.iloc[0], pair[1].iloc[0]
    if expected["singular"]:  # R's `performance` gives none; without item variance the two are one
        assert found["r2_marginal"] == found["r2_conditional"]
        assert found["icc"] == 0
    else:
        assert found["r2_marginal"] == pytest.approx(expected["r2_marginal"], abs=1e-6)
        assert found["r2_conditional"] == pytest.approx(expected["r2_conditional"], abs=1e-6)


def test_dropped_columns(pair):
    found, expected = pair[0].diagnostics.iloc[0], pair[1].iloc[0]
    named = [part.split(":")[0] for part in found["dropped"].split("; ") if part]
    assert named == ([] if pd.isna(expected["dropped"]) else expected["dropped"].split())


def test_reference_covers_what_it_should():
    assert set(FORMULAS) <= set(REFERENCE["dataset"])
    sizes = REFERENCE.groupby("dataset")[["n_rows", "n_items", "singular", "sd_item", "sigma"]].first()
    assert sizes["n_items"].min() == 3
    assert sizes["n_rows"].max() == 31_000
    assert sizes.loc["boundary", "singular"]
    assert sizes.loc["huge", "sd_item"] > 50 * sizes.loc["huge", "sigma"]
