"""Chosen columns of long tables in CSV, TSV, JSON lines or Parquet, as text, with the place of every row."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inference.errors import InputError
from inference.stimuli import records

Cells = list[str | None]
# One row of a file: its place ("row 7") and the chosen cells; an absent or null value is None.
Row = tuple[str, Cells]


def read(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Rows of one file, streamed where the format allows it.

    Parameters
    ----------
    path
        A .csv, .tsv, .json, .jsonl or .parquet file in UTF-8. In CSV the header tells the delimiter.
    columns
        Names of the columns wanted, in the order wanted; a name may come twice.

    Yields
    ------
    place, cells
        Numbers become text: 1, 1.0 and "1" are all "1". An empty CSV cell is "", a null elsewhere is None.

    Raises
    ------
    InputError
        The file cannot be read, is not UTF-8 or malformed, has no rows, or lacks a column; the file and row are named.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: unknown kind of file; responses come as {', '.join(_READERS)}")
    try:
        empty = True
        for row in reader(path, columns):
            empty = False
            yield row
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if empty:
        raise InputError(f"{path}: there are no rows in it")


def _csv(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Rows as a spreadsheet counts them, the header being row 1."""
    csv.field_size_limit(sys.maxsize)  # the default refuses a completion of more than 128 KB
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            delimiter = max(",;\t", key=lines.readline().count)
            lines.seek(0)
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            header = [name.strip() for name in next(rows, [])]
            chosen = _positions(path, header, columns)
            number = 1
            for number, row in enumerate(rows, start=2):
                if len(row) == len(header):
                    yield f"row {number}", [row[position] for position in chosen]
                elif row:
                    raise InputError(
                        f"{path}, row {number}: {len(row)} cells where the header has {len(header)}; "
                        f"put a text that holds '{delimiter}' into quotes"
                    )
    except csv.Error as error:
        raise InputError(f"{path}, row {number + 1}: malformed CSV ({error})") from None
    except UnicodeDecodeError as error:
        records.text_of(path)  # reads the file once more to name the line
        raise InputError(f"{path}: not UTF-8 ({error.reason}); save it as UTF-8") from None


def _json(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """One object per line, or one list of objects; a field that only some objects have is null in the others."""
    found = records.read(path)
    fields = list(dict.fromkeys(field for _, record in found for field in record))
    _positions(path, fields, columns)
    for place, record in found:
        yield place, [_text(path, place, column, record.get(column)) for column in columns]


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            _positions(path, file.schema_arrow.names, columns)
            number = 0
            for batch in file.iter_batches(columns=list(dict.fromkeys(columns))):
                values = {name: batch.column(name).to_pylist() for name in batch.schema.names}
                for row in zip(*(values[column] for column in columns), strict=True):
                    number += 1
                    place = f"row {number}"
                    yield place, [_text(path, place, name, value) for name, value in zip(columns, row, strict=True)]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from None


def _positions(path: Path, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    for column in columns:
        if header.count(column) != 1:
            trouble = "is there twice" if column in header else "is not there"
            raise InputError(f"{path}: column '{column}' {trouble}; the columns are {', '.join(header) or 'none'}")
    return [header.index(column) for column in columns]


def _text(path: Path, place: str, column: str, value: Any) -> str | None:
    if value is None or value != value:  # pandas writes what is missing as NaN
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # tables with gaps turn whole numbers into floats
    if isinstance(value, int | float):
        return str(value)
    raise InputError(f"{path}, {place}: column '{column}' holds {type(value).__name__}, not text or a number")


_READERS: dict[str, Callable[[Path, Sequence[str]], Iterator[Row]]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".jsonl": _json,
    ".parquet": _parquet,
}
