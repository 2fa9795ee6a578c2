"""Time to compute the text features of the real paraphrases in ../shared, and to find them computed.

    python tests/benchmarks/bench_features.py

Reads ../shared/data: 30,848 paraphrases and their originals, the small English pipeline, sentiment by VADER. One
thread, so that CPU seconds are what an idle machine needs; wall time says more about the neighbours. Every figure is
from a fresh process, imports included. Exit status 1 where a figure misses its target.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared" / "data"
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
COMPUTE = (
    "import sys; from analysis.features import compute_features; compute_features(sys.argv[1], "
    "spacy=sys.argv[2:], sentiment='vader')"
)
FRAME = """
import sys, pandas, scipy.stats, duckdb, pyarrow.parquet
from analysis import features, runs
import resource, time; start = time.process_time()
rows = len(features.join_answers_with_features(runs.open_runs(sys.argv[1])))
print(rows, time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"""
MODELS = 18


def main() -> int:
    pipeline = SHARED / "en-ewt-spacy"
    if not pipeline.is_dir():
        print(f"needs {pipeline.relative_to(ROOT.parent)} next to the checkout")
        return 0
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        run = write(Path(folder) / "run")
        for label, arguments, target in (
            ("first run", [str(run), str(pipeline)], 120),
            ("second run", [str(run)], 2),
        ):
            wall, cpu, _ = measure(COMPUTE, *arguments)
            verdict = "ok" if cpu < target else "MISSED"
            missed |= cpu >= target
            print(f"{label:<12} {cpu:6.1f} s CPU, {wall:6.1f} s wall; target {target} s: {verdict}")
        _, _, output = measure(FRAME, str(run))
        rows, seconds, megabytes = output.split()
        print(f"features.frame: {int(rows):,} rows, {float(seconds):.1f} s CPU, peak {float(megabytes):.0f} MB")
    return int(missed)


def write(path: Path) -> Path:
    """The paraphrases as a run that 18 models have answered."""
    import numpy as np
    import pandas as pd

    from helpers.synthetic import write_run

    source = next((SHARED / "political-compass-paraphrases").glob("*gpt3.5*"))
    rows = []
    for item in json.loads(source.read_text(encoding="utf-8")):
        name = f"item-{item['id']:02d}"
        rows.append((name, "original", item["original_statement"]))
        rows += [(name, f"paraphrase-{k:03d}", text) for k, text in enumerate(item["alternative_statements"], start=1)]
    stimuli = pd.DataFrame(rows, columns=["item", "variant", "text"])
    agreement = np.random.default_rng(0).uniform(0.01, 0.99, (MODELS, len(stimuli)))
    frames = [stimuli.assign(model=f"m{k:02d}", agreement=values) for k, values in enumerate(agreement)]
    print(f"{stimuli['text'].nunique():,} distinct wordings, {MODELS} models")
    return write_run(path, pd.concat(frames, ignore_index=True), parts=MODELS)


def measure(code: str, *arguments: str) -> tuple[float, float, str]:
    """Wall and CPU seconds of a fresh process, and what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE,
        text=True, check=True,
    )  # fmt: skip
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


if __name__ == "__main__":
    sys.exit(main())
