"""The files that lie beside a report: tables as CSV and LaTeX with their data dictionary."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.reporting import catalogue, tables
from analysis.reporting.catalogue import column

if TYPE_CHECKING:
    import pandas as pd

DICTIONARY = "dictionary.csv"
LATEX_ROWS = 1000


def write(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_bytes(text.encode("utf-8"))
    aside.replace(path)


def write_table(name: str, frame: pd.DataFrame, out: Path) -> None:
    """Write `tables/<name>.csv`, `tables/<name>.tex` and, over all tables there, `tables/dictionary.csv`.

    A table of more than `LATEX_ROWS` rows is data rather than something to print, and has no LaTeX form here.
    """
    folder = out / "tables"
    write(folder / f"{name}.csv", tables.render(name, frame, "csv"))
    if len(frame) <= LATEX_ROWS:
        write(folder / f"{name}.tex", tables.render(name, frame, "latex"))
    write(folder / DICTIONARY, _dictionary(folder))


def _dictionary(folder: Path) -> str:
    """Every column of every table in the folder: table, column, unit, meaning."""
    lines = [("table", "column", "unit", "meaning")]
    for name in catalogue.tables():
        path = folder / f"{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                header = next(csv.reader(file))
            entries = {key: column(name, key) for key in header}
            lines += [(name, key, entry.unit, entry.meaning) for key, entry in entries.items()]
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue()


def clear(out: Path) -> None:
    """Remove the tables and figures that an earlier report left: only files under the names this package writes."""
    for name in catalogue.tables():
        for ending in ("csv", "tex"):
            (out / "tables" / f"{name}.{ending}").unlink(missing_ok=True)
    for name in (entry.file or figure for figure, entry in catalogue.figures().items()):
        for path in [*(out / "figures").glob(f"{name}.*"), *(out / "figures").glob(f"{name}-[0-9]*.*")]:
            path.unlink()
