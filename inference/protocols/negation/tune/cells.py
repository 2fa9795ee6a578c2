"""Keep the cells of a grid in the folder of a tuning: a record per finished cell, and the best checkpoint of each seed.

    OUT/cells/CELL/cell.json      the result of a cell: written as soon as it is finished, never removed
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
from inference.stimuli.reading.files import parse_json, read_text_file
from inference.tune.folder import TuningFolder

CELLS_FOLDER, RECORD_FILE, MODEL_FOLDER = "cells", "cell.json", "model"


@dataclass(frozen=True, slots=True)
class TrainingCell:
    """One training: the seed of split and training, the learning rate, and the passes over the training rows."""

    seed: int
    rate: float
    epochs: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"seed-{self.seed}-rate-{self.rate:g}-epochs-{self.epochs}"


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a cell on the held-out rows: share of right labels, and mean cross-entropy in nats."""

    accuracy: float
    loss: float


class CellsFolder(TuningFolder):
    """The folder of a tuning that goes through a grid."""

    def _remove_leftovers_of_killed_call(self) -> None:
        """Remove the trainings that a killed call left half done."""
        (self.path / CELLS_FOLDER).mkdir(exist_ok=True)
        for leftover in (self.path / CELLS_FOLDER).glob("*.tmp"):
            shutil.rmtree(leftover)

    def read_result_of_cell(self, cell: TrainingCell) -> CellResult | None:
        """Read the result of a cell; None where it is not finished.

        Raises
        ------
        InputError
            Its record is damaged.
        """
        file = self.path / CELLS_FOLDER / cell.name / RECORD_FILE
        if not file.exists():
            return None
        record = parse_json(file, read_text_file(file))
        try:
            return CellResult(float(record["accuracy"]), float(record["loss"]))
        except (TypeError, KeyError, ValueError):
            raise InputError(f"{file}: accuracy or loss is missing or no number; remove {file.parent}") from None

    def train_and_save_cell(self, cell: TrainingCell, train: Callable[[Path], CellResult]) -> CellResult:
        """Train a cell, and keep its checkpoint and its result.

        Parameters
        ----------
        cell
            The cell; it is not finished yet.
        train
            Trains it, saves the checkpoint in the folder that it is given, and returns the result.

        Returns
        -------
        The result.
        """
        aside = self.path / CELLS_FOLDER / f"{cell.name}.tmp"
        (aside / MODEL_FOLDER).mkdir(parents=True)
        result = train(aside / MODEL_FOLDER)
        (aside / RECORD_FILE).write_text(json.dumps({**asdict(cell), **asdict(result)}) + "\n", encoding="utf-8")
        aside.rename(self.path / CELLS_FOLDER / cell.name)
        return result

    def choose_best_cell_and_remove_other_checkpoints(
        self, cells: Sequence[TrainingCell]
    ) -> tuple[TrainingCell, CellResult]:
        """Find the best of the finished cells of a seed and its result; remove the checkpoints of the others.

        The best has the highest accuracy; of several, the lowest loss; of several, it comes first.
        """
        results = {cell: result for cell in cells if (result := self.read_result_of_cell(cell)) is not None}
        best = min(results, key=lambda cell: (-results[cell].accuracy, results[cell].loss))
        for cell in results:
            if cell != best:
                shutil.rmtree(self.path / CELLS_FOLDER / cell.name / MODEL_FOLDER, ignore_errors=True)
        return best, results[best]

    def publish_checkpoint(self, cell: TrainingCell) -> Path:
        """Move the checkpoint of the best cell of a seed to where it is asked from; return that folder.

        Raises
        ------
        InputError
            The checkpoint is gone.
        """
        place = self.path / f"{self.path.resolve().name}-{cell.seed}"
        model = self.path / CELLS_FOLDER / cell.name / MODEL_FOLDER
        if not place.exists():
            if not model.is_dir():
                raise InputError(
                    f"{place}: the checkpoint of seed {cell.seed} is gone; remove {model.parent} to train it again"
                )
            model.rename(place)
        return place
