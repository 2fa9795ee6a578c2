"""CPU time of `run` around the asking: `python tests/benchmarks/bench_start.py [--rounds N] [--rows N]`.

- first prompt: from the start of the command to the first prompt of a small demo model
- whole run: to the end, with the 65 wordings of one item
- nothing left: the same command again, where every row of a large study is there; torch must not be imported

Every number is from a process of its own, on one thread; medians of all rounds. The large study is asked beforehand, by
a model that answers at once (`tests/helpers/table_models.py`).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "inference" / "demo" / "models" / "waver-demo-small"
WORDINGS = 100
TARGETS = {"first prompt": 4.0, "nothing left": 1.0}  # CPU seconds, the second for 100,000 rows

RUN = """
import json, sys, time
import inference.asking.rounds as rounds
from inference.__main__ import main
first, ask = [], rounds.ask_batch_in_each_way
rounds.ask_batch_in_each_way = lambda *given: first.append(time.process_time()) or ask(*given)
assert main(sys.argv[1:]) == 0
took = {"whole run": time.process_time(), "torch": "torch" in sys.modules}
print(json.dumps(took | ({"first prompt": first[0]} if first else {})))
"""
TABLE = """
import sys
from inference import engines
from inference.__main__ import main
from inference.engines.loading import Checkpoint
from inference.engines.local.causal import CausalEngine
from helpers.table_models import TableModel, tokenizer
known = tokenizer()
model = TableModel(known.eos_token_id).eval()
info = {"engine": "causal", "revision": None, "dtype": "float32", "device": "cpu", "parameters": 0}
engines.load_engine = lambda *given, **more: CausalEngine(Checkpoint("table", model, known, info), 512)
assert main(sys.argv[1:]) == 0
"""


def process(code: str, call: list[str]) -> str:
    """Run Python code with the arguments of a call, on one thread; what it prints."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    settings = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run([sys.executable, "-c", code, *call], env=settings, check=True, capture_output=True)
    return done.stdout.decode()


def call(items: str, out: Path) -> list[str]:
    """The arguments of `waver` for a study in plain form."""
    return ["run", "agreement", "--items", items, "--model", str(SMALL), "--form", "plain", "--out", str(out)]


def write(path: Path, rows: int) -> None:
    """Write statements, each in some wordings."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "variant", "text"])
        for row in range(rows):
            item, wording = divmod(row, WORDINGS)
            name = f"paraphrase {wording}" if wording else "original"
            table.writerow([item, name, f"Somebody says, in wording {wording}, that thing {item} is good."])


def main() -> int:
    """Print the table; exit status 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        items = folder / "items.csv"
        write(items, given.rows)
        process(TABLE, call(str(items), folder / "large"))
        found: dict[str, list[float]] = {"first prompt": [], "whole run": [], "nothing left": []}
        for number in range(given.rounds):
            took = json.loads(
                process(RUN, [*call("demo", folder / f"small-{number}"), "--limit", "1"]).splitlines()[-1]
            )
            again = json.loads(process(RUN, call(str(items), folder / "large")).splitlines()[-1])
            if again["torch"] or "first prompt" in again:
                raise SystemExit("the same call did not see that nothing is left")
            for each, seconds in (*list(took.items()), ("nothing left", again["whole run"])):
                if each in found:
                    found[each].append(seconds)
    missed = False
    print(f"{'CPU seconds of':14} {'median':>7} {'target':>7}   nothing left: {given.rows:,} rows")
    for each, seconds in found.items():
        median, target = statistics.median(seconds), TARGETS.get(each)
        missed |= target is not None and median > target
        print(f"{each:14} {median:7.2f} {target or '':>7}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
