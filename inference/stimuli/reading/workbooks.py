"""Go through the rows of a sheet of an Excel workbook as texts: the values that its cells hold.

How a cell shows its value is not looked at: 0.5 in the format `0%` is 0.5, and a date is 2026-03-04. Only of a code
such as 007 that is held as the number 7, a line says so, since its zeros are part of its name.

A workbook is an archive of XML by strangers: its unpacked size is bounded before anything is read, documents that
define entities are refused, and macros are never looked at. `FILE.xlsx#NAME` chooses a sheet; else it is the first that
is not hidden. Rows and columns that are hidden or filtered out are read like others. Formulas have the values that were
stored when the file was saved.
"""

from __future__ import annotations

import datetime
import re
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_nearest_name_hint, shorten_text
from ground.extras import convert_import_errors_to_install_advice
from inference.stimuli.reading.files import LONGEST, refuse_pipe_or_device, require_storable_value
from inference.stimuli.reading.recognition_notes import add_note_on_recognised_input

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

WORKBOOKS = {".xlsx", ".xlsm"}
UNREAD = {".xls", ".xlsb", ".ods", ".numbers"}
UNPACKED = 200_000_000
"""Bytes that a workbook may unpack to."""
ROWS, COLUMNS = 1_048_576, 16_384  # that a sheet has at most
_DIGITS = 15  # that a spreadsheet keeps of a number
_CODE = re.compile("0{2,}")  # the format of numbers with leading zeros
_BEGINNING = 65_536  # bytes of a document in which its type would be declared
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*ref="([A-Z0-9:]{1,40})"')
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, AttributeError, IndexError,
    OverflowError, NotImplementedError, RuntimeError, ElementTree.ParseError,
)  # fmt: skip


def split_file_and_sheet_name(path: Path) -> tuple[Path, str | None]:
    """Split FILE.xlsx#NAME into the file and the name of the sheet; None where none is named.

    >>> split_file_and_sheet_name(Path("a/items.xlsx#Sheet 2")), split_file_and_sheet_name(Path("a#b.csv"))
    ((PosixPath('a/items.xlsx'), 'Sheet 2'), (PosixPath('a#b.csv'), None))
    """
    match = re.fullmatch(r"(.*?\.xls[xm])#(.*)", str(path), re.IGNORECASE | re.DOTALL)
    return (Path(match[1]), match[2]) if match else (path, None)


def read_workbook_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of a sheet that have an entry; all are as long as the first, the header.

    Parameters
    ----------
    path
        FILE.xlsx, or FILE.xlsx#NAME for one of its sheets.

    Returns
    -------
    iterator of (number, cells)
        An empty cell is "".

    Raises
    ------
    InputError
        The package openpyxl is not installed; the file is no workbook, is protected, unpacks to more than `UNPACKED`,
        or has no such sheet; a cell is merged with others, holds an error or a formula without a value. The cell is
        named.
    """
    file, name = split_file_and_sheet_name(path)
    with convert_import_errors_to_install_advice(f"{file}: a workbook"):
        from openpyxl import load_workbook
    refuse_pipe_or_device(file)
    with _convert_errors_of_damaged_workbook(file), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of charts and the like, which are not read
        _refuse_unsafe_archive(file)
        with (
            closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as values,
            closing(load_workbook(file, read_only=True, keep_links=False)) as formulas,
        ):
            sheet = _choose_sheet_name(path, file, values, name)
            _refuse_merged_cells(file, values[sheet], sheet)
            yield from _read_sheet_rows(file, values[sheet], formulas[sheet])


@contextmanager
def _convert_errors_of_damaged_workbook(file: Path) -> Iterator[None]:
    """Turn what a damaged workbook makes of its reader into one line."""
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, zipfile.BadZipFile) and _is_old_or_protected_excel_file(file):
            raise InputError(
                f"{file}: protected by a password, or of an older Excel; save it as .xlsx without"
            ) from None
        raise InputError(
            f"{file}: not a readable workbook ({shorten_text(str(error) or type(error).__name__, 100)})"
        ) from None


def _is_old_or_protected_excel_file(file: Path) -> bool:
    """Tell whether a file is an Excel workbook of the old kind, or protected by a password."""
    with file.open("rb") as content:
        return content.read(8) == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def _refuse_unsafe_archive(file: Path) -> None:
    """Refuse an archive that unpacks to very much, and documents that declare a type, which may define entities."""
    with zipfile.ZipFile(file) as archive:
        # What an archive says of a member's size is what `zipfile` reads of it at most.
        size = sum(member.file_size for member in archive.infolist())
        if size > UNPACKED:
            raise InputError(
                f"{file}: unpacks to {size / 1e6:,.0f} MB, more than {UNPACKED / 1e6:.0f}; save its sheet as CSV UTF-8"
            )
        for member in archive.infolist():
            if member.filename.endswith((".xml", ".rels")):
                with archive.open(member) as content:
                    if b"<!DOCTYPE" in content.read(_BEGINNING):
                        raise InputError(f"{file}: {member.filename} declares a document type, as no workbook does")


def _choose_sheet_name(path: Path, file: Path, book: Workbook, name: str | None) -> str:
    """Choose the sheet: the one named, else the first that is not hidden, which is noted."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    visible_sheets = [title for title, sheet in sheets.items() if sheet.sheet_state == "visible"]
    if name is not None:
        if name not in sheets:
            sheet_names = shorten_text(", ".join(sheets), 300) or "none"
            raise InputError(
                f"{path}: there is no sheet '{shorten_text(name)}'{format_nearest_name_hint(name, sheets)}; the sheets "
                f"are {sheet_names}"
            )
        return name
    if not sheets:
        raise InputError(f"{file}: there is no sheet of cells in it; put the table into one")
    if not visible_sheets:
        raise InputError(f"{file}: all sheets are hidden; name one as {file.name}#NAME")
    if len(sheets) > 1:
        add_note_on_recognised_input(
            f"{file}: read is sheet '{shorten_text(visible_sheets[0])}', the first of {len(sheets)}; name another as "
            f"{file.name}#NAME"
        )
    return visible_sheets[0]


