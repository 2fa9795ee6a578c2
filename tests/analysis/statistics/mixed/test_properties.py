"""What a change of units may change in a mixed model, and what it may not; against the model written out in full."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from analysis.statistics import mixed
from analysis.statistics.mixed.design import build_full_rank_design, build_model_matrix, iterate_checked_fit_inputs
from analysis.statistics.mixed.profile import (
    add_response_sums,
    compute_profile_at_phi,
    compute_sufficient_statistics_of_predictors,
)
from reference.mixed_data import responses

FORMULA = "y ~ x1 + x2 + (1 | item)"
INVARIANT = ["df", "statistic", "p", "p_bonferroni", "p_holm", "estimate_std"]
shifts = st.floats(-1e3, 1e3)
factors = st.floats(-2, 2).map(lambda power: 10.0**power) | st.floats(-2, 2).map(lambda power: -(10.0**power))


@st.composite
def frames(draw):
    sizes = np.array(draw(st.lists(st.integers(1, 12), min_size=3, max_size=12)))
    assume(sizes.sum() > len(sizes) + 4)
    return responses(draw(st.integers(0, 2**31)), sizes, item_sd=draw(st.sampled_from([0.0, 0.3, 3.0])), predictors=2)


def table(frame, formula=FORMULA):
    return mixed.fit_mixed_models(frame, formula, engine="profile").table.set_index("term")


def mirrored(rows, sign):
    """What a change of sign does to a test."""
    return rows.assign(**{column: rows[column] * sign for column in ("statistic", "estimate_std")})


def same(found, expected, columns, tolerance=1e-6):
    for column in columns:
        np.testing.assert_allclose(found[column], expected[column], rtol=tolerance, atol=1e-9, err_msg=column)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(frames(), shifts, factors)
def test_units_of_a_predictor_change_its_estimate_only(frame, shift, factor):
    before, after = table(frame), table(frame.assign(x1=frame["x1"] * factor + shift))
    same(after.loc[["x2"]], before.loc[["x2"]], [*INVARIANT, "estimate", "se", "lower", "upper"])
    same(after.loc[["x1"]], mirrored(before.loc[["x1"]], np.sign(factor)), INVARIANT)
    assert after.loc["x1", "estimate"] == pytest.approx(before.loc["x1", "estimate"] / factor, rel=1e-6)
    assert after.loc["x1", "se"] == pytest.approx(before.loc["x1", "se"] / abs(factor), rel=1e-6)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(frames(), shifts, factors)
def test_units_of_the_response_change_the_scale_only(frame, shift, factor):
    before, after = table(frame), table(frame.assign(y=frame["y"] * factor + shift))
    slopes = ["x1", "x2"]
    # a shift of 1e3 on a scale of 1e-2 leaves 11 of the response's 16 digits
    same(after.loc[slopes], mirrored(before.loc[slopes], np.sign(factor)), INVARIANT, 1e-5)
    np.testing.assert_allclose(after.loc[slopes, "estimate"], before.loc[slopes, "estimate"] * factor, rtol=1e-5)
    np.testing.assert_allclose(after.loc[slopes, "se"], before.loc[slopes, "se"] * abs(factor), rtol=1e-5)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(frames(), st.integers(0, 2**31))
def test_order_of_rows_and_names_of_items_do_not_matter(frame, seed):
    shuffled = frame.sample(frac=1, random_state=np.random.RandomState(seed)).assign(
        item=lambda rows: "z" + rows["item"].str[::-1]
    )
    same(table(shuffled), table(frame), [*INVARIANT[:-1], "estimate", "se"])


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(frames())
def test_against_generalised_least_squares_written_out(frame):
    """The same model with its full covariance matrix, minimised by a general optimiser."""
    x = np.column_stack([np.ones(len(frame)), frame[["x1", "x2"]]])
    y, same_item = frame["y"].to_numpy(), np.equal.outer(frame["item"].to_numpy(), frame["item"].to_numpy())
    df = len(y) - x.shape[1]

    def solved(theta):
        inverse = np.linalg.inv(np.eye(len(y)) + theta**2 * same_item)
        information = x.T @ inverse @ x
        beta = np.linalg.solve(information, x.T @ inverse @ y)
        rss = (y - x @ beta) @ inverse @ (y - x @ beta)
        logs = np.linalg.slogdet(information)[1] - np.linalg.slogdet(inverse)[1]
        return beta, information, rss / df, logs + df * (1 + np.log(2 * np.pi * rss / df))

    found = mixed.fit_mixed_models(frame, FORMULA, engine="profile")
    theta = found.diagnostics.loc[0, "sd_item"] / found.diagnostics.loc[0, "sigma"]
    beta, information, sigma2, criterion = solved(theta)
    np.testing.assert_allclose(found.table["estimate"], beta, atol=1e-7)
    np.testing.assert_allclose(found.table["se"], np.sqrt(sigma2 * np.diag(np.linalg.inv(information))), rtol=1e-7)
    assert found.diagnostics.loc[0, "reml"] == pytest.approx(criterion, abs=1e-6)
    best = min(
        minimize_scalar(lambda t: solved(t)[3], bounds=b, method="bounded").fun for b in [(0, 0.5), (0.2, 3), (2, 50)]
    )
    assert found.diagnostics.loc[0, "reml"] <= best + 1e-6


@pytest.mark.parametrize("phi", [1e-4, 0.1, 3.0, 1e5])
def test_slope_is_the_derivative_of_the_criterion(phi):
    frame = responses(1, np.array([2, 5, 9, 1, 4]))
    asked = build_model_matrix(next(iterate_checked_fit_inputs(frame, mixed.parse_formula(FORMULA), ())))
    sums = add_response_sums(compute_sufficient_statistics_of_predictors(asked, build_full_rank_design(asked)), asked.y)
    step = 1e-4 * phi
    numeric = (
        compute_profile_at_phi(sums, phi + step).criterion - compute_profile_at_phi(sums, phi - step).criterion
    ) / (2 * step)
    assert compute_profile_at_phi(sums, phi).slope == pytest.approx(numeric, rel=1e-5, abs=1e-10)


def test_balanced_design_has_the_textbook_answer():
    """Balanced one-way layout: REML equals the ANOVA estimators, and the mean has items - 1 degrees of freedom."""
    frame = responses(4, np.full(9, 6), item_sd=1.0)
    means = frame.groupby("item")["y"].mean()
    within = frame["y"] - frame["item"].map(means)
    ms_within, ms_between = (within**2).sum() / (54 - 9), 6 * means.var(ddof=1)
    assert ms_between > ms_within
    result = mixed.fit_mixed_models(frame, "y ~ 1 + (1 | item)")
    assert result.diagnostics.loc[0, "sigma"] ** 2 == pytest.approx(ms_within, rel=1e-9)
    assert result.diagnostics.loc[0, "sd_item"] ** 2 == pytest.approx((ms_between - ms_within) / 6, rel=1e-9)
    row = result.table.iloc[0]
    assert row["estimate"] == pytest.approx(frame["y"].mean(), rel=1e-12)
    assert row["se"] == pytest.approx(np.sqrt(ms_between / 54), rel=1e-9)
    assert row["df"] == pytest.approx(8, rel=1e-9)


def test_the_example_of_the_module_comes_out_as_it_says():
    frame = pd.DataFrame({"item": list("AABBB"), "y": [1.0, 3, 4, 6, 8]})
    (part,) = iterate_checked_fit_inputs(frame, mixed.parse_formula("y ~ 1 + (1 | item)"), ())
    asked = build_model_matrix(part)
    made = build_full_rank_design(asked)
    sums = add_response_sums(compute_sufficient_statistics_of_predictors(asked, made), asked.y)
    found = compute_profile_at_phi(sums, 1.0)
    assert asked.codes.tolist() == [0, 0, 1, 1, 1]
    assert (sums.size.tolist(), sums.y.tolist(), sums.within_yy) == ([2, 3], [2, 6], 10)
    np.testing.assert_allclose(found.weight, [2 / 3, 3 / 4])
    np.testing.assert_allclose(np.linalg.inv(made.r) @ found.coefficient, [70 / 17])
    np.testing.assert_allclose(found.phi * found.weight * found.residual, [-24 / 17, 24 / 17])


def test_conditional_modes_are_shrunken_means():
    frame = responses(5, np.array([3, 9, 27, 4]))
    result = mixed.fit_mixed_models(frame, "y ~ 1 + (1 | item)")
    found, mean = result.diagnostics.iloc[0], result.table.loc[0, "estimate"]
    groups = frame.groupby("item")["y"]
    ratio = (found["sd_item"] / found["sigma"]) ** 2
    expected = (groups.mean() - mean) * groups.size() * ratio / (1 + groups.size() * ratio)
    effects = result.random_effects.set_index("level")["estimate"]
    pd.testing.assert_series_equal(effects, expected, check_names=False, rtol=1e-9)
