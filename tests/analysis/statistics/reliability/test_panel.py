"""Means with intervals for these wordings and for wordings like these: formulas, coverage, and what is undefined."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.statistics.reliability.panel import (
    compute_p_norm_of_squared_limits,
    compute_squared_t_quantile,
    estimate_panel_mean,
)
from analysis.statistics.reliability.ranges import compute_component_intervals
from analysis.statistics.reliability.ranking import rank_models
from analysis.statistics.reliability.replication import (
    PairPrior,
    compute_equivalence_p_of_panel_mean,
    compute_p_of_panel_mean_against_value,
    compute_panel_same_sign_probability,
)
from analysis.statistics.shares import wilson
from helpers.unlike_items import Design, draw_study, true_components

pytestmark = pytest.mark.slow


def answers(rng, items, wordings, item=0.3, wording=0.05, inner=0.1):
    shared = rng.normal(0, wording, (1, wordings))
    return rng.normal(0, item, (items, 1)) + shared + rng.normal(0, inner, (items, wordings))


def test_of_wordings_of_their_own_the_interval_is_that_of_items():
    values = answers(np.random.default_rng(0), 12, 4)
    found, means = estimate_panel_mean(values, False), values.mean(axis=1)
    expected = stats.t.interval(0.95, 11, means.mean(), stats.sem(means))
    assert found.compute_interval("items") == pytest.approx(expected, abs=1e-12)
    assert found.compute_interval("both") == found.compute_interval("items")
    assert compute_p_of_panel_mean_against_value(found, "both") == pytest.approx(
        stats.ttest_1samp(means, 0).pvalue, abs=1e-9
    )


def test_shared_wordings_add_their_part():
    values = answers(np.random.default_rng(1), 20, 5, wording=0.5)
    found = estimate_panel_mean(values, True)
    of_items = values.mean(axis=1).var(ddof=1) / 20
    of_wordings = values.mean(axis=0).var(ddof=1) / 5 - found.interaction / 100
    assert found.compute_standard_error("both") ** 2 == pytest.approx(of_items + of_wordings, rel=1e-12)
    assert found.compute_standard_error("wordings") ** 2 == pytest.approx(
        of_wordings + found.interaction / 100, rel=1e-12
    )
    low, high = found.compute_interval("both")
    own, shared = of_items - found.interaction / 100, of_wordings + found.interaction / 100
    power = 1 + 8 / 4**2  # the norm of 4 degrees of freedom
    squares = stats.t.ppf(0.975, 19) ** 2 * own, stats.t.ppf(0.975, 4) ** 2 * shared
    half = np.sqrt(sum(each**power for each in squares) ** (1 / power))
    assert compute_p_of_panel_mean_against_value(found, "both", found.mean - half) == pytest.approx(0.05, abs=1e-9)
    assert (low, high) == pytest.approx((found.mean - half, found.mean + half), rel=1e-9)


def test_an_interval_for_wordings_like_these_is_never_shorter():
    for seed in range(40):
        found = estimate_panel_mean(answers(np.random.default_rng(seed), 12, 3, item=0.05, wording=0, inner=0.3), True)
        (low, high), (like_low, like_high) = found.compute_interval("items"), found.compute_interval("both")
        assert (
            like_low <= low
            and like_high >= high
            and compute_p_of_panel_mean_against_value(found, "both")
            >= compute_p_of_panel_mean_against_value(found, "items")
        )
        assert compute_p_of_panel_mean_against_value(found, "both", like_high) == pytest.approx(0.05, abs=1e-6)


def test_shares_have_wilsons_interval():
    right = np.zeros((62, 4))
    assert estimate_panel_mean(right, True).compute_interval("items") == pytest.approx((0, 0.0583), abs=1e-4)
    right[:9] = 1
    expected = tuple(map(float, wilson(np.asarray(9 / 62), np.asarray(62.0), 0.95)))
    assert estimate_panel_mean(right, False).compute_interval("items") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("wordings", "least"), [(2, 0.92), (5, 0.92)])
def test_intervals_hold_where_wordings_are_shared(wordings, least):
    """1,000 items, item SD .3, template SD .05, interaction .1: an interval over items alone covers about half."""
    rng, held = np.random.default_rng(2), {"items": 0, "both": 0}
    for _ in range(150):
        found = estimate_panel_mean(answers(rng, 1000, wordings), True)
        for anew in held:
            low, high = found.compute_interval(anew)
            held[anew] += low <= 0 <= high
    assert held["both"] / 150 >= least - 0.035  # two standard errors of the simulation
    assert held["items"] / 150 < 0.75


@pytest.mark.parametrize("wordings", [5, 10])
def test_another_draw_of_shared_wordings_is_no_difference(wordings):
    """Models that differ by a draw of templates only: false positives within two standard errors of 4 to 6 %."""
    rng, false, runs = np.random.default_rng(wordings), {"items": 0, "both": 0}, 600
    for _ in range(runs):
        found = estimate_panel_mean(answers(rng, 300, wordings, wording=0.07, inner=0.2), True)
        for anew in false:
            false[anew] += compute_p_of_panel_mean_against_value(found, anew) < 0.05
    assert 0.04 - 0.017 < false["both"] / runs < 0.06 + 0.019 and false["items"] / runs > 0.15


@pytest.mark.parametrize(("items", "wordings", "least"), [(29, 2, 0.02), (29, 3, 0.04), (299, 5, 0.04), (4, 20, 0.04)])
@pytest.mark.parametrize("interaction", [0.001, 0.4])
def test_a_difference_of_nothing_is_found_in_no_more_than_one_of_twenty(items, wordings, least, interaction):
    """By integration over the mean squares, for templates from no effect to 30 times that of items."""
    middles, found = (np.arange(200) + 0.5) / 200, []
    of_items = stats.chi2.ppf(middles[::4], items)[:, None] / items
    for shared in (0, 0.1, 0.5, 1, 3, 30):
        of_wordings = (shared + interaction) * stats.chi2.ppf(middles, wordings - 1) / (wordings - 1)
        taken = (interaction, 0.0) if items >= wordings - 1 else (0.0, interaction)
        parts = np.stack(np.broadcast_arrays(
            np.maximum(of_items - taken[0], 0), np.maximum(of_wordings - taken[1], 0)
        ), axis=-1)  # fmt: skip
        free = np.array([items, wordings - 1.0])
        limit = compute_p_norm_of_squared_limits(compute_squared_t_quantile(0.95, free) * parts, free)
        found.append(stats.chi2.sf(limit / (1 + shared), 1).mean())
    assert least < min(found) and max(found) < 0.06


def test_equal_models_are_never_different():
    found = estimate_panel_mean(np.zeros((10, 4)), True, is_share=False)
    assert compute_p_of_panel_mean_against_value(found, "both") == 1
    assert np.isnan(compute_panel_same_sign_probability(found, "both"))
    constant = estimate_panel_mean(np.full((10, 4), 0.25), True)
    assert np.isnan(compute_p_of_panel_mean_against_value(constant, "both"))


def test_a_mean_that_is_too_large_to_be_squared_has_no_test():
    """It ended in an OverflowError where items share their wordings, or are skewed."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = 1e200 * np.exp(answers(np.random.default_rng(0), 12, 3))
        panel = estimate_panel_mean(values, True, is_share=False, corrects_skewness=True)
        assert np.isnan(compute_p_of_panel_mean_against_value(panel, "both"))


