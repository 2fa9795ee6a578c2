"""Models beside people: figures the slow way, intervals that cover, and the rule that says no more than they show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from analysis.statistics.ratings import comparison
from analysis.statistics.ratings.comparison import (
    LARGER,
    NO_LARGER,
    OPEN,
    average_item_figures_with_intervals,
    compute_intervals_of_unit_over_people,
    compute_item_figures_of_units_and_people,
    judge_distance_from_people,
)
from analysis.statistics.ratings.people import People, build_people_from_ranks, build_resampled_and_halved_people

PROBABILITIES = np.nan  # number of samples behind them: none


def shift(thresholds: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Shares of options of a latent answer that is moved: (items, options)."""
    sums = norm.cdf(thresholds - by[:, None])
    return np.diff(np.concatenate([np.zeros((len(sums), 1)), sums, np.ones((len(sums), 1))], axis=1), axis=1)


def make_world(rng: np.random.Generator, items: int, n: int, by: float) -> tuple[np.ndarray, np.ndarray, People]:
    """All people's shares, those of a model that is `by` off on every item, and n people."""
    thresholds = np.sort(rng.normal(size=(items, 4)), axis=1)
    latent = rng.normal(0, 0.6, (n, 1)) + rng.normal(0, 0.8, (n, items))
    ranks = (latent[..., None] > thresholds).sum(axis=-1).astype(float)
    people = build_people_from_ranks(tuple(map(str, range(items))), ranks, np.full(items, 5))
    return shift(thresholds, np.zeros(items)), shift(thresholds, by * rng.choice([-1, 1], items)), people


def test_figures_the_slow_way():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(5), (12, 3))
    people = People(tuple("abcdefghijkl"), rng.dirichlet(np.ones(5), 12), np.full(12, 5), np.full(12, 400.0))
    reference = build_resampled_and_halved_people(people, draws=50, splits=50)
    figures = compute_item_figures_of_units_and_people(shares, people, reference, np.full((12, 3), PROBABILITIES))
    signs = np.where(np.arange(12) % 3 == 0, -1.0, 1.0)
    means = average_item_figures_with_intervals(figures, signs)
    for unit in range(3):
        w1, tv, bias, s_model, s_people = [], [], [], [], []
        for item in range(12):
            p, q = shares[item, unit], people.shares[item]
            w1.append(sum(abs(sum(p[: k + 1]) - sum(q[: k + 1])) for k in range(4)) / 4)
            tv.append(sum(abs(p - q)) / 2)
            s_model.append(sum(k * p[k] for k in range(5)) / 4)
            s_people.append(sum(k * q[k] for k in range(5)) / 4)
            bias.append(signs[item] * (s_model[-1] - s_people[-1]))
        expected = {
            "w1": np.mean(w1), "tv": np.mean(tv), "alignment": 1 - np.mean(w1), "bias": np.mean(bias),
            "correlation": np.corrcoef(s_model, s_people)[0, 1],
            "w1_net": np.mean(w1) - reference.chance_w1.mean(), "tv_net": np.mean(tv) - reference.chance_tv.mean(),
            "excess": np.mean(w1) - reference.between_w1.mean(),
        }  # fmt: skip
        for name, value in expected.items():
            estimate, lower, upper = (part[unit] for part in means[name])
            assert estimate == pytest.approx(value, abs=1e-12), name
            assert lower < value < upper, name
        half = t.ppf(0.975, 11) * np.std(w1, ddof=1) / np.sqrt(12)
        assert means["w1"][2][unit] == pytest.approx(np.mean(w1) + half, abs=1e-12)
        fisher = np.tanh(np.arctanh(expected["correlation"]) - 1.959964 / 3)
        assert means["correlation"][1][unit] == pytest.approx(fisher, abs=1e-6)


def test_a_model_that_answers_as_all_people_do_has_no_distance_beyond_chance():
    rng = np.random.default_rng(2)
    net, sampled_net = [], []
    for seed in range(40):
        everyone, model, people = make_world(rng, 10, 300, 0.0)
        np.testing.assert_allclose(everyone, model)
        reference = build_resampled_and_halved_people(people, draws=200, splits=2, seed=seed)
        sampled = np.array([rng.multinomial(150, p) / 150 for p in model])
        both = np.stack([model, sampled], axis=1)
        figures = compute_item_figures_of_units_and_people(
            both, people, reference, np.tile([PROBABILITIES, 150.0], (10, 1))
        )
        net.append(figures["w1"][:, 0] - figures["w1_chance"][:, 0])
        sampled_net.append(figures["w1"][:, 1] - figures["w1_chance"][:, 1])
    for values in (net, sampled_net):
        assert abs(np.mean(values)) < 3 * np.std(np.mean(values, axis=1)) / np.sqrt(40)


