"""Claim a run folder for one process, and remove from it what a killed or refused call left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ground.errors import InputError
from ground.locking import WINDOWS, lock_folder
from ground.writing import remove_empty_folders

_UNFINISHED = re.compile(r"\.(run\.json|(stimuli|part-.*)\.parquet)\.\d+|.*\.tmp")
"""How `write_atomically` names what it has not finished, and how versions before 0.2 did."""


def make_and_lock_run_folder(folder: Path) -> int:
    """Make the folder if needed and lock it; return the descriptor of the lock, which the end of the process releases.

    Raises
    ------
    InputError
        A file; a folder with other files, or with responses but no run.json, one that cannot be locked, or one that
        another process writes to.
    OSError
        One that cannot be made or written to.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file; choose another --out")
    ours = {"run.json", "stimuli.parquet", "responses"}
    if folder.is_dir() and not (folder / "run.json").exists():
        strangers = sorted(
            p.name for p in folder.iterdir() if p.name not in ours and p.suffix != ".tmp" and p.name[0] != "."
        )
        if strangers:
            raise InputError(f"{folder}: not a run folder (it holds {strangers[0]}, no run.json); choose another --out")
        if any((folder / "responses").glob("part-*.parquet")):  # nobody knows of which study, and how they were asked
            raise InputError(
                f"{folder}: it holds responses, but no run.json; restore that file, or choose another --out"
            )
    (folder / "responses").mkdir(parents=True, exist_ok=True)
    return lock_folder(folder)


def remove_unfinished_run_files(folder: Path) -> None:
    """Remove the unfinished files of a killed process; the folder is claimed, so nobody is writing them."""
    for file in (*folder.iterdir(), *(folder / "responses").glob("*")):
        if _UNFINISHED.fullmatch(file.name):
            file.unlink()


def remove_run_of_refused_call(folder: Path, new_folders: Sequence[Path]) -> None:
    """Remove what a refused call has written: the files of its run folder, and the folders that it made.

    Parameters
    ----------
    folder
        The run folder.
    new_folders
        The folders that were not there before the call, the innermost first
        (`ground.writing.list_missing_folder_and_parents`).
    """
    for name in ("run.json", "stimuli.parquet", ".lock"):
        with suppress(*([PermissionError] if WINDOWS else [])):  # the lock is open
            (folder / name).unlink(missing_ok=True)
    remove_unfinished_run_files(folder)
    remove_empty_folders([folder / "responses", *new_folders])
