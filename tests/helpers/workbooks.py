"""Excel workbooks for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl

Rows = Sequence[Sequence[Any]]


def workbook(sheets: Mapping[str, Rows], change: Callable[[Any], object] = lambda book: None) -> bytes:
    """Make a workbook of these sheets; `change` is given it before it is saved."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    change(book)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def repacked(content: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Make the same archive with its members changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return made.getvalue()
