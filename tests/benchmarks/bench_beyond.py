"""False positives and power of the tests of `beyond_rewording`, simulated: shared wordings, and each item's own.

    python tests/benchmarks/bench_beyond.py               # minutes
    python tests/benchmarks/bench_beyond.py --runs 500    # coarser

`null`: two models differ by a draw of wordings only. False positives of the test for these wordings (items) and of the
one for wordings like these (both) at .05. `compute_power`: how often a difference is found, beside what the planner
foresees. Exit status 1 where, beyond the error of the simulation, false positives are not within .04 to .06 (2
wordings: .02 to .06) where a test over items has more than .10, or where the power is off by more than 2 points.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis.statistics.reliability.forecast import MeanForecast  # noqa: E402
from analysis.statistics.reliability.panel import estimate_panel_mean  # noqa: E402
from analysis.statistics.reliability.planning import compute_power_of_difference_test  # noqa: E402
from analysis.statistics.reliability.replication import compute_p_of_panel_mean_against_value  # noqa: E402

ITEMS, WORDINGS = (30, 62, 300, 1000), (2, 5, 10, 20)
SHARED = (0.07, 0.15)  # SD of wordings that items share
ITEM, INNER = 0.3, 0.2
POWERS = (0.5, 0.8, 0.9)
LEVEL = 0.05


def found(rng: np.random.Generator, items: int, wordings: int, shared: float, crossed: bool, difference: float) -> dict:
    """Draw one study; return the p values."""
    values = difference + rng.normal(0, ITEM, (items, 1)) + rng.normal(0, INNER, (items, wordings))
    values += rng.normal(0, shared, (1 if crossed else items, wordings))
    one = estimate_panel_mean(values, crossed)
    return {anew: compute_p_of_panel_mean_against_value(one, anew) for anew in ("items", "both")}


def null(runs: int) -> bool:
    """Print false positives; tell whether they are as they should be."""
    print(f"{'shared SD':>9} {'wordings':>8} {'items':>6} {'items only':>10} {'both':>6}")
    wrong = []
    for shared, wordings, items in product(SHARED, WORDINGS, ITEMS):
        rng = np.random.default_rng([items, wordings])
        p = [found(rng, items, wordings, shared, True, 0.0) for _ in range(runs)]
        these, both = (float(np.mean([each[anew] < LEVEL for each in p])) for anew in ("items", "both"))
        print(f"{shared:>9} {wordings:>8} {items:>6} {these:>10.3f} {both:>6.3f}", flush=True)
        error = 2 * np.sqrt(0.05 * 0.95 / runs)
        if these > 0.1 and not (0.02 if wordings == 2 else 0.04) - error <= both <= 0.06 + error:
            wrong.append((shared, wordings, items))
    print(f"false positives not as they should be: {wrong or 'none'}")
    return not wrong


def powers(runs: int) -> bool:
    """Print the power that the planner foresees, and the simulated one; tell whether they agree."""
    print(f"{'design':>8} {'wordings':>8} {'items':>6} {'difference':>10} {'foreseen':>8} {'seen':>6}")
    worst = 0.0
    for crossed, wordings, items in product((True, False), (2, 3, 5, 20), (10, 30, 300)):
        shared = SHARED[0]
        own = MeanForecast(ITEM**2, shared**2 * crossed, INNER**2 + shared**2 * (not crossed))
        for target in POWERS:
            differences = np.geomspace(0.01, 10, 200)
            foreseen = np.array(
                [compute_power_of_difference_test(own, each, items, wordings, crossed=crossed) for each in differences]
            )
            place = int(np.abs(foreseen - target).argmin())
            rng = np.random.default_rng([items, wordings, int(100 * target)])
            seen = np.mean([
                found(rng, items, wordings, shared, crossed, differences[place])["both"] < LEVEL for _ in range(runs)
            ])  # fmt: skip
            error = 2 * np.sqrt(0.25 / runs)
            worst = max(worst, abs(seen - foreseen[place]) - error)
            print(f"{'crossed' if crossed else 'nested':>8} {wordings:>8} {items:>6} {differences[place]:>10.4f} "
                  f"{foreseen[place]:>8.3f} {seen:>6.3f}", flush=True)  # fmt: skip
    print(f"largest deviation of a power, beyond the error of the simulation: {max(worst, 0.0):.3f}")
    return worst <= 0.02


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="simulated studies per case")
    runs = parser.parse_args().runs
    right = null(runs), powers(runs)
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
