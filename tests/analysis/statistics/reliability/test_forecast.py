"""What a pilot foresees is what studies of other sizes show: in simulations, and by formulas written the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom

from analysis.statistics.reliability.backtest import compare_forecast_and_actual_errors
from analysis.statistics.reliability.deviations import compute_sd_pseudo_values, forecast_error_of_mean_wording_sd
from analysis.statistics.reliability.flips import build_flip_share_error_forecast
from analysis.statistics.reliability.forecast import build_mean_error_forecast, predict_standard_error
from analysis.statistics.reliability.sampling import compute_variance_of_binary_samples, estimate_sampling_variance

pytestmark = pytest.mark.slow


def studies(rng, runs, items, wordings, crossed=False):
    """Draw answers (runs, items, wordings) of items that differ in mean and in SD."""
    spread = rng.gamma(4, 0.05, (runs, items, 1))
    shared = rng.normal(0, 0.15, (runs, 1, wordings)) if crossed else 0.0
    return rng.normal(0, 0.3, (runs, items, 1)) + spread * (rng.normal(size=(runs, items, wordings)) + 8 * shared)


def test_pseudo_values_are_those_of_leaving_one_answer_out():
    values = np.random.default_rng(0).random((4, 6))
    values[1, 2] = values[2, 1:] = values[3, :4] = np.nan
    found = compute_sd_pseudo_values(values)
    for row, own in zip(found[:2], values[:2], strict=True):
        known = own[~np.isnan(own)]
        n, whole = len(known), known.std(ddof=1)
        slow = [n * whole - (n - 1) * np.delete(known, place).std(ddof=1) for place in range(n)]
        assert row[~np.isnan(own)] == pytest.approx(slow, abs=1e-12)
    assert np.isnan(found[1, 2]) and np.isnan(found[2:]).all()  # below three answers


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("figure", ["mean", "sd"])
def test_errors_of_other_sizes_are_foreseen_on_average(figure, crossed):
    """A pilot of 40 items in 8 wordings, the study of 60 in 20: errors within 7 % of those of 1,500 studies, 15 %
    of the SD over shared wordings."""
    rng = np.random.default_rng(1)
    foresee = forecast_error_of_mean_wording_sd if figure == "sd" else build_mean_error_forecast
    pilots = [foresee(each, crossed) for each in studies(rng, 300, 40, 8, crossed)]
    foreseen = np.sqrt(np.nanmean([predict_standard_error(each, 60, 20) ** 2 for each in pilots]))
    drawn = studies(rng, 1500, 60, 20, crossed)
    figures = drawn.std(axis=2, ddof=1) if figure == "sd" else drawn.mean(axis=2)
    assert foreseen == pytest.approx(figures.mean(axis=1).std(ddof=1), rel=0.15 if crossed and figure == "sd" else 0.07)


def test_errors_of_sds_with_few_wordings_are_foreseen_on_average():
    """Own wordings, a pilot of 40 items in 10: within 7 % of the errors of 2,000 studies."""
    rng = np.random.default_rng(7)
    pilots = [forecast_error_of_mean_wording_sd(each, False) for each in studies(rng, 200, 40, 10)]
    for wordings in (2, 3, 5, 12):
        foreseen = np.array([predict_standard_error(each, 60, wordings) for each in pilots])
        figures = studies(rng, 2000, 60, wordings).std(axis=2, ddof=1).mean(axis=1)
        assert np.sqrt(np.mean(foreseen[foreseen > 0] ** 2)) == pytest.approx(figures.std(ddof=1), rel=0.07), wordings


@pytest.mark.parametrize("wordings", [5, 20, 100])
def test_shares_of_flips_with_other_numbers_of_wordings_are_foreseen(wordings):
    """Shares of agreeing wordings from a beta distribution: flips as the beta-binomial has them, within 2 points."""
    rng, shares = np.random.default_rng(2), []
    for _ in range(40):
        agree = rng.random((200, 30)) < rng.beta(0.6, 0.8, (200, 1))
        shares.append(
            build_flip_share_error_forecast(agree.astype(float), 0.1).predict_share_of_flipping_items(wordings)
        )
    drawn = np.arange(wordings + 1)
    flipped = np.minimum(drawn, wordings - drawn) / wordings > 0.1
    expected = betabinom.pmf(drawn, wordings, 0.6, 0.8)[flipped].sum()
    assert np.mean(shares) == pytest.approx(expected, abs=0.02)


def test_bounds_of_the_error_of_flips_are_those_of_the_share():
    """62 items, 59 of which flip whatever the number of wordings: Wilson's interval of 59 of 62 is .867 to .983."""
    values = np.where(np.arange(62)[:, None] < 59, [[0.1, 0.9] * 50], 0.1)
    found = build_flip_share_error_forecast(values, 0.05)
    assert found.items == 62 and found.predict_share_of_flipping_items(40) == pytest.approx(59 / 62, abs=0.003)
    assert found.count_items_of_equal_information(40) == pytest.approx(62, rel=0.02)
    expected = [np.sqrt(end * (1 - end) / 100) for end in (0.9834, 0.8671)]
    assert found.compute_standard_error_bounds(100, 40) == pytest.approx(expected, abs=2e-3)
    half = build_flip_share_error_forecast(np.where(np.arange(10)[:, None] < 5, [[0.1, 0.9] * 50], 0.1), 0.05)
    assert half.compute_standard_error_bounds(100, 40)[1] == pytest.approx(
        0.05
    )  # no share has a larger error than one of .5


