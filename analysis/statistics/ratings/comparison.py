"""Compare the answers of models with those of people: distances, item means, bias, with intervals.

Intervals over items are the house's (`resampling`): for other items like these. Intervals over people redraw the
people: for all people like these. They are percentiles of the draws, but for distances: these are too large by chance
in the people, and once more in the draws, so that percentiles would say of a model that answers as all people do that
it differs. The lower end of a distance is the smaller one of

- the *basic* end [1]_, which mirrors the upper percentile at the estimate,
- the estimate less the 97.5 % quantile of the distance of people drawn anew from the people: by the triangle
  inequality, as all people lie no further from these;

and at least 0. The upper end is the percentile. The excess (below) is about so many people, not all of them: its draws
are moved so that their mean is the estimate.

**The rule** (`judge_excess`). The excess of a model is its mean distance minus that between two groups of as many
people. A model is *no larger than between people* where both upper ends of the excess, over items and over people, are
0 or less; *larger* where both lower ends are above 0; else it is open. So "no larger" is a finding, not a lack of one.

Reference
---------
.. [1] Davison, A. C., Hinkley, D. V. (1997). Bootstrap Methods and their Application, section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.statistics.forms import Form
from analysis.statistics.interval import Interval
from analysis.statistics.ordered import compute_scores
from analysis.statistics.ratings.distances import compute_total_variation, compute_wasserstein
from analysis.statistics.ratings.people import People, PeopleReference
from analysis.statistics.resampling import DRAWS, LEVEL, Columns, bootstrap_intervals, compute_drawn_mean
from analysis.statistics.weighted import compute_pearson

Array: TypeAlias = npt.NDArray[np.float64]
LEAST_FOR_CORRELATION = 10  # items
NO_LARGER, LARGER, OPEN = "no larger than between people", "larger than between people", "open"
_FORMS = {"correlation": Form(least=LEAST_FOR_CORRELATION)}


def compute_item_figures(
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
        w1_between, tv_between, the distance between two groups of as many people.
    """
    answers, n_options = people.shares[:, None], people.n_options[:, None]
    w1 = compute_wasserstein(shares, answers, n_options)
    s_people = np.broadcast_to(people.scores[:, None], w1.shape)
    sampled = np.where(np.isfinite(n_samples), n_samples, np.inf)
    more = np.sqrt(1 + people.n[:, None] / sampled)
    return {
        "s_model": compute_scores(shares, n_options),
        "s_people": np.where(np.isnan(w1), np.nan, s_people),
        "w1": w1,
        "tv": compute_total_variation(shares, answers),
        "w1_chance": reference.chance_w1[:, None] * more,
        "tv_chance": reference.chance_tv[:, None] * more,
        "w1_between": np.broadcast_to(reference.between_w1[:, None], w1.shape),
        "tv_between": np.broadcast_to(reference.between_tv[:, None], w1.shape),
    }


def compute_intervals_over_items(
    figures: Mapping[str, Array], signs: Array, *, draws: int = DRAWS, seed: int = 0
) -> dict[str, Interval]:
    """Average the figures of items, with intervals over items.

    Parameters
    ----------
    figures
        From `compute_item_figures`, of the items to be averaged.
    signs
        (items,): -1 for an item that is reversed, else 1.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    dict
        Of every unit: w1, tv, alignment (1 - w1), correlation (of s_model and s_people), bias (s_model - s_people,
        after reversing); of the items whose n is known, excess (w1 - w1_between) and w1_net, tv_net (less chance).
    """
    columns = {
        "w1": figures["w1"], "tv": figures["tv"], "s_model": figures["s_model"], "s_people": figures["s_people"],
        "bias": signs[:, None] * (figures["s_model"] - figures["s_people"]),
    }  # fmt: skip
    net = {
        "excess": figures["w1"] - figures["w1_between"],
        "w1_net": figures["w1"] - figures["w1_chance"],
        "tv_net": figures["tv"] - figures["tv_chance"],
    }
    return {
        **bootstrap_intervals(columns, _average_figures, forms=_FORMS, draws=draws, seed=seed),
        **bootstrap_intervals(net, _average_columns, draws=draws, seed=seed),
    }


