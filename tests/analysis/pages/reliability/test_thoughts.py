"""Thoughts as samples: components beside a slow analysis of variance, studies drawn again, what counting would lose."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.measures.reworded import AGREEMENT, THOUGHTS
from analysis.pages.reliability import narrative, tables
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.reliability.sampling import (
    estimate_counted_answers_per_exact_sample,
    estimate_sampling_variance,
)
from helpers.thinking_runs import THOUGHT, write_thinking_run

SHAPE = (12, 5, 4)  # items, wordings, thoughts


def chances(rng, shape=SHAPE, open_thoughts=1.0, crossed=True):
    """Shares of agreement (items, wordings, thoughts) within 0 and 1, of every component something."""
    wordings = rng.uniform(-0.12, 0.12, (1 if crossed else shape[0], shape[1], 1))
    cells = rng.uniform(-0.08, 0.08, (*shape[:2], 1))
    thoughts = open_thoughts * rng.uniform(-0.15, 0.15, shape)
    return 0.5 + rng.uniform(-0.12, 0.12, (shape[0], 1, 1)) + wordings + cells + thoughts


def slow_components(values, crossed):
    """Components from the mean squares of items x wordings with thoughts in each cell, by loops over all thoughts."""
    items, wordings, thoughts = values.shape
    grand = values.mean()
    squares = dict.fromkeys(("item", "wording", "interaction", "sample"), 0.0)
    for i in range(items):
        for w in range(wordings):
            cell, of_item, of_wording = values[i, w].mean(), values[i].mean(), values[:, w].mean()
            for m in range(thoughts):
                squares["item"] += (of_item - grand) ** 2
                squares["sample"] += (values[i, w, m] - cell) ** 2
                squares["wording"] += (of_wording - grand) ** 2
                squares["interaction"] += (cell - of_item - of_wording + grand) ** 2
    if not crossed:
        squares["wording"] += squares.pop("interaction")
    free = {"item": items - 1, "wording": wordings - 1, "interaction": (items - 1) * (wordings - 1),
            "sample": items * wordings * (thoughts - 1)}  # fmt: skip
    free |= {} if crossed else {"wording": items * (wordings - 1)}
    mean = {name: squares[name] / free[name] for name in squares}
    if not crossed:
        return {"item": (mean["item"] - mean["wording"]) / (wordings * thoughts),
                "wording": (mean["wording"] - mean["sample"]) / thoughts, "sample": mean["sample"]}  # fmt: skip
    return {
        "item": (mean["item"] - mean["interaction"]) / (wordings * thoughts),
        "wording": (mean["wording"] - mean["interaction"]) / (items * thoughts),
        "interaction": (mean["interaction"] - mean["sample"]) / thoughts,
        "sample": mean["sample"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("equal_masses", [True, False])
def test_components_are_those_of_a_slow_analysis_of_variance(crossed, equal_masses, tmp_path):
    rng = np.random.default_rng(4)
    share = chances(rng, crossed=crossed)
    mass = np.full(SHAPE, 0.8) if equal_masses else rng.uniform(0.5, 1, SHAPE)
    run = write_thinking_run(tmp_path / "run", share, mass, crossed=crossed)
    ratio = (share * mass).sum(axis=2, keepdims=True) / mass.sum(axis=2, keepdims=True)
    linear = ratio + (share - ratio) * mass / mass.mean(axis=2, keepdims=True)  # of equal masses the share itself
    wanted = slow_components(linear, crossed)
    table = tables.tabulate_variance_components(runs.open_runs(run)).set_index("measure")
    row = table.loc[AGREEMENT]
    assert min(wanted.values()) > 0  # a negative one would be shown as 0
    assert {name: row[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)
    assert (row["sampled"], row["n_samples"]) == (THOUGHTS, pytest.approx(SHAPE[2], abs=1e-9))
    assert row["sample_lower"] < row["sample"] < row["sample_upper"]


@pytest.mark.slow
def test_components_of_drawn_studies_are_right_on_average():
    """The bias of each component is below 3 % of the total variance; thoughts that do not end are missing at random."""
    rng, shape, draws = np.random.default_rng(5), (20, 6, 4), 2_000
    found = []
    for _ in range(draws):
        share, mass, closed = chances(rng, shape), rng.uniform(0.7, 1, shape), rng.random(shape) < 0.85
        closed[..., 0] = True
        weight = np.where(closed, mass, 0.0)
        number = closed.sum(axis=2)
        ratio = (share * weight).sum(axis=2) / weight.sum(axis=2)
        linear = np.where(closed, (share - ratio[..., None]) * mass, 0) / (weight.sum(axis=2) / number)[..., None]
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.where(number > 1, (linear**2).sum(axis=2) / (number - 1), np.nan)
        panel = estimate_panel_mean(ratio, True, estimate_sampling_variance(spread, number.astype(float)))
        found.append((panel.item, panel.wording, panel.interaction, panel.sampled.sample))
    true = np.array([0.24**2, 0.24**2, 0.16**2, 0.3**2]) / 12  # of uniform numbers
    assert np.abs(np.mean(found, axis=0) - true).max() < 0.03 * true.sum()


def draw_counts(rng, share):
    """Draw one answer after every thought, and return the share that agrees (items, wordings)."""
    return (rng.random(share.shape) < share).mean(axis=2)


@pytest.mark.parametrize("open_thoughts", [0.0, 0.3, 1.0])
def test_exact_probabilities_vary_at_most_as_counted_answers_do(open_thoughts):
    """Over thoughts drawn again, in every cell; the ratio of both is the worth that is estimated from one study."""
    rng, draws = np.random.default_rng(6), 4_000
    base = chances(np.random.default_rng(7), (6, 3, 1), 0.0)
    drawn = base + open_thoughts * rng.uniform(-0.15, 0.15, (draws, 6, 3, 8))
    exact = drawn.mean(axis=3)
    counted = (rng.random(drawn.shape) < drawn).mean(axis=3)
    assert (exact.var(axis=0) < counted.var(axis=0)).all()
    if open_thoughts:
        ratio = counted.var(axis=0).mean() / exact.var(axis=0).mean()
        v, w = drawn.var(axis=3, ddof=1), (drawn * (1 - drawn)).mean(axis=3)
        worth = [estimate_counted_answers_per_exact_sample(v[d], w[d]).estimate for d in range(200)]
        assert np.mean(worth) == pytest.approx(ratio, rel=0.05)


def test_a_thought_that_settles_the_answer_is_worth_one_answer(tmp_path):
    share = np.where(np.random.default_rng(8).random((10, 4, 6)) < 0.5, 1e-4, 1 - 1e-4)
    run = runs.open_runs(write_thinking_run(tmp_path / "run", share))
    row = tables.tabulate_variance_components(run).iloc[0]
    assert 1 <= row["worth"] < 1.001 and row["worth_upper"] < 1.01
    (sentence, settled) = narrative._describe_counted_answers_worth_a_thought(pd.DataFrame([row]))
    assert sentence.startswith("One thought with exact probabilities is worth 1.00 answers counted")
    assert settled == "A thought settles the answer: exact probabilities after it add at most a tenth."
    *_, of_two = narrative._describe_counted_answers_worth_a_thought(pd.DataFrame([row, row.replace("m", "n")]))
    assert of_two.startswith("With 2 of 2 models, each seen alone, a thought settles the answer")


@pytest.mark.parametrize("masses", [(1.0, 1.0), (0.4, 1.0)])
def test_variance_and_worth_are_those_of_all_answers_that_could_be_drawn(masses, tmp_path):
    """Of one cell: v by loops over thoughts; w by the sum over the answers yes, no and neither of every thought."""
    rng = np.random.default_rng(9)
    share, mass = rng.uniform(0, 1, (3, 2, 5)), rng.uniform(*masses, (3, 2, 5)) if masses[0] < 1 else np.ones((3, 2, 5))
    closed = np.ones(share.shape, bool)
    closed[1, 1, 3:] = False
    run = runs.open_runs(write_thinking_run(tmp_path / "run", share, mass, closed))
    study = next(study for study in read_reworded_studies(run) if study.measure == AGREEMENT)
    for i, w in np.ndindex(3, 2):
        ended = closed[i, w]
        yes, m = (share * mass)[i, w][ended], mass[i, w][ended]
        ratio = yes.sum() / m.sum()
        exact = [(y - ratio * t) / m.mean() for y, t in zip(yes, m, strict=True)]
        added = []
        for y, t in zip(yes, m, strict=True):
            answers = [((1 - ratio) / m.mean(), y), (-ratio / m.mean(), t - y), (0.0, 1 - t)]
            mean = sum(value * p for value, p in answers)
            added.append(sum((value - mean) ** 2 * p for value, p in answers))
        assert study.values[0, i, w] == pytest.approx(ratio, abs=1e-12)
        assert study.samples[0, i, w] == ended.sum()
        assert study.spread[0, i, w] == pytest.approx(np.var(exact, ddof=1), abs=1e-12)
        assert study.counting[0, i, w] == pytest.approx(np.mean(added), abs=1e-12)


def test_a_worth_that_rests_on_one_item_has_no_interval():
    """The interval was the estimate, twice; and of a single item, the sentence had one from nan to nan."""
    others = np.zeros((9, 2))
    one = estimate_counted_answers_per_exact_sample(
        np.vstack([[[0.2, 0.1]], others]), np.vstack([[[0.1, 0.1]], others])
    )
    assert one.estimate == pytest.approx(1 + 0.1 / 0.15) and np.isnan([one.lower, one.upper]).all()
    row = {"study": "s", "sampled": THOUGHTS, "worth": one.estimate, "worth_lower": one.lower, "worth_upper": one.upper}
    assert [*narrative._describe_counted_answers_worth_a_thought(pd.DataFrame([row]))] == [
        "One thought with exact probabilities is worth 1.67 answers counted."
    ]


def test_of_seven_items_a_worth_has_no_interval_and_of_eight_one_that_t_gives():
    v, w = np.random.default_rng(3).uniform(0.01, 0.2, (2, 8, 1))
    assert np.isnan(estimate_counted_answers_per_exact_sample(v[:7], w[:7]).lower)
    worth = estimate_counted_answers_per_exact_sample(v, w)
    error = np.sqrt(8 / 7 * ((w / w.sum() - v / v.sum()) ** 2).sum())
    logs = np.log(worth.estimate - 1) + stats.t.ppf([0.025, 0.975], 7) * error
    np.testing.assert_allclose([worth.lower, worth.upper], 1 + np.exp(logs), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [8, 10, 30])
def test_the_interval_of_the_worth_covers(n_items):
    """With ten items, percentiles of draws covered .89."""
    rng, covered, draws = np.random.default_rng(10), 0, 400
    low, high = rng.uniform(0.2, 0.8, 200_000), rng.uniform(0.05, 0.2, 200_000)
    true = 1 + float((low * (1 - low) - high**2).mean() / (high**2).mean())
    for _ in range(draws):
        place = rng.integers(0, len(low), n_items)
        thoughts = low[place, None, None] + high[place, None, None] * rng.choice([-1.0, 1.0], (n_items, 4, 8))
        v, w = thoughts.var(axis=2, ddof=1), (thoughts * (1 - thoughts)).mean(axis=2)
        worth = estimate_counted_answers_per_exact_sample(v, w)
        covered += worth.lower <= true <= worth.upper
    assert 0.91 < covered / draws <= 0.98


@pytest.mark.slow
def test_a_prompt_without_an_end_has_no_answer_and_is_counted(tmp_path):
    share = chances(np.random.default_rng(11))
    closed = np.ones(SHAPE, bool)
    closed[0, 0], closed[1, 1, 2:] = False, False
    run = runs.open_runs(write_thinking_run(tmp_path / "run", share, closed=closed))
    study = next(study for study in read_reworded_studies(run) if study.measure == AGREEMENT)
    assert np.isnan(study.values[0, 0, 0]) and np.isnan(study.samples[0, 0, 0]) and study.samples[0, 1, 1] == 2
    assert study.validity[0] == pytest.approx(59 / 60)
    frame = tables.tabulate_precision_of_means(run)
    assert frame.loc[0, "n"] == 59


def test_sentences_speak_of_thoughts(tmp_path):
    share = chances(np.random.default_rng(12))
    opened = runs.open_runs(write_thinking_run(tmp_path / "run", share))
    row = tables.tabulate_variance_components(opened).iloc[:1]
    (line, *_) = narrative._describe_item_reliability_of_samples(row.assign(item_lower=0.1))
    assert line.startswith("Agreement from 4 thoughts of one wording tells items of synthetic apart")
    (line, *_) = narrative._describe_counted_answers_worth_a_thought(row)
    assert re.fullmatch(
        r"One thought with exact probabilities is worth \d+\.\d\d answers counted \(95 % interval \d+\.\d\d to "
        r"\d+\.\d\d\)\.", line,
    )  # fmt: skip
    assert row["condition"].item() == THOUGHT


@pytest.mark.slow
def test_without_an_interval_items_are_not_said_to_differ_by_chance(tmp_path):
    share = chances(np.random.default_rng(12))
    opened = runs.open_runs(write_thinking_run(tmp_path / "run", share))
    row = tables.tabulate_variance_components(opened).iloc[:1]
    assert list(narrative._describe_item_reliability_of_samples(row.assign(item_lower=np.nan))) == []