def test_the_distribution_of_shares_is_a_mixture_of_beta_distributions():
    """The slow way: expectation and maximization over beta-binomial distributions; flips within .002 (the grid's)."""
    rng = np.random.default_rng(3)
    agree = (rng.random((50, 12)) < rng.random((50, 1))).sum(axis=1)
    kinds = [(m * s, (1 - m) * s) for m in np.linspace(0.025, 0.975, 39) for s in (2, 8, 32, 128)]

    def chances(n, k):
        return np.r_[betabinom.pmf(k, n, *np.transpose(kinds)), k == 0, k == n]

    weights = np.full(len(kinds) + 2, 1 / (len(kinds) + 2))
    of_items = [chances(12, k) for k in agree]
    for _ in range(200):
        weights = np.mean([each * weights / (each @ weights) for each in of_items], axis=0)
    slow = sum(weights @ chances(30, k) for k in range(31) if min(k, 30 - k) / 30 > 0.1)
    found = build_flip_share_error_forecast((np.arange(12) < agree[:, None]).astype(float), 0.1)
    assert found.predict_share_of_flipping_items(30) == pytest.approx(slow, abs=0.002)
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(("high", "threshold"), [((8, 2), 0.05), ((8, 2), 0.2), ((20, 1), 0.05), ((0.2, 0.2), 0.2)])
def test_errors_of_flips_are_foreseen_on_average_and_lie_within_their_bounds(high, threshold):
    """60 pilots of 62 items in 20 wordings, for 180: mean error within 10 %, bounds hold it in 85 % of them or more."""
    rng, ratios, held = np.random.default_rng(1), [], []
    drawn = np.arange(181)
    flipped = np.minimum(drawn, 180 - drawn) / 180 > threshold
    share = betabinom.pmf(drawn, 180, *high)[flipped].sum()
    true = np.sqrt(share * (1 - share) / 62)
    for _ in range(60):
        found = build_flip_share_error_forecast(
            (rng.random((62, 20)) < rng.beta(*high, (62, 1))).astype(float), threshold
        )
        if found:
            low, upper = found.compute_standard_error_bounds(62, 180)
            ratios.append(predict_standard_error(found, 62, 180) / true)
            held.append(low <= true <= upper)
    assert np.mean(ratios) == pytest.approx(1, abs=0.1) and np.mean(held) >= 0.85


def test_flips_of_all_items_or_none_tell_no_error():
    assert build_flip_share_error_forecast(np.zeros((5, 4)), 0.05) is None
    assert build_flip_share_error_forecast(np.tile([0.1, 0.9], (5, 2)), 0.05) is None
    assert build_flip_share_error_forecast(np.full((5, 4), np.nan), 0.05) is None


