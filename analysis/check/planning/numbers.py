"""Plan for rules on a number: it is decided as the pilot's number is, if that is the true one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.check.outcomes import COUNTED, LEVEL, Outcome
from analysis.check.planning.aims import Aim, PilotUnit
from analysis.check.planning.powers import (
    compute_power_of_binomial_test,
    compute_power_of_gaffke_test,
    compute_power_of_mean_test,
    compute_power_of_n_items_from_pilot_p,
    compute_power_with_one_item_more,
)
from analysis.check.rules import LIKE_THESE
from analysis.measures.reworded.flips import FLIPS
from analysis.statistics.reliability.forecast import build_mean_error_forecast
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.significance import ROUNDING
from analysis.statistics.skewness import compute_scaled_skewness

AS_IN_PILOT = 0  # wordings, of a column that does not say of how many it is


def list_aims_of_number_rule(
    outcomes: Sequence[Outcome], units: Sequence[PilotUnit], broken_level: float
) -> Iterator[Aim]:
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
    by_labels = {unit.study_model_condition_and_measure: unit for unit in units}
    for outcome in outcomes:
        is_limit = abs(outcome.number - outcome.limit) <= ROUNDING
        is_kept = outcome.number >= outcome.limit if outcome.rule.at_least == outcome.limit else (
            outcome.number <= outcome.limit
        )  # fmt: skip
        is_kept |= is_limit
        goal = f"{'holds' if is_kept else 'is broken'}, if it is as in the pilot"
        labels = outcome.study, outcome.model, outcome.condition, outcome.measure
        level, p = (LEVEL, outcome.p_holds) if is_kept else (broken_level, outcome.p_broken)
        if outcome.test == COUNTED:
            yield Aim(outcome.rule, goal, *labels, why_not="a count without uncertainty: decided by any size")
        elif np.isnan(p) or is_limit:
            why = "the number is the limit" if is_limit else "the pilot gives it no interval"
            yield Aim(outcome.rule, goal, *labels, why_not=why)
        elif labels in by_labels:
            yield _build_aim_of_mean_or_flips(by_labels[labels], outcome, goal, level)
        elif not outcome.n_items:
            yield Aim(outcome.rule, goal, *labels, why_not="the table does not say of how many items it is")
        else:
            wordings = (max(round(outcome.n_wordings), 1) if outcome.n_wordings == outcome.n_wordings else AS_IN_PILOT,)

            def compute_power_of_table_number(
                items: int, _: int, p: float = p, n: int = outcome.n_items, level: float = level
            ) -> float:
                return compute_power_of_n_items_from_pilot_p(p, n, items, level)

            yield Aim(outcome.rule, goal, *labels, wordings, compute_power_of_table_number)


def _build_aim_of_mean_or_flips(unit: PilotUnit, outcome: Outcome, goal: str, level: float) -> Aim:
    """Plan for the mean of a measure of wordings, or for the share of items that flip."""
    labels, answers = unit.study_model_condition_and_measure, unit.study.values[unit.unit]
    like_these = outcome.rule.wordings == LIKE_THESE
    if unit.measure == FLIPS:

        def compute_power_of_flip_share(items: int, _: int) -> float:
            return compute_power_of_binomial_test(outcome.number, outcome.limit, 1.0, items, level)

        # How many items flip depends on the wordings: the limit is one for as many as the pilot has.
        wordings = (max(round(outcome.n_wordings), 2),)
        return Aim(outcome.rule, goal, *labels, wordings, compute_power_of_flip_share)
    forecast = build_mean_error_forecast(
        answers, unit.study.crossed, unit.study.estimate_unit_sampling_spread(unit.unit)
    )
    valid_answers = answers[~np.isnan(answers)]
    is_single_share = unit.study.has_single_wording and bool(((valid_answers == 0) | (valid_answers == 1)).all())
    is_crossed = unit.study.crossed and like_these
    kept_forecast = forecast if is_crossed else replace(forecast, shared=0.0)
    means = estimate_panel_mean(answers, unit.study.crossed).means
    skewness = compute_scaled_skewness(means) * np.sqrt(len(means))

    def compute_power_of_measure(items: int, wordings: int) -> float:
        if is_single_share:
            return compute_power_of_binomial_test(outcome.number, outcome.limit, 1.0, items, level)
        if unit.study.bounds:
            shared, of_items = kept_forecast.split_shared_and_item_variance(wordings)
            if is_crossed:
                error = float(np.sqrt(shared + of_items / items))
                return compute_power_with_one_item_more(
                    outcome.number, outcome.limit, error, min(items, wordings), level
                )
            deviation = float(np.sqrt(of_items))
            return compute_power_of_gaffke_test(outcome.number, outcome.limit, deviation, skewness, items, level)
        distance = abs(outcome.number - outcome.limit)
        return compute_power_of_mean_test(kept_forecast, distance, items, wordings, level, crossed=is_crossed)

    return Aim(outcome.rule, goal, *labels, unit.plannable_wording_counts, compute_power_of_measure)
