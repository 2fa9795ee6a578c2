"""Variance components beside a textbook, mixed models, sums written the slow way, and their own truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.reliability.components import (
    estimate_covariance_of_models_over_wordings,
    estimate_model_variance_components,
    estimate_variance_components,
)
from analysis.statistics.reliability.generalizability import (
    compute_absolute_coefficient,
    compute_intraclass_correlations,
    compute_krippendorff_alpha,
    compute_relative_coefficient,
)
from analysis.statistics.reliability.panel import estimate_panel_mean
from helpers.populations import SCALES, Population, thinned

pytestmark = pytest.mark.slow

# Shrout, P. E. and Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin 86, Tables 2 to 4.
JUDGES = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def drawn(rng, items, wordings, item=1.0, wording=0.5, inner=0.7, crossed=True):
    shared = (1, wordings) if crossed else (items, wordings)
    return (
        rng.normal(0, item, (items, 1)) + rng.normal(0, wording, shared) + rng.normal(0, inner, (items, wordings))
    )  # fmt: skip


@pytest.mark.parametrize("answer", [0.1, 0.3, 1 / 3, 0.7])
@pytest.mark.parametrize("crossed", [True, False])
def test_answers_that_differ_by_rounding_have_no_variance(answer, crossed):
    """Models that all gave one answer were ranked, as what rounding leaves of it looked reliable: 0.99."""
    noise = np.random.default_rng(0).choice([-1, 0, 1], (3, 7, 4)) * np.spacing(answer)
    for values in (np.full((3, 7, 4), answer), answer + noise):
        alike = estimate_variance_components(values[0], crossed)
        assert (alike.item, alike.residual) == (0, 0) and (alike.wording == 0 or not crossed)
        together = estimate_model_variance_components(values, crossed)
        one_wording = estimate_model_variance_components(values[:, :, :1], crossed)
        for components in (together, one_wording):
            assert (components.model, components.model_item, components.residual, components.spread) == (0, 0, 0, 0)
            assert np.isnan(compute_relative_coefficient(components, 7, 4))
        assert np.isnan(compute_krippendorff_alpha(values[0]))
        panel = estimate_panel_mean(values[0], crossed)
        assert (panel.item_mean_variance, panel.inner, panel.compute_standard_error("both")) == (0, 0, 0)
    # Items that differ, each with one answer in all its wordings: nothing is left within them.
    items = estimate_variance_components(np.repeat(np.linspace(0.1, answer + 0.1, 7)[:, None], 4, axis=1), crossed)
    assert items.item > 0 and items.residual == 0 and (items.wording == 0 or not crossed)


@pytest.mark.parametrize("crossed", [True, False])
def test_small_wordings_of_items_far_apart_are_no_rounding(crossed):
    """They had no variance where they moved answers by less than 1e-7 of how far items are apart."""
    items, rest = 300 * drawn(np.random.default_rng(0), 40, 1, 1, 0, 0), drawn(np.random.default_rng(1), 40, 5, 0)
    small, plain = (estimate_variance_components(items + size * rest, crossed) for size in (1e-6, 1.0))
    assert small.residual == pytest.approx(1e-12 * plain.residual, rel=1e-5, abs=0)
    assert small.item == pytest.approx(plain.item, rel=0.01)
    if crossed:
        assert small.wording == pytest.approx(1e-12 * plain.wording, rel=1e-5, abs=0)


@pytest.mark.parametrize("n_wordings", [1, 4])
def test_answers_too_large_to_be_squared_have_no_components(n_wordings):
    """They ended in an OverflowError."""
    values = np.random.default_rng(0).random((3, 5, n_wordings)) * 1e200
    with np.errstate(over="ignore", invalid="ignore"):
        found = estimate_model_variance_components(values, True)
    assert found is None or not np.isfinite(found.model)


def test_items_that_are_not_told_apart_from_shared_wordings_have_no_component():
    holes = np.full((3, 5), np.nan)
    holes[0, 0] = holes[1, 3] = holes[2, 1] = holes[2, 3] = 1.0
    holes[2, 1] = 0.0
    for values in (holes, holes[:2]):
        panel = estimate_panel_mean(values, True)
        assert np.isnan([panel.item, panel.wording, panel.inner]).all()


def test_the_textbook_example():
    """Mean squares 11.24 (targets), 32.49 (judges), 1.02 (residual) and 6.26 (within), as printed."""
    found = estimate_variance_components(JUDGES, True)
    assert [round(found.residual, 2), round(found.residual + 4 * found.item, 2)] == [1.02, 11.24]
    assert round(found.residual + 6 * found.wording, 2) == 32.49
    assert round(estimate_variance_components(JUDGES, False).residual, 2) == 6.26
    assert {name: round(value, 2) for name,
            value in compute_intraclass_correlations(estimate_panel_mean(JUDGES, True)).items()} == {
        "icc": 0.29, "icc_mean": 0.62, "icc_order": 0.71, "icc_order_mean": 0.91
    }  # fmt: skip
    nested = compute_intraclass_correlations(estimate_panel_mean(JUDGES, False))
    assert [round(nested["icc"], 2), round(nested["icc_mean"], 2)] == [0.17, 0.44]


def test_intraclass_correlations_are_those_of_pingouin():
    pingouin = pytest.importorskip("pingouin")
    values = drawn(np.random.default_rng(0), 15, 4)
    item, wording = np.indices(values.shape)
    long = pd.DataFrame({"item": item.ravel(), "wording": wording.ravel(), "value": values.ravel()})
    table = pingouin.intraclass_corr(long, targets="item", raters="wording", ratings="value")
    one, agree, order, one_mean, agree_mean, order_mean = table["ICC"]
    crossed, nested = (
        compute_intraclass_correlations(estimate_panel_mean(values, True)),
        compute_intraclass_correlations(estimate_panel_mean(values, False)),
    )
    ours = [nested["icc"], crossed["icc"], crossed["icc_order"], nested["icc_mean"], crossed["icc_mean"],
            crossed["icc_order_mean"]]  # fmt: skip
    np.testing.assert_allclose(ours, [one, agree, order, one_mean, agree_mean, order_mean], atol=1e-8)


def test_balanced_components_are_those_of_reml():
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    values = drawn(np.random.default_rng(1), 12, 5)
    item, wording = (codes.ravel() for codes in np.indices(values.shape))
    frame = pd.DataFrame({"y": values.ravel(), "item": item, "wording": wording, "all": 1})
    parts = {"item": "0 + C(item)", "wording": "0 + C(wording)"}
    fit = mixed.MixedLM.from_formula("y ~ 1", groups="all", vc_formula=parts, data=frame).fit(reml=True, method="lbfgs")
    found = estimate_variance_components(values, True)
    assert found.item > 0 and found.wording > 0
    np.testing.assert_allclose([found.item, found.wording, found.residual], [*fit.vcomp, fit.scale], atol=1e-4)


def test_equations_with_missing_answers_are_those_of_least_squares():
    """Searle et al., section 5.5, written the slow way: reductions by dummy variables, expectations by traces."""
    values = drawn(np.random.default_rng(2), 9, 4)
    values[[0, 3, 3, 7], [1, 0, 2, 3]] = np.nan
    row, column = np.nonzero(~np.isnan(values))
    y, one = values[row, column], np.ones((len(row), 1))
    item, wording = np.eye(9)[row], np.eye(4)[column]

    def into(*blocks):
        design = np.hstack(blocks)
        return design @ np.linalg.pinv(design)

    whole, items, wordings = into(one, item, wording), into(one, item), into(one, wording)
    rank = round(np.trace(whole))
    residual = y @ (np.eye(len(y)) - whole) @ y / (len(y) - rank)
    for name, other, factor in (("wording", items, wording), ("item", wordings, item)):
        added = whole - other
        expected = (y @ added @ y - np.trace(added) * residual) / np.trace(factor.T @ added @ factor)
        assert getattr(estimate_variance_components(values, True), name) == pytest.approx(expected, rel=1e-10)
    assert estimate_variance_components(values, True).residual == pytest.approx(residual, rel=1e-10)


@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_estimates_are_right_on_average(crossed, scale):
    """Over 300 runs with a third of the answers missing, on every scale: within 3 % of the total, or three errors."""
    population = Population({"item": 0.8, "wording": 0.3 * crossed, "residual": 0.5}, crossed, SCALES[scale])
    rng, truth = np.random.default_rng(3), population.components()
    found = [estimate_variance_components(thinned(rng, population.draw(rng, 1, 30, 5))[0], crossed) for _ in range(300)]
    inner = truth["residual"] + truth["item_wording"]  # one model: answered once
    for name, true in {"item": truth["item"], "residual": inner, "wording": truth["wording"]}.items():
        estimates = np.array([getattr(each, name) for each in found])
        if crossed or name != "wording":
            limit = max(0.03 * sum(truth.values()), 3 * estimates.std() / np.sqrt(300))
            assert estimates.mean() == pytest.approx(true, abs=limit), name


def test_components_on_a_scale_are_those_of_all_its_answers():
    """Cut at 0 and 1, by a study of 4 million answers: within .002. As drawn, they are the squared SDs."""
    sds = {"model": 0.3, "item": 0.6, "wording": 0.2, "model_item": 0.3, "residual": 0.4}
    plain = Population(sds).components()
    assert plain == pytest.approx({name: sds.get(name, 0.0) ** 2 for name in plain}, abs=2e-3)
    cut = Population(sds, scale=SCALES["cut at 0 and 1"])
    found = estimate_model_variance_components(cut.draw(np.random.default_rng(0), 200, 200, 100), True)
    assert {name: getattr(found, name) for name in plain} == pytest.approx(cut.components(), abs=2e-3)


def test_models_items_and_wordings_are_told_apart():
    """A p x i x o design: the mean squares of the textbook (Brennan, Table 3.2), by their definition."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(4, 6, 3)) + rng.normal(size=(4, 1, 1)) + rng.normal(size=(1, 6, 1))
    m, i, w = values.shape
    mean = {axes: values.mean(axis=axes, keepdims=True) for axes in [(1, 2), (0, 2), (0, 1), (2,), (1,), (0,)]}
    grand = values.mean()
    pairs = mean[(2,)] - mean[(1, 2)] - mean[(0, 2)] + grand
    with_wording = mean[(1,)] - mean[(1, 2)] - mean[(0, 1)] + grand
    items_wordings = mean[(0,)] - mean[(0, 2)] - mean[(0, 1)] + grand
    rest = values - mean[(1, 2)] - mean[(0, 2)] - mean[(0, 1)] + 2 * grand - pairs - with_wording - items_wordings
    ms_m = i * w * ((mean[(1, 2)] - grand) ** 2).sum() / (m - 1)
    ms_mi = w * (pairs**2).sum() / (m - 1) / (i - 1)
    ms_mw = i * (with_wording**2).sum() / (m - 1) / (w - 1)
    ms_iw = m * (items_wordings**2).sum() / (i - 1) / (w - 1)
    ms_i = m * w * ((mean[(0, 2)] - grand) ** 2).sum() / (i - 1)
    ms_e = (rest**2).sum() / (m - 1) / (i - 1) / (w - 1)
    found = estimate_model_variance_components(values, True)
    expected = {
        "model": (ms_m - ms_mi - ms_mw + ms_e) / i / w, "item": (ms_i - ms_mi - ms_iw + ms_e) / m / w,
        "model_item": (ms_mi - ms_e) / w, "model_wording": (ms_mw - ms_e) / i, "item_wording": (ms_iw - ms_e) / m,
        "residual": ms_e,
    }  # fmt: skip
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-12)
    error = max(found.model_item, 0) / 6 + max(found.model_wording, 0) / 3 + found.residual / 18
    assert compute_relative_coefficient(found, 6, 3) == pytest.approx(found.model / (found.model + error), abs=1e-12)
    assert compute_absolute_coefficient(found, 6, 3) < compute_relative_coefficient(found, 6, 3)
    assert (
        compute_relative_coefficient(found, 6, 1)
        < compute_relative_coefficient(found, 6, 3)
        < compute_relative_coefficient(found, 60, 3)
    )


