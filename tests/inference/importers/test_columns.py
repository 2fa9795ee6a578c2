"""Columns of long tables: what comes out of little memory is what went in."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from inference.importers.tables.columns import (
    CodedPairs,
    PackedTexts,
    RowPlaces,
    number_equal_rows_and_find_first_of_each,
)
from inference.importers.tables.long_rows import _CellCache


def test_texts_come_out_as_they_went_in():
    draw = random.Random(1)
    texts = [draw.choice([None, "", "yes", "Ü\n, é", "日本", "a" * 300, "\U0001f600"]) for _ in range(1000)]
    column = PackedTexts()
    for text in texts:
        column.append(text)
    array = column.array()
    array.validate(full=True)
    assert array.to_pylist() == texts
    assert PackedTexts().array().to_pylist() == []


@pytest.mark.parametrize("n_rows", [500, 5])  # many of the possible groups, and few
def test_rows_are_grouped_as_a_dictionary_would(n_rows):
    draw = random.Random(2)
    one, other = CodedPairs(), CodedPairs()
    rows = [((draw.choice("abc"), draw.choice("xy")), (draw.choice("1234"), draw.choice("pqr"))) for _ in range(n_rows)]
    known: dict[object, int] = {}
    expected, first = [], []
    for number, (a, b) in enumerate(rows):
        assert one.pairs[one.append(a)] == a
        other.append(b)
        if (a, b) not in known:
            first.append(number)
        expected.append(known.setdefault((a, b), len(known)))
    found = number_equal_rows_and_find_first_of_each(one, other)
    assert [column.tolist() for column in found] == [expected, first]
    assert [(one[row], other[row]) for row in range(len(rows))] == rows


def test_a_place_is_named_by_file_and_row():
    places = RowPlaces()
    for path, rows in (("a.csv", ["row 2", "row 5", "row 6"]), ("b.jsonl", ["line 1"])):
        places.begin_rows_of_file(path)
        for row in rows:
            places.append(row)
    assert list(places) == ["a.csv, row 2", "a.csv, row 5", "a.csv, row 6", "b.jsonl, line 1"]
    assert places.file_number_of_each_row.tolist() == [0, 0, 0, 1]


@pytest.mark.slow
def test_a_cell_that_was_checked_takes_little_memory():
    """A place in a dictionary, and nothing of its own: wordings may be hundreds of thousands."""
    cells = [f"wording {number}" for number in range(20_000)]
    tracemalloc.start()
    try:
        cache = _CellCache()
        texts = [cache.check_and_strip_cell(Path("a.csv"), "row 2", "text", cell) for cell in cells]
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert texts == cells
    assert taken < 80 * len(cells)
