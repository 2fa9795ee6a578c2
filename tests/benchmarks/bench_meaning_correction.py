"""Simulate paraphrases of another meaning: is the share of flips corrected, does its interval hold the truth?

    .venv/bin/python tests/benchmarks/bench_meaning_correction.py                  # five minutes
    .venv/bin/python tests/benchmarks/bench_meaning_correction.py --studies 200    # coarser
    .venv/bin/python tests/benchmarks/bench_meaning_correction.py --part auc       # intervals of the AUC only

Of paraphrases, 10 or 30 % mean something else and flip more often; a check of AUC .7, .85 or .95 lets 5 % of these
pass; people read 10 or 20 wordings of each of 20, 40 or 62 items; its errors depend on flips, or not. Printed are the
bias of the share of flips over all wordings, over those that pass the check, by the inverted matrix of its errors,
and as corrected (`analysis.statistics.corrected_share`); and how often its interval holds the truth, beside the
bootstrap over items and Wilson's interval. Exit status 1 where a corrected share is off by 2 points or more, or its
interval holds the truth in less than .92 of the studies, beyond the error of the simulation. `auc`: how often the
interval of an AUC holds the truth, with items and without (DeLong), and how often a check of AUC .7 would be used.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from analysis.statistics.corrected_share import (  # noqa: E402
    estimate_flip_share_corrected_for_meaning,
    estimate_item_shares_of_kept_meaning_and_flips,
)
from analysis.statistics.resampling import bootstrap_intervals, divide_one_drawn_sum_by_another  # noqa: E402
from analysis.statistics.shares import estimate_share  # noqa: E402
from ground.meaning.separation import compute_auc  # noqa: E402
from ground.meaning.verdicts import LEAST_AUC  # noqa: E402
from helpers.meaning_studies import Design, compute_truth, draw_studies  # noqa: E402

WORDINGS = 60
MOST_BIAS, LEAST_COVERAGE = 0.02, 0.92
CHUNK = 100  # studies drawn at a time
N_GRID = 144  # designs, the first ones, that the summary is of


def list_designs() -> list[Design]:
    """First a grid, then harder ones: few items, few flips, poor paraphrases of some items, poor readers."""
    grid = product((0.1, 0.3), (0.1, 0.3), (0.7, 0.85, 0.95), (20, 40, 62), (10, 20), (0.0, 0.7))
    designs = [
        Design(flip, other, auc, items, WORDINGS, sheet, dependence)
        for flip, other, auc, items, sheet, dependence in grid
    ]
    designs += [Design(0.1, 0.3, 0.85, 62, WORDINGS, 20, 0.7, misread=misread) for misread in (0.05, 0.1, 0.2)]
    for flip, items, correlation in ((0.1, 5, 0.0), (0.1, 10, 0.0), (0.02, 20, 0.0), (0.02, 62, 0.0), (0.1, 62, 0.5)):
        designs += [Design(flip, 0.3, 0.85, items, wordings, 10, 0.7, correlation) for wordings in (20, WORDINGS)]
    return designs


def invert_errors(flips: np.ndarray, passes: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Correct by the inverse of the matrix of the check's errors, as if these did not depend on flips: (studies,)."""
    axes = (1, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        _, wrong = ((passes * (same == value)).sum(axis=axes) / (same == value).sum(axis=axes) for value in (1, 0))
        both = (passes * flips).mean(axis=axes) - wrong * flips.mean(axis=axes)
        return both / (passes.mean(axis=axes) - wrong)


def measure_design(design: Design, studies: int, draws: int) -> dict[str, float]:
    """Correct many studies of a design."""
    rng = np.random.default_rng([int(100 * part) for part in (design.flip, design.other, design.auc, design.dependence)]
                                + [design.items, design.sheet, design.wordings])  # fmt: skip
    (truth, of_all), items = compute_truth(design), np.repeat(np.arange(design.items), design.wordings)
    rows, ratios = [], []
    for _ in range(0, studies, CHUNK):
        flips, passes, same, _ = draw_studies(rng, design, CHUNK)
        with np.errstate(invalid="ignore", divide="ignore"):
            passing = (flips * passes).sum(axis=(1, 2)) / passes.sum(axis=(1, 2))
        inverted = invert_errors(flips, passes, same)
        for study in range(CHUNK):
            wordings = flips[study].ravel(), passes[study].ravel(), same[study].ravel()
            share = estimate_flip_share_corrected_for_meaning(*wordings, items)
            rows.append((
                passing[study], inverted[study], share.uncorrected, share.uncorrected_lower, share.uncorrected_upper,
                share.corrected, share.lower, share.upper, share.change_lower, share.change_upper,
            ))  # fmt: skip
            if not share.reason:
                ratios.append(estimate_item_shares_of_kept_meaning_and_flips(*wordings, items))
    passing, inverted, uncorrected, all_lower, all_upper, corrected, lower, upper, less, more = np.array(rows).T
    is_shown = ~np.isnan(lower)
    above, below = (np.stack(part, axis=1) for part in zip(*ratios, strict=True))
    wilson = estimate_share([(above, below)], 0.95)
    drawn = bootstrap_intervals(
        {"above": above, "below": below},
        lambda columns, counts: {
            "share": divide_one_drawn_sum_by_another(counts @ columns["above"], counts @ columns["below"])
        },
        draws=draws,
    )["share"]

    def cover(ends: tuple[np.ndarray, np.ndarray], value: float = truth) -> float:
        ends = tuple(part[~np.isnan(ends[0])] for part in ends)
        return float(((ends[0] <= value) & (value <= ends[1])).mean())

    return {
        "all": float(uncorrected.mean() - truth), "passing": float(np.nanmean(passing) - truth),
        "inverted": float(np.nanmedian(inverted) - truth), "bias": float(np.nanmean(corrected) - truth),
        "sd": float(np.nanstd(corrected)), "shown": float(is_shown.mean()), "coverage": cover((lower, upper)),
        "width": float((upper - lower)[is_shown].mean()), "bootstrap": cover((drawn.lower, drawn.upper)),
        "bootstrap_shown": float((~np.isnan(drawn.lower)).mean()), "wilson": cover((wilson.lower, wilson.upper)),
        "wilson_width": float((wilson.upper - wilson.lower).mean()),
        "all_coverage": cover((all_lower, all_upper), of_all), "change_coverage": cover((less, more), truth - of_all),
    }  # fmt: skip


def correct_designs(studies: int, draws: int) -> bool:
    """Print what becomes of every design; tell whether all are as they should be."""
    rows = []
    for design in list_designs():
        row = {name: getattr(design, name) for name in Design.__dataclass_fields__}
        rows.append(row | measure_design(design, studies, draws))
        print(" ".join(f"{name}={value:.3g}" for name, value in rows[-1].items()), flush=True)
    table = pd.DataFrame(rows)
    grid = table.iloc[:N_GRID]
    by = grid.assign(off=grid["bias"].abs(), inverted_off=grid["inverted"].abs()).groupby(["other", "auc", "sheet"])
    summary = by.agg(
        all=("all", "mean"), passing_least=("passing", "min"), passing_most=("passing", "max"),
        inverted=("inverted_off", "max"), bias=("off", "max"), coverage=("coverage", "min"), mean=("coverage", "mean"),
        bootstrap=("bootstrap", "min"), wilson=("wilson", "min"), width=("width", "mean"),
        wilson_width=("wilson_width", "mean"), shown=("shown", "min"), all_coverage=("all_coverage", "min"),
        change_coverage=("change_coverage", "min"),
    )  # fmt: skip
    print(summary.round(3).to_string())
    error = 2 * np.sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / studies)
    is_wrong = (table["bias"].abs() >= MOST_BIAS) | (table["coverage"] < LEAST_COVERAGE - error)
    is_wrong &= table["misread"] == 0
    print(f"{len(table)} designs of {studies} studies; not as they should be: {int(is_wrong.sum())}")
    print(table[is_wrong].round(3).to_string() if is_wrong.any() else "")
    return not is_wrong.any()


