"""Conditions that ask the same prompts in several ways: for the probability of every option, or for a text."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

# What the fields of a condition say about the way of answering; all others say what was asked.
WAY = frozenset({"answer", "temperature", "samples", "max_tokens", "effort", "share"})
Conditions = Mapping[str, Mapping[str, Any]]


def twin(conditions: Conditions, name: str) -> str | None:
    """The condition that asks the same prompts for option probabilities, None where there is none."""
    if "answer" not in conditions[name]:
        return None
    asked = _prompt(conditions[name])
    same = (other for other, fields in conditions.items() if "answer" not in fields and _prompt(fields) == asked)
    return next(same, None)


def subsamples(conditions: Conditions, units: Set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Of the (model, condition) pairs asked, those that ask a share of the wordings of which the twin asks all.

    They are there to be compared with it row by row. Beside it in a table of ranges and standard deviations they would
    look stable for no other reason than that fewer wordings were asked.
    """
    small = {name: twin(conditions, name) for name, fields in conditions.items() if (fields.get("share") or 1) < 1}
    return {(model, name) for model, name in units if (model, small.get(name)) in units}


def _prompt(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in WAY}
