"""Go through the rows of a CSV file as spreadsheets write it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.stimuli.reading.files import LONGEST, read_checked_lines
from inference.stimuli.reading.recognition_notes import add_note_on_recognised_input

NAME_BY_DELIMITER = {",": "commas", ";": "semicolons", "\t": "tabs"}
_QUOTED = re.compile('"[^"]*"')


def read_nonempty_csv_rows(path: Path, quotes_in_tabs: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of a CSV file that have an entry; a first line `sep=;`, as Excel reads it, is none.

    What is not plain (semicolons, tabs, UTF-16, a byte order mark, other line ends) is noted (`recognition_notes`).

    Parameters
    ----------
    path
        The file.
    quotes_in_tabs
        Whether quotation marks enclose cells that are parted by tabs, too; else they are text.

    Returns
    -------
    iterator of (number, cells)
        The rows are numbered as a spreadsheet numbers them.

    Raises
    ------
    InputError
        The file is malformed, or its header leaves open what is between cells; the row is named.
    """
    csv.field_size_limit(LONGEST)  # the default refuses a generated text of more than 128 KB
    with path.open("rb") as content:
        beginning = content.read(3)
    encoding = "utf-16" if beginning[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    with path.open(encoding=encoding, newline="") as file:
        first = file.readline(LONGEST)
        stated = re.fullmatch("sep=(.)", first.strip("\r\n"), re.IGNORECASE)
        if stated is None:
            file.seek(0)
        # Spreadsheets of many countries write semicolons, and .tsv means tabs: the header tells.
        delimiter = stated[1] if stated else _guess_csv_delimiter(path, first)
        _note_recognised_csv_format(path, delimiter, encoding, beginning == b"\xef\xbb\xbf", first)
        quoting: Any = csv.QUOTE_NONE if delimiter == "\t" and not quotes_in_tabs else csv.QUOTE_MINIMAL
        rows = csv.reader(read_checked_lines(path, file), delimiter=delimiter, strict=True, quoting=quoting)
        number = 0
        try:
            for number, row in enumerate(rows, start=1):
                if any(cell.strip() for cell in row):
                    yield number, row
        except csv.Error as error:
            raise InputError(
                f"{path}, row {number + 1} (line {rows.line_num}): malformed CSV ({error}); every quote needs its end, "
                "and one within a text is written twice"
            ) from None


def _guess_csv_delimiter(path: Path, header: str) -> str:
    """Return what is most often between the cells of a header, outside quotation marks."""
    bare = _QUOTED.sub("", header)
    times = {mark: bare.count(mark) for mark in NAME_BY_DELIMITER}
    most = max(times.values())
    most_frequent = [mark for mark, number in times.items() if number == most]
    if most and len(most_frequent) > 1:
        names = " and ".join(NAME_BY_DELIMITER[mark] for mark in most_frequent)
        raise InputError(
            f"{path}, row 1: as many {names}, so that it is open which are between cells; put names that hold one into "
            "quotes, or begin the file with a line such as sep=;"
        )
    return most_frequent[0]


def _note_recognised_csv_format(
    path: Path, delimiter: str, encoding: str, has_byte_order_mark: bool, first_line: str
) -> None:
    """Note what was recognised, where that is not plain: commas, or tabs in a .tsv file, in UTF-8."""
    plain = "\t" if path.suffix.lower() == ".tsv" else ","
    features = (
        [f"{NAME_BY_DELIMITER.get(delimiter, repr(delimiter))} between cells"]
        if delimiter != plain and first_line
        else []
    )
    features += ["UTF-16"] if encoding == "utf-16" else ["UTF-8 with a byte order mark"] if has_byte_order_mark else []
    ends = {"\r\n": "Windows line ends", "\r": "line ends of an old Mac"}
    features += [name for end, name in ends.items() if first_line.endswith(end)][:1]
    if features:
        add_note_on_recognised_input(f"{path}: recognised: {', '.join(features)}")
