"""Offer a table in memory, a DataFrame or a list of dicts, to all readers of files, under a name instead of a path."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_quantity, shorten_text
from ground.numerals import LARGEST_EXACT
from inference.stimuli.reading.files import shorten_value

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in memory.

    Attributes
    ----------
    name
        What messages call the table, in place of a path.
    columns
        The names of its columns, those without a filled cell, too.
    rows
        Each with its place, for messages; a dict holds the filled cells only.
    about
        What the table is, in words.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, dict[str, Any]]]
    about: str


_offered: ContextVar[Table | None] = ContextVar("_offered", default=None)


@contextmanager
def register_table_during_block(table: Table | None) -> Iterator[None]:
    """Let readers of files find a table by its name within the block; None offers nothing."""
    token = _offered.set(table)
    try:
        yield
    finally:
        _offered.reset(token)


def find_table_in_memory(path: Path) -> Table | None:
    """Find the table that a path is the name of; None where it is a path."""
    table = _offered.get()
    return table if table is not None and path == Path(table.name) else None


def build_table_from_python_rows(name: str, rows: Any) -> Table:
    """Make a table of what a Python call gives.

    Parameters
    ----------
    name
        What messages call it.
    rows
        A pandas DataFrame, whose empty cells and rows are left out as those of a CSV file are, or a list of dicts,
        which are read as the objects of a JSON file are.

    Returns
    -------
    The table.

    Raises
    ------
    InputError
        It is something else, or has a column twice.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(rows, pandas.DataFrame):
        columns = list(rows.columns)
        _refuse_nontext_or_duplicate_column_names(name, columns)
        whole_columns = {
            column: rows[column].astype("Int64") for column in columns if _is_whole_with_gaps(rows[column])
        }
        full_rows = map(
            _convert_row_to_plain_dict, rows.assign(**whole_columns).to_dict("records")
        )  # without the index, which no file has either
        cells = [{key: cell for key, cell in row.items() if cell != ""} for row in full_rows]
        filled = [(f"row {number}", row) for number, row in enumerate(cells, 1) if row]
        about = f"a DataFrame of {format_quantity(len(filled), 'row')} ({shorten_text(', '.join(columns), 200)})"
        return Table(name, tuple(columns), filled, about)
    if not isinstance(rows, list | tuple):
        raise InputError(
            f"{name}: expected a DataFrame, a list of dicts, or the path of a file, not {type(rows).__name__}"
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{name}, entry {number}: expected a dict of fields, such as item and text, not {shorten_value(row)}"
            )
    columns = list(dict.fromkeys(key for row in rows for key in row))
    _refuse_nontext_or_duplicate_column_names(name, columns)
    try:
        entries = [(f"entry {number}", _convert_row_to_plain_dict(row)) for number, row in enumerate(rows, 1)]
    except RecursionError as error:
        raise InputError(f"{name}: an entry is nested too deep, or holds itself") from error
    return Table(name, tuple(columns), entries, f"a list of {len(entries):,} dicts")


def _refuse_nontext_or_duplicate_column_names(name: str, columns: Sequence[Any]) -> None:
    """Refuse a column whose name is no text, or is there twice."""
    seen: set[str] = set()
    for column in columns:
        if not isinstance(column, str) or column in seen:
            trouble = "is there twice; rename one" if isinstance(column, str) else "has no name; name it by a text"
            raise InputError(f"{name}: column {shorten_value(column)} {trouble}")
        seen.add(column)


def _is_whole_with_gaps(column: pandas.Series) -> bool:
    """Tell whether a column holds whole numbers that pandas turned into floats because some are missing."""
    if str(column.dtype) not in ("float64", "float32") or not column.hasnans:
        return False
    return bool((column.isna() | ((column % 1 == 0) & (column.abs() <= LARGEST_EXACT))).all())


def _convert_row_to_plain_dict(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a row as a dict of plain values, without missing cells."""
    return {
        key: cell
        for key, cell in ((key, _convert_cell_to_plain_value(cell)) for key, cell in row.items())
        if cell is not None
    }


def _convert_cell_to_plain_value(cell: Any) -> Any:
    """Return a cell as JSON could hold it: NumPy's values as Python's, and None for all that stands for a gap."""
    if type(cell).__module__ == "numpy":
        cell = cell.tolist()
    if isinstance(cell, Mapping):
        return {key: _convert_cell_to_plain_value(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [_convert_cell_to_plain_value(value) for value in cell]
    is_gap = type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)
    return None if is_gap else cell
