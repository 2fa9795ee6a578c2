"""What readings share and what is one's own: by hand, and recovered from simulated errors of reading."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.readings import moments, people, ranks, sharing
from analysis.statistics.readings.common import estimate_largest_r2_of_reading_with_others
from helpers import reading_errors
from helpers.reading_errors import LENIENT, simulate_study

ERRORS = [(0.0, False), (0.05, False), (0.15, False), (0.05, True), (0.15, True)]


def exact(values):
    values = np.asarray(values, float)
    return moments.compute_moment_sums_by_item(values, np.zeros((len(values), *values.shape)))


def test_a_triad_finds_the_variance_that_a_reading_has_of_its_own():
    # T and the errors are orthogonal contrasts of eight wordings, so that nothing is left to chance.
    contrasts = np.array([[1, 1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, 1, 1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]])
    true, own, other = contrasts / 10
    values = [[0.5 + true + 0.5 * own], [0.5 + 2 * true], [0.5 + true + other]]
    share = sharing.estimate_own_variance_share_of_one_reading(
        exact(values), 0, ["texts", "probability", "thought"], draws=0
    )
    assert share.figure.estimate[0] == pytest.approx(0.25 / 1.25)


def test_kept_is_the_least_covariance_by_the_variance_between_0_and_1():
    base = np.array([0.2, 0.4, 0.6, 0.8])
    values = [[base], [0.5 + (base - 0.5) / 2], [1 - base]]
    figures = sharing.estimate_means_and_spreads_of_readings(exact(values[:2]), draws=0)
    assert figures["kept"].estimate.tolist() == pytest.approx([0.5, 1.0])
    assert figures["wording_sd"].estimate.tolist() == pytest.approx([base.std(ddof=1), base.std(ddof=1) / 2])
    assert sharing.estimate_means_and_spreads_of_readings(exact(values), draws=0)["kept"].estimate.tolist() == [0, 0, 0]


def test_two_readings_give_bounds_only_and_so_do_two_rules_of_the_same_texts_beside_a_third():
    rng = np.random.default_rng(0)
    base = rng.random((6, 5))
    values = [base, 0.5 * base + 0.1 * rng.random((6, 5)), base]
    item_moments = exact(values[:2])
    same_texts = sharing.estimate_own_variance_share_of_one_reading(item_moments, 0, ["texts", "texts"], draws=100)
    assert same_texts.figure is None and np.isnan(same_texts.most)
    share = sharing.estimate_own_variance_share_of_one_reading(item_moments, 0, ["a", "b"], draws=100)
    assert share.figure is None and np.isnan(share.p)
    common = estimate_largest_r2_of_reading_with_others(item_moments, 0, ["a", "b"], draws=100)
    assert share.most == 1 - common.lower[0] > 1 - common.estimate[0]
    # Where both are the same in every resample, nothing is either's own.
    assert sharing.estimate_own_variance_share_of_one_reading(exact(values[::2]), 0, ["a", "b"], draws=100).most == 0
    # The probability beside two rules: their errors may go together, so nothing is claimed of the probability.
    assert sharing.list_other_pairs_on_different_responses(2, ["texts", "texts", "probability"]) == []
    assert sharing.list_other_pairs_on_different_responses(0, ["texts", "texts", "probability"]) == [(1, 2)]


@pytest.mark.parametrize("n_items", [3, 12])
def test_a_correlation_above_one_net_of_sampling_is_no_bound(n_items):
    """Cut at 1 in each draw, r^2 was the same in all of them: at most 0 % was a reading's own, of 2 or 3 items always.

    Where r^2 is C^2 / (V_A V_B) of the sums over drawn items, all of three items and of most draws of twelve are above
    1: 3 of the 12 items have C = 0.
    """
    cross = np.zeros((2, 2, n_items))
    cross[0, 0], cross[1, 1], cross[0, 1] = 1.0, 0.5 + np.arange(n_items) / 100, 0.9
    cross[0, 1, 9:] = 0.0
    cross[1, 0] = cross[0, 1]
    flat = np.ones(n_items)
    item_moments = moments.ItemMoments(cross, 3 * flat, 4 * flat, *[np.ones((2, n_items))] * 4, np.ones_like(cross))
    most = sharing.build_own_share_bounded_by_largest_r2(item_moments, 0, ["a", "b"], draws=500).most
    assert np.isnan(most) if n_items == 3 else 0.3 < most < 1
    equal = moments.compute_moment_sums_by_item(np.stack([np.random.default_rng(0).random((n_items, 4))] * 2),
                                                np.zeros((2, 2, n_items, 4)))  # fmt: skip
    most = sharing.build_own_share_bounded_by_largest_r2(equal, 0, ["a", "b"], draws=500).most
    assert np.isnan(most) if n_items == 3 else most == pytest.approx(0, abs=1e-9)


def test_a_reading_of_unknown_noise_is_not_judged():
    rng = np.random.default_rng(0)
    noise = np.zeros((3, 3, 6, 5))
    noise[0, 0] = np.nan
    item_moments = moments.compute_moment_sums_by_item(rng.random((3, 6, 5)), noise)
    share = sharing.estimate_own_variance_share_of_one_reading(item_moments, 0, ["a", "b", "c"], draws=50)
    assert share.figure is None and np.isnan([share.most, share.p]).all()
    # Of the two others, each bounds the share of the other as if the first were not there.
    share = sharing.estimate_own_variance_share_of_one_reading(item_moments, 1, ["a", "b", "c"], draws=50)
    assert share == sharing.build_own_share_bounded_by_largest_r2(item_moments, 1, ["a", "b", "c"], draws=50)
    figures = sharing.estimate_means_and_spreads_of_readings(item_moments, draws=50)
    assert np.isnan(figures["wording_sd"].estimate[0]) and not np.isnan(figures["wording_sd"].estimate[1])


@pytest.mark.parametrize("n_clear", [2, 3])
@pytest.mark.parametrize("lone", [False, True])
def test_a_reading_of_unknown_noise_takes_nothing_from_the_others(n_clear, lone):
    """Two others keep their bounds beside it, three their triads; `lone`: also where an item has a single wording."""
    rng = np.random.default_rng(0)
    values = rng.random((30, 6)) + np.array([0.1, 0.2, 0.3, 0.4])[:, None, None] * rng.random((4, 30, 6))
    values[:, 0, 1:] = np.nan if lone else values[:, 0, 1:]
    noise = np.zeros((4, 4, 30, 6))
    noise[3], noise[:, 3] = np.nan, np.nan
    places = [*range(n_clear), 3]
    beside = moments.compute_moment_sums_by_item(values[places], noise[np.ix_(places, places)])
    share, alone = (
        sharing.estimate_own_variance_share_of_one_reading(part, 0, list("abcd")[:number], draws=50)
        for part, number in ((beside, n_clear + 1), (exact(values[:n_clear]), n_clear))
    )
    if n_clear == 2:
        assert share == alone and 0 < share.most < 1
    else:
        assert share.figure.estimate == alone.figure.estimate and share.p == alone.p


def test_a_bound_stands_where_the_readings_of_a_triad_go_apart():
    rng = np.random.default_rng(0)
    base = rng.random((30, 6))
    values = np.stack([base, base + 0.2 * rng.random((30, 6)), 1 - base])
    share = sharing.estimate_own_variance_share_of_one_reading(exact(values), 0, ["a", "b", "c"], draws=50)
    assert share.figure is None and 0 < share.most < 0.2


@pytest.mark.slow
def test_a_bound_holds_what_is_due_to_a_reading_beside_one_without_errors():
    """1 - r^2 itself would be below it in half of the studies."""
    rng, holds = np.random.default_rng(4), []
    for _ in range(100):
        study = simulate_study(rng, error=0.15, uneven=True, readings=("probability", LENIENT))
        item_moments = moments.compute_moment_sums_by_item(study.values, study.noise)
        share = sharing.estimate_own_variance_share_of_one_reading(item_moments, 1, study.sources, draws=200)
        holds.append(share.most >= study.truth)
    assert np.mean(holds) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize(("error", "uneven"), ERRORS)
def test_what_is_due_to_reading_is_recovered_within_two_points(error, uneven):
    rng = np.random.default_rng(0)
    by_readings, by_people = [], []
    for _ in range(120):
        study = simulate_study(rng, error=error, uneven=uneven)
        item_moments = moments.compute_moment_sums_by_item(study.values, study.noise)
        place = study.readings.index(LENIENT)
        share = sharing.estimate_own_variance_share_of_one_reading(item_moments, place, study.sources, draws=0)
        by_readings.append(share.figure.estimate[0])
        everywhere = np.ones(study.texts.shape, bool)
        corrected = people.correct_reading_by_people(
            study.read, everywhere.astype(float), study.texts, everywhere, draws=0
        )
        by_people.append(corrected.figures["own"].estimate[0])
    assert np.mean(by_readings) == pytest.approx(study.truth, abs=0.02)
    assert np.mean(by_people) == pytest.approx(study.truth, abs=0.02)


def test_people_correct_the_mean_and_the_sd_from_some_of_the_texts():
    rng = np.random.default_rng(3)
    mean_by_rule, mean_corrected, sd_corrected, mean_true, sd_true = [], [], [], [], []
    for _ in range(30):
        study = simulate_study(rng, error=0.15, uneven=True)
        has_people = rng.random(study.texts.shape).argsort(axis=2) < 4
        figures = people.correct_reading_by_people(
            np.maximum(study.read, study.texts), np.ones_like(study.read), study.texts, has_people, draws=0
        ).figures
        mean_by_rule.append(figures["mean"].estimate[0])
        mean_corrected.append(figures["corrected_mean"].estimate[0])
        sd_corrected.append(figures["corrected_sd"].estimate[0] ** 2)
        mean_true.append(study.texts.mean())
        sd_true.append(study.values[0].var(axis=1, ddof=1).mean())
    assert np.mean(mean_by_rule) > np.mean(mean_true) + 0.05
    assert np.mean(mean_corrected) == pytest.approx(np.mean(mean_true), abs=0.01)
    assert np.mean(sd_corrected) == pytest.approx(np.mean(sd_true), rel=0.05)


def test_one_text_of_people_per_wording_is_too_few():
    study = simulate_study(np.random.default_rng(0), items=5)
    has_people = np.zeros(study.texts.shape, bool)
    has_people[..., 0] = True
    corrected = people.correct_reading_by_people(
        study.read, np.ones_like(study.read), study.texts, has_people, draws=20
    )
    assert corrected.n_wordings == 0 and np.isnan(corrected.figures["own"].estimate[0]) and np.isnan(corrected.p)


def test_kappa_and_sides_by_hand():
    values = [[[0.9, 0.1, 0.8, 0.2]], [[0.7, 0.3, 0.4, 0.6]]]
    figures = sharing.estimate_kappa_and_r_of_reading_pairs(exact(values), [(0, 1)], draws=0)
    assert figures["same_side"].estimate[0] == 0.5 and figures["kappa"].estimate[0] == pytest.approx(0.0)
    wanted = np.corrcoef(*(part[0] for part in values))[0, 1]
    assert figures["correlation"].estimate[0] == pytest.approx(wanted)


def test_tau_of_rankings_is_that_of_scipy():
    from scipy.stats import kendalltau

    means = np.random.default_rng(2).random((2, 9, 5))
    means[1, :, 4] = means[1, :, 3]
    tau = ranks.estimate_tau_of_models_under_two_readings(means, draws=0)["tau"].estimate[0]
    assert tau == pytest.approx(kendalltau(*means.mean(axis=1)).statistic)


def test_the_common_share_is_the_largest_squared_correlation_with_other_responses():
    rng = np.random.default_rng(21)
    shown = rng.uniform(0, 1, (30, 6))
    other, same_texts = 0.5 * shown + 0.5 * rng.uniform(0, 1, (2, 30, 6))
    values = np.stack([shown, other, 0.2 + 0.1 * other, same_texts])
    item_moments = moments.compute_moment_sums_by_item(values, np.zeros((4, 4, 30, 6)))
    centred = values - values.mean(axis=2, keepdims=True)
    slow = np.corrcoef(centred[0].ravel(), centred[1].ravel())[0, 1] ** 2
    figure = estimate_largest_r2_of_reading_with_others(item_moments, 0, ["t", "p", "q", "t"], draws=100)
    assert figure.estimate[0] == pytest.approx(slow, abs=1e-12)  # that it is on a smaller scale, counts for nothing
    assert figure.lower[0] < slow < figure.upper[0]
    assert np.isnan(estimate_largest_r2_of_reading_with_others(item_moments, 0, ["t"] * 4, draws=0).estimate[0])


def test_no_word_is_said_where_another_reading_moves_as_far_by_something_else():
    """Probabilities with a large part of their own, and greedy texts, which are 0 or 1: the covariance is large."""
    rng = np.random.default_rng(22)
    centre, shown = rng.normal(0, 0.7, (40, 1)), rng.normal(0, 1, (40, 10))
    probability = reading_errors.squash(0.5 * (centre + shown) + 0.5 * rng.normal(0, 1.5, shown.shape))
    values = np.stack([probability, (centre + shown > 0).astype(float)])
    item_moments = moments.compute_moment_sums_by_item(values, np.zeros((2, 2, *shown.shape)))
    kept = sharing.estimate_means_and_spreads_of_readings(item_moments, draws=200)["kept"]
    common = estimate_largest_r2_of_reading_with_others(item_moments, 0, ["probability", "text"], draws=200)
    assert kept.lower[0] > 0.5 and common.upper[0] < 0.5  # of the probability, a third is what texts show, too
