"""Keep a tuning in a folder: what was asked for, a record per finished cell, and the chosen checkpoint of each seed.

    OUT/tuning.json               base model, rows and grid
    OUT/cells/CELL/cell.json      what came of a cell: there as soon as the cell is finished, and it stays
    OUT/cells/CELL/model/         its checkpoint, while no other cell of its seed is better
    OUT/NAME-SEED/                the checkpoint of the best cell, once all cells of the seed are finished

A cell is trained beside its place and moved there whole, and every later step is one rename or a removal that can be
repeated: a killed call loses the cell that it was training, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inference.errors import InputError
from inference.runfolder.locking import absent, lock, remove_empty
from inference.runfolder.parquet import write_atomically
from inference.stimuli.files import parse_json, text_of

ASKED, CELLS, RECORD, MODEL, LOCK = "tuning.json", "cells", "cell.json", "model", ".lock"


@dataclass(frozen=True, slots=True)
class Cell:
    """One training: the seed of split and training, the learning rate, and the passes over the training rows."""

    seed: int
    rate: float
    epochs: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"seed-{self.seed}-rate-{self.rate:g}-epochs-{self.epochs}"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a cell on the held-out rows: share of right labels, and mean cross-entropy in nats."""

    accuracy: float
    loss: float


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished cell and what came of it."""

    cell: Cell
    result: Result


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
        elif path.exists() and (not path.is_dir() or any(each.name != LOCK for each in path.iterdir())):
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
            text = json.dumps(self._asked, indent=1, ensure_ascii=False) + "\n"
            write_atomically(self.path / ASKED, lambda aside: aside.write_text(text, encoding="utf-8"))
        (self.path / CELLS).mkdir(exist_ok=True)
        for leftover in (self.path / CELLS).glob("*.tmp"):
            shutil.rmtree(leftover)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def result(self, cell: Cell) -> Result | None:
        """Read what came of a cell; None where it is not finished."""
        file = self.path / CELLS / cell.name / RECORD
        if not file.exists():
            return None
        record = parse_json(file, text_of(file))
        try:
            return Result(float(record["accuracy"]), float(record["loss"]))
        except (TypeError, KeyError, ValueError):
            raise InputError(f"{file}: accuracy or loss is missing or no number; remove {file.parent}") from None

    def finish(self, cell: Cell, train: Callable[[Path], Result]) -> Result:
        """Train a cell and keep it; `train` saves the checkpoint in the folder that it is given."""
        aside = self.path / CELLS / f"{cell.name}.tmp"
        (aside / MODEL).mkdir(parents=True)
        result = train(aside / MODEL)
        (aside / RECORD).write_text(json.dumps({**asdict(cell), **asdict(result)}) + "\n", encoding="utf-8")
        aside.rename(self.path / CELLS / cell.name)
        return result

    def keep_best(self, cells: Sequence[Cell]) -> Finished:
        """Find the best of the finished cells of a seed, and remove the checkpoints of the others.

        The best has the highest accuracy; of several, the lowest loss; of several, it comes first.
        """
        found = [Finished(cell, result) for cell in cells if (result := self.result(cell)) is not None]
        best = min(found, key=lambda each: (-each.result.accuracy, each.result.loss))
        for each in found:
            if each.cell != best.cell:
                shutil.rmtree(self.path / CELLS / each.cell.name / MODEL, ignore_errors=True)
        return best

    def publish(self, cell: Cell) -> Path:
        """Move the checkpoint of the best cell of a seed to where it is asked from; return that folder."""
        place = self.path / f"{self.path.resolve().name}-{cell.seed}"
        model = self.path / CELLS / cell.name / MODEL
        if not place.exists():
            if not model.is_dir():
                raise InputError(
                    f"{place}: the checkpoint of seed {cell.seed} is gone; remove {model.parent} to train it again"
                )
            model.rename(place)
        return place


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
