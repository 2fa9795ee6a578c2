"""Rankings by accuracies alone: textbook sums of squares, all pairs of templates one by one, coverage, calibration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability import templates
from analysis.statistics.reliability.aggregated import (
    ORDERS,
    TaskAccuracies,
    build_accuracy_ranking_with_stability,
    compute_order_agreement_of_each_model_pair,
    estimate_components_of_mean_task_accuracy,
    estimate_prior_of_model_accuracy_differences,
    estimate_probabilities_of_pairs_keeping_order,
)
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.replication import PLACES, compute_panel_same_sign_probability

pytestmark = pytest.mark.slow


def block(rng, models=6, number=5, n=200, templates=0.03, spread=0.1):
    """Accuracies with effects of models, of templates, and of both."""
    chance = 0.5 + rng.normal(0, spread, (models, 1)) + rng.normal(0, templates, (1, number))
    chance = np.clip(chance + rng.normal(0, templates, (models, number)), 0.05, 0.95)
    return TaskAccuracies(rng.binomial(n, chance) / n, np.full(chance.shape, float(n)))


def mean_squares(x):
    """Mean squares of rows, columns and the rest: the sums of squares of the textbook, term by term."""
    rows, columns = x.shape
    grand = sum(x.flat) / x.size
    of_rows, of_columns = x.mean(axis=1), x.mean(axis=0)
    row = sum(columns * (of_rows[i] - grand) ** 2 for i in range(rows)) / (rows - 1)
    column = sum(rows * (of_columns[j] - grand) ** 2 for j in range(columns)) / (columns - 1)
    rest = sum(
        (x[i, j] - of_rows[i] - of_columns[j] + grand) ** 2 for i in range(rows) for j in range(columns)
    ) / ((rows - 1) * (columns - 1))  # fmt: skip
    return row, column, rest


def test_the_components_and_coefficients_are_those_of_the_textbook():
    one = block(np.random.default_rng(0))
    x, k = one.accuracies, 5
    row, column, rest = mean_squares(x)
    found = estimate_components_of_mean_task_accuracy([one])
    assert (found.model, found.template, found.model_template) == pytest.approx(
        ((row - rest) / k, (column - rest) / 6, rest), abs=1e-14
    )
    assert found.sampling == pytest.approx(sum(p * (1 - p) / 200 for p in x.flat) / 30, abs=1e-15)
    # McGraw and Wong (1996), Table 4: ICC(C,1) and ICC(C,k), here also at 4 templates.
    assert found.compute_generalizability(1) == pytest.approx((row - rest) / (row + (k - 1) * rest), abs=1e-12)
    assert found.compute_generalizability(k) == pytest.approx((row - rest) / row, abs=1e-12)
    single = found.compute_generalizability(1)
    assert found.compute_generalizability(4) == pytest.approx(
        4 * single / (1 + 3 * single), abs=1e-12
    )  # Spearman and Brown
    assert found.compute_generalizability(1, other_items=True) == pytest.approx(
        (found.model - found.sampling) / (found.model + rest)
    )


def test_with_many_templates_the_interval_is_that_of_the_f_distribution():
    """McGraw and Wong (1996), Table 7; with few, it is wider: see the next test."""
    one = block(np.random.default_rng(1), models=20, number=400, spread=0.05)
    row, _, rest = mean_squares(one.accuracies)
    ends = [row / rest / stats.f.ppf(q, 19, 19 * 399) for q in (0.975, 0.025)]
    for number in (1, 4):
        exact = [(end - 1) / (end - 1 + 400 / number) for end in ends]
        assert estimate_components_of_mean_task_accuracy([one]).compute_coefficient_interval(number) == pytest.approx(
            exact, abs=0.02
        )


def test_the_interval_draws_these_and_other_templates_term_by_term():
    one = block(np.random.default_rng(1), models=20, spread=0.05)
    row, _, rest = mean_squares(one.accuracies)
    rng, n = np.random.default_rng(0), 40_000
    here = rest * 76 / rng.chisquare(76, n)  # of these five templates
    elsewhere = here * 4 / rng.chisquare(4, n)  # of templates like them
    model = np.maximum((row * 19 / rng.chisquare(19, n) - here) / 5, 0)
    drawn = model / (model + elsewhere)
    assert estimate_components_of_mean_task_accuracy([one]).compute_coefficient_interval(1) == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.02
    )


def unlike(rng, models, templates, sd, tasks=1, spread=1.0):
    """Draw blocks whose templates' residual SDs are lognormal, with a mean square of 1; nothing is cut to 0 and 1."""
    ability = rng.normal(0, spread, (models, 1))
    sizes = [np.exp(rng.normal(-(sd**2), sd, templates)) for _ in range(tasks)]
    shape = (models, templates)
    return [TaskAccuracies(ability + rng.normal(0, 1, shape) * size, np.full(shape, 1e9)) for size in sizes]


