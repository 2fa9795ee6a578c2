"""Tables as text: CSV with full precision for machines; LaTeX, Markdown and HTML with few digits for readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.reporting.catalogue import column
from analysis.reporting.columns import Column, value

if TYPE_CHECKING:
    from analysis.reporting.catalogue import Table

# Spreads have intervals too (in the CSV); printed, they would hide the figures that matter.
WITHOUT_INTERVAL = {"validity_se", "range_sd", "sd_sd"}
WORDY = 24  # characters from which on a column is set as running text
PAGE_ROWS, PAGE_ROWS_WORDY = 45, 24
CROWDED = 8  # columns from which on a smaller print is needed


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed value, with its 95 % interval where it has one; `best` where it is the best of its row."""

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


def csv(frame: pd.DataFrame) -> str:
    """RFC 4180: comma, CRLF, quotes where needed, a header; floats that read back the same; undefined is empty.

    A column that holds lists is written as JSON, so that it reads back, too.
    """
    lists = [name for name in map(str, frame.columns) if frame[name].map(lambda v: isinstance(v, list | tuple)).any()]
    plain = frame.assign(**{name: frame[name].map(_json) for name in lists})
    return plain.to_csv(index=False, lineterminator="\r\n")


def _json(value: Any) -> Any:
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, list | tuple) else value


def grid(
    table: str, frame: pd.DataFrame, printed: Sequence[str], best: Sequence[tuple[Sequence[str], str]] = ()
) -> Grid:
    """Turn a frame into headers and cells with few digits.

    Parameters
    ----------
    table
        Name of the table; its page says what the columns mean.
    frame
        The table, or some of its rows.
    printed
        Columns to show. `study`, `model` and `condition` come first by themselves, study and condition only where they
        tell rows apart; an empty `mark` is left out. A column with `_lower` and `_upper` beside it is printed with its
        interval.
    best
        Columns that are compared within each row, and the rule: "largest" or "smallest absolute".
    """
    marked = "mark" in frame and frame["mark"].fillna("").any()
    names = (*_identity(frame), *(name for name in printed if name != "mark" or marked))
    columns = tuple(column(table, name) for name in names)
    bold = {cell for compared, rule in best for cell in _best(frame, compared, rule)}
    cells = [[replace(_cell(frame, name, entry, row), best=(row, name) in bold)
              for name, entry in zip(names, columns, strict=True)] for row in range(len(frame))]  # fmt: skip
    numeric = tuple(pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool for name in names)
    longest = [max((len(row[i].text) for row in cells), default=0) for i in range(len(names))]
    wordy = tuple(not number and size > WORDY for number, size in zip(numeric, longest, strict=True))
    return Grid(names, columns, tuple(map(tuple, cells)), numeric, wordy)


def _identity(frame: pd.DataFrame) -> list[str]:
    names = ["study"] if "study" in frame and frame["study"].nunique() > 1 else []
    if "model" in frame:
        names.append("model")
    if "condition" in frame:
        each = frame.groupby("model")["condition"] if "model" in frame else frame["condition"]
        if np.any(np.asarray(each.nunique()) > 1):
            names.append("condition")
    return names


def _best(frame: pd.DataFrame, compared: Sequence[str], rule: str) -> Iterator[tuple[int, str]]:
    """Row and column of the best value of every row that has at least two to compare; all of those that tie."""
    values = frame[list(compared)].astype(float)
    values = values if rule == "largest" else -values.abs()
    top = values.max(axis=1)
    for row, several in enumerate(values.notna().sum(axis=1) > 1):
        if several:
            yield from ((row, name) for name in compared if values[name].iloc[row] == top.iloc[row])


