"""Intervals of XParaCon and of its difference hold the true value as often as they say, in simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.pages.choice import measures, over_questions
from analysis.statistics.resampling import bootstrap_intervals

pytestmark = pytest.mark.slow

ORDERS, STUDIES = 8, 600
WIDEST = measures.compute_largest_possible_sd(3)


def accuracies(rng, shape, base, spread):
    """Accuracies of three wordings over 8 orders, of questions that are hard or easy, in wordings that differ."""
    hard, wording = rng.normal(base, 2, (*shape, 1)), rng.normal(0, spread, (*shape, 3))
    return rng.binomial(ORDERS, 1 / (1 + np.exp(-3 * (hard + wording)))) / ORDERS


def shares(rng, n, base, spread):
    """Mean standard deviations as shares of the largest: (questions, studies), and the true mean."""
    true = accuracies(rng, (100_000,), base, spread).std(axis=-1).mean() / WIDEST
    return accuracies(rng, (n, STUDIES), base, spread).std(axis=-1) / WIDEST, true


@pytest.mark.parametrize(
    ("n", "base", "spread", "resampled"),
    [(30, 6, 0.02, 0.26), (300, 6, 0.02, 0.83), (30, 2, 0.1, 0.90), (300, 5, 0.1, 0.90), (300, 1, 0.5, 0.94)],
)
def test_wilson_covers_where_the_bootstrap_does_not(n, base, spread, resampled):
    """About 1 to 45 % of the questions vary; simulated coverage has a standard error of 0.009 at 0.95."""
    values, true = shares(np.random.default_rng(7), n, base, spread)
    found = over_questions.estimate_share_intervals({over_questions.XPARACON: (values, values * 0 + 1)}, 1, 0)[
        over_questions.XPARACON
    ]
    assert np.mean((found.lower <= true) & (true <= found.upper)) > 0.93
    plain = bootstrap_intervals({"x": values}, lambda columns, counts: {"x": counts @ columns["x"] / n}, draws=400)["x"]
    covered = np.mean((plain.lower <= true) & (true <= plain.upper))
    assert covered == pytest.approx(resampled, abs=0.05)


@pytest.mark.parametrize("together", [0.0, 0.8])
@pytest.mark.parametrize(("n", "base", "spread"), [(60, 2, 0.2), (300, 1, 0.5)])
def test_the_difference_of_two_xparacons_is_covered(n, base, spread, together):
    """Two models; with `together`, a part of the questions gets the same answers from both."""
    rng = np.random.default_rng(11)
    one, true = shares(rng, n, base, spread)
    other, true_other = shares(rng, n, base, 2 * spread)
    both = rng.random(one.shape) < together
    other, mixed = np.where(both, one, other), together * true + (1 - together) * true_other
    values = np.stack([one, other], axis=2).reshape(n, -1)
    pairs = [(2 * number, 2 * number + 1) for number in range(STUDIES)]
    low, high = over_questions.compute_xparacon_difference_ends(
        {over_questions.XPARACON: (values, values * 0 + 1)}, pairs, 3
    )
    difference = -np.log2(true * WIDEST) + np.log2(mixed * WIDEST)
    known = ~np.isnan(low)
    assert known.mean() > 0.99
    assert np.mean((low <= difference) & (difference <= high), where=known) > 0.93


@pytest.mark.parametrize("together", [0.0, 0.8])
@pytest.mark.parametrize("base", [0, 1, 3])
def test_p_values_of_two_equal_models_are_small_as_rarely_as_they_say(base, together):
    """Of 45 questions, as in the demo; with `together`, a part gets the same answers from both, and tests find less.

    The bootstrap, which these p values came from before, found a difference in up to 9 % of such studies.
    """
    rng = np.random.default_rng(13)

    def right():
        """Whether 600 models are right: (questions, models, wordings, orders)."""
        parts = [rng.normal(middle, sd, (45, STUDIES, *shape)) for middle, sd, shape in
                 ((base, 2, (1, 1)), (0, 0.4, (3, 1)), (0, 0.4, (1, 8)), (0, 0.25, (3, 8)))]  # fmt: skip
        return sum(parts) > 0

    one, other = right(), right()
    other = np.where((rng.random((45, STUDIES)) < together)[..., None, None], one, other)
    both = np.stack([one, other], axis=2).reshape(45, -1, 3, ORDERS)
    accuracy = both.mean(axis=3).transpose(0, 2, 1)
    spread, perfect = (
        measures.compute_accuracy_sds_over_wordings(accuracy) / WIDEST,
        measures.mark_perfect_wordings(accuracy).sum(axis=1),
    )
    whole = np.ones_like(spread)
    figures = {
        over_questions.ACCURACY: (both.sum(axis=(2, 3)).astype(float), 24 * whole),
        over_questions.XPARACON: (spread, whole),
        over_questions.PERFECT: (perfect, 3 * whole),
    }
    pairs = [(2 * number, 2 * number + 1) for number in range(STUDIES)]
    for name, found in over_questions.estimate_share_differences(figures, pairs, 500, 0).items():
        assert np.mean(found.p < 0.05) < 0.05 + 2 * 0.009, name  # 0.009: standard error of 0.05 of 600 studies
