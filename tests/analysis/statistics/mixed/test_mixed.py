"""`analysis.statistics.mixed`: families, tables, multiplicity, what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from analysis.statistics.mixed import lme4
from ground.errors import InputError
from reference.mixed_data import responses

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
FORMULA = "y ~ x1 + x2 + (1 | item)"
COLUMNS = [
    "model", "term", "estimate", "se", "df", "statistic", "p", "p_bonferroni", "p_holm", "lower", "upper",
    "estimate_std", "n_rows", "n_items",
]  # fmt: skip


@pytest.fixture
def frame() -> pd.DataFrame:
    return responses(1, np.array([4, 7, 3, 9, 5, 6]))


@pytest.fixture
def family() -> pd.DataFrame:
    """Three models with their own responses to the same wordings."""
    frames = [responses(seed, np.full(8, 10)).assign(model=f"m{seed}") for seed in (3, 1, 2)]
    return pd.concat(frames, ignore_index=True)


def one_line(call, *said: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert all(text in str(error.value) for text in said), str(error.value)
    assert "\n" not in str(error.value)


def test_columns(frame):
    result = mixed.fit_mixed_models(frame, FORMULA)
    assert set(COLUMNS) <= set(result.table.columns)
    assert list(result.table["term"]) == ["(Intercept)", "x1", "x2"]
    assert set(result.table["engine"]) == {"profile"}
    assert result.table["n_rows"].tolist() == [34] * 3
    assert result.table["n_items"].tolist() == [6] * 3


def test_every_member_of_a_family_is_fitted_by_itself(family):
    result = mixed.fit_mixed_models(family, FORMULA)
    assert list(result.table["model"].unique()) == ["m3", "m1", "m2"]
    alone = mixed.fit_mixed_models(family[family["model"] == "m1"], FORMULA).table
    of_family = result.table[result.table["model"] == "m1"].reset_index(drop=True)
    single = ["estimate", "se", "df", "p", "lower", "upper", "estimate_std"]
    pd.testing.assert_frame_equal(of_family[single], alone[single])
    assert len(result.diagnostics) == 3


def test_models_that_answered_the_same_wordings_do_not_leak_into_each_other(frame):
    """The engine keeps what depends on the wordings alone; only there may it matter that fits come one by one."""
    rng = np.random.RandomState(0)
    members = [
        frame,
        frame.assign(y=rng.standard_normal(len(frame))),  # same wordings, other answers
        frame.assign(item=frame["item"].to_numpy()[::-1]),  # same predictors, other items
        frame.assign(x1=frame["x2"], x2=frame["x1"]),  # same numbers, other predictors
        frame.iloc[:-1],
    ]
    family = pd.concat([member.assign(model=str(j)) for j, member in enumerate(members)], ignore_index=True)
    together = mixed.fit_mixed_models(family, FORMULA)
    single = ["estimate", "se", "df", "p", "lower", "upper", "estimate_std", "n_rows", "n_items"]
    for (_, found), member in zip(together.table.groupby("model"), members, strict=True):
        alone = mixed.fit_mixed_models(member, FORMULA).table
        pd.testing.assert_frame_equal(found[single].reset_index(drop=True), alone[single])


def test_family_of_several_columns(family):
    both = pd.concat([family.assign(condition="plain"), family.assign(condition="chat")])
    result = mixed.fit_mixed_models(both, FORMULA)
    assert list(result.table.columns[:3]) == ["model", "condition", "term"]
    assert len(result.diagnostics) == 6
    assert len(mixed.fit_mixed_models(both, FORMULA, by="condition").diagnostics) == 2
    pooled = mixed.fit_mixed_models(both, FORMULA, by=())
    assert set(pooled.table["model"]) == {"all"}
    assert set(pooled.table["n_rows"]) == {480}


def test_multiplicity_goes_over_the_whole_table(family):
    table = mixed.fit_mixed_models(family, FORMULA).table
    tests = table[table["term"] != "(Intercept)"]
    assert table["n_tests"].tolist() == [6] * 9
    np.testing.assert_allclose(tests["p_bonferroni"], np.minimum(tests["p"] * 6, 1))
    ordered = tests.sort_values("p")
    holm = np.minimum(np.maximum.accumulate(ordered["p"] * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(ordered["p_holm"], holm)
    assert table.loc[table["term"] == "(Intercept)", ["p_bonferroni", "p_holm"]].isna().all(axis=None)


def test_standardised_estimate_is_that_of_standardised_columns(frame):
    table = mixed.fit_mixed_models(frame, FORMULA).table.set_index("term")
    numbers = frame[["y", "x1", "x2"]]
    standard = mixed.fit_mixed_models(
        frame.assign(**(numbers - numbers.mean()) / numbers.std(ddof=1)), FORMULA
    ).table.set_index("term")
    np.testing.assert_allclose(
        table.loc[["x1", "x2"], "estimate_std"], standard.loc[["x1", "x2"], "estimate"], rtol=1e-9
    )
    assert np.isnan(table.loc["(Intercept)", "estimate_std"])


def test_interval_is_the_test_turned_round(frame):
    table = mixed.fit_mixed_models(frame, FORMULA).table
    assert (((table["lower"] > 0) | (table["upper"] < 0)) == (table["p"] < 0.05)).all()
    np.testing.assert_allclose((table["lower"] + table["upper"]) / 2, table["estimate"])


def test_residuals_belong_to_the_rows_of_the_frame(family):
    family.index = family.index[::-1]
    residuals = mixed.fit_mixed_models(family, FORMULA).residuals
    y = family.loc[residuals["row"], "y"].to_numpy()
    np.testing.assert_allclose(residuals["fitted"] + residuals["residual"], y)
    assert residuals["row"].is_unique
    assert len(residuals) == len(family)


def test_rows_of_fits_are_dropped_but_of_the_largest_residuals(family):
    whole = mixed.fit_mixed_models(family, FORMULA)
    twice = [*whole.fits, *whole.fits]  # equal mean squares: the first of two is kept
    fits = mixed.collect_fits_keeping_rows_of_worst_ones(iter(twice), 1)
    (place,) = mixed.list_indices_of_largest_residual_fits(twice, 1)
    largest = (whole.residuals["residual"] ** 2).groupby(whole.residuals["model"], observed=True).mean().idxmax()
    assert twice[place][0].key[0] == largest and place < len(whole.fits)
    assert [len(fit.rows.y) > 0 for _, fit in fits] == [number == place for number in range(len(twice))]
    kept = mixed.Result(whole.by, fits)
    pd.testing.assert_frame_equal(kept.diagnostics, mixed.Result(whole.by, twice).diagnostics)
    columns = ["row", "fitted", "residual"]
    pd.testing.assert_frame_equal(
        kept.residuals[columns],
        whole.residuals.loc[whole.residuals["model"] == largest, columns].reset_index(drop=True),
    )


def test_inflation_is_that_of_a_regression_on_the_other_predictors(frame):
    frame = frame.assign(x3=lambda rows: 5 + rows["x1"] - rows["x2"] + 0.1 * rows["between"])
    vif = mixed.fit_mixed_models(frame, "y ~ x1 + x2 + x3 + (1 | item)").vif.set_index("term")["vif"]
    expected = np.diag(np.linalg.inv(np.corrcoef(frame[["x1", "x2", "x3"]].T)))
    np.testing.assert_allclose(vif[["x1", "x2", "x3"]], expected, rtol=1e-6)
    assert mixed.fit_mixed_models(frame, "y ~ x1 + (1 | item)").vif["vif"].tolist() == [1.0]


def test_dependent_predictors_are_named_not_fitted(frame):
    frame = frame.assign(total=lambda rows: rows["x1"] + rows["x2"], same=3)
    result = mixed.fit_mixed_models(frame, "y ~ x1 + x2 + total + same + (1 | item)")
    plain = mixed.fit_mixed_models(frame, FORMULA)
    dropped = "total: collinear with predictors before it; same: constant"
    assert result.diagnostics.loc[0, "dropped"] == dropped
    pd.testing.assert_frame_equal(result.table, plain.table)


def test_text_predictors_get_treatment_contrasts(frame):
    kinds = np.array(["b", "a", "c"])[np.arange(len(frame)) % 3]
    table = mixed.fit_mixed_models(frame.assign(kind=kinds), "y ~ kind + (1 | item)").table
    assert list(table["term"]) == ["(Intercept)", "kindb", "kindc"]
    ordered = pd.Categorical(kinds, categories=["c", "b", "a", "unused"])
    table = mixed.fit_mixed_models(frame.assign(kind=ordered), "y ~ kind + (1 | item)").table
    assert list(table["term"]) == ["(Intercept)", "kindb", "kinda"]
    one_line(
        lambda: mixed.fit_mixed_models(frame.assign(kind=kinds), "y ~ x1:kind + (1 | item)"),
        "text column 'kind'",
        "a*b",
    )


def test_pandas_own_types_are_read(frame):
    typed = frame.assign(x2=(frame["x2"] > 0).astype("boolean"), item=frame["item"].astype("category"))
    plain = frame.assign(x2=(frame["x2"] > 0).astype(float))
    pd.testing.assert_frame_equal(
        mixed.fit_mixed_models(typed, FORMULA).table, mixed.fit_mixed_models(plain, FORMULA).table
    )


def test_missing_column(frame):
    call = lambda: mixed.fit_mixed_models(frame, "y ~ x1 + zipf + (1 | item)")  # noqa: E731
    one_line(call, "no column 'zipf'", "there are", "x1")
    one_line(lambda: mixed.fit_mixed_models(frame, "y ~ log(zipf) + (1 | item)"), "no column 'zipf'")
    one_line(lambda: mixed.fit_mixed_models(frame, FORMULA, by=["language"]), "no column 'language'")


def test_constant_response(frame, family):
    one_line(lambda: mixed.fit_mixed_models(frame.assign(y=0.5), FORMULA), "response 'y' is 0.5 in all 34 rows")
    constant = family["y"].where(family["model"] != "m2", 0.25)
    one_line(
        lambda: mixed.fit_mixed_models(family.assign(y=constant), FORMULA), "response 'y' (m2) is 0.25 in all 80 rows"
    )


def test_missing_values_are_counted_and_left_out_on_request_only(family):
    holes = family.assign(
        x1=family["x1"].where(family.index % 40 != 3), item=family["item"].where(family.index != 100, None)
    )
    one_line(lambda: mixed.fit_mixed_models(holes, FORMULA), "missing in 80 rows (m3)", "x1 in 2", "missing='drop'")
    result = mixed.fit_mixed_models(holes, FORMULA, missing="drop")
    assert result.diagnostics["n_missing"].tolist() == [2, 3, 2]
    assert result.diagnostics["n_rows"].tolist() == [78, 77, 78]
    complete = mixed.fit_mixed_models(holes.dropna(subset=["x1", "item"]), FORMULA)
    pd.testing.assert_frame_equal(result.table, complete.table)
    one_line(
        lambda: mixed.fit_mixed_models(family.assign(x1=np.nan), FORMULA, missing="drop"), "no complete row is left"
    )
    one_line(lambda: mixed.fit_mixed_models(family, FORMULA, missing="ignore"), "missing is 'error' or 'drop'")


def test_a_constant_optional_predictor_costs_no_rows(family):
    """Rows without a value of it were left out, and then the predictor, too."""
    constant = family.assign(x2=np.where(np.arange(len(family)) % 3, 1.0, np.nan))
    result = mixed.fit_mixed_models(constant, FORMULA, optional=["x2"], missing="drop")
    without = mixed.fit_mixed_models(family, FORMULA.replace(" + x2", ""))
    assert set(result.diagnostics["dropped"]) == {"x2: constant"}
    assert result.table["n_rows"].max() == without.table["n_rows"].max() == result.table["n_rows"].min()
    np.testing.assert_allclose(result.table["estimate"], without.table["estimate"])


def test_optional_predictors_are_left_out_of_the_fits_without_them(family):
    holes = family.assign(x2=family["x2"].where(family["model"] != "m1"))
    result = mixed.fit_mixed_models(holes, FORMULA, optional=["x2"])
    terms = result.table.groupby("model", sort=False)["term"].agg(list)
    assert terms["m1"] == ["(Intercept)", "x1"]
    assert terms["m2"] == ["(Intercept)", "x1", "x2"]
    assert result.diagnostics.set_index("model")["dropped"].to_dict() == {
        "m3": "", "m1": "x2: no value in any row", "m2": "",
    }  # fmt: skip
    assert set(result.table["n_tests"]) == {5}


def test_rows_that_no_fit_can_use_are_refused(frame):
    for rows, message in (
        (frame.assign(item="only"), "only one item"),
        (frame.assign(item=range(34)), "every item has one row"),
        (frame.replace({"x1": {frame["x1"].iloc[3]: np.inf}}), "'x1': infinite in 1 of 34"),
        (frame.assign(y="yes"), "response 'y' is not a number"),
        (frame.iloc[:0], "no rows"),
    ):
        one_line(lambda rows=rows: mixed.fit_mixed_models(rows, FORMULA), message)


def test_more_coefficients_than_rows(frame):
    few = frame.groupby("item").head(2).head(4)
    one_line(
        lambda: mixed.fit_mixed_models(few, "y ~ x1 + x2 + x1:x2 + (1 | item)"), "4 rows cannot carry 4 coefficients"
    )


def test_response_without_variance_within_items(frame):
    one_line(lambda: mixed.fit_mixed_models(frame.assign(y=frame["between"]), FORMULA), "does not vary within any item")
    one_line(lambda: mixed.fit_mixed_models(frame.assign(y=frame["x1"] * 2), FORMULA), "does not vary within any item")


def test_a_missing_r_is_told_in_one_line(frame, monkeypatch):
    lme4.start_r.cache_clear()
    monkeypatch.setitem(sys.modules, "pymer4.tidystats", None)
    one_line(
        lambda: mixed.fit_mixed_models(frame, "y ~ x1 + (1 + x1 | item)"), "engine 'pymer4' needs R", "engine 'profile'"
    )
    lme4.start_r.cache_clear()


def test_built_in_engine_starts_neither_r_nor_torch():
    code = (
        "import sys, pandas; from analysis.statistics import mixed;"
        "frame = pandas.DataFrame({'y': [1., 2, 4, 3, 5, 7], 'x': [1., 2, 3, 1, 2, 4], 'item': list('aabbcc')});"
        "mixed.fit_mixed_models(frame, 'y ~ x + (1 | item)').table;"
        "print([name for name in ('rpy2', 'pymer4', 'torch', 'inference') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_printed_table_is_whole():
    """Haller et al., Table 3: 18 models x 8 predictors; the paper's own reading of it, section 4.3."""
    printed = pd.read_csv(ROOT / "results" / "published" / "haller_table3.csv")
    assert printed.groupby("model").size().to_dict() == dict.fromkeys(printed["model"].unique(), 8)
    assert printed["model"].nunique() == 18
    assert (printed["se"] > 0).all()
    estimates = printed[printed["significant"]].pivot(index="model", columns="term", values="estimate")
    assert set(estimates.index[estimates["sentiment_positive"] < 0]) == {"Phi2"}
    assert set(estimates.index[estimates["statement_length"] < 0]) == {"Falcon-7B"}
    assert set(estimates.index[estimates["dependency_length"] < 0]) == {"Falcon-7B", "BERT-Large"}
