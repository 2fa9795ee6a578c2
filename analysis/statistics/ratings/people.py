"""Draw people anew: how far the answers of two groups of people lie apart by chance, and what two halves of them reach.

People are known one by one (their ranks), or only as shares with their number n. One by one, all answers of a person
are drawn together; from shares, the answers to every item are drawn apart, as if other people had given them.

- *chance*: the mean distance of people drawn anew (n with replacement) from the people. A model that answers exactly as
  all such people do lies that far from n of them. One whose own shares come from m sampled answers lies
  sqrt(1 + n / m) times as far, as two means of n and m answers do.
- *between people*: the mean distance of two random halves, times sqrt(1/2): distances shrink with the root of the
  number, so this is the distance of two groups of n people each. It is the ceiling of what a model can be asked for.
- the correlation of the item means of two halves is corrected to the full number by Spearman and Brown: 2 r / (1 + r).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from analysis.statistics.ordered import compute_mean_answer_scores
from analysis.statistics.ratings.distances import compute_total_variation, compute_wasserstein
from analysis.statistics.resampling import iterate_drawn_item_counts
from analysis.statistics.shares import Array

PEOPLE_DRAWS = 500
SPLITS = 200


@dataclass(frozen=True)
class People:
    """Hold what people answered.

    Attributes
    ----------
    items
        Names of the items.
    shares
        (items, options): share of every option in rising order, 0 beyond an item's last one; NaN where nobody answered.
    n_options
        (items,): K.
    n
        (items,): how many people answered; NaN where that is not known.
    ranks
        (people, items): 0 for the lowest option, NaN without an answer. None: known as shares only.
    """

    items: tuple[str, ...]
    shares: Array
    n_options: npt.NDArray[np.int64]
    n: Array
    ranks: Array | None = None

    @property
    def mean_item_ranks(self) -> Array:
        """Return the mean rank of every item, 0 to 1: (items,)."""
        return compute_mean_answer_scores(self.shares, self.n_options)

    @cached_property
    def indicators(self) -> Array:
        """Return 1 where a person gave an answer: (people, items * options)."""
        assert self.ranks is not None
        given = self.ranks[..., None] == np.arange(self.shares.shape[1])
        return given.reshape(len(self.ranks), -1).astype(float)


def build_people_from_ranks(items: tuple[str, ...], ranks: Array, n_options: npt.NDArray[np.int64]) -> People:
    """Count the answers of people who are known one by one.

    Parameters
    ----------
    items, ranks, n_options
        As in `People`.

    Returns
    -------
    People
    """
    people = People(items, np.zeros((len(items), int(n_options.max()))), n_options, np.zeros(len(items)), ranks)
    counts = people.indicators.sum(axis=0).reshape(people.shares.shape)
    return People(items, _divide_by_sum(counts), n_options, counts.sum(axis=1), ranks)


def compute_option_shares_of_resampled_people(people: People, draws: int = PEOPLE_DRAWS, seed: int = 0) -> Array:
    """Draw as many people anew, with replacement.

    Parameters
    ----------
    people, draws, seed
        The people, how often they are drawn, and the seed of the generator.

    Returns
    -------
    array (draws, items, options)
        Shares; NaN for an item whose n is not known, or that nobody answered.

    Raises
    ------
    InputError
        As `resampling.iterate_drawn_item_counts`, where people are known one by one.
    """
    shape = (-1, *people.shares.shape)
    if people.ranks is not None:
        counts = [chunk @ people.indicators for chunk in iterate_drawn_item_counts(len(people.ranks), draws, seed)]
        return _divide_by_sum(np.concatenate(counts).reshape(shape))
    return _sample_answers_from_item_shares(people, people.n, draws, np.random.default_rng(seed))


def compute_option_shares_of_random_halves(people: People, splits: int = SPLITS, seed: int = 0) -> tuple[Array, Array]:
    """Part the people into two random halves.

    Parameters
    ----------
    people, splits, seed
        The people, how often they are parted, and the seed of the generator.

    Returns
    -------
    two arrays (splits, items, options)
        Shares of either half. NaN for an item whose n is not known, or that nobody of a half answered. Of people known
        as shares only, the halves are drawn from these.
    """
    rng = np.random.default_rng(seed)
    if people.ranks is None:
        halves = np.floor(people.n / 2), np.ceil(people.n / 2)
        first, second = (_sample_answers_from_item_shares(people, n, splits, rng) for n in halves)
        return first, second
    size = len(people.ranks)
    is_in_first = rng.random((splits, size)).argsort(axis=1) < size // 2
    counts = is_in_first.astype(float) @ people.indicators
    shape = (splits, *people.shares.shape)
    others = people.indicators.sum(axis=0) - counts
    return _divide_by_sum(counts.reshape(shape)), _divide_by_sum(others.reshape(shape))


def _sample_answers_from_item_shares(people: People, n: Array, draws: int, rng: np.random.Generator) -> Array:
    """Draw n answers to every item from its shares."""
    is_drawn = (n > 0) & ~np.isnan(people.shares).any(axis=1)
    drawn = np.full((draws, *people.shares.shape), np.nan)
    for item in np.flatnonzero(is_drawn):
        size = int(n[item])
        drawn[:, item] = rng.multinomial(size, people.shares[item], size=draws) / size
    return drawn


def _divide_by_sum(counts: Array) -> Array:
    """Turn counts of options into shares; NaN where there is no answer."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)


