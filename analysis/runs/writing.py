"""Write files and folders whole or not at all, and remove what killed processes left of others."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ModuleNotFoundError:
    # Windows cannot lock or flush a folder, or rename an open file. There, nothing is locked: files are written whole
    # all the same, but what a killed process left of one stays.
    fcntl = None  # type: ignore[assignment]
WINDOWS = fcntl is None


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Write to a file next to it, flush it to disk, rename it, flush the folder: there is the old file or the new one.

    What a killed process left of the same file is removed first.

    Parameters
    ----------
    path
        The file; its folder is there.
    write
        Writes the content to the path that it is given.

    Raises
    ------
    OSError
        Naming the file, where the operating system refuses to write it; no part of it is left.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")  # two processes that write the same file do not meet
    remove_unfinished(path)
    try:
        with held(aside, os.O_RDWR | os.O_CREAT):
            write(aside)
            _flush(aside)
            aside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    _flush(path.parent)


def write_folder_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Fill a folder next to it, flush it to disk, rename it: there is the old folder or the new one, never a part.

    What a killed process left of the same folder is removed first.

    Parameters
    ----------
    path
        The folder; what it holds is replaced. Folders above it are made, and removed again where this fails.
    write
        Fills the folder that it is given.

    Raises
    ------
    OSError
        Naming the folder, where the operating system refuses to write it; no part of it is left.
    """
    above = [folder for folder in path.parents if not folder.exists()]
    aside, old = (path.with_name(f".{path.name}.{kind}{os.getpid()}") for kind in ("", "old."))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_unfinished(path)
        aside.mkdir()
        with held(aside):
            write(aside)
            for inside, _, names in os.walk(aside):
                for name in (*names, "."):
                    _flush(Path(inside, name))
            if path.exists():
                path.replace(old)
            aside.replace(path)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if old.exists() and not path.exists():
            old.replace(path)
        for folder in above:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    shutil.rmtree(old, ignore_errors=True)
    _flush(path.parent)


def remove_unfinished(path: Path) -> None:
    """Remove what killed processes left of a file or folder that they were writing; what a living one writes stays."""
    for aside in path.parent.glob(f".{glob.escape(path.name)}.*"):
        if aside.suffix[1:].isdecimal() and (lock := abandoned(aside)) is not None:
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink(missing_ok=True)
            os.close(lock)


def abandoned(path: Path) -> int | None:
    """Lock a file or folder and return the descriptor; None where it is gone, another's, or a living process holds it.

    The operating system ends a lock with the process that holds it, also when that is killed.
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
def held(path: Path, flags: int = os.O_RDONLY) -> Iterator[None]:
    """Open and lock a file or folder for the length of the block: no other process takes it for `abandoned` then.

    Where another process holds it, the block waits.

    Parameters
    ----------
    path
        The file or folder.
    flags
        How it is opened, as for `os.open`: with os.O_CREAT, a file that is not there is made.

    Yields
    ------
    None
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


def _flush(path: Path) -> None:
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
