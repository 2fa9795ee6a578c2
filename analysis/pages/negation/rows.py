"""Read the rows of JSON lines, of a JSON list or of a CSV file, each with its place for messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from analysis.runs import reading
from ground.errors import InputError

Row: TypeAlias = tuple[str, dict[str, Any]]  # file and line, and the fields
ENDINGS = (".jsonl", ".json", ".csv")


def read_dataset_rows_with_file_location(file: Path) -> Iterator[Row]:
    """Read the rows of a file; empty lines are left out.

    Raises
    ------
    InputError
        For another kind of file, one that cannot be read (`analysis.runs.reading`), and a line or entry that is no JSON
        object.
    """
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"{file}: unknown kind of file; give one of {', '.join(ENDINGS)}")
    if file.suffix.lower() == ".csv":
        for number, cells in reading.read_csv_file(file):
            yield f"{file}, line {number}", dict(cells)
        return
    content = reading.read_text(file)
    if content.lstrip().startswith("["):
        entries = _parse_row_json(str(file), content)
        yield from (
            _require_json_object_row(f"{file}, entry {number}", entry) for number, entry in enumerate(entries, start=1)
        )
        return
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            where = f"{file}, line {number}"
            yield _require_json_object_row(where, _parse_row_json(where, line))


def _parse_row_json(where: str, text: str) -> Any:
    """Parse JSON; refuse what is not valid, and keys that are there twice."""
    try:
        return json.loads(text, object_pairs_hook=_build_dict_of_unique_keys)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({str(error)[:100]})") from None


def _build_dict_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the pairs of a JSON object; raise ValueError for a key that is there twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is there twice")
    return fields


def _require_json_object_row(where: str, value: Any) -> Row:
    """Return place and fields of a row; refuse what is no JSON object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object with named fields")
    return where, value
