"""Lock a run folder for one process; the lock ends with the process, even if it is killed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from inference.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows has another module for locks, refuses to open folders and to remove open files
    fcntl = None  # type: ignore[assignment]
WINDOWS = fcntl is None


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
    return lock(folder)


def lock(folder: Path) -> int:
    """Lock a folder that is there; return the descriptor of the lock.

    Raises
    ------
    InputError
        It cannot be locked, or another process writes to it.
    """
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        if not isinstance(error, BlockingIOError):
            raise InputError(
                f"{folder}: cannot be locked ({error.strerror}); choose an --out on a local disk"
            ) from None
        raise InputError(
            f"{folder}: another process is writing to this run; wait for it or choose another --out"
        ) from None
    return descriptor


def _lock(descriptor: int) -> None:
    """Lock an open file; BlockingIOError where another process has locked it."""
    if not WINDOWS:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    msvcrt = importlib.import_module("msvcrt")
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(error.errno, error.strerror) from error


def flush(path: Path) -> None:
    """Have the disk hold a file or folder before anything else is written; Windows can do that for files only."""
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
        with suppress(*([PermissionError] if WINDOWS else [])):  # the lock is open
            (folder / name).unlink(missing_ok=True)
    remove_leftovers(folder)
    remove_empty([folder / "responses", *made])


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, in this order, as far as they are there and empty."""
    for each in folders:
        with suppress(OSError):
            each.rmdir()
