"""Describe calls that end in one line: a file of cases per area, run by `tests/whole/test_refusals.py`.

A case writes its files into an empty folder, and calls a command there::

    Case(
        "an id that is not finite",
        "inference run agreement --items items.csv --model demo --out run",
        ("items.csv", "row 2", "item"),
        {"items.csv": "item,text\\ninf,One.\\n"},
    )

Status 2 (a wrong call or input) and 1 (a right call that could not finish): one line on standard error that holds all
words. Status 2 also leaves nothing new in the folder. Status 0 is for what is taken, but told: all words stand in one
line of standard error, whatever else is written.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """Hold one call and how it must end.

    Attributes
    ----------
    name
        What is wrong; unique within its area.
    call
        The command without `python -m`: words separated by blanks, or a tuple of words where one holds a blank.
    words
        What the line says, in any order, whatever the case of the letters.
    files
        Name -> text or bytes, written first; or a function that writes into the folder it is given.
    status
        The exit status: 2, 1 or 0 (told).
    without
        Modules that are not installed.
    site
        Folder of packages that are installed, one of `files`; empty: none.
    """

    name: str
    call: str | tuple[str, ...]
    words: tuple[str, ...]
    files: Mapping[str, str | bytes] | Callable[[Path], object] = field(default_factory=dict)
    status: int = 2
    without: tuple[str, ...] = ()
    site: str = ""

    @property
    def arguments(self) -> list[str]:
        """The words of the call."""
        return self.call.split() if isinstance(self.call, str) else list(self.call)

    def write(self, folder: Path) -> None:
        """Write the files of the case into a folder."""
        if callable(self.files):
            self.files(folder)
            return
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def write_once(write: Callable[[Path], object]) -> Callable[[Path], None]:
    """Let a function write what many cases begin with once in a process: they get copies, for a tenth of its time."""

    @functools.cache
    def make() -> tempfile.TemporaryDirectory[str]:
        made = tempfile.TemporaryDirectory(prefix="waver-case-")  # removed when the process ends
        write(Path(made.name))
        return made

    @functools.wraps(write)
    def copy(folder: Path) -> None:
        shutil.copytree(make().name, folder, dirs_exist_ok=True)

    return copy


def areas() -> dict[str, list[Case]]:
    """Find the cases of all areas: a module beside this one that has `CASES` is an area."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return {module.__name__.rpartition(".")[2]: module.CASES for module in modules if hasattr(module, "CASES")}
