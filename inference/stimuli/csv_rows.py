"""Go through the rows of a CSV file as spreadsheets write it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inference.errors import InputError
from inference.stimuli.files import LONGEST, lines_of


def csv_rows(path: Path, quotes_in_tabs: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of a CSV file that have an entry; a first line `sep=;`, as Excel reads it, is none.

    Returns
    -------
    iterator of (number, cells)
        The rows are numbered as a spreadsheet numbers them.

    Raises
    ------
    InputError
        The file is malformed; the row is named.
    """
    csv.field_size_limit(LONGEST)  # the default refuses a generated text of more than 128 KB
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline(LONGEST)
        stated = re.fullmatch("sep=(.)", first.strip("\r\n"), re.IGNORECASE)
        if stated is None:
            file.seek(0)
        # Spreadsheets of many countries write semicolons, and .tsv means tabs: the header tells.
        delimiter = stated[1] if stated else max(",;\t", key=first.count)
        quoting: Any = csv.QUOTE_NONE if delimiter == "\t" and not quotes_in_tabs else csv.QUOTE_MINIMAL
        rows = csv.reader(lines_of(path, file), delimiter=delimiter, strict=True, quoting=quoting)
        number = 0
        try:
            for number, row in enumerate(rows, start=1):
                if any(cell.strip() for cell in row):
                    yield number, row
        except csv.Error as error:
            raise InputError(f"{path}, row {number + 1} (line {rows.line_num}): malformed CSV ({error})") from None
