"""Hold the columns of a long table in little memory: without a Python object per row."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


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
        self._texts, self._ends, self._is_present = bytearray(), array("q", [0]), bytearray()

    def append(self, text: str | None) -> None:
        """Add a row."""
        if text is not None:
            self._texts += text.encode()
        self._ends.append(len(self._texts))
        self._is_present.append(text is not None)

    def array(self) -> pa.Array:
        """The column, which is not copied; no row may be added while it is in use."""
        import pyarrow as pa

        validity_bits = np.packbits(np.frombuffer(self._is_present, dtype=np.uint8), bitorder="little")
        buffers = [pa.py_buffer(validity_bits), pa.py_buffer(self._ends), pa.py_buffer(self._texts)]
        return pa.Array.from_buffers(pa.large_string(), len(self._is_present), buffers)


class RowPlaces(Sequence[str]):
    """File and row of every row, for messages; `files` are those that were begun."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self._word: list[str] = []  # "row", "line" or "entry": the same in all of a file
        self._file, self._number = array("i"), array("q")

    def begin_file(self, path: Path) -> None:
        """Begin another file; the rows appended from now on are in it."""
        self.files.append(path)
        self._word.append("")

    def append(self, place: str) -> None:
        """Add a row of this file: "row 3" and the like."""
        self._word[-1], _, number = place.partition(" ")
        self._file.append(len(self.files) - 1)
        self._number.append(int(number))

    @property
    def file_numbers(self) -> np.ndarray:
        """Number of the file that each row stands in."""
        return np.frombuffer(self._file, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._file)

    def __getitem__(self, row: Any) -> Any:
        file = self._file[row]
        return f"{self.files[file]}, {self._word[file]} {self._number[row]}"


def group_equal_rows(first_column: CodedPairs, second_column: CodedPairs) -> tuple[np.ndarray, np.ndarray]:
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
    import pyarrow as pa

    pair_codes = (
        first_column.codes.astype(np.int64) * len(second_column.pairs) + second_column.codes
    )  # another number wherever one of the two differs
    of = pa.array(pair_codes).dictionary_encode().indices.to_numpy()  # numbered as they appear
    first = np.empty(of.max() + 1, dtype=np.int32)
    # Example: of the groups 0, 1, 0 (`of`), row 2 sets first[0], row 1 first[1], row 0 first[0] anew: [0, 1].
    first[of[::-1]] = np.arange(len(of), dtype=np.int32)[::-1]
    return of, first