def test_a_share_has_no_test_by_t():
    """It was .025 where the interval, which is Wilson's, holds the value."""
    answers_of_20, tested_value = np.repeat([0.0, 1.0], [17, 3])[:, None], 0.35
    share = estimate_panel_mean(answers_of_20, False)
    assert share.compute_interval("items")[1] > tested_value
    for panel in (share, estimate_panel_mean(answers_of_20, False, is_share=False, is_bounded=True)):
        with pytest.raises(ValueError, match="share or bounded"):
            compute_p_of_panel_mean_against_value(panel, "items", tested_value)


def test_equal_models_are_equivalent_within_any_margin():
    for crossed in (True, False):
        assert (
            compute_equivalence_p_of_panel_mean(
                estimate_panel_mean(np.zeros((10, 4)), crossed, is_share=False), "both", 1e-6
            )
            == 0
        )
    # A difference without an error, one item, and one shared wording: nothing is known.
    for unknown in (
        estimate_panel_mean(np.full((10, 4), 0.01), True),
        estimate_panel_mean(np.zeros((1, 4)), False),
        estimate_panel_mean(np.zeros((9, 1)), True),
    ):
        assert np.isnan(compute_equivalence_p_of_panel_mean(unknown, "both", 0.05))


def test_equivalence_is_that_of_two_one_sided_tests():
    values = answers(np.random.default_rng(4), 30, 3)
    found, means = estimate_panel_mean(values, False), values.mean(axis=1)
    for margin in (0.02, 0.2):
        upper = stats.ttest_1samp(means, margin, alternative="less").pvalue
        lower = stats.ttest_1samp(means, -margin, alternative="greater").pvalue
        assert compute_equivalence_p_of_panel_mean(found, "both", margin) == pytest.approx(max(upper, lower), abs=1e-9)


