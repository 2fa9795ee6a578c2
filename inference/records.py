"""Records from files of any format: each a dict of fields together with its place (`line 3`), for error messages."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from inference.errors import InputError

Record = tuple[str, dict[str, Any]]


def read(path: Path, *, quotes_in_tabs: bool = True) -> list[Record]:
    """Records of a CSV, TSV, JSON, JSON-lines, YAML or Parquet file, with the place of each.

    Parameters
    ----------
    quotes_in_tabs
        Whether quotation marks enclose cells also where tabs part them; otherwise they are text there.

    Raises
    ------
    InputError
        For a file that cannot be read, is not UTF-8, is malformed, or is of another format; with the line where known.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: unknown kind of file; items come as {', '.join(READERS)} or as a data set")
    if reader is _csv:
        reader = partial(_csv, quotes_in_tabs=quotes_in_tabs)
    try:
        records = list(reader(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not records:
        raise InputError(f"{path}: there is nothing in it")
    return records


def text_of(path: Path) -> str:
    """The text of a UTF-8 file (a byte order mark is dropped)."""
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: this is UTF-16; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8 (byte {error.start}); save it as UTF-8") from None


def _csv(path: Path, quotes_in_tabs: bool = True) -> Iterator[Record]:
    """Rows as a spreadsheet counts them, the header being row 1; an empty cell is an absent field."""
    text = text_of(path)
    header_line = text.partition("\n")[0]
    # Spreadsheets of many countries write semicolons, and .tsv means tabs: the header tells.
    delimiter = max(",;\t", key=header_line.count)
    source = io.StringIO(text, newline="")
    if delimiter == "\t" and not quotes_in_tabs:
        rows = csv.reader(source, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    else:
        rows = csv.reader(source, delimiter=delimiter, strict=True)
    header: list[str] = []
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            if not header:
                header = _header(path, row)
            elif row:
                if len(row) != len(header):
                    raise InputError(
                        f"{path}, row {number}: {len(row)} cells where the header has {len(header)}; "
                        f"put a text that holds '{delimiter}' into quotes"
                    )
                yield f"row {number}", {name: cell for name, cell in zip(header, row, strict=True) if cell != ""}
    except csv.Error as error:
        raise InputError(f"{path}, row {number + 1} (line {rows.line_num}): malformed CSV ({error})") from None


def _header(path: Path, names: list[str]) -> list[str]:
    stripped = [name.strip() for name in names]
    wrong = next((name for name in stripped if not name or stripped.count(name) > 1), None)
    if wrong is not None:
        raise InputError(
            f"{path}, row 1: column '{wrong}' is there twice" if wrong else f"{path}, row 1: a column has no name"
        )
    return stripped


def _json(path: Path) -> Iterator[Record]:
    """One JSON list or one object per line; the content decides, not the name."""
    text = text_of(path)
    if text.lstrip().startswith("["):
        yield from _entries(path, _parse_json(path, text, line=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _record(path, f"line {number}", _parse_json(path, line, line=number))


def _parse_json(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {line + error.lineno - 1}: malformed JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{path}, line {line}: the JSON is nested too deeply") from None


def _yaml(path: Path) -> Iterator[Record]:
    import yaml

    try:
        content = yaml.safe_load(text_of(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: malformed YAML ({getattr(error, 'problem', None) or error})") from None
    yield from _entries(path, content)


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, partitioning=None)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
    return ((f"row {number}", row) for number, row in enumerate(table.to_pylist(), start=1))


def _entries(path: Path, content: Any) -> Iterator[Record]:
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of items at the top level")
    for number, entry in enumerate(content, start=1):
        yield _record(path, f"entry {number}", entry)


def _record(path: Path, place: str, entry: Any) -> Record:
    if not isinstance(entry, dict) or not all(isinstance(field, str) for field in entry):
        raise InputError(f"{path}, {place}: expected fields with names, such as item and text")
    return place, entry


READERS: dict[str, Callable[[Path], Iterator[Record]]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".jsonl": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".parquet": _parquet,
}
