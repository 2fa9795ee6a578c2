"""Keep the cells of a grid in the folder of a tuning: a record per finished cell, and the best checkpoint of each seed.

    OUT/cells/CELL/cell.json      what came of a cell: there as soon as the cell is finished, and it stays
    OUT/cells/CELL/model/         its checkpoint, while no other cell of its seed is better
    OUT/NAME-SEED/                the checkpoint of the best cell, once all cells of the seed are finished

A cell is trained beside its place and moved there whole, and every later step is one rename or a removal that can be
repeated: a killed call loses the cell that it was training, and nothing else.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ground.errors import InputError
from inference.stimuli.files import parse_json, text_of
from inference.tune.folder import Folder

CELLS, RECORD, MODEL = "cells", "cell.json", "model"


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


class Cells(Folder):
    """The folder of a tuning that goes through a grid."""

    def _clear(self) -> None:
        (self.path / CELLS).mkdir(exist_ok=True)
        for leftover in (self.path / CELLS).glob("*.tmp"):
            shutil.rmtree(leftover)

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
