"""Range, flips and SD at k wordings are the means over all subsets of k."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from analysis.statistics.reliability.at_k import compute_expected_range_with_k, compute_flip_probability_with_k
from analysis.statistics.reliability.templates import (
    correct_best_scores_for_luck,
    estimate_item_noise_variance_from_accuracies,
    estimate_item_noise_variance_of_templates,
    summarize_accuracies,
    summarize_accuracies_from_answers_with_intervals,
    summarize_template_accuracies_with_intervals,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_at_k_is_the_mean_over_all_subsets(k):
    rng = np.random.default_rng(0)
    values = np.round(rng.random((4, 7)), 1)  # with ties, and answers of exactly 0.5
    values[1, 5:] = np.nan
    found, flips = compute_expected_range_with_k(values, k), compute_flip_probability_with_k(values, k, 0.2)
    for row, own in enumerate(values):
        known = own[~np.isnan(own)]
        if len(known) < k:
            assert np.isnan(found[row]) and np.isnan(flips[row])
            continue
        drawn = np.array(list(combinations(known, k)))
        agree = (drawn >= 0.5).sum(axis=1)
        assert found[row] == pytest.approx(np.ptp(drawn, axis=1).mean(), abs=1e-12)
        assert flips[row] == pytest.approx((np.minimum(agree, k - agree) / k > 0.2).mean(), abs=1e-12)
        assert drawn.var(axis=1, ddof=1).mean() == pytest.approx(known.var(ddof=1), abs=1e-12)


def test_many_wordings_are_no_overflow():
    values = np.random.default_rng(1).random((2, 500))
    assert compute_expected_range_with_k(values, 500) == pytest.approx(np.ptp(values, axis=1), abs=1e-9)
    assert (np.diff([compute_expected_range_with_k(values, k).mean() for k in (2, 5, 50, 400)]) > 0).all()


def test_templates_are_summed_up_as_printed():
    """MaxP .8, AvgP .6, saturation 1 - (.8 - .6) = .8, combined .8 x .8 (Mizrahi et al., section 5)."""
    found = summarize_accuracies(np.array([0.8, 0.6, 0.4]))
    expected = {"highest": 0.8, "mean": 0.6, "lowest": 0.4, "range": 0.4, "sd": 0.2, "gain": 0.2, "saturation": 0.8,
                "combined": 0.64, "q50": 0.6, "q25": 0.5, "q05": 0.42}  # fmt: skip
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=1e-12)


def test_templates_have_intervals_unless_they_cannot():
    right = (np.random.default_rng(2).random((80, 4)) < [0.3, 0.5, 0.5, 0.8]).astype(float)
    found = summarize_accuracies_from_answers_with_intervals(right)
    assert np.isnan(found.pop("sd")[1:]).all()
    assert all(low < value < high for value, low, high in found.values())
    assert summarize_accuracies_from_answers_with_intervals(right[:, :1])["highest"][1] == pytest.approx(
        binomtest(int(right[:, 0].sum()), 80).proportion_ci(0.95, method="wilson").low, abs=1e-12
    )  # of one template, nothing is chosen
    sure = summarize_accuracies_from_answers_with_intervals(np.ones((5, 3)))["highest"]
    assert sure[1] < 0.6 and sure[2] == 1  # five right answers are no certainty
    assert np.isnan(summarize_accuracies_from_answers_with_intervals(right[:1])["mean"][1:]).all()


@pytest.mark.parametrize(("spread", "items"), [(0.0, 62), (0.3, 62), (0.1, 200)])
def test_intervals_over_templates_hold(spread, items):
    """Draws of items covered .6 to .8 of highest, range and gain where templates hardly differ: now .90 or more."""
    rng, held = np.random.default_rng(5), Counter()
    for _ in range(100):
        levels = rng.normal(0.5, spread, 5)
        right = rng.normal(size=(items, 1)) + rng.normal(0, 0.5, (items, 5)) + levels > 0
        truth = summarize_accuracies(norm.cdf(levels / np.sqrt(1.25)))
        for name, (_, low, high) in summarize_accuracies_from_answers_with_intervals(right.astype(float)).items():
            held[name] += low - 1e-12 <= truth[name] <= high + 1e-12
    assert held.pop("sd") == 0
    assert min(held.values()) >= 90 - 6  # two standard errors of the simulation


@pytest.mark.parametrize(("accuracy", "templates"), [(0.22, 20), (0.22, 60), (0.8, 20), (0.03, 20)])
def test_intervals_hold_the_best_of_many_equal_templates(accuracy, templates):
    """A chain rule at the luckiest template covered .51 to .80 of the combined score at .22; now .95 and more."""
    rng, runs = np.random.default_rng([templates, int(100 * accuracy)]), 60
    truth, held, luck = summarize_accuracies(np.full(templates, accuracy)), Counter(), []
    for _ in range(runs):
        right = (rng.random((40, templates)) < accuracy).astype(float)
        shares, n = right.mean(axis=0), np.full(templates, 40.0)
        for form, found in (
            ("answers", summarize_accuracies_from_answers_with_intervals(right)),
            ("shares", summarize_template_accuracies_with_intervals(shares, n)),
        ):
            noise = (
                estimate_item_noise_variance_of_templates(right)
                if form == "answers"
                else estimate_item_noise_variance_from_accuracies(shares, n)
            )
            corrected = correct_best_scores_for_luck(shares, noise, found)
            for name, (value, low, high) in found.items():
                if name != "sd":
                    assert 0 <= low <= value <= high <= 1
                    held[form, name] += low - 1e-12 <= truth[name] <= high + 1e-12
            for name in ("highest", "combined"):
                assert found[name][1] <= corrected[f"{name}_corrected"] <= found[name][2]
            luck.append((found["highest"][0] - accuracy, corrected["highest_corrected"] - accuracy))
    assert {name: count for name, count in held.items() if count < (0.92 - 0.05) * runs} == {}
    plain, less = np.mean(luck, axis=0)
    assert abs(less) < plain / 4


def test_intervals_hold_where_each_item_has_few_of_the_templates():
    """2 of 19 templates for each of 62 items: centred on some six answers each, the mean's covered .89."""
    rng, runs, held = np.random.default_rng(9), 200, Counter()
    for _ in range(runs):
        levels = rng.normal(0, 0.2, 19)
        right = (0.8 * rng.normal(size=(62, 1)) + 0.6 * rng.normal(size=(62, 19)) < levels).astype(float)
        right[np.argsort(rng.random((62, 19)), axis=1) >= 2] = np.nan
        asked = ~np.isnan(right).all(axis=0)
        truth = summarize_accuracies(norm.cdf(levels[asked]))
        for name, (value, low, high) in summarize_accuracies_from_answers_with_intervals(right[:, asked]).items():
            if name != "sd":
                assert 0 <= low <= value <= high <= 1
                held[name] += low - 1e-12 <= truth[name] <= high + 1e-12
    assert {name: count for name, count in held.items() if count < (0.92 - 0.02) * runs} == {}


