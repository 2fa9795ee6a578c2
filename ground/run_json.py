"""Read run.json and check it against results/schema.json: a writer and a reader of a run keep what that promises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ground.errors import InputError, escape_control_characters
from ground.shipped import find_shipped_folder

SCHEMA: dict[str, Any] = json.loads((find_shipped_folder("results") / "schema.json").read_text(encoding="utf-8"))
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "object": ("an object", (dict,)),
    "array": ("a list", (list,)),
    "string": ("text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
}
_LONGEST_VALUE = 60  # characters of a wrong value


def read_run_json(folder: Path) -> dict[str, Any]:
    """Read the run.json of a run folder.

    Raises
    ------
    InputError
        If it cannot be read, has another format, a field is missing or of another type, or a name holds a line break or
        control character; the message names the file and the field.
    """
    file = folder / SCHEMA["run"]["file"]
    if file.exists() and not file.is_file():  # a pipe or a device may never end
        raise InputError(f"{folder}: run.json is not an ordinary file; restore the file")
    try:
        info = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_nan_constant_in_json)
        json.dumps(info, ensure_ascii=False).encode("utf-8")  # refuses half a character, which nothing can print
    except OSError as error:
        raise InputError(f"{folder}: run.json cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{folder}: run.json is not valid JSON ({error}); restore the file") from error
    known_format = SCHEMA["format"]
    if isinstance(info, dict) and info.get("format", known_format) != known_format:
        raise InputError(
            f"{folder}: run.json: format {info['format']!r} is not known here (this version reads {known_format})"
        )
    for problem in iterate_schema_problems(info, SCHEMA["run"]["content"], "run.json"):
        raise InputError(f"{folder}: {problem}; restore the file")
    names = [(section, name) for section in ("models", "conditions") for name in info[section]]
    for section, name in (*names, ("study", info["study"]["name"])):
        if escape_control_characters(name) != name:
            raise InputError(
                f"{folder}: run.json: {section}: {name!r} holds a line break or control character; restore the file"
            )
    return info


def iterate_schema_problems(value: Any, rule: Mapping[str, Any], where: str) -> Iterator[str]:
    """List what in a value breaks a rule.

    Parameters
    ----------
    value
        From JSON.
    rule
        In the words of JSON Schema that results/schema.json uses.
    where
        Place of the value in the file, which every line begins with.

    Yields
    ------
    str
        One line per fault; a value of a wrong type is not looked into.

    >>> list(iterate_schema_problems({"seed": "1"}, {"type": "object", "properties": {"seed": {"type": "integer"}}},
    ...                           "run.json"))
    ["run.json: seed must be a whole number, not '1'"]
    """
    kinds = [rule["type"]] if isinstance(rule["type"], str) else rule["type"]
    # To Python, a truth value is a whole number, too.
    of_kind = any(isinstance(value, _KINDS[kind][1]) for kind in kinds) and (
        "boolean" in kinds or not isinstance(value, bool)
    )
    if not of_kind:
        value_text = repr(value) if len(repr(value)) <= _LONGEST_VALUE else f"{repr(value)[:_LONGEST_VALUE]} ..."
        yield f"{where} must be {' or '.join(_KINDS[kind][0] for kind in kinds)}, not {value_text}"
    elif isinstance(value, dict):
        yield from (f"{where}: field {name!r} is missing" for name in rule.get("required", ()) if name not in value)
        for name, member in value.items():
            inner_rule = rule.get("properties", {}).get(name, rule.get("additionalProperties"))
            if inner_rule:
                yield from iterate_schema_problems(member, inner_rule, f"{where}: {name}")
    elif isinstance(value, list):
        for number, member in enumerate(value, start=1):
            yield from iterate_schema_problems(member, rule["items"], f"{where}: entry {number}")
    elif isinstance(value, int | float) and value < rule.get("minimum", value):
        yield f"{where} is {value}, which is below {rule['minimum']}"


def _refuse_nan_constant_in_json(constant: str) -> None:
    """Refuse NaN and infinities, which Python's JSON reader would take."""
    raise ValueError(f"{constant} is no number")
