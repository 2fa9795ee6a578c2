"""Hold a number that a rule is about, before it is told which side of the limit speaks for the rule."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.check.limits.tails import Tails
from analysis.check.rules import Rule


@dataclass(frozen=True, slots=True)
class Number:
    """Hold a number, what it is of, and what it says of the rule's limit; no tails: it has no uncertainty."""

    study: str
    model: str
    condition: str
    measure: str
    value: float
    tails: Tails | None
    n_items: int
    n_wordings: float
    note: str = ""


def get_limit_of_rule(rule: Rule) -> float:
    """Return the limit of a rule on a number."""
    return rule.at_least if rule.at_least == rule.at_least else rule.at_most
