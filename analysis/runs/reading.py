"""Read text, CSV and YAML files that a user names: bounded in size, and every fault is one line.

Every scalar of a YAML file stays text: whoever reads a field decides what `1_000`, `yes` and `2024-13-45` mean there,
and nothing is guessed.
"""

from __future__ import annotations

import csv
import io
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from ground.errors import InputError, format_quantity, shorten_to_one_line

MOST_BYTES = 20_000_000
_WORKBOOKS = {".xlsx", ".xlsm", ".xls", ".ods", ".numbers"}
_QUOTED = re.compile('"[^"]*"')
Row: TypeAlias = tuple[int, dict[str, str]]  # the line of the file, and its cells by column


def read_text(file: Path) -> str:
    """Read a file in UTF-8, or in UTF-16 with a byte order mark; the mark is no part of the text.

    Raises
    ------
    InputError
        For a workbook, what is no file, cannot be read, is larger than `MOST_BYTES`, empty, or no such text.
    """
    if file.suffix.lower() in _WORKBOOKS:
        raise InputError(f"{file}: a workbook is not read here; save its sheet as CSV UTF-8 and give that .csv file")
    try:
        file_status = file.stat()
        if not stat.S_ISREG(file_status.st_mode):
            raise InputError(f"{file}: not a file; give a file of text")
        if file_status.st_size > MOST_BYTES:
            raise InputError(f"{file}: {file_status.st_size:,} bytes; more than {MOST_BYTES:,} are not read")
        content = file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        raise InputError(
            f"{shorten_to_one_line(str(file), 200)}: cannot be read ({getattr(error, 'strerror', None) or error})"
        ) from error
    try:
        decoded = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{file}: line {line}: not UTF-8 text; save the file as UTF-8") from error
    if "\0" in decoded:
        line = decoded[: decoded.index("\0")].count("\n") + 1
        raise InputError(f"{file}: line {line}: holds a NUL character, so it is not text")
    if not decoded.strip():
        raise InputError(f"{file}: empty")
    return decoded


def read_csv_file(file: Path) -> list[Row]:
    """Read a CSV file with a header; every cell is text without the blanks around it.

    Spreadsheets of many countries write semicolons: the header tells the delimiter, if it does not have as many of two.

    Raises
    ------
    InputError
        As in `read_text`; for a header with a name twice or none, and a row that is longer or shorter than the header.
    """
    content = read_text(file)
    header_line = _QUOTED.sub("", content.partition("\n")[0])
    delimiter, *other_delimiters = sorted(",;\t", key=header_line.count, reverse=True)
    if header_line.count(delimiter) and header_line.count(delimiter) == header_line.count(other_delimiters[0]):
        raise InputError(
            f"{file}: line 1: as many {delimiter!r} as {other_delimiters[0]!r}: put names that hold one into quotes"
        )
    reader = csv.reader(io.StringIO(content, newline=""), strict=True, delimiter=delimiter)
    try:
        header = [name.strip() for name in next(reader)]
        for place, name in enumerate(header):
            if not name or name in header[:place]:
                problem = (
                    f"column {shorten_to_one_line(repr(name))} appears twice"
                    if name
                    else f"column {place + 1} has no name"
                )
                raise InputError(f"{file}: line 1: {problem}")
        return list(_split_csv_rows(file, reader, header))
    except csv.Error as error:
        raise InputError(f"{file}: line {reader.line_num}: not valid CSV ({error})") from error


def _split_csv_rows(file: Path, reader: Any, header: list[str]) -> Iterator[Row]:
    """Yield the rows of a CSV file with their line numbers; refuse a row of another length than the header."""
    for cells in reader:
        if len(cells) not in (0, len(header)):
            raise InputError(
                f"{file}: line {reader.line_num}: {format_quantity(len(cells), 'cell')}, but the header has "
                f"{format_quantity(len(header), 'column')}"
            )
        if cells:
            yield reader.line_num, dict(zip(header, (cell.strip() for cell in cells), strict=True))


def read_yaml_file(file: Path) -> Any:
    """Read a YAML file as lists, mappings and text; a scalar that is not there, `~` and `null` are None.

    Raises
    ------
    InputError
        As in `read_text`; for text that is no YAML, a key twice in a mapping, a key that is no text, a second
        document, and lists and mappings that are nested too deeply.
    """
    try:
        return yaml.load(read_text(file), Loader=_TextLoader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise InputError(f"{file}: {line}not valid YAML ({shorten_to_one_line(problem or str(error), 200)})") from error
    except RecursionError as error:
        raise InputError(f"{file}: lists and mappings are nested too deeply") from error


class _TextLoader(yaml.CBaseLoader):
    """Keep every scalar as text, and build no object, whatever tag it has; refuse what a mapping cannot hold."""

    def construct_scalar(self, node: yaml.Node) -> str | None:
        """Return a scalar as text, whatever it looks like; None for an empty one, `~` and `null`."""
        is_empty = not node.style and node.value.lower() in ("", "~", "null")
        return None if is_empty else str(super().construct_scalar(node))

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[str, Any]:
        """Return a mapping; refuse a key that is no text or appears twice."""
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep)
            if not isinstance(key, str) or key in mapping:
                problem = (
                    f"key {shorten_to_one_line(repr(key))} {'appears twice' if isinstance(key, str) else 'is no text'}"
                )
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep)
        return mapping
