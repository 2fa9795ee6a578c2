"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Write to a file next to it, flush it to disk, rename it, flush the folder: there is the old file or the new one.

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
    try:
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


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
