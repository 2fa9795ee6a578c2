"""Another package fits the first model of every study again."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import which

import numpy as np
import pandas as pd
import pytest

from analysis.features.attributes import add_reference_to_level_names_in_rows
from analysis.statistics import mixed
from analysis.steps.mixed import (
    TOLERANCE,
    list_attribute_columns_in_terms,
    refit_units_with_package,
    select_mixed_rows_of_first_model_per_study,
)

R = pytest.mark.skipif(not find_spec("pymer4") or not which("R"), reason="R or pymer4 is not installed")
KEYS = ["study", "model", "condition"]


def build_rows(n_items: int = 12, n_wordings: int = 8) -> pd.DataFrame:
    """The answers of two models to paraphrases, with features on scales of different size; one has no value."""
    rng = np.random.default_rng(4)
    n = n_items * n_wordings
    item = np.repeat(np.arange(n_items), n_wordings)
    one = pd.DataFrame({"study": "s", "condition": "c", "item": pd.Categorical(item), "long": rng.normal(1000, 300, n),
                        "short": rng.normal(0.01, 0.002, n)})  # fmt: skip
    one.loc[3, "short"] = np.nan
    parts = []
    for model in ("a", "b"):
        noise = rng.normal(0, 0.3, n_items)[item] + rng.normal(0, 0.2, n)
        parts.append(one.assign(model=model, response=0.5 + one["long"] / 2000 - 20 * one["short"] + noise))
    return pd.concat(parts, ignore_index=True)


def fit(rows: pd.DataFrame, terms: str = "long + short") -> pd.DataFrame:
    """The fits of the built-in engine."""
    return mixed.fit_mixed_models(rows, f"response ~ {terms} + (1 | item)", by=KEYS, missing="drop").table


def check(package: str, columns: list[str]) -> None:
    """Compare its fit with that of the built-in engine."""
    rows = build_rows()
    effects = fit(rows)
    ours = select_mixed_rows_of_first_model_per_study(effects, rows.columns)
    assert ours.equals(effects[effects["model"] == "a"].reset_index(drop=True))
    theirs = refit_units_with_package(rows, ours, package)
    assert theirs[[*KEYS, "term"]].equals(ours[[*KEYS, "term"]].astype(object))
    for column in columns:
        np.testing.assert_allclose(theirs[column], ours[column], rtol=0, atol=TOLERANCE * np.abs(ours[column]).max())


@pytest.mark.slow
def test_statsmodels_gives_the_same_estimates():
    check("statsmodels", ["estimate"])


@pytest.mark.parametrize("package", ["statsmodels", pytest.param("pymer4", marks=R)])
@pytest.mark.slow
def test_attributes_of_wordings_are_checked_too(package):
    rows = build_rows()
    tone = np.where(np.arange(len(rows)) % 3 == 0, "rude", "plain")
    rows = rows.assign(**{"attributes.tone": pd.Categorical(tone), "attributes.hedged": np.arange(len(rows)) % 2 * 1.0})
    effects = fit(
        add_reference_to_level_names_in_rows(rows, ["attributes.tone"]), "attributes.tone + attributes.hedged"
    )
    assert list_attribute_columns_in_terms(effects) == ["attributes.hedged", "attributes.tone"]
    ours = select_mixed_rows_of_first_model_per_study(effects, rows.columns)
    assert "attributes.tone[rude vs plain]" in set(ours["term"])
    theirs = refit_units_with_package(rows, ours, package)
    assert theirs["term"].tolist() == ours["term"].tolist()
    np.testing.assert_allclose(theirs["estimate"], ours["estimate"], rtol=0, atol=TOLERANCE)


@pytest.mark.slow
@R
def test_r_gives_the_same_estimates_and_errors():
    check("pymer4", ["estimate", "se"])


def test_a_study_with_a_predictor_that_the_rows_lack_is_left_out():
    rows = build_rows()
    nothing = select_mixed_rows_of_first_model_per_study(fit(rows), rows.columns.drop("long"))
    assert nothing.empty
    assert refit_units_with_package(rows, nothing, "statsmodels").columns.tolist() == [*KEYS, "term", "estimate"]


def test_a_fit_may_have_no_predictor():
    rows = build_rows()
    effects = fit(rows, "1")
    ours = select_mixed_rows_of_first_model_per_study(effects, rows.columns)
    (estimate,) = refit_units_with_package(rows, ours, "statsmodels")["estimate"]
    assert estimate == pytest.approx(effects["estimate"].iloc[0], abs=TOLERANCE)


def test_statsmodels_is_asked_again_where_its_search_stops_short_of_no_variance():
    """Items do not differ: the maximum is at a variance of 0, which lme4 and the built-in engine find, at 1e-9."""
    rng = np.random.default_rng(8)
    features = rng.normal(size=(36, 2))
    rows = pd.DataFrame({"study": "s", "model": "a", "condition": "c", "item": pd.Categorical(np.repeat(range(12), 3)),
                         "long": features[:, 0], "short": features[:, 1]})  # fmt: skip
    rows = rows.assign(response=rng.normal(0, 0.2, 36))
    effects = fit(rows)
    theirs = refit_units_with_package(rows, effects, "statsmodels")
    np.testing.assert_allclose(theirs["estimate"], effects["estimate"], rtol=0, atol=1e-9)


def test_statsmodels_searches_on_where_the_likelihood_is_flat():
    """Its default search stopped at 16 times the variance of the items, where the likelihood is lower."""
    rng = np.random.default_rng(67)
    item = np.repeat(range(4), [1, 2, 5, 6])
    rows = pd.DataFrame({"study": "s", "model": "a", "condition": "c", "item": pd.Categorical(item),
                         "long": rng.normal(size=4)[item]})  # fmt: skip
    rows = rows.assign(response=rng.normal(0, 0.3, 4)[item] + rng.normal(size=14))
    effects = fit(rows, "long")
    theirs = refit_units_with_package(rows, effects, "statsmodels")
    np.testing.assert_allclose(theirs["estimate"], effects["estimate"], rtol=0, atol=TOLERANCE)