def test_the_sign_of_another_study_is_foreseen():
    """Among models whose true differences have SD .05: the mean probability is the share that kept the sign."""
    rng, said, kept = np.random.default_rng(5), [], []
    for _ in range(400):
        truth = rng.normal(0, 0.05)
        first, second = (truth + answers(rng, 62, 6, wording=0.07, inner=0.2) for _ in range(2))
        found = estimate_panel_mean(first, True)
        said.append(compute_panel_same_sign_probability(found, "both", PairPrior(np.array([0.05**2]), 0.0, 0.0)))
        kept.append((found.mean > 0) == (second.mean() > 0))
    assert np.mean(said) == pytest.approx(np.mean(kept), abs=0.05)


def test_a_ranking_knows_how_often_its_first_stays_first():
    rng, first, stayed, taus, seen = np.random.default_rng(6), [], [], [], []
    for _ in range(40):
        truth = rng.normal(0, 0.06, (5, 1, 1))
        studies = [
            truth + rng.normal(0, 0.3, (1, 40, 1)) + rng.normal(0, 0.1, (5, 40, 1)) + rng.normal(0, 0.08, (5, 1, 6))
            + rng.normal(0, 0.1, (5, 40, 6))
            for _ in range(2)
        ]  # fmt: skip
        found, other = rank_models(studies[0], True), studies[1].mean(axis=(1, 2))
        assert found.first.sum() == pytest.approx(1, abs=1e-9)
        best = int(np.argmin(found.rank))
        first.append(found.first[best])
        stayed.append(np.argmax(other) == best)
        taus.append(found.tau)
        seen.append(stats.kendalltau(found.mean, other).statistic)
    assert np.mean(first) == pytest.approx(np.mean(stayed), abs=0.15)
    assert np.mean(taus) == pytest.approx(np.mean(seen), abs=0.12)


def test_a_ranking_by_half_of_the_templates_foresees_the_other_half(shared):
    """12 models x 24 tasks and numbers of shots, accuracies by template: expected and seen tau, within .1."""
    table = pd.read_csv(shared / "noreval" / "accuracy_by_template.csv")
    rng, expected, seen = np.random.default_rng(8), [], []
    for _, part in table.groupby(["task", "shots"]):
        values = part.pivot(index="model", columns="template", values="accuracy").dropna().to_numpy()[:12]
        order = rng.permutation(values.shape[1])
        half = len(order) // 2
        one, other = values[:, order[:half]], values[:, order[half : 2 * half]]
        found = rank_models(one[:, :, None], False)  # templates are what is drawn anew: there are no items
        expected.append(found.tau)
        seen.append(stats.kendalltau(one.mean(axis=1), other.mean(axis=1)).statistic)
    assert np.mean(expected) == pytest.approx(np.mean(seen), abs=0.1)


def test_ranks_of_equal_models_are_shared():
    found = rank_models(np.array([[[1.0, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 1], [1, 1]]]), False)
    assert found.rank.tolist() == [2.5, 2.5, 1]
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 2, (45, 3)).astype(float)
    worse = np.minimum(answers, rng.integers(0, 2, (45, 3)))
    for _ in range(10):  # the same items in another order: the sum of their thirds differs in the last digit
        found = rank_models(np.stack([answers, rng.permutation(answers), worse]), False)
        assert found.rank.tolist() == [1.5, 1.5, 3] and np.isnan(found.same_order_probability[0, 1])
    assert rank_models(np.ones((1, 3, 3)), True) is None


@pytest.mark.parametrize("crossed", [True, False])
def test_intervals_of_components_hold(crossed):
    rng, held = np.random.default_rng(7), np.zeros(3)
    for run in range(100):
        values = np.clip(answers(rng, 60, 4, wording=0.1 if crossed else 0, inner=0.2), -1.5, 1.5)
        ends = compute_component_intervals(estimate_panel_mean(values, crossed), (-1.5, 1.5), seed=run)
        wide = np.sqrt((0.09 / 60 + 0.01 / 4 * crossed + 0.04 / 240) / (0.09 / 60))
        truth = {"item": 0.09, "wording": 0.01 if crossed else 0.04, "widening": wide}
        held += [ends[name][0] <= value <= ends[name][1] for name, value in truth.items()]
    assert (held / 100 >= 0.90).all()


