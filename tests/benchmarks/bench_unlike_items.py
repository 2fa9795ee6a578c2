"""Coverage of the 95 % intervals of components where items have some of the wordings, and differ in stability.

    python tests/benchmarks/bench_unlike_items.py              # some minutes; a part of bench_coverage.py
    python tests/benchmarks/bench_unlike_items.py --runs 100   # coarser

Answers are drawn as `tests/helpers/unlike_items.py` says: 2, 5 and 12 of 19 wordings for each item, 4 of 8, all of 5,
and 5 of its own; items alike, with SDs lognormal .5 and 1, 5 % of them unstable, and answers of 0 and 1. The truth is
that of a very large study. In brackets: the share of studies in which the interval is shown. `enough`: share of studies
in which the widening's interval says so, and it is not true. Exit status 1 where a shown interval covers less than .92
(.90 with ten items), beyond the error of the simulation, leaves out its estimate, or `enough` is false in more than
.05. A cell with such a fault is simulated once more, with other draws and four times as many studies, and that counts:
of some 600 figures, one or the other is low by chance.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.statistics.reliability.panel import estimate_panel_mean  # noqa: E402
from analysis.statistics.reliability.ranges import compute_component_intervals  # noqa: E402
from helpers.unlike_items import DESIGNS, SHAPES, Design, draw_study, true_components  # noqa: E402

SIZES = (10, 30, 62, 200)
FIGURES = ("mean", "item", "wording", "interaction", "widening")
ENOUGH = 1.1
SELDOM = 0.05  # share of studies below which a shown interval is no more than an accident


def measure_cell(shape: str, design: Design, n_items: int, runs: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Return the coverage of every figure, and the share of studies that show it; `enough`: how often it is false."""
    mean, item, wording, interaction = true_components(shape)
    own = wording if design.crossed else wording + interaction
    held: dict[str, list[bool]] = {name: [] for name in FIGURES}
    rng = np.random.default_rng([seed, list(SHAPES).index(shape), DESIGNS.index(design), n_items])
    false = outside = 0
    for _ in range(runs):
        study = estimate_panel_mean(draw_study(rng, shape, design, n_items), design.crossed)
        incidence, ends = study.incidence, compute_component_intervals(study, (0.0, 1.0))
        ends["mean"] = study.compute_interval("both")
        shared = wording / incidence.n_shared if design.crossed else 0.0
        inner = interaction if design.crossed else own
        least = item / n_items
        widening = float(np.sqrt((least + shared + inner / incidence.n_wordings / n_items) / least))
        truth = dict(zip(FIGURES, (mean, item, own, interaction, widening), strict=True))
        for name, value in truth.items():
            low, high = ends[name]
            if low == low:
                held[name].append(low <= value <= high)
                estimate = (
                    study.compute_interval_widening_by_few_wordings() if name == "widening" else getattr(study, name)
                )
                outside += not low - 1e-9 <= max(estimate, 0.0) <= high + 1e-9
        false += ends["widening"][1] <= ENOUGH < widening
    cells = {name: (float(np.mean(hits)) if hits else np.nan, len(hits) / runs) for name, hits in held.items()}
    return cells | {"enough": (false / runs, 1.0), "outside": (float(outside), 1.0)}


def print_unlike_items(runs: int) -> list[str]:
    """Print the table, and list what covers too little."""
    all_faults = []
    print(f"{'items':>14} {'wordings':>9} {'n':>4} " + " ".join(f"{name:>13}" for name in (*FIGURES, "enough")))
    for shape, design, n_items in itertools.product(SHAPES, DESIGNS, SIZES):
        about = f"{shape:>14} {design!s:>9} {n_items:>4}"
        cells = measure_cell(shape, design, n_items, runs)
        print_cells(about, cells)
        if list_faults(cells, n_items, runs):
            cells = measure_cell(shape, design, n_items, 4 * runs, seed=1)
            print_cells(f"{'again':>14} {design!s:>9} {n_items:>4}", cells)
            all_faults += [f"{about.strip()}: {fault}" for fault in list_faults(cells, n_items, 4 * runs)]
    print(f"below the limit by more than the simulation's error: {all_faults or 'none'}")
    return all_faults


def print_cells(about: str, cells: dict[str, tuple[float, float]]) -> None:
    """Print a line of the table."""
    texts = [f"{share:.3f} ({shown:.2f})" if shown else "-" for share, shown in (cells[name] for name in FIGURES)]
    print(f"{about} " + " ".join(f"{text:>13}" for text in (*texts, f"{cells['enough'][0]:.3f}")), flush=True)


def list_faults(cells: dict[str, tuple[float, float]], n_items: int, runs: int) -> list[str]:
    """List the figures of a cell that cover too little, leave out their estimate, or say `enough` too often."""
    least = 0.90 if n_items <= 10 else 0.92
    faults = [
        f"{name} {share:.3f}"
        for name, (share, shown) in cells.items()
        if name in FIGURES and shown > SELDOM and share < least - 2 * np.sqrt(0.08 / (runs * shown))
    ]
    enough, outside = cells["enough"][0], cells["outside"][0]
    if enough > 0.05 + 2 * np.sqrt(0.0475 / runs):
        faults.append(f"enough {enough:.3f}")
    if outside:
        faults.append(f"{outside:.0f} estimates outside")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="simulated studies per cell")
    return 1 if print_unlike_items(parser.parse_args().runs) else 0


if __name__ == "__main__":
    sys.exit(main())
