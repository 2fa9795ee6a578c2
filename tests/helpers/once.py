"""Make a folder once for all processes of a run of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ground.locking import WINDOWS, hold_lock_during_block


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Make a folder, unless another process of these tests has made it; who comes meanwhile waits.

    Parameters
    ----------
    factory
        That of the tests.
    name
        The name of the folder.
    make
        Fills the folder, which is there and empty. Whoever uses it later changes nothing in it.

    Returns
    -------
    The folder.
    """
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ and not WINDOWS else base  # locks are missing there
    folder, whole = root / name, root / f"{name}.whole"
    with hold_lock_during_block(root / f"{name}.lock", os.O_RDWR | os.O_CREAT):
        if not whole.exists():
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
