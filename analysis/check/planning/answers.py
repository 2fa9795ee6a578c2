"""Plan for rules on the answers themselves: that a share of them is the same as before.

In the same wordings, an item counts by its share of answers that are as before, and the test is binomial. In fresh
ones, it counts by its change (`analysis.check.planning.item_changes`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import bdtrc

from analysis.check.answers import Answers, read_answers_by_study
from analysis.check.outcomes import LEVEL
from analysis.check.planning.aims import UNCHANGED, Aim
from analysis.check.planning.item_changes import (
    ChangeForecast,
    compute_change_test_power,
    compute_mean_and_variance_of_item_changes,
    count_item_answers_by_option,
    estimate_mean_power_sums_of_option_shares,
    forecast_item_changes_for_share_apart,
)
from analysis.check.planning.powers import EVERYWHERE, IN_WHOLE_ITEMS, compute_power_of_binomial_test
from analysis.check.rules import LIKE_THESE, Rule
from analysis.check.same_answers import compute_p_with_extreme_wording_added
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.runs import Runs
from analysis.statistics.reliability.planning import WORDINGS
from ground.errors import InputError

SAME = "same answers"
LEAST_SHARED = 3  # wordings that all items share, to leave one out


@dataclass(frozen=True, slots=True)
class AnsweredUnit:
    """Hold one model and condition of a pilot by its answers, and whether these are from samples."""

    answers: Answers
    place: int
    sampled: bool

    @property
    def study_model_condition_and_measure(self) -> tuple[str, str, str, str]:
        """Return study, model, condition, and what stands for the measure."""
        return self.answers.study, *self.answers.units[self.place], SAME


def list_units_that_rule_is_about(rule: Rule, pilot: Runs) -> list[AnsweredUnit]:
    """List the models and conditions whose answers a rule is about.

    Parameters
    ----------
    rule
        The rule.
    pilot
        The run.

    Returns
    -------
    list of AnsweredUnit

    Raises
    ------
    InputError
        There are none.
    """
    sampled_units = {
        (study.name, *study.units[unit])
        for study in read_reworded_studies(pilot)
        for unit in range(len(study.units))
        if study.name_kind_of_unit_samples(unit)
    }
    units = [
        AnsweredUnit(answers, place, (answers.study, model, condition) in sampled_units)
        for answers in read_answers_by_study(pilot).values()
        for place, (model, condition) in enumerate(answers.units)
        if rule.is_about_unit(answers.study, model, condition)
    ]
    if not units:
        raise InputError(
            f"rule {rule.name!r}: the pilot has no answers of what it is about; scores without a range are none"
        )
    return units


def list_same_answers_aims_of_unit(
    rule: Rule, unit: AnsweredUnit, change: float | None, broken_level: float
) -> Iterator[Aim]:
    """List the aims of "same answers as before": that nothing changed, and that more did than the rule allows.

    Parameters
    ----------
    rule
        The rule.
    unit
        What it is about.
    change
        Share of the answers that change; None: twice what the rule allows, or all of them.
    broken_level
        One-sided level of "broken".

    Yields
    ------
    Aim
    """
    differs = min(2 * (1 - rule.at_least), 1.0) if change is None else change
    aims = _list_aims_of_answer_change(rule, unit, differs, broken_level)
    if 1 - rule.at_least < differs <= 1:
        yield from aims
        return
    why = "no more than all answers can change" if differs > 1 else "the rule allows it; give a larger --change"
    goal = _name_goals_of_answer_change(differs)[0]
    yield Aim(rule, goal, *unit.study_model_condition_and_measure, why_not=why)
    yield from (aim for aim in aims if aim.goal == UNCHANGED)


def _name_goals_of_answer_change(differs: float) -> tuple[str, str]:
    """Name what is to be found where so many of the answers change, here and there and in whole items."""
    everywhere, in_whole_items = (
        f"is broken, if {differs:.3g} of the answers change {spread}" for spread in (EVERYWHERE, IN_WHOLE_ITEMS)
    )
    return everywhere, in_whole_items


def _list_aims_of_answer_change(rule: Rule, unit: AnsweredUnit, differs: float, broken_level: float) -> Iterator[Aim]:
    """List the aims for a share of the answers that changes, whether or not it can."""
    if rule.wordings == LIKE_THESE and not unit.answers.crossed:
        yield from _list_aims_of_answer_distance(rule, unit, differs, broken_level)
        return
    codes, labels = unit.answers.codes[unit.place], unit.study_model_condition_and_measure
    n_orders = unit.answers.n_orders  # of one wording, which they do not make several
    is_asked = (~np.isnan(codes)).reshape(len(codes), codes.shape[1] // n_orders, n_orders).any(axis=2)
    planned = WORDINGS if int(is_asked.sum(axis=1).max(initial=0)) > 1 else (1,)
    if unit.sampled:
        yield Aim(rule, UNCHANGED, *labels, why_not="the pilot does not tell how often samples change an answer")
    else:

        def compute_power_if_unchanged(items: int, wordings: int) -> float:
            p_of_wordings = 0.0
            if rule.wordings == LIKE_THESE:  # which all items share
                p_of_wordings = compute_p_with_extreme_wording_added(0.0, 0.0, wordings, np.nan, rule.at_least)
            return float(max(rule.at_least**items, p_of_wordings) < LEVEL)

        yield Aim(rule, UNCHANGED, *labels, planned, compute_power_if_unchanged)
    for goal, is_whole in zip(_name_goals_of_answer_change(differs), (False, True), strict=True):
        if rule.wordings == LIKE_THESE and not is_whole:  # that hardly moves shares of answers
            continue

        def compute_power_if_changed(items: int, wordings: int, is_whole: bool = is_whole) -> float:
            ratio = 1.0 if is_whole else 1 / wordings
            power = compute_power_of_binomial_test(1 - differs, rule.at_least, ratio, items, broken_level)
            if rule.wordings != LIKE_THESE:
                return power
            return min(
                power, _compute_power_to_find_changed_items(differs, rule.at_least, items, wordings, broken_level)
            )

        yield Aim(rule, goal, *labels, planned, compute_power_if_changed)


def _compute_power_to_find_changed_items(
    differs: float, limit: float, n_items: int, n_wordings: int, level: float
) -> float:
    """Compute the power to find changed items in wordings that all share, with an odd one more."""

    def is_change_found(n_changed: int) -> bool:
        change = n_changed / n_items
        error = float(np.sqrt(change * (1 - change) / n_items))
        freedom = min(n_items, n_wordings) - 1
        return compute_p_with_extreme_wording_added(change, error, n_wordings, freedom, limit, is_broken=True) < level

    if n_wordings < LEAST_SHARED or not is_change_found(n_items):
        return 0.0
    return float(bdtrc(bisect_left(range(n_items), True, key=is_change_found) - 1, n_items, differs))


def _list_aims_of_answer_distance(rule: Rule, unit: AnsweredUnit, differs: float, broken_level: float) -> Iterator[Aim]:
    """Plan for answers in fresh wordings: how far the shares of answers are apart."""
    goal, labels = _name_goals_of_answer_change(differs)[1], unit.study_model_condition_and_measure
    # One order of the options: a wording in several orders is one wording, so this plans too many rather than too few.
    codes = unit.answers.codes[unit.place][:, :: unit.answers.n_orders]
    counts = count_item_answers_by_option(codes)
    if len(counts) < 2:
        for words in (UNCHANGED, goal):
            why = "it takes two items with four wordings each to tell how far fresh ones move answers"
            yield Aim(rule, words, *labels, why_not=why)
        return
    several = tuple(number for number in WORDINGS if number > 1)
    most, _ = compute_mean_and_variance_of_item_changes(
        estimate_mean_power_sums_of_option_shares(counts), counts.shape[1], 1.0, 2
    )

    @cache
    def forecast_changes(difference: float, wordings: int) -> ChangeForecast:
        return forecast_item_changes_for_share_apart(counts, difference, wordings)

    def compute_power_if_unchanged(items: int, wordings: int) -> float:
        return compute_change_test_power(forecast_changes(0.0, wordings), rule.at_least, items, LEVEL)

    def compute_power_if_changed(items: int, wordings: int) -> float:
        return compute_change_test_power(forecast_changes(differs, wordings), rule.at_least, items, broken_level)

    yield Aim(rule, UNCHANGED, *labels, several, compute_power_if_unchanged)
    if differs < most:
        yield Aim(rule, goal, *labels, several, compute_power_if_changed)
    else:
        yield Aim(rule, goal, *labels, why_not=f"items that change differ by {max(most, 0):.2g} at most")
