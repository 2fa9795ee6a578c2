"""False differences, coverage and power of `waver compare`, and the time that two logs of Inspect take.

Simulated are studies of three measures: scores in three wordings of each item, skewed ones with many zeros, and answers
of 0 or 1 in one wording. A study is wrong where any verdict says that A or B is higher, though nothing differs.

For wordings like these, both sides answer wordings that items share or that each has of its own, and wordings move the
sides apart: told are how often the interval holds that nothing differs on average over all wordings, and how often p
for wordings like these is below .05 all the same. Beside it stands p for these wordings, which do differ where items
share them. Rows without an interval, as of few items that differ, are left out of its share.

    .venv/bin/python tests/benchmarks/bench_compare.py --studies 2000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

import waver
from analysis.compare import measures
from analysis.compare.measures import _add_holm_p_verdicts_and_needed_items, _compare_unit_pair
from analysis.compare.pairs import Pair
from analysis.measures.reworded import Study
from analysis.measures.reworded.flips import mark_flipped_items_of_unit
from helpers.eval_logs import as_eval, header, text_sample

KINDS = ("score", "right", "zeros", "validity", "flips")


def simulate_study(draw: np.random.Generator, items: int, difference: float) -> pd.DataFrame:
    """Judge one study of three measures, whose sides differ by so much in truth."""
    rows = []
    for kind in ("score", "zeros", "right"):
        levels = draw.beta(2, 2, (items, 1))
        values = np.stack([levels + side * difference + draw.normal(0, 0.1, (items, 3)) for side in (1, 0)])
        if kind == "zeros":
            values = np.where(draw.random(values.shape) < 0.6, 0.0, values)
        if kind == "right":
            values = (draw.random((2, items, 1)) < np.clip(values.mean(axis=2, keepdims=True), 0, 1)).astype(float)
        study = Study("s", kind, True, False, [("A: m", "c"), ("B: m", "c")], np.ones(2), values, [])
        rows.append(_compare_unit_pair(Pair((study, study), (0, 1), kind, (values[0], values[1]), False, True), None))
    # How many items would tell takes nine tenths of the time, and no part in the verdict.
    with mock.patch.object(measures, "find_least_difference_and_needed_items", return_value=(np.nan, np.nan)):
        return _add_holm_p_verdicts_and_needed_items(pd.DataFrame(rows))


def answer_wordings(draw: np.random.Generator, kind: str, items: int, wordings: int, shared: bool) -> list[np.ndarray]:
    """Answers of two sides (items, wordings) that are alike over all wordings, but not in these."""
    levels, sides = draw.beta(2, 2, (items, 1)), []
    for _ in range(2):
        moved = draw.normal(0, 0.02 if kind == "validity" else 0.05, (1 if shared else items, wordings))
        shares = levels + draw.normal(0, 0.12, (items, 1)) + moved
        if kind == "score":
            sides.append(shares + draw.normal(0, 0.1, (items, wordings)))
        elif kind == "zeros":
            sides.append(np.where(draw.random((items, wordings)) < 0.7, 0.0, shares.clip(0, 1)))
        else:
            shares = {"validity": 0.97 + moved, "flips": levels * 1.6 - 0.3 + moved}.get(kind, shares)
            sides.append((draw.random((items, wordings)) < shares.clip(0, 1)).astype(float))
    return [mark_flipped_items_of_unit(side)[:, None] for side in sides] if kind == "flips" else sides


def print_coverage_for_wordings_like_these(studies: int, kinds: Sequence[str]) -> None:
    """Print a row per kind of answers, number of items, and number of wordings."""
    print("kind items wordings: p like these < .05, coverage like these, intervals shown, p these < .05")
    for kind in kinds:
        for items in (10, 30, 100, 300):
            for wordings, shared in ((5, False), (2, True), (3, True), (10, True)):
                if kind == "flips" and shared:  # no interval for wordings like these
                    continue
                draw, rows = np.random.default_rng(items + wordings), []
                for _ in range(studies):
                    a, b = answer_wordings(draw, kind, items, wordings, shared)
                    study = Study(
                        "s", kind, True, shared, [("A: m", "c"), ("B: m", "c")], np.ones(2), np.stack([a, b]), []
                    )
                    rows.append(_compare_unit_pair(Pair((study, study), (0, 1), kind, (a, b), shared, True), None))
                table = pd.DataFrame(rows)
                shown = table.dropna(subset="like_lower")
                holds = ((shown["like_lower"] <= 0) & (shown["like_upper"] >= 0)).mean()
                print(
                    f"  {kind} {items} {wordings}{' shared' if shared else ''}: {(table['p_like'] < 0.05).mean():.3f} "
                    f"{holds:.3f} {len(shown) / studies:.2f} {(table['p'] < 0.05).mean():.3f}", flush=True,
                )  # fmt: skip


def main() -> None:
    """Print false differences and coverage by number of items, and the time of two logs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument(
        "--like", choices=KINDS, nargs="+", help="only coverage for wordings like these, of these answers"
    )
    arguments = parser.parse_args()
    studies = arguments.studies
    if arguments.like:
        print_coverage_for_wordings_like_these(studies, arguments.like)
        return
    for items in (30, 100, 300):
        draw = np.random.default_rng(items)
        tables = [simulate_study(draw, items, 0.0) for _ in range(studies)]
        wrong = np.mean([table["verdict"].str.contains("higher").any() for table in tables])
        every = pd.concat(tables)
        covered = ((every["lower"] <= 0) & (every["upper"] >= 0)).groupby(every["measure"]).mean()
        print(f"{items} items: false differences in {wrong:.3f} of {studies} studies")
        print(f"  coverage {covered.round(3).to_dict()}")
    print_coverage_for_wordings_like_these(studies, KINDS)
    draw_right = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{name}.eval" for name in ("old", "new")]
        for log in logs:
            samples = [text_sample(n, value="C" if draw_right.random() < 0.7 else "I") for n in range(5000)]
            log.write_bytes(as_eval(samples, header(model=f"m/{log.stem}")))
        start = time.process_time()
        waver.main(["compare", *map(str, logs)])
        print(f"two logs of 5,000 samples: {time.process_time() - start:.1f} s of CPU, without the imports above")


if __name__ == "__main__":
    main()
