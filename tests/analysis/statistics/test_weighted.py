"""Every measure of scores against scipy or the slow textbook formula; a draw against the items written out."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import weighted
from helpers import textbook

SCORES = st.lists(st.sampled_from([0.0, 1.0, 2.5, 3.0, 7.9, 8.0, 8.5, 9.0]), min_size=1, max_size=14)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=14)
TOLERANCE = 1e-9


def ones(n):
    return np.ones((1, n))


def drawn(n, seed):
    """Counts of one draw, and the items it takes written out."""
    taken = np.random.default_rng(seed).integers(0, n, n)
    return np.bincount(taken, minlength=n)[None, :].astype(float), taken


def moments(values):
    mean = sum(values) / len(values)
    return [sum((value - mean) ** power for value in values) / len(values) for power in (2, 4)]


def slow_kurtosis(values, biased=True):
    second, fourth = moments(values)
    n = len(values)
    if len(set(values)) == 1 or (not biased and n < 4):
        return math.nan
    excess = fourth / second**2 - 3
    return excess if biased else (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)


def slow_tau(x, y):
    """Tau-b as a double loop over pairs."""
    concordant = discordant = tied_x = tied_y = 0
    pairs = list(combinations(range(len(x)), 2))
    for i, j in pairs:
        sign = (x[i] - x[j]) * (y[i] - y[j])
        concordant, discordant = concordant + (sign > 0), discordant + (sign < 0)
        tied_x, tied_y = tied_x + (x[i] == x[j]), tied_y + (y[i] == y[j])
    below = math.sqrt((len(pairs) - tied_x) * (len(pairs) - tied_y))
    return (concordant - discordant) / below if below else math.nan


def tau(counts, x, y, **scale):
    return weighted.compute_kendall_tau_per_draw(counts, x[:, None], y[:, None], **scale)[:, 0]


def spearman(counts, x, y):
    return weighted.compute_gold_correlations_per_draw({"score": x[:, None], "gold": y[:, None]}, counts)["spearman"][
        :, 0
    ]


def pearson(counts, x, y):
    return weighted.compute_pearson_correlation_per_draw(counts, x[:, None], y[:, None])[:, 0]


def same(found, wanted):
    return (math.isnan(found) and math.isnan(wanted)) or found == pytest.approx(wanted, abs=TOLERANCE, rel=1e-7)


@pytest.mark.slow
@given(SCORES, st.booleans(), st.integers(0, 99))
@settings(deadline=None)
def test_kurtosis_is_the_textbook_one_of_the_items_drawn(values, biased, seed):
    values = np.array(values)
    counts, taken = drawn(len(values), seed)
    for weights, items in ((ones(len(values)), values), (counts, values[taken])):
        found = weighted.kurtosis(weights, values[:, None], biased=biased)[0, 0]
        assert same(found, slow_kurtosis(list(items), biased))


@pytest.mark.parametrize("biased", [True, False])
def test_kurtosis_equals_scipy(biased):
    values = np.random.default_rng(0).gamma(2, 3, (200, 3))
    found = weighted.kurtosis(ones(200), values, biased=biased)[0]
    np.testing.assert_allclose(found, stats.kurtosis(values, bias=biased), rtol=1e-10)


@pytest.mark.parametrize("constant", [8.0, 0.0, 7.3, -1e9, 0.1 + 0.2])
def test_kurtosis_of_a_constant_is_undefined(constant):
    values = np.full((37, 1), constant)
    assert np.isnan(weighted.kurtosis(ones(37), values)).all()
    assert np.isnan(weighted.kurtosis(ones(37), values, biased=False)).all()
    nearly = values + np.spacing(constant) * (np.arange(37)[:, None] % 2)  # what rounding leaves of a constant
    assert np.isnan(weighted.kurtosis(ones(37), nearly)).all()


def test_one_item_has_no_spread():
    found = weighted.compute_kurtosis_and_variance_per_draw(ones(1), np.array([[8.0]]))
    assert np.isnan(found["kurtosis"]).all() and np.isnan(found["variance"]).all()


@given(PAIRS, st.integers(0, 99))
@settings(deadline=None)
def test_tau_with_ties_is_the_double_loop_over_the_items_drawn(pairs, seed):
    x, y = np.array(pairs, float).T
    counts, taken = drawn(len(x), seed)
    for weights, index in ((ones(len(x)), slice(None)), (counts, taken)):
        assert same(tau(weights, x, y)[0], slow_tau(x[index], y[index]))


@pytest.mark.parametrize(
    ("measure", "reference"), [(tau, stats.kendalltau), (spearman, stats.spearmanr), (pearson, stats.pearsonr)]
)
@pytest.mark.parametrize("n", [5, 700])
def test_correlations_equal_scipy_with_ties_and_in_every_draw(measure, reference, n):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 10, n) / 10 + 7
    y = np.round(x + rng.normal(0, 1, n), 1)
    counts = np.vstack([ones(n), *(drawn(n, seed)[0] for seed in range(3))])
    wanted = [reference(x, y).statistic]
    wanted += [reference(x[taken], y[taken]).statistic for taken in (drawn(n, seed)[1] for seed in range(3))]
    np.testing.assert_allclose(measure(counts, x, y), wanted, rtol=1e-9)


@pytest.mark.parametrize("measure", [tau, spearman, pearson])
def test_correlation_with_a_constant_is_undefined(measure):
    rising, constant = np.arange(6.0), np.full(6, 0.1)
    assert np.isnan(measure(ones(6), rising, constant)).all()
    assert np.isnan(measure(ones(6), constant, rising)).all()
    assert np.isnan(measure(ones(1), rising[:1], rising[:1])).all()
    only_the_first = np.eye(6)[:1] * 6
    assert np.isnan(measure(only_the_first, rising, rising)).all()


@pytest.mark.parametrize("golds", [1, 3])
def test_units_are_correlated_each_with_its_own_column_also_in_parts(golds, monkeypatch):
    """With one human score for all units and with three; with all pairs of items at once and with few at a time."""
    rng = np.random.default_rng(golds)
    x, y = (
        rng.integers(0, 6, (12, 3)).astype(float),
        rng.integers(0, 6, (12, golds)).astype(float) @ np.ones((golds, 3)),
    )
    y = y if golds == 1 else y + np.arange(36).reshape(12, 3) % 5
    counts = np.vstack([ones(12), *(drawn(12, seed)[0] for seed in range(4))])
    found = weighted.compute_gold_correlations_per_draw({"score": x, "gold": y}, counts)
    for unit in range(3):
        for name, measure in (("tau", tau), ("spearman", spearman), ("pearson", pearson)):
            np.testing.assert_allclose(found[name][:, unit], measure(counts, x[:, unit], y[:, unit]), rtol=1e-12)
    equal = weighted.compute_gold_correlations_per_draw({"score": x[:, [0, 0, 0]], "gold": y[:, [0, 0, 0]]}, counts)
    assert all(values.shape == (5, 3) for values in equal.values())
    monkeypatch.setattr(weighted, "_BLOCK", 5)
    in_parts = weighted.compute_gold_correlations_per_draw({"score": x, "gold": y}, counts)
    np.testing.assert_array_equal(in_parts["tau"], found["tau"])
    np.testing.assert_array_equal(in_parts["spearman"], found["spearman"])


@pytest.mark.slow
@given(SCORES)
@settings(deadline=None)
def test_concentration_counts_scores_at_the_nearest_number(values):
    numbers = Counter(math.floor(value + 0.5) for value in values)
    found = weighted.compute_mode_share_and_entropy_per_draw(ones(len(values)), np.array(values)[:, None])
    assert found["mode_share"][0, 0] == pytest.approx(max(numbers.values()) / len(values))
    rounded = [math.floor(value + 0.5) for value in values]
    n, whole = len(values), textbook.entropy(rounded)
    without = [textbook.entropy(rounded[:item] + rounded[item + 1 :]) for item in range(n)] if n > 1 else [whole]
    assert found["entropy"][0, 0] == pytest.approx(max(0, n * whole - (n - 1) * sum(without) / n), abs=1e-9)
    favourite, distinct = weighted.find_mode_and_count_distinct(np.array(values))
    assert distinct == len(numbers)
    assert numbers[int(favourite)] == max(numbers.values())
    assert favourite == min(number for number, size in numbers.items() if size == max(numbers.values()))


def test_concentration_at_its_ends():
    everything = weighted.compute_mode_share_and_entropy_per_draw(ones(10), np.arange(10.0)[:, None], 10)
    assert everything["entropy"][0, 0] == pytest.approx(math.log2(10))  # there are no more than 10 numbers
    twice = weighted.compute_mode_share_and_entropy_per_draw(
        np.full((1, 10), 2.0), np.arange(10.0)[:, None]
    )  # a draw: every item twice
    assert twice["entropy"] == pytest.approx(
        weighted.compute_mode_share_and_entropy_per_draw(ones(20), np.repeat(np.arange(10.0), 2)[:, None])["entropy"]
    )
    nothing = weighted.compute_mode_share_and_entropy_per_draw(ones(4), np.full((4, 1), 8.2))
    assert (nothing["entropy"][0, 0], nothing["mode_share"][0, 0]) == (0, 1)
    assert weighted.find_mode_and_count_distinct(np.array([])) == pytest.approx((np.nan, 0), nan_ok=True)


def test_halves_favour_no_number():
    assert list(weighted.round_halves_up_to_whole_numbers(np.array([6.5, 7.5, 8.5, -0.5, -1.5]))) == [7, 8, 9, 0, -1]


def kurtosis(counts, x, _):
    return weighted.kurtosis(counts, x[:, None])[:, 0]


@pytest.mark.parametrize("measure", [kurtosis, tau, spearman, pearson])
def test_rounding_noise_is_no_variation_in_any_draw(measure):
    """Scores of 8 that differ in their 13th digit, one 5 among them: draws without the 5 have nothing that varies."""
    rising = np.arange(40.0)
    noisy = np.full(40, 8.0) + np.random.default_rng(1).normal(0, 1e-12, 40)
    assert np.isnan(measure(ones(40), noisy, rising)).all()
    exact, noisy[0] = np.full(40, 8.0), 5.0
    exact[0] = 5.0
    counts = np.vstack([drawn(40, seed)[0] for seed in range(60)])
    found, wanted = measure(counts, noisy, rising), measure(counts, exact, rising)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert 0 < np.isnan(wanted).sum() < 60


def test_the_width_of_the_scale_decides_what_is_noise():
    x, y = 1e-10 * np.arange(5.0), np.arange(5.0)
    assert tau(ones(5), x, y)[0] == pytest.approx(1)
    assert np.isnan(tau(ones(5), x, y, scale=9.0)[0])