@pytest.mark.parametrize(
    ("models", "templates", "tasks"), [(59, 3, 1), (59, 5, 1), (6, 3, 1), (6, 10, 1), (59, 3, 4), (20, 2, 1)]
)
def test_intervals_hold_where_templates_are_unlike(models, templates, tasks):
    """Residual SDs lognormal .5: the F distribution's cover .50 to .65 with 59 models, these .92 and more."""
    rng, runs = np.random.default_rng([models, templates]), 120
    held = {1: 0, 4: 0}
    for _ in range(runs):
        found = estimate_components_of_mean_task_accuracy(unlike(rng, models, templates, 0.5, tasks))
        for number in held:
            low, high = found.compute_coefficient_interval(number)
            true = 1 / (1 + 1 / tasks / number)
            assert 0 <= low <= found.compute_generalizability(number) <= high <= 1
            held[number] += low <= true <= high
    assert min(held.values()) / runs >= 0.92 - 0.03


def test_models_that_do_not_differ_have_coefficients_within_the_possible_range():
    rng, away = np.random.default_rng(6), []
    for number_of_templates in (2, 3, 5):
        for _ in range(40):
            found = estimate_components_of_mean_task_accuracy(unlike(rng, 3, number_of_templates, 0.5, spread=0.0))
            for number in (1, 4):
                low, high = found.compute_coefficient_interval(number)
                assert np.isnan(low) == np.isnan(high)
                assert np.isnan(low) or 0 <= low <= found.compute_generalizability(number) <= high <= 1
            away.append(found.compute_coefficient_interval(1)[0] > 0)
    assert np.mean(away) < 0.05  # says that they differ


def test_of_several_tasks_it_is_the_mean_over_them():
    rng = np.random.default_rng(2)
    tasks = [block(rng, number=number) for number in (3, 5, 4)]
    found = estimate_components_of_mean_task_accuracy(tasks)
    rests = [mean_squares(task.accuracies)[2] for task in tasks]
    means = np.array([[row.mean() for row in task.accuracies] for task in tasks]).mean(axis=0)
    error = sum(rest / 9 / task.accuracies.shape[1] for rest, task in zip(rests, tasks, strict=True))
    model = means.var(ddof=1) - error
    assert found.model == pytest.approx(model, abs=1e-14)
    assert found.compute_generalizability(1) == pytest.approx(model / (model + sum(rests) / 9), abs=1e-12)
    assert found.template == pytest.approx(
        sum((mean_squares(t.accuracies)[1] - rest) / 6 / 9 for t, rest in zip(tasks, rests, strict=True)), abs=1e-14
    )


def test_a_pair_is_kept_in_the_share_of_the_pairs_of_templates():
    accuracies = np.array([[0.5, 0.6, 0.7, 0.4], [0.4, 0.6, 0.8, 0.3], [0.1, 0.2, 0.3, 0.2]])
    found = compute_order_agreement_of_each_model_pair([TaskAccuracies(accuracies, np.full((3, 4), 10.0))])
    for a, b in combinations(range(3), 2):
        kept = []
        for one, other in permutations(range(4), 2):
            here, there = accuracies[a, [one, other]] - accuracies[b, [one, other]]
            kept.append(0.5 if here == 0 or there == 0 else float((here > 0) == (there > 0)))
        assert found[a, b] == found[b, a] == pytest.approx(np.mean(kept), abs=1e-12)
    assert found[0, 2] == 1.0
    twice = compute_order_agreement_of_each_model_pair([TaskAccuracies(accuracies, np.full((3, 4), 10.0))] * 2)
    assert twice[0, 2] == 1.0
    signs = []  # of the mean over two tasks, with every pair of templates of the first and of the second
    for first in permutations(range(4), 2):
        for second in permutations(range(4), 2):
            here, there = np.round([accuracies[0, [x, y]].sum() - accuracies[1, [x, y]].sum()
                                    for x, y in zip(first, second, strict=True)], 12)  # fmt: skip
            signs.append(float((1 + np.sign(here) * np.sign(there)) / 2))
    assert twice[0, 1] == pytest.approx(np.mean(signs), abs=4 * float(np.std(signs)) / ORDERS**0.5)
    assert np.std(signs) > 0.3


