"""Lock files and folders for one process; a lock ends with the process, even if it is killed."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path

from ground.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows has another module for locks, refuses to open folders and to remove open files
    fcntl = None  # type: ignore[assignment]
WINDOWS = fcntl is None


def lock_folder(folder: Path) -> int:
    """Lock a folder that is there; return the descriptor of the lock.

    Raises
    ------
    InputError
        It cannot be locked, or another process writes to it.
    """
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock_file(descriptor)
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


def _lock_file(descriptor: int) -> None:
    """Lock an open file; BlockingIOError where another process has locked it."""
    if not WINDOWS:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    msvcrt = importlib.import_module("msvcrt")
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(error.errno, error.strerror) from error


def lock_if_abandoned(path: Path) -> int | None:
    """Lock a file or folder and return the descriptor; None where it is gone, another's, or a living process holds it.

    The operating system ends a lock with the process that holds it, also when that is killed. On Windows, always None.
    """
    if WINDOWS:
        return None
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


@contextlib.contextmanager
def hold_lock_during_block(path: Path, flags: int = os.O_RDONLY) -> Iterator[None]:
    """Open and lock a file or folder for the length of the block, so that no other process counts it as abandoned.

    Where another process holds the lock, the block waits. On Windows nothing is locked.

    Parameters
    ----------
    path
        The file or folder.
    flags
        How it is opened, as `os.open` takes them.
    """
    if WINDOWS:
        yield
        return
    descriptor = os.open(path, flags, 0o666)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: nothing counts as abandoned there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def flush_to_disk(path: Path) -> None:
    """Write a file or folder to the disk before anything else is written (fsync); on Windows, a file only."""
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
