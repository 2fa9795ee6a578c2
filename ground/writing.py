"""Write files and folders whole or not at all, and remove what killed processes left of others.

Windows cannot lock or flush a folder, or rename an open file. There, nothing is locked: files are written whole all the
same, but what a killed process left of one stays.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ground.locking import flush_to_disk, hold_lock_during_block, lock_if_abandoned

_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[1-9])(\..*)?", re.IGNORECASE)


def is_reserved_by_windows(name: str) -> bool:
    """Tell whether Windows cannot open a file or folder of a name, whatever follows the first point.

    >>> [is_reserved_by_windows(name) for name in ("CON", "aux.txt", "com1", "con-1", "v1.nul")]
    [True, True, True, False, False]
    """
    return _RESERVED.fullmatch(name) is not None


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
    remove_abandoned_temporary_files(path)
    try:
        with hold_lock_during_block(aside, os.O_RDWR | os.O_CREAT):
            write(aside)
            flush_to_disk(aside)
            aside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    flush_to_disk(path.parent)


def write_folder_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Fill a folder next to it, flush it to disk, rename it: there is the old folder or the new one, never a part.

    An old folder is renamed first. Who is killed between both renames leaves two whole folders under other names, which
    `finish_interrupted_folder_replacement` mends. What else a killed process left of the same folder is removed first.

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
    above = list_missing_folder_and_parents(path.parent)
    aside, old = (path.with_name(f".{path.name}.{kind}{os.getpid()}") for kind in ("", "old."))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        finish_interrupted_folder_replacement(path)
        remove_abandoned_temporary_files(path)
        aside.mkdir()
        with hold_lock_during_block(aside):
            write(aside)
            for inside, _, names in os.walk(aside):
                for name in (*names, "."):
                    flush_to_disk(Path(inside, name))
            if path.exists():
                path.replace(old)
            aside.replace(path)
    except BaseException as error:
        if old.exists() and not path.exists():
            old.replace(path)  # before anything is removed: who is killed here leaves no half beside an old one
        shutil.rmtree(aside, ignore_errors=True)
        remove_empty_folders(above)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    shutil.rmtree(old, ignore_errors=True)
    flush_to_disk(path.parent)


def finish_interrupted_folder_replacement(path: Path) -> None:
    """Give a new folder its name where a process was killed after it had renamed the old one; that one is removed.

    Where the operating system refuses it, or on Windows, both stay as they are. `path`: the folder that
    `write_folder_atomically` was replacing.
    """
    for old in path.parent.glob(f".{glob.escape(path.name)}.old.*"):
        aside = path.with_name(f".{path.name}{old.suffix}")
        if os.path.lexists(path) or (lock := lock_if_abandoned(aside)) is None:
            continue
        with contextlib.suppress(OSError):
            aside.replace(path)
            flush_to_disk(path.parent)
            shutil.rmtree(old, ignore_errors=True)
        os.close(lock)


def remove_abandoned_temporary_files(path: Path) -> None:
    """Remove what killed processes left of a file or folder that they were writing; what a living one writes stays."""
    for aside in path.parent.glob(f".{glob.escape(path.name)}.*"):
        if aside.suffix[1:].isdecimal() and (lock := lock_if_abandoned(aside)) is not None:
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink(missing_ok=True)
            os.close(lock)


def list_missing_folder_and_parents(folder: Path) -> list[Path]:
    """List the folder and those around it that are not there yet, the innermost first."""
    return [path for path in (folder, *folder.parents) if not os.path.exists(path)]


def remove_empty_folders(folders: Iterable[Path]) -> None:
    """Remove folders, in this order, as far as they are there and empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
