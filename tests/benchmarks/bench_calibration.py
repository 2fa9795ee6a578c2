"""Do probabilities that an order stands come true on wordings held back? In simulated studies, and in a run.

    python tests/benchmarks/bench_calibration.py                    # minutes: simulated studies
    python tests/benchmarks/bench_calibration.py --run runs/mine    # a run folder, and simulated studies like it

Of every class of probabilities: their mean, and the share of pairs that kept its order (`calibration.held_out`). Pairs
and halves of one study depend on each other. So a run is set beside 100 studies that are drawn with its components of
variance: `from` and `to` hold the middle 95 % of what they deviate by, each study for itself. Exit status 1 where, over
all simulated studies, a class of 500 cases or more deviates by more than 5 points, or where a run deviates by more than
studies like it do.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis import runs  # noqa: E402
from analysis.reporting.reworded import studies  # noqa: E402
from analysis.statistics.reliability.calibration import EDGES, classes, held_out  # noqa: E402
from analysis.statistics.reliability.components import Across, across  # noqa: E402

STUDIES = 100
# SD of models, items, shared wordings, items x wordings, models x items, models x wordings, and of what is left
SHAPES = {
    "models alike": (0.02, 0.3, 0.05, 0.1, 0.15, 0.08, 0.2),
    "models differ": (0.06, 0.3, 0.05, 0.1, 0.15, 0.08, 0.2),
    "models differ much": (0.15, 0.3, 0.05, 0.1, 0.15, 0.08, 0.2),
}


def drawn(rng: np.random.Generator, sds: tuple[float, ...], size: tuple[int, int, int]) -> np.ndarray:
    """Draw answers (models, items, wordings) with these SDs, as in `SHAPES`."""
    m, i, w = size
    shapes = ((m, 1, 1), (1, i, 1), (1, 1, w), (1, i, w), (m, i, 1), (m, 1, w), (m, i, w))
    return np.asarray(sum(rng.normal(0, sd, shape) for sd, shape in zip(sds, shapes, strict=True)))


def sds(found: Across) -> tuple[float, ...]:
    """Return the SDs of a study's components; a negative one counts as 0."""
    names = ("model", "item", "wording", "item_wording", "model_item", "model_wording", "residual")
    return tuple(float(np.sqrt(max(np.nan_to_num(getattr(found, name)), 0))) for name in names)


def deviations(cases: np.ndarray) -> dict[float, tuple[int, float, float]]:
    """Return lower edge of a class -> cases, mean probability, share that kept its order."""
    return {low: (number, foreseen, kept) for low, _, number, foreseen, kept in classes(cases)}


def simulated(like: tuple[float, ...], size: tuple[int, int, int], anew: str) -> list[np.ndarray]:
    """Return the cases of every simulated study."""
    rng = np.random.default_rng(size)
    return [held_out(drawn(rng, like, size), True, anew, seed=seed) for seed in range(STUDIES)]


def shapes() -> bool:
    """Print how simulated studies deviate; tell whether all classes are calibrated."""
    print(
        f"{'population':>20} {'wordings':>8} {'anew':>9} "
        + "  ".join(f"from {low:.1f}: n foreseen kept" for low in EDGES[:-1])
    )
    worst = 0.0
    for name, like in SHAPES.items():
        for wordings in (4, 10, 20):
            for anew in ("wordings", "both"):
                found = deviations(np.concatenate(simulated(like, (8, 62, wordings), anew), axis=1))
                texts = (f"{number:>11} {foreseen:>8.3f} {kept:.3f}" for number, foreseen, kept in found.values())
                print(f"{name:>20} {wordings:>8} {anew:>9} " + "  ".join(texts), flush=True)
                worst = max(
                    worst, *(abs(kept - foreseen) for number, foreseen, kept in found.values() if number >= 500)
                )
    print(f"largest deviation of a class of 500 cases or more: {worst:.3f}")
    return worst <= 0.05


def real(path: str) -> bool:
    """Print how the studies of a run deviate, beside studies like them; tell whether that is chance."""
    fair = True
    for study in (each for each in studies(runs.open(path)) if each.headline and each.crossed):
        values = study.values[study.chosen()]
        components = across(values, True)
        if components is None:
            continue
        size = (components.n_models, components.n_items, round(components.n_wordings))
        print(f"{study.name}, {study.measure}: {size[0]} models x {size[1]} items x {size[2]} shared wordings")
        for anew in ("wordings", "both"):
            own = deviations(held_out(values, True, anew))
            others = [deviations(each) for each in simulated(sds(components), size, anew)]
            for low, (number, foreseen, kept) in own.items():
                off = [each[low][2] - each[low][1] for each in others if low in each]
                ends = np.quantile(off, [0.025, 0.975])
                fair &= bool(ends[0] <= kept - foreseen <= ends[1])
                print(
                    f"  {anew:>9} from {low:.1f}: {number:>4} cases, foreseen {foreseen:.3f}, kept {kept:.3f},", end=""
                )
                print(f" off by {kept - foreseen:+.3f}; studies like it by {np.mean(off):+.3f}, ", end="")
                print(f"from {ends[0]:+.3f} to {ends[1]:+.3f}")
    return fair


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="run folder with shared wordings")
    given = parser.parse_args().run
    return 0 if (real(given) if given else shapes()) else 1


if __name__ == "__main__":
    sys.exit(main())
