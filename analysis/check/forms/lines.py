"""Say in lines what came out of a check: for the terminal, and in parts for the other forms."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from shlex import quote

from analysis.check.checking import SEVERITY, Check, DecidedOutcome, DecidedRule
from analysis.check.outcomes import BROKEN, CANNOT_TELL, COUNTED, HOLDS, Outcome
from analysis.check.rules import KURTOSIS, NOT_WORSE, RANKING
from analysis.reporting.words import format_quantity, format_significant_digits
from ground.errors import format_message_on_one_line
from ground.progress import colour_text

PHRASES = {HOLDS: ("holds", "hold"), BROKEN: ("is broken", "are broken"), CANNOT_TELL: ("cannot be told",) * 2}
COLOURS = {HOLDS: "green", BROKEN: "red", CANNOT_TELL: "yellow"}


def describe_check(check: Check) -> Iterator[str]:
    """Write a line per rule: what is decided, the number that is worst with its interval, and the limit.

    Parameters
    ----------
    check
        The check.

    Yields
    ------
    str
        A line; after those of the rules, one counts them, and another one says what to do where one cannot be told.
    """
    for result in check.results:
        decision = colour_text(f"{result.decision:<12}", COLOURS[result.decision], sys.stdout)
        yield f"{decision}{format_message_on_one_line(describe_rule_and_worst_outcome(result))}"
    yield summarise_check(check)
    if (command := format_command_to_plan_check(check)) is not None:
        yield f"how many items and wordings would tell: {command}"


def format_command_to_plan_check(check: Check) -> str | None:
    """Write the command that says how large a check must be to tell, where a rule cannot be told."""
    if all(result.decision != CANNOT_TELL for result in check.results):
        return None
    return format_message_on_one_line(f"waver plan {quote(check.run)} --check {quote(str(check.rules.path))}")


def describe_rule_and_worst_outcome(result: DecidedRule) -> str:
    """Write the rule, its worst outcome, and how many others there are.

    >>> from analysis.check.rules import Rule
    >>> describe_rule_and_worst_outcome(DecidedRule(Rule("ranking as before", "order", "ranking"), "cannot tell", ()))
    'order (ranking as before): there is nothing to test'
    """
    rule = result.rule
    name = rule.name if rule.name == rule.text else f"{rule.name} ({rule.text})"
    if not result.outcomes:
        return f"{name}: there is nothing to test"
    return f"{name}: {describe_outcome(result.outcomes[0])}{_describe_outcome_counts_by_decision(result)}"


def describe_outcome(decided: DecidedOutcome) -> str:
    """Write what an outcome is of, its number with interval and limit, and its test."""
    outcome = decided.outcome
    note = f"; {outcome.note}" if outcome.note else ""
    number = f"{format_number_of_outcome(outcome)} {format_interval_of_outcome(outcome)}".rstrip()
    return (
        f"{name_unit_of_outcome(outcome)}: {number}, "
        f"limit: {format_limit_of_outcome(outcome)}; {describe_test_of_outcome(decided)}{note}"
    )


def name_unit_of_outcome(outcome: Outcome) -> str:
    """Write what an outcome is of: model, condition, study, and the measure where the rule does not say.

    Parameters
    ----------
    outcome
        The outcome.

    Returns
    -------
    "gpt2 (base) in opinions", or "gpt2 > opt (base) in questions, accuracy".
    """
    condition = f" ({outcome.condition})" if outcome.condition else ""
    condition += f" in {outcome.study}" if outcome.study else ""
    is_told = outcome.measure in ("", outcome.rule.kind, outcome.rule.target, outcome.rule.target.partition(".")[2])
    return f"{outcome.model}{condition}{'' if is_told else f', {outcome.measure}'}"


def format_number_of_outcome(outcome: Outcome) -> str:
    """Write the number of an outcome; of a change, which sign is better, and the number before."""
    if outcome.number != outcome.number:
        return "no number"
    number = _format_on_its_side_of_limit(outcome.number, outcome, 4)
    if outcome.rule.kind not in (NOT_WORSE, RANKING, KURTOSIS):
        return number
    details = ["+ is better"] if outcome.rule.kind == NOT_WORSE else []
    details += [f"before: {format_significant_digits(outcome.before, 4)}"] if outcome.before == outcome.before else []
    aside = f" ({', '.join(details)})" if details else ""
    return f"{'+' if outcome.number > 0 else ''}{number}{aside}"


def format_limit_of_outcome(outcome: Outcome) -> str:
    """Write what an outcome is compared with, and on which side of it the number must be."""
    side = "at most" if outcome.rule.at_most == outcome.rule.at_most else "at least"
    if outcome.rule.kind == KURTOSIS:
        return "as before"
    return f"{'above' if outcome.rule.kind == RANKING else side} {outcome.limit:.10g}"


def format_interval_of_outcome(outcome: Outcome) -> str:
    """Write the 95 % interval of an outcome, or that it has none; a counted number needs none."""
    if outcome.lower != outcome.lower:
        return "" if outcome.test == COUNTED else "[no interval]"
    sign = "+" if outcome.rule.kind in (NOT_WORSE, RANKING) else ""
    lower, upper = (_format_on_its_side_of_limit(end, outcome, 3, sign) for end in (outcome.lower, outcome.upper))
    return f"[{lower}, {upper}]"


def _format_on_its_side_of_limit(number: float, outcome: Outcome, digits: int, sign: str = "") -> str:
    """Round a number to so many digits, or to more where it would seem to meet the limit, or to pass it."""
    limit = outcome.limit
    for n_digits in range(digits, 18):
        rounded = float(f"{number:.{n_digits}g}")
        if (rounded > limit, rounded < limit) == (number > limit, number < limit) or math.isclose(number, limit):
            break
    return format_significant_digits(number, n_digits, sign)


def describe_test_of_outcome(decided: DecidedOutcome) -> str:
    """Write how an outcome was tested: p of what is decided, the test, and on how many items and wordings."""
    outcome = decided.outcome
    p = {BROKEN: decided.p_broken_holm, HOLDS: outcome.p_holds}.get(decided.decision, float("nan"))
    after = " after Holm" if decided.decision == BROKEN else ""
    p_text = (
        "" if outcome.test == COUNTED or p != p else f"p < .0001{after}, " if p < 0.0001 else f"p = {p:.2g}{after}, "
    )
    sized = f", {format_quantity(outcome.n_items, 'item')}" if outcome.n_items > 0 else ""
    wordings = f" in {outcome.n_wordings:.3g} wordings each" if sized and outcome.n_wordings > 1 else ""
    return f"{p_text}{outcome.test}{sized}{wordings}"


def _describe_outcome_counts_by_decision(result: DecidedRule) -> str:
    """Count all outcomes of a rule by decision, where there are several."""
    if len(result.outcomes) == 1:
        return ""
    counts = Counter(decided.decision for decided in result.outcomes)
    listed = ", ".join(f"{counts[word]:,} {PHRASES[word][counts[word] > 1]}" for word in SEVERITY if counts[word])
    return f" (the worst of {len(result.outcomes):,}: {listed})"


def summarise_check(check: Check) -> str:
    """Count the rules by decision, and say what lets the check fail although it cannot be told.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    A line: "3 rules: 1 is broken, 1 cannot be told (which passes), 1 holds".
    """
    counts = Counter(result.decision for result in check.results)
    failing = sum(result.is_failed and result.decision == CANNOT_TELL for result in check.results)
    passes = {0: " (which passes)", counts[CANNOT_TELL]: " (which fails)"}.get(
        failing, f" (which fails for {failing:,})"
    )
    listed = ", ".join(
        f"{counts[word]:,} {PHRASES[word][counts[word] > 1]}{passes if word == CANNOT_TELL else ''}"
        for word in SEVERITY
        if counts[word]
    )
    return f"{format_quantity(len(check.results), 'rule')}: {listed}"
