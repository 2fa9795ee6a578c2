"""The engine `pymer4`, live: against the built-in engine, against R's own values, and on what only R can fit."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from ground.errors import InputError
from reference.mixed_data import CROSSED, FORMULAS, SLOPES, datasets

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed (make test installs it)"),
    pytest.mark.skipif(find_spec("pymer4") is None, reason="the Python package pymer4 is not installed"),
]
DATA = datasets()
REFERENCE = pd.read_csv(Path(__file__).parents[3] / "reference" / "mixed.csv")
TOLERANCES = {"estimate": 1e-6, "se": 1e-5, "df": 1e-3}


@pytest.fixture(scope="module", autouse=True)
def r():
    """R in this process. Where all of it is installed, not to start is a failure, not a reason to skip."""
    from analysis.statistics.mixed import lme4

    return lme4.start_r()


@pytest.mark.parametrize("name", FORMULAS)
def test_engines_agree(name):
    ours, theirs = (
        mixed.fit_mixed_models(DATA[name], FORMULAS[name], engine=engine) for engine in ("profile", "pymer4")
    )
    assert list(ours.table["term"]) == list(theirs.table["term"])
    for column, tolerance in TOLERANCES.items():
        np.testing.assert_allclose(ours.table[column], theirs.table[column], rtol=0, atol=tolerance, err_msg=column)
    np.testing.assert_allclose(ours.table["estimate_std"], theirs.table["estimate_std"], atol=1e-6)
    np.testing.assert_allclose(ours.vif["vif"], theirs.vif["vif"], rtol=1e-6)
    np.testing.assert_allclose(ours.residuals["residual"], theirs.residuals["residual"], atol=1e-4)
    effects = [result.random_effects.set_index("level") for result in (ours, theirs)]
    for column in ("estimate", "se"):
        np.testing.assert_allclose(effects[0][column], effects[1][column].loc[effects[0].index], atol=1e-4)
    for column in ("reml", "icc", "r2_marginal", "r2_conditional"):
        np.testing.assert_allclose(ours.diagnostics[column], theirs.diagnostics[column], atol=1e-6, err_msg=column)
    for column in ("singular", "dropped", "n_items", "converged"):
        assert list(ours.diagnostics[column]) == list(theirs.diagnostics[column]), column


@pytest.mark.parametrize(("name", "data", "formula"), [("crossed", "crossed", CROSSED), ("slopes", "crossed", SLOPES)])
def test_what_only_r_fits(name, data, formula):
    result = mixed.fit_mixed_models(DATA[data], formula)
    expected = REFERENCE[REFERENCE["dataset"] == name]
    assert set(result.table["engine"]) == {"pymer4"}
    for column, tolerance in {**TOLERANCES, "p": 1e-6}.items():
        np.testing.assert_allclose(result.table[column], expected[column], rtol=0, atol=tolerance, err_msg=column)
    found = result.diagnostics.iloc[0]
    for column in ("reml", "sigma", "sd_item", "sd_item_x1", "sd_reader", "r2_marginal", "r2_conditional"):
        if pd.notna(expected[column].iloc[0]):
            assert found[column] == pytest.approx(expected[column].iloc[0], abs=1e-6), column
    assert found["converged"]
    assert found["message"] == ""


def test_crossed_with_models():
    frame = DATA["crossed"].assign(model=lambda frame: frame["reader"])
    result = mixed.fit_mixed_models(frame, "y ~ x1 + (1 | item) + (1 | model)")
    assert set(result.table["model"]) == {"all"}
    assert result.diagnostics.loc[0, ["n_items", "n_model"]].tolist() == [20, 12]
    assert set(result.random_effects["group"]) == {"item", "model"}


def test_functions_of_columns_are_left_to_r():
    frame = DATA["balanced"].assign(size=lambda frame: np.exp(frame["x1"]))
    by_r = mixed.fit_mixed_models(frame, "y ~ log(size) + x2 + (1 | item)")
    assert set(by_r.table["engine"]) == {"pymer4"}
    ours = mixed.fit_mixed_models(frame, "y ~ x1 + x2 + (1 | item)")
    np.testing.assert_allclose(by_r.table["estimate"], ours.table["estimate"], atol=1e-6)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ relevel(x1, 2) + (1 | item)", "'relevel' only for (unordered) factors"),
        ("y ~ x1 + (1 | item:x1)", "number of levels of each grouping factor must be < number of observations"),
    ],
)
def test_r_refuses_in_one_line(formula, said):
    with pytest.raises(InputError, match="R cannot fit") as error:
        mixed.fit_mixed_models(DATA["balanced"], formula)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_r_writes_nothing_to_the_console(capfd):
    result = mixed.fit_mixed_models(DATA["boundary"], FORMULAS["boundary"], engine="pymer4")
    assert "singular" in result.diagnostics.loc[0, "message"]
    assert capfd.readouterr() == ("", "")