def _refuse_merged_cells(file: Path, sheet: Any, name: str) -> None:
    """Refuse merged cells: only the first one of them holds what all seem to."""
    with zipfile.ZipFile(file) as archive, archive.open(sheet._worksheet_path) as content:
        tail = b""
        while part := content.read(1 << 20):
            match = _MERGED.search(tail + part)
            if match:
                raise InputError(
                    f"{file}, sheet '{shorten_text(name)}': cells {match[1].decode()} are merged; unmerge them, and "
                    "write into each row what it holds"
                )
            tail = part[-200:]


def _read_sheet_rows(file: Path, values: Any, formulas: Any) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of a sheet that have an entry, as texts."""
    width, is_noted = 0, False
    for sheet in (values, formulas):
        sheet.reset_dimensions()  # what it states may be wrong
    for number, (row, written) in enumerate(
        zip_longest(values.iter_rows(), formulas.iter_rows(), fillvalue=()), start=1
    ):
        if number > ROWS or len(row) > COLUMNS:
            raise InputError(f"{file}, row {number}: a sheet has at most {ROWS:,} rows and {COLUMNS:,} columns")
        if not row:  # a gap, which may have a million rows
            continue
        code = None if is_noted else _find_zero_padded_cell_in_row(row)
        if code is not None:
            is_noted = True
            digits = len(code.number_format)
            add_note_on_recognised_input(
                f"{file}, cell {code.coordinate} shows {code.value:0{digits}} and holds the number {code.value}, which "
                "is read; give codes with zeros the format Text, and write them anew"
            )
        cells = [_convert_cell_to_text(file, cell, formula) for cell, formula in zip(row, written, strict=False)]
        if not any(map(str.strip, cells)):
            continue
        width = width or len(cells)
        outside = next((place for place in range(width, len(cells)) if cells[place].strip()), None)
        if outside is not None:
            raise InputError(
                f"{file}, cell {row[outside].coordinate}: there is an entry outside the columns that the header, the "
                "first row, names; name its column, or take it out"
            )
        yield number, [*cells[:width], *[""] * (width - len(cells))]


def _find_zero_padded_cell_in_row(row: Any) -> Any:
    """Return the first cell of a row that shows a whole number with zeros before it; None where none does."""
    return next(
        (
            cell
            for cell in row
            if type(cell.value) is int
            and _CODE.fullmatch(cell.number_format)
            and len(str(abs(cell.value))) < len(cell.number_format)
        ),
        None,
    )


def _convert_cell_to_text(file: Path, cell: Any, formula: Any) -> str:
    """Write one cell as text."""
    value = cell.value
    if value is None:
        if formula.data_type == "f":
            raise InputError(
                f"{file}, cell {cell.coordinate}: a formula without a stored value; open and save the file in Excel"
            )
        return ""
    where = f"{file}, cell {cell.coordinate}"
    if cell.data_type == "e":
        raise InputError(f"{where}: the error {value}; correct it")
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise InputError(f"{where}: more than {LONGEST:,} characters; break it into rows")
        return str(require_storable_value(where, value))
    return _format_number_or_date(value)


def _format_number_or_date(value: Any) -> str:
    """Write a number or a date as text.

    >>> (_format_number_or_date(7.0),
    ...  _format_number_or_date(0.1 + 0.2),
    ...  _format_number_or_date(datetime.datetime(2026, 3, 4)))
    ('7', '0.3', '2026-03-04')
    """
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return str(value.date())
    return str(value)
