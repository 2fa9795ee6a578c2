"""What `import table` takes: `python tests/benchmarks/bench_import.py [--rows N] [--values VALUES]`.

A table of made-up answers is imported by a process of its own, as CSV, JSON lines and Parquet; its CPU time and its
largest memory are shown, the median of all rounds. Twenty models answer some items in a hundred wordings each.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS, WORDINGS = 20, 100
SECONDS, MEGABYTES = 25e-6, 400e-6  # per row, of a million
VALUES = {
    "answers": ["--answer-column", "answer", "--options", "agree=yes|Yes;disagree=no|No"],
    "texts": ["--completion-column", "text_written", "--options", "agree=agree|yes;disagree=disagree|no"],
    "probabilities": ["--probability-columns", "agree=p_yes,disagree=p_no"],
    "scores": ["--score-column", "p_yes", "--score-range", "0-1"],
}


def write(path: Path, rows: int) -> None:
    """Write the table, ordered by model."""
    draw = random.Random(0)
    replies = [f"{word}, {end}." for word in ("I agree", "I disagree", "Yes", "No") for end in ("of course", "I think")]
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["model", "item", "wording", "prompt", "answer", "text_written", "p_yes", "p_no"])
        for row in range(rows):
            model, at = divmod(row, rows // MODELS)
            item, wording = divmod(at, WORDINGS)
            text = f"Somebody says, in wording {wording}, that thing {item} is as good as it has ever been."
            yes = draw.random()
            answer = draw.choice(("yes", "no", "Yes", "No", "maybe"))
            name = "original" if not wording else f"paraphrase {wording}"
            values = [answer, draw.choice(replies), f"{yes:.6f}", f"{(1 - yes) * 0.9:.6f}"]
            table.writerow([f"model {min(model, MODELS - 1)}", item, name, text, *values])


def converted(table: Path) -> list[Path]:
    """Write a CSV table as JSON lines and as Parquet, too, its probabilities as numbers."""
    import pyarrow.csv
    import pyarrow.parquet

    lines, parquet = table.with_suffix(".jsonl"), table.with_suffix(".parquet")
    whole = pyarrow.csv.read_csv(table)
    pyarrow.parquet.write_table(whole, parquet)
    with lines.open("w", encoding="utf-8") as file:
        for batch in whole.to_batches():
            file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())
    return [table, lines, parquet]


def imported(table: Path, out: str, values: str) -> tuple[float, float]:
    """Import the table; CPU seconds and the largest resident set in MB."""
    call = [sys.executable, "-m", "inference", "import", "table", str(table), "--out", out, *VALUES[values]]
    call += ["--model-column", "model", "--item-column", "item", "--variant-column", "wording"]
    call += ["--text-column", "prompt"]
    process = subprocess.Popen(call, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("the import failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    """Print the table; exit status 1 where it takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--values", nargs="+", choices=VALUES, default=list(VALUES))
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        write(table, given.rows)
        print(f"{given.rows:,} rows, {table.stat().st_size / 1e6:,.0f} MB of CSV")
        # In another process: what this one has ever held would count as memory of those that it starts.
        with ProcessPoolExecutor(1) as other:
            files = other.submit(converted, table).result()
        for file, values in product(files, given.values):
            kind = f"{file.suffix[1:]}-{values}"
            took = [imported(file, f"{folder}/{kind}-{number}", values) for number in range(given.rounds)]
            seconds, megabytes = (statistics.median(column) for column in zip(*took, strict=True))
            print(f"{file.suffix[1:]:8} {values:14} {seconds:6.1f} CPU s {megabytes:6.0f} MB", flush=True)
            missed |= seconds > SECONDS * given.rows or megabytes > MEGABYTES * given.rows
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