@pytest.mark.slow
@pytest.mark.parametrize("by", [0.0, 0.1, 0.4])
def test_intervals_over_people_cover_and_the_rule_is_not_too_sure(by):
    """80 studies of 12 items and 250 people: .92 or more, and a false sentence in 5 % or less of them.

    Intervals that cover .85 pass in 1 of 20 series, and those of a world are one of three.
    """
    rng = np.random.default_rng(3)
    hits = {"w1": 0, "tv": 0, "bias": 0}
    verdicts, distances, between = [], [], []
    for seed in range(80):
        everyone, model, people = make_world(rng, 12, 250, by)
        reference = build_resampled_and_halved_people(people, draws=300, splits=60, seed=seed)
        figures = compute_item_figures_of_units_and_people(
            model[:, None], people, reference, np.full((12, 1), PROBABILITIES)
        )
        over_items = average_item_figures_with_intervals(figures, np.ones(12))["excess"]
        ends = compute_intervals_of_unit_over_people(model, people, reference, {"all": np.ones(12)})["all"]
        steps = np.cumsum(model - everyone, axis=1)[:, :-1]
        true = {"w1": np.abs(steps).sum(axis=1).mean() / 4, "tv": np.abs(model - everyone).sum(axis=1).mean() / 2,
                "bias": -steps.sum(axis=1).mean() / 4}  # fmt: skip
        for name, value in true.items():
            hits[name] += ends[name][0] <= value <= ends[name][1]
        verdicts.append(judge_distance_from_people((over_items[1][0], over_items[2][0]), ends["excess"]))
        distances.append(figures["w1"].mean())
        between.append(reference.between_w1.mean())
        assert ends["w1"][0] <= distances[-1] <= ends["w1"][1]
    assert min(hits.values()) >= 0.92 * 80, hits
    is_larger = np.mean(distances) > np.mean(between)
    assert verdicts.count(NO_LARGER if is_larger else LARGER) <= 0.05 * 80
    if by != 0.1:  # near the ceiling neither is said, as a rule
        assert verdicts.count(LARGER if is_larger else NO_LARGER) >= 0.3 * 80


@pytest.mark.slow
def test_chance_in_sampled_answers_sets_no_model_apart_from_people():
    """The model answers as all people do; it is known from 70 or 280 answers, and 1,000 people answered."""
    rng = np.random.default_rng(6)
    sizes = np.array([70, 280])
    verdicts = []
    for seed in range(30):
        _, model, people = make_world(rng, 12, 1000, 0.0)
        reference = build_resampled_and_halved_people(people, draws=100, splits=30, seed=seed)
        sampled = np.stack([[rng.multinomial(size, p) / size for p in model] for size in sizes], axis=1)
        figures = compute_item_figures_of_units_and_people(
            sampled, people, reference, np.tile(sizes.astype(float), (12, 1))
        )
        np.testing.assert_allclose(
            figures["w1_expected"], reference.between_w1[:, None] * np.sqrt((1 + 1000 / sizes) / 2), atol=1e-15
        )
        excess, lower, upper = average_item_figures_with_intervals(figures, np.ones(12))["excess"]
        np.testing.assert_allclose(excess, (figures["w1"] - figures["w1_expected"]).mean(axis=0), atol=1e-15)
        for unit in range(2):
            ends = compute_intervals_of_unit_over_people(
                sampled[:, unit], people, reference, {"all": np.ones(12)}, figures["w1_expected"][:, unit]
            )["all"]["excess"]
            assert sum(ends) / 2 == pytest.approx(excess[unit], abs=0.01)
            verdicts.append(judge_distance_from_people((lower[unit], upper[unit]), ends))
    assert verdicts.count(LARGER) <= 0.05 * len(verdicts)


def test_more_sampled_answers_than_people_change_nothing():
    rng = np.random.default_rng(7)
    _, model, people = make_world(rng, 6, 200, 0.1)
    reference = build_resampled_and_halved_people(people, draws=10, splits=10)
    n_samples = np.tile([PROBABILITIES, np.inf, 200.0, 5000.0], (6, 1))
    figures = compute_item_figures_of_units_and_people(np.stack([model] * 4, axis=1), people, reference, n_samples)
    np.testing.assert_allclose(figures["w1_expected"], figures["w1_between"], atol=1e-15)


def test_groups_and_signs_of_intervals_over_people():
    rng = np.random.default_rng(4)
    _, model, people = make_world(rng, 12, 200, 0.3)
    reference = build_resampled_and_halved_people(people, draws=100, splits=20)
    signs = np.r_[np.ones(3), np.zeros(9)]
    ends = compute_intervals_of_unit_over_people(
        model, people, reference, {"x": signs, "-x": -signs, "none": 0 * signs}
    )
    assert set(ends) == {"x", "-x"}
    np.testing.assert_allclose(ends["x"]["bias"], np.negative(ends["-x"]["bias"][::-1]), atol=1e-15)
    assert np.isnan(ends["x"]["correlation"]).all()  # of 3 items
    np.testing.assert_allclose(ends["x"]["alignment"], 1 - np.array(ends["x"]["w1"])[::-1])