def test_models_vary_together_over_wordings():
    """The covariance of two models is half of what the component of their sum has more than their own."""
    values = np.random.default_rng(6).normal(size=(3, 9, 4)) + np.random.default_rng(7).normal(size=(1, 1, 4))
    values[:, [0, 3, 3], [1, 0, 2]] = np.nan
    found = estimate_covariance_of_models_over_wordings(values)
    own = [estimate_variance_components(each, True).wording for each in values]
    assert np.diag(found) == pytest.approx(own, abs=1e-12)
    both = estimate_variance_components(values[0] + values[2], True).wording
    assert found[0, 2] == pytest.approx((both - own[0] - own[2]) / 2, abs=1e-12)


def test_wordings_of_their_own_have_no_part_across_items():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3, 8, 5)) + rng.normal(size=(3, 1, 1))
    found, moved = estimate_model_variance_components(values, False), values.copy()
    for row in range(8):
        moved[:, row] = moved[:, row][:, rng.permutation(5)]
    other = estimate_model_variance_components(moved, False)
    assert (found.model, found.wording) == pytest.approx((other.model, other.wording), abs=1e-12)
    assert np.isnan(found.model_wording)


def test_alpha_is_that_of_krippendorff():
    """His example of four observers and twelve units, 2011: .849 on an interval scale; and the sum over all pairs."""
    no = np.nan
    data = np.array([[1, 2, 3, 3, 2, 1, 4, 1, 2, no, no, no], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, no, 3],
                     [no, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, no], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, no]]).T  # fmt: skip
    assert compute_krippendorff_alpha(data) == pytest.approx(0.849, abs=5e-4)
    assert np.isnan(compute_krippendorff_alpha(np.ones((3, 2)))) and np.isnan(
        compute_krippendorff_alpha(np.array([[1.0, no]]))
    )


def test_what_cannot_be_told_is_missing():
    for values, crossed in ((np.ones((1, 5)), True), (np.ones((5, 1)), True), (np.ones((5, 1)), False),
                            (np.full((3, 3), np.nan), True)):  # fmt: skip
        assert np.isnan(estimate_variance_components(values, crossed).item)
    assert estimate_model_variance_components(np.ones((1, 4, 4)), True) is None
    assert estimate_variance_components(np.ones((4, 3)), True).residual == 0
