"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ground.locking import hold_lock_during_block
from ground.writing import finish_interrupted_folder_replacement, write_atomically, write_folder_atomically


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
    with hold_lock_during_block(tmp_path / ".table.csv.1234567"):
        write_atomically(path, lambda aside: aside.write_text("whole"))
    assert {*tmp_path.iterdir()} == {path, *others}


def test_the_new_folder_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "new" / "out"
    for name in ("old", "new"):
        write_folder_atomically(path, lambda aside, name=name: (aside / name).touch())
    assert [left.name for left in path.iterdir()] == ["new"]
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_fails_leaves_nothing_but_the_old_one(tmp_path):
    def fail(aside):
        (aside / "half").touch()
        raise OSError(28, "No space left on device", str(aside))

    path = tmp_path / "new" / "out"
    with pytest.raises(OSError, match="out") as caught:
        write_folder_atomically(path, fail)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
    write_folder_atomically(path, lambda aside: (aside / "old").touch())
    with pytest.raises(OSError, match="out"):
        write_folder_atomically(path, fail)
    assert [left.name for left in path.iterdir()] == ["old"]
    assert list(path.parent.iterdir()) == [path]


def test_what_a_killed_process_left_of_a_folder_goes_with_the_next_write(tmp_path):
    path = tmp_path / "out"
    if not (process := os.fork()):
        write_folder_atomically(path, lambda aside: ((aside / "half").touch(), os.kill(os.getpid(), 9)))
    os.waitpid(process, 0)
    assert [left.name for left in tmp_path.iterdir()] == [f".out.{process}"]
    write_folder_atomically(path, lambda aside: (aside / "whole").touch())
    assert list(tmp_path.iterdir()) == [path]


def leave_between_both_renames(path):
    """Replace a folder that holds "old" by one that holds "new", and be killed when neither has its name."""
    write_folder_atomically(path, lambda aside: (aside / "old").touch())
    if not (process := os.fork()):
        rename = Path.replace

        def rename_and_die(self, target):
            rename(self, target)
            os.kill(os.getpid(), 9)

        Path.replace = rename_and_die
        write_folder_atomically(path, lambda aside: (aside / "new").touch())
    os.waitpid(process, 0)
    assert {left.name for left in path.parent.iterdir()} == {f".out.{process}", f".out.old.{process}"}


def test_a_folder_whose_replacement_was_killed_between_both_renames_is_the_new_one(tmp_path):
    path = tmp_path / "out"
    leave_between_both_renames(path)
    finish_interrupted_folder_replacement(path)
    assert [left.name for left in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_the_next_write_that_fails_after_such_a_kill_leaves_a_whole_folder(tmp_path):
    path = tmp_path / "out"
    leave_between_both_renames(path)
    with pytest.raises(OSError, match="out"):
        write_folder_atomically(path, lambda aside: (aside / "a part").mkdir() or os.listdir(tmp_path / "absent"))
    assert [left.name for left in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_replacement_that_a_living_process_makes_is_left_to_it(tmp_path):
    path = tmp_path / "out"
    leave_between_both_renames(path)
    left = {*tmp_path.iterdir()}
    (aside,) = (folder for folder in left if ".old." not in folder.name)
    with hold_lock_during_block(aside):
        finish_interrupted_folder_replacement(path)
    assert {*tmp_path.iterdir()} == left
