"""Ask models about a whole file of JNLI-Neg, and compare the page's numbers with plain loops over the same rows.

    python tests/benchmarks/bench_negation.py jnli-neg-valid-v1.1.jsonl [--model demo FOLDER ...] [--keep FOLDER]

`--model` takes what `waver run` takes, an encoder that `bench_tune.py --keep` made, too. Exit status 1 where a number
of the tables `negation_accuracy`, `minimal_pairs` or `negation_places` differs by more than rounding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from helpers.negation_runs import differences, said_in  # noqa: E402
from inference.__main__ import main as waver  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", nargs="+", default=["demo"])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return compare(options.keep or Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> int:
    """Ask, compare, and print what differs; return the exit status."""
    began = time.process_time()
    run = folder / "run"
    if waver(["run", "negation", "--items", str(options.file), "--model", *options.model, "--out", str(run)]):
        return 1
    for unit, said in said_in(run).items():
        print(f"{unit}: {len(said):,} answers")
    print(f"asked in {time.process_time() - began:.0f} s of CPU")
    faults = differences(run, options.file)
    print("\n".join(faults) or "all numbers are those of plain loops")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
