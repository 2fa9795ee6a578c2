"""The built-in engine against R's lme4, lmerTest and performance: the values in tests/reference/mixed.csv."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from ground.errors import InputError
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


def make_small_frame(n_predictors: int, seed: int = 1) -> tuple[pd.DataFrame, str]:
    """Nine answers, three to each of three items, and a formula with that many predictors."""
    rng = np.random.default_rng(seed)
    names = [f"x{number}" for number in range(n_predictors)]
    frame = pd.DataFrame(rng.normal(size=(9, n_predictors)), columns=names)
    frame = frame.assign(item=np.repeat(list("abc"), 3), y=rng.normal(size=9))
    return frame, f"y ~ {' + '.join(names)} + (1 | item)"


def test_two_variances_are_not_estimated_from_one_number():
    """With 9 answers and 8 coefficients the criterion of statsmodels is the same for every variance of the items."""
    mixed_linear_model = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    for n_predictors, is_flat in ((7, True), (3, False)):
        frame, formula = make_small_frame(n_predictors)
        design = np.column_stack([np.ones(9), frame.filter(like="x")])
        reference = mixed_linear_model.MixedLM(frame["y"], design, frame["item"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference.fit(reml=True)  # sets what loglike needs
        build = mixed_linear_model.MixedLMParams.from_components
        found = [
            reference.loglike(build(np.zeros(n_predictors + 1), cov_re=np.array([[phi]]))) for phi in (0.1, 1, 10, 100)
        ]
        assert bool(np.ptp(found) < 1e-6) is is_flat
        if is_flat:
            with pytest.raises(InputError, match="9 rows cannot carry 8 coefficients and 2 variances"):
                mixed.fit_mixed_models(frame, formula)
        else:
            assert (mixed.fit_mixed_models(frame, formula).table["df"] > 1).all()


def test_variances_that_the_rows_do_not_determine_are_refused():
    predictors = {"x": [0, 1, 0, -1, 0, 2.0], "z": [0, 1, 0, 2, 0, -1.0], "w": [0, 1, 0, 5.0, 0, 1]}
    frame = pd.DataFrame({"item": list("aabbcc"), "y": [0.3, 0.1, 0.9, 0.4, 0.2, 0.8], **predictors})
    with pytest.raises(InputError, match="6 rows and 4 coefficients do not determine the variances of item and resid"):
        mixed.fit_mixed_models(frame, "y ~ x + z + w + (1 | item)")


def test_a_formula_of_which_nothing_is_left_is_refused():
    """It ended in a ValueError of NumPy."""
    frame = pd.DataFrame({"item": list("aabbcc"), "y": [0.3, 0.1, 0.9, 0.4, 0.2, 0.8], "x": 0.0})
    with pytest.raises(InputError, match="no coefficient is left to fit: x is 0 in all rows"):
        mixed.fit_mixed_models(frame, "y ~ 0 + x + (1 | item)")


@pytest.mark.parametrize("answers", [[0.0, 0, 1, 1, 1, 1, 0, 1], [0.82, 0.02, 0.95, 0.35, 0.82, 0.34, 0.09, 0.74]])
def test_predictors_that_explain_all_item_means_are_refused(answers):
    """The criterion is flat: it ended in a ValueError of SciPy, or in tests as if items did not vary."""
    frame = pd.DataFrame({"item": list("aaaabbbb"), "y": answers, "x": np.repeat([0.902, -0.224], 4)})
    with pytest.raises(InputError, match="8 rows and 2 coefficients do not determine the variances of item and resid"):
        mixed.fit_mixed_models(frame, "y ~ x + (1 | item)")


@pytest.mark.parametrize("seed", range(20))
def test_a_small_fit_has_intervals_or_is_refused(seed):
    for n_predictors in (4, 5, 6, 7):
        frame, formula = make_small_frame(n_predictors, seed)
        try:
            table = mixed.fit_mixed_models(frame, formula).table
        except InputError:
            continue
        assert (table["df"] >= 0.1).all()
        assert np.isfinite(table[["estimate", "se", "lower", "upper", "p"]]).all(axis=None)