def test_luck_is_taken_out_by_the_share_of_the_variance_that_items_explain():
    """By hand: accuracies .2, .4, .6 about .4 with variance .04 and noise .01 are drawn to .25, .4, .55."""
    shares = np.array([0.2, 0.4, 0.6])
    found = correct_best_scores_for_luck(shares, 0.01, {"highest": (0.6, 0.1, 0.9), "combined": (0.48, 0.1, 0.9)})
    assert found["highest_corrected"] == pytest.approx(0.55, abs=1e-12)
    assert found["combined_corrected"] == pytest.approx((1 - 0.55 + 0.4) * 0.55, abs=1e-12)
    assert correct_best_scores_for_luck(
        shares, 0.05, {"highest": (0.6, 0.45, 1), "combined": (0.5, 0.1, 1)}
    ) == pytest.approx(
        {"highest_corrected": 0.45, "combined_corrected": 0.4}, abs=1e-12
    )  # no variance is left; nothing is estimated below the interval
    assert np.isnan(list(correct_best_scores_for_luck(shares[:1], 0.01, {}).values())).all()
    right = (np.random.default_rng(8).random((50, 3)) < [0.3, 0.5, 0.6]).astype(float)
    rows, columns = right.mean(axis=1, keepdims=True), right.mean(axis=0)
    left = ((right - rows - columns + right.mean()) ** 2).sum() / (49 * 2)
    assert estimate_item_noise_variance_of_templates(right) == pytest.approx(left / 50, abs=1e-12)
    assert estimate_item_noise_variance_from_accuracies(columns, np.full(3, 50.0)) == pytest.approx(
        np.mean(columns * (1 - columns)) / 50, abs=1e-12
    )
