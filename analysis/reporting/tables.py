"""Every table of the report, by name: the one registry behind `python -m analysis table`, the notebooks and the report.

::

    frame = tables.build("stability", runs.open("results/demo/agreement"))
    print(tables.render("stability", frame, "latex"))
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from analysis.errors import InputError
from analysis.reporting.catalogue import column, function, page_of, pages, table, tables

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

IDENTITY = ("study", "model", "condition")  # shown first, by themselves
FORMATS = ("csv", "latex", "markdown")


def expand(name: str, frame: pd.DataFrame, entry: str) -> list[str]:
    """List the columns of a table's frame that an entry of `Table.columns` stands for."""
    if entry == "intervals":
        return [key for key in map(str, frame.columns) if key.endswith(("_lower", "_upper"))]
    if "*" not in entry:
        return [entry]
    patterns = pages()[page_of(name)].patterns
    return [key for key in map(str, frame.columns) if fnmatchcase(key, entry) and patterns[entry](key)]


def options(name: str) -> dict[str, inspect.Parameter]:
    """The options of a table's function: its keyword parameters with their defaults."""
    parameters = inspect.signature(function(page_of(name), table(name).function)).parameters
    return {key: p for key, p in list(parameters.items())[1:] if p.default is not inspect.Parameter.empty}


def convert(name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Options as typed on a command line, in the type of the option's default.

    Raises
    ------
    InputError
        For an option that the table does not have, with those it has, or a value that does not fit.
    """
    known = {key: parameter.default for key, parameter in options(name).items()}
    unknown = [key for key in given if key not in known]
    if unknown:
        listed = ", ".join(f"{key} (default {default})" for key, default in known.items()) or "none"
        raise InputError(f"table {name} has no option {unknown[0]!r}; it has {listed}")
    try:
        return {key: _like(known[key], text) for key, text in given.items()}
    except ValueError as error:
        raise InputError(f"table {name}: {error}") from error


def _like(default: Any, text: str) -> Any:
    if isinstance(default, tuple | list):
        return tuple(_like(default[0], part) for part in text.split(","))
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{text!r} is neither true nor false")
        return text.lower() == "true"
    return text if default is None else type(default)(text)


def explain(names: Sequence[str] = ()) -> str:
    """All tables by name and title; with names, the columns of those tables and what they mean."""
    if not names:
        width = max(map(len, tables()))
        return "".join(f"{name:{width}}  {entry.title}\n" for name, entry in tables().items())
    lines = []
    for name in names:
        lines.append(f"{name}: {table(name).title}\n{table(name).caption}\n")
        lines += [f"  {key:20}{meaning}{f' ({unit})' if unit else ''}\n" for key, unit, meaning in _explained(name)]
    return "".join(lines)


def _explained(name: str) -> list[tuple[str, str, str]]:
    lines = []
    for key in table(name).columns:
        if key == "intervals":
            lines.append(("X_lower, X_upper", "", "95 % interval of every figure X above, items resampled"))
        else:
            entry = column(name, key)
            lines.append((key, entry.unit, entry.meaning))
    return lines


def build(name: str, runs: Runs, **given: Any) -> pd.DataFrame:
    """Compute a table.

    Parameters
    ----------
    name
        A table of the catalogue.
    runs
        From `analysis.runs.open`.
    **given
        Options such as `resamples` or `thresholds`. One that this table does not have is left out, so that a report
        can give one set to all its tables.

    Returns
    -------
    DataFrame
        Full precision; `analysis.reporting.columns.column` explains every column.
    """
    known = options(name)
    frame: pd.DataFrame = function(page_of(name), table(name).function)(
        runs, **{key: value for key, value in given.items() if key in known}
    )
    return frame


def render(name: str, frame: pd.DataFrame, form: str) -> str:
    """The table as text: `csv` with full precision, `latex` (booktabs) and `markdown` with few digits."""
    from analysis.reporting import grid as rendering

    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; the formats are: {', '.join(FORMATS)}")
    if form == "csv":
        return rendering.csv(frame)
    grid = rendering.grid(name, frame, printed(name, frame), best(name, frame))
    return rendering.latex(grid, name, table(name)) if form == "latex" else rendering.markdown(grid)


def printed(name: str, frame: pd.DataFrame) -> list[str]:
    """The columns of a table that its forms for readers show, less those that identify a row (`rendering.grid`)."""
    entry = table(name)
    left = (*IDENTITY, "intervals", *entry.hidden)
    return [key for column_ in entry.columns if column_ not in left for key in expand(name, frame, column_)]


def best(name: str, frame: pd.DataFrame) -> list[tuple[list[str], str]]:
    """The columns of a table that are compared within each row, and which of them is best (`Table.best`)."""
    groups = table(name).best
    return [([key for part in names.split() for key in expand(name, frame, part)], rule) for names, rule in groups]
