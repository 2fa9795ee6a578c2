"""Compare the answers of models with those of people: distances, item means, bias, with intervals.

Intervals over items are those of means by t, and of correlations by Fisher's z: for other items like these. Intervals
over people redraw the people: for all people like these. They are percentiles of the draws, but for distances: these
are too large by chance in the people, and once more in the draws, so that percentiles would say of a model that answers
as all people do that it differs. The lower end of a distance is the smaller one of

- the *basic* end [1]_, which mirrors the upper percentile at the estimate,
- the estimate less the 97.5 % quantile of the distance of people drawn anew from the people: by the triangle
  inequality, as all people lie no further from these;

and at least 0. The upper end is the percentile. The excess (below) is about so many people, not all of them: its draws
are moved so that their mean is the estimate.

**The rule** (`judge_distance_from_people`). The excess of a model is its mean distance minus that between two groups of
as many people; of a model known from fewer sampled answers, m, minus that between a group of m and the people, which is
sqrt((1 + n / m) / 2) times as much: else chance in its own answers would set it apart from people. The distance of a
model is *no larger than between people* where both upper ends of the excess, over items and over people, are 0 or less;
*larger* where both lower ends are above 0; else it is open. So "no larger" is a finding, not a lack of one.

Reference
---------
.. [1] Davison, A. C., Hinkley, D. V. (1997). Bootstrap Methods and their Application, section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from analysis.statistics.correlation import compute_fisher_interval
from analysis.statistics.ordered import compute_mean_answer_scores
from analysis.statistics.ratings.distances import compute_total_variation, compute_wasserstein
from analysis.statistics.ratings.people import People, PeopleReference
from analysis.statistics.resampling import LEVEL
from analysis.statistics.rounding import are_scores_constant
from analysis.statistics.shares import Array
from analysis.statistics.significance import ROUNDING

Ends: TypeAlias = tuple[float, float]
LEAST_FOR_CORRELATION = 4  # items
NO_LARGER, LARGER, OPEN = "no larger than between people", "larger than between people", "open"


def compute_item_figures_of_units_and_people(
    shares: Array, people: People, reference: PeopleReference, n_samples: Array
) -> dict[str, Array]:
    """Compute what every model shows on every item.

    Parameters
    ----------
    shares
        (items, units, options): shares of a unit, such as a model under a condition; NaN where it has none.
    people, reference
        The people, and what chance does to them.
    n_samples
        (items, units): of how many sampled answers the shares are; NaN or infinite where they are probabilities.

    Returns
    -------
    dict
        Arrays (items, units): s_model, s_people (mean ranks, 0 to 1, before reversing), w1, tv; w1_chance, tv_chance;
        w1_between, tv_between, the distance between two groups of as many people; w1_expected: the same, but of people
        and a group of as many as the model has sampled answers where these are fewer.
    """
    answers, n_options = people.shares[:, None], people.n_options[:, None]
    w1 = compute_wasserstein(shares, answers, n_options)
    s_people = np.broadcast_to(people.mean_item_ranks[:, None], w1.shape)
    sampled = np.where(np.isfinite(n_samples), n_samples, np.inf)
    more = np.sqrt(1 + people.n[:, None] / sampled)
    return {
        "s_model": compute_mean_answer_scores(shares, n_options),
        "s_people": np.where(np.isnan(w1), np.nan, s_people),
        "w1": w1,
        "tv": compute_total_variation(shares, answers),
        "w1_chance": reference.chance_w1[:, None] * more,
        "tv_chance": reference.chance_tv[:, None] * more,
        "w1_between": np.broadcast_to(reference.between_w1[:, None], w1.shape),
        "w1_expected": reference.between_w1[:, None] * np.maximum(more / np.sqrt(2), 1.0),
        "tv_between": np.broadcast_to(reference.between_tv[:, None], w1.shape),
    }


def average_item_figures_with_intervals(
    figures: Mapping[str, Array], signs: Array
) -> dict[str, tuple[Array, Array, Array]]:
    """Average the figures of items, with 95 % intervals over items.

    Parameters
    ----------
    figures
        From `compute_item_figures_of_units_and_people`, of the items to be averaged.
    signs
        (items,): -1 for an item that is reversed, else 1.

    Returns
    -------
    dict
        Figure -> estimate, lower and upper end of every unit, NaN where there is none: w1, tv, alignment (1 - w1), bias
        (s_model - s_people, after reversing), correlation (of s_model and s_people); of the items whose n is known,
        excess (w1 - w1_expected), w1_net and tv_net (less chance).
    """
    means = {
        "w1": figures["w1"],
        "tv": figures["tv"],
        "bias": signs[:, None] * (figures["s_model"] - figures["s_people"]),
        "excess": figures["w1"] - figures["w1_expected"],
        "w1_net": figures["w1"] - figures["w1_chance"],
        "tv_net": figures["tv"] - figures["tv_chance"],
    }
    over_items = {name: _average_over_items_with_t_interval(values) for name, values in means.items()}
    w1, lower, upper = over_items["w1"]
    over_items["alignment"] = 1 - w1, 1 - upper, 1 - lower
    pairs = [
        _correlate_item_means_with_people(*pair)
        for pair in zip(figures["s_model"].T, figures["s_people"].T, strict=True)
    ]
    r, lower, upper = np.array(pairs).reshape(-1, 3).T
    return {**over_items, "correlation": (r, lower, upper)}


def _average_over_items_with_t_interval(values: Array) -> tuple[Array, Array, Array]:
    """Return the mean over the items that a unit has, and its interval by t, NaN where all are alike: (units,)."""
    from scipy.special import stdtrit

    has = ~np.isnan(values)
    n = has.sum(axis=0).astype(float)
    mean = np.where(has, values, 0).sum(axis=0) / np.where(n > 0, n, np.nan)
    squares = np.where(has, values - mean, 0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(squares.sum(axis=0) / (n - 1) / n)
        half = stdtrit(n - 1, (1 + LEVEL) / 2) * np.where((n > 1) & (error > ROUNDING), error, np.nan)
    return mean, mean - half, mean + half


def _correlate_item_means_with_people(s_model: Array, s_people: Array) -> tuple[float, float, float]:
    """Return Pearson's r over items and its interval by Fisher's z, which is NaN where r is 1 or -1."""
    has_both = ~np.isnan(s_model) & ~np.isnan(s_people)
    x, y = s_model[has_both], s_people[has_both]
    n = len(x)
    if n < LEAST_FOR_CORRELATION or are_scores_constant(x, 1.0) or are_scores_constant(y, 1.0):
        return np.nan, np.nan, np.nan
    r = float(np.corrcoef(x, y)[0, 1])
    return r, *compute_fisher_interval(r, n)


def compute_intervals_of_unit_over_people(
    shares: Array, people: People, reference: PeopleReference, groups: Mapping[str, Array],
    expected: Array | None = None,
) -> dict[str, dict[str, Ends]]:  # fmt: skip
    """Compute intervals of one unit's figures for other people like these.

    Parameters
    ----------
    shares
        (items, options) of the unit.
    people, reference
        As of `compute_item_figures_of_units_and_people`.
    groups
        Name -> (items,): 1, or -1 where an item is reversed; 0 for items that are not in the group.
    expected
        (items,): w1_expected of the unit; None: the distance between two groups of as many people.

    Returns
    -------
    dict
        Name of the group -> figure (w1, tv, alignment, correlation, bias, excess) -> lower and upper end. NaN where
        nothing is known of the number of people of an item, where people drawn anew are all alike, and for correlations
        that there are none of.
        No group without an item that both have.
    """
    has = ~np.isnan(shares).any(axis=1) & ~np.isnan(people.shares).any(axis=1)
    inside = {name: np.flatnonzero(has & (signs != 0)) for name, signs in groups.items()}
    inside = {name: items for name, items in inside.items() if len(items)}
    n_options = people.n_options
    expected = reference.between_w1 if expected is None else expected
    sums = np.cumsum(shares, axis=1)[:, :-1].T[:, None]
    distances = {
        "w1": np.abs(reference.drawn_sums - sums).sum(axis=0) / (n_options - 1),
        "tv": np.abs(reference.drawn - shares.T[:, None]).sum(axis=0) / 2,
    }
    observed = {"w1": compute_wasserstein(shares, people.shares, n_options),
                "tv": compute_total_variation(shares, people.shares)}  # fmt: skip
    s_model = compute_mean_answer_scores(shares, n_options)
    intervals = {}
    for name, items in inside.items():
        samples = {
            "w1": distances["w1"][:, items].mean(axis=1),
            "tv": distances["tv"][:, items].mean(axis=1),
            "w1_chance": reference.drawn_w1[:, items].mean(axis=1),
            "tv_chance": reference.drawn_tv[:, items].mean(axis=1),
            "bias": ((s_model - reference.drawn_scores)[:, items] * groups[name][items]).mean(axis=1),
            "correlation": _correlate_model_with_each_draw_of_people(
                s_model[items], people.mean_item_ranks[items], reference.drawn_scores[:, items]
            ),
        }
        percentiles = np.quantile(list(samples.values()), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
        low, high = (dict(zip(samples, map(float, row), strict=True)) for row in percentiles)
        ends = {figure: (low[figure], high[figure]) for figure in ("bias", "correlation")}
        for figure in ("w1", "tv"):
            estimate = float(observed[figure][items].mean())
            lower = min(2 * estimate - high[figure], estimate - high[f"{figure}_chance"])
            ends[figure] = float(np.maximum(lower, 0.0)), float(np.maximum(high[figure], estimate))
        ends["alignment"] = 1 - ends["w1"][1], 1 - ends["w1"][0]
        excess = float((observed["w1"] - expected)[items].mean() - samples["w1"].mean())
        ends["excess"] = low["w1"] + excess, high["w1"] + excess
        # People who all answer alike are the same when they are drawn anew: that says nothing of others.
        intervals[name] = {
            figure: (lower, upper) if upper - lower > ROUNDING else (np.nan, np.nan)
            for figure, (lower, upper) in ends.items()
        }
    return intervals


def _correlate_model_with_each_draw_of_people(s_model: Array, s_people: Array, s_drawn: Array) -> Array:
    """Correlate the item means of a model with those of every draw of people: (draws,); NaN without a correlation."""
    if np.isnan(_correlate_item_means_with_people(s_model, s_people)[0]):
        return np.full(len(s_drawn), np.nan)
    x, y = s_model - s_model.mean(), s_drawn - s_drawn.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(y @ x / np.sqrt((x @ x) * (y**2).sum(axis=1)))


def judge_distance_from_people(over_items: Ends, over_people: Ends) -> str:
    """Say whether a model lies further from people than two groups of people from each other.

    Parameters
    ----------
    over_items, over_people
        Lower and upper end of the excess.

    Returns
    -------
    str
        `NO_LARGER`, `LARGER` or `OPEN`; empty where an interval is missing.
    """
    ends = np.array([over_items, over_people], float)
    if np.isnan(ends).any():
        return ""
    if (ends[:, 1] <= 0).all():
        return NO_LARGER
    return LARGER if (ends[:, 0] > 0).all() else OPEN