def test_other_templates_keep_a_sign_as_a_panel_of_two_models_does():
    one = block(np.random.default_rng(3), models=2)
    apart = one.accuracies[0] - one.accuracies[1]
    part = ((float(apart.var(ddof=1)) / 5, 4.0),)
    nothing = {"items": ((np.nan, np.nan),), "both": ((np.nan, np.nan),)}
    pair = replace(estimate_panel_mean(np.eye(3), True), mean=float(apart.mean()), parts={**nothing, "wordings": part})
    found = estimate_probabilities_of_pairs_keeping_order([one])
    assert found[0, 1] == found[1, 0] == pytest.approx(compute_panel_same_sign_probability(pair, "wordings"), abs=1e-9)
    assert np.isnan(found[0, 0])


def test_several_models_share_what_they_tell_of_errors():
    """Term by term: a pair's variance is drawn towards that of all models; T - 1 degrees of freedom tell of others."""
    one = block(np.random.default_rng(7), models=5, number=3)
    x, known = one.accuracies, estimate_prior_of_model_accuracy_differences([one], other_items=False)
    _, _, rest = mean_squares(x)
    assert known.error == pytest.approx(2 * rest / 3, abs=1e-14)
    centred = (x - x.mean(axis=0)).var(axis=1, ddof=1) / 3
    left = max(centred.var(ddof=1) / centred.mean() ** 2 - 2 / 2, 0)
    assert known.freedom == pytest.approx(1 / (left / 2 + 1 / (4 * 2)), abs=1e-12)
    spread = x.mean(axis=1).var(ddof=1)
    drawn = [spread * 4 / stats.chi2.isf((place + 0.5) / PLACES, 4) for place in range(PLACES)]
    assert known.true == pytest.approx([2 * max(each - rest / 3, 0) for each in drawn], abs=1e-14)
    apart = x[0] - x[1]
    free = 2 + known.freedom
    variance = (2 * apart.var(ddof=1) / 3 + known.freedom * known.error) / free
    kept = []
    for true in known.true:
        r = true / (true + variance)
        kept.append(stats.t.cdf(abs(apart.mean()) * r / np.sqrt((1 + r) * variance), 1 / (1 / free + 0.5 / 2)))
    assert estimate_probabilities_of_pairs_keeping_order([one])[0, 1] == pytest.approx(np.mean(kept), abs=1e-9)


@pytest.mark.parametrize("templates", [2, 3])
@pytest.mark.parametrize("sd", [0.0, 0.5])
def test_few_templates_foresee_no_more_than_comes_true(templates, sd):
    """Of pairs with .95 or more, .84 kept their order with 2 templates where each pair told of its own error only."""
    rng, foreseen, kept = np.random.default_rng([templates, int(10 * sd)]), [], []
    pairs = np.triu_indices(20, 1)
    for _ in range(60):
        ability, seen = rng.normal(0, 1, (20, 1)), []
        for _ in range(2):
            sizes = np.exp(rng.normal(-(sd**2), sd, templates))
            seen.append(ability + rng.normal(0, 1, (20, templates)) * sizes)
        here, there = (each.mean(axis=1) for each in seen)
        foreseen.append(
            estimate_probabilities_of_pairs_keeping_order([TaskAccuracies(seen[0], np.full(seen[0].shape, 1e9))])[pairs]
        )
        kept.append(((here[:, None] > here) == (there[:, None] > there))[pairs])
    foreseen, kept = np.concatenate(foreseen), np.concatenate(kept)
    for low, high in ((0.5, 0.7), (0.7, 0.85), (0.85, 0.95), (0.95, 1.01)):
        part = (foreseen >= low) & (foreseen < high)
        assert -0.03 < kept[part].mean() - foreseen[part].mean() < 0.08, low


