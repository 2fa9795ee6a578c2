"""How far people agree: statsmodels, the package krippendorff, a printed example; and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from analysis.statistics.annotators import (
    ALIKE,
    NONE_COMPLETE,
    NONE_SHARED,
    ONE_ANNOTATOR,
    compute_fleiss_kappa_and_krippendorff_alpha,
    compute_share_of_yes_votes,
)
from analysis.statistics.interval import UNDEFINED

NO = np.nan
ITEMS = np.repeat(np.arange(12), 5)


def draw_votes(seed, missing=0.2, annotators=3):
    """Votes of annotators who agree on half of 60 wordings, some of them missing."""
    rng = np.random.default_rng(seed)
    votes = (rng.random((60, annotators)) < 0.7).astype(float)
    votes[:30] = votes[:30, :1]
    votes[rng.random(votes.shape) < missing] = NO
    return votes


def count_votes(votes):
    """Numbers of no and yes of every wording."""
    return np.stack([(votes == value).sum(axis=1) for value in (0, 1)], axis=1)


@pytest.mark.parametrize(("missing", "annotators"), [(0.0, 2), (0.0, 3), (0.2, 3), (0.3, 5)])
def test_coefficients_are_those_of_the_packages(missing, annotators):
    """To 1e-12."""
    krippendorff = pytest.importorskip("krippendorff", reason="needs krippendorff (make setup)")
    for seed in range(5):
        votes = draw_votes(seed, missing, annotators)
        kappa, alpha = compute_fleiss_kappa_and_krippendorff_alpha(votes, ITEMS, draws=0)
        complete = votes[~np.isnan(votes).any(axis=1)]
        assert kappa.n_wordings == len(complete) and alpha.n_wordings == ((~np.isnan(votes)).sum(axis=1) > 1).sum()
        assert kappa.value == pytest.approx(fleiss_kappa(count_votes(complete)), abs=1e-12)
        wanted = krippendorff.alpha(reliability_data=votes.T, level_of_measurement="nominal")
        assert alpha.value == pytest.approx(wanted, abs=1e-12)


def test_alpha_is_that_of_the_printed_example():
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability, example A: .095."""
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    _, alpha = compute_fleiss_kappa_and_krippendorff_alpha(np.array([meg, owen], float).T, np.arange(10), draws=0)
    assert alpha.value == pytest.approx(0.095, abs=5e-4)


def test_intervals_are_percentiles_over_items_with_all_their_wordings():
    """Against packages that compute every draw anew: of 2,000 draws each, ends within .03."""
    votes = draw_votes(0, missing=0.0)
    rng = np.random.default_rng(7)
    drawn = []
    for _ in range(2000):
        wordings = np.concatenate([np.flatnonzero(item == ITEMS) for item in rng.integers(0, 12, 12)])
        drawn.append(fleiss_kappa(count_votes(votes[wordings])))
    kappa, alpha = compute_fleiss_kappa_and_krippendorff_alpha(votes, ITEMS, draws=2000)
    # Of 12 items, the tails are expanded from .025 to .0107 (`significance.compute_tail_share_matching_t_interval`).
    assert (kappa.lower, kappa.upper) == pytest.approx(np.quantile(drawn, [0.0107, 0.9893]), abs=0.03)
    assert alpha.lower < alpha.value < alpha.upper and (kappa.missing, alpha.missing) == ("", "")


@pytest.mark.parametrize(
    ("votes", "of_kappa", "of_alpha"),
    [
        ([[1], [0], [1]], ONE_ANNOTATOR, ONE_ANNOTATOR),
        ([[1, 1], [1, 1], [1, 1]], ALIKE, ALIKE),
        ([[0, 0, NO], [0, 0, 0], [0, NO, 0]], ALIKE, ALIKE),
        ([[1, NO], [NO, 0], [1, NO]], NONE_COMPLETE, NONE_SHARED),
        ([[NO, NO], [NO, NO], [NO, NO]], NONE_COMPLETE, NONE_SHARED),
    ],
)
def test_undefined_coefficients_say_why(votes, of_kappa, of_alpha):
    for coefficient, why in zip(
        compute_fleiss_kappa_and_krippendorff_alpha(np.array(votes, float), [0, 1, 2]),
        (of_kappa, of_alpha),
        strict=True,
    ):
        assert coefficient.missing == why
        assert np.isnan([coefficient.value, coefficient.lower, coefficient.upper]).all()


def test_a_wording_with_a_single_vote_is_in_neither_coefficient():
    votes = draw_votes(1)
    more = np.concatenate([votes, [[1, NO, NO], [NO, NO, 0]]])
    assert compute_fleiss_kappa_and_krippendorff_alpha(
        votes, ITEMS, draws=50
    ) == compute_fleiss_kappa_and_krippendorff_alpha(more, np.concatenate([ITEMS, [0, 11]]), draws=50)


def test_a_coefficient_that_is_undefined_in_some_draws_has_no_interval():
    votes = np.ones((6, 2))
    votes[0] = 0
    kappa, alpha = compute_fleiss_kappa_and_krippendorff_alpha(votes, np.arange(6), draws=200)
    assert (kappa.value, kappa.missing, alpha.missing) == (1, UNDEFINED, UNDEFINED) and np.isnan(kappa.lower)


def test_share_of_decoys_that_an_annotator_calls_the_same_has_wilsons_interval():
    """With one decoy of each item, to 1e-12; wordings of one item are worth less."""
    votes = np.array([1, 0, 0, NO, 0, 0, 1, 0])
    error = compute_share_of_yes_votes(votes, np.arange(8))
    assert (error.value, error.n) == (pytest.approx(2 / 7), 7)
    assert (error.lower, error.upper) == pytest.approx(proportion_confint(2, 7, method="wilson"), abs=1e-12)
    never = compute_share_of_yes_votes(np.zeros(8), np.arange(8))
    assert never.lower == 0 and never.upper == pytest.approx(proportion_confint(0, 8, method="wilson")[1], abs=1e-12)
    alike, single = (np.tile([1.0, 0, 0, 0], (5, 1)).T.ravel(), np.tile([1.0, 0, 0, 0], 5))
    of_items = compute_share_of_yes_votes(alike, np.repeat(np.arange(4), 5))
    assert of_items.value == 0.25 and of_items.upper > compute_share_of_yes_votes(single, np.arange(20)).upper + 0.1
    nothing = compute_share_of_yes_votes(np.array([NO]), [0])
    assert nothing.n == 0 and np.isnan([nothing.value, nothing.lower, nothing.upper]).all()
