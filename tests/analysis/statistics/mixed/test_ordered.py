"""Ordered logits without R: the engine "ordered_model" against R's clm, a slow likelihood and cluster-robust errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from analysis.statistics.mixed import clmm, lme4
from ground.errors import InputError
from reference.ordered_data import FORMULA, datasets

DATA = datasets()
REFERENCE = pd.read_csv(Path(__file__).parents[3] / "reference" / "ordered.csv").set_index("model").loc["clm"]


def fit(frame: pd.DataFrame, formula: str = FORMULA, engine: str = "ordered_model", **options: str) -> mixed.Result:
    return mixed.fit_mixed_models(frame, formula, engine=engine, **options)


def read_thresholds(result: mixed.Result) -> dict[str, float]:
    parts = (part.split(": ") for part in result.diagnostics["thresholds"].iloc[0].split("; "))
    return {name: float(value) for name, value in parts}


@pytest.mark.parametrize("name", DATA)
def test_estimates_are_those_of_r(name):
    """R's clm, with weights: estimates to 1e-5, thresholds as they are shown (4 digits), -2 log-likelihood to 1e-6."""
    result = fit(DATA[name], weights="weight")
    expected = REFERENCE[REFERENCE["dataset"] == name].set_index("term")
    slopes = result.table.set_index("term")["estimate"]
    np.testing.assert_allclose(slopes, expected["estimate"][slopes.index], atol=1e-5)
    for term, value in read_thresholds(result).items():
        assert value == pytest.approx(expected["estimate"][term], abs=6e-5)
    diagnosis = result.diagnostics.iloc[0]
    assert diagnosis["reml"] == pytest.approx(-2 * expected["log_likelihood"].iloc[0], abs=1e-6)
    assert diagnosis["converged"] and diagnosis["engine"] == "ordered_model"
    assert len(read_thresholds(result)) == DATA[name]["rank"].nunique() - 1


def test_errors_are_the_sandwich_of_items_the_slow_way():
    """Scores and the matrix of second slopes by differences of a likelihood written row by row; to 1e-4 of an error."""
    frame = DATA["weighted"]
    result = fit(frame, weights="weight")
    kind = (frame["kind"] == "short").to_numpy(float)
    start = np.r_[result.table["estimate"], list(read_thresholds(result).values())]

    def loglike(parameters):
        h = parameters[0] * frame["x1"].to_numpy() + parameters[1] * kind
        bounds = np.r_[-np.inf, parameters[2:], np.inf]
        below = [1 / (1 + np.exp(h - bound)) for bound in bounds]
        ranks = frame["rank"].to_numpy()
        p = np.array([below[rank][row] - below[rank - 1][row] for row, rank in enumerate(ranks)])
        return frame["weight"].to_numpy() * np.log(p)

    steps = 1e-4 * np.eye(len(start))
    score = np.array([(loglike(start + step) - loglike(start - step)) / 2e-4 for step in steps]).T

    def differ_twice(a, b):
        corners = loglike(start + a + b) - loglike(start + a - b) - loglike(start - a + b) + loglike(start - a - b)
        return corners.sum() / 4e-8

    second = np.array([[differ_twice(a, b) for b in steps] for a in steps])
    by_item = np.array([score[frame["item"] == item].sum(axis=0) for item in frame["item"].unique()])
    bread = np.linalg.inv(-second)
    n = len(by_item)
    expected = np.sqrt(np.diag(bread @ by_item.T @ by_item @ bread * n / (n - 1)))[:2]
    np.testing.assert_allclose(result.table["se"], expected, rtol=1e-4)
    assert set(result.table["df"]) == {n - 1}
    np.testing.assert_array_equal(result.table["se"], result.table["se_robust"])
    np.testing.assert_array_equal(result.table["p"], result.table["p_robust"])


@pytest.mark.slow
def test_errors_are_those_of_statsmodels():
    """Its own cluster-robust errors, by numerical slopes: to 1e-3."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    frame = DATA["five"]
    x = np.column_stack([frame["x1"], frame["kind"] == "short"]).astype(float)
    codes = pd.factorize(frame["item"])[0]
    theirs = OrderedModel(frame["rank"].to_numpy() - 1, x, distr="logit").fit(
        method="bfgs", disp=False, gtol=1e-8, cov_type="cluster",
        cov_kwds={"groups": codes, "use_correction": False, "df_correction": False},
    )  # fmt: skip
    n = frame["item"].nunique()
    np.testing.assert_allclose(fit(frame).table["se"], theirs.bse[:2] * np.sqrt(n / (n - 1)), rtol=1e-3)


def test_items_that_are_all_alike_do_not_make_an_effect_known_exactly():
    """Two items in four wordings, answered alike, had an error of 1e-9, a p of 5e-10 and a confirmed effect."""
    answers = pd.DataFrame({"x1": [0.0, 1, 2, 3], "rank": [1, 3, 2, 4]})
    table = fit(pd.concat([answers.assign(item=item) for item in "ab"]), "rank ~ x1 + (1 | item)").table
    assert table[["se", "p", "lower", "upper"]].isna().all(axis=None) and not table["confirmed"].any()


@pytest.mark.slow
def test_a_distribution_is_endlessly_many_draws():
    """A row per option with weight p_k gives the estimates of 1,000 p_k answers each."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"item": np.repeat(list("abcdefgh"), 5), "x1": rng.normal(size=40)})
    counts = rng.multinomial(1000, [0.1, 0.2, 0.4, 0.3], 40)
    spread = mixed.expand_answers_into_weighted_ranks(frame, counts / 1000)
    drawn = frame.loc[np.repeat(np.arange(40), 1000)].assign(
        rank=np.concatenate([np.repeat([1, 2, 3, 4], row) for row in counts])
    )
    formula = "rank ~ x1 + (1 | item)"
    by_weight, by_draw = fit(spread, formula, weights="weight"), fit(drawn, formula)
    for column in ("estimate", "se"):  # the sandwich is the same, too: an item's draws are one cluster
        np.testing.assert_allclose(by_weight.table[column], by_draw.table[column], rtol=1e-4)
    assert spread.groupby(["item", "x1"])["weight"].sum().to_numpy() == pytest.approx(np.ones(40))


