"""Say in words what each rule of a file tests; no run is needed."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.check.grammar import look_up_numeric_column_of_rule
from analysis.check.rules import (
    DEFAULT_MARGIN,
    FAIL,
    KURTOSIS,
    LIKE_THESE,
    NOT_WORSE,
    NUMBER,
    RANKING,
    SAME_ANSWERS,
    Rule,
    Rules,
)
from analysis.reporting.words import format_percent, join_names
from ground.errors import format_message_on_one_line


def explain_rules(rules: Rules) -> Iterator[str]:
    """Explain every rule of a file, and how all of them are decided together.

    Parameters
    ----------
    rules
        From `rules_file.read_rules_file`.

    Yields
    ------
    str
        A line.
    """
    for rule in rules.rules:
        yield format_message_on_one_line(rule.name if rule.name == rule.text else f"{rule.name}: {rule.text}")
        for line in _explain_rule(rule):
            yield f"  {format_message_on_one_line(line)}"
    yield "Levels"
    looks = "" if rules.looks == 1 else f" / {rules.looks:,}, as this check is made {rules.looks:,} times"
    yield f"  Broken: the p that the limit is kept is below .025{looks}, after Holm over all numbers of the check."
    yield "  Holds: the p that the limit is not kept is below .025, for every number of the rule."
    yield "  Cannot tell: neither. A number without uncertainty is decided as it is."
    yield "  Of a measure without a range, rare items far out that the run does not hold are not allowed for."


def _explain_rule(rule: Rule) -> Iterator[str]:
    """Explain one rule in sentences: what is tested, of what, for which wordings, and what if it cannot be told."""
    yield _explain_tested_number_and_limit(rule)
    yield _explain_scope_of_rule(rule)
    if rule.wordings == LIKE_THESE:
        yield (
            "It is decided for wordings like these: what other wordings would give is a part of the uncertainty. Few "
            "wordings that all items share tell little of others: a rare one may be answered quite otherwise."
        )
    else:
        yield "It is decided for these wordings: it says nothing about others."
    yield f"Where it cannot be told, the check {'fails (exit status 4)' if rule.cannot_tell == FAIL else 'passes'}."


def _explain_tested_number_and_limit(rule: Rule) -> str:
    """Say which number is tested against which limit."""
    if rule.kind == NUMBER:
        bound = f"at least {rule.at_least:g}" if rule.at_least == rule.at_least else f"at most {rule.at_most:g}"
        table, dot, column = rule.target.partition(".")
        if not dot:
            return f"Tests whether the measure {rule.target} is {bound}."
        entry = look_up_numeric_column_of_rule(rule.target)
        unit = f" ({entry.unit})" if entry.unit else ""
        options = ", ".join(f"{name} = {value}" for name, value in rule.parameters.items())
        options_text = f", made with {options}," if options else ""
        return f"Tests whether column {column} of table {table}{options_text} is {bound}: {entry.meaning}{unit}."
    if rule.kind == NOT_WORSE:
        margin = (
            f"{rule.margin:g} (of its range, where it has one)"
            if rule.margin == rule.margin
            else f"{format_percent(DEFAULT_MARGIN)} of its range, the margin where none is given"
        )
        return f"Tests whether {rule.target} is worse than in the baseline, on the same items, by more than {margin}."
    if rule.kind == KURTOSIS:
        return (
            f"Tests whether the kurtosis of {rule.target} over items, which is high where many items have the same "
            "number, is another one than in the baseline. It never holds: it is broken, or cannot be told."
        )
    if rule.kind == SAME_ANSWERS:
        return _explain_rule_same_answers(rule)
    return (
        "Tests, for every pair of models whose order the baseline finds, whether it is the same now. Broken: the "
        "reverse is found."
    )


def _explain_rule_same_answers(rule: Rule) -> str:
    """Say what counts as the same answers: for wordings like these, it is no share of items."""
    if rule.wordings != LIKE_THESE:
        return (
            f"Tests whether at least {100 * rule.at_least:g} % of the answers are those of the baseline to the "
            "same wordings, on average over items. Where wordings were drawn anew, it is a rule on wordings like "
            "these: on how far shares of answers moved."
        )
    return (
        "Tests how far every item's shares of answers moved from those in the baseline, beyond what rewording moves: 1 "
        f"less half the squared distance is at least {rule.at_least:g}. It is no share of items or of answers: an item "
        "that is always answered otherwise now counts 1 against it; one of which half of the answers are other ones, "
        "0.25."
    )


def _explain_scope_of_rule(rule: Rule) -> str:
    """Say which models, conditions and study a rule is about."""
    models = f"model {join_names(rule.models)}" if rule.models else "every model"
    conditions = f"condition {join_names(rule.conditions)}" if rule.conditions else "every condition"
    study = f" of study {rule.study}" if rule.study else ""
    things = {NUMBER: "row of them", RANKING: "pair of models"}.get(rule.kind, "of them")
    return f"It is about {models} under {conditions}{study}; each {things} is a number of its own."
