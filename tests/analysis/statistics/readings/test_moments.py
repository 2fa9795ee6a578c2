"""Sums over readings against formulas written the slow way, and against many simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.readings.moments import (
    average_samples_and_compute_influences,
    compute_moment_sums_by_item,
    compute_noise_covariance,
    mark_wordings_common_to_readings,
)


def test_cross_products_are_covariances_less_noise_over_common_wordings():
    rng = np.random.default_rng(0)
    values = rng.random((3, 5, 7))
    values[0, 0, 0] = values[2, 1, 3] = np.nan
    noise = np.zeros((3, 3, 5, 7)) + 0.001
    moments = compute_moment_sums_by_item(values, noise)
    for item in range(5):
        common = ~np.isnan(values[:, item]).any(axis=0)
        wanted = np.cov(values[:, item, common]) - 0.001
        assert moments.freedom[item] == common.sum() - 1
        assert moments.cross[:, :, item] / moments.freedom[item] == pytest.approx(wanted, abs=1e-12)
        assert moments.mean[:, item] == pytest.approx(values[:, item, common].mean(axis=1))


def test_noise_that_is_unknown_everywhere_leaves_the_variance_unknown_and_nothing_else():
    values = np.random.default_rng(0).random((2, 3, 4))
    noise = np.zeros((2, 2, 3, 4))
    noise[1, 1] = np.nan
    cross = compute_moment_sums_by_item(values, noise).cross
    assert np.isnan(cross[1, 1]).all() and not np.isnan(cross[0]).any()


def test_an_item_with_one_common_wording_has_no_freedom_and_no_flips():
    values = np.array([[[0.2, np.nan], [0.2, 0.8]], [[0.1, 0.4], [0.3, 0.9]]])
    moments = compute_moment_sums_by_item(values, np.zeros((2, 2, 2, 2)))
    assert moments.freedom.tolist() == [0, 1]
    assert np.isnan(moments.minority[:, 0]).all() and moments.minority[:, 1].tolist() == [0.5, 0.5]
    assert mark_wordings_common_to_readings(values).tolist() == [[True, False], [True, True]]


def test_noise_of_texts_is_the_binomial_one_with_n_minus_one():
    read = np.array([[1.0, 0, 0, 1, 0, np.nan], [1, 1, 1, 1, np.nan, np.nan]])
    valid = np.array([[1.0, 1, 1, 1, 0, np.nan], [1, 1, 1, 1, np.nan, np.nan]])
    share, influence = average_samples_and_compute_influences(read, valid)
    assert share.tolist() == [0.5, 1.0]
    assert compute_noise_covariance(influence, influence).tolist() == pytest.approx([0.25 / 3, 0.0])


def test_noise_covariance_of_two_readings_of_the_same_texts_is_unbiased():
    rng = np.random.default_rng(1)
    n = 6
    texts = rng.random((20_000, n)) < 0.3
    first = texts ^ (rng.random(texts.shape) < 0.1)
    has_answer = rng.random(texts.shape) < 0.8
    (a, influence_a), (b, influence_b) = (
        average_samples_and_compute_influences(part.astype(float), valid.astype(float))
        for part, valid in ((texts, np.ones_like(texts)), (first, has_answer))
    )
    wanted = np.cov(a[~np.isnan(b)], b[~np.isnan(b)])
    estimate = [np.nanmean(compute_noise_covariance(x, y)) for x, y in
                ((influence_a, influence_a), (influence_a, influence_b), (influence_b, influence_b))]  # fmt: skip
    assert estimate == pytest.approx([wanted[0, 0], wanted[0, 1], wanted[1, 1]], rel=0.05)


def test_one_text_says_nothing_of_its_noise():
    _, influence = average_samples_and_compute_influences(np.array([[1.0]]), np.array([[1.0]]))
    assert np.isnan(compute_noise_covariance(influence, influence)).all()


def draw_texts_with_few_answers(rng, number):
    """Texts of wordings (1, wordings, 3) of which a rule reads few: many wordings have a single text with an answer."""
    texts, valid = rng.random((1, number, 3)) < 0.3, rng.random((1, number, 3)) < 0.5
    return average_samples_and_compute_influences((texts & valid)[0].astype(float), valid[0].astype(float))


def test_noise_is_unbiased_where_many_wordings_have_a_single_text_with_an_answer():
    share, influence = draw_texts_with_few_answers(np.random.default_rng(2), 40_000)
    assert ((~np.isnan(influence)).sum(axis=1) == 1).mean() > 0.3
    noise = compute_noise_covariance(influence[None], influence[None])[0]
    has_share = ~np.isnan(share)
    assert (np.isnan(noise) == ~has_share).all()
    assert noise[has_share].mean() == pytest.approx(share[has_share].var(), rel=0.02)


def test_rounding_is_no_variance_over_wordings():
    equal = np.full((1, 1, 6), 0.95 * 0.3 / 0.95)
    equal[0, 0, 1::2] = np.nextafter(equal[0, 0, 0], 1)
    assert equal.var() > 0
    assert compute_moment_sums_by_item(equal, np.zeros((1, 1, 1, 6))).cross.tolist() == [[[0.0]]]
