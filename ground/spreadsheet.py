"""Write CSV files for spreadsheets, so that no text in them is taken for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ground.writing import write_atomically

# Some spreadsheets read a cell that begins like this as a formula; an apostrophe before it makes it text.
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠\t\r\n]")


def escape_formula(cell: object) -> str:
    """Write a cell so that it is text to a spreadsheet: `=1+1` becomes `'=1+1`."""
    text = str(cell)
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(cell: str) -> str:
    """Undo `escape_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_spreadsheet_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, atomically, in UTF-8 with the byte order mark by which spreadsheets recognise it.

    Parameters
    ----------
    path
        The file, which is replaced.
    header
        Names of the columns.
    rows
        A cell per column; None is an empty one.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([escape_formula("" if cell is None else cell) for cell in row] for row in rows)
    write_atomically(path, lambda aside: aside.write_text(text.getvalue(), encoding="utf-8-sig", newline=""))
