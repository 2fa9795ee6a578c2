"""Write the tables of an export as Parquet or CSV files with a dictionary of their columns beside them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.export.tables import Table, tables
from analysis.runs.folder import literal

if TYPE_CHECKING:
    from analysis.runs import Runs

DICTIONARY = "dictionary.csv"
HEADER = ("table", "column", "type", "unit", "meaning")
FORMATS = {"parquet": "FORMAT parquet, COMPRESSION zstd", "csv": "FORMAT csv, HEADER"}
TYPES = {"VARCHAR": "string", "DOUBLE": "double", "BIGINT": "int64", "BOOLEAN": "boolean"}


@dataclass(frozen=True, slots=True)
class Written:
    """A table that was written: its file, the number of rows, and column -> type."""

    table: Table
    file: str
    rows: int
    types: dict[str, str]


def write(runs: Runs, folder: Path, form: str) -> dict[str, Written]:
    """Write all tables that have rows, and their dictionary, into a folder; DuckDB streams from file to file.

    Parameters
    ----------
    runs
        What is exported.
    folder
        The folder of the export.
    form
        One of `FORMATS`.

    Returns
    -------
    dict
        Name -> table, without those that have no rows.
    """
    written = {}
    runs.execute("SET preserve_insertion_order = true")  # else two exports of one run differ in the order of rows
    for name, table in tables(runs).items():
        file = folder / f"{name}.{form}"
        found = runs.execute(f"DESCRIBE {table.query}").fetchall()
        types = {column: TYPES[kind] for column, kind, *_ in found}
        assert list(types) == list(table.columns), f"{name}: the columns of the query are not those that are explained"
        copied = runs.execute(f"COPY ({table.query}) TO {literal(str(file))} ({FORMATS[form]})").fetchall()
        if copied[0][0]:
            written[name] = Written(table, file.name, copied[0][0], types)
        else:
            file.unlink()
    (folder / DICTIONARY).write_bytes(dictionary(written).encode("utf-8"))
    return written


def dictionary(written: dict[str, Written]) -> str:
    """Return the data dictionary as CSV: table, column, type, unit, meaning."""
    text = io.StringIO()
    rows = [
        (name, column, made.types[column], entry.unit, entry.meaning)
        for name, made in written.items()
        for column, entry in made.table.columns.items()
    ]
    csv.writer(text, lineterminator="\n").writerows([HEADER, *rows])
    return text.getvalue()
