"""Do probabilities that an order stands come true on wordings held back? In simulated studies, and in a run.

    python tests/benchmarks/bench_calibration.py                    # minutes: simulated studies
    python tests/benchmarks/bench_calibration.py --run runs/mine    # a run folder, and simulated studies like it
    python tests/benchmarks/bench_calibration.py --accuracies runs/board  # accuracies without answers: half of the
                                                                          # templates foresees the other half

Of every class of probabilities: their mean, and the share of pairs that kept its order
(`calibration.compare_predicted_and_kept_orders`). Pairs and halves of one study depend on each other. So a run is set
beside 100 studies that are drawn with its components of variance: `from` and `to` hold the middle 95 % of what they
deviate by, each study for itself. Exit status 1 where, over all simulated studies, a class of 500 cases or more
deviates by more than 5 points, or where a run deviates by more than studies like it do.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis import runs  # noqa: E402
from analysis.pages.reliability import accuracies  # noqa: E402
from analysis.reporting.catalogue.rewordings import read_reworded_studies  # noqa: E402
from analysis.statistics.reliability.aggregated import (  # noqa: E402
    TaskAccuracies,
    estimate_components_of_mean_task_accuracy,
    estimate_probabilities_of_pairs_keeping_order,
)
from analysis.statistics.reliability.calibration import (  # noqa: E402
    EDGES,
    compare_predicted_and_kept_orders,
    iterate_calibration_rows_by_class,
)
from analysis.statistics.reliability.components import ModelComponents, estimate_model_variance_components  # noqa: E402

STUDIES = 100
SURE = (0.95, 0.99)  # classes that lie within the last one
SPLITS, SHORT = 10, 0.01  # cuts into halves; by how much a class may fall short of what is foreseen
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


def sds(found: ModelComponents) -> tuple[float, ...]:
    """Return the SDs of a study's components; a negative one counts as 0."""
    names = ("model", "item", "wording", "item_wording", "model_item", "model_wording", "residual")
    return tuple(float(np.sqrt(max(np.nan_to_num(getattr(found, name)), 0))) for name in names)


def deviations(cases: np.ndarray, surer: tuple[float, ...] = ()) -> dict[float, tuple[int, float, float]]:
    """Return lower edge of a class -> cases, mean probability, share that kept its order; `surer` ones reach to 1."""
    by_class = {
        low: (number, foreseen, kept) for low, _, number, foreseen, kept in iterate_calibration_rows_by_class(cases)
    }
    for low in surer:
        sure = cases[:, cases[0] >= low]
        if sure.shape[1]:
            by_class[low] = sure.shape[1], float(sure[0].mean()), float(sure[1].mean())
    return by_class


def simulated(like: tuple[float, ...], size: tuple[int, int, int], anew: str) -> list[np.ndarray]:
    """Return the cases of every simulated study."""
    rng = np.random.default_rng(size)
    return [compare_predicted_and_kept_orders(drawn(rng, like, size), True, anew, seed=seed) for seed in range(STUDIES)]


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
    for study in (each for each in read_reworded_studies(runs.open_runs(path)) if each.headline and each.crossed):
        values = study.values[study.list_first_units_of_answering_models()]
        components = estimate_model_variance_components(values, True)
        if components is None:
            continue
        size = (components.n_models, components.n_items, round(components.n_wordings))
        print(f"{study.name}, {study.measure}: {size[0]} models x {size[1]} items x {size[2]} shared wordings")
        for anew in ("wordings", "both"):
            own = deviations(compare_predicted_and_kept_orders(values, True, anew))
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


