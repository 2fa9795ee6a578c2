"""Files that are written whole or not at all."""

from __future__ import annotations

import os

import pytest

from analysis.runs.writing import held, write_atomically


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


def test_what_a_killed_process_left_of_a_file_goes_with_the_next_write(tmp_path):
    path = tmp_path / "table.csv"
    if not (process := os.fork()):
        write_atomically(path, lambda aside: (aside.write_text("half"), os.kill(os.getpid(), 9)))
    os.waitpid(process, 0)
    assert [left.name for left in tmp_path.iterdir()] == [f".table.csv.{process}"]
    write_atomically(path, lambda aside: aside.write_text("whole"))
    assert list(tmp_path.iterdir()) == [path]


def test_what_another_process_is_writing_stays_and_so_do_other_files(tmp_path):
    path = tmp_path / "table.csv"
    others = {tmp_path / name for name in (".table.csv.1234567", ".table.csv.bak", ".tables.csv.1", ".table.csv")}
    for other in others:
        other.touch()
    with held(tmp_path / ".table.csv.1234567"):
        write_atomically(path, lambda aside: aside.write_text("whole"))
    assert {*tmp_path.iterdir()} == {path, *others}
