"""Take conditions together in which every model was asked in its own form: plain for one, chat for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.runs import Runs

OWN = "own form"
FORM = frozenset({"form", "prompt_hash"})  # fields of a condition that follow from the form of its prompts


def asked(runs: Runs) -> list[tuple[str, str, str]]:
    """List study, model and condition of everything that was asked, in order."""
    return runs.execute("SELECT study, model, condition FROM units ORDER BY position").fetchall()


def joined(runs: Runs) -> dict[str, str]:
    """Find the conditions that differ in nothing but the form of the prompt, and have no model in common.

    A correlation is over models, and every model is asked in the form that it was made for. Where a model was asked in
    two forms, which of them counts would be a choice: then all stay apart.

    Returns
    -------
    dict
        Condition -> its name with "own form" in place of the form; conditions that stay apart are not in it.
    """
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for unit in asked(runs):
        groups.setdefault(_shared(unit[2], _fields(runs, unit).get("form")), []).append(unit)
    return {
        condition: name
        for name, units in groups.items()
        if _alike(runs, units) and len({condition for *_, condition in units}) > 1
        for *_, condition in units
    }


def _fields(runs: Runs, unit: Sequence[str]) -> Mapping[str, Any]:
    study, _, condition = unit
    fields: Mapping[str, Any] = runs.info["conditions"][study][condition]
    return fields


def _shared(condition: str, form: object) -> str:
    """Put "own form" in place of the form into the name of a condition.

    >>> _shared("chat/4-shot", "chat")
    'own form/4-shot'
    """
    return "/".join(OWN if part == form else part for part in condition.split("/"))


def _alike(runs: Runs, units: Sequence[tuple[str, str, str]]) -> bool:
    """Tell whether every model was asked under one of these conditions, and they differ in their form alone."""
    own: dict[str, str] = {}
    settings: dict[str, dict[str, Any]] = {}
    for unit in units:
        study, model, condition = unit
        fields = {name: value for name, value in _fields(runs, unit).items() if name not in FORM}
        if own.setdefault(model, condition) != condition or settings.setdefault(study, fields) != fields:
            return False
    return True
