"""Read the JSON of other tools: a whole file, and fields that may be missing or of another kind."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.reading.files import LARGEST, parse_json, read_text_file, refuse_pipe_or_device, shorten_value


def read_json_log(path: Path, advice: str) -> Any:
    """Read a JSON file as a whole.

    Parameters
    ----------
    path
        The file.
    advice
        What to do where it is too large.

    Returns
    -------
    What it holds.

    Raises
    ------
    InputError
        It cannot be read, is too large or is malformed.
    """
    try:
        refuse_pipe_or_device(path)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if size > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST / 1e6:.0f} MB; {advice}")
    return parse_json(path, read_text_file(path))


def refuse_half_surrogates(where: str, value: Any) -> None:
    """Refuse half of a surrogate pair in JSON: no file can hold it as text.

    Parameters
    ----------
    where
        File and place, for messages.
    value
        What JSON holds.

    Raises
    ------
    InputError
        The value holds one.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: holds half of a surrogate pair (\\ud800 to \\udfff), which is no text") from None


def get_nested_object_or_empty(value: Any, *names: str) -> dict[str, Any]:
    """Return an object's fields, or those of an object in it, by its name; none where it is something else.

    >>> get_nested_object_or_empty({"eval": {"dataset": {"name": "tea"}}}, "eval", "dataset")
    {'name': 'tea'}
    >>> get_nested_object_or_empty("tea")
    {}
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def parse_json_number_or_nan(value: Any) -> float:
    """Read a number of JSON; NaN for anything else, and for a text that holds one."""
    return math.nan if isinstance(value, str) else parse_number_or_nan(value)


def parse_list_field(where: str, parent: Any, name: str) -> list[Any]:
    """Return the entries of a list in an object.

    Parameters
    ----------
    where
        File and place, for messages.
    parent
        The object; anything else has no field.
    name
        Name of the field.

    Returns
    -------
    The entries; none where there is no such field.

    Raises
    ------
    InputError
        The field is no list.
    """
    value = get_nested_object_or_empty(parent).get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{where}: {name} must be a list, not {shorten_value(value)}")
    return value


def drop_empty_values(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what has no value, as if it were not there."""
    return {name: value for name, value in values.items() if value not in (None, [], {})}
