"""Write the files next to a report, each whole or not at all: tables as CSV and LaTeX, and what their columns mean."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.columns import Column
from analysis.reporting.output import latex
from ground.errors import MalformedPage
from ground.writing import write_atomically

if TYPE_CHECKING:
    import pandas as pd

DICTIONARY = "dictionary.csv"
HEADER = ("table", "column", "unit", "meaning")
LATEX_ROWS = 1000


def write_text_file(path: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Parameters
    ----------
    path
        The file, which is replaced; its folder is made.
    text
        Its content, written in UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda aside: aside.write_bytes(text.encode("utf-8")))


def write_table_csv_and_latex(name: str, frame: pd.DataFrame, out: Path) -> None:
    """Write `tables/<name>.csv` and `tables/<name>.tex`, and the rows of this table in `tables/dictionary.csv`.

    A table of more than `LATEX_ROWS` rows is data rather than something to print, and has no LaTeX form here. Others
    are written by `render_table_as_floats_or_longtable`.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.
    out
        Folder of the report.
    """
    folder = out / "tables"
    write_text_file(folder / f"{name}.csv", tables.render_table_in_text_format(name, frame, "csv"))
    if len(frame) <= LATEX_ROWS:
        write_text_file(folder / f"{name}.tex", render_table_as_floats_or_longtable(name, frame))
    write_dictionary_of_written_tables(out)


def render_table_as_floats_or_longtable(name: str, frame: pd.DataFrame) -> str:
    """Write a table as LaTeX for documents of one column or two: in floats over the page, or as one `longtable`.

    It is a `longtable` where it takes more floats than LaTeX has room for (`latex.WAITING`). Two columns hold none, so
    that a comment says where to put it.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.

    Returns
    -------
    The LaTeX.
    """
    text = tables.render_table_in_text_format(name, frame, "latex")
    n_floats = text.count("\\begin{table*}")
    if n_floats <= latex.WAITING:
        return text
    comment = f"% A longtable in place of {n_floats} floats: put it after \\onecolumn in a document of two columns.\n"
    needs, _, longtable = tables.render_table_in_text_format(name, frame, "latex", width="text").partition("\n")
    return f"{needs}\n{comment}{longtable}"


def write_dictionary_of_written_tables(out: Path) -> None:
    """Write `tables/dictionary.csv`: what the columns mean of all tables that are there, whoever wrote them.

    Pages that are made at the same time each write it; the report writes it once more when all tables are there.
    """
    folder = out / "tables"
    rows = [
        row for name in catalogue.list_tables() for row in _list_dictionary_rows_of_table(name, folder / f"{name}.csv")
    ]
    if rows:
        text = io.StringIO()
        csv.writer(text).writerows([HEADER, *rows])
        write_text_file(folder / DICTIONARY, text.getvalue())


def _list_dictionary_rows_of_table(name: str, path: Path) -> list[list[str]]:
    """Return the rows of the dictionary for a table; none where its file is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        entries = {key: _find_meaning_of_written_column(name, key) for key in next(csv.reader(file))}
    return [[name, key, entry.unit, entry.meaning] for key, entry in entries.items()]


def _find_meaning_of_written_column(table_name: str, column_name: str) -> Column:
    """Find what a column means; one that nothing explains was added by another notebook that wrote the file."""
    try:
        return catalogue.look_up_column(table_name, column_name)
    except MalformedPage:
        return Column("own measure")


def remove_report_tables_and_figures(out: Path) -> None:
    """Remove the tables and figures of an earlier report, also those that a killed one did not finish.

    Only files under the names that this package writes.
    """
    figures = [entry.file_name or figure for figure, entry in catalogue.list_figures().items()]
    patterns = [f"tables/{DICTIONARY}"]
    patterns += [f"tables/{name}.{ending}" for name in catalogue.list_tables() for ending in ("csv", "tex")]
    patterns += [f"figures/{name}{number}.*" for name in figures for number in ("", "-[0-9]*", "-column")]
    for pattern in patterns:
        folder, name = pattern.split("/")
        for path in [*(out / folder).glob(name), *(out / folder).glob(f".{name}.*")]:
            path.unlink(missing_ok=True)
