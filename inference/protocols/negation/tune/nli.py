"""Tune an encoder on premises and hypotheses with labels, as Yoshida et al., section 4.1 and appendices D.2 and D.3."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_quantity
from inference.protocols.negation.tune.cells import CellResult, CellsFolder, TrainingCell
from inference.stimuli import nli
from inference.stimuli.nli import LABELS, Instance
from inference.stimuli.random_order import compute_sort_key_for_random_order

if TYPE_CHECKING:
    from inference.protocols.negation.tune.training import Encoder

HELD_OUT_SHARE = 0.2
"""Share of the rows that are not trained on, and choose learning rate and epochs (appendix D.2)."""
FEWEST_ROWS = 10
"""Rows below which there is nothing to hold out."""


@dataclass(frozen=True, slots=True)
class TuningGrid:
    """The settings to choose from: learning rates and numbers of epochs (Table 6 of the paper)."""

    rates: tuple[float, ...] = (5e-5, 3e-5, 2e-5)
    epochs: tuple[int, ...] = (3, 4, 5)

    def list_training_cells_of_seed(self, seed: int) -> list[TrainingCell]:
        """List the trainings of one seed."""
        return [TrainingCell(seed, rate, epochs) for rate in self.rates for epochs in self.epochs]


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The checkpoint of a seed, the cell that it comes from, and its result on the held-out rows."""

    folder: Path
    cell: TrainingCell
    result: CellResult


def read_tuning_pairs(paths: Sequence[Path]) -> list[Instance]:
    """Read the rows of all files as one set: a row that several files have is trained on once.

    D_JNLI and D_neg are together the files of JNLI and JNLI-Neg: the originals of JNLI-Neg are rows of JNLI.

    Raises
    ------
    InputError
        As for `nli.read_sentence_pairs_of_nli`; and for too few rows, or a label that no row has.
    """
    all_rows: list[Instance] = []
    row_keys: set[tuple[str, str, str]] = set()
    for path in paths:
        rows = [row for row in nli.read_sentence_pairs_of_nli(path) if _build_row_key(row) not in row_keys]
        all_rows += rows
        row_keys |= set(map(_build_row_key, rows))
    file_names = ", ".join(map(str, paths))
    if len(all_rows) < FEWEST_ROWS:
        raise InputError(
            f"{file_names}: {format_quantity(len(all_rows), 'row')}; give {FEWEST_ROWS} or more to tune on"
        )
    missing = [label for label in LABELS if all(row.label != label for row in all_rows)]
    if missing:
        raise InputError(f"{file_names}: no row has the label {missing[0]}; add some, or the model cannot learn it")
    return all_rows


def draw_train_and_held_out_row_numbers(n_rows: int, seed: int) -> tuple[list[int], list[int]]:
    """Draw the rows to train on and those held out, 80 and 20 % of all.

    Parameters
    ----------
    n_rows
        How many rows there are.
    seed
        Of the draw.

    Returns
    -------
    Numbers of the rows to train on, and of those held out, both in random order.
    """
    order = sorted(range(n_rows), key=lambda row: compute_sort_key_for_random_order(seed, "tune", str(row)))
    held_out = round(HELD_OUT_SHARE * n_rows)
    return order[held_out:], order[:held_out]


def build_nli_tuning_record(
    encoder: Encoder, rows: Sequence[Instance], files: Sequence[Path], grid: TuningGrid
) -> dict[str, Any]:
    """Say what a tuning is: what must be the same when a stopped one goes on. The number of seeds may grow.

    Parameters
    ----------
    encoder
        The model to tune.
    rows
        The rows of all files.
    files
        The files; only their names are recorded.
    grid
        The settings to choose from.

    Returns
    -------
    The record, as JSON can hold it: model, files, numbers of rows and labels, a digest of the rows, and the settings.
    """
    return {
        "base": encoder.name,
        "revision": encoder.revision,
        "files": [path.name for path in files],
        "rows": len(rows),
        "labels": dict(sorted(Counter(row.label for row in rows).items())),
        "digest": _compute_digest_of_json(list(map(_build_row_key, rows))),
        "rates": list(grid.rates),
        "epochs": list(grid.epochs),
        "settings": encoder.settings,
    }


def train_cells_and_yield_choices(
    encoder: Encoder, rows: Sequence[Instance], files: Sequence[Path], grid: TuningGrid, n_seeds: int, out: Path
) -> Iterator[str | ChosenModel]:
    """Train every cell of the grid that is not finished, for every seed, and choose the best on the held-out rows.

    Parameters
    ----------
    encoder
        The model to tune.
    rows
        The rows of all files, in the encoder's order.
    files
        Where they come from.
    grid
        The settings to choose from.
    n_seeds
        How many seeds: 0, 1, 2 ...
    out
        The folder of the tuning.

    Yields
    ------
    A line for every cell, and after the last one of a seed what was chosen.

    Raises
    ------
    InputError
        The folder holds something else, or a tuning that was asked for otherwise.
    RunFailed
        The training diverged, or a checkpoint cannot be written.
    """
    tuning_record = build_nli_tuning_record(encoder, rows, files, grid)
    record = {
        "name": out.resolve().name,
        "set": _compute_digest_of_json(tuning_record),
        "base": encoder.name,
        "files": tuning_record["files"],
    }
    with CellsFolder(out, tuning_record) as folder:
        for seed in range(n_seeds):
            train, held_out = draw_train_and_held_out_row_numbers(len(rows), seed)
            cells = grid.list_training_cells_of_seed(seed)
            for cell in cells:
                finished_result = folder.read_result_of_cell(cell)
                result = finished_result or folder.train_and_save_cell(
                    cell, partial(encoder.tune_save_and_test_encoder, cell, train, held_out, record)
                )
                best, best_result = folder.choose_best_cell_and_remove_other_checkpoints(cells)
                yield (
                    f"seed {cell.seed}, rate {cell.rate:g}, {cell.epochs} epochs: accuracy {result.accuracy:.4f} on "
                    f"{len(held_out):,} held-out rows{' (finished before)' if finished_result else ''}"
                )
            yield ChosenModel(folder.publish_checkpoint(best), best, best_result)


def _build_row_key(row: Instance) -> tuple[str, str, str]:
    """Return the two sentences and the label of a row, by which equal rows are found."""
    return row.premise, row.hypothesis, row.label


def _compute_digest_of_json(value: Any) -> str:
    """Compute the sha256 of a value as JSON."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