def _cell(frame: pd.DataFrame, name: str, entry: Column, row: int) -> Cell:
    text = value(frame[name].iloc[row], entry)
    if f"{name}_se" in frame and f"{name}_dagger" in frame:
        error = value(frame[f"{name}_se"].iloc[row], entry)
        return Cell(text + frame[f"{name}_dagger"].iloc[row], f"± {error}" if error else "")
    low, high = ("lower", "upper") if name in ("difference", "estimate", "r") else (f"{name}_lower", f"{name}_upper")
    if not text or name in WITHOUT_INTERVAL or low not in frame or high not in frame:
        return Cell(text)
    ends = [value(frame[end].iloc[row], entry) for end in (low, high)]
    return Cell(text, f"[{ends[0]}, {ends[1]}]" if all(ends) else "")


def markdown(table: Grid) -> str:
    """A pipe table; whatever Markdown would read as markup is escaped."""
    lines = [[_markdown(entry.header) for entry in table.columns], [("---:" if n else "---") for n in table.numeric]]
    for row in table.rows:
        lines.append([_markdown_cell(cell) for cell in row])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _markdown_cell(cell: Cell) -> str:
    text = _markdown(cell.text)
    return " ".join(filter(None, (f"**{text}**" if cell.best else text, _markdown(cell.interval))))


def _markdown(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", " ".join(text.split()))


def latex(table: Grid, name: str, entry: Table) -> str:
    """A `table` environment with booktabs rules, on as many pages as it takes; needs no other package."""
    height = PAGE_ROWS_WORDY if any(table.wordy) else PAGE_ROWS
    parts = [table.rows[i : i + height] for i in range(0, len(table.rows), height)] or [()]
    layout = "".join(_alignment(n, w) for n, w in zip(table.numeric, table.wordy, strict=True))
    header = " & ".join(_tex_header(column.header, n) for column, n in zip(table.columns, table.numeric, strict=True))
    size = "scriptsize" if len(table.columns) > CROWDED else "footnotesize"
    pages = []
    for i, rows in enumerate(parts):
        caption = f"{entry.title}. {entry.caption}" if i == 0 else f"{entry.title} (continued)."
        body = "\n".join(_tex_row(row, table.wordy) for row in rows)
        label = f"\\label{{tab:waver-{name.replace('_', '-')}}}" if i == 0 else ""
        pages.append(
            f"\\begin{{table}}[htbp]\n\\centering\\{size}\\setlength{{\\tabcolsep}}{{3pt}}\n"
            f"\\caption{{{_tex(caption)}}}{label}\n\\begin{{tabular}}{{@{{}}{layout}@{{}}}}\n\\toprule\n{header} \\\\\n"
            f"\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )
    return "% Needs \\usepackage{booktabs} in the preamble.\n" + "\\clearpage\n".join(pages)


def _alignment(numeric: bool, wordy: bool) -> str:
    return "r" if numeric else "p{0.24\\linewidth}" if wordy else "l"


def _tex_header(text: str, numeric: bool) -> str:
    """A header of several words on two lines: the width of a column of numbers is all its header's."""
    first, _, rest = text.partition(" ")
    return f"\\shortstack[r]{{{_tex(first)}\\\\{_tex(rest)}}}" if numeric and rest else _tex(text)


def _tex_cell(cell: Cell, wordy: bool) -> str:
    if wordy:
        return f"{{\\raggedright {_tex(cell.text)}\\par}}"
    return f"\\textbf{{{_tex(cell.text)}}}" if cell.best else _tex(cell.text)


def _tex_row(row: Sequence[Cell], wordy: Sequence[bool]) -> str:
    """The values, and under them their intervals in small print."""
    cells = [_tex_cell(cell, w) for cell, w in zip(row, wordy, strict=True)]
    line = " & ".join(cells) + r" \\"
    if not any(cell.interval for cell in row):
        return line
    below = " & ".join(f"{{\\tiny {_tex(cell.interval)}}}" if cell.interval else "" for cell in row)
    return f"{line}\n{below} \\\\[2pt]"


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "−": "$-$", "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$",
    "…": r"\ldots{}", "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "\u00a0": "~",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))
