"""Tune a small encoder on entailment in the demo world, without and with negated rows: before and after.

    python tests/benchmarks/bench_tune.py [--rows 480] [--rates 3e-3,2e-3] [--epochs 8,16] [--seeds 5] [--keep FOLDER]

The encoder is that of `tests/demo_training/encoders.py`: a BERT of 0.1 million random weights.
`waver tune nli` then tunes it three times: hardly (a rate of 1e-9: its head is random; this is before), on originals,
and on originals and negated rows, equally many rows in all. Rows to tune on are in the wordings that the demo models
are trained on, questions in the held-out ones (`run negation --items demo`): no sentence is in both. Each accuracy is
the mean over the seeds, with its interval over originals. With --keep, a stopped call goes on.

Exit status 1 unless tuning teaches labels, Acc on important pairs falls without negated rows, and Acc' is higher with
them; each beyond both intervals.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from analysis import runs  # noqa: E402
from analysis.pages.negation import judgements  # noqa: E402
from analysis.pages.negation.judgements import Counts  # noqa: E402
from analysis.statistics.resampling import Array, Columns, bootstrap_intervals, compute_ratio_of_sums_per_draw  # noqa: E402
from demo_training import encoders  # noqa: E402
from inference.__main__ import main as waver  # noqa: E402
from inference.demo.world import World  # noqa: E402

INSTANCES = {"originals": ("original_right", "original"), "negated": ("negated_right", "negated")}
PAIRS = {"Acc": ("before", "pairs"), "Acc'": ("after", "pairs")}
Figure = tuple[float, float, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=encoders.ROWS, help="originals, and as many further rows")
    parser.add_argument("--rates", default="3e-3,2e-3")
    parser.add_argument("--epochs", default="8,16")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        return compare(options.keep or Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> int:
    """Tune, ask, and print accuracies with intervals; return the exit status."""
    world = World()
    encoder = folder / "small-encoder"
    if not encoder.exists():
        encoders.write_encoder(encoder, world)
    files = encoders.write_tuning_data(folder, world, options.rows)
    grid = ["--rates", options.rates, "--epochs", options.epochs]
    hardly = ["--rates", "1e-9", "--epochs", "1"]
    found = {}
    for name, rows, tried in (
        ("before", ["originals"], hardly),
        ("without", ["originals", "more"], grid),
        ("with", ["originals", "negated"], grid),
    ):
        began = time.process_time()
        call = ["tune", "nli", "--model", str(encoder), "--data", *(str(files[row]) for row in rows), *tried]
        if waver([*call, "--seeds", str(options.seeds), "--device", "cpu", "--out", str(folder / name)]):
            return 1
        print(f"{name}: {(time.process_time() - began) / 60:.1f} min of a core", flush=True)
        models = [str(folder / name / f"{name}-{seed}") for seed in range(options.seeds)]
        run = folder / f"run-{name}"
        if waver(["run", "negation", "--items", "demo", "--model", *models, "--out", str(run)]):
            return 1
        found[name] = accuracies(run)
    for name, figures in found.items():
        print(
            f"{name:<8}", *(f"{what} {mean:.3f} [{low:.3f}, {high:.3f}]" for what, (mean, low, high) in figures.items())
        )
    shown = {
        "tuning teaches labels": (found["without"]["originals"], found["before"]["originals"]),
        "Acc falls without negated rows": (found["without"]["important Acc"], found["without"]["important Acc'"]),
        "Acc' is higher with them": (found["with"]["important Acc'"], found["without"]["important Acc'"]),
    }
    for what, (above, below) in shown.items():
        print(f"{what}: {'yes' if above[1] > below[2] else 'NOT SHOWN'}")
    return int(not all(above[1] > below[2] for above, below in shown.values()))


def accuracies(run: Path) -> dict[str, Figure]:
    """Measure what the models of a run get right in the mean: value, lower and upper end."""
    opened = runs.open_runs(run)
    instances, pairs = (
        judgements.count_pairs_and_labels_by_negation(opened),
        judgements.count_minimal_pair_judgements(opened),
    )
    found = {name: share(instances, list(range(len(instances.rows))), part) for name, part in INSTANCES.items()}
    for kind in ("important", "unimportant"):
        rows = [place for place, each in enumerate(pairs.rows["kind"]) if each == kind]
        found |= {f"{kind} {name}": share(pairs, rows, part) for name, part in PAIRS.items()}
    return found


def share(counts: Counts, rows: Sequence[int], part: tuple[str, str]) -> Figure:
    """Divide two counts, summed over some rows (a model each), with an interval over originals."""
    columns = {name: counts.sums[name][:, rows].sum(axis=1, keepdims=True) for name in part}
    right, number = part

    def statistic(columns: Columns, drawn: Array) -> dict[str, Array]:
        return {"share": compute_ratio_of_sums_per_draw(drawn, columns[right], columns[number])}

    shares = lambda columns: {"share": [[(columns[right], columns[number])]]}  # noqa: E731
    figure = bootstrap_intervals(columns, statistic, shares)["share"]
    return float(figure.estimate[0]), float(figure.lower[0]), float(figure.upper[0])


if __name__ == "__main__":
    sys.exit(main())
