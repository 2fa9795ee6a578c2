"""Correlations against R's cor.test (tests/reference/correlation.csv), scipy and pingouin, and what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.statistics import correlation
from ground.errors import InputError

FOLDER = Path(__file__).parents[2] / "reference"
DATA = dict(iter(pd.read_csv(FOLDER / "correlation_data.csv").groupby("dataset")))
REFERENCE = pd.read_csv(FOLDER / "correlation.csv").set_index(["dataset", "method"])


def ours(name: str, method: str) -> correlation.Coefficient:
    data, (plain, _, given) = DATA[name], method.partition(" given ")
    return correlation.correlate_over_models(data["x"], data["y"], method=plain, control=data[given] if given else None)


@pytest.mark.slow
@pytest.mark.parametrize("key", list(REFERENCE.index), ids=" ".join)
def test_r_gives_the_same(key):
    """r within 1e-12, p within a relative 1e-9, intervals within 1e-12; no p where ties rule R's exact one out."""
    found, expected = ours(*key), REFERENCE.loc[key]
    assert found.r == pytest.approx(expected["r"], abs=1e-12)
    if not np.isnan(expected["p"]):
        assert found.p == pytest.approx(expected["p"], rel=1e-9)
    if not np.isnan(expected["lower"]):
        assert (found.lower, found.upper) == pytest.approx((expected["lower"], expected["upper"]), abs=1e-12)
    assert found.n == len(DATA[key[0]])


@pytest.mark.parametrize("name", DATA)
def test_scipy_gives_the_same(name):
    x, y = DATA[name]["x"], DATA[name]["y"]
    pearson, spearman = stats.pearsonr(x, y), stats.spearmanr(x, y)
    assert ours(name, "pearson").p == pytest.approx(pearson.pvalue, rel=1e-9)
    assert ours(name, "pearson").lower == pytest.approx(pearson.confidence_interval().low, abs=1e-12)
    assert ours(name, "spearman").r == pytest.approx(spearman.statistic, abs=1e-12)
    if len(x) >= correlation.FEW:
        assert ours(name, "spearman").p == pytest.approx(spearman.pvalue, rel=1e-9)


def test_the_exact_p_with_ties_is_that_of_all_orders():
    """scipy's permutation test of |rho| over all orders of five ranks with ties; 1e-12."""
    x, y = np.array([1, 1, 2, 3, 4.0]), np.array([2, 1, 3, 3, 5.0])
    found = stats.permutation_test(
        (x,), lambda a: abs(stats.spearmanr(a, y).statistic), permutation_type="pairings", n_resamples=np.inf,
        alternative="greater",
    )  # fmt: skip
    assert correlation.correlate_over_models(x, y, method="spearman").p == pytest.approx(found.pvalue, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", correlation.METHODS)
@pytest.mark.parametrize("name", DATA)
def test_pingouin_gives_the_same_partial_correlations(name, method):
    """r within 1e-10, p within a relative 1e-8; pingouin rounds its intervals to two digits, and has none for ranks.

    It takes Fisher's for them, which is too narrow (Bonett and Wright 2000): theirs, written out, is the reference.
    """
    pingouin = pytest.importorskip("pingouin", reason="needs the extra statistics")
    expected = pingouin.partial_corr(DATA[name], x="x", y="y", covar="z", method=method).iloc[0]
    interval = expected[next(key for key in expected.index if key.upper().startswith("CI95"))]
    found = ours(name, f"{method} given z")
    assert found.r == pytest.approx(expected["r"], abs=1e-10)
    p = expected[next(key for key in expected.index if key.replace("_", "-") == "p-val")]
    assert found.p == pytest.approx(p, rel=1e-8)
    if method == "spearman":
        half = stats.norm.ppf(0.975) * np.sqrt((1 + found.r**2 / 2) / (len(DATA[name]) - 1 - 3))
        interval = np.tanh(np.arctanh(found.r) + half * np.array([-1, 1]))
    np.testing.assert_allclose([found.lower, found.upper], interval, atol=0.0051 if method == "pearson" else 1e-12)


def test_intervals_of_rank_correlations_hold():
    """Of 300 samples with a true rho of .89: Fisher's interval covered .88 with 10 models."""
    rng, truth = np.random.default_rng(0), 6 / np.pi * np.arcsin(0.45)
    held = []
    for _ in range(300):
        x = rng.normal(size=10)
        y = 0.9 * x + np.sqrt(0.19) * rng.normal(size=10)
        found = correlation.correlate_over_models(x, y, method="spearman")
        held += [found.lower <= truth <= found.upper] if found.lower == found.lower else []
    assert np.mean(held) >= 0.90


def test_four_models_in_one_order_are_not_significant():
    """2 of the 24 orders are as extreme; the t approximation would say p = 0."""
    found = correlation.correlate_over_models([1, 2, 3, 4], [10, 20, 30, 90], method="spearman")
    assert (found.r, found.p) == (1.0, pytest.approx(2 / 24))
    assert np.isnan(found.lower)
    assert found.caution == "few: fewer than 10 models"


@pytest.mark.parametrize("n", [0, 1, 3])
def test_fewer_than_four_models_are_refused(n):
    found = correlation.correlate_over_models(range(n), range(n))
    assert np.isnan([found.r, found.lower, found.p]).all()
    assert (found.n, found.caution) == (n, "refused: fewer than 4 models")


def test_missing_values_are_left_out_pair_by_pair():
    x = [1, 2, np.nan, 4, 5, 7]
    found = correlation.correlate_over_models(x, [2, 1, 9, 3, 5, np.nan])
    assert found.n == 4
    assert found.r == pytest.approx(np.corrcoef([1, 2, 4, 5], [2, 1, 3, 5])[0, 1])


def test_a_constant_has_no_correlation():
    found = correlation.correlate_over_models([0.1] * 12, range(12))
    assert np.isnan(found.r)
    assert found.caution.startswith("undefined")
    given = correlation.correlate_over_models([2 * k + 1 for k in range(12)], np.sin(range(12)), control=range(12))
    assert np.isnan(given.r)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="pearson and spearman"):
        correlation.correlate_over_models([1, 2], [1, 2], method="kendall")


def test_no_p_value_vanishes():
    x = np.arange(3000.0)
    assert correlation.correlate_over_models(x, x + np.sin(x)).p > 0


def test_the_matrix_has_every_pair_once_and_holm_over_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(25, 4)), columns=list("abcd"))
    frame["b"] += frame["a"]
    frame.loc[3, "c"] = np.nan
    table = correlation.correlate_all_column_pairs(frame)
    assert list(table.groupby("method").size()) == [6, 6]
    pairs = list(table[table["method"] == "pearson"][["measure_a", "measure_b"]].itertuples(index=False, name=None))
    assert pairs == list(itertools.combinations("abcd", 2))
    assert set(table.loc[(table["measure_a"] == "c") | (table["measure_b"] == "c"), "n"]) == {24}
    p = np.sort(table.loc[table["method"] == "pearson", "p"])
    expected = np.minimum(np.maximum.accumulate(p * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(np.sort(table.loc[table["method"] == "pearson", "p_holm"]), expected, rtol=1e-12)
