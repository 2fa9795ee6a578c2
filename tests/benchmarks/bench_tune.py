"""Tune the demo's masked model on entailment in the demo world, without and with negated rows: before and after.

    python tests/benchmarks/bench_tune.py [--rows 1000] [--rate 3e-3] [--epochs 15] [--seeds 3] [--keep FOLDER]

The rows to tune on are in the wordings that the model was trained on, the questions in the held-out ones of
`run negation --items demo`, so no sentence is in both. Before: the model as it is, which fills a mask. After: tuned on
originals alone, and on as many rows of which three in four have a negation. Intervals are those of the tables
`minimal_pairs` and `negation_accuracy`, over originals; every seed is listed. With --keep, a stopped call goes on. Exit
status 1 where negated rows do not help on pairs with an important negation, beyond the intervals of every seed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from analysis import runs
from analysis.reporting import tables
from inference.__main__ import main as waver
from inference.demo import FAMILY
from inference.demo.entailments import entailments
from inference.demo.world import World
from inference.stimuli import nli
from inference.stimuli.nli import Instance

MODEL = "waver-demo-bert"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rate", default="3e-3")
    parser.add_argument("--epochs", default="15")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return compare(options.keep or Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> int:
    """Tune twice, ask all models, and print accuracies with intervals; return the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    made = entailments(World(), -(-options.rows // 6), "trained", "tune")
    groups = list(nli.groups(made).values())
    random.Random(0).shuffle(groups)  # they come sorted by relation and label
    sets = {
        "originals": [group[0] for group in groups][: options.rows],
        "negated": [each for group in groups for each in group][: options.rows],
    }
    models = [str(FAMILY[MODEL].path)]
    for name, rows in sets.items():
        began = time.monotonic()
        data = written(folder / f"{name}.jsonl", rows)
        call = ["tune", "nli", "--model", models[0], "--data", str(data), "--rates", options.rate]
        call += ["--epochs", options.epochs, "--seeds", str(options.seeds), "--out", str(folder / name)]
        if waver(call):
            return 1
        print(f"{name}: {len(rows):,} rows, {(time.monotonic() - began) / 60:.1f} min")
        models += [str(folder / name / f"{name}-{seed}") for seed in range(options.seeds)]
    if waver(["run", "negation", "--items", "demo", "--model", *models, "--out", str(folder / "run")]):
        return 1
    opened = runs.open(folder / "run")
    accuracy, pairs = (tables.build(name, opened) for name in ("negation_accuracy", "minimal_pairs"))
    for row in accuracy.to_dict("records"):
        ends = f"[{row['accuracy_lower']:.3f}, {row['accuracy_upper']:.3f}]"
        print(f"{row['model']:<18}{row['sentences']:<14}accuracy {row['accuracy']:.3f} {ends}")
    for row in pairs.to_dict("records"):
        ends = f"[{row['lower']:+.3f}, {row['upper']:+.3f}]"
        print(f"{row['model']:<18}{row['pairs']:<14}change   {row['acc_change']:+.3f} {ends}")
    print(tables.build("negation_printed", opened).dropna(axis=1, how="all").to_string())
    ends = pairs[pairs["pairs"] == "important"].set_index("model")
    without, with_them = ([f"{name}-{seed}" for seed in range(options.seeds)] for name in sets)
    helped = ends.loc[with_them, "acc_negated_lower"].min() > ends.loc[without, "acc_negated_upper"].max()
    print("negated rows help where a negation is important:", "yes" if helped else "NOT SHOWN")
    return int(not helped)


def written(path: Path, rows: Sequence[Instance]) -> Path:
    """Write rows as `--data` reads them."""
    fields = ("item", "pattern", "premise", "hypothesis", "label")
    path.write_text("".join(json.dumps({name: getattr(row, name) for name in fields}) + "\n" for row in rows))
    return path


if __name__ == "__main__":
    sys.exit(main())