def test_without_a_number_of_people_there_is_no_interval_over_them():
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(5), 12)
    people = People(tuple("abcdefghijkl"), rng.dirichlet(np.ones(5), 12), np.full(12, 5), np.full(12, np.nan))
    reference = build_resampled_and_halved_people(people, draws=10, splits=10)
    figures = compute_item_figures_of_units_and_people(
        shares[:, None], people, reference, np.full((12, 1), PROBABILITIES)
    )
    over_items = average_item_figures_with_intervals(figures, np.ones(12))
    assert not np.isnan(over_items["w1"]).any() and np.isnan(over_items["excess"]).all()
    ends = compute_intervals_of_unit_over_people(shares, people, reference, {"all": np.ones(12)})["all"]
    assert np.isnan(list(ends.values())).all()
    assert judge_distance_from_people((np.nan, np.nan), ends["excess"]) == ""


def test_items_that_only_models_or_only_people_answered_are_left_out():
    rng = np.random.default_rng(9)
    shares = rng.dirichlet(np.ones(5), (8, 1))
    people = People(tuple("abcdefgh"), rng.dirichlet(np.ones(5), 8), np.full(8, 5), np.full(8, 400.0))
    shares[0], people.shares[1] = np.nan, np.nan
    reference = build_resampled_and_halved_people(people, draws=20, splits=10)
    figures = compute_item_figures_of_units_and_people(shares, people, reference, np.full((8, 1), PROBABILITIES))
    of_both = {name: values[2:] for name, values in figures.items()}
    every = average_item_figures_with_intervals(figures, np.ones(8))
    for name, parts in average_item_figures_with_intervals(of_both, np.ones(6)).items():
        np.testing.assert_allclose(every[name], parts, err_msg=name)
        assert not np.isnan(parts[0]).any(), name


def test_people_who_all_answer_alike_and_distances_that_are_all_alike_give_no_interval():
    """Drawn anew, such people are the same; and a mean of equal distances is not known without error."""
    ranks = np.tile([0.0, 1.0, 2.0, 3.0, 4.0], (7, 1))
    people = build_people_from_ranks(tuple("abcde"), ranks, np.full(5, 5))
    reference = build_resampled_and_halved_people(people, draws=20, splits=20)
    shares = np.full((5, 5), 0.05) + 0.75 * np.eye(5)[::-1]
    over_people = compute_intervals_of_unit_over_people(shares, people, reference, {"all": np.ones(5)})["all"]
    assert np.isnan(list(over_people.values())).all()
    same = np.eye(5)[[1, 2, 3, 4, 3]]
    figures = compute_item_figures_of_units_and_people(same[:, None], people, reference, np.full((5, 1), PROBABILITIES))
    w1, lower, upper = average_item_figures_with_intervals(figures, np.ones(5))["w1"]
    assert w1 == pytest.approx(0.25) and np.isnan([lower, upper]).all()


def test_without_a_correlation_with_people_there_is_no_interval_of_one():
    """The item means of people are alike, but not those of people drawn anew."""
    rng = np.random.default_rng(8)
    ranks = np.stack([rng.permutation(np.repeat(np.arange(5.0), 4)) for _ in range(4)], axis=1)
    people = build_people_from_ranks(tuple("abcd"), ranks, np.full(4, 5))
    reference = build_resampled_and_halved_people(people, draws=50, splits=20)
    shares = np.eye(5)[[0, 1, 2, 4]]
    ends = compute_intervals_of_unit_over_people(shares, people, reference, {"all": np.ones(4)})["all"]
    assert np.isnan(ends["correlation"]).all() and not np.isnan(ends["w1"]).any()


def test_the_rule():
    assert judge_distance_from_people((-0.03, -0.01), (-0.02, 0.0)) == NO_LARGER
    assert judge_distance_from_people((0.01, 0.03), (0.001, 0.02)) == LARGER
    for over_items, over_people in [((-1, -1), (-1, 0.1)), ((-1, 0.1), (-1, -1)), ((1, 2), (0, 1)), ((-1, 0), (1, 2))]:
        assert judge_distance_from_people(over_items, over_people) == OPEN
    assert judge_distance_from_people((0.01, np.nan), (0.01, 0.02)) == ""


def test_a_perfect_correlation_has_no_interval():
    """By rounding, r of a model and of people with twice its scores may be a little less than 1."""
    for model in ([0.0, 0.25, 0.5, 1.0], [0.1, 0.2, 0.7, 0.9, 0.3]):
        r, low, high = comparison._correlate_item_means_with_people(np.array(model), np.array(model) / 2)
        assert r == pytest.approx(1, abs=1e-12) and np.isnan([low, high]).all()
