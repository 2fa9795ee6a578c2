"""Records from files of any format: each a dict of fields together with its place (`line 3`), for error messages."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from inference.errors import InputError

BATCH = 10_000  # rows of a Parquet file turned into records at a time
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
    return list(Records(path, quotes_in_tabs=quotes_in_tabs))


class Records:
    """The records of a file, read anew each time they are gone through: a table of millions of rows takes no memory.

    Raises
    ------
    InputError
        As `read`, when they are gone through.
    """

    def __init__(self, path: Path, *, quotes_in_tabs: bool = True) -> None:
        if path.suffix.lower() not in READERS:
            raise InputError(f"{path}: unknown kind of file; items come as {', '.join(READERS)} or as a data set")
        self.path = path
        reader = READERS[path.suffix.lower()]
        self._reader = partial(reader, quotes_in_tabs=quotes_in_tabs) if reader is _csv else reader

    def __iter__(self) -> Iterator[Record]:
        empty = True
        try:
            for record in self._reader(self.path):
                empty = False
                yield record
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        except UnicodeDecodeError:
            text_of(self.path)  # says where
            raise
        if empty:
            raise InputError(f"{self.path}: there is nothing in it")


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
    """Rows as a spreadsheet counts them, the header being row 1; an empty cell is an absent field.

    A first column without a name holds row numbers (pandas writes files so) and is left out.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        # Spreadsheets of many countries write semicolons, and .tsv means tabs: the header tells.
        delimiter = max(",;\t", key=file.readline().count)
        file.seek(0)
        if delimiter == "\t" and not quotes_in_tabs:
            rows = csv.reader(file, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)
        else:
            rows = csv.reader(file, delimiter=delimiter, strict=True)
        yield from _rows(path, rows, delimiter)


def _rows(path: Path, rows: Any, delimiter: str) -> Iterator[Record]:
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
                named = zip(header, row, strict=True)
                yield f"row {number}", {name: cell for name, cell in named if name and cell != ""}
    except csv.Error as error:
        raise InputError(f"{path}, row {number + 1} (line {rows.line_num}): malformed CSV ({error})") from None


def _header(path: Path, names: list[str]) -> list[str]:
    stripped = [name.strip() for name in names]
    named = stripped[1:] if len(stripped) > 1 and not stripped[0] else stripped
    wrong = next((name for name in named if not name or named.count(name) > 1), None)
    if wrong is not None:
        raise InputError(
            f"{path}, row 1: column '{wrong}' is there twice" if wrong else f"{path}, row 1: a column has no name"
        )
    return stripped


def _json(path: Path) -> Iterator[Record]:
    """One JSON list or one object per line; the content decides, not the name."""
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        first = next((line for line in file if line.strip()), "")
        if not first.lstrip().startswith("["):
            file.seek(0)
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _record(path, f"line {number}", _parse_json(path, line.removesuffix("\n"), line=number))
            return
    yield from _entries(path, _parse_json(path, text_of(path), line=1))


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
    rows = (row for batch in table.to_batches(max_chunksize=BATCH) for row in batch.to_pylist())
    return ((f"row {number}", row) for number, row in enumerate(rows, start=1))


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
