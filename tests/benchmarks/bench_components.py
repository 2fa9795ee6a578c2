"""Bias of variance components over simulated studies: balanced and not, with ties, and with bounded answers.

    python tests/benchmarks/bench_components.py              # a minute
    python tests/benchmarks/bench_components.py --runs 100   # coarser

Answers are made of normal effects, which are then rounded, cut at 0 and 1, put through the logistic function, or turned
into right and wrong. The truth is that of the answers on this scale. `worst` is the largest bias of a component, as a
share of the total variance; `error` is the standard error of that bias. Exit status 1 where one is above 3 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.statistics.reliability.components import estimate_model_variance_components, estimate_variance_components  # noqa: E402
from helpers.populations import SCALES, Population, thinned  # noqa: E402

ONE = {"item": 0.8, "wording": 0.3, "residual": 0.5}
SEVERAL = {"model": 0.3, "item": 0.6, "wording": 0.2, "model_item": 0.3, "model_wording": 0.2, "item_wording": 0.3,
           "residual": 0.4}  # fmt: skip
SHARED = ("wording", "model_wording")  # effects that there are only where items share the wordings
LIMIT = 0.03


def biases(
    models: int, items: int, wordings: int, crossed: bool, balanced: bool, scale: str, runs: int
) -> Iterator[tuple[str, float, float, float]]:
    """Yield each component, its truth, the bias of its estimate, and the standard error of that; shares of the total.

    Of one model by `estimate_variance_components`, of several by `estimate_model_variance_components`.
    """
    sds = {name: sd for name, sd in (SEVERAL if models > 1 else ONE).items() if crossed or name not in SHARED}
    population = Population(sds, crossed, SCALES[scale])
    truth = population.components()
    total = sum(truth.values())
    if models == 1:  # one answer to each wording of an item does not tell these apart
        truth["residual"] += truth.pop("item_wording")
    elif not crossed:  # what wordings of their own share over models is called `wording`
        truth["wording"] = truth.pop("item_wording")
    rng, found = np.random.default_rng([models, items, wordings, crossed, balanced]), []
    for _ in range(runs):
        values = population.draw(rng, models, items, wordings)
        values = values if balanced else thinned(rng, values)
        found.append(
            estimate_model_variance_components(values, crossed)
            if models > 1
            else estimate_variance_components(values[0], crossed)
        )
    for name in (name for name in truth if truth[name] > 1e-9):
        estimates = np.array([getattr(each, name) for each in found])
        error = estimates.std(ddof=1) / np.sqrt(runs)
        yield name, truth[name] / total, (estimates.mean() - truth[name]) / total, error / total


def main() -> int:
    """Print a line per case; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500, help="simulated studies per case")
    runs = parser.parse_args().runs
    heads = ("models", "items", "k", "design", "", "scale", "worst", "bias", "error")
    print("{:>6} {:>5} {:>3} {:>8} {:>10} {:>15} {:>14} {:>7} {:>6}".format(*heads))
    worst = 0.0
    sizes = ((1, 62, 5), (1, 100, 10), (8, 30, 5))
    for (models, items, wordings), crossed, balanced, scale in product(sizes, (True, False), (True, False), SCALES):
        found = biases(models, items, wordings, crossed, balanced, scale, runs)
        name, _, bias, error = max(found, key=lambda each: abs(each[2]))
        worst = max(worst, abs(bias))
        case = f"{'crossed' if crossed else 'nested':>8} {'balanced' if balanced else 'unbalanced':>10} {scale:>15}"
        print(f"{models:>6} {items:>5} {wordings:>3} {case} {name:>14} {bias:>7.4f} {error:.4f}")
    print(f"largest bias: {worst:.4f} of the total variance")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
