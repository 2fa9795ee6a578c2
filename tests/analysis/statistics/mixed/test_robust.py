"""Cluster-robust errors and the test of slopes, against the textbook written the slow way, and by simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import mixed
from reference.mixed_data import responses

pytestmark = pytest.mark.slow

FORMULA = "y ~ x1 + x2 + (1 | item)"


@pytest.fixture
def frame() -> pd.DataFrame:
    return responses(1, np.array([4, 7, 3, 9, 5, 6]))


def differing(seed: int, items: int, rows: int, slope_sd: float) -> pd.DataFrame:
    """Responses whose residuals and item intercepts have SD 1; x1 has no effect on average, x2 one of 0.1."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), rows)
    x1, x2, noise = rng.normal(size=(3, len(item)))
    y = rng.normal(size=items)[item] + rng.normal(0, slope_sd, items)[item] * x1 + 0.1 * x2 + noise
    return pd.DataFrame({"y": y, "x1": x1, "x2": x2, "item": item.astype(str)})


def test_robust_errors_are_the_jackknife_of_generalised_least_squares(frame):
    """MacKinnon, Nielsen & Webb (2023), eq. 11, with the covariance matrix of every item written out; to 1e-8."""
    result = mixed.fit_mixed_models(frame, FORMULA)
    fit = result.fits[0][1]
    made = []
    for _, rows in frame.groupby("item"):
        covariance = np.eye(len(rows)) * fit.sigma**2 + fit.variances[0].sd ** 2
        x = np.column_stack([np.ones(len(rows)), rows[["x1", "x2"]]])
        weighted = x.T @ np.linalg.inv(covariance)
        made.append((weighted @ x, weighted @ rows["y"].to_numpy()))
    estimates = []
    for out in range(len(made)):
        kept = [pair for place, pair in enumerate(made) if place != out]
        estimates.append(np.linalg.solve(sum(xx for xx, _ in kept), sum(xy for _, xy in kept)))
    moved = np.array(estimates) - result.table["estimate"].to_numpy()
    expected = np.sqrt(5 / 6 * (moved**2).sum(axis=0))
    np.testing.assert_allclose(result.table["se_robust"], expected, rtol=1e-8)


def test_items_that_are_all_alike_do_not_make_an_effect_known_exactly():
    """No item moves the estimate: its robust error was 0, and so was p."""
    answers = pd.DataFrame({"x": [0.0, 1, 2, 3], "y": [0.1, 0.4, 0.3, 0.9]})
    frame = pd.concat([answers.assign(item=item) for item in "abcdef"])
    table = mixed.fit_mixed_models(frame, "y ~ x + (1 | item)").table
    assert table[["p_robust", "lower_robust", "upper_robust"]].isna().all(axis=None)
    assert (table["p"] < 0.001)[1] and not table["confirmed"].any()


def test_robust_tests_have_items_minus_one_degrees_of_freedom(frame):
    from scipy.stats import t

    table = mixed.fit_mixed_models(frame, FORMULA).table
    statistic = table["estimate"] / table["se_robust"]
    np.testing.assert_allclose(table["p_robust"], 2 * t.sf(np.abs(statistic), 5))
    np.testing.assert_allclose(table["upper_robust"] - table["estimate"], t.ppf(0.975, 5) * table["se_robust"])
    tests = table[table["term"] != "(Intercept)"]
    np.testing.assert_allclose(tests["p_robust_bonferroni"], np.minimum(1, 2 * tests["p_robust"]))


def test_an_effect_that_rests_on_one_item_has_no_robust_error_and_is_not_confirmed(frame):
    only = frame.assign(x2=np.where(frame["item"] == "i01", 3 * frame["y"], 0.0))
    table = mixed.fit_mixed_models(only, FORMULA).table.set_index("term")
    assert table.loc["x2", "p_bonferroni"] < 0.001
    assert np.isnan(table.loc["x2", "se_robust"])
    assert not table.loc["x2", "confirmed"]
    assert np.isfinite(table.loc["x1", "se_robust"])


