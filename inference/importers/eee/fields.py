"""Read the parts of records of Every Eval Ever: fields, lists, texts that hold JSON, and the lines of a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from ground.errors import InputError, shorten_text
from inference.stimuli.reading.files import (
    read_checked_lines,
    read_text_file,
    refuse_pipe_or_device,
    require_storable_value,
    shorten_value,
)

OWN_PREFIX = "waver_"


def iterate_utf8_lines_of_samples(path: Path, file: TextIO) -> Iterator[str]:
    """Go through the lines of a file of responses.

    Parameters
    ----------
    path
        Its name, for messages.
    file
        The open file.

    Yields
    ------
    A line.

    Raises
    ------
    InputError
        It is not UTF-8; with the line.
    """
    try:
        yield from read_checked_lines(path, file)
    except UnicodeDecodeError:
        read_text_file(path)  # says where
        raise


def refuse_samples_of_other_digest(path: Path, samples: Path, detail: Mapping[str, Any]) -> None:
    """Refuse responses that are not those of the aggregate.

    Parameters
    ----------
    path, samples
        The files of the aggregate and of its responses.
    detail
        What the aggregate says of the latter.

    Raises
    ------
    InputError
        They cannot be read, or were changed.
    """
    try:
        refuse_pipe_or_device(samples)
        with samples.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{samples}: cannot be read ({error.strerror}); {path.name} belongs to it") from None
    if detail.get("hash_algorithm") == "sha256" and detail.get("checksum") != digest:
        raise InputError(f"{samples}: not the file that {path.name} was written with (its sha256 differs); restore it")


def require_record_field(where: str | Path, record: Any, name: str, kind: type, shown_as: str = "") -> Any:
    """Return a field of a record.

    Parameters
    ----------
    where
        File and place, for messages.
    record
        The record.
    name
        Of the field; `a.b` inside another one.
    kind
        Its type.
    shown_as
        What a message calls it, if not by its name.

    Returns
    -------
    The field.

    Raises
    ------
    InputError
        It is missing or of another type.
    """
    field = record
    for part in name.split("."):
        field = field.get(part) if isinstance(field, dict) else None
    if not isinstance(field, kind):
        names: dict[type, str] = {str: "text", list: "a list", dict: "an object"}
        hint = (
            "; Waver reads what `waver export --as eee` wrote, and with --scores the scores of others"
            if OWN_PREFIX in (shown_as or name) or name.endswith("additional_details")
            else ""
        )
        raise InputError(f"{where}: {shown_as or name} is {shorten_value(field)}; it must be {names[kind]}{hint}")
    return field


def parse_json_field(where: str | Path, name: str, text: str, kind: type) -> Any:
    """Read a text that holds JSON.

    Parameters
    ----------
    where, name
        File and place, and the name of the field, for messages.
    text
        The text.
    kind
        The type of what it holds.

    Returns
    -------
    What it holds.

    Raises
    ------
    InputError
        It is no JSON, or of another type.
    """
    try:
        parsed = require_storable_value(str(where), json.loads(text, parse_constant=_refuse_nan_or_infinite_number))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {name} is no JSON ({shorten_text(str(error))})") from None
    if not isinstance(parsed, kind):
        raise InputError(
            f"{where}: {name} is {shorten_value(parsed)}; it must be {'a list' if kind is list else 'an object'}"
        )
    return parsed


def _refuse_nan_or_infinite_number(name: str) -> float:
    """Refuse NaN and infinities, which JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


def require_list_of_texts(where: str | Path, name: str, values: list[Any]) -> list[str]:
    """Return a list that holds texts only.

    Parameters
    ----------
    where, name
        File and place, and the name of the list, for messages.
    values
        The list.

    Returns
    -------
    The same list.

    Raises
    ------
    InputError
        It holds something else.
    """
    for text in values:
        if not isinstance(text, str):
            raise InputError(f"{where}: {name} holds {shorten_value(text)}; it must hold texts")
    return values
