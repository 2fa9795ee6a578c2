"""Folders for temporary files: none is left in the end, whatever ended its process."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from analysis.reporting import temporary
from ground.locking import abandoned


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def made_by_a_killed_process() -> Path:
    """A folder with a file, made by a process that cannot remove it."""
    read, write = os.pipe()
    if not (process := os.fork()):
        with temporary.folder() as folder:
            (folder / "socket").touch()
            os.write(write, os.fsencode(folder))
            os.kill(os.getpid(), 9)
    os.waitpid(process, 0)
    os.close(write)
    with open(read, "rb") as told:
        return Path(os.fsdecode(told.read()))


def test_a_folder_is_private_and_removed_at_the_end(tmp_path):
    with temporary.folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next_but_not_what_a_living_one_uses(tmp_path):
    with temporary.folder() as used:
        left = made_by_a_killed_process()
        assert (left / "socket").exists()
        with temporary.folder() as own:
            assert sorted(tmp_path.iterdir()) == sorted([used, own])


def test_a_folder_that_another_takes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """Several kernels start at once: one looks for what was left while another has made its folder, not locked it."""
    make, taken = tempfile.mkdtemp, []

    def makes(prefix: str) -> str:
        made = make(prefix=prefix)
        if not taken:
            taken.append(made)
            os.rmdir(made)
        return made

    monkeypatch.setattr(tempfile, "mkdtemp", makes)
    with temporary.folder() as folder:
        assert str(folder) not in taken and folder.is_dir()
        assert abandoned(folder) is None  # it is locked


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "another").mkdir()
    (tmp_path / "waver-report-file").touch()
    with temporary.folder():
        assert (tmp_path / "another").exists()
