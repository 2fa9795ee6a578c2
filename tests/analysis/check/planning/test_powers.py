"""Powers of a check, against slow versions and populations that are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, kurtosis, norm, skew

from analysis.check.answer_changes import estimate_change_of_each_item
from analysis.check.judged_means import judge_answers_not_worse_by_margin
from analysis.check.limits.panels import compute_tails_of_panel
from analysis.check.planning import answers as planned_answers
from analysis.check.planning.item_changes import (
    compute_change_test_power,
    compute_mean_and_variance_of_item_changes,
    count_item_answers_by_option,
    estimate_mean_power_sums_of_option_shares,
    forecast_item_changes_for_share_apart,
)
from analysis.check.planning.powers import (
    EVERYWHERE,
    IN_WHOLE_ITEMS,
    compute_difference_power_in_shared_wordings,
    compute_power_of_binomial_test,
    compute_power_of_gaffke_test,
    compute_power_of_mean_test,
    compute_power_of_n_items_from_pilot_p,
    compute_power_with_one_item_more,
    forecast_difference_of_degraded_model,
    forecast_mean_change_of_unchanged_model,
)
from analysis.check.same_answers import judge_share_of_same_answers
from analysis.statistics.bounded_mean import compute_p_of_mean_at_least, compute_p_of_mean_at_most
from analysis.statistics.reliability.forecast import MeanForecast, predict_standard_error
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.planning import find_least_items_with_power
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
    assert compute_power_of_binomial_test(share, limit, 1.0, items, 0.025) == pytest.approx(expected, abs=1e-9)


def test_a_share_that_is_the_limit_is_told_by_nothing():
    assert compute_power_of_binomial_test(0.9, 0.9, 1.0, 1000, 0.025) == 0
    assert (
        compute_power_of_binomial_test(1.0, 0.95, 1.0, 71, 0.025) == 0
        and compute_power_of_binomial_test(1.0, 0.95, 1.0, 72, 0.025) == 1
    )


def test_the_power_of_a_p_is_that_of_a_normal_mean():
    distance, items = 0.3, 50
    p = norm.sf(distance * np.sqrt(items))
    assert compute_power_of_n_items_from_pilot_p(p, items, 100, 0.025) == pytest.approx(
        norm.sf(norm.isf(0.025) - distance * 10), abs=1e-12
    )


@pytest.mark.parametrize("spread", [EVERYWHERE, IN_WHOLE_ITEMS])
@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.slow
def test_the_error_of_a_change_is_that_of_a_population_that_changes_so(population, spread, fresh):
    chances, answers = population
    draw, mean, change = np.random.default_rng(6), chances.mean(), 0.1
    before = draw_answers(draw, chances)
    again = draw_answers(draw, chances) if fresh else before
    shape = (ITEMS, 1) if spread == IN_WHOLE_ITEMS else (ITEMS, WORDINGS)
    differences = (np.where(draw.random(shape) < change / mean, 0.0, again) - before).mean(axis=1)
    forecast = forecast_difference_of_degraded_model(answers, mean, change, WORDINGS, fresh=fresh, spread=spread)
    assert differences.mean() == pytest.approx(-change, abs=0.002)
    # a variance over 400,000 items is within 1 %
    assert predict_standard_error(forecast, 1, WORDINGS) ** 2 == pytest.approx(differences.var(), rel=0.01)


def test_a_model_that_did_not_change_differs_by_its_fresh_wordings_alone(population):
    chances, answers = population
    draw = np.random.default_rng(7)
    differences = (draw_answers(draw, chances) - draw_answers(draw, chances)).mean(axis=1)
    forecast = forecast_mean_change_of_unchanged_model(answers, fresh=True)
    assert predict_standard_error(forecast, 1, WORDINGS) ** 2 == pytest.approx(differences.var(), rel=0.01)
    assert predict_standard_error(forecast_mean_change_of_unchanged_model(answers, fresh=False), 1, WORDINGS) == 0


def test_the_power_of_a_mean_is_how_often_the_test_finds_it(population):
    chances, answers = population
    draw, studies, items, margin = np.random.default_rng(8), 800, 100, 0.05
    found = 0
    for _ in range(studies):
        of_items = draw.choice(chances, items)
        differences = (draw_answers(draw, of_items) - draw_answers(draw, of_items)).mean(axis=1)
        panel = estimate_panel_mean(differences[:, None], False, is_share=False)
        found += panel.mean > -margin and compute_p_of_panel_mean_against_value(panel, "items", -margin) < 0.05
    foreseen = compute_power_of_mean_test(
        forecast_mean_change_of_unchanged_model(answers, fresh=True), margin, items, WORDINGS, 0.025, crossed=False
    )
    assert 0.3 < foreseen < 0.7 and found / studies == pytest.approx(foreseen, abs=0.05)  # 3 standard errors


def draw_codes(draw, shares, wordings):
    """Options of some wordings of every item, by their shares."""
    bounds = np.cumsum(shares, axis=1)[:, None, :-1]
    return (draw.random((len(shares), wordings))[..., None] > bounds).sum(axis=-1).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "tolerance"), [([1.5, 0.5], 0.02), ([1.2, 0.5, 0.3, 0.3], 0.1)])
@pytest.mark.parametrize("changed", [0.0, 0.2])
def test_changes_are_described_as_those_of_a_population(shape, tolerance, changed):
    draw, n_options, wordings, n = np.random.default_rng(9), len(shape), 5, 100_000
    before = draw.dirichlet(shape, n)
    sums = estimate_mean_power_sums_of_option_shares(count_item_answers_by_option(draw_codes(draw, before, 6)))
    squares = (before**2).sum(axis=1)
    assert sums == pytest.approx((squares.mean(), (before**3).sum(axis=1).mean(), (squares**2).mean()), abs=0.003)
    moved = np.where(draw.random(n) < changed, draw.integers(1, n_options, n), 0)
    now = np.take_along_axis(before, (np.arange(n_options) + moved[:, None]) % n_options, axis=1)
    changes = estimate_change_of_each_item(
        draw_codes(draw, now, wordings), draw_codes(draw, before, wordings), same_wordings=False
    )
    mean, variance = compute_mean_and_variance_of_item_changes(sums, n_options, changed, wordings)
    assert mean == pytest.approx(changes.mean(), abs=0.002)
    # exact for two options; with more, shares before and now overlap, and some options are farther apart
    assert variance == pytest.approx(changes.var(), rel=tolerance)


def test_fewer_than_four_wordings_do_not_tell_how_far_fresh_ones_move_answers():
    assert len(count_item_answers_by_option(np.zeros((10, 3)))) == 0
    assert estimate_mean_power_sums_of_option_shares(count_item_answers_by_option(np.zeros((10, 4)))) == (1, 1, 1)


@pytest.mark.usefixtures("only_p")
@pytest.mark.parametrize(
    ("changed", "limit", "items"), [(0.15, 0.95, 200), (0.0, 0.95, 100), (0.0, 0.95, 150), (0.1, 0.9, 150)]
)
@pytest.mark.slow
def test_the_power_of_changes_is_how_often_their_test_finds_them(changed, limit, items):
    draw, wordings, studies = np.random.default_rng(11), 5, 400
    counts = count_item_answers_by_option(draw_codes(draw, draw.dirichlet([0.6, 0.3], 4000), wordings))
    distance, _ = compute_mean_and_variance_of_item_changes(
        estimate_mean_power_sums_of_option_shares(counts), 2, 1.0, wordings
    )
    n_found = 0
    for _ in range(studies):
        before = draw.dirichlet([0.6, 0.3], items)
        now = np.where((draw.random(items) < changed)[:, None], before[:, ::-1], before)
        codes = [draw_codes(draw, shares, wordings) for shares in (now, before)]
        judged = judge_share_of_same_answers(*codes, False, limit, like_these=True, same_wordings=False)
        n_found += (judged.p_broken if 1 - changed * distance < limit else judged.p_holds) < 0.025
    forecast = forecast_item_changes_for_share_apart(counts, changed * distance, wordings)
    foreseen = compute_change_test_power(forecast, limit, items, 0.025)
    assert 0.2 < foreseen < 0.8 and n_found / studies == pytest.approx(foreseen, abs=0.07)  # 3 standard errors


def test_changes_are_foreseen_as_skewed_as_those_of_a_population():
    draw, wordings = np.random.default_rng(10), 5
    shares = draw.dirichlet([1.5, 0.5], 50_000)
    codes = [draw_codes(draw, shares, wordings) for _ in range(2)]
    changes = estimate_change_of_each_item(*codes, same_wordings=False)
    forecast = forecast_item_changes_for_share_apart(count_item_answers_by_option(codes[0]), 0.0, wordings)
    assert forecast.skewness == pytest.approx(skew(changes), rel=0.2)
    assert forecast.kurtosis == pytest.approx(kurtosis(changes, fisher=False), rel=0.4)


def test_items_that_never_vary_are_told_by_as_many_as_a_share():
    forecast = forecast_item_changes_for_share_apart(count_item_answers_by_option(np.zeros((10, 4))), 0.0, 5)
    assert (forecast.variance, forecast.skewness, forecast.kurtosis) == (0, 0, 3)
    assert [compute_change_test_power(forecast, 0.95, n_items, 0.025) for n_items in (71, 72)] == [0, 1]


@pytest.mark.parametrize("limit", [0.65, 0.82])
@pytest.mark.slow
def test_the_power_of_a_bounded_mean_is_how_often_gaffkes_test_finds_it(limit):
    draw, items, studies = np.random.default_rng(12), 100, 400
    population = draw.beta(1.5, 0.5, 200_000)
    compute_p = compute_p_of_mean_at_most if limit < 0.75 else compute_p_of_mean_at_least
    n_found = sum(compute_p(draw.choice(population, items), limit) < 0.025 for _ in range(studies))
    foreseen = compute_power_of_gaffke_test(
        population.mean(), limit, population.std(), float(skew(population)), items, 0.025
    )
    assert 0.2 < foreseen < 0.99 and n_found / studies == pytest.approx(foreseen, abs=0.07)
    assert compute_power_of_gaffke_test(0.7, 0.7, 0.2, 0.0, items, 0.025) == 0


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
@pytest.mark.parametrize(("limit", "wordings"), [(0.66, 20), (0.87, 12)])
def test_the_power_with_one_wording_more_is_how_often_the_test_finds_it(limit, wordings):
    draw, items, studies, mean, effect = np.random.default_rng(13), 200, 300, 0.8, 0.1
    n_found = 0
    for _ in range(studies):
        chances = mean + draw.uniform(-effect, effect, wordings)
        panel = estimate_panel_mean((draw.random((items, wordings)) < chances).astype(float), True, is_share=True)
        tails = compute_tails_of_panel(panel, limit, "both", is_bounded=True)
        n_found += (tails.p_at_most if limit < mean else tails.p_at_least) < 0.025
    error = np.sqrt(effect**2 / 3 / wordings + mean * (1 - mean) / wordings / items)
    foreseen = compute_power_with_one_item_more(mean, limit, error, wordings, 0.025)
    assert 0.2 < foreseen < 0.99 and n_found / studies == pytest.approx(foreseen, abs=0.08)
    assert compute_power_with_one_item_more(0.7, 0.7, 0.1, wordings, 0.025) == 0
    assert compute_power_with_one_item_more(0.8, limit, 0.0, 1, 0.025) == 0


def test_the_least_items_are_the_first_that_have_the_power():
    assert find_least_items_with_power(lambda items: items >= 137) == 137
    assert find_least_items_with_power(lambda items: True, least=30) == 30
    assert find_least_items_with_power(lambda items: False) == np.inf
    assert find_least_items_with_power(lambda items: items >= 99, least=2, most=100) == 99
    assert find_least_items_with_power(lambda items: items >= 101, least=2, most=100) == np.inf


@pytest.mark.usefixtures("only_p")
@pytest.mark.slow
def test_the_power_in_shared_wordings_allows_for_an_odd_one():
    draw, studies, n_worse, n_changed = np.random.default_rng(1), 40, 0, 0
    for _ in range(studies):
        before = (draw.random((100, 10)) < 0.9).astype(float)
        now = np.where(draw.random((100, 10)) < 0.4 / 0.9, 0.0, before)
        n_worse += judge_answers_not_worse_by_margin(now, before, True, 0.02, like_these=True).p_broken < 0.025
        answers = draw.integers(0, 2, (100, 1)).repeat(12, axis=1).astype(float)
        changed = np.where(draw.random((100, 1)) < 0.4, 1 - answers, answers)
        n_changed += judge_share_of_same_answers(changed, answers, True, 0.95, like_these=True).p_broken < 0.025
    forecast = MeanForecast(0.0, 0.0, 0.4 * 0.6)
    for foreseen, n_found in (
        (compute_difference_power_in_shared_wordings(forecast, -0.4, -0.02, 100, 10, 0.025), n_worse),
        (planned_answers._compute_power_to_find_changed_items(0.4, 0.95, 100, 12, 0.025), n_changed),
    ):
        assert n_found / studies == pytest.approx(foreseen, abs=4 * np.sqrt(foreseen * (1 - foreseen) / studies))
    assert compute_difference_power_in_shared_wordings(forecast, -0.6, -0.02, 100, 5, 0.025) < 1e-9
    assert planned_answers._compute_power_to_find_changed_items(0.9, 0.95, 100, 5, 0.025) == 0