def test_answers_without_bounds_have_no_intervals_of_components():
    assert np.isnan(
        list(
            compute_component_intervals(
                estimate_panel_mean(answers(np.random.default_rng(9), 60, 4), True), None
            ).values()
        )
    ).all()


@pytest.mark.parametrize("design", [Design(5, 19), Design(4, 8), Design(5, 5, crossed=False)], ids=str)
@pytest.mark.parametrize("shape", ["lognormal 1", "5 % unstable", "0 or 1"])
def test_intervals_hold_where_items_differ_and_have_some_of_the_wordings(shape, design):
    """A small version of tests/benchmarks/bench_unlike_items.py; before: .31 to .92."""
    _, item, wording, interaction = true_components(shape)
    truth = {"item": item, "wording": wording if design.crossed else wording + interaction, "interaction": interaction}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    rng, far = np.random.default_rng(3), 0
    for _ in range(60):
        study = estimate_panel_mean(draw_study(rng, shape, design, 10), design.crossed)
        ends = compute_component_intervals(study, (0.0, 1.0))
        for name, value in truth.items():
            if ends[name][0] == ends[name][0]:
                held[name].append(ends[name][0] <= value <= ends[name][1])
                far += not ends[name][0] <= max(getattr(study, name), 0) <= ends[name][1]
    assert far == 0  # no estimate lies outside its interval
    assert all(np.mean(hits) >= 0.90 - 2 * np.sqrt(0.09 / 60) for hits in held.values() if hits)


def test_holes_are_those_of_the_design():
    """5 of 19 wordings of each of 62 items: what an outsider writes down, beside `Incidence`."""
    rng = np.random.default_rng(4)
    values = draw_study(rng, "alike", Design(5, 19), 62)
    answered = ~np.isnan(values)
    weights = [[1 / 62 / 5 if answered[i, w] else 0.0 for w in range(19)] for i in range(62)]
    of_wordings = [sum(row[w] for row in weights) for w in range(19)]
    study = estimate_panel_mean(values, True)
    assert study.n_wordings == 5
    assert study.incidence.n_shared == pytest.approx(1 / sum(share**2 for share in of_wordings))
    # The variance of the mean over items, of weights written out.
    expected = study.item * 62 / 62**2 + study.wording * sum(share**2 for share in of_wordings) + study.inner * sum(
        weight**2 for row in weights for weight in row
    )  # fmt: skip
    assert study.predict_standard_error_at_size(62, 5) == pytest.approx(np.sqrt(expected), rel=1e-9)
    # Half of the mean squared difference of two items' means, with other items and wordings at random.
    apart = np.mean([
        sum((answered[i, w] / 5 - answered[j, w] / 5) ** 2 for w in range(19)) / 2
        for i in range(62) for j in range(62) if i != j
    ])  # fmt: skip
    assert study.incidence.unshared_variance == pytest.approx(apart, rel=1e-9)


def test_more_wordings_narrow_an_interval_to_a_limit():
    found = estimate_panel_mean(answers(np.random.default_rng(8), 30, 4, inner=0.4), False)
    assert found.predict_standard_error_at_size(30, 4) == pytest.approx(found.compute_standard_error("both"), rel=1e-9)
    assert (
        found.predict_standard_error_at_size(30, 4)
        > found.predict_standard_error_at_size(30, 40)
        > found.predict_standard_error_at_size(30, np.inf)
    )
    assert found.compute_interval_widening_by_few_wordings() == pytest.approx(
        found.predict_standard_error_at_size(30, 4) / found.predict_standard_error_at_size(30, np.inf)
    )


@pytest.mark.parametrize(
    ("values", "crossed"),
    [(np.full((3, 2), np.nan), True), (np.array([[0.2, 0.4]]), True), (np.array([[0.2], [0.4]]), True),
     (np.full((4, 3), 0.3), False)],
)  # fmt: skip
def test_no_interval_where_nothing_can_be_told(values, crossed):
    assert np.isnan(estimate_panel_mean(values, crossed).compute_interval("both")).all()
    assert np.isnan(estimate_panel_mean(values, crossed).compute_interval_widening_by_few_wordings())
    assert np.isnan(compute_component_intervals(estimate_panel_mean(values, crossed), (0.0, 1.0))["widening"]).all()
