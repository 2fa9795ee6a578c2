"""Lock a run folder for one process; the lock ends with the process, even if it is killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from inference.errors import InputError


def claim(folder: Path) -> int:
    """Make the folder if needed and lock it; return the descriptor of the lock, which the end of the process releases.

    Raises
    ------
    InputError
        A folder with other files, one that cannot be locked, or one that another process writes to.
    OSError
        One that cannot be made or written to.
    """
    ours = {"run.json", "stimuli.parquet", "responses"}
    if folder.is_dir() and not (folder / "run.json").exists():
        strangers = sorted(
            p.name for p in folder.iterdir() if p.name not in ours and p.suffix != ".tmp" and p.name[0] != "."
        )
        if strangers:
            raise InputError(f"{folder}: not a run folder (it holds {strangers[0]}, no run.json); choose another --out")
    (folder / "responses").mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if not isinstance(error, BlockingIOError):
            raise InputError(
                f"{folder}: cannot be locked ({error.strerror}); choose an --out on a local disk"
            ) from None
        raise InputError(
            f"{folder}: another process is writing to this run; wait for it or choose another --out"
        ) from None
    return lock


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of a killed process."""
    for leftover in (*folder.glob("*.tmp"), *(folder / "responses").glob("*.tmp")):
        leftover.unlink()


def absent(folder: Path) -> list[Path]:
    """List the folder and those around it that are not there yet, the innermost first."""
    return [path for path in (folder, *folder.parents) if not os.path.exists(path)]


def remove_new(folder: Path, made: Sequence[Path]) -> None:
    """Remove what a refused call has made of a run folder: its files, and the folders that it made (`absent`)."""
    for name in ("run.json", "stimuli.parquet", ".lock"):
        (folder / name).unlink(missing_ok=True)
    remove_leftovers(folder)
    remove_empty([folder / "responses", *made])


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, in this order, as far as they are there and empty."""
    for each in folders:
        with suppress(OSError):
            each.rmdir()
