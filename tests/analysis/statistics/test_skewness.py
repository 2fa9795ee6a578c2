"""Intervals of mean scores of hard shapes: ends found the slow way, coverage, and where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.measures.reworded.study import AGREEMENT, LOGIT, Study
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.replication import (
    compute_equivalence_p_of_panel_mean,
    compute_p_of_panel_mean_against_value,
)
from analysis.statistics.skewness import has_few_values_unlike_commonest
from helpers import textbook

pytestmark = pytest.mark.slow

# Scores (items, 3 wordings of each); whether they lie within 0 and 1; their mean.
SHAPES = {
    "80 % zeros": (lambda rng, n: (rng.random((n, 1)) < 0.2) * rng.beta(2, 2, (n, 3)), True, 0.1),
    "0, .5, 1": (lambda rng, n: rng.choice([0, 0.5, 1], (n, 1), p=[0.05, 0.1, 0.85]) + np.zeros((1, 3)), True, 0.9),
    "near 1": (lambda rng, n: rng.beta(20, 1, (n, 1)) + np.zeros((1, 3)), True, 20 / 21),
    "heavy tail": (lambda rng, n: np.exp(rng.normal(0, 0.95, (n, 1)) + rng.normal(0, 0.3, (n, 3))), False,
                   np.exp((0.95**2 + 0.3**2) / 2)),
    "counts": (lambda rng, n: rng.poisson(rng.exponential(2, (n, 1)), (n, 3)).astype(float), False, 2.0),
    "near normal": (lambda rng, n: 0.5 + rng.normal(0, 0.1, (n, 1)) + rng.normal(0, 0.03, (n, 3)), True, 0.5),
}  # fmt: skip


def estimate(values, bounded, **options):
    return estimate_panel_mean(values, False, is_bounded=bounded, corrects_skewness=True, **options)


@pytest.mark.parametrize("items", [7, 25, 80])
@pytest.mark.parametrize("shape", SHAPES)
def test_ends_are_those_that_are_looked_for(shape, items):
    draw, bounded, _ = SHAPES[shape]
    values = draw(np.random.default_rng(items), items)
    panel = estimate(values, bounded, is_share=False)
    if not panel.few:
        expected = textbook.mean_score(list(values.mean(axis=1)), bounded)
        assert panel.compute_interval("items") == pytest.approx(expected, abs=1e-12)
        assert panel.compute_interval("both") == panel.compute_interval("items")


@pytest.mark.parametrize("shape", SHAPES)
def test_they_cover(shape):
    """A small version of tests/benchmarks/bench_score_intervals.py: two standard errors of the simulation below .90."""
    (draw, bounded, mean), rng = SHAPES[shape], np.random.default_rng(0)
    for items, studies in ((10, 400), (30, 250)):
        ends = np.array([estimate(draw(rng, items), bounded).compute_interval("items") for _ in range(studies)])
        ends = ends[~np.isnan(ends[:, 0])]
        assert len(ends) > 0.9 * studies
        assert np.mean((ends[:, 0] <= mean) & (mean <= ends[:, 1])) >= 0.90 - 2 * np.sqrt(0.09 / studies)


def test_those_by_t_would_not():
    """Why they are corrected: t, cut at 0 and 1, of 10 items that are mostly 0, and of ten times."""
    for shape in ("80 % zeros", "0, .5, 1", "heavy tail"):
        (draw, _, mean), rng, held = SHAPES[shape], np.random.default_rng(1), 0
        for _ in range(300):
            means = draw(rng, 10).mean(axis=1)
            held += abs(means.mean() - mean) <= stats.t.ppf(0.975, 9) * stats.sem(means)
        assert held / 300 < 0.89


def test_shared_wordings_add_their_part_to_each_end():
    rng = np.random.default_rng(2)
    values = np.exp(rng.normal(0, 1, (20, 1)) + rng.normal(0, 0.3, 5) + rng.normal(0, 0.3, (20, 5)))
    panel = estimate_panel_mean(values, True, corrects_skewness=True)
    means, rest = values.mean(axis=1), panel.interaction / 100
    low, high = textbook.mean_score(list(means), False)
    of_wordings = stats.t.ppf(0.975, 4) ** 2 * (values.mean(axis=0).var(ddof=1) / 5)
    own = 1 - rest / (means.var(ddof=1) / 20)  # of the part of items, what the wordings do not hold
    power = 1 + 8 / 4**2
    below, above = ((own * (end - panel.mean) ** 2) ** power + of_wordings**power for end in (low, high))
    # For wordings like these, no end is nearer than for these.
    expected = min(low, panel.mean - below ** (0.5 / power)), max(high, panel.mean + above ** (0.5 / power))
    assert panel.compute_interval("both") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_test_agrees_with_the_interval(crossed, seed):
    values = SHAPES["heavy tail"][0](np.random.default_rng(seed), 12) - 1.5
    panel = estimate_panel_mean(values, crossed, is_share=False, corrects_skewness=True)
    for anew in ("items", "both"):
        for end in panel.compute_interval(anew):
            assert compute_p_of_panel_mean_against_value(panel, anew, end) == pytest.approx(0.05, abs=1e-9)
    p = compute_p_of_panel_mean_against_value(panel, "items")
    assert p == pytest.approx(textbook.mean_difference(list(values.mean(axis=1))), abs=1e-9)
    margin = max(map(abs, panel.compute_interval("both", 0.9)))
    assert compute_equivalence_p_of_panel_mean(panel, "both", margin) == pytest.approx(0.05, abs=1e-9)


def test_few_items_that_differ_a_little_show_no_equivalence():
    """One item of 20 differs by 1, two by .02: by t, studies without the first would find the models alike."""
    rng, size, found, of_t = np.random.default_rng(3), 0.05 * 1 + 0.1 * 0.02, 0, 0
    for _ in range(300):
        drawn = rng.random((20, 1))
        apart = np.where(drawn < 0.05, 1, np.where(drawn < 0.15, 0.02, 0.0))
        panel = estimate_panel_mean(apart, False, is_share=False)
        found += compute_equivalence_p_of_panel_mean(panel, "both", size) < 0.05
        of_t += apart.any() and stats.ttest_1samp(apart[:, 0], size, alternative="less").pvalue < 0.05
    assert found / 300 < 0.08 and of_t / 300 > 0.25  # without any difference p is 0: .85**20 = .04


@pytest.mark.parametrize(("items", "share"), [(10, 0.964), (20, 0.858), (30, 0.842), (60, 0.943)])
def test_scores_that_are_rarer_than_items_show_are_missed(items, share):
    """The limit that docs/scored.md names: of 1-5, 80 % are 4, 15 % are 5 and 5 % are 1; exact, over all samples."""
    scores, likely = np.array([0.75, 1, 0]), [0.8, 0.15, 0.05]
    held = 0.0
    for high in range(items + 1):
        for low in range(items + 1 - high):
            counts = [items - high - low, high, low]
            weight = stats.multinomial.pmf(counts, items, likely)
            if weight > 1e-7:
                lower, upper = estimate(np.repeat(scores, counts)[:, None], True).compute_interval("items")
                held += weight * (lower <= scores @ likely <= upper)
    assert held == pytest.approx(share, abs=0.001)


def test_symmetric_values_keep_t():
    values = np.array([-3.0, -2, -1, 0, 1, 2, 3])[:, None] + 5
    expected = stats.t.interval(0.95, 6, 5, stats.sem(values[:, 0]))
    assert estimate(values, False).compute_interval("items") == pytest.approx(expected, abs=1e-12)


def test_items_that_are_all_alike_have_an_interval_within_bounds_only():
    for score, expected in ((0.0, (0, 0.2775)), (0.5, (0.2366, 0.7634)), (1.0, (0.7225, 1))):
        values = np.full((10, 3), score)
        assert estimate(values, True, is_share=False).compute_interval("items") == pytest.approx(expected, abs=1e-4)
        assert np.isnan(estimate(values, False, is_share=False).compute_interval("items")).all()
    shares = np.repeat([0.0, 1.0], [7, 3])[:, None]
    ours, wilson = estimate(shares, True), textbook.wilson(0.3, 10)
    assert ours.compute_interval("items") == pytest.approx(wilson, abs=1e-12)  # as of any other 0 and 1


def test_logits_of_0_are_no_shares():
    even = np.zeros((1, 10, 3))  # of a model that always says .5
    study = Study("s", LOGIT, False, False, [("m", "c")], np.ones(1), even, [])
    assert np.isnan(study.estimate_mean_and_components(0).compute_interval("items")).all()
    share = replace(study, measure=AGREEMENT).estimate_mean_and_components(0)
    assert share.compute_interval("items") == pytest.approx(textbook.wilson(0, 10), abs=1e-12)


def test_where_few_items_differ_there_is_no_interval_and_p_is_no_less_than_an_exact_one():
    apart = np.zeros((30, 1))
    apart[:5] = [[0.5], [0.6], [0.5], [0.7], [0.5]]
    panel = estimate_panel_mean(apart, False, is_share=False)
    assert stats.ttest_1samp(apart[:, 0], 0).pvalue < 0.05 < 2 / 2**5
    assert panel.few and np.isnan(panel.compute_interval("items")).all()
    assert compute_p_of_panel_mean_against_value(panel, "both") == 2 / 2**5
    assert np.isnan(compute_equivalence_p_of_panel_mean(panel, "both", 1.0))
    apart[5] = 0.5
    panel = estimate_panel_mean(apart, False, is_share=False)
    assert panel.compute_interval("items") == pytest.approx(
        stats.t.interval(0.95, 29, apart.mean(), stats.sem(apart[:, 0])), abs=1e-12
    )
    assert compute_equivalence_p_of_panel_mean(panel, "both", 1.0) < 0.05
    assert has_few_values_unlike_commonest(np.array([0.1 + 0.2, 0.3, 1, 2])) and not has_few_values_unlike_commonest(
        np.arange(4.0)
    )
