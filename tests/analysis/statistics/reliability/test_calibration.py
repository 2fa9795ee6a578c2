"""Probabilities that an order stands come true on wordings that were held back."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability.calibration import (
    compare_predicted_and_kept_orders,
    iterate_calibration_rows_by_class,
)
from analysis.statistics.reliability.components import estimate_model_variance_components
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.replication import (
    PairPrior,
    compute_panel_same_sign_probability,
    estimate_pair_difference_prior,
)

pytestmark = pytest.mark.slow


def answers(rng, models=8, items=30, wordings=10, crossed=True):
    """Draw answers of models whose true means differ little, so that orders often change."""
    values = rng.normal(0, 0.06, (models, 1, 1)) + rng.normal(0, 0.3, (1, items, 1))
    values = values + rng.normal(0, 0.15, (models, items, 1)) + rng.normal(0, 0.3, (models, items, wordings))
    return values + (rng.normal(0, 0.08, (models, 1, wordings)) if crossed else 0)


@pytest.mark.parametrize("anew", ["wordings", "both"])
@pytest.mark.parametrize("crossed", [True, False])
def test_what_is_foreseen_comes_true(crossed, anew):
    """Over 12 simulated studies: in the mean within 4 points, in every class of 200 pairs or more within 10."""
    found = [
        compare_predicted_and_kept_orders(answers(np.random.default_rng(n), crossed=crossed), crossed, anew, seed=n)
        for n in range(12)
    ]
    cases = np.concatenate(found, axis=1)
    assert cases[0].mean() == pytest.approx(cases[1].mean(), abs=0.04)
    known = [
        (foreseen, kept) for _, _, number, foreseen, kept in iterate_calibration_rows_by_class(cases) if number >= 200
    ]
    assert len(known) >= 4
    for foreseen, kept in known:
        assert kept == pytest.approx(foreseen, abs=0.1)
    assert known[-1][1] - known[0][1] > 0.2  # they tell pairs apart


def test_the_variance_of_true_differences_is_known_as_far_as_few_models_tell():
    values = answers(np.random.default_rng(0))
    found, known = (
        estimate_model_variance_components(values, True),
        estimate_pair_difference_prior(values, True, "both"),
    )
    assert len(known.true) == 9 and (known.true >= 0).all() and known.true.min() < 2 * found.model < known.true.max()
    more = estimate_pair_difference_prior(values, True, "wordings")
    assert more.true.max() - known.true.max() == pytest.approx(2 * found.model_item / found.n_items)
    assert known.error == pytest.approx(2 * (found.spread - found.model), rel=1e-6)
    assert estimate_pair_difference_prior(answers(np.random.default_rng(0), models=2), True, "both") is None


def test_a_probability_is_the_mean_over_true_differences_that_are_as_likely():
    values = answers(np.random.default_rng(1))
    each, known = estimate_panel_mean(values[0] - values[1], True), estimate_pair_difference_prior(values, True, "both")
    slow = np.mean(
        [
            compute_panel_same_sign_probability(each, "both", PairPrior(np.array([one]), known.error, known.freedom))
            for one in known.true
        ]
    )
    assert compute_panel_same_sign_probability(each, "both", known) == pytest.approx(slow, abs=1e-12)
    assert compute_panel_same_sign_probability(
        each, "both", PairPrior(np.zeros(1), known.error, known.freedom)
    ) == pytest.approx(0.5, abs=1e-9)
    # of many degrees of freedom, the mean error counts alone
    sure = compute_panel_same_sign_probability(each, "both", PairPrior(np.array([np.inf]), 2 * 0.05**2, 1e12))
    assert sure == pytest.approx(stats.norm.cdf(abs(each.mean) / 0.1), abs=1e-6)


def test_models_that_differ_in_their_errors_count_less_beside_a_pair():
    rng = np.random.default_rng(2)
    alike = answers(rng, models=12, items=200)
    uneven = alike + rng.normal(0, 0.5, alike.shape) * np.linspace(0, 8, 12)[:, None, None]
    assert (
        estimate_pair_difference_prior(uneven, True, "both").freedom
        < 20
        < estimate_pair_difference_prior(alike, True, "both").freedom
    )


@pytest.mark.parametrize("wordings", [4, 10])
def test_another_study_keeps_orders_as_foreseen(wordings):
    """With other items and templates, over 80 simulated pairs of studies of 8 models: each class within 8 points.

    Models differ little in some studies, much in others: a single study does not tell well how much.
    """
    cases = []
    for seed in range(80):
        rng = np.random.default_rng([seed, wordings])
        true = rng.normal(0, rng.uniform(0.02, 0.15), (8, 1, 1))
        one, other = (
            true + rng.normal(0, 0.15, (8, 60, 1)) + rng.normal(0, 0.08, (8, 1, wordings))
            + rng.normal(0, 0.3, (8, 60, wordings)) for _ in range(2)
        )  # fmt: skip
        known = estimate_pair_difference_prior(one, True, "both")
        for a, b in combinations(range(8), 2):
            found = estimate_panel_mean(one[a] - one[b], True)
            cases.append(
                (
                    compute_panel_same_sign_probability(found, "both", known),
                    found.mean * (other[a].mean() - other[b].mean()) > 0,
                )
            )
    for _, _, number, foreseen, kept in iterate_calibration_rows_by_class(np.array(cases, float).T):
        assert number > 150 and kept == pytest.approx(foreseen, abs=0.08)


def test_classes_hold_every_case_once():
    cases = np.array([[0.5, 0.59, 0.6, 0.95, 1.0], [1, 0, 1, 1, 0]])
    assert list(iterate_calibration_rows_by_class(cases)) == [
        (0.5, 0.6, 2, pytest.approx(0.545), 0.5), (0.6, 0.7, 1, 0.6, 1.0), (0.9, 1.0, 2, pytest.approx(0.975), 0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("models", "items", "wordings", "crossed", "anew"),
    [(1, 9, 9, True, "both"), (4, 3, 9, True, "both"), (4, 9, 3, True, "wordings"), (4, 9, 3, False, "wordings"),
     (4, 3, 9, False, "both")],
)  # fmt: skip
def test_too_little_has_no_cases(models, items, wordings, crossed, anew):
    values = answers(np.random.default_rng(2), models, items, wordings, crossed)
    assert compare_predicted_and_kept_orders(values, crossed, anew).shape == (2, 0)


def test_models_without_a_common_item_have_no_cases():
    values = answers(np.random.default_rng(3), models=2, items=8)
    values[0, :4], values[1, 4:] = np.nan, np.nan
    assert compare_predicted_and_kept_orders(values, True, "both").shape == (2, 0)


@pytest.mark.filterwarnings("error")
def test_a_half_without_an_answer_is_left_out():
    """Where items have few of the shared wordings, a half may have none of its own: NumPy warned of an empty mean."""
    values = np.where(np.eye(4) > 0, np.arange(8.0).reshape(2, 4, 1), np.nan)
    assert compare_predicted_and_kept_orders(values, True, "both").shape == (2, 0)


def test_equal_models_have_no_order():
    values = np.repeat(answers(np.random.default_rng(4), models=1), 3, axis=0)
    assert compare_predicted_and_kept_orders(values, True, "both").shape == (2, 0)
