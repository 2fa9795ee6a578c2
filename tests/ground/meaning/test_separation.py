"""AUC, its interval, the ROC curve and the threshold: scikit-learn, Stata's example, and formulas the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri, stdtrit

from ground.meaning.separation import compute_auc, compute_roc, find_threshold_passing_few_decoys

Z = 1.959963984540054


def draw_scores(seed, n_passed=40, n_decoys=30, decimals=1):
    """Scores with ties."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(1, 1, n_passed), decimals), np.round(rng.normal(0, 1, n_decoys), decimals)


def find_standard_error(estimate, quantile=Z):
    """The standard error that an interval on the logit scale was made with."""
    width = logit(estimate.upper) - logit(estimate.lower)
    return width / 2 / quantile * estimate.auc * (1 - estimate.auc)


def compare(high, low):
    return 1.0 if high > low else 0.5 if high == low else 0.0


@pytest.mark.slow
def test_auc_and_curve_are_those_of_scikit_learn():
    """To 1e-12."""
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn (make references)")
    for seed in range(5):
        passed, decoys = draw_scores(seed)
        is_passed, scores = np.repeat([1, 0], [len(passed), len(decoys)]), np.concatenate([passed, decoys])
        assert compute_auc(passed, decoys).auc == pytest.approx(metrics.roc_auc_score(is_passed, scores), abs=1e-12)
        false_rate, true_rate, cuts = metrics.roc_curve(is_passed, scores, drop_intermediate=False)
        thresholds, passed_shares, decoy_shares = compute_roc(passed, decoys)
        assert thresholds.tolist() == cuts.tolist()
        assert passed_shares == pytest.approx(true_rate, abs=1e-12)
        assert decoy_shares == pytest.approx(false_rate, abs=1e-12)


def test_variance_is_delongs_double_sum():
    """To 1e-12, scores that nobody knows left out."""
    for seed in range(5):
        passed, decoys = draw_scores(seed, 12, 9)
        of_passed = [sum(compare(x, y) for y in decoys) / 9 for x in passed]
        of_decoys = [sum(compare(x, y) for x in passed) / 12 for y in decoys]
        auc = sum(of_passed) / 12
        variance = sum((part - auc) ** 2 for part in of_passed) / 11 / 12
        variance += sum((part - auc) ** 2 for part in of_decoys) / 8 / 9
        estimate = compute_auc([np.nan, *passed], [*decoys, np.nan])
        assert (estimate.n_passed, estimate.n_decoys) == (12, 9)
        half = Z * np.sqrt(variance) / auc / (1 - auc)
        assert (estimate.auc, estimate.lower, estimate.upper) == pytest.approx(
            (auc, expit(logit(auc) - half), expit(logit(auc) + half)), abs=1e-12
        )


def test_standard_error_is_that_of_the_printed_example():
    """Ratings of 109 images (Hanley and McNeil 1982); Stata's manual, `roctab`: .8932, DeLong's error .0307 (5e-5)."""
    ratings = range(1, 6)
    abnormal, normal = np.repeat(ratings, (3, 2, 2, 11, 33)), np.repeat(ratings, (33, 6, 6, 11, 2))
    estimate = compute_auc(abnormal, normal)
    assert estimate.auc == pytest.approx(0.8932, abs=5e-5)
    assert find_standard_error(estimate) == pytest.approx(0.0307, abs=5e-5)
    assert find_standard_error(estimate) == pytest.approx((0.95339 - 0.83295) / 2 / Z, abs=5e-6)


def test_variance_over_items_is_obuchowskis():
    """To 1e-12, with an item that has wordings only, and one that has decoys only."""
    passed, decoys = draw_scores(3, 12, 9)
    of_passed, of_decoys = np.array([*"aaabbbccccdd"]), np.array([*"aabbbccce"])
    high = np.array([sum(compare(x, y) for y in decoys) / 9 for x in passed])
    low = np.array([sum(compare(x, y) for x in passed) / 12 for y in decoys])
    auc, sums = high.mean(), {}
    for item in "abcde":
        x, y = high[of_passed == item], low[of_decoys == item]
        sums[item] = x.sum() - len(x) * auc, y.sum() - len(y) * auc
    variance = 4 / 3 / 12**2 * sum(x**2 for x, _ in sums.values())
    variance += 4 / 3 / 9**2 * sum(y**2 for _, y in sums.values())
    variance += 2 * 5 / 4 / 12 / 9 * sum(x * y for x, y in sums.values())
    estimate = compute_auc(passed, decoys, of_passed, of_decoys)
    assert find_standard_error(estimate, stdtrit(3, 0.975)) ** 2 == pytest.approx(variance, abs=1e-12)