@pytest.mark.parametrize("texts", [1, 2, 40])
def test_sampled_texts_are_told_apart_from_wordings(texts):
    """Answers are shares of 10 texts; the error with other numbers of texts, within 5 % of that of 3,000 studies."""
    rng = np.random.default_rng(4)

    def drawn(runs, items, wordings, samples):
        true = rng.beta(3, 3, (runs, items, 1)) * 0.8 + rng.beta(2, 2, (runs, items, wordings)) * 0.2
        return rng.binomial(samples, true) / samples

    foreseen = []
    for values in drawn(200, 40, 6, 10):
        number = np.full(values.shape, 10.0)
        own = estimate_sampling_variance(compute_variance_of_binary_samples(values, number), number)
        assert own.sample == pytest.approx((values * (1 - values) * 10 / 9).mean()) and own.number == pytest.approx(10)
        foreseen.append(predict_standard_error(build_mean_error_forecast(values, False, own), 30, 4, texts) ** 2)
    assert np.sqrt(np.mean(foreseen)) == pytest.approx(
        drawn(3000, 30, 4, texts).mean(axis=(1, 2)).std(ddof=1), rel=0.05
    )


def test_single_texts_do_not_tell_their_noise():
    assert (
        estimate_sampling_variance(
            compute_variance_of_binary_samples(np.array([[0.0, 1.0]]), np.ones((1, 2))), np.ones((1, 2))
        )
        is None
    )


@pytest.mark.parametrize("crossed", [False, True])
def test_actual_errors_are_those_of_the_wordings_that_were_held_back(crossed):
    """Of 62 items in 200 wordings, a tenth foresees the errors of the others: on average within 5 %."""
    ratios: dict[str, list[float]] = {}
    for seed in range(8):
        (values,) = studies(np.random.default_rng(seed), 1, 62, 200, crossed)
        found = compare_forecast_and_actual_errors(values + 0.5, crossed, 0.2, seed=seed)
        assert {each.pilot for each in found} == {20} and max(each.wordings for each in found) == 180
        for each in found:
            ratios.setdefault(each.figure, []).append(each.predicted / each.actual)
    assert set(ratios) == ({"mean", "sd"} if crossed else {"mean", "sd", "flips"})
    for figure, found in ratios.items():
        assert np.nanmean(found) == pytest.approx(1, abs=0.15 if crossed else 0.05), figure


def test_with_all_others_the_actual_error_is_that_of_the_items():
    values = np.random.default_rng(5).random((30, 40))
    found = {
        each.figure: each for each in compare_forecast_and_actual_errors(values, False, 0.45) if each.wordings == 36
    }
    rng = np.random.default_rng(0)
    order = np.argsort(rng.random(values.shape), axis=1)
    others = np.take_along_axis(values, order, axis=1)[:, 4:]
    agree = (others >= 0.5).sum(axis=1)
    flipped = np.minimum(agree, 36 - agree) > 0.45 * 36
    slow = {"mean": others.mean(axis=1), "sd": others.std(axis=1, ddof=1), "flips": flipped}
    for figure, own in slow.items():
        assert found[figure].actual == pytest.approx(np.asarray(own, float).std(ddof=1) / np.sqrt(30), rel=1e-9)


@pytest.mark.parametrize("shape", [(1, 30), (30, 4), (0, 10)])
def test_too_few_items_or_wordings_have_no_pilot(shape):
    assert compare_forecast_and_actual_errors(np.random.default_rng(6).random(shape), False, 0.05) == []


def test_items_that_lack_a_shared_wording_are_not_compared():
    """A pilot of three columns holds less than one answer of an item that has 5 of 19 wordings."""
    values = np.random.default_rng(7).random((40, 30))
    whole = compare_forecast_and_actual_errors(values[:25], True, 0.05)
    values[25:, 4] = np.nan
    assert whole and str(compare_forecast_and_actual_errors(values, True, 0.05)) == str(
        whole
    )  # as texts: NaN is not itself
    values[:24, 3] = np.nan
    assert compare_forecast_and_actual_errors(values, True, 0.05) == []
    assert compare_forecast_and_actual_errors(values, False, 0.05)  # of own wordings, all these items have enough
