"""Keep a tuning in a folder: what was asked for, and a lock while it goes on.

    OUT/tuning.json               what must be the same when a stopped tuning goes on

What else stands there depends on the kind of tuning: `protocols.negation.tune.cells` and
`protocols.choice.tune.checkpoints` say it.
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
from ground.locking import lock_folder
from ground.writing import list_missing_folder_and_parents, remove_empty_folders, write_atomically
from inference.engines.adapters import RECORD
from inference.stimuli.reading.files import parse_json, read_text_file

OWN_LEFTOVERS = re.compile(rf"\.lock|{re.escape(RECORD)}\.tmp|\.{re.escape(RECORD)}\.\d+")
"""What a call that was killed at its very beginning leaves."""


class TuningFolder:
    """The folder of a tuning, locked while it is open (`with`)."""

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        """Check a folder that is there; nothing is made before the `with` block.

        Raises
        ------
        InputError
            It holds something else, or a tuning that was asked for otherwise.
        """
        self.path = path
        self._record = record
        self._lock: int | None = None
        file = path / RECORD
        if file.exists():
            _refuse_folder_of_other_tuning(file, record)
        elif path.exists() and (
            not path.is_dir() or any(OWN_LEFTOVERS.fullmatch(entry.name) is None for entry in path.iterdir())
        ):
            raise InputError(f"{path}: this is no tuning (it has no {RECORD}); choose another --out")

    def __enter__(self) -> Self:
        made_folders = list_missing_folder_and_parents(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock_folder(self.path)
        except InputError:
            remove_empty_folders(made_folders)
            raise
        if not (self.path / RECORD).exists():
            write_record_as_json(self.path / RECORD, self._record)
        self._remove_leftovers_of_killed_call()
        return self

    def _remove_leftovers_of_killed_call(self) -> None:
        """Remove what a killed call left half done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)


def write_record_as_json(file: Path, content: Any) -> None:
    """Write a record as JSON, whole or not at all.

    Parameters
    ----------
    file
        Where to; a file that is there is replaced.
    content
        What JSON can hold.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(file, lambda aside: aside.write_text(text, encoding="utf-8"))


def _refuse_folder_of_other_tuning(file: Path, record: Mapping[str, Any]) -> None:
    """Refuse a folder whose recorded tuning differs from this one; the error names the first field that does."""
    recorded = parse_json(file, read_text_file(file))
    if not isinstance(recorded, dict):
        raise InputError(f"{file}: expected an object with named fields; restore the file")
    changed = [name for name in {**recorded, **record} if recorded.get(name) != record.get(name)]
    if changed:
        name = changed[0]
        raise InputError(
            f"{file}: {name} was {recorded.get(name)}, now {record.get(name)}; repeat that call, or choose another "
            "--out"
        )