def test_one_score_an_item_is_as_if_none_was_named():
    """To 1e-12, but for the quantile, of t with as many items as the side with fewer has, less one."""
    passed, decoys = draw_scores(0)
    plain = compute_auc(passed, decoys)
    by_item = compute_auc(passed, decoys, [f"p{n}" for n in range(40)], [f"d{n}" for n in range(30)])
    wanted = find_standard_error(plain)
    assert find_standard_error(by_item, stdtrit(29, 0.975)) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("n_passed", "n_decoys"), [(2, 2), (10, 30), (500, 20)])
def test_sides_that_do_not_overlap_have_newcombes_interval(n_passed, n_decoys):
    """Its end lies z of its own standard errors away, to 1e-6; and mirrored where the sides are exchanged."""
    estimate = compute_auc(1 + np.arange(n_passed), -np.arange(n_decoys))
    end, more = estimate.lower, (n_passed + n_decoys) / 2 - 1
    spread = end * (1 - end) / n_passed / n_decoys * (1 + more * (1 - end) / (2 - end) + more * end / (1 + end))
    assert estimate.auc == estimate.upper == 1 and 1 - end == pytest.approx(Z * np.sqrt(spread), rel=1e-6)
    mirrored = compute_auc(-np.arange(n_decoys), 1 + np.arange(n_passed))
    assert (mirrored.auc, mirrored.lower) == (0, 0) and mirrored.upper == pytest.approx(1 - end, abs=1e-9)


def test_alike_scores_have_an_interval_with_a_width_and_single_ones_none():
    alike = compute_auc([0.5] * 8, [0.5] * 6)
    assert alike.auc == 0.5 and 0.1 < alike.lower < 0.4 and alike.lower + alike.upper == pytest.approx(1)
    single = compute_auc([1.0], [0.0, 0.5])
    assert single.auc == 1 and np.isnan([single.lower, single.upper]).all()
    of_one_item = compute_auc([1.0, 0.2], [0.0, 0.5], ["a", "a"], ["a", "b"])
    assert of_one_item.auc == 0.75 and np.isnan(of_one_item.lower)
    for passed, decoys in (([], [1.0]), ([np.nan], [1.0]), ([1.0], [])):
        assert np.isnan(compute_auc(passed, decoys).auc)


def test_threshold_is_the_smallest_that_lets_so_few_decoys_pass():
    for seed, size in ((0, 1), (1, 19), (2, 20), (3, 39), (4, 200)):
        decoys = draw_scores(seed, 1, size)[1]
        threshold = find_threshold_passing_few_decoys([*decoys, np.nan])
        assert (decoys >= threshold).mean() <= 0.05 < (decoys >= np.nextafter(threshold, -np.inf)).mean()
    assert (
        np.isnan(find_threshold_passing_few_decoys([]))
        and find_threshold_passing_few_decoys([1.0, 2.0], allowed=1.0) == -np.inf
    )


@pytest.mark.parametrize(("auc", "least"), [(0.7, 0.92), (0.95, 0.9)])
def test_interval_holds_the_truth_where_scores_of_an_item_are_alike(auc, least):
    """In 300 studies of 20 items, of 10 wordings and 5 decoys; DeLong's, which knows no items, in less than .9."""
    rng = np.random.default_rng(0)
    by_item, plain = [], []
    for _ in range(300):
        middle = np.sqrt(2) * ndtri(auc)
        passed, decoys = (
            shift + np.sqrt(0.3) * rng.normal(size=(20, 1)) + np.sqrt(0.7) * rng.normal(size=(20, n))
            for shift, n in ((middle, 10), (0.0, 5))
        )
        items = np.repeat(np.arange(20), 10), np.repeat(np.arange(20), 5)
        for estimates, named in ((by_item, items), (plain, ())):
            estimate = compute_auc(passed.ravel(), decoys.ravel(), *named)
            estimates.append(estimate.lower <= auc <= estimate.upper)
    assert np.mean(by_item) >= least and np.mean(plain) < 0.9
