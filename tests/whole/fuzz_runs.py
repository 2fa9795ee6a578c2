"""Damage values of run folders at random, and see that each is refused in one line when it is opened.

    PYTHONPATH=.:tests .venv/bin/python tests/whole/fuzz_runs.py --count 2000 --seed 1

Each folder is a whole run of one protocol of which one value breaks results/schema.json. What is opened all the same is
listed, with the seed that makes it again (`--count 1 --seed N`), unless the tables of its page are what they were.
`test_fuzz_runs.py` runs some in every test.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analysis import runs
from ground.errors import InputError
from helpers.accuracy_runs import random_accuracies, write_accuracies
from helpers.damaged_rows import ALL, damage
from helpers.page_runs import FULL
from waver import open as open_run

PAGES = ("stability", "wording", "negation", "choice", "scoring")


def write_runs(folder: Path) -> list[Path]:
    """Write a whole run of every protocol."""
    written = [FULL[page](folder / page)[0] for page in PAGES]
    return [*map(Path, written), Path(write_accuracies(folder / "accuracies", random_accuracies()))]


def list_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Compute all tables of a run that need no options."""
    run, frames = open_run(folder), {}
    for name in run.tables():
        try:
            frames[name] = run.table(name)
        except InputError:
            continue  # there is no such table of this run
    return frames


def try_seed(seed: int, whole: list[Path]) -> tuple[str, str]:
    """Damage a run; return what was damaged, and what is wrong with how it was taken, or nothing."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        while True:
            source, chosen = draw.choice(whole), draw.choice(ALL)
            folder = Path(place) / "run"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            if damage(folder, chosen, draw):
                break
        about = f"{source.name}: {chosen.name}"
        try:
            runs.open_runs(folder)
        except InputError as error:
            says = str(error)
            named = chosen.column in says or "item" in says or "variant" in says
            return about, "" if named and "\n" not in says else f"the line does not name it: {says}"
        except Exception as error:
            return about, f"{type(error).__name__}: {error}"
        before, after = list_tables(source), list_tables(folder)
        same = before.keys() == after.keys() and all(before[name].equals(after[name]) for name in before)
        return about, "" if same else "it was opened, and a table has changed"


def fuzz(seeds: Iterable[int]) -> tuple[Counter[str], dict[int, str]]:
    """Try seeds; count the kinds of damage, and return seed -> fault."""
    kinds: Counter[str] = Counter()
    faults: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as place:
        whole = write_runs(Path(place))
        for seed in seeds:
            about, fault = try_seed(seed, whole)
            kinds[about] += 1
            if fault:
                faults[seed] = f"{about}: {fault}"
    return kinds, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    options = parser.parse_args()
    kinds, faults = fuzz(range(options.seed, options.seed + options.count))
    for seed, fault in faults.items():
        print(f"seed {seed}: {fault}")
    print(f"{sum(kinds.values()):,} folders, {len(kinds)} kinds of damage, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
