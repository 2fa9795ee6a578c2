"""Coverage of the 95 % intervals about few, unlike and many templates, simulated, before and after.

    python tests/benchmarks/bench_templates.py              # about ten minutes; a part of bench_coverage.py
    python tests/benchmarks/bench_templates.py --runs 100   # coarser

`unlike`: how reliably one template, or four, rank models, where templates' residual SDs are lognormal (0: equal ones).
`before`: generalized intervals with (models - 1) (templates - 1) degrees of freedom, cut to 0 and 1 for this comparison
(they were not). `best`: figures of the best of 5, 20 and 60 templates, equal or unlike, with the errors of independent
answers or of answers to the same items. `before`: for the combined score a chain rule at the luckiest template, else
Wilson's intervals with Bonferroni's correction. Exit status 1 where an interval covers less than .92 (.90 with ten
items), beyond the error of the simulation, or leaves its possible range or its estimate out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis.statistics.reliability.aggregated import (  # noqa: E402
    Reliability,
    TaskAccuracies,
    estimate_components_of_mean_task_accuracy,
)
from analysis.statistics.reliability.templates import (  # noqa: E402
    summarize_accuracies,
    summarize_accuracies_from_answers_with_intervals,
    summarize_template_accuracies_with_intervals,
)
from analysis.statistics.shares import DerivedFigure, estimate_share, wilson  # noqa: E402

MODELS, TEMPLATES, TASKS, SPREADS = (6, 59), (3, 5, 10), (1, 8), (0.0, 0.5)
BEST, ITEMS, ACCURACIES, APART = (5, 20, 60), (10, 62, 1000), (0.22, 0.8), (0.0, 0.4)
FIGURES = ("mean", "lowest", "highest", "range", "q05", "q50", "q95", "gain", "saturation", "combined")
Cell = tuple[str, float, float, bool]  # what it is, coverage before and now, whether all stay within their range


def simulate_unlike(runs: int) -> Iterator[Cell]:
    """Yield the coverage of the coefficients, of models with an SD of .1 and templates that move them by as much."""
    for models, templates, tasks, spread in product(MODELS, TEMPLATES, TASKS, SPREADS):
        rng = np.random.default_rng([models, templates, tasks, int(10 * spread)])
        held = {(number, way): 0 for number in (1, 4) for way in ("before", "now")}
        inside = True
        for _ in range(runs):
            ability = 0.5 + rng.normal(0, 0.1, (models, 1))
            blocks = []
            for _ in range(tasks):
                sizes = 0.1 * np.exp(rng.normal(-(spread**2), spread, templates))  # with a mean square of .01
                moved = rng.normal(0, 0.05, templates) + rng.normal(0, 1, (models, templates)) * sizes
                blocks.append(TaskAccuracies(ability + moved, np.full((models, templates), 1000.0)))
            ranked = estimate_components_of_mean_task_accuracy(blocks)
            for number in (1, 4):
                truth, (low, high) = 1 / (1 + 1 / tasks / number), ranked.compute_coefficient_interval(number)
                held[number, "now"] += low <= truth <= high
                inside &= bool(0 <= low <= ranked.compute_generalizability(number) <= high <= 1) or bool(np.isnan(low))
                low, high = draw_before(ranked, number, rng)
                held[number, "before"] += low <= truth <= high
        for number in (1, 4):
            name = f"{'one' if number == 1 else 'four'} of {templates}, {models} models, {tasks} tasks, SDs {spread}"
            yield name, held[number, "before"] / runs, held[number, "now"] / runs, inside


def draw_before(ranked: Reliability, templates: float, rng: np.random.Generator) -> tuple[float, float]:
    """Compute the interval with the degrees of freedom of models by templates."""
    model, error = ranked.spread * ranked.spread_free / rng.chisquare(ranked.spread_free, 2000), np.zeros(2000)
    for residual, number, free in ranked.errors:
        drawn = residual * free / rng.chisquare(free, 2000)
        model, error = model - drawn / number, error + drawn
    low, high = np.quantile(np.maximum(model, 0) / (np.maximum(model, 0) + error / templates), [0.025, 0.975])
    return float(low), float(high)


def simulate_best(runs: int) -> Iterator[Cell]:
    """Yield the coverage of every figure, worst of answers and accuracies alone; the combined score has its own row."""
    for templates, items, accuracy, apart, same in product(BEST, ITEMS, ACCURACIES, APART, (0.0, 0.7)):
        rng = np.random.default_rng([templates, items, int(100 * accuracy), int(10 * apart), int(10 * same)])
        number = min(runs, 60) if templates * items > 20_000 else runs
        held = {(figure, way): [0, 0] for figure in FIGURES for way in ("before", "now")}
        inside = True
        for _ in range(number):
            levels = ndtri(accuracy) + rng.normal(0, apart, templates)
            noise = np.sqrt(same) * rng.normal(size=(items, 1)) + np.sqrt(1 - same) * rng.normal(
                size=(items, templates)
            )
            right = (noise < levels).astype(float)
            truth, shares, n = summarize_accuracies(ndtr(levels)), right.mean(axis=0), np.full(templates, float(items))
            for place, figures in enumerate(
                (
                    summarize_accuracies_from_answers_with_intervals(right),
                    summarize_template_accuracies_with_intervals(shares, n),
                )
            ):
                for figure in FIGURES:
                    value, low, high = figures[figure]
                    held[figure, "now"][place] += low - 1e-12 <= truth[figure] <= high + 1e-12
                    inside &= -1e-12 <= low <= value + 1e-12 and value - 1e-12 <= high <= 1 + 1e-12
            for figure, (low, high) in {"combined": chain_combined(right), "highest": bound_highest(shares, n)}.items():
                held[figure, "before"][0] += low <= truth[figure] <= high
        kind = f"best of {templates}, {items} items, {accuracy}, apart {apart}, {'same' if same else 'other'} items"
        for figure in ("combined", "highest"):
            now = min(held[figure, "now"]) / number
            yield f"{figure}, {kind}", held[figure, "before"][0] / number, now, inside
        others = {figure: min(held[figure, "now"]) / number for figure in FIGURES[:-1] if figure != "highest"}
        lowest = min(others, key=lambda figure: others[figure])
        yield f"others ({lowest}), {kind}", np.nan, others[lowest], inside


def chain_combined(right: np.ndarray) -> tuple[float, float]:
    """Compute the interval of the combined score by the chain rule."""

    def combine(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        highest, mean = values.max(axis=0), values.mean(axis=0)
        slopes = np.broadcast_to(highest / len(values), values.shape).copy()
        slopes[values.argmax(axis=0), np.arange(values.shape[1])] += 1 - 2 * highest + mean
        return (1 - highest + mean) * highest, slopes

    every = [[(right[:, [k]], np.ones((len(right), 1)))] for k in range(right.shape[1])]
    combined = estimate_share(DerivedFigure(every, combine), 0.95)
    return float(combined.lower[0]), float(combined.upper[0])


def bound_highest(shares: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """Compute the interval of the highest accuracy by Wilson's ends with Bonferroni's correction."""
    low, upper = wilson(shares, n, 1 - 0.05 / len(shares))[0].max(), wilson(shares, n, 0.95)[1].max()
    return float(low), float(upper)


def print_coverage(runs: int) -> bool:
    """Print all cells; tell whether each covers as much as it should."""
    low: list[str] = []
    for name, old, now, inside in (cell for cells in (simulate_unlike, simulate_best) for cell in cells(runs)):
        least = 0.90 if "10 items" in name else 0.92
        size = min(runs, 60) if "1000 items" in name and ("of 60" in name or "of 20" in name) else runs
        if not inside or now < least - 2 * np.sqrt(least * (1 - least) / size):
            low.append(name)
        print(
            f"{name:>75} {'    -' if old != old else f'{old:.3f}'} {now:.3f}{'' if inside else ' out of range'}",
            flush=True,
        )
    print(f"templates: below .92 (.90 with ten items) by more than the simulation's error: {low or 'none'}")
    return not low


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="simulated studies per cell")
    return 0 if print_coverage(parser.parse_args().runs) else 1


if __name__ == "__main__":
    sys.exit(main())