def _average_figures(columns: Columns, counts: Array) -> dict[str, Array]:
    """Average distances and bias over drawn items, and correlate the item means."""
    means = {name: compute_drawn_mean(counts, columns[name]) for name in ("w1", "tv", "bias")}
    correlation = compute_pearson(counts, columns["s_model"], columns["s_people"], scale=1.0)
    return {**means, "alignment": 1 - means["w1"], "correlation": correlation}


def _average_columns(columns: Columns, counts: Array) -> dict[str, Array]:
    """Average every column over drawn items."""
    return {name: compute_drawn_mean(counts, values) for name, values in columns.items()}


def compute_intervals_over_people(
    shares: Array, people: People, reference: PeopleReference, groups: Mapping[str, Array]
) -> dict[str, dict[str, tuple[float, float]]]:
    """Compute intervals of one unit's figures for other people like these.

    Parameters
    ----------
    shares
        (items, options) of the unit.
    people, reference
        As of `compute_item_figures`.
    groups
        Name -> (items,): 1, or -1 where an item is reversed; 0 for items that are not in the group.

    Returns
    -------
    dict
        Name of the group -> figure (w1, tv, alignment, correlation, bias, excess) -> lower and upper end. NaN where
        nothing is known of the number of people of an item, and for correlations below `LEAST_FOR_CORRELATION` items.
    """
    has = ~np.isnan(shares).any(axis=1) & ~np.isnan(people.shares).any(axis=1)
    n_options, drawn = people.n_options[has], reference.drawn[:, has]
    answers, model = people.shares[has], shares[has]
    s_model, s_drawn = compute_scores(model, n_options), compute_scores(drawn, n_options)
    observed, drawn_anew, chance = (
        {
            "w1": compute_wasserstein(people_answers, other, n_options),
            "tv": compute_total_variation(people_answers, other),
        }
        for people_answers, other in ((answers, model), (drawn, model), (drawn, answers))
    )
    intervals = {}
    for name, signs in groups.items():
        items = np.flatnonzero(signs[has])
        if not len(items):
            continue
        ends = {
            measure: _bound_distance(
                float(observed[measure][items].mean()),
                drawn_anew[measure][:, items].mean(axis=1),
                chance[measure][:, items].mean(axis=1),
            )
            for measure in ("w1", "tv")
        } | {
            "bias": _take_percentiles(((s_model - s_drawn)[:, items] * signs[has][items]).mean(axis=1)),
            "correlation": _take_percentiles(_correlate_with_drawn(s_model[items], s_drawn[:, items])),
        }
        distances = drawn_anew["w1"][:, items].mean(axis=1)
        centre = observed["w1"][items].mean() - reference.between_w1[has][items].mean()
        ends["excess"] = _take_percentiles(distances - distances.mean() + centre)
        ends["alignment"] = 1 - ends["w1"][1], 1 - ends["w1"][0]
        intervals[name] = ends
    return intervals


def _take_percentiles(samples: Array) -> tuple[float, float]:
    """Return the 95 % percentiles of draws; NaN where a draw is undefined."""
    lower, upper = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(lower), float(upper)


def _bound_distance(estimate: float, drawn_anew: Array, chance: Array) -> tuple[float, float]:
    """Return the interval of a mean distance: of the draws' distances to the model, and those to the people."""
    high = _take_percentiles(drawn_anew)[1]
    lower = min(2 * estimate - high, estimate - _take_percentiles(chance)[1])
    return float(np.maximum(lower, 0.0)), float(np.maximum(high, estimate))


def _correlate_with_drawn(s_model: Array, s_drawn: Array) -> Array:
    """Correlate item means of a model with those of every draw of people: (draws,)."""
    if len(s_model) < LEAST_FOR_CORRELATION:
        return np.full(len(s_drawn), np.nan)
    x, y = s_model - s_model.mean(), s_drawn - s_drawn.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(y @ x / np.sqrt((x @ x) * (y**2).sum(axis=1)))


def judge_excess(over_items: tuple[float, float], over_people: tuple[float, float]) -> str:
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
