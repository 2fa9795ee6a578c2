"""Speed and coverage of the mixed models: `python tests/benchmarks/bench_mixed.py [--r] [--coverage N]`.

One thread, CPU time, after loading. 18 models x 31,000 responses x 8 predictors x 62 items, like the paper's Table 3.

- built in: the whole table of the 18 fits; must stay under 0.5 s.
- with --r, where R and pymer4 are installed: `lmerTest::lmer` with `summary`, timed inside R; and the same fit through
  `mixed.fit_mixed_models(..., engine="pymer4")`. The two are timed in turn, so that a slow minute of the machine falls
  on both; the ratios are medians over the rounds. Built in must be at least 30 times as fast as lmerTest, pymer4 must
  take at most twice R's time.
- with --coverage N: the share of N simulated data sets whose 95 % interval holds the truth; must be 93-97 %.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is loaded

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis.statistics import mixed  # noqa: E402

MODELS, ROWS, ITEMS, PREDICTORS = 18, 31_000, 62, 8
ROUNDS = 5
NAMES = [f"x{j + 1}" for j in range(PREDICTORS)]
FORMULA = f"agreement ~ {' + '.join(NAMES)} + (1 | item)"
LIMIT, FASTER, SLOWER = 0.5, 30, 2
# R times itself as often as it is asked to, one line of input per fit
R_LOOP = """
suppressMessages(library(lmerTest))
data <- read.csv(commandArgs(TRUE)[1])
cat("ready\\n")
input <- file("stdin", "r")
while (length(readLines(input, 1))) {
  gc(FALSE)
  cat(sprintf("%.6f\\n", sum(system.time(coef(summary(lmer(FORMULA, data))))[1:2])))
}
"""


def responses(model: int, rows: int = ROWS, predictors: int = PREDICTORS) -> pd.DataFrame:
    """One model's agreement with the same wordings: predictors from seed 0, responses from the model's."""
    wordings, answers = np.random.RandomState(0), np.random.RandomState(model + 1)
    item = np.sort(wordings.randint(0, ITEMS, rows))
    x = wordings.standard_normal((rows, predictors))
    y = 0.5 + 0.02 * x[:, 0] + 0.1 * answers.standard_normal(ITEMS)[item] + 0.2 * answers.standard_normal(rows)
    return pd.DataFrame(x, columns=NAMES[:predictors]).assign(
        item=np.char.add("item ", item.astype(str)), model=f"model {model}", agreement=y
    )


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def built_in() -> float:
    """CPU seconds of one of the 18 fits; the median round of the whole family must stay under the limit."""
    family = pd.concat([responses(model) for model in range(MODELS)], ignore_index=True)
    family = family.astype(
        {"model": "category", "item": "category"}
    )  # as `analysis.features.join_answers_with_features` hands it over
    call = lambda: mixed.fit_mixed_models(family, FORMULA, engine="profile").table  # noqa: E731
    call()
    rounds = [seconds(call) for _ in range(ROUNDS)]
    median = statistics.median(rounds)
    size = f"{MODELS} fits of {ROWS:,} rows x {PREDICTORS}"
    print(f"built in   {size}: {median:.3f} s ({min(rounds):.3f} - {max(rounds):.3f})")
    verdict(f"under {LIMIT} s", median < LIMIT)
    return median / MODELS


def through_r(one_fit: float) -> None:
    """R by itself, and R through pymer4, in turn."""
    frame = responses(0)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data.csv", Path(folder) / "loop.R"
        frame.to_csv(data, index=False)
        script.write_text(R_LOOP.replace("FORMULA", FORMULA))
        # R reads the responses from a file; pymer4 gets a frame that is already there, and must hand it over
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(["Rscript", str(script), str(data)], **pipes) as r:
            assert r.stdin is not None
            assert r.stdout is not None
            assert r.stdout.readline() == "ready\n"

            def r_fits() -> float:
                r.stdin.write("\n")
                r.stdin.flush()
                return float(r.stdout.readline())

            call = lambda: mixed.fit_mixed_models(frame, FORMULA, engine="pymer4").table  # noqa: E731
            call()
            r_fits()
            pairs = [(r_fits(), seconds(call)) for _ in range(ROUNDS)]
            r.stdin.close()
    by_r = statistics.median(own for own, _ in pairs)
    ratio = statistics.median(ours / own for own, ours in pairs)
    print(f"lmerTest   one fit, inside R: {by_r:.3f} s, {by_r / one_fit:.0f} x the built-in engine's {one_fit:.4f} s")
    verdict(f"built in at least {FASTER} x as fast", by_r / one_fit >= FASTER)
    print(f"pymer4     one fit: {statistics.median(ours for _, ours in pairs):.3f} s, {ratio:.2f} x R itself")
    verdict(f"at most {SLOWER} x R", ratio <= SLOWER)


def coverage(simulations: int) -> None:
    """How often the 95 % intervals of a within-item and a between-item effect hold the truth, with 62 items."""
    rng = np.random.RandomState(42)
    truth = {"within": 0.3, "between": -0.2, "(Intercept)": 0.5}
    held = dict.fromkeys(truth, 0)
    for _ in range(simulations):
        item = np.repeat(np.arange(ITEMS), rng.randint(5, 25, ITEMS))
        within, between = rng.standard_normal(len(item)), rng.standard_normal(ITEMS)[item]
        y = 0.5 + 0.3 * within - 0.2 * between + 0.5 * rng.standard_normal(ITEMS)[item] + rng.standard_normal(len(item))
        frame = pd.DataFrame({"y": y, "within": within, "between": between, "item": item})
        table = mixed.fit_mixed_models(frame, "y ~ within + between + (1 | item)").table.set_index("term")
        for term, value in truth.items():
            held[term] += bool(table.loc[term, "lower"] <= value <= table.loc[term, "upper"])
    for term, count in held.items():
        print(f"coverage   {term}: {count / simulations:.1%} of {simulations:,}")
        verdict("93-97 %", 0.93 <= count / simulations <= 0.97)


FAILED: list[str] = []


def verdict(promise: str, kept: bool) -> None:
    """Say whether a promise is kept; a broken one fails the run."""
    print(f"           {'ok' if kept else 'NOT KEPT'}: {promise}")
    if not kept:
        FAILED.append(promise)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--r", action="store_true", help="also time R and pymer4")
    parser.add_argument("--coverage", type=int, metavar="N", help="also simulate N data sets")
    arguments = parser.parse_args()
    one = built_in()
    if arguments.r:
        through_r(one)
    if arguments.coverage:
        coverage(arguments.coverage)
    sys.exit(bool(FAILED))
