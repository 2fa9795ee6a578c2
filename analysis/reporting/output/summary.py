"""Write what a report says as JSON for other programs, as `analysis/reporting/schema.json` explains it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.reporting import catalogue
from analysis.reporting.catalogue import Catalogue, Measures
from analysis.reporting.catalogue.grid import convert_to_json_value
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.output import files, index

if TYPE_CHECKING:
    from analysis.reporting.output.results import NotebookResult, Report

_UNIT = ("study", "model", "condition")


def format_report_as_json(report: Report, exit_status: int) -> str:
    """Write a report as JSON: its pages with their answers and key numbers, and the paths of all files.

    Parameters
    ----------
    report
        What `write_report` wrote.
    exit_status
        That of the command.

    Returns
    -------
    One JSON object. Paths begin with the folder as the call names it; an undefined number is null.
    """
    tables, pictures = index.map_tables_to_written_csv_files(report.out), index.list_picture_names(report.out)
    dictionary = report.out / "tables" / files.DICTIONARY
    content = {
        "format": 1, "title": report.title, "about": list(report.about), "index": str(report.out / "index.html"),
        "single_file": str(report.single_file) if report.single_file else None,
        "dictionary": str(dictionary) if tables else None, "command": report.command, "exit_status": exit_status,
        "pages": [_build_page_record(result, report.out, tables, pictures) for result in report.results],
    }  # fmt: skip
    return json.dumps(convert_to_json_value(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _build_page_record(
    result: NotebookResult, out: Path, table_files: dict[str, Path], picture_names: list[str]
) -> dict[str, Any]:
    """Build the record of a page; one that was not made has the reason, and no answer."""
    page, screen = catalogue.map_page_names_to_catalogues().get(result.name), result.screen
    tables = {name: table_files[name] for name in (page.tables if page else ()) if name in table_files}
    pictures = [name for name in picture_names if page and index.find_figure_name_of_picture_file(name) in page.figures]
    notebook = out / "notebooks" / f"{result.name}.ipynb"
    return {
        "name": result.name, "question": result.question,
        "state": "failed" if result.error else "left out" if result.left_out else "made",
        "reason": result.error or result.left_out or None,
        "page": str(out / f"{result.name}.html") if result.chapter else None,
        "notebook": str(notebook) if notebook.is_file() and not result.left_out else None,
        "asked": screen.asked, "verdict": screen.verdict, "support": screen.support, "warning": screen.warning,
        "cautions": screen.cautions, "details": screen.details,
        "numbers": list(_iterate_headline_numbers_of_page(page, tables)) if page else [],
        "tables": [_build_record_of_table_files(name, path) for name, path in tables.items()],
        "figures": [_build_picture_record(name, out / "figures") for name in pictures],
    }  # fmt: skip


def _build_record_of_table_files(name: str, path: Path) -> dict[str, Any]:
    """Build the record of a table: a long one has no LaTeX form."""
    latex = path.with_suffix(".tex")
    return {
        "name": name, "title": catalogue.look_up_table(name).title, "csv": str(path),
        "latex": str(latex) if latex.is_file() else None,
    }  # fmt: skip


def _build_picture_record(name: str, folder: Path) -> dict[str, Any]:
    """Build the record of a picture: one of the files of a figure, as wide as a page and as a column."""
    figure = index.find_figure_name_of_picture_file(name)
    paths = {
        f"{ending}{'_column' if width else ''}": str(folder / f"{name}{width}.{ending}")
        for width in ("", "-column")
        for ending in ("svg", "pdf")
    }
    return {"name": name, "figure": figure, "title": catalogue.look_up_figure(figure).title, **paths}


def _iterate_headline_numbers_of_page(page: Catalogue, table_files: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Yield the measures of models that stand first on a page; all of them where none does."""
    measuring = {name: table.measures for name in table_files if (table := page.tables[name]).measures}
    has_headline = any(measures.headline for measures in measuring.values() if measures)
    for name, measures in measuring.items():
        if measures:
            columns = measures.headline if has_headline else tuple(measures.name_by_column)
            yield from _list_numbers_of_table(name, measures, columns, table_files[name])


def _list_numbers_of_table(
    table_name: str, measures: Measures, columns: tuple[str, ...], path: Path
) -> Iterator[dict[str, Any]]:
    """List the numbers in some columns of a table with their intervals: neither printed ones nor undefined ones."""
    # Names such as "NA" and "001" are texts, and stay as they are.
    texts = dict.fromkeys((*_UNIT, *measures.kinds), str)
    frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=[""], float_precision="round_trip")
    frame = frame.assign(**{name: frame[name].fillna("") for name in texts if name in frame})
    if "source" in frame:
        frame = frame[frame["source"] == OURS]
    if measures.row_filter:
        frame = frame[frame[measures.row_filter].astype(bool)]
    intervals = catalogue.look_up_table(table_name).interval
    for row in frame.to_dict("records"):
        for column in (column for column in columns if pd.notna(row.get(column))):
            lower, upper = intervals.get(column, (f"{column}_lower", f"{column}_upper")) or ("", "")
            yield {
                "table": table_name, "column": column, "measure": measures.name_by_column[column],
                "unit": catalogue.look_up_column(table_name, column).unit,
                **{name: row.get(name) for name in _UNIT},
                "kinds": {name: row[name] for name in measures.kinds},
                "value": row[column], "lower": row.get(lower), "upper": row.get(upper),
                "validity": row.get(measures.validity),
            }  # fmt: skip
