"""Turn a table into text: CSV and JSON with full precision, Markdown; cells with few digits for LaTeX and HTML, too."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from analysis.reporting import catalogue
from analysis.reporting.catalogue import Table
from analysis.reporting.catalogue.columns import IDENTITY, Column, format_value_by_column

NO_INTERVAL = "no_interval"
WORDY = 24  # characters from which on a column is set as running text


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed value with its 95 % interval or standard error, if it has one; `best`: the best of its row."""

    text: str
    interval: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table ready to print: entries of the data dictionary as headers, rows of cells."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: tuple[bool, ...]
    wordy: tuple[bool, ...]


def render_csv(frame: pd.DataFrame) -> str:
    """Write a table as CSV (RFC 4180): header, commas, CRLF; floats read back the same, undefined values are empty.

    A column of lists is written as JSON, so that it reads back, too.
    """
    lists = [name for name in map(str, frame.columns) if frame[name].map(lambda v: isinstance(v, list | tuple)).any()]
    plain = frame.assign(**{name: frame[name].map(_convert_list_to_json) for name in lists})
    return plain.to_csv(index=False, lineterminator="\r\n")


def _convert_list_to_json(value: Any) -> Any:
    """Write a list as JSON; leave any other value as it is."""
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, list | tuple) else value


def render_json(frame: pd.DataFrame, as_lines: bool) -> str:
    """Write a table as JSON: an object per row, in which an undefined number is null; floats read back the same.

    Parameters
    ----------
    frame
        The table.
    as_lines
        Whether every row is a line of its own (JSON lines), and not all rows a list.

    Returns
    -------
    The text, one row per line.
    """
    lines = [
        json.dumps(convert_to_json_value(record), ensure_ascii=False, allow_nan=False)
        for record in frame.astype(object).to_dict("records")
    ]
    if as_lines:
        return "".join(f"{line}\n" for line in lines)
    return "[" + ",\n ".join(lines) + "]\n"


def convert_to_json_value(value: Any) -> Any:
    """Turn a value into what JSON has: lists and mappings stay such; a number that is undefined or infinite is null."""
    if isinstance(value, list | tuple | np.ndarray):
        return [convert_to_json_value(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): convert_to_json_value(entry) for name, entry in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, str | bool | int | float) else str(value)


def build_grid(
    table_name: str,
    frame: pd.DataFrame,
    shown_columns: Sequence[str],
    compared_columns: Sequence[tuple[Sequence[str], str]] = (),
) -> Grid:
    """Turn a frame into headers and cells with few digits.

    Parameters
    ----------
    table_name
        A table of the catalogue: it says what the columns mean, and what is printed with them.
    frame
        The table, or some of its rows.
    shown_columns
        Columns to show (`tables.list_shown_columns`). Model, and study and condition where they tell rows apart, come
        first by themselves, or behind those of the three that are named first, unless they are named here.
    compared_columns
        Columns that are compared within each row, and the rule: "largest" or "smallest absolute"
        (`tables.list_compared_column_groups_with_rules`).

    Returns
    -------
    Grid
        One row of cells per row of the frame.
    """
    look_up_column = functools.partial(catalogue.look_up_column, table_name)
    return build_grid_without_catalogue(
        catalogue.look_up_table(table_name), look_up_column, frame, shown_columns, compared_columns
    )


def build_grid_without_catalogue(
    table: Table,
    look_up_column: Callable[[str], Column],
    frame: pd.DataFrame,
    shown_columns: Sequence[str],
    compared_columns: Sequence[tuple[Sequence[str], str]] = (),
) -> Grid:
    """Turn a frame into headers and cells as `build_grid` does, also of a table that no catalogue has.

    Parameters
    ----------
    table
        What is printed with its columns.
    look_up_column
        From the name of a column to what it means.
    frame, shown_columns, compared_columns
        As in `build_grid`.

    Returns
    -------
    Grid
        One row of cells per row of the frame.
    """
    named = tuple(takewhile(IDENTITY.__contains__, shown_columns))  # model | condition, which was not named | accuracy
    needed = (key for key in _choose_unit_columns_that_distinguish_rows(frame) if key not in shown_columns)
    keys = (*named, *needed, *shown_columns[len(named) :])
    columns = tuple(map(look_up_column, keys))
    bold = {cell for compared, rule in compared_columns for cell in _find_best_cells_per_row(frame, compared, rule)}
    if NO_INTERVAL in keys:
        reasons = frame[NO_INTERVAL].map(lambda text: _replace_column_names_in_reason_text(text, frame, look_up_column))
        frame = frame.assign(**{NO_INTERVAL: reasons})
    cells_by_column = [_format_column_cells(table, frame, key, entry) for key, entry in zip(keys, columns, strict=True)]
    for key, column in zip(keys, cells_by_column, strict=True):
        column[:] = [replace(cell, best=True) if (row, key) in bold else cell for row, cell in enumerate(column)]
    numeric = tuple(pd.api.types.is_numeric_dtype(frame[key]) and frame[key].dtype != bool for key in keys)
    longest = [max((len(cell.text) for cell in column), default=0) for column in cells_by_column]
    wordy = tuple(not number and size > WORDY for number, size in zip(numeric, longest, strict=True))
    return Grid(keys, columns, tuple(zip(*cells_by_column, strict=True)), numeric, wordy)


