"""Plan for rules on the answers themselves: as many are the same as before, and models rank as before.

In the same wordings, an item counts by its share of answers that are as before. In fresh ones, by how far its shares of
answers are apart: of answers of two kinds, with shares p before and q now, (p - q)^2, which is estimated without bias
from K wordings at each time as d^2 - x (1 - x) / (K - 1) - y (1 - y) / (K - 1), with x and y the shares in these and d
their difference. Its mean and variance over samples are summed over all counts, for the distribution of p over items
that `statistics.reliability.flips` fits to the pilot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.stats import binom

from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import UNCHANGED, Aim, PilotUnit
from analysis.check.planning.powers import EVERYWHERE, IN_WHOLE_ITEMS, compute_mean_power, compute_share_power
from analysis.check.rules import LIKE_THESE, Rule
from analysis.compare.measures import FLIP
from analysis.statistics.multiplicity import ALPHA, holm
from analysis.statistics.reliability.flips import GRID, build_flip_forecast
from analysis.statistics.reliability.forecast import MeanForecast, build_mean_forecast
from analysis.statistics.reliability.panel import Anew, estimate_panel_mean
from analysis.statistics.reliability.planning import WORDINGS
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value
from analysis.statistics.resampling import Array

MOST_COUNTED = 50  # wordings of which all counts are summed


def list_same_answer_aims(rule: Rule, unit: PilotUnit, change: float | None, broken_level: float) -> Iterator[Aim]:
    """List the aims of "same answers as before": that nothing changed, and that more did than the rule allows.

    Parameters
    ----------
    rule
        The rule.
    unit
        What it is about.
    change
        Share of the answers that change; None: twice what the rule allows.
    broken_level
        One-sided level of "broken".

    Yields
    ------
    Aim
    """
    differs = 2 * (1 - rule.at_least) if change is None else change
    goals = [f"is broken, if {differs:.3g} of the answers change {spread}" for spread in (EVERYWHERE, IN_WHOLE_ITEMS)]
    if not 1 - rule.at_least < differs <= 1:
        yield Aim(rule, goals[0], *unit.labels, why_not=f"a change of {differs:.3g} is within what the rule allows")
        return
    if rule.wordings == LIKE_THESE and not unit.study.crossed:
        yield from _aim_at_distance(rule, unit, differs, broken_level)
        return
    noise = unit.forecast_answers().noise
    if noise > 0:
        yield Aim(rule, UNCHANGED, *unit.labels, why_not="the pilot does not tell how often samples change an answer")
    else:

        def compute_unchanged_power(items: int, _: int) -> float:
            return float(rule.at_least**items < LEVEL)

        yield Aim(rule, UNCHANGED, *unit.labels, unit.planned_wordings, compute_unchanged_power)
    for goal, is_whole in zip(goals, (False, True), strict=True):

        def compute_change_power(items: int, wordings: int, is_whole: bool = is_whole) -> float:
            ratio = 1.0 if is_whole else 1 / wordings
            return compute_share_power(1 - differs, rule.at_least, ratio, items, broken_level)

        yield Aim(rule, goal, *unit.labels, unit.planned_wordings, compute_change_power)


def _aim_at_distance(rule: Rule, unit: PilotUnit, differs: float, broken_level: float) -> Iterator[Aim]:
    """Plan for answers in fresh wordings: how far the shares of answers are apart."""
    goal = f"is broken, if items change so far that {1 - differs:.3g} of the answers are as before"
    mixture = build_flip_forecast(unit.study.values[unit.unit], FLIP)
    if mixture is None:
        for words in (UNCHANGED, goal):
            yield Aim(rule, words, *unit.labels, why_not="no item of the pilot flips, or all do: it does not tell how "
                      "far fresh wordings move answers")  # fmt: skip
        return
    several = tuple(number for number in WORDINGS if 1 < number <= MOST_COUNTED)
    # An item that changes turns round: its shares are exchanged. One with as many of both does not differ by that.
    most = float(mixture.weights @ (1 - 2 * GRID) ** 2)

    def compute_unchanged_power(items: int, wordings: int) -> float:
        forecast = MeanForecast(compute_distance_variance(mixture.weights, wordings, 0.0), 0.0, 0.0)
        return compute_mean_power(forecast, 1 - rule.at_least, items, wordings, LEVEL, crossed=False)

    def compute_change_power(items: int, wordings: int) -> float:
        forecast = MeanForecast(compute_distance_variance(mixture.weights, wordings, differs / most), 0.0, 0.0)
        distance = differs - (1 - rule.at_least)
        return compute_mean_power(forecast, distance, items, wordings, broken_level, crossed=False)

    yield Aim(rule, UNCHANGED, *unit.labels, several, compute_unchanged_power)
    if differs < most:
        yield Aim(rule, goal, *unit.labels, several, compute_change_power)
    else:
        yield Aim(rule, goal, *unit.labels, why_not=f"items that turn round differ by {most:.2g} at most")


def compute_distance_variance(weights: Array, wordings: int, turned: float) -> float:
    """Return the variance of an item's estimated distance.

    Parameters
    ----------
    weights
        Of the shares of `GRID` over items.
    wordings
        Of each item, at each time.
    turned
        Share of the items whose answers turned round.

    Returns
    -------
    float
    """
    shares = np.arange(wordings + 1) / wordings
    chances = binom.pmf(np.arange(wordings + 1), wordings, GRID[:, None])
    noise = shares * (1 - shares) / (wordings - 1)
    distances = (shares[:, None] - shares) ** 2 - noise[:, None] - noise
    moments = []
    for power in (1, 2):
        summed = chances @ distances**power
        same = (summed * chances).sum(axis=1)
        moments.append(weights @ ((1 - turned) * same + turned * (summed * chances[::-1]).sum(axis=1)))
    return float(moments[1] - moments[0] ** 2)


def list_ranked_pairs(units: Sequence[PilotUnit], anew: Anew) -> list[tuple[PilotUnit, PilotUnit]]:
    """List the pairs of models whose order the pilot finds, after Holm; the better one first.

    Parameters
    ----------
    units
        By the headline of each study.
    anew
        "items" for these wordings, "both" for wordings like these.

    Returns
    -------
    list of pairs
    """
    ranked = [unit for unit in units if unit.unit in unit.study.list_units_to_rank()]
    pairs = [(a, b) for a, b in combinations(ranked, 2) if a.study is b.study]
    panels = [estimate_panel_mean(a.turned - b.turned, a.study.crossed, is_share=False) for a, b in pairs]
    p = np.nan_to_num([compute_p_of_panel_mean_against_value(panel, anew) for panel in panels], nan=1.0)
    return [
        (a, b) if panel.mean > 0 else (b, a)
        for (a, b), panel, corrected in zip(pairs, panels, holm(p), strict=True)
        if corrected < ALPHA
    ]


def list_ranking_aims(rule: Rule, pair: tuple[PilotUnit, PilotUnit]) -> Iterator[Aim]:
    """List the aim of one pair of models that the pilot ranks: to be found again.

    Parameters
    ----------
    rule
        The rule.
    pair
        The better model first.

    Yields
    ------
    Aim
    """
    better, worse = pair
    study, like_these = better.study, rule.wordings == LIKE_THESE
    spreads = [unit.study.estimate_unit_sampling_spread(unit.unit) for unit in pair]
    spread = spreads[0].combine_for_difference(spreads[1]) if spreads[0] and spreads[1] else None
    forecast = build_mean_forecast(better.turned - worse.turned, study.crossed, spread)
    distance = float(estimate_panel_mean(better.turned - worse.turned, study.crossed, is_share=False).mean)
    crossed = study.crossed and like_these
    kept_forecast = forecast if crossed else replace(forecast, shared=0.0)

    def compute_order_power(items: int, wordings: int) -> float:
        return compute_mean_power(kept_forecast, distance, items, wordings, LEVEL, crossed=crossed)

    models = f"{better.labels[1]} > {worse.labels[1]}"
    yield Aim(rule, "holds, if models are as far apart as in the pilot", study.name, models, better.labels[2],
              better.measure, better.planned_wordings, compute_order_power)  # fmt: skip