def answers(rng, shape, items, templates=0.5):
    """Draw right answers (models, items, templates) of items that differ, with templates that move models apart."""
    models, number = shape
    logit = rng.normal(0, 0.7, (models, 1, 1)) + rng.normal(0, 1.5, (1, items, 1))
    return logit, lambda: rng.normal(0, templates, (models, 1, number)) + rng.normal(0, 0.3, (1, 1, number))


def test_the_intervals_cover_where_all_templates_have_the_same_items():
    rng = np.random.default_rng(4)
    logit, effects = answers(rng, (1, 4), 40_000)
    moved = effects()
    chance = 1 / (1 + np.exp(-(logit + moved)))[0]
    true = templates.summarize_accuracies(chance.mean(axis=0))
    draws, inside = 400, dict.fromkeys(true, 0)
    for _ in range(draws):
        own = rng.choice(len(chance), 60)
        accuracies = (rng.random((60, 4)) < chance[own]).mean(axis=0)
        for name, (_, low, high) in templates.summarize_template_accuracies_with_intervals(
            accuracies, np.full(4, 60.0)
        ).items():
            inside[name] += low <= true[name] <= high
    assert inside.pop("sd") == 0  # has no interval
    assert {name: count / draws for name, count in inside.items() if count < 0.93 * draws} == {}


@pytest.mark.parametrize("same_items", [True, False])
def test_probabilities_to_keep_an_order_come_true(same_items):
    """Foreseen from 5 templates and 300 items, seen with other templates: 80 studies of 8 models."""
    rng = np.random.default_rng(5)
    foreseen, came, taus = [], [], []
    pairs = np.triu_indices(8, 1)
    for _ in range(80):
        abilities, seen = rng.normal(0, 0.4, (8, 1, 1)), []
        for study in range(2):
            if study == 0 or not same_items:
                items = rng.normal(0, 1.5, (1, 300, 1)) + rng.normal(0, 0.5, (8, 300, 1))
                drawn = rng.random((8, 300, 1))  # an item is answered alike with all templates, but for what they move
            moved = rng.normal(0, 0.3, (8, 1, 5)) + rng.normal(0, 0.3, (1, 1, 5))
            seen.append((drawn < 1 / (1 + np.exp(-(abilities + items + moved)))).mean(axis=1))
        one = TaskAccuracies(seen[0], np.full((8, 5), 300.0))
        here, there = (each.mean(axis=1) for each in seen)
        same = (np.sign(here[:, None] - here) == np.sign(there[:, None] - there)).astype(float)
        came.append(np.where(here[:, None] == here, np.nan, same)[pairs])
        if same_items:
            foreseen.append(estimate_probabilities_of_pairs_keeping_order([one])[pairs])
        else:
            found = build_accuracy_ranking_with_stability([one])
            foreseen.append(found.same_order_probability[pairs])
            taus.append((found.tau, 2 * np.nanmean(came[-1]) - 1))
    foreseen, came = np.concatenate(foreseen), np.concatenate(came)
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        own = (foreseen >= low) & (foreseen < low + 0.1)
        apart = np.nanmean(came[own]) - np.nanmean(foreseen[own])
        assert -0.04 < apart < (0.08 if same_items else 0.14), low
    assert same_items or np.diff(np.mean(taus, axis=0)) > -0.02


def test_equal_models_have_no_order():
    same = TaskAccuracies(np.full((3, 4), 0.5), np.full((3, 4), 50.0))
    found = estimate_components_of_mean_task_accuracy([same])
    assert found.model == 0
    assert np.isnan(found.compute_coefficient_interval(1)).all()
    assert np.isnan(found.compute_generalizability(1))
    assert np.isnan(estimate_probabilities_of_pairs_keeping_order([same])).all()
    assert (build_accuracy_ranking_with_stability([same]).rank == 2).all()
    assert np.isnan(build_accuracy_ranking_with_stability([same]).tau)


def test_one_template_has_no_range_and_no_wrong_ends():
    found = templates.summarize_template_accuracies_with_intervals(np.array([1.0]), np.array([20.0]))
    assert found["mean"][0] == 1
    assert 0.8 < found["mean"][1] < found["mean"][2] == 1
    assert np.isnan(found["range"][1:]).all()
    assert found["combined"][1] < 1
