"""Files that are written whole or not at all."""

from __future__ import annotations

import pytest

from analysis.runs.writing import write_atomically


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "table.csv"
    for text in ("old", "new"):
        write_atomically(path, lambda aside, text=text: aside.write_text(text))
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def fail(aside):
        aside.write_text("half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
