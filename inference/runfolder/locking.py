"""Lock a run folder for one process; the lock ends with the process, even if it is killed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from inference.errors import InputError


def claim(folder: Path) -> int:
    """Make the folder if needed and lock it; return the descriptor of the lock, which the end of the process releases.

    Raises
    ------
    InputError
        A folder with other files, one that cannot be written to or locked, or one that another process writes to.
    """
    ours = {"run.json", "stimuli.parquet", "responses"}
    try:
        if folder.is_dir() and not (folder / "run.json").exists():
            strangers = sorted(
                p.name for p in folder.iterdir() if p.name not in ours and p.suffix != ".tmp" and p.name[0] != "."
            )
            if strangers:
                raise InputError(
                    f"{folder}: not a run folder (it holds {strangers[0]}, no run.json); choose another --out"
                )
        (folder / "responses").mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror}); choose another --out") from None
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
