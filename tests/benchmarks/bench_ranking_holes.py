"""Coverage of the 95 % interval of a ranking's reliability where items have some of the wordings, simulated.

    python tests/benchmarks/bench_ranking_holes.py              # some minutes; a part of bench_coverage.py
    python tests/benchmarks/bench_ranking_holes.py --runs 100   # coarser

Models are asked 2, 5 or 12 of 19 wordings of each item, 4 of 8, all of 5, or 5 of its own. Effects are normal; those of
model by item and what is left have one SD for all items and wordings, or SDs that are lognormal .5 over both. The truth
is the coefficient (E rho^2) of the study's own wordings: model / (model + model by item / items + model by wording /
wordings shared + rest / answers). `stated`: mean of the estimates. In brackets: the share of studies that show an
interval. Exit status 1 where a shown interval covers less than .92 (.90 with ten items), beyond the error of the
simulation, or leaves out its estimate. A cell with such a fault is simulated once more, with other draws and four times
as many studies, and that counts.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.statistics.reliability.components import estimate_model_variance_components  # noqa: E402
from analysis.statistics.reliability.generalizability import (  # noqa: E402
    compute_relative_coefficient,
    compute_relative_coefficient_interval,
)
from helpers.ranked_models import draw_answers  # noqa: E402
from helpers.unlike_items import DESIGNS, Design  # noqa: E402

MODELS, ITEMS, SPREADS = (3, 6, 18), (10, 62), (0.0, 0.5)
SELDOM = 0.05  # share of studies below which a shown interval is no more than an accident


def measure_cell(
    n_models: int, n_items: int, design: Design, spread: float, runs: int, seed: int = 0
) -> dict[str, float]:
    """Return the mean of the truths and of the estimates, coverage, the share shown, and estimates left out."""
    rng = np.random.default_rng([seed, n_models, n_items, DESIGNS.index(design), int(10 * spread)])
    truths, estimates, covered = [], [], []
    outside = 0
    for _ in range(runs):
        answers, truth = draw_answers(rng, n_models, n_items, design, spread)
        truths.append(truth)
        components = estimate_model_variance_components(answers, design.crossed)
        if components is None:  # too few answers to tell anything apart: nothing is stated
            continue
        estimate = compute_relative_coefficient(components, components.n_items, components.n_wordings)
        low, high = compute_relative_coefficient_interval(components)
        estimates.append(estimate)
        if low == low:
            covered.append(low <= truth <= high)
            outside += not low - 1e-9 <= estimate <= high + 1e-9
    coverage = float(np.mean(covered)) if covered else np.nan
    return {"truth": float(np.mean(truths)), "stated": float(np.nanmean(estimates)), "coverage": coverage,
            "shown": len(covered) / runs, "outside": float(outside)}  # fmt: skip


def is_low(cell: dict[str, float], n_items: int, runs: int) -> bool:
    """Tell whether a cell covers too little, or leaves out an estimate."""
    least = 0.90 if n_items <= 10 else 0.92
    error = 2 * np.sqrt(0.08 / (runs * cell["shown"])) if cell["shown"] else 0.0
    return bool(cell["outside"] or (cell["shown"] > SELDOM and cell["coverage"] < least - error))


def print_rankings(runs: int) -> list[str]:
    """Print the table, and list the cells that cover too little."""
    low = []
    print(f"{'wordings':>9} {'models':>6} {'items':>5} {'SDs':>4} {'truth':>6} {'stated':>6} {'covered (shown)':>16}")
    for design, n_models, n_items, spread in itertools.product(DESIGNS, MODELS, ITEMS, SPREADS):
        name = f"{design!s:>9} {n_models:>6} {n_items:>5} {spread:>4}"
        for seed, number in ((0, runs), (1, 4 * runs)):
            cell = measure_cell(n_models, n_items, design, spread, number, seed)
            figures = f"{cell['coverage']:.3f} ({cell['shown']:.2f})" if cell["shown"] else "-"
            print(f"{name} {cell['truth']:>6.2f} {cell['stated']:>6.2f} {figures:>16}", flush=True)
            if not is_low(cell, n_items, number):
                break
        else:
            low.append(f"{name.strip()}: {figures}")
    print(f"rankings: below the limit by more than the simulation's error: {low or 'none'}")
    return low


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, help="simulated studies per cell")
    return 1 if print_rankings(parser.parse_args().runs) else 0


if __name__ == "__main__":
    sys.exit(main())
