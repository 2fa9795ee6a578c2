"""Coverage of the 95 % intervals of every figure over items, simulated, before and after: plain percentiles, and ours.

    python tests/benchmarks/bench_coverage.py              # about ten minutes
    python tests/benchmarks/bench_coverage.py --runs 200   # coarser

`before`: plain percentiles of 1,000 draws, as all these figures had. `now`: what `analysis.statistics` gives, with the
same draws; "-" where too few items have no interval. `overall` is a harmonic mean of three shares, `templates` are
figures over five templates that hardly differ, for these templates. After it run bench_templates.py (few, unlike and
many templates), bench_unlike_items.py (items with some of the wordings) and bench_ranking_holes.py (models that are
ranked by such items). Shares have their table in tests/analysis/statistics/test_shares.py, means for wordings like
these in bench_reliability.py. Exit status 1 where an interval covers less than .90, beyond the error of the simulation,
or the mean over the grid is not within .93 to .97.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from bench_ranking_holes import print_rankings  # noqa: E402
from bench_templates import print_coverage  # noqa: E402
from bench_unlike_items import print_unlike_items  # noqa: E402

from analysis.pages.wording.measures import OVERALL, _compute_mean_harmonic_mean_and_gradient, compute_harmonic_mean  # noqa: E402
from analysis.statistics import forms, weighted  # noqa: E402
from analysis.statistics.reliability.templates import (  # noqa: E402
    summarize_accuracies,
    summarize_accuracies_from_answers_with_intervals,
)
from analysis.statistics.resampling import (  # noqa: E402
    bootstrap_intervals,
    compute_item_sd_in_each_draw,
    compute_mean_per_draw,
    compute_ratio_of_sums_per_draw,
    iterate_drawn_item_counts,
)
from analysis.statistics.shares import DerivedFigure  # noqa: E402

ITEMS = (10, 30, 62, 200, 1000)
DRAWS, SLOW, MANY = 1000, 100, 200_000  # SLOW: runs of rank correlations of 1,000 items, MANY: items of a population
Draw = Callable[[np.random.Generator, int, int], dict[str, np.ndarray]]


def one(shape: Callable[[np.random.Generator, tuple[int, int]], np.ndarray]) -> Draw:
    return lambda rng, n, runs: {"x": shape(rng, (n, runs))}


SHAPES = {
    "normal": one(lambda rng, size: rng.normal(0.5, 0.1, size)),
    "even": one(lambda rng, size: rng.random(size)),
    "two ends": one(lambda rng, size: rng.beta(0.5, 0.5, size)),
    "skewed": one(lambda rng, size: rng.beta(1, 4, size)),
    "near 1": one(lambda rng, size: rng.beta(20, 1, size)),
    "scores 0-10": one(lambda rng, size: np.clip(np.round(rng.normal(6, 1.5, size)), 0, 10)),
    "scores, skewed": one(lambda rng, size: np.clip(np.round(8.5 - rng.exponential(1.3, size)), 0, 10)),
}


def related(strength: float) -> Draw:
    def draw(rng: np.random.Generator, n: int, runs: int) -> dict[str, np.ndarray]:
        gold = rng.normal(size=(n, runs))
        other, more = (q * gold + np.sqrt(1 - q * q) * rng.normal(size=(n, runs)) for q in (strength, strength / 2))
        return {name: np.clip(np.round(5 + 1.5 * v), 0, 10) for name, v in (("x", other), ("y", gold), ("z", more))}

    return draw


def rows(rng: np.random.Generator, n: int, runs: int) -> dict[str, np.ndarray]:
    sizes = rng.integers(3, 11, (n, runs)).astype(float)
    return {"x": rng.beta(6, 2, (n, runs)) * sizes, "y": sizes}


def shares(*levels: float) -> Draw:
    def draw(rng: np.random.Generator, n: int, runs: int) -> dict[str, np.ndarray]:
        common = rng.normal(size=(n, runs))
        each = ((common + rng.normal(size=(n, runs))) / np.sqrt(2) < ndtri(level) for level in levels)
        return dict(zip(OVERALL, (found.astype(float) for found in each), strict=True))

    return draw


def pair(rng: np.random.Generator, n: int, runs: int) -> dict[str, np.ndarray]:
    common = rng.normal(size=(n, runs))
    one, other = (ndtr(0.7 * common + np.sqrt(0.51) * rng.normal(size=(n, runs))) for _ in range(2))
    return {"x": one**3, "y": other**2}


def grid() -> Iterator[tuple[str, str, Draw, Callable, dict]]:
    """Yield figure, population, how items are drawn, the statistic, and how its interval is made."""
    for shape in ("normal", "even", "two ends", "skewed", "near 1"):
        yield "mean", shape, SHAPES[shape], lambda c, n: compute_mean_per_draw(n, c["x"]), {}
    for shape in ("scores 0-10", "scores, skewed"):
        yield (
            "variance",
            shape,
            SHAPES[shape],
            lambda c, n: compute_item_sd_in_each_draw(n, c["x"]) ** 2,
            {"forms": {"f": forms.build_variance_interval_form("x")}},
        )
        entropy = {"forms": {"f": forms.build_entropy_interval_form("x")}}
        yield (
            "entropy",
            shape,
            SHAPES[shape],
            lambda c, n: weighted.compute_mode_share_and_entropy_per_draw(n, c["x"])["entropy"],
            entropy,
        )
        yield (
            "kurtosis",
            shape,
            SHAPES[shape],
            lambda c, n: weighted.kurtosis(n, c["x"]),
            {"forms": {"f": forms.KURTOSIS}},
        )
    for strength in (0.3, 0.8):
        name = f"true r {strength}"
        yield "tau", name, related(strength), lambda c, n: weighted.compute_kendall_tau_per_draw(n, c["x"], c["y"]), {}
        yield (
            "Pearson",
            name,
            related(strength),
            lambda c, n: weighted.compute_pearson_correlation_per_draw(n, c["x"], c["y"]),
            {},
        )
    yield "mean of rows", "validities", rows, lambda c, n: compute_ratio_of_sums_per_draw(n, c["x"], c["y"]), {}
    for levels in ((0.85, 0.7, 0.65), (0.97, 0.95, 0.93)):
        yield "overall", f"{levels}", shares(*levels), lambda c, n: compute_harmonic_mean(*(compute_mean_per_draw(n,
            c[k]) for k in OVERALL)), {
            "shares": lambda c: {"f": [DerivedFigure([[(c[k], np.ones_like(c[k]))] for k in OVERALL],
                                                     _compute_mean_harmonic_mean_and_gradient)]}
        }  # fmt: skip
    yield (
        "difference",
        "of means",
        pair,
        lambda c, n: compute_mean_per_draw(n, c["x"]) - compute_mean_per_draw(n, c["y"]),
        {},
    )
    yield (
        "difference",
        "of SDs",
        pair,
        lambda c, n: compute_item_sd_in_each_draw(n, c["x"]) - compute_item_sd_in_each_draw(n, c["y"]),
        {},
    )
    yield "difference", "of taus", related(0.8), lambda c, n: (
        weighted.compute_kendall_tau_per_draw(n, c["x"], c["y"])
        - weighted.compute_kendall_tau_per_draw(n, c["z"], c["y"])
    ), {}  # fmt: skip


def covered(draw: Draw, statistic: Callable, how: dict, truth: float, n: int, runs: int) -> tuple[float, float]:
    """Return the coverage of plain percentiles and of ours; NaN where there is no interval."""
    columns = draw(np.random.default_rng([n, 1]), n, runs)
    found = bootstrap_intervals(columns, lambda c, k: {"f": statistic(c, k)}, draws=DRAWS, **how)["f"]
    old = []
    for start in range(0, runs, 50):
        part = {name: values[:, start : start + 50] for name, values in columns.items()}
        drawn = np.concatenate([statistic(part, k) for k in iterate_drawn_item_counts(n, DRAWS)])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        old += ((low <= truth) & (truth <= high))[~np.isnan(low)].tolist()
    shown = ~np.isnan(found.lower)
    held = ((found.lower <= truth) & (truth <= found.upper))[shown]
    return float(np.mean(old)), float(held.mean()) if shown.sum() > runs / 20 else np.nan


def templates(n: int, runs: int) -> Iterator[tuple[str, float, float]]:
    """Yield every figure over templates with both coverages."""
    rng, before, now = np.random.default_rng([n, 2]), {}, {}
    drawn = np.concatenate(list(iterate_drawn_item_counts(n, DRAWS)))
    for _ in range(runs):
        levels = rng.normal(0.8, 0.1, 5)
        right = (rng.normal(size=(n, 1)) + rng.normal(0, 0.5, (n, 5)) + levels > 0).astype(float)
        truth, old = summarize_accuracies(ndtr(levels / np.sqrt(1.25))), summarize_accuracies(drawn @ right / n)
        for name, (_, low, high) in summarize_accuracies_from_answers_with_intervals(right).items():
            if name != "sd":
                ends = np.quantile(old[name], [0.025, 0.975])
                before.setdefault(name, []).append(ends[0] <= truth[name] <= ends[1])
                now.setdefault(name, []).append(low - 1e-12 <= truth[name] <= high + 1e-12)
    yield from ((name, float(np.mean(before[name])), float(np.mean(now[name]))) for name in now)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=600, help="simulated studies per cell")
    runs = parser.parse_args().runs
    table: dict[tuple[str, str], list[tuple[float, float]]] = {}
    print(f"{'figure':>12} {'population':>20} " + " ".join(f"{n:>11,}" for n in ITEMS), flush=True)
    for figure, population, draw, statistic, how in grid():
        slow = figure == "tau" or population == "of taus"
        many = 4_000 if slow else MANY
        truth = float(np.mean(statistic(draw(np.random.default_rng(0), many, 10), np.ones((1, many)))))
        table[figure, population] = [
            covered(draw, statistic, how, truth, n, _size(figure, population, n, runs)) for n in ITEMS
        ]
        _print(figure, population, table[figure, population])
    by_size = [list(templates(n, _size("templates", "", n, runs))) for n in ITEMS]
    for place, (name, _, _) in enumerate(by_size[0]):
        table["templates", name] = [cells[place][1:] for cells in by_size]
        _print("templates", name, table["templates", name])
    new = {(*key, n): now for key, cells in table.items() for n, (_, now) in zip(ITEMS, cells, strict=True)}
    known = {key: now for key, now in new.items() if now == now}
    low = [key for key, now in known.items() if now < 0.90 - 2 * np.sqrt(0.09 / _size(*key, runs))]
    print(
        f"mean now {np.mean(list(known.values())):.3f}, smallest {min(known.values()):.3f}: {min(known, key=known.get)}"
    )
    print(f"below .90 by more than the simulation's error: {low or 'none'}")
    templates_hold, faults = print_coverage(runs), print_unlike_items(runs) + print_rankings(runs)
    return 0 if templates_hold and not faults and not low and 0.93 <= np.mean(list(known.values())) <= 0.97 else 1


def _size(figure: str, population: str, n: int, runs: int) -> int:
    """Return the number of simulated studies of a cell: fewer where these are slow."""
    if figure == "templates":
        return min(runs, 2 * SLOW)
    slow = figure == "tau" or population == "of taus"
    return min(runs, SLOW) if slow and n > 100 else runs


def _print(figure: str, population: str, cells: list[tuple[float, float]]) -> None:
    texts = (f"{before:.3f} " + ("    -" if now != now else f"{now:.3f}") for before, now in cells)
    print(f"{figure:>12} {population:>20} " + " ".join(texts), flush=True)


if __name__ == "__main__":
    sys.exit(main())