def draw_scores(rng: np.random.Generator, n_items: int, n_decoys: int, auc: float, alike: float) -> tuple:
    """Draw scores of 10 wordings and some decoys of every item; `alike`: share of the variance that an item's share."""
    sides = [
        middle + np.sqrt(alike) * rng.normal(size=(n_items, 1)) + np.sqrt(1 - alike) * rng.normal(size=(n_items, n))
        for middle, n in ((np.sqrt(2) * ndtri(auc), 10), (0.0, n_decoys))
    ]
    return *(side.ravel() for side in sides), *(np.repeat(np.arange(n_items), side.shape[1]) for side in sides)


def cover_aucs(studies: int) -> None:
    """Print how often the interval of an AUC holds it, and how often a check would be used."""
    rows = []
    for (n_items, n_decoys), auc, alike in product(
        ((4, 5), (10, 5), (20, 1), (20, 5), (62, 1), (62, 5), (100, 5)), (0.7, 0.85, 0.95, 0.99), (0.0, 0.3)
    ):
        rng = np.random.default_rng([n_items, n_decoys, int(100 * auc), int(100 * alike)])
        seen = []
        for _ in range(studies):
            passed, decoys, passed_items, decoy_items = draw_scores(rng, n_items, n_decoys, auc, alike)
            by_item, plain = compute_auc(passed, decoys, passed_items, decoy_items), compute_auc(passed, decoys)
            seen.append([
                by_item.lower <= auc <= by_item.upper, plain.lower <= auc <= plain.upper, by_item.lower > LEAST_AUC,
                plain.lower > LEAST_AUC,
            ])  # fmt: skip
        names = ("coverage", "delong", "used", "delong_used")
        rows.append({"items": n_items, "decoys": n_items * n_decoys, "auc": auc, "alike": alike}
                    | dict(zip(names, np.mean(seen, axis=0), strict=True)))  # fmt: skip
    print(pd.DataFrame(rows).round(3).to_string(index=False), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=1000, help="of each design; hundreds")
    parser.add_argument("--draws", type=int, default=1000, help="of the bootstrap that is shown beside")
    parser.add_argument("--part", choices=("shares", "auc"), help="only this one")
    options = parser.parse_args()
    started = time.monotonic()
    is_right = options.part == "auc" or correct_designs(options.studies, options.draws)
    if options.part != "shares":
        cover_aucs(options.studies)
    print(f"{time.monotonic() - started:.0f} s")
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
