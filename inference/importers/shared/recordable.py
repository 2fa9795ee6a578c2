"""Refuse what `run.json` cannot hold, before a folder is made: names and settings that other tools logged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ground.errors import InputError, escape_control_characters
from ground.run_json import SCHEMA, iterate_schema_problems
from inference.stimuli.reading.files import is_invisible_text, shorten_value


def refuse_unrecordable_name_or_fields(where: str, section: str, name: str, fields: Mapping[str, Any]) -> None:
    """Refuse a model or a condition whose name or fields cannot be recorded.

    Parameters
    ----------
    where
        The file that it is from.
    section
        `models` or `conditions`: what results/schema.json says of their fields holds.
    name
        The name of the model or condition.
    fields
        Its fields.

    Raises
    ------
    InputError
        The name has a control character, or nothing in it shows; or a field is NaN, infinite or of another type.
    """
    about = f"{where}: {section.removesuffix('s')} {shorten_value(name)}"
    if is_invisible_text(name):
        raise InputError(f"{about}: there is nothing that shows in this name; give another")
    if escape_control_characters(name) != name:
        raise InputError(f"{about}: there is a control character in this name; take it out")
    for field, value in fields.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:  # NaN, an infinite number, half a surrogate pair
            raise InputError(
                f"{about}: {field} is {shorten_value(value)}, which cannot be recorded; correct it"
            ) from None
    rule = SCHEMA["run"]["content"]["properties"][section]["additionalProperties"]
    for problem in iterate_schema_problems(fields, rule, about):
        raise InputError(problem)
