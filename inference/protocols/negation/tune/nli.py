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

from ground.errors import InputError
from inference.protocols.negation.tune.cells import Cell, Cells, Result
from inference.stimuli import nli
from inference.stimuli.nli import LABELS, Instance
from inference.stimuli.random_order import place

if TYPE_CHECKING:
    from inference.protocols.negation.tune.training import Encoder

HELD_OUT = 0.2
"""Share of the rows that are not trained on, and choose learning rate and epochs (appendix D.2)."""
FEWEST = 10
"""Rows below which there is nothing to hold out."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The settings to choose from: learning rates and numbers of epochs (Table 6 of the paper)."""

    rates: tuple[float, ...] = (5e-5, 3e-5, 2e-5)
    epochs: tuple[int, ...] = (3, 4, 5)

    def cells(self, seed: int) -> list[Cell]:
        """List the trainings of one seed."""
        return [Cell(seed, rate, epochs) for rate in self.rates for epochs in self.epochs]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The checkpoint of a seed, the cell that it comes from, and what that reached on the held-out rows."""

    folder: Path
    cell: Cell
    result: Result


def read(paths: Sequence[Path]) -> list[Instance]:
    """Read the rows of all files as one set: what two files have in common is trained on once.

    D_JNLI and D_neg are together the files of JNLI and JNLI-Neg: the originals of JNLI-Neg are rows of JNLI.

    Raises
    ------
    InputError
        Of `nli.read`; too few rows, or a label that no row has.
    """
    found: list[Instance] = []
    before: set[tuple[str, str, str]] = set()
    for path in paths:
        rows = [each for each in nli.read(path) if _key(each) not in before]
        found += rows
        before |= set(map(_key, rows))
    named = ", ".join(map(str, paths))
    if len(found) < FEWEST:
        raise InputError(f"{named}: {len(found)} rows; give {FEWEST} or more to tune on")
    missing = [label for label in LABELS if all(each.label != label for each in found)]
    if missing:
        raise InputError(f"{named}: no row has the label {missing[0]}; add some, or the model cannot learn it")
    return found


def split(number: int, seed: int) -> tuple[list[int], list[int]]:
    """Draw the rows to train on and those held out, 80 and 20 % of all, in a random order of their numbers."""
    order = sorted(range(number), key=lambda row: place(seed, "tune", str(row)))
    held_out = round(HELD_OUT * number)
    return order[held_out:], order[:held_out]


def asked(encoder: Encoder, rows: Sequence[Instance], files: Sequence[Path], grid: Grid) -> dict[str, Any]:
    """Say what a tuning is: what must be the same when a stopped one goes on. The number of seeds may grow."""
    return {
        "base": encoder.name,
        "revision": encoder.revision,
        "files": [path.name for path in files],
        "rows": len(rows),
        "labels": dict(sorted(Counter(each.label for each in rows).items())),
        "digest": _digest(list(map(_key, rows))),
        "rates": list(grid.rates),
        "epochs": list(grid.epochs),
        "settings": encoder.settings,
    }


def tune(
    encoder: Encoder, rows: Sequence[Instance], files: Sequence[Path], grid: Grid, seeds: int, out: Path
) -> Iterator[str | Chosen]:
    """Train every cell of the grid that is not finished, for every seed, and choose the best on the held-out rows.

    Yields
    ------
    A line for every cell, and after the last one of a seed what was chosen.
    """
    wanted = asked(encoder, rows, files, grid)
    record = {"name": out.resolve().name, "set": _digest(wanted), "base": encoder.name, "files": wanted["files"]}
    with Cells(out, wanted) as folder:
        for seed in range(seeds):
            train, held_out = split(len(rows), seed)
            cells = grid.cells(seed)
            for cell in cells:
                known = folder.result(cell)
                result = known or folder.finish(cell, partial(encoder.train, cell, train, held_out, record))
                best = folder.keep_best(cells)
                yield (
                    f"seed {cell.seed}, rate {cell.rate:g}, {cell.epochs} epochs: accuracy {result.accuracy:.4f} on "
                    f"{len(held_out):,} held-out rows{' (finished before)' if known else ''}"
                )
            yield Chosen(folder.publish(best.cell), best.cell, best.result)


def _key(row: Instance) -> tuple[str, str, str]:
    return row.premise, row.hypothesis, row.label


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