def test_how_answers_are_spread():
    frame = pd.DataFrame({"item": list("abcd")})
    shares = np.array([[0.2, 0.5, 0.3], [0.5, 0.5, 0.0], [np.nan] * 3, [0.4, 0.6, np.nan]])
    expected = mixed.expand_answers_into_weighted_ranks(frame, shares)
    assert list(zip(expected["item"], expected["rank"], expected["weight"], strict=True)) == [
        ("a", 1, 0.2), ("a", 2, 0.5), ("a", 3, 0.3), ("b", 1, 0.5), ("b", 2, 0.5), ("d", 1, 0.4), ("d", 2, 0.6)
    ]  # fmt: skip
    likeliest = mixed.expand_answers_into_weighted_ranks(frame, shares, "likeliest")
    assert likeliest.to_dict("records") == [
        {"item": "a", "rank": 2, "weight": 1.0}, {"item": "d", "rank": 2, "weight": 1.0}
    ]  # fmt: skip
    with pytest.raises(InputError, match="'expected' or 'likeliest', not 'mean'"):
        mixed.expand_answers_into_weighted_ranks(frame, shares, "mean")


def test_tables_of_an_ordered_logit():
    frame = DATA["five"].assign(same=1.0, double=lambda rows: 2 * rows["x1"])
    result = fit(frame, "rank ~ x1 + same + double + kind + (1 | item)")
    assert list(result.table["term"]) == ["x1", "kindshort"]  # thresholds are no terms, and are not tested
    assert set(result.table["n_tests"]) == {2}
    assert result.diagnostics["dropped"].iloc[0] == "same: constant; double: collinear with predictors before it"
    assert result.diagnostics[["icc", "r2_marginal"]].isna().all(axis=None)  # it knows no variance of items
    assert result.random_effects.empty and list(result.random_effects)[-1] == "se"
    assert result.residuals["fitted"].between(1, 5).all() and len(result.residuals) == len(frame)
    assert list(result.vif["term"]) == ["x1", "kindshort"]
    confirmed = (result.table["p_bonferroni"] < 0.05) & (result.table["p_robust_bonferroni"] < 0.05)
    assert list(result.table["confirmed"]) == list(confirmed)


def test_an_option_that_is_never_the_answer_has_no_threshold():
    frame = DATA["weighted"].assign(weight=lambda rows: rows["weight"].where(rows["rank"] != 3, 0.0))
    result = fit(frame, weights="weight")
    assert list(read_thresholds(result)) == ["1|2", "2|4", "4|5"]
    assert result.diagnostics["dropped"].iloc[0] == "rank 3: never the answer"
    without = fit(frame[frame["rank"] != 3], weights="weight")
    np.testing.assert_allclose(result.table["estimate"], without.table["estimate"], atol=1e-9)


@pytest.mark.parametrize(
    ("formula", "change", "options", "words"),
    [
        ("rank ~ 0 + x1 + (1 | item)", {}, {}, "thresholds for an intercept"),
        ("x1 ~ kind + (1 | item)", {}, {}, "'x1' is no rank"),
        ("rank ~ x1 + (1 + x1 | item)", {}, {}, "engine 'ordered_model' fits one random intercept"),
        (FORMULA, {"weight": -1.0}, {"weights": "weight"}, "a weight is no number from 0 on"),
        (FORMULA, {"weight": np.nan}, {"weights": "weight"}, "a weight is no number from 0 on"),
        (FORMULA, {}, {"weights": "mass"}, "no column 'mass'"),
        (FORMULA, {}, {"weights": "weight", "engine": "profile"}, "engine 'profile' takes no weights"),
        (FORMULA, {"rank": 2}, {}, "nothing varies"),
        (FORMULA, {"rank": "agree"}, {}, "is not a number"),
    ],
)
def test_bad_input_is_one_line(formula, change, options, words):
    with pytest.raises(InputError, match=words) as error:
        fit(DATA["five"].assign(**change), formula, **options)
    assert "\n" not in str(error.value)


def test_a_predictor_that_tells_the_answers_apart_is_told():
    frame = DATA["two"].assign(x1=lambda rows: rows["rank"] + 0.01 * rows["x1"])
    with pytest.raises(InputError, match="tell the answers apart"):
        fit(frame, "rank ~ x1 + (1 | item)")


@pytest.mark.slow
def test_a_missing_r_is_told_in_one_line(monkeypatch):
    for start in (lme4.start_r, clmm.load_clmm_function_from_r):
        start.cache_clear()
    monkeypatch.setitem(sys.modules, "pymer4.tidystats", None)
    with pytest.raises(InputError, match=r"engine 'ordinal' needs R .* engine 'ordered_model' needs neither") as error:
        fit(DATA["five"], engine="ordinal")
    assert "\n" not in str(error.value)
    for start in (lme4.start_r, clmm.load_clmm_function_from_r):
        start.cache_clear()
