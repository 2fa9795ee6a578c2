"""Intervals in closed form of variances and entropies: against the formulas the slow way, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.statistics import forms, interval, weighted
from analysis.statistics.interval import DECIDED, EQUAL, FEW
from analysis.statistics.resampling import (
    bootstrap_differences,
    bootstrap_intervals,
    compute_item_sd_in_each_draw,
    compute_mean_per_draw,
)
from helpers import textbook

FORMS = {"sd": forms.DEVIATION, "variance": forms.build_variance_interval_form("x"),
         "entropy": forms.build_entropy_interval_form("x"),
         "kurtosis": forms.KURTOSIS}  # fmt: skip


def figures(columns, counts):
    spread = compute_item_sd_in_each_draw(counts, columns["x"])
    shape = {"entropy": weighted.compute_mode_share_and_entropy_per_draw(counts, columns["x"])["entropy"]}
    return shape | {"sd": spread, "variance": spread**2, "kurtosis": weighted.kurtosis(counts, columns["x"])}


def test_the_formulas_the_slow_way():
    values = np.random.default_rng(0).gamma(3.0, size=(60, 2)).round()
    found = bootstrap_intervals({"x": values}, figures, None, FORMS, draws=50)
    for unit, column in enumerate(values.T.tolist()):
        ends = textbook.deviation(column)
        squares = [end**2 for end in ends]
        assert (found["variance"].lower[unit], found["variance"].upper[unit]) == pytest.approx(squares, rel=1e-9)
        without = [textbook.entropy(column[:item] + column[item + 1 :]) for item in range(60)]
        error = math.sqrt(59 / 60 * math.fsum((each - np.mean(without)) ** 2 for each in without))
        centre = 60 * textbook.entropy(column) - 59 * np.mean(without)
        half = stats.t.ppf(0.975, 59) * error
        assert (found["entropy"].lower[unit], found["entropy"].upper[unit]) == pytest.approx(
            (centre - half, centre + half), abs=1e-9
        )
        assert found["entropy"].estimate[unit] == pytest.approx(centre, abs=1e-9)


def test_an_entropy_is_in_its_interval_and_below_that_of_as_many_numbers_as_there_are():
    rng, widest = np.random.default_rng(3), {"x": forms.build_entropy_interval_form("x", 10)}
    scores = np.column_stack([rng.integers(0, high, 40) for high in (2, 5, 10, 10, 10, 10)]).astype(float)

    def compute_entropy(columns, counts):
        return {"x": weighted.compute_mode_share_and_entropy_per_draw(counts, columns["x"], 10)["entropy"]}

    found = bootstrap_intervals({"x": scores}, compute_entropy, None, widest, draws=20)["x"]
    assert ((found.lower <= found.estimate) & (found.estimate <= found.upper)).all()
    assert (found.upper <= math.log2(10)).all() and (found.lower >= 0).all()
    assert (found.upper[2:] == math.log2(10)).any()


def test_too_few_items_have_no_interval_and_say_so():
    x = np.random.default_rng(1).gamma(3.0, size=(999, 2)).round()
    assert bootstrap_intervals({"x": x[:59]}, figures, None, FORMS, draws=20)["variance"].missing.tolist() == [FEW, FEW]
    assert bootstrap_intervals({"x": x[:29]}, figures, None, FORMS, draws=20)["entropy"].missing.tolist() == [FEW, FEW]
    many = bootstrap_intervals({"x": x}, figures, None, FORMS, draws=20)
    assert many["kurtosis"].missing.tolist() == [FEW, FEW] and many["variance"].missing.tolist() == ["", ""]
    tested = bootstrap_differences({"x": x}, figures, [(0, 1)], None, FORMS, draws=200)["kurtosis"]
    assert np.isnan(tested.lower[0]) and 0 < tested.p[0] <= 1  # a test of no difference needs no interval
    same = bootstrap_intervals({"x": np.full((40, 1), 0.1)}, figures, None, FORMS, draws=20)
    assert [same[name].missing[0] for name in ("sd", "entropy")] == [EQUAL, EQUAL]


def test_spreads_over_items_have_neither_interval_nor_test():
    """Reference: Bonett's interval covers .71 of 62 items whose SDs are lognormal (1.0), as the module says."""
    rng = np.random.default_rng(2)
    x = 0.05 * np.exp(rng.normal(0, 1, (62, 200)))
    truth = 0.05 * stats.lognorm(1).std()
    held = [low <= truth <= high for low, high in map(textbook.deviation, x.T.tolist())]
    assert np.mean(held) < 0.85
    found = bootstrap_intervals({"x": x}, figures, None, FORMS, draws=20)["sd"]
    assert found.missing.tolist() == [DECIDED] * 200
    tested = bootstrap_differences({"x": x}, figures, [(0, 1)], None, FORMS, draws=200)["sd"]
    assert np.isnan([tested.lower[0], tested.upper[0], tested.p[0]]).all()
    assert tested.estimate[0] == pytest.approx(x[:, 0].std(ddof=1) - x[:, 1].std(ddof=1), abs=1e-12)
    shown = interval.build_interval_columns({"sd": found})
    assert shown["no_interval"].tolist() == [""] * 200  # the meaning of the column says it


SHAPES = {"normal": (stats.norm(0.5, 0.1), 0.90), "skewed": (stats.beta(1, 4), 0.90), "even": (stats.uniform(), 0.90)}


@pytest.mark.parametrize("items", [10, 30, 62])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold(shape, items):
    """A small version of tests/benchmarks/bench_coverage.py. Plain percentiles: .88 of means at 10."""
    population, least = SHAPES[shape]
    x = population.rvs(size=(items, 400), random_state=items)

    def measured(columns, counts):
        return {
            "mean": compute_mean_per_draw(counts, columns["x"]),
            "variance": compute_item_sd_in_each_draw(counts, columns["x"]) ** 2,
        }

    found = bootstrap_intervals({"x": x}, measured, None, FORMS, draws=1000)
    for name, truth in (("mean", population.mean()), ("variance", population.var())):
        held = ((found[name].lower <= truth) & (truth <= found[name].upper)).mean()
        shown = name == "mean" or items >= 60
        assert not shown or held >= least - 0.02, (name, held)  # two standard errors of the simulation: .022 at .95
