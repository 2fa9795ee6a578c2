"""What sampling adds is that of a textbook analysis of variance, and of studies drawn again."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from analysis.statistics.reliability import sampling
from analysis.statistics.reliability.components import estimate_model_variance_components
from analysis.statistics.reliability.forecast import build_mean_error_forecast, predict_standard_error
from analysis.statistics.reliability.generalizability import (
    compute_intraclass_correlations,
    compute_relative_coefficient,
    compute_relative_coefficient_interval,
)
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.planning import Goal, list_sufficient_designs
from analysis.statistics.reliability.ranges import compute_component_intervals
from analysis.statistics.reliability.ranking import rank_models
from analysis.statistics.reliability.sampling import estimate_sampling_variance

SD = {"item": 0.3, "wording": 0.1, "interaction": 0.15, "sample": 0.4}


def drawn(rng, items, wordings, samples, crossed=True):
    """Samples (items, wordings, samples) of known components."""
    shared = rng.normal(0, SD["wording"], (1 if crossed else items, wordings, 1))
    inner = rng.normal(0, SD["interaction"], (items, wordings, 1))
    noise = rng.normal(0, SD["sample"], (items, wordings, samples))
    return rng.normal(0, SD["item"], (items, 1, 1)) + shared + inner + noise


def read(values):
    """Answers (items, wordings) and what sampling adds to them."""
    number = np.full(values.shape[:2], float(values.shape[2]))
    return values.mean(axis=2), estimate_sampling_variance(values.var(axis=2, ddof=1), number)


def mean_squares(values):
    """The analysis of variance of items x wordings with samples in each cell, by loops over all samples."""
    items, wordings, samples = values.shape
    grand = values.mean()
    squares = {"item": 0.0, "wording": 0.0, "interaction": 0.0, "sample": 0.0}
    for i in range(items):
        for w in range(wordings):
            of_item, of_wording, cell = values[i].mean(), values[:, w].mean(), values[i, w].mean()
            for s in range(samples):
                squares["item"] += (of_item - grand) ** 2
                squares["wording"] += (of_wording - grand) ** 2
                squares["interaction"] += (cell - of_item - of_wording + grand) ** 2
                squares["sample"] += (values[i, w, s] - cell) ** 2
    free = {"item": items - 1, "wording": wordings - 1, "interaction": (items - 1) * (wordings - 1),
            "sample": items * wordings * (samples - 1)}  # fmt: skip
    return {name: squares[name] / free[name] for name in squares}


def test_the_examples_are_right():
    assert doctest.testmod(sampling).failed == 0


def test_crossed_components_are_those_of_the_textbook():
    values = drawn(np.random.default_rng(0), 9, 4, 5)
    items, wordings, samples = values.shape
    of = mean_squares(values)
    found = estimate_panel_mean(values.mean(axis=2), True, read(values)[1])
    expected = {
        "item": (of["item"] - of["interaction"]) / wordings / samples,
        "wording": (of["wording"] - of["interaction"]) / items / samples,
        "interaction": (of["interaction"] - of["sample"]) / samples,
    }
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-12)
    assert found.sampled.sample == pytest.approx(of["sample"], abs=1e-12)
    whole = sum(expected.values()) + of["sample"]
    assert compute_intraclass_correlations(found)["icc_sample"] == pytest.approx(expected["item"] / whole, abs=1e-12)
    assert (
        compute_intraclass_correlations(found)["icc"]
        == compute_intraclass_correlations(estimate_panel_mean(values.mean(axis=2), True))["icc"]
    )


def test_one_wording_is_an_analysis_of_variance_of_one_factor():
    values = drawn(np.random.default_rng(1), 12, 1, 6)
    answers, own = read(values)
    flat = values[:, 0]
    between = 6 * sum((row.mean() - flat.mean()) ** 2 for row in flat) / 11
    within = sum((each - row.mean()) ** 2 for row in flat for each in row) / 60
    for crossed in (True, False):
        found = estimate_panel_mean(answers, crossed, own)
        assert found.item == pytest.approx((between - within) / 6, abs=1e-12)
        assert np.isnan(
            [
                found.wording,
                found.interaction,
                found.compute_interval_widening_by_few_wordings(),
                found.predict_standard_error_at_size(5, 2),
            ]
        ).all()
        single = found.item / (found.item + within)
        assert compute_intraclass_correlations(found)["icc_sample"] == pytest.approx(single, abs=1e-12)
        # Spearman and Brown: from the reliability of one sample to that of six.
        assert compute_intraclass_correlations(found)["icc"] == pytest.approx(6 * single / (1 + 5 * single), abs=1e-12)
        ends = compute_component_intervals(found, (-3.0, 3.0))
        assert ends["item"][0] < found.item < ends["item"][1] and np.isnan(ends["wording"]).all()
        assert ends["sample"][0] < own.sample < ends["sample"][1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Degrees of freedom")
@pytest.mark.parametrize(("wordings", "crossed"), [(4, True), (4, False), (1, True)])
def test_components_are_those_that_were_put_in(wordings, crossed):
    """Over 400 studies of 20 items and 4 samples, within 3 % of the whole variance; a twentieth of samples is lost."""
    rng, found = np.random.default_rng(2), []
    for _ in range(400):
        values = drawn(rng, 20, wordings, 4, crossed)
        values[rng.random(values.shape) < 0.05] = np.nan
        spread, number = np.nanvar(values, axis=2, ddof=1), (~np.isnan(values)).sum(axis=2).astype(float)
        each = estimate_panel_mean(np.nanmean(values, axis=2), crossed, estimate_sampling_variance(spread, number))
        found.append([each.item, each.wording, each.interaction, each.sampled.sample])
    item, wording, inner, sample = np.square(list(SD.values()))
    expected = [item, wording, inner, sample] if crossed else [item, wording + inner, np.nan, sample]
    if wordings == 1:
        expected = [item + inner, np.nan, np.nan, sample]
    np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=0.03 * np.sum(np.square(list(SD.values()))))


@pytest.mark.parametrize("samples", [1, 3, 20])
def test_a_pilot_in_one_wording_foresees_other_numbers_of_samples(samples):
    """The root mean error foreseen from 200 pilots, within 5 % of the spread of 3,000 studies."""
    rng = np.random.default_rng(3)
    foreseen = [build_mean_error_forecast(*_of_pilot(drawn(rng, 30, 1, 5))) for _ in range(200)]
    predicted = np.sqrt(np.mean([predict_standard_error(each, 25, 1, samples) ** 2 for each in foreseen]))
    # One wording for all: what it adds to all items is the same in all studies.
    sd = np.hypot(SD["item"], SD["interaction"])
    studies = rng.normal(0, sd, (3000, 25)) + rng.normal(0, SD["sample"], (3000, 25, samples)).mean(axis=2)
    assert predicted == pytest.approx(studies.mean(axis=1).std(ddof=1), rel=0.05)
    assert {
        design.wordings for design in list_sufficient_designs(foreseen[:1], Goal(0.05), crossed=True, samples=(1, 10))
    } == {1}


def _of_pilot(values):
    answers, own = read(values)
    return answers, True, own


def test_models_in_one_wording_are_two_factors_and_samples():
    """Against mean squares by loops; the ranking is of other items in that wording."""
    rng = np.random.default_rng(4)
    values = np.stack([drawn(rng, 15, 1, 4)[:, 0] + shift for shift in (0, 0.2, 0.5)])
    answers = values.mean(axis=2)
    noise = float(values.var(axis=2, ddof=1).mean()) / 4
    found = estimate_model_variance_components(answers[:, :, None], True, noise)
    grand = answers.mean()
    left = sum((answers[m, i] - answers[m].mean() - answers[:, i].mean() + grand) ** 2
               for m in range(3) for i in range(15)) / (2 * 14)  # fmt: skip
    of_models = 15 * sum((answers[m].mean() - grand) ** 2 for m in range(3)) / 2
    of_items = 3 * sum((answers[:, i].mean() - grand) ** 2 for i in range(15)) / 14
    assert found.model == pytest.approx((of_models - left) / 15, abs=1e-12)
    assert found.item == pytest.approx((of_items - left) / 3, abs=1e-12)
    assert found.model_item + found.residual == pytest.approx(left, abs=1e-12) and found.residual == noise
    assert compute_relative_coefficient(found, 15, 1) == pytest.approx(1 - left / of_models, abs=1e-12)
    low, high = compute_relative_coefficient_interval(found)
    assert low < compute_relative_coefficient(found, 15, 1) < high
    assert rank_models(answers[:, :, None], True).rank.tolist() == [3, 2, 1]


def test_what_was_not_sampled_twice_tells_nothing():
    nothing = np.full((3, 2), np.nan)
    assert estimate_sampling_variance(nothing, np.ones((3, 2))) is None
    assert np.isnan(estimate_panel_mean(np.ones((3, 1)), True).item)


def test_equal_samples_have_no_interval():
    found = estimate_panel_mean(
        np.arange(4.0)[:, None], True, estimate_sampling_variance(np.zeros((4, 1)), np.full((4, 1), 5.0))
    )
    assert found.sampled.sample == 0 and compute_intraclass_correlations(found)["icc"] == 1
    assert np.isnan(compute_component_intervals(found, (-3.0, 3.0))["sample"]).all()


def test_a_difference_has_the_noise_of_both_sides_and_no_items_of_its_own():
    """Items of both sides, one after the other, would halve the width of an interval over items."""
    rng = np.random.default_rng(5)
    first, second = (read(drawn(rng, 12, 3, samples))[1] for samples in (4, 8))
    spread = first.combine_for_difference(second)
    assert spread.noise_variance == pytest.approx(first.noise_variance + second.noise_variance)
    assert len(spread.by_item) == 0
