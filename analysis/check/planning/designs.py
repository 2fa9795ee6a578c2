"""Plan the size of a check: how many items and wordings each rule needs to be decided with a power.

A rule is planned for what it may be decided as. A number "holds" or is "broken" as the pilot's number is on one side of
the limit, if that number is the true one. A change "holds" if nothing changed, and is "broken" if answers worsen by
more than the rule allows: here and there, or in whole items (`powers`). Where a rule is about several models or
conditions, the one counts that needs most.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.check.outcomes import COUNTED, LEVEL, Outcome
from analysis.check.planning.aims import UNCHANGED, Aim, list_all_pilot_units, list_pilot_units_of_rule
from analysis.check.planning.answers import list_same_answers_aims_of_unit, list_units_that_rule_is_about
from analysis.check.planning.changes import list_not_worse_aims_of_unit
from analysis.check.planning.numbers import list_aims_of_number_rule
from analysis.check.planning.ranking import list_ranking_aims_of_model_pair, list_significantly_ordered_pilot_pairs
from analysis.check.rules import KURTOSIS, LIKE_THESE, NOT_WORSE, NUMBER, RANKING, SAME_ANSWERS, Rule, Rules
from analysis.compare.pairs import VALIDITY
from analysis.runs import Runs
from analysis.statistics.reliability.planning import find_least_items_with_power

LEAST_ITEMS, MOST_ITEMS = 30, 1_000_000  # of fewer, the tests have not been tried; more are not tried
FEWER = 2 / 3  # a design with more prompts is shown where it takes at most so many of the items of the last one
APART_BY = ("study", "wordings")  # fields of an aim, whose values are planned apart where no design decides all


@dataclass(frozen=True, slots=True)
class CheckDesign:
    """One design that decides all numbers of a rule: items, wordings of each, and the number that needs so many."""

    aim: Aim
    items: int
    wordings: int

    @property
    def n_prompts_per_unit(self) -> int:
        """Return the prompts of one model and condition."""
        return self.items * self.wordings


def list_designs_that_decide_rule(aims: Sequence[Aim], power: float) -> list[CheckDesign]:
    """List the designs that decide all numbers of a rule: the one with fewest prompts, then those with fewer items.

    Parameters
    ----------
    aims
        Of one rule, with one goal, each with a function of its power.
    power
        To reach by each.

    Returns
    -------
    list of CheckDesign
        Empty where none decides them all.
    """
    designs = []
    for wordings in sorted(set.intersection(*(set(aim.wordings) for aim in aims))):
        items, needy = float(LEAST_ITEMS), aims[0]
        for aim in aims:
            if np.isfinite(items):
                least = _find_least_items_of_aim(aim, wordings, power, int(items))
                items, needy = (least, aim) if least > items else (items, needy)
        if np.isfinite(items):
            designs.append(CheckDesign(needy, int(items), wordings))
    kept_designs: list[CheckDesign] = []
    for design in sorted(designs, key=lambda design: (design.n_prompts_per_unit, design.items)):
        if not kept_designs or design.items <= FEWER * kept_designs[-1].items:
            kept_designs.append(design)
    return kept_designs


def plan_fewest_groups_of_aims(aims: Sequence[Aim], power: float) -> Iterator[tuple[list[Aim], list[CheckDesign]]]:
    """Plan all numbers of a rule by one design; where none decides all, leave out those that no design decides.

    Parameters
    ----------
    aims, power
        As in `list_designs_that_decide_rule`.

    Yields
    ------
    (list of Aim, list of CheckDesign)
        Some of the numbers, and their designs: those of a study, or of one number of wordings, where no design decides
        all of them. At last those that no design decides even alone, and no design.
    """
    if designs := list_designs_that_decide_rule(aims, power):
        yield list(aims), designs
        return
    out_of_reach = [aim for aim in aims if not list_designs_that_decide_rule([aim], power)]
    if out_of_reach:
        parts = [[aim for aim in aims if aim not in out_of_reach]]
    else:
        field = next((name for name in APART_BY if len({getattr(aim, name) for aim in aims}) > 1), None)
        parts_by_value: dict[Any, list[Aim]] = {}
        for number, aim in enumerate(aims):
            parts_by_value.setdefault(getattr(aim, field) if field else number, []).append(aim)
        parts = list(parts_by_value.values())
    for part in filter(None, parts):
        yield from plan_fewest_groups_of_aims(part, power)
    if out_of_reach:
        yield out_of_reach, []


def _find_least_items_of_aim(aim: Aim, wordings: int, power: float, least: int) -> float:
    """Find the least items that decide one number in so many wordings."""
    compute_power = aim.compute_power
    assert compute_power is not None
    return find_least_items_with_power(lambda items: compute_power(items, wordings) >= power, least, MOST_ITEMS)


def list_aims_by_rule_and_goal(rules: Rules, pilot: Runs, change: float | None = None) -> list[list[Aim]]:
    """List what every rule may be decided as: the aims of one rule and goal together, in the order of the rules.

    Parameters
    ----------
    rules
        From a rules file.
    pilot
        A run like those that will be checked.
    change
        The true change to find; None: twice what each rule allows.

    Returns
    -------
    list of lists of Aim
        "Broken" is tested at the smallest level of Holm's correction over all numbers of the check, at every look.

    Raises
    ------
    InputError
        A rule is about nothing that the pilot has, the change is within the margin of a rule, or a measure without a
        range has no margin.
    """
    subjects = [_list_pilot_outcomes_units_or_pairs(rule, pilot) for rule in rules.rules]
    n_tests = max(sum(map(_is_counted_by_holm, itertools.chain(*subjects))), 1)
    broken_level = LEVEL / rules.looks / n_tests
    groups: list[list[Aim]] = []
    for rule, of_rule in zip(rules.rules, subjects, strict=True):
        by_goal: dict[str, list[Aim]] = {}
        for aim in _list_rule_aims(rule, of_rule, pilot, change, broken_level):
            by_goal.setdefault(aim.goal, []).append(aim)
        groups += by_goal.values()
    return groups


def _is_counted_by_holm(subject: Any) -> bool:
    """Tell whether Holm counts what a rule has a number of: not a number that is counted, or has no p."""
    return not isinstance(subject, Outcome) or (subject.test != COUNTED and not np.isnan(subject.p_broken))


def _list_pilot_outcomes_units_or_pairs(rule: Rule, pilot: Runs) -> list[Any]:
    """List what a rule has numbers of in the pilot: outcomes, models and conditions, or pairs of models."""
    if rule.kind == NUMBER:
        from analysis.check.numbers import compute_outcomes_of_number_rule

        return compute_outcomes_of_number_rule(rule, pilot)
    if rule.kind == SAME_ANSWERS:
        return list_units_that_rule_is_about(rule, pilot)
    units = list_pilot_units_of_rule(rule, pilot)
    if rule.kind != RANKING:
        return units
    return list_significantly_ordered_pilot_pairs(units, like_these=rule.wordings == LIKE_THESE)


def _list_rule_aims(
    rule: Rule, subjects: Sequence[Any], pilot: Runs, change: float | None, broken_level: float
) -> Iterator[Aim]:
    """List the aims of one rule."""
    if rule.kind == NUMBER:
        yield from list_aims_of_number_rule(subjects, list_all_pilot_units(pilot), broken_level)
    elif rule.kind == RANKING and not subjects:
        yield Aim(
            rule, "holds", "", "", "", "",
            why_not="the pilot has no two models whose order it finds: there is nothing to find again",
        )  # fmt: skip
    for subject in subjects if rule.kind != NUMBER else ():
        if rule.kind == KURTOSIS or rule.target == VALIDITY:
            goal, why = (
                ("is broken", "how a kurtosis will change is not known")
                if rule.kind == KURTOSIS
                else (UNCHANGED, "how far validity moves is not foreseen")
            )
            study, model, condition, measure = subject.study_model_condition_and_measure
            yield Aim(rule, goal, study, model, condition, measure, why_not=why)
        elif rule.kind == NOT_WORSE:
            yield from list_not_worse_aims_of_unit(rule, subject, change, broken_level)
        elif rule.kind == SAME_ANSWERS:
            yield from list_same_answers_aims_of_unit(rule, subject, change, broken_level)
        else:
            yield from list_ranking_aims_of_model_pair(rule, subject)
