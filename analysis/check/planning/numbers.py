"""Plan for rules on a number: it is decided as the pilot's number is, if that is the true one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.check.outcomes import COUNTED, LEVEL, Outcome
from analysis.check.planning.aims import Aim, PilotUnit
from analysis.check.planning.powers import compute_mean_power, compute_power_from_p, compute_share_power
from analysis.check.rules import LIKE_THESE
from analysis.compare.measures import FLIP, FLIPS
from analysis.measures.reworded import ACCURACY
from analysis.statistics.reliability.flips import build_flip_forecast
from analysis.statistics.reliability.forecast import build_mean_forecast


def list_number_aims(outcomes: Sequence[Outcome], units: Sequence[PilotUnit], broken_level: float) -> Iterator[Aim]:
    """List the aims of a rule on a number: it is decided as the pilot's number is, if that is the true one.

    Parameters
    ----------
    outcomes
        Of the pilot.
    units
        Of the same measure, where it is one of wordings.
    broken_level
        One-sided level of "broken".

    Yields
    ------
    Aim
        For every number.
    """
    by_labels = {unit.labels: unit for unit in units}
    for outcome in outcomes:
        kept = outcome.number >= outcome.limit if outcome.rule.at_least == outcome.limit else (
            outcome.number <= outcome.limit
        )  # fmt: skip
        goal = f"{'holds' if kept else 'is broken'}, if it is as in the pilot"
        labels = outcome.study, outcome.model, outcome.condition, outcome.measure
        level, p = (LEVEL, outcome.p_holds) if kept else (broken_level, outcome.p_broken)
        if outcome.test == COUNTED:
            yield Aim(outcome.rule, goal, *labels, why_not="a count without uncertainty: decided by any size")
        elif np.isnan(p) or outcome.number == outcome.limit:
            why = "the number is the limit" if outcome.number == outcome.limit else "the pilot gives it no interval"
            yield Aim(outcome.rule, goal, *labels, why_not=why)
        elif labels in by_labels:
            yield _aim_at_number(by_labels[labels], outcome, goal, level)
        else:
            wordings = (max(round(outcome.n_wordings), 1) if outcome.n_wordings == outcome.n_wordings else 1,)

            def compute_table_power(items: int, _: int, p: float = p, n: int = outcome.n_items, level: float = level
                                    ) -> float:  # fmt: skip
                return compute_power_from_p(p, n, items, level)

            yield Aim(outcome.rule, goal, *labels, wordings, compute_table_power)


def _aim_at_number(unit: PilotUnit, outcome: Outcome, goal: str, level: float) -> Aim:
    """Plan for the mean of a measure of wordings, or for the share of items that flip."""
    answers, distance = unit.study.values[unit.unit], abs(outcome.number - outcome.limit)
    like_these = outcome.rule.wordings == LIKE_THESE
    if unit.measure == FLIPS:
        flips = build_flip_forecast(answers, FLIP)

        def compute_flip_power(items: int, wordings: int) -> float:
            share = flips.predict_flip_share(wordings) if flips else outcome.number
            is_same_side = (share - outcome.limit) * (outcome.number - outcome.limit) > 0
            return compute_share_power(share, outcome.limit, 1.0, items, level) if is_same_side else 0.0

        # What flips depends on how many wordings may: a limit is one for the pilot's number of them.
        n_wordings = max(round(outcome.n_wordings), 2)
        return Aim(outcome.rule, goal, *unit.labels, (n_wordings,), compute_flip_power)
    forecast = build_mean_forecast(answers, unit.study.crossed, unit.study.estimate_unit_sampling_spread(unit.unit))
    known = answers[~np.isnan(answers)]
    is_share = unit.study.measure == ACCURACY or bool(((known == 0) | (known == 1)).all())
    is_crossed = unit.study.crossed and like_these

    def compute_number_power(items: int, wordings: int) -> float:
        shared, item_variance = forecast.split_shared_and_item_variance(wordings)
        if is_share and not (is_crossed and shared > 0):
            ratio = min(item_variance / (outcome.number * (1 - outcome.number)), 1.0)
            return compute_share_power(outcome.number, outcome.limit, ratio or 1.0, items, level)
        kept_forecast = forecast if is_crossed else replace(forecast, shared=0.0)
        return compute_mean_power(kept_forecast, distance, items, wordings, level, crossed=is_crossed)

    return Aim(outcome.rule, goal, *unit.labels, unit.planned_wordings, compute_number_power)
