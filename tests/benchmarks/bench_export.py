"""Measure `waver export`: rows per second and peak memory of each kind, for a run of a million responses.

    .venv/bin/python tests/benchmarks/bench_export.py [--rows 1000000]

Every export runs in a process of its own, on one thread. Memory must not grow with the rows: compare two sizes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.synthetic import arrow_schema  # noqa: E402

WORDINGS = 20_000
KINDS = ("parquet", "csv", "hf", "croissant", "eee")


def write_run(path: Path, rows: int) -> None:
    """Write a run of 10 models or more, a part of 20,000 responses each, with probabilities and an answer."""
    (path / "responses").mkdir(parents=True)
    items = [f"item-{number // 20:05d}" for number in range(WORDINGS)]
    variants = [f"paraphrase-{number % 20:03d}" for number in range(WORDINGS)]
    stimuli = {
        "study": ["big"] * WORDINGS, "item": items, "variant": variants, "pattern": ["paraphrase"] * WORDINGS,
        "text": [f"A sentence of some length, number {number}, that somebody wrote." for number in range(WORDINGS)],
        "gold": ["agree"] * WORDINGS, "options": [["agree", "disagree"]] * WORDINGS,
        "canonical": [["agree", "disagree"]] * WORDINGS,
    }  # fmt: skip
    _write(path / "stimuli.parquet", stimuli, "stimuli", WORDINGS)
    models = [f"model-{number:04d}" for number in range(rows // WORDINGS)]
    for number, model in enumerate(models):
        shares = np.random.default_rng(number).uniform(0, 1, WORDINGS)
        pairs = np.stack([shares, 1 - shares], axis=1)
        responses = {
            "study": ["big"] * WORDINGS, "model": [model] * WORDINGS, "condition": ["plain"] * WORDINGS, "item": items,
            "variant": variants, "probability": pairs.tolist(), "logprob": np.log(pairs).tolist(),
            "mass": [1.0] * WORDINGS, "answer": ["agree" if share >= 0.5 else "disagree" for share in shares],
        }  # fmt: skip
        _write(path / "responses" / f"part-{number:06d}.parquet", responses, "responses", WORDINGS)
    study = {"protocol": "agreement", "name": "big", "hash": "0", "canonical": ["agree", "disagree"]}
    info = {"format": 1, "study": study, "models": {model: {"engine": "causal"} for model in models},
            "conditions": {"plain": {"form": "plain"}}, "decision_rule": "", "seed": 0, "sessions": []}  # fmt: skip
    (path / "run.json").write_text(json.dumps(info), encoding="utf-8")


def _write(path: Path, columns: dict, table: str, rows: int) -> None:
    schema = arrow_schema(table)
    pq.write_table(
        pa.table({field.name: pa.array(columns.get(field.name, [None] * rows), field.type) for field in schema}), path
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    if options.child:
        from analysis.__main__ import main as export

        run, kind, out = options.child
        export(["export", run, "--as", kind, "--out", out])
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]), file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        write_run(run, options.rows)
        print(f"{options.rows:,} responses\n{'kind':<10} {'CPU s':>7} {'rows/s':>9} {'peak MB':>8} {'MB out':>7}")
        for kind in KINDS:
            out = Path(folder, kind)
            call = [sys.executable, __file__, "--child", str(run), kind, str(out)]
            done = subprocess.run(call, capture_output=True, text=True, cwd=ROOT, check=True)
            seconds, memory = json.loads(done.stderr.splitlines()[-1])
            size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6
            print(f"{kind:<10} {seconds:7.1f} {options.rows / seconds:9,.0f} {memory:8.0f} {size:7.0f}")


if __name__ == "__main__":
    main()
