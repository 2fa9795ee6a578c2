"""Does the interval of a change hold the truth, though the data chose the look that it begins with?

Series of looks in fresh wordings, without a change and with one from a look on that is known here. The page does not
know it: it splits the looks where the change is strongest. The truth is the difference of the means, over all items and
wordings, of the looks from there on and of those before. Two intervals: *plain*, of 95 %, as if the look had been
chosen in advance; and *at once*, as the page has it, whose level is that of all looks that a change could begin with
(Bonferroni). Each in all series, and as it is shown: where a change was found.

    .venv/bin/python tests/benchmarks/bench_drift_intervals.py --series 2000    # half an hour, most for 50 looks

It printed, of 2,000 series each (of 50 looks, 1,000):

- Without a change, *plain* holds the difference in .83 (6 looks), .66 to .76 (20) and .61 (50); *at once* in .94
  (skewed scores) to .99.
- With a change, of all series, *plain* holds it in .71 to .96, *at once* in .956 or more.
- Shown and wrong, of all series: *plain* in up to .085, *at once* in up to .0135.
- Of those shown, where a change is found in .06 to .09 of the series, *plain* holds it in .34 to .71, *at once* in .83
  to .95; where it is found in .5 or more, *plain* in .85 to .97, *at once* in .979 or more.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from analysis.pages.drift import changes
from analysis.pages.drift.columns import CHANGED
from analysis.pages.drift.series import Look, Series
from analysis.pages.drift.wordings import FRESH
from analysis.statistics.drift import detect_change_over_looks
from analysis.statistics.multiplicity import ALPHA
from analysis.statistics.resampling import LEVEL
from benchmarks.bench_drift import draw_looks, is_shared

CASES = [  # items, wordings, what the answers are, looks; changes that are found in few series, in some, and in most
    (62, 5, "right", 6, (0.2, 0.4, 0.8)), (62, 3, "share", 6, (0.15, 0.25, 0.5)), (62, 3, "share", 20, (0.1, 0.2, 0.4)),
    (62, 3, "skewed", 20, (0.25, 0.5, 1.0)), (62, 1, "flip", 20, (0.4, 0.8, 1.6)),
    (20, 2, "share", 20, (0.2, 0.4, 0.8)), (30, 4, "templates", 20, (0.25, 0.5, 1.0)),
    (62, 3, "share", 50, (0.07, 0.15, 0.4)),
]  # fmt: skip


@cache
def compute_true_change(kind: str, change: float) -> float:
    """Return how far a change moves the mean over all items and wordings, from very many of them."""
    shape = (3000, 400) if is_shared(kind) else (400_000, 3)
    means = [
        float(next(draw_looks(np.random.default_rng(0), *shape, kind, size, after=0, looks=1)).mean())
        for size in (change, 0.0)
    ]
    return means[0] - means[1]


def build_series(looks: list[np.ndarray], kind: str) -> Series:
    """Build a series of the page from its answers."""
    study_read = SimpleNamespace(clip_difference_interval_at_bounds=lambda ends: ends)
    named = tuple(Look(None, str(number), 1.0, np.nan, ()) for number in range(len(looks)))
    return Series("s", "m", "c", named, tuple(looks), study_read, "answer", (), 0, is_shared(kind), FRESH)


def weigh_change_at_split(split: int, begins: int, n_looks: int) -> float:
    """Return the part of a change that lies between the looks from a split on and those before it."""
    return (n_looks - begins) / (n_looks - split) if split <= begins else begins / split


def measure_coverage(case: tuple[int, int, str, int], change: float, n_series: int) -> None:
    """Print how often the intervals hold the difference at their look, and the change itself."""
    items, wordings, kind, n_looks = case
    draw, begins = np.random.default_rng(n_looks), n_looks // 2
    truth = compute_true_change(kind, change) if change else 0.0
    plain = mock.patch.object(changes, "compute_confidence_level_for_all_looks", return_value=LEVEL)
    rows = []
    for _ in range(n_series):
        looks = list(draw_looks(draw, items, wordings, kind, change, after=begins, looks=n_looks))
        series, drift = build_series(looks, kind), detect_change_over_looks(looks, is_shared(kind))
        at_split = truth * weigh_change_at_split(drift.first_changed, begins, n_looks)
        with plain:
            as_if_known = changes._compare_before_and_after_change(series, drift, CHANGED)
        held = [
            row["like_lower"] <= target <= row["like_upper"]
            for row in (as_if_known, changes._compare_before_and_after_change(series, drift, CHANGED))
            for target in (at_split, truth)
        ]
        rows.append([drift.p[-1] < ALPHA, *held])
    is_found, *held = np.array(rows, dtype=bool).T
    name = f"{items} x {wordings} {kind}, {n_looks} looks, change {truth:+.3f}: found in {is_found.mean():.3f}"
    print(name)
    for label, at_look, of_change in zip(("plain", "at once"), held[::2], held[1::2], strict=True):
        shown = f"{at_look[is_found].mean():.3f} ({of_change[is_found].mean():.3f})" if is_found.any() else "-"
        print(f"  {label}: holds the difference at its look (the change itself) in {at_look.mean():.3f} "
              f"({of_change.mean():.3f}) of all series, in {shown} of those shown; shown and wrong in "
              f"{(is_found & ~at_look).mean():.4f} ({(is_found & ~of_change).mean():.4f})", flush=True)  # fmt: skip


def main() -> None:
    """Print the coverage of every case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--rows", type=int, nargs="+", choices=range(len(CASES)), default=range(len(CASES)))
    arguments = parser.parse_args()
    for row in arguments.rows:
        *case, sizes = CASES[row]
        for change in (0.0, *sizes):
            measure_coverage(tuple(case), change, arguments.series)


if __name__ == "__main__":
    main()
