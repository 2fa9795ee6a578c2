"""Write the tables of an export as Parquet or CSV files with a dictionary of their columns beside them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from analysis.export.tables import ExportTable, define_export_tables
from analysis.runs import Runs
from analysis.runs.folder import quote_sql_literal

DICTIONARY = "dictionary.csv"
HEADER = ("table", "column", "type", "unit", "meaning")
FORMATS = {"parquet": "FORMAT parquet, COMPRESSION zstd", "csv": "FORMAT csv, HEADER"}
TYPES = {"VARCHAR": "string", "DOUBLE": "double", "BIGINT": "int64", "BOOLEAN": "boolean"}


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A table that was written: its file, the number of rows, and column -> type."""

    table: ExportTable
    file: str
    rows: int
    types: dict[str, str]


def write_tables_of_runs_and_dictionary(runs: Runs, folder: Path, file_format: str) -> dict[str, WrittenTable]:
    """Write all tables that have rows, and their dictionary, into a folder; DuckDB streams from file to file.

    Parameters
    ----------
    runs
        What is exported.
    folder
        The folder of the export.
    file_format
        One of `FORMATS`.

    Returns
    -------
    dict
        Name -> table, without those that have no rows.
    """
    written_tables = {}
    runs.execute("SET preserve_insertion_order = true")  # else two exports of one run differ in the order of rows
    for name, table in define_export_tables(runs).items():
        file = folder / f"{name}.{file_format}"
        column_rows = runs.execute(f"DESCRIBE {table.query}").fetchall()
        types = {column: TYPES[kind] for column, kind, *_ in column_rows}
        assert list(types) == list(table.columns), f"{name}: the columns of the query are not those that are explained"
        copy_result = runs.execute(
            f"COPY ({table.query}) TO {quote_sql_literal(str(file))} ({FORMATS[file_format]})"
        ).fetchall()
        if copy_result[0][0]:
            written_tables[name] = WrittenTable(table, file.name, copy_result[0][0], types)
        else:
            file.unlink()
    (folder / DICTIONARY).write_bytes(build_dictionary_csv(written_tables).encode("utf-8"))
    return written_tables


def build_dictionary_csv(written_tables: dict[str, WrittenTable]) -> str:
    """Return the data dictionary as CSV: table, column, type, unit, meaning."""
    text = io.StringIO()
    rows = [
        (name, column, written_table.types[column], entry.unit, entry.meaning)
        for name, written_table in written_tables.items()
        for column, entry in written_table.table.columns.items()
    ]
    csv.writer(text, lineterminator="\n").writerows([HEADER, *rows])
    return text.getvalue()
