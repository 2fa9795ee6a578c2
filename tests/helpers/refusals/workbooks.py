"""Wrong Excel workbooks, and CSV files that leave open how they are to be read."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from helpers.refusals import Case
from helpers.workbooks import Rows, repacked, workbook

ITEMS = [["item", "text"], ["tea", "Tea is good."], ["tea", "I like tea."]]
CALL = "inference preview agreement --model demo --items {}"


def book(*words: str, rows: Rows = ITEMS, name: str = "x.xlsx", change: Callable[[Any], object] = lambda made: None,
         sheets: Mapping[str, Rows] | None = None, what: str, source: str = "", **more: Any) -> Case:  # fmt: skip
    """A workbook that is refused in a line with these words."""
    return Case(
        what, CALL.format(source or name), (name, *words), {name: workbook(sheets or {"one": rows}, change)}, **more
    )


def raw(what: str, content: bytes, *words: str, name: str = "x.xlsx") -> Case:
    """The same with the bytes of a file."""
    return Case(what, CALL.format(name), (name, *words), {name: content})


def put(place: str, value: object, form: str = "General") -> Callable[[Any], None]:
    """Write a value with a format into a cell of the first sheet."""

    def change(made: Any) -> None:
        cell = made.worksheets[0][place]
        cell.value, cell.number_format = value, form

    return change


def all_hidden() -> bytes:
    """A workbook whose sheets are all hidden."""
    return repacked(workbook({"one": ITEMS}), lambda name, content: content.replace(
        b'state="visible"', b'state="hidden"') if name == "xl/workbook.xml" else content)  # fmt: skip


def no_sheets() -> bytes:
    """A workbook that lists no sheet."""
    return repacked(workbook({"one": ITEMS}), lambda name, content: re.sub(
        rb"<sheet [^>]*/>", b"", content) if name == "xl/workbook.xml" else content)  # fmt: skip


def bomb() -> bytes:
    """A small file that unpacks to 300 MB of blanks."""
    content = io.BytesIO(workbook({"one": ITEMS}))
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/more.xml", "w") as member:
        for _ in range(300):
            member.write(b" " * 1_000_000)
    return content.getvalue()


def entities(name: str, content: bytes) -> bytes:
    """Put a declaration of entities before the sheet."""
    if name != "xl/worksheets/sheet1.xml":
        return content
    return b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + content


def without_values(name: str, content: bytes) -> bytes:
    """Cut a sheet in its middle."""
    return content[: len(content) // 2] if name == "xl/worksheets/sheet1.xml" else content


def far_row(name: str, content: bytes) -> bytes:
    """Give a row a number that no sheet has."""
    return content.replace(b'<row r="3"', b'<row r="900000000"').replace(b'r="A3"', b'r="A900000000"')


CASES = [
    book("x.xlsx#two", "no sheet 'two'", "the sheets are one", what="a sheet that is not there", source="x.xlsx#two"),
    book("cell B3", "formula without a stored value", "open and save", change=put("B3", "=A1&A2"),
         what="a new formula"),
    book("cell B3", "error #N/A", change=put("B3", "#N/A"), what="an error in a cell"),
    book("cells A2:A3 are merged", "write into each row", change=lambda made: made["one"].merge_cells("A2:A3"),
         what="merged cells"),
    book("cell C3", "outside the columns", "name its column", change=put("C3", "sic!"),
         what="a remark beside the table"),
    book("row 3", "the header again", rows=[*ITEMS[:2], ITEMS[0]], what="the header twice"),
    book("there are no rows", rows=[], what="an empty sheet"),
    book("column 'text' is there twice", rows=[["item", "text", "text"], ["a", "b", "c"]], what="a column twice"),
    book("row 3", "the text is empty", change=put("B3", None), what="an empty text"),
    book("needs the package openpyxl", "excel", without=("openpyxl",), what="a workbook without the package"),
    raw("a workbook whose sheets are hidden", all_hidden(), "all sheets are hidden", "x.xlsx#NAME"),
    Case("a workbook that unpacks to very much", CALL.format("x.xlsx"), ("x.xlsx", "unpacks to", "MB", "CSV UTF-8"),
         lambda folder: (folder / "x.xlsx").write_bytes(bomb())),
    raw("entities in a workbook", repacked(workbook({"one": ITEMS}), entities), "declares a document type"),
    raw("a sheet that is cut", repacked(workbook({"one": ITEMS}), without_values), "not a readable workbook"),
    raw("a row that no sheet has", repacked(workbook({"one": ITEMS}), far_row), "x.xlsx"),
    raw("a workbook that is cut", workbook({"one": ITEMS})[:2000], "not a readable workbook"),
    raw("an archive that is no workbook", b"PK\5\6" + b"\0" * 18, "not a readable workbook"),
    raw("a workbook with a password", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password", ".xlsx without"),
    raw("a workbook that is text", b"item,text\na,One.\n", "not a readable workbook"),
    raw("a workbook of an old Excel", b"\xd0\xcf\x11\xe0", "not read", ".xlsx", name="x.xls"),
    raw("a header with as many commas as semicolons", b"item,text;more\na,One.;x\n", "row 1",
        "as many commas and semicolons", "sep=;", name="x.csv"),
    raw("half a character in UTF-16", b"\xff\xfei\0t\0e\0m\0,\0t\0e\0x\0t\0\n\0a\0,\0\x00\xd8\n\0",
        "damaged UTF-16", "save it again", name="x.csv"),
    raw("a file in UTF-16 that is cut", "item,text\na,One.\n".encode("utf-16")[:-1], "damaged UTF-16", name="x.csv"),
    raw("a workbook without sheets", no_sheets(), "no sheet of cells"),
    Case("a workbook for an import that is not there", "inference import accuracies a.xlsx#s --out run",
         ("a.xlsx#s", "cannot be read"), {}),
]  # fmt: skip
