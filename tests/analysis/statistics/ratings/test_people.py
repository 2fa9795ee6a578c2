"""People drawn anew and parted: against slow versions, known variances, and each other."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.ratings.people import (
    People,
    build_people_from_ranks,
    build_resampled_and_halved_people,
    compute_option_shares_of_random_halves,
    compute_option_shares_of_resampled_people,
    compute_split_half_reliability_of_people,
)


def draw_ranks(people: int = 300, items: int = 8, options: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    latent = rng.normal(0, 0.6, (people, 1)) + rng.normal(size=(people, items)) + np.linspace(-1, 1, items)
    ranks = np.digitize(latent, np.linspace(-1.5, 1.5, options - 1)).astype(float)
    ranks[rng.random(ranks.shape) < 0.05] = np.nan
    return ranks


def make_people(ranks: np.ndarray, options: int = 5) -> People:
    names = tuple(f"item-{number}" for number in range(ranks.shape[1]))
    return build_people_from_ranks(names, ranks, np.full(ranks.shape[1], options))


def test_shares_are_counts_of_ranks():
    ranks = draw_ranks()
    people = make_people(ranks)
    for item, answers in enumerate(ranks.T):
        answers = answers[~np.isnan(answers)]
        assert people.n[item] == len(answers)
        assert people.shares[item].tolist() == [np.sum(answers == rank) / len(answers) for rank in range(5)]
        assert people.mean_item_ranks[item] == pytest.approx(answers.mean() / 4, abs=1e-15)


def test_an_item_that_nobody_answers_is_nan():
    ranks = draw_ranks()
    ranks[:, 2] = np.nan
    people = make_people(ranks)
    assert np.isnan(people.shares[2]).all() and people.n[2] == 0
    reference = build_resampled_and_halved_people(people, draws=20, splits=20)
    assert np.isnan(reference.between_w1[2]) and not np.isnan(np.delete(reference.between_w1, 2)).any()


def test_people_drawn_anew_are_whole_people():
    """Every person answers both items alike: so does everybody who is drawn."""
    ranks = np.repeat(np.arange(40.0)[:, None] % 5, 2, axis=1)
    drawn = compute_option_shares_of_resampled_people(make_people(ranks), draws=50)
    np.testing.assert_array_equal(drawn[:, 0], drawn[:, 1])
    first, second = compute_option_shares_of_random_halves(make_people(ranks), splits=50)
    np.testing.assert_array_equal(first[:, 0], first[:, 1])
    np.testing.assert_allclose((first + second) / 2, np.full(first.shape, 0.2), atol=1e-15)


@pytest.mark.parametrize("known", ["one by one", "as shares"])
def test_draws_vary_as_shares_of_n_do(known):
    """Variance of a share over draws: q (1 - q) / n, within 10 % with 4,000 draws."""
    people = make_people(draw_ranks(items=4))
    if known == "as shares":
        people = People(people.items, people.shares, people.n_options, people.n)
    q, n = people.shares, people.n[:, None]
    np.testing.assert_allclose(
        compute_option_shares_of_resampled_people(people, 4000, seed=1).var(axis=0), q * (1 - q) / n, rtol=0.1
    )
    first, second = compute_option_shares_of_random_halves(people, 4000, seed=1)
    np.testing.assert_allclose((first - second).var(axis=0), 4 * q * (1 - q) / n, rtol=0.1)


def test_chance_and_ceiling_of_a_yes_no_item():
    """Of two options, both distances are |p - q|, whose mean is SD sqrt(2 / pi): of one sample and of two."""
    shares = np.array([[0.3, 0.7]])
    people = People(("x",), shares, np.array([2]), np.array([900.0]))
    reference = build_resampled_and_halved_people(people, draws=20_000, splits=20_000)
    one = np.sqrt(0.3 * 0.7 / 900) * np.sqrt(2 / np.pi)
    for name in ("w1", "tv"):
        assert getattr(reference, f"chance_{name}")[0] == pytest.approx(one, rel=0.02)
        assert getattr(reference, f"between_{name}")[0] == pytest.approx(np.sqrt(2) * one, rel=0.02)


def test_the_ceiling_is_what_other_people_reach():
    """Halves of 400 people, corrected, against pairs of groups of 400 from the same world: within 5 %."""
    expected = []
    for seed in range(40):
        pair = [make_people(draw_ranks(400, seed=10 + 2 * seed + other)) for other in (0, 1)]
        steps = np.abs(np.cumsum(pair[0].shares - pair[1].shares, axis=1)[:, :-1]).sum(axis=1) / 4
        expected.append(steps.mean())
    found = np.mean([
        build_resampled_and_halved_people(
            make_people(draw_ranks(400, seed=10 + seed)), draws=2, splits=100
        ).between_w1.mean()
        for seed in range(20)
    ])  # fmt: skip
    assert found == pytest.approx(np.mean(expected), rel=0.05)


def test_correlation_of_halves_the_slow_way():
    reference = build_resampled_and_halved_people(make_people(draw_ranks()), draws=2, splits=30)
    items = np.array([0, 2, 3, 5, 7])
    r = np.mean([np.corrcoef(a[items], b[items])[0, 1] for a, b in zip(*reference.half_scores, strict=True)])
    assert compute_split_half_reliability_of_people(reference, items) == pytest.approx(2 * r / (1 + r), abs=1e-12)
    assert np.isnan(compute_split_half_reliability_of_people(reference, items[:2]))


def test_people_of_unknown_number_are_not_drawn():
    people = People(("x",), np.array([[0.3, 0.7]]), np.array([2]), np.array([np.nan]))
    reference = build_resampled_and_halved_people(people, draws=10, splits=10)
    assert np.isnan([reference.chance_w1, reference.chance_tv, reference.between_w1, reference.between_tv]).all()


def test_the_same_seed_draws_the_same_people():
    people = make_people(draw_ranks())
    np.testing.assert_array_equal(
        compute_option_shares_of_resampled_people(people, 20, seed=3),
        compute_option_shares_of_resampled_people(people, 20, seed=3),
    )
    assert (
        compute_option_shares_of_resampled_people(people, 20, seed=3)
        != compute_option_shares_of_resampled_people(people, 20, seed=4)
    ).any()
