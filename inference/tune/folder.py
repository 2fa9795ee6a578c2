"""Keep a tuning in a folder: what was asked for, and a lock while it goes on.

    OUT/tuning.json               what must be the same when a stopped tuning goes on

What else stands there, its kind of tuning decides: `cells` and `choice.checkpoints`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ground.errors import InputError
from ground.locking import lock
from ground.writing import absent, remove_empty, write_atomically
from inference.engines.adapters import RECORD as ASKED
from inference.stimuli.files import parse_json, text_of

OURS = re.compile(rf"\.lock|{re.escape(ASKED)}\.tmp|\.{re.escape(ASKED)}\.\d+")
"""What a call that was killed at its very beginning leaves."""


class Folder:
    """The folder of a tuning, locked while it is open (`with`)."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """Check a folder that is there; nothing is made before the `with` block.

        Raises
        ------
        InputError
            It holds something else, or a tuning that was asked for otherwise.
        """
        self.path = path
        self._asked = asked
        self._lock: int | None = None
        file = path / ASKED
        if file.exists():
            _refuse_other(file, asked)
        elif path.exists() and (not path.is_dir() or any(OURS.fullmatch(each.name) is None for each in path.iterdir())):
            raise InputError(f"{path}: this is no tuning (it has no {ASKED}); choose another --out")

    def __enter__(self) -> Self:
        made = absent(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock(self.path)
        except InputError:
            remove_empty(made)
            raise
        if not (self.path / ASKED).exists():
            write_json(self.path / ASKED, self._asked)
        self._clear()
        return self

    def _clear(self) -> None:
        """Remove what a killed call left half done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)


def write_json(file: Path, content: Any) -> None:
    """Write a record whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(file, lambda aside: aside.write_text(text, encoding="utf-8"))


def _refuse_other(file: Path, asked: Mapping[str, Any]) -> None:
    known = parse_json(file, text_of(file))
    if not isinstance(known, dict):
        raise InputError(f"{file}: expected an object with named fields; restore the file")
    changed = [name for name in {**known, **asked} if known.get(name) != asked.get(name)]
    if changed:
        name = changed[0]
        raise InputError(
            f"{file}: {name} was {known.get(name)}, now {asked.get(name)}; repeat that call, or choose another --out"
        )