@dataclass(frozen=True, slots=True)
class PeopleReference:
    """Hold what distances to people are to be compared with; arrays are over items, NaN where n is not known.

    Attributes
    ----------
    chance_w1, chance_tv
        Mean distance of people drawn anew from the people, of their Wasserstein distances and total variations.
    between_w1, between_tv
        Mean distance of two groups of as many people.
    drawn, drawn_sums
        Shares of people drawn anew, (options, draws, items), and their sums up to every option but the last.
    drawn_scores, drawn_w1, drawn_tv
        (draws, items): their mean ranks, 0 to 1, and distances from the people.
    half_scores
        Two arrays (splits, items): mean ranks, 0 to 1, of the halves.
    """

    chance_w1: Array
    chance_tv: Array
    between_w1: Array
    between_tv: Array
    drawn: Array
    drawn_sums: Array
    drawn_scores: Array
    drawn_w1: Array
    drawn_tv: Array
    half_scores: tuple[Array, Array]


def build_resampled_and_halved_people(
    people: People, *, draws: int = PEOPLE_DRAWS, splits: int = SPLITS, seed: int = 0
) -> PeopleReference:
    """Draw and part the people, once for all models.

    Parameters
    ----------
    people, draws, seed
        As in `compute_option_shares_of_resampled_people`.
    splits
        As in `compute_option_shares_of_random_halves`.

    Returns
    -------
    PeopleReference
    """
    drawn = compute_option_shares_of_resampled_people(people, draws, seed)
    first, second = compute_option_shares_of_random_halves(people, splits, seed)
    drawn_w1 = compute_wasserstein(drawn, people.shares, people.n_options)
    drawn_tv = compute_total_variation(drawn, people.shares)
    by_option = np.ascontiguousarray(np.moveaxis(drawn, -1, 0))
    return PeopleReference(
        chance_w1=drawn_w1.mean(axis=0),
        chance_tv=drawn_tv.mean(axis=0),
        between_w1=compute_wasserstein(first, second, people.n_options).mean(axis=0) * np.sqrt(0.5),
        between_tv=compute_total_variation(first, second).mean(axis=0) * np.sqrt(0.5),
        drawn=by_option,
        drawn_sums=np.cumsum(by_option, axis=0)[:-1],
        drawn_scores=compute_mean_answer_scores(drawn, people.n_options),
        drawn_w1=drawn_w1,
        drawn_tv=drawn_tv,
        half_scores=(
            compute_mean_answer_scores(first, people.n_options),
            compute_mean_answer_scores(second, people.n_options),
        ),
    )


def compute_split_half_reliability_of_people(reference: PeopleReference, items: npt.NDArray[np.intp]) -> float:
    """Correlate the item means of two halves of the people, corrected to the full number.

    Parameters
    ----------
    reference
        From `build_resampled_and_halved_people`.
    items
        Places of the items.

    Returns
    -------
    float
        Mean over splits, corrected by Spearman and Brown where it is positive; NaN below 3 items and where an item's n
        is not known.
    """
    if len(items) < 3:
        return float("nan")
    first, second = (scores[:, items] - scores[:, items].mean(axis=1, keepdims=True) for scores in
                     reference.half_scores)  # fmt: skip
    lengths = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = float(((first * second).sum(axis=1) / lengths).mean())
    return 2 * r / (1 + r) if r > 0 else r