def foresee_halves(blocks: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Foresee the other half of the templates (models, templates) of every task from each half: cases as
    `compare_predicted_and_kept_orders`.

    An odd template is left out, so that the halves are as large.
    """
    places = [rng.permutation(block.shape[1])[: block.shape[1] // 2 * 2].reshape(2, -1) for block in blocks]
    first, second = (
        [TaskAccuracies(block[:, part[side]], np.full((len(block), part.shape[1]), 1e9))
         for block, part in zip(blocks, places, strict=True)]
        for side in (0, 1)
    )  # fmt: skip
    pairs, cases = np.triu_indices(len(blocks[0]), 1), []
    for here, there in ((first, second), (second, first)):
        ours, theirs = (np.mean([block.accuracies.mean(axis=1) for block in side], axis=0) for side in (here, there))
        products = (ours[:, None] - ours) * (theirs[:, None] - theirs)
        cases.append(np.stack([estimate_probabilities_of_pairs_keeping_order(here)[pairs], products[pairs]]))
    both = np.concatenate(cases, axis=1)
    both = both[:, ~np.isnan(both[0]) & (np.abs(both[1]) > 1e-14)]
    return np.stack([both[0], both[1] > 0])


def draw_like(blocks: list[np.ndarray], rng: np.random.Generator) -> list[np.ndarray]:
    """Draw blocks with the components of some, and residual SDs of templates that are as unlike as theirs."""
    components = estimate_components_of_mean_task_accuracy(
        [TaskAccuracies(block, np.full(block.shape, 1e9)) for block in blocks]
    )
    ability = rng.normal(0, np.sqrt(max(components.model, 0.0)), (len(blocks[0]), 1))
    drawn = []
    for block in blocks:
        left = block - block.mean(axis=0) - block.mean(axis=1, keepdims=True) + block.mean()
        logs = np.log(left.std(axis=0))
        unlike = np.sqrt(max(float(logs.var(ddof=1)) - 1 / (2 * len(block)), 0.0))  # less what chance adds
        residual = float((left**2).sum()) / (len(block) - 1) / (block.shape[1] - 1)
        sizes = np.sqrt(residual) * np.exp(rng.normal(-(unlike**2), unlike, block.shape[1]))
        drawn.append(ability + rng.normal(0, 1, block.shape) * sizes)
    return drawn


def print_accuracies(path: str) -> bool:
    """Print how accuracies deviate, single tasks and means over them, beside studies like them; tell if all are fair.

    Fair is a class of which more keep their order than was foreseen, or fewer by at most `SHORT`. Studies like these
    have no templates that order models alike on another scale, as real ones have: of real ones, more pairs are kept.
    """
    fair, rng = True, np.random.default_rng(0)
    groups = accuracies.list_ranking_groups(runs.open_runs(path))
    for mean_over_tasks in (False, True):
        chosen = [group for group in groups if (group.task == accuracies.ALL) == mean_over_tasks]
        tables = [[block.accuracies for block in group.blocks if block.accuracies.shape[1] >= 4] for group in chosen]
        tables = [blocks for blocks in tables if blocks]
        if not tables:
            continue
        cases = [foresee_halves(blocks, rng) for blocks in tables for _ in range(SPLITS)]
        others = [
            deviations(np.concatenate([foresee_halves(draw_like(blocks, rng), rng) for blocks in tables], axis=1), SURE)
            for _ in range(STUDIES)
        ]
        print(f"{'means over tasks' if mean_over_tasks else 'single tasks'}: {len(tables)} tables, {SPLITS} cuts each")
        for low, (number, foreseen, kept) in deviations(np.concatenate(cases, axis=1), SURE).items():
            off = [each[low][2] - each[low][1] for each in others if low in each]
            ends = np.quantile(off, [0.025, 0.975]) if off else (np.nan, np.nan)
            fair &= kept - foreseen >= -SHORT
            print(f"  from {low:.2f}: {number:>7} cases, foreseen {foreseen:.3f}, kept {kept:.3f}, off by "
                  f"{kept - foreseen:+.3f}; studies like these from {ends[0]:+.3f} to {ends[1]:+.3f}")  # fmt: skip
    return fair


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="run folder with shared wordings")
    parser.add_argument("--accuracies", help="run folder of accuracies without answers")
    given = parser.parse_args()
    if given.accuracies:
        return 0 if print_accuracies(given.accuracies) else 1
    return 0 if (real(given.run) if given.run else shapes()) else 1


if __name__ == "__main__":
    sys.exit(main())
