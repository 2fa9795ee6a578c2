"""Alpha, its interval and omega against R, pingouin and slow textbook versions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f

from analysis.statistics.ratings.consistency import (
    LISTWISE,
    PAIRWISE,
    compute_cronbach_alpha,
    compute_mcdonald_omega,
    fit_one_factor_model,
)
from ground.errors import InputError

ROOT = Path(__file__).parents[4]
BFI = ROOT.parent / "shared" / "data" / "bfi"
REFERENCE = pd.read_csv(ROOT / "tests" / "reference" / "bfi.csv", index_col="scale")
PRINTED = {"Agreeableness": 0.703, "Conscientiousness": 0.727, "Extraversion": 0.762, "Neuroticism": 0.814,
           "Openness": 0.600}  # fmt: skip


def read_scale(scale: str) -> np.ndarray:
    """Answers of 2,800 people to a scale of the bfi, 1 to 6, after reversing."""
    if not BFI.is_dir():
        pytest.skip("no ../shared/data/bfi")
    items = pd.read_csv(BFI / "items.csv").query("scale == @scale")
    answers = pd.read_csv(BFI / "responses.csv")[list(items["item"])].to_numpy(float)
    return np.where(items["key"].to_numpy() == -1, 7 - answers, answers)


@pytest.mark.parametrize("scale", PRINTED)
def test_alpha_is_that_of_r_psych(scale):
    found = compute_cronbach_alpha(read_scale(scale))
    expected = REFERENCE.loc[scale]
    assert round(found.value, 3) == PRINTED[scale]
    assert found.value == pytest.approx(expected["alpha"], abs=1e-9)
    # psych counts all 2,800 people, of whom two items share 2,754 to 2,768 on average.
    np.testing.assert_allclose([found.lower, found.upper], expected[["lower", "upper"]].astype(float), atol=2e-4)
    tails = (1 - expected[["lower", "upper"]].astype(float)) / (1 - expected["alpha"])
    np.testing.assert_allclose(tails, f.isf([0.025, 0.975], 2799, 2799 * 4), atol=1e-7)
    assert (found.n_respondents, found.n_items, found.why_not) == (2800, 5, "")


@pytest.mark.slow
@pytest.mark.parametrize("scale", PRINTED)
def test_alpha_is_that_of_pingouin(scale):
    pingouin = pytest.importorskip("pingouin")
    answers = read_scale(scale)
    value, interval = pingouin.cronbach_alpha(pd.DataFrame(answers), nan_policy="pairwise")
    found = compute_cronbach_alpha(answers, PAIRWISE)
    np.testing.assert_allclose(found.value, value, atol=1e-12)
    np.testing.assert_allclose([found.lower, found.upper], interval, atol=1e-3)  # it rounds, and counts everyone
    whole = answers[~np.isnan(answers).any(axis=1)]
    value, interval = pingouin.cronbach_alpha(pd.DataFrame(whole))
    found = compute_cronbach_alpha(answers, LISTWISE)
    np.testing.assert_allclose(found.value, value, atol=1e-12)
    np.testing.assert_allclose([found.lower, found.upper], interval, atol=5.1e-4)
    assert found.n_respondents == len(whole) == REFERENCE.loc[scale, "n_whole"]


@pytest.mark.parametrize("scale", PRINTED)
def test_omega_is_that_of_r_factanal_and_psych(scale):
    answers = read_scale(scale)
    expected = REFERENCE.loc[scale]
    assert compute_mcdonald_omega(answers, LISTWISE).value == pytest.approx(expected["omega"], abs=1e-6)
    whole = answers[~np.isnan(answers).any(axis=1)]
    correlations = np.corrcoef(whole.T)
    own = fit_one_factor_model(correlations)[1]  # psych standardises, and divides by the observed variance of the sum
    assert 1 - own.sum() / correlations.sum() == pytest.approx(expected["omega_psych"], abs=1e-5)
    assert compute_mcdonald_omega(answers).value == pytest.approx(expected["omega"], abs=0.003)  # pairwise


def test_alpha_and_feldt_the_slow_way():
    answers = np.random.default_rng(1).normal(size=(12, 4)) + np.random.default_rng(2).normal(size=(12, 1))
    total = answers.sum(axis=1).var(ddof=1)
    alpha = 4 / 3 * (1 - sum(item.var(ddof=1) for item in answers.T) / total)
    found = compute_cronbach_alpha(answers)
    assert found.value == pytest.approx(alpha, abs=1e-12)
    assert (found.n_respondents, found.n_shared) == (12, 12)
    assert found.lower == pytest.approx(1 - (1 - alpha) * f.ppf(0.975, 11, 33), abs=1e-12)
    assert found.upper == pytest.approx(1 - (1 - alpha) * f.ppf(0.025, 11, 33), abs=1e-12)


def test_covariances_of_pairs_are_those_of_pandas():
    rng = np.random.default_rng(3)
    answers = 1e6 + rng.normal(size=(60, 1)) + rng.normal(size=(60, 5))  # far from 0: no digit is lost
    answers[rng.random(answers.shape) < 0.2] = np.nan
    c = pd.DataFrame(answers - 1e6).cov().to_numpy()
    assert compute_cronbach_alpha(answers).value == pytest.approx(5 / 4 * (1 - np.trace(c) / c.sum()), abs=1e-8)


def test_the_interval_covers():
    """Normal items of true alpha 0.8 (5 items that correlate 4 / 9): .95 within 2 SE of 600 studies."""
    rng = np.random.default_rng(4)
    true, r = 0.8, 4 / 9
    assert 5 * r / (1 + 4 * r) == pytest.approx(true)
    hits = 0
    for _ in range(600):
        answers = np.sqrt(r) * rng.normal(size=(15, 1)) + np.sqrt(1 - r) * rng.normal(size=(15, 5))
        found = compute_cronbach_alpha(answers)
        hits += found.lower <= true <= found.upper
    assert 0.93 <= hits / 600 <= 0.97


def test_omega_of_planted_loadings():
    rng = np.random.default_rng(5)
    loadings, own = np.array([0.9, 0.6, 1.2, 0.3]), np.array([0.5, 0.8, 0.4, 1.0])
    answers = rng.normal(size=(40_000, 1)) * loadings + rng.normal(size=(40_000, 4)) * np.sqrt(own)
    true = loadings.sum() ** 2 / (loadings.sum() ** 2 + own.sum())
    assert compute_mcdonald_omega(answers).value == pytest.approx(true, abs=0.01)
    assert compute_cronbach_alpha(answers).value < compute_mcdonald_omega(answers).value


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (np.ones((20, 1)), "fewer than 2 items"),
        (np.arange(18.0).reshape(9, 2), "fewer than 10 respondents (9)"),
        (np.ones((20, 3)), "the totals of respondents do not vary"),
        (np.where(np.eye(2)[np.arange(24) % 2] > 0, 3.0, np.nan), "two items share fewer than 10 respondents"),
        (np.full((20, 3), np.nan), "fewer than 10 respondents (0)"),
    ],
)
def test_no_alpha_and_why(answers, why):
    found = compute_cronbach_alpha(answers)
    assert found.why_not == why
    assert np.isnan([found.value, found.lower, found.upper]).all()


def test_no_alpha_is_more_than_1_and_of_1_there_is_no_interval():
    """Of pairs, alpha was 1.33 here, with ends in the wrong order; of 1, the interval had no width."""
    far, near, none = np.tile([-1.0, 1.0], 10), np.zeros(20), np.full(20, np.nan)
    answers = np.column_stack([np.concatenate([far, near, none]), np.concatenate([far, none, near])])
    found = compute_cronbach_alpha(answers)
    assert found.why_not == "pairs of items have so different respondents that it is more than 1"
    assert np.isnan([found.value, found.lower, found.upper]).all()
    alike = compute_cronbach_alpha(answers, LISTWISE)
    assert alike.value == 1 and np.isnan([alike.lower, alike.upper]).all() and not alike.why_not


def test_no_omega_and_why():
    rng = np.random.default_rng(6)
    common = rng.normal(size=(30, 1))
    assert compute_mcdonald_omega(common + rng.normal(size=(30, 2))).why_not == "fewer than 3 items"
    constant = np.column_stack([common + rng.normal(size=(30, 3)), np.ones(30)])
    assert compute_mcdonald_omega(constant).why_not == "all respondents give one item the same answer"
    # A factor would have to explain 0.8 * 0.8 / 0.55 of the first item's variance.
    correlations = np.array([[1, 0.8, 0.8], [0.8, 1, 0.55], [0.8, 0.55, 1]])
    heywood = rng.normal(size=(4000, 3)) @ np.linalg.cholesky(correlations).T
    assert "Heywood" in compute_mcdonald_omega(heywood).why_not


def test_an_unknown_way_is_refused():
    with pytest.raises(InputError, match="missing is 'pairwise' or 'listwise'"):
        compute_cronbach_alpha(np.ones((10, 2)), "mean")


def test_the_interval_covers_where_answers_are_missing():
    """As above, of 60 people with a third of the answers missing; with n of all people it covers .85."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        answers = np.sqrt(4 / 9) * rng.normal(size=(60, 1)) + np.sqrt(5 / 9) * rng.normal(size=(60, 5))
        answers[rng.random(answers.shape) < 1 / 3] = np.nan
        found = compute_cronbach_alpha(answers)
        hits += found.lower <= 0.8 <= found.upper
        assert found.n_shared < 40 < found.n_respondents
    assert hits / 400 >= 0.93