def test_slopes_are_tested_as_in_an_analysis_of_covariance():
    """F of `y ~ item + x2 + item:x1` against `y ~ item + x1 + x2`, in statsmodels; to 1e-8."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = differing(5, 7, 9, 0.5).iloc[:-3]
    table = mixed.fit_mixed_models(frame, FORMULA).table.set_index("term")
    for own, other in (("x1", "x2"), ("x2", "x1")):
        common = ols("y ~ C(item) + x1 + x2", frame).fit()
        separate = ols(f"y ~ C(item) + {other} + C(item):{own}", frame).fit()
        expected = anova_lm(common, separate)["Pr(>F)"].iloc[1]
        np.testing.assert_allclose(table.loc[own, "p_slopes"], expected, rtol=1e-8)
    assert np.isnan(table.loc["(Intercept)", "p_slopes"])


def test_items_in_which_a_predictor_is_constant_add_nothing_to_the_test_of_its_slopes():
    """A constant of about 20 leaves squares of 1e-14 when its mean is taken away: no slope, so no degree of freedom."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    for seed in range(6):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(9), [6, 7, 5, 9, 3, 7, 11, 6, 7])
        length, words, y = rng.normal(size=(3, len(item))) * [[20], [3], [1]] + [[100], [20], [0]]
        some = np.where(item < 3, 20 + rng.normal(size=len(item)), 20.3 + 0.1 * item)
        frame = pd.DataFrame({"y": y, "x1": length, "x2": words, "some": some, "item": item.astype(str)})
        common = ols("y ~ C(item) + x1 + x2 + some", frame).fit()
        varying = [f"I(some * (item == '{number}'))" for number in range(3)]
        separate = ols(f"y ~ C(item) + x1 + x2 + {' + '.join(varying)}", frame).fit()
        expected = anova_lm(common, separate)["Pr(>F)"].iloc[1]
        table = mixed.fit_mixed_models(frame, "y ~ x1 + x2 + some + (1 | item)").table.set_index("term")
        np.testing.assert_allclose(table.loc["some", "p_slopes"], expected, rtol=1e-6)


def test_a_predictor_that_is_constant_within_items_has_no_slopes_to_compare(frame):
    table = mixed.fit_mixed_models(frame, "y ~ x1 + between + (1 | item)").table.set_index("term")
    assert np.isnan(table.loc["between", "p_slopes"])
    assert np.isfinite(table.loc["between", "se_robust"])


@pytest.mark.parametrize(("items", "rows"), [(40, 25), (12, 25)])
def test_false_positives_stay_at_five_per_cent_where_slopes_differ(items, rows):
    """Of 150 runs without an effect, the fit's own test calls a fifth significant; limits: 1 % to 10 %."""
    found = {}
    for slope_sd in (0.0, 0.3):
        family = pd.concat([differing(seed, items, rows, slope_sd).assign(model=seed) for seed in range(150)])
        table = mixed.fit_mixed_models(family, FORMULA, by="model").table
        tested = table[table["term"] == "x1"]
        found[slope_sd] = (tested[["p", "p_robust", "p_slopes"]] < 0.05).mean()
    assert found[0.3]["p"] > 0.15
    assert found[0.3]["p_slopes"] > 0.8
    for slope_sd in found:
        assert 0.01 <= found[slope_sd]["p_robust"] <= 0.1
    assert 0.01 <= found[0.0]["p_slopes"] <= 0.1


def test_an_effect_that_only_the_plain_fit_calls_significant_is_not_confirmed():
    family = pd.concat([differing(seed, 20, 80, 0.5).assign(model=seed) for seed in range(12)])
    table = mixed.fit_mixed_models(family, FORMULA, by="model").table
    tested = table[table["term"] != "(Intercept)"]
    plain = tested["p_bonferroni"] < 0.05
    robust = tested["p_robust_bonferroni"] < 0.05
    assert (plain & ~robust).any()
    assert (tested["confirmed"] == (plain & robust)).all()
