"""Ask a demo model about 30,848 paraphrases, and see how well a tenth of them foresees the errors of the rest.

    python tests/benchmarks/bench_planning.py                    # minutes: asks the model first
    python tests/benchmarks/bench_planning.py --run runs/mine    # a run folder of agreement that there is

Each of 20 pilots is a tenth of every item's wordings, drawn at random. It foresees the standard error that the others
have: of mean agreement, of the SD over wordings, and of the share of items that flip, at two thresholds. Exit status 1
where the mean ratio of foreseen and actual error is off by more than 10 % for the mean or the SD, or for flips that
between a fifth and four fifths of the items have. It ends with 0 where the paraphrases are not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis import runs  # noqa: E402
from analysis.reporting.reworded import AGREEMENT, studies  # noqa: E402
from analysis.statistics.reliability.backtest import compared  # noqa: E402

DATA = ROOT.parent / "shared/data/political-compass-paraphrases/paraphrases_gpt3.5-turbo_temp1.json"
MODEL = ROOT / "inference/demo/models/waver-demo-large-tuned"
PILOTS = 20
THRESHOLDS = (0.05, 0.2)


def main() -> int:
    """Print a line per model and figure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="run folder of protocol agreement, in place of asking the demo model")
    given = parser.parse_args().run
    if given is None and not DATA.exists():
        print(f"{DATA.parent}: the paraphrases are not there; give --run")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return compare(given or ask(f"{folder}/run"))


def ask(out: str) -> str:
    """Ask the demo model about all paraphrases; return the run folder."""
    from inference.__main__ import main as run

    if run(["run", "agreement", "--items", str(DATA), "--model", str(MODEL), "--out", out]):
        raise SystemExit("the demo model could not be asked")
    return out


def compare(path: str) -> int:
    """Compare foreseen and actual errors of all models of a run."""
    heads = ("figure", "pilot", "others", "foreseen", "actual", "ratio", "within 10 %")
    print("{:>24} {:>12} {:>5} {:>6} {:>8} {:>8} {:>6} {:>11}".format("model", *heads))
    worst = 0.0
    for study in (each for each in studies(runs.open(path)) if each.measure == AGREEMENT):
        for unit in study.chosen():
            for figure, found in ratios(study.values[unit], study.crossed).items():
                foreseen, actual, pilot, others, share = found
                ratio = foreseen / actual
                print(
                    f"{study.units[unit][0][:24]:>24} {figure:>12} {pilot:>5} {others:>6} {np.nanmean(foreseen):>8.4f} "
                    f"{np.nanmean(actual):>8.4f} {np.nanmean(ratio):>6.3f} {np.nanmean(np.abs(ratio - 1) < 0.1):>11.2f}"
                )
                if share is None or 0.2 <= share <= 0.8:
                    worst = max(worst, abs(float(np.nanmean(ratio)) - 1))
    print(f"largest deviation of a mean ratio (flips: of a fifth to four fifths of the items): {worst:.3f}")
    return int(not worst <= 0.1)


def ratios(values: np.ndarray, crossed: bool) -> dict[str, tuple[np.ndarray, np.ndarray, int, int, float | None]]:
    """Compute errors of every pilot: figure -> foreseen, actual, wordings of the pilot and others, share of flips."""
    found: dict[str, list[tuple[float, float, int, int]]] = {}
    for threshold in THRESHOLDS:
        for seed in range(PILOTS):
            errors = compared(values, crossed, threshold, seed=seed)
            most = max((each.wordings for each in errors), default=0)
            for each in errors:
                name = f"flips > {threshold:g}" if each.figure == "flips" else each.figure
                if each.wordings == most and (each.figure == "flips" or threshold == THRESHOLDS[0]):
                    found.setdefault(name, []).append((each.predicted, each.actual, each.pilot, each.wordings))
    n = (~np.isnan(values)).sum(axis=1)
    minority = np.minimum((values >= 0.5).sum(axis=1), n - (values >= 0.5).sum(axis=1)) / np.maximum(n, 1)
    shares = {f"flips > {threshold:g}": float((minority > threshold)[n > 1].mean()) for threshold in THRESHOLDS}
    return {
        name: (np.array([e[0] for e in each]), np.array([e[1] for e in each]), each[0][2], each[0][3], shares.get(name))
        for name, each in found.items()
    }


if __name__ == "__main__":
    sys.exit(main())
