"""Ways to spoil the run.json of a run folder, from results/schema.json: every field missing, or of another type."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "results" / "schema.json").read_text(encoding="utf-8")
)
CONTENT: Mapping[str, Any] = SCHEMA["run"]["content"]
# One value of each type; what stands for a field's type is left out.
VALUES: Mapping[str, Any] = {"object": {"x": 1}, "array": [[]], "string": "x", "number": 1.5, "null": None}

Place = tuple[str | int, ...]


def spoiled(info: Mapping[str, Any]) -> Iterator[tuple[str, Place, dict[str, Any]]]:
    """Make every variant of a valid run.json that breaks its rule in one place.

    Yields
    ------
    tuple
        What is wrong, the place (names and numbers of entries), and the content.
    """
    for place, rule in _rules(info, CONTENT, ()):
        for name in rule.get("required", ()):
            yield f"{_shown((*place, name))} missing", (*place, name), _with(info, (*place, name), None, remove=True)
        allowed = {rule["type"]} if isinstance(rule["type"], str) else {*rule["type"]}
        for kind, value in VALUES.items():
            if kind not in allowed and place:
                yield f"{_shown(place)} is {kind}", place, _with(info, place, value)


def _rules(value: Any, rule: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """List the rule of every place of a content, those of the first entry where there are several."""
    yield place, rule if isinstance(value, dict) else {**rule, "required": ()}  # a text has no fields
    if isinstance(value, dict):
        shared = rule.get("additionalProperties")
        for number, (name, entry) in enumerate(value.items()):
            inner = rule.get("properties", {}).get(name, shared if number == 0 else None)
            if inner:
                yield from _rules(entry, inner, (*place, name))
    elif isinstance(value, list) and value:
        yield from _rules(value[0], rule["items"], (*place, 0))


def _with(info: Mapping[str, Any], place: Place, value: Any, remove: bool = False) -> dict[str, Any]:
    changed = copy.deepcopy(dict(info))
    inner: Any = changed
    for step in place[:-1]:
        inner = inner[step]
    if remove:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return changed


def _shown(place: Place) -> str:
    return ".".join(map(str, place))
