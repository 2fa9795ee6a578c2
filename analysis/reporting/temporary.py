"""Make folders for temporary files that do not stay, whatever ends the process that made them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ground.locking import abandoned, held

PREFIX = "waver-report-"


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make a private folder and remove it at the end of the block; first remove those that killed processes left."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if (lock := abandoned(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    with contextlib.ExitStack() as parts:
        made = _locked(parts)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _locked(lock: contextlib.ExitStack) -> Path:
    """Make a folder and lock it; until it is locked, another thread or process may take it for one that was left."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        with contextlib.suppress(FileNotFoundError):
            lock.enter_context(held(made))
            if made.is_dir():
                return made
