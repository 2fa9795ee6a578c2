"""Hold the columns of a long table in little memory: without a Python object per row."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


LARGEST_INT32 = 2**31 - 1


class CodedPairs(Sequence[tuple[str, str]]):
    """A column of pairs of texts, most of which come again: each is kept once, a row takes four bytes.

    >>> column = CodedPairs()
    >>> [column.append(pair) for pair in (("a", "x"), ("b", "x"), ("a", "x"))]
    [0, 1, 0]
    >>> column.pairs, column.codes.tolist(), column[2]
    ([('a', 'x'), ('b', 'x')], [0, 1, 0], ('a', 'x'))
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self._code_by_pair: dict[tuple[str, str], int] = {}
        self._codes = array("i")

    def append(self, pair: tuple[str, str]) -> int:
        """Add a row, and return the place of its pair in `pairs`."""
        code = self._code_by_pair.get(pair)
        if code is None:
            code = self._code_by_pair[pair] = len(self.pairs)
            self.pairs.append(pair)
        self._codes.append(code)
        return code

    @property
    def codes(self) -> np.ndarray:
        """The place of each row's pair in `pairs`; no row may be added while it is in use."""
        return np.frombuffer(self._codes, dtype=np.int32)

    def drop_lookup_for_appending(self) -> None:
        """Forget what only adding rows needs; afterwards, none may be added."""
        self._code_by_pair.clear()

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, row: Any) -> Any:
        return self.pairs[self._codes[row]]


class PackedTexts:
    """A column of texts or None, most of which may come only once: one after another in UTF-8, and where each ends.

    >>> column = PackedTexts()
    >>> for text in ("yes", None, "no"):
    ...     column.append(text)
    >>> column.array().to_pylist()
    ['yes', None, 'no']
    """

    def __init__(self) -> None:
        self._texts, self._ends, self._is_present = bytearray(), array("i", [0]), bytearray()

    def append(self, text: str | None) -> None:
        """Add a row."""
        if text is not None:
            self._texts += text.encode()
        if len(self._texts) > LARGEST_INT32 and self._ends.typecode == "i":
            self._ends = array("q", self._ends)
        self._ends.append(len(self._texts))
        self._is_present.append(text is not None)

    def array(self) -> pa.Array:
        """The column, which is not copied; no row may be added while it is in use."""
        import pyarrow as pa

        validity_bits = np.packbits(np.frombuffer(self._is_present, dtype=np.uint8), bitorder="little")
        buffers = [pa.py_buffer(validity_bits), pa.py_buffer(self._ends), pa.py_buffer(self._texts)]
        kind = pa.string() if self._ends.typecode == "i" else pa.large_string()
        return pa.Array.from_buffers(kind, len(self._is_present), buffers)


class RowPlaces(Sequence[str]):
    """File and row of every row, for messages; `files` are those that were begun.

    Rows of a file come one after another but for empty ones: only rows that do not follow the one before are kept.
    """

    def __init__(self) -> None:
        self.files: list[Path] = []
        self._word: list[str] = []  # "row", "line" or "entry": the same in all of a file
        self._length = 0
        self._next_number = -1  # of a row that follows the last one
        # Of every row that does not follow the one before: which it is, its file and its number there.
        self._starts, self._start_files, self._start_numbers = array("q"), array("i"), array("q")

    def begin_rows_of_file(self, path: Path) -> None:
        """Begin another file; the rows appended from now on are in it."""
        self.files.append(path)
        self._word.append("")
        self._next_number = -1

    def append(self, place: str) -> None:
        """Add a row of this file: "row 3" and the like."""
        self._word[-1], _, text = place.partition(" ")
        number = int(text)
        if number != self._next_number:
            self._starts.append(self._length)
            self._start_files.append(len(self.files) - 1)
            self._start_numbers.append(number)
        self._next_number = number + 1
        self._length += 1

    @property
    def file_number_of_each_row(self) -> np.ndarray:
        """Number of the file that each row stands in."""
        ends = np.append(self._starts, self._length)
        return np.repeat(np.asarray(self._start_files), np.diff(ends))

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: Any) -> Any:
        row = range(self._length)[row]
        place = bisect_right(self._starts, row) - 1
        file, number = self._start_files[place], self._start_numbers[place] + row - self._starts[place]
        return f"{self.files[file]}, {self._word[file]} {number}"


def number_equal_rows_and_find_first_of_each(
    first_column: CodedPairs, second_column: CodedPairs
) -> tuple[np.ndarray, np.ndarray]:
    """Group rows that are equal in two columns.

    Parameters
    ----------
    first_column, second_column
        The columns; they have the same number of rows.

    Returns
    -------
    of, first
        Of every row the number of its group, which are numbered as they appear; and the first row of every group.
    """
    # Another number wherever one of the two differs.
    codes = first_column.codes.astype(np.int64) * len(second_column.pairs) + second_column.codes
    _, first, of = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int32)
    number[order] = np.arange(len(first), dtype=np.int32)
    return number[of], first[order].astype(np.int32)
