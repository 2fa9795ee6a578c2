"""Formulas on ordered options and on strata, beside scipy, pandas and textbook versions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.statistics.ordered import (
    compute_answer_entropies_in_bits,
    compute_mean_answer_scores,
    compute_mean_wasserstein_between_wordings,
    compute_minority_side_and_middle_shares,
    compute_score_variances_of_sampled_answers,
    compute_shares_of_end_options,
    compute_shares_of_middle_option,
    compute_wordings_share_off_modal_option,
    find_place_of_most_probable_option,
)
from analysis.statistics.spread import compute_mean_pair_distances
from analysis.statistics.strata import estimate_stratified_mean

DRAW = np.random.default_rng(5)


def test_answers_of_different_numbers_of_options_stand_in_one_array():
    """Of three options in an array of five, the last two ranks hold 0."""
    shares = np.array([[0.2, 0.3, 0.5, 0, 0], [0.1, 0.2, 0.3, 0.3, 0.1], [0.4, 0.1, 0.1, 0.4, 0]])
    n_options = np.array([3, 5, 4])
    np.testing.assert_allclose(compute_mean_answer_scores(shares, n_options), [0.65, 0.525, 0.5], atol=1e-15)
    np.testing.assert_allclose(compute_shares_of_end_options(shares, n_options), [0.7, 0.2, 0.8], atol=1e-15)
    np.testing.assert_allclose(compute_shares_of_middle_option(shares, n_options), [0.3, 0.3, np.nan])
    np.testing.assert_allclose(
        compute_answer_entropies_in_bits(shares), [stats.entropy(row[row > 0], base=2) for row in shares], atol=1e-12
    )
    assert np.isnan(compute_answer_entropies_in_bits(np.full(5, np.nan)))
    places = find_place_of_most_probable_option(shares)
    assert places[:1].tolist() == [2.0] and np.isnan(places[1:]).all()


def test_the_distance_of_two_wordings_is_that_of_scipy():
    shares = DRAW.dirichlet(np.ones(7), (3, 6))
    shares[1, 2] = np.nan
    ours = compute_mean_wasserstein_between_wordings(shares, np.array([7, 7, 7]))
    for place, wordings in enumerate(shares):
        present = wordings[~np.isnan(wordings[:, 0])]
        pairs = [stats.wasserstein_distance(range(7), range(7), a, b) / 6 for a, b in combinations(present, 2)]
        assert ours[place] == pytest.approx(np.mean(pairs), abs=1e-12)
    assert np.isnan(compute_mean_wasserstein_between_wordings(shares[:, :1], np.array([7, 7, 7]))).all()


def test_mean_pair_distances_are_those_of_all_pairs():
    values = DRAW.normal(size=(4, 9))
    values[2, 3:] = np.nan
    values[3, 1:] = np.nan
    ours = compute_mean_pair_distances(values)
    for row, value in zip(values[:3], ours, strict=False):
        present = row[~np.isnan(row)]
        assert value == pytest.approx(np.mean([abs(a - b) for a, b in combinations(present, 2)]), abs=1e-12)
    assert np.isnan(ours[3])


def test_variances_of_counts_are_those_of_the_samples():
    samples = [1, 1, 2, 5]
    shares = np.array([0.5, 0.25, 0, 0, 0.25])
    expected = np.var([(rank - 1) / 4 for rank in samples], ddof=1)
    assert compute_score_variances_of_sampled_answers(shares, np.array(5), np.array(4.0)) == pytest.approx(
        expected, abs=1e-15
    )
    assert np.isnan(compute_score_variances_of_sampled_answers(shares, np.array(5), np.array(1.0)))


def test_flips_of_ties_and_of_the_middle():
    flips, middle = compute_minority_side_and_middle_shares(
        np.array([[0.5, 0.5, 0.7, 0.9], [0.2, np.nan, np.nan, np.nan]])
    )
    assert flips[0] == 0 and middle[0] == 0.5 and np.isnan([flips[1], middle[1]]).all()
    modes = np.array([[0, 0, 1, 2], [0, 1, np.nan, np.nan], [0, np.nan, np.nan, np.nan]])
    np.testing.assert_allclose(compute_wordings_share_off_modal_option(modes, 3), [0.5, 0.5, np.nan])


def test_one_stratum_is_a_t_interval_and_two_are_welch():
    """Half the difference of two groups has the interval of Welch's test, which scipy computes."""
    first, second = DRAW.normal(0.6, 0.1, 7), DRAW.normal(0.4, 0.2, 5)
    single = estimate_stratified_mean(first[:, None], np.zeros(7, int), crossed=False)
    low, high = stats.t.interval(0.95, 6, first.mean(), stats.sem(first))
    np.testing.assert_allclose(single.compute_interval("both"), (low, high), atol=1e-12)
    assert single.compute_p_against(0.5) == pytest.approx(stats.ttest_1samp(first, 0.5).pvalue, abs=1e-9)
    values = np.concatenate([first, -second])[:, None]  # the mean of both groups is half the difference
    welch = stats.ttest_ind(first, second, equal_var=False)
    both = estimate_stratified_mean(values, np.repeat([0, 1], [7, 5]), crossed=False)
    interval = welch.confidence_interval(0.95)
    np.testing.assert_allclose(both.compute_interval("items"), (interval.low / 2, interval.high / 2), atol=1e-12)
    assert both.compute_p_against(0.0) == pytest.approx(welch.pvalue, abs=1e-9)


def test_shared_wordings_widen_and_a_stratum_of_one_item_has_no_interval():
    values = DRAW.normal(0.5, 0.05, (10, 6)) + DRAW.normal(0, 0.1, (1, 6))
    stratum = np.repeat([0, 1], 5)
    shared = estimate_stratified_mean(values, stratum, crossed=True)
    apart = estimate_stratified_mean(values, stratum, crossed=False)
    assert shared.mean == pytest.approx(pd.Series(values.mean(axis=1)).groupby(stratum).mean().mean(), abs=1e-15)
    wide, narrow = shared.compute_interval("both"), apart.compute_interval("both")
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert shared.compute_interval("items") == apart.compute_interval("items")
    values[:5, 5] = np.nan  # a wording that a stratum lacks tells nothing of wordings
    lacking = estimate_stratified_mean(values, stratum, crossed=True)
    of_five = estimate_stratified_mean(values[:, :5], stratum, crossed=True)
    assert lacking.both[1] == of_five.both[1] and lacking.both[1][1] == 4
    values[:5, 1:] = np.nan
    alone = estimate_stratified_mean(values, stratum, crossed=True)
    assert np.isnan(alone.compute_interval("both")).all() and np.isnan(alone.compute_p_against(0.5))
    assert alone.compute_interval("items")[0] < alone.mean
    single = estimate_stratified_mean(values[:, :1], stratum, crossed=True)  # one wording tells nothing of others
    assert np.isnan(single.compute_interval("both")).all() and np.isnan(single.compute_p_against(0.5))
    assert single.compute_interval("items")[0] < single.mean
    values = DRAW.normal(0.5, 0.05, (10, 6))
    lone = estimate_stratified_mean(values[:6], np.repeat([0, 1], [5, 1]), crossed=True)
    assert np.isnan(lone.compute_interval("items")).all() and np.isnan(lone.compute_p_against(0.5))
    empty = estimate_stratified_mean(values[:0], np.zeros(0, int), crossed=True)
    assert np.isnan(empty.mean) and empty.n_items == 0