def drop_uniform_grid_columns(table: Grid) -> tuple[Grid, list[tuple[Column, Cell]]]:
    """Leave out the columns with the same cell in every row of several; return these with their cell, if not empty.

    Where all columns are such, the first one stays.
    """
    if len(table.rows) < 2:
        return table, []
    places = range(len(table.names))
    first = table.rows[0]
    varying_places = [i for i in places if any(row[i] != first[i] for row in table.rows)] or [0]
    uniform_columns = [(table.columns[i], first[i]) for i in places if i not in varying_places and first[i].text]
    parts = (
        tuple(part[i] for i in varying_places) for part in (table.names, table.columns, table.numeric, table.wordy)
    )
    names, columns, numeric, wordy = parts
    rows = tuple(tuple(row[i] for i in varying_places) for row in table.rows)
    return Grid(names, columns, rows, numeric, wordy), uniform_columns  # type: ignore[arg-type]


def _choose_unit_columns_that_distinguish_rows(frame: pd.DataFrame) -> list[str]:
    """List which of study, model and condition are needed to tell the rows apart; the model always."""
    study, model, condition = IDENTITY
    names = [study] if study in frame and frame[study].nunique() > 1 else []
    if model in frame:
        names.append(model)
    if condition in frame:
        conditions_by_model = frame.groupby(model, dropna=False)[condition] if model in frame else frame[condition]
        if np.any(np.asarray(conditions_by_model.nunique()) > 1):
            names.append(condition)
    return names


def _replace_column_names_in_reason_text(
    reason: Any, frame: pd.DataFrame, look_up_column: Callable[[str], Column]
) -> Any:
    """Write "in_middle: one item only" with the header of the column; what names no column of the frame stays."""
    if not isinstance(reason, str):
        return reason
    parts = [part.rpartition(": ") for part in reason.split("; ")]
    return "; ".join(
        ", ".join(look_up_column(name).header if name in frame else name for name in names.split(", ")) + colon + why
        for names, colon, why in parts
    )


def _find_best_cells_per_row(frame: pd.DataFrame, compared: Sequence[str], rule: str) -> Iterator[tuple[int, str]]:
    """Yield row and column of the best value of every row with two values or more; all of those that tie."""
    values = frame[list(compared)].astype(float)
    values = values if rule == "largest" else -values.abs()
    top = values.max(axis=1)
    for row, several in enumerate(values.notna().sum(axis=1) > 1):
        if several:
            yield from ((row, name) for name in compared if values[name].iloc[row] == top.iloc[row])


def _format_column_cells(table: Table, frame: pd.DataFrame, column_name: str, column: Column) -> list[Cell]:
    """Print a column, each value with its standard error and dagger, or with its interval, where it has them."""
    texts = [format_value_by_column(raw, column) for raw in frame[column_name]]
    if column_name in table.error:
        errors, daggers = (frame[key] for key in table.error[column_name])
        error_texts = (format_value_by_column(error, column) for error in errors)
        return [Cell(text + dagger, f"± {error}" if error else "")
                for text, dagger, error in zip(texts, daggers, error_texts, strict=True)]  # fmt: skip
    between = table.interval.get(column_name, (f"{column_name}_lower", f"{column_name}_upper"))
    if between is None or not set(between) <= set(frame):
        return [Cell(text) for text in texts]
    ends = ([format_value_by_column(raw, column) for raw in frame[end]] for end in between)
    return [Cell(text, f"[{lower}, {upper}]" if text and lower and upper else "")
            for text, lower, upper in zip(texts, *ends, strict=True)]  # fmt: skip


def render_markdown(table: Grid) -> str:
    """Write a grid as a pipe table; characters that Markdown reads as markup are escaped."""
    lines = [
        [escape_markdown(entry.header) for entry in table.columns],
        [("---:" if n else "---") for n in table.numeric],
    ]
    for row in table.rows:
        lines.append([_render_markdown_cell(cell) for cell in row])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _render_markdown_cell(cell: Cell) -> str:
    """Write a cell as Markdown: its text, bold where it is the best, and its interval."""
    text = escape_markdown(cell.text)
    return " ".join(filter(None, (f"**{text}**" if cell.best else text, escape_markdown(cell.interval))))


def escape_markdown(text: str) -> str:
    """Escape the characters that Markdown or HTML reads as markup; runs of white space become one space."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", " ".join(text.split()))
