"""Powers of a check, against slow versions and populations that are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from analysis.check.planning.answers import compute_distance_variance
from analysis.check.planning.powers import (
    EVERYWHERE,
    IN_WHOLE_ITEMS,
    compute_mean_power,
    compute_power_from_p,
    compute_share_power,
    find_least_items,
    forecast_change,
    forecast_unchanged,
)
from analysis.statistics.reliability.flips import GRID
from analysis.statistics.reliability.forecast import MeanForecast, predict_standard_error
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value

ITEMS, WORDINGS = 400_000, 4


def draw_answers(draw, chances):
    """Answers of 0 or 1 to some wordings of every item."""
    return (draw.random((len(chances), WORDINGS)) < chances[:, None]).astype(float)


@pytest.fixture(scope="module")
def population():
    """Chances of items, and what they foresee of one time's answers."""
    chances = np.random.default_rng(5).beta(1.5, 0.6, ITEMS)
    return chances, MeanForecast(chances.var(), 0.0, (chances * (1 - chances)).mean())


@pytest.mark.parametrize(
    ("items", "share", "limit"), [(30, 0.7, 0.9), (100, 0.1, 0.2), (300, 0.97, 0.95), (20, 0.5, 0.1)]
)
def test_the_power_of_a_share_is_that_of_all_counts_that_the_exact_test_tells(items, share, limit):
    counts = np.arange(items + 1)
    p = binom.cdf(counts, items, limit) if share < limit else binom.sf(counts - 1, items, limit)
    expected = binom.pmf(counts[p <= 0.025], items, share).sum()
    assert compute_share_power(share, limit, 1.0, items, 0.025) == pytest.approx(expected, abs=1e-9)


def test_a_share_that_is_the_limit_is_told_by_nothing():
    assert compute_share_power(0.9, 0.9, 1.0, 1000, 0.025) == 0
    assert compute_share_power(1.0, 0.95, 1.0, 71, 0.025) == 0 and compute_share_power(1.0, 0.95, 1.0, 72, 0.025) == 1


def test_the_power_of_a_p_is_that_of_a_normal_mean():
    distance, items = 0.3, 50
    p = norm.sf(distance * np.sqrt(items))
    assert compute_power_from_p(p, items, 100, 0.025) == pytest.approx(
        norm.sf(norm.isf(0.025) - distance * 10), abs=1e-12
    )


@pytest.mark.parametrize("spread", [EVERYWHERE, IN_WHOLE_ITEMS])
@pytest.mark.parametrize("fresh", [True, False])
def test_the_error_of_a_change_is_that_of_a_population_that_changes_so(population, spread, fresh):
    chances, answers = population
    draw, mean, change = np.random.default_rng(6), chances.mean(), 0.1
    before = draw_answers(draw, chances)
    again = draw_answers(draw, chances) if fresh else before
    shape = (ITEMS, 1) if spread == IN_WHOLE_ITEMS else (ITEMS, WORDINGS)
    differences = (np.where(draw.random(shape) < change / mean, 0.0, again) - before).mean(axis=1)
    forecast = forecast_change(answers, mean, change, WORDINGS, fresh=fresh, spread=spread)
    assert differences.mean() == pytest.approx(-change, abs=0.002)
    # a variance over 400,000 items is within 1 %
    assert predict_standard_error(forecast, 1, WORDINGS) ** 2 == pytest.approx(differences.var(), rel=0.01)


def test_a_model_that_did_not_change_differs_by_its_fresh_wordings_alone(population):
    chances, answers = population
    draw = np.random.default_rng(7)
    differences = (draw_answers(draw, chances) - draw_answers(draw, chances)).mean(axis=1)
    forecast = forecast_unchanged(answers, fresh=True)
    assert predict_standard_error(forecast, 1, WORDINGS) ** 2 == pytest.approx(differences.var(), rel=0.01)
    assert predict_standard_error(forecast_unchanged(answers, fresh=False), 1, WORDINGS) == 0


def test_the_power_of_a_mean_is_how_often_the_test_finds_it(population):
    chances, answers = population
    draw, studies, items, margin = np.random.default_rng(8), 800, 100, 0.05
    found = 0
    for _ in range(studies):
        of_items = draw.choice(chances, items)
        differences = (draw_answers(draw, of_items) - draw_answers(draw, of_items)).mean(axis=1)
        panel = estimate_panel_mean(differences[:, None], False, is_share=False)
        found += panel.mean > -margin and compute_p_of_panel_mean_against_value(panel, "items", -margin) < 0.05
    foreseen = compute_mean_power(
        forecast_unchanged(answers, fresh=True), margin, items, WORDINGS, 0.025, crossed=False
    )
    assert 0.3 < foreseen < 0.7 and found / studies == pytest.approx(foreseen, abs=0.05)  # 3 standard errors


@pytest.mark.parametrize("turned", [0.0, 0.3])
def test_the_variance_of_a_distance_is_that_of_items_that_turn_round(turned):
    draw, wordings = np.random.default_rng(9), 5
    weights = np.zeros(len(GRID))
    weights[[0, 120, 190]] = 0.3, 0.3, 0.4
    before = draw.choice(GRID, ITEMS, p=weights)
    now = np.where(draw.random(ITEMS) < turned, 1 - before, before)
    x, y = draw.binomial(wordings, before) / wordings, draw.binomial(wordings, now) / wordings
    distances = (x - y) ** 2 - (x * (1 - x) + y * (1 - y)) / (wordings - 1)
    assert distances.mean() == pytest.approx(((before - now) ** 2).mean(), abs=0.003)  # it is unbiased
    assert compute_distance_variance(weights, wordings, turned) == pytest.approx(distances.var(), rel=0.01)


def test_the_least_items_are_the_first_that_have_the_power():
    assert find_least_items(lambda items: items >= 137) == 137
    assert find_least_items(lambda items: True, least=30) == 30
    assert find_least_items(lambda items: False) == np.inf
