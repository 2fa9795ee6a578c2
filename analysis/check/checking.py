"""Check all rules of a file on a run, and hold what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.check.outcomes import (
    BROKEN,
    CANNOT_TELL,
    HOLDS,
    Outcome,
    choose_decision_of_each_outcome,
    correct_p_values_by_holm,
    decide_rule_from_outcomes,
)
from analysis.check.rules import FAIL, NUMBER, Rule, Rules
from analysis.runs import Runs
from ground.errors import InputError, format_nearest_name_hint, join_first_names, shorten_to_one_line

STATUS_BROKEN, STATUS_CANNOT_TELL = 3, 4
SEVERITY = (BROKEN, CANNOT_TELL, HOLDS)  # the worst first


@dataclass(frozen=True, slots=True)
class DecidedOutcome:
    """An outcome, what is decided about it, and its p of "the limit is kept" after Holm over the check."""

    outcome: Outcome
    decision: str
    p_broken_holm: float


@dataclass(frozen=True, slots=True)
class DecidedRule:
    """A rule, what is decided about it, and its outcomes, the worst first."""

    rule: Rule
    decision: str
    outcomes: tuple[DecidedOutcome, ...]

    @property
    def is_failed(self) -> bool:
        """Whether the rule lets the check fail: it is broken, or cannot be told and says that this fails."""
        return self.decision == BROKEN or (self.decision == CANNOT_TELL and self.rule.cannot_tell == FAIL)


@dataclass(frozen=True, slots=True)
class Check:
    """What came out of a check.

    Attributes
    ----------
    rules : Rules
        The file of rules.
    run, against : str
        The run folder and the baseline, as the call names them; no baseline: empty.
    results : tuple of DecidedRule
        In the order of the file.
    notes : tuple of str
        What is left out, a line each.
    """

    rules: Rules
    run: str
    against: str
    results: tuple[DecidedRule, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """Return 3 where a rule is broken, else 4 where one cannot be told and says that this fails, else 0."""
        if any(result.decision == BROKEN for result in self.results):
            return STATUS_BROKEN
        return STATUS_CANNOT_TELL if any(result.is_failed for result in self.results) else 0


def run_and_decide_rules_with_joint_holm(
    rules: Rules, make_outcomes: Callable[[Rule], Sequence[Outcome]]
) -> tuple[DecidedRule, ...]:
    """Test all rules, and decide them together: Holm counts the outcomes of all.

    Parameters
    ----------
    rules
        From `rules_file.read_rules_file`.
    make_outcomes
        Tests one rule.

    Returns
    -------
    tuple of DecidedRule
        In the order of the file.
    """
    outcomes_by_rule = [list(make_outcomes(rule)) for rule in rules.rules]
    outcomes = [outcome for of_rule in outcomes_by_rule for outcome in of_rule]
    decided = iter(
        map(
            DecidedOutcome,
            outcomes,
            choose_decision_of_each_outcome(outcomes, rules.looks),
            correct_p_values_by_holm(outcomes),
        )
    )
    results = []
    for rule, of_rule in zip(rules.rules, outcomes_by_rule, strict=True):
        decided_of_rule = tuple(sorted((next(decided) for _ in of_rule), key=_build_sort_key_worst_outcome_first))
        decision = decide_rule_from_outcomes([outcome.decision for outcome in decided_of_rule])
        results.append(DecidedRule(rule, decision, decided_of_rule))
    return tuple(results)


def _build_sort_key_worst_outcome_first(decided: DecidedOutcome) -> tuple[int, float, float]:
    """Rank an outcome: the worst decision first, then the smallest p of being broken, then how far within the limit."""
    outcome = decided.outcome
    above = outcome.number - outcome.limit
    room = -above if outcome.rule.at_most == outcome.rule.at_most else above
    return SEVERITY.index(decided.decision), *(np.nan_to_num([outcome.p_broken, room], nan=np.inf).tolist())


def build_rule_testing_function_and_notes(
    runs: Runs, baseline: Runs | None
) -> tuple[Callable[[Rule], list[Outcome]], list[str]]:
    """Build the function that tests a rule on a run.

    Parameters
    ----------
    runs
        The run.
    baseline
        What changes are told against; None: there is none.

    Returns
    -------
    tuple
        The function, and the notes on what the run and the baseline do not share; testing may add to them.
    """
    from analysis.compare.pairing import pair_studies_of_two_run_sets

    paired = (
        None
        if baseline is None
        else pair_studies_of_two_run_sets(runs, baseline, side_names=("the run", "the baseline"))
    )

    def compute_outcomes_of_rule(rule: Rule) -> list[Outcome]:
        if rule.kind == NUMBER or paired is None:  # without a baseline, there is no other rule
            from analysis.check.numbers import compute_outcomes_of_number_rule

            return compute_outcomes_of_number_rule(rule, runs)
        from analysis.check.changes import compute_outcomes_of_change_rule

        return compute_outcomes_of_change_rule(rule, paired)

    return compute_outcomes_of_rule, [] if paired is None else paired.notes


def refuse_unknown_rule_models_and_studies(rule: Rule, runs: Runs) -> None:
    """Refuse a rule about a model or a study that the run does not have; if it is on a change, about a condition, too.

    Conditions of a number are those of its table (`analysis.check.limits`).

    Parameters
    ----------
    rule
        The rule.
    runs
        The run.

    Raises
    ------
    InputError
        With the nearest name.
    """
    conditions = dict.fromkeys(
        name for study, of_study in runs.info["conditions"].items() if rule.study in ("", study) for name in of_study
    )
    for key, rule_names, names in (
        ("models", rule.models, runs.info["models"]),
        ("study", (rule.study,) if rule.study else (), runs.info["studies"]),
        ("conditions", () if rule.kind == NUMBER else rule.conditions, conditions),
    ):
        for name in rule_names:
            if name not in names:
                raise InputError(
                    f"rule {shorten_to_one_line(repr(rule.name))}, {key}: the run has no "
                    f"{shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, names)}; it has "
                    f"{join_first_names(list(names), 5)}"
                )
