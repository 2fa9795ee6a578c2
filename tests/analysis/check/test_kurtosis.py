"""Whether kurtosis changed: against SciPy's permutation test, and how often an unchanged model is said to change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.check.kurtosis import ALIKE, FEW_ITEMS, OTHER_WORDINGS, judge_change_of_kurtosis_over_items


def test_p_is_that_of_all_exchanges():
    draw = np.random.default_rng(1)
    now, before = draw.standard_t(3, (2, 9))
    exact = stats.permutation_test(
        (now, before), lambda a, b, axis: abs(stats.kurtosis(a, axis) - stats.kurtosis(b, axis)),
        permutation_type="samples", alternative="greater", n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    tested = judge_change_of_kurtosis_over_items(now[:, None], before[:, None])
    assert tested.number == pytest.approx(stats.kurtosis(now) - stats.kurtosis(before), rel=1e-9)
    assert exact.pvalue > 0.05 and tested.p_broken == pytest.approx(exact.pvalue, rel=0.9)  # from 20 draws beyond
    assert np.isnan(tested.p_holds)


def pile_up(draw: np.random.Generator, scores: np.ndarray, share: float) -> np.ndarray:
    return np.where(draw.random((len(scores), 1)) < share, 0.5, scores)


@pytest.mark.slow
def test_an_unchanged_model_is_seldom_said_to_change_and_a_peak_is_found():
    """Of 30 items: of more, exchanges are no less exact."""
    items = 30
    draw, p = np.random.default_rng(items), []
    for _ in range(200):
        levels = draw.beta(1, 4, (items, 1))
        now, before = (np.clip(levels + draw.normal(0, 0.1, (items, 3)), 0, 1) for _ in range(2))
        p.append(judge_change_of_kurtosis_over_items(now, before).p_broken)
    assert (np.array(p) < 0.025).mean() <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 200)
    levels = draw.random((300, 1))
    now, before = (levels + draw.normal(0, 0.1, (300, 3)) for _ in range(2))
    assert judge_change_of_kurtosis_over_items(pile_up(draw, now, 0.5), before).p_broken < 0.0002


def test_where_nothing_can_be_exchanged_there_is_no_test():
    scores = np.random.default_rng(0).random((20, 2))
    assert judge_change_of_kurtosis_over_items(scores, scores).p_broken == 1
    for now, before, is_exchangeable, test in (
        (scores, scores[::-1], False, OTHER_WORDINGS), (scores[:3], scores[:3], True, FEW_ITEMS),
        (np.ones((20, 1)), scores[:, :1], True, ALIKE), (scores * np.nan, scores, True, FEW_ITEMS),
    ):  # fmt: skip
        tested = judge_change_of_kurtosis_over_items(now, before, is_exchangeable=is_exchangeable)
        assert np.isnan(tested.p_broken) and tested.test == test


def test_rounding_has_no_kurtosis():
    """Validities of .9, summed over three wordings, differ in the last digit: these had a peak."""
    now, before = np.full((20, 3), 0.9), np.full((20, 3), 0.9)
    before[::7] -= 1e-16
    now[::3] -= 1e-16
    tested = judge_change_of_kurtosis_over_items(now, before)
    assert np.isnan([tested.number, tested.p_broken]).all() and tested.test == ALIKE
    varied = np.random.default_rng(2).random((20, 3))
    assert judge_change_of_kurtosis_over_items(varied, before).test == ALIKE
