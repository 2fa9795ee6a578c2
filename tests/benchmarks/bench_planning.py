"""See how well pilots foresee the errors of other wordings: in simulated populations, and in a demo model's answers.

    python tests/benchmarks/bench_planning.py                    # minutes: asks the model about 30,848 paraphrases
    python tests/benchmarks/bench_planning.py --run runs/mine    # a run folder of agreement that there is
    python tests/benchmarks/bench_planning.py --simulate         # simulated populations of flips and of SDs

Each of 20 pilots is a tenth of every item's wordings, drawn at random. It foresees the standard error that the others
have: of mean agreement, of the SD over wordings, and of the share of items that flip, at two thresholds. Of flips,
`known` is the ratio of somebody who knows the share of every item over all its wordings: where few items have none, it
is off itself. Exit status 1 where a mean ratio is off by more than 10 %, of 1 and of `known`; where one of a simulated
population is off by more than 11 % (the error of the simulation is 1 to 2 %), or where the bounds of the error of flips
hold it in less than 93 % of the pilots of a population. It ends with 0 where the paraphrases are not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binom

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from analysis import runs  # noqa: E402
from analysis.measures.reworded import AGREEMENT  # noqa: E402
from analysis.reporting.catalogue.rewordings import read_reworded_studies  # noqa: E402
from analysis.statistics.reliability.backtest import compare_forecast_and_actual_errors  # noqa: E402
from analysis.statistics.reliability.deviations import forecast_error_of_mean_wording_sd  # noqa: E402
from analysis.statistics.reliability.flips import build_flip_share_error_forecast  # noqa: E402
from analysis.statistics.reliability.forecast import predict_standard_error  # noqa: E402

DATA = ROOT.parent / "shared/data/political-compass-paraphrases/paraphrases_gpt3.5-turbo_temp1.json"
MODEL = ROOT / "inference/demo/models/waver-demo-large-tuned"
PILOTS = 20
THRESHOLDS = (0.05, 0.2)
RUNS = 200  # simulated pilots of each kind
SIZES = ((62, 45, 408), (30, 10, 90))  # items, wordings of the pilot, others
POPULATIONS = {  # shares of agreeing wordings
    "many at the ends": lambda rng, n: rng.beta(0.2, 0.2, n),
    "more at the ends": lambda rng, n: rng.beta(0.6, 0.8, n),
    "even": lambda rng, n: rng.random(n),
    "about a half": lambda rng, n: rng.beta(5, 5, n),
    "about .8": lambda rng, n: rng.beta(8, 2, n),
    "close to .8": lambda rng, n: rng.beta(40, 10, n),
    "close to .93": lambda rng, n: rng.beta(93, 7, n),
    "near 1": lambda rng, n: rng.beta(20, 1, n),
    "most at 0 and 1": lambda rng, n: np.where(rng.random(n) < 0.7, rng.integers(0, 2, n), rng.beta(2, 2, n)),
    "two kinds": lambda rng, n: np.where(rng.random(n) < 0.5, rng.beta(60, 3, n), rng.beta(10, 10, n)),
    "a tenth flips": lambda rng, n: np.where(rng.random(n) < 0.9, rng.beta(1, 300, n), rng.beta(3, 3, n)),
    "a twentieth at 1": lambda rng, n: np.where(rng.random(n) < 0.05, 1.0, rng.beta(6, 4, n)),
}
AT = (3, 5, 10, 20, 40)
ANSWERS = {
    "SDs differ": lambda rng, item, own, shared: 0.3 * item + rng.gamma(4, 0.05, item.shape) * (own + 1.2 * shared),
    "SDs differ, shared little": lambda rng, item, own, shared: (
        0.3 * item + rng.gamma(4, 0.05, item.shape) * own + 0.05 * shared
    ),
    "SDs equal": lambda rng, item, own, shared: 0.3 * item + 0.15 * own + 0.05 * shared,
    "SDs equal, shared much": lambda rng, item, own, shared: 0.3 * item + 0.1 * own + 0.15 * shared,
    "bounded": lambda rng, item, own, shared: 1 / (1 + np.exp(-(1.5 * item + own + 0.4 * shared))),
    "bounded, at both ends": lambda rng, item, own, shared: 1 / (1 + np.exp(-(4 * item + 1.5 * own + shared))),
}


def main() -> int:
    """Print a line per model and figure; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="run folder of protocol agreement, in place of asking the demo model")
    parser.add_argument("--simulate", action="store_true", help="simulated populations, in place of answers")
    options = parser.parse_args()
    if options.simulate:
        return 0 if (flips() & deviations()) else 1
    given = options.run
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
    heads = ("figure", "pilot", "others", "foreseen", "actual", "ratio", "within 10 %", "known")
    print("{:>24} {:>12} {:>5} {:>6} {:>8} {:>8} {:>6} {:>11} {:>6}".format("model", *heads))
    worst = 0.0
    for study in (each for each in read_reworded_studies(runs.open_runs(path)) if each.measure == AGREEMENT):
        for unit in study.list_first_units_of_answering_models():
            for figure, found in ratios(study.values[unit], study.crossed).items():
                foreseen, actual, pilot, others, known = found
                ratio = foreseen / actual
                print(
                    f"{study.units[unit][0][:24]:>24} {figure:>12} {pilot:>5} {others:>6} {np.nanmean(foreseen):>8.4f} "
                    f"{np.nanmean(actual):>8.4f} {np.nanmean(ratio):>6.3f} {np.nanmean(np.abs(ratio - 1) < 0.1):>11.2f}"
                    f" {float(np.mean(known / actual)):>6.3f}"
                )
                off = abs(float(np.nanmean(ratio)) - 1)
                worst = max(worst, min(off, abs(float(np.nanmean(ratio / (known / actual))) - 1)))
    print(f"largest deviation of a mean ratio, of 1 and of what is known: {worst:.3f}")
    return int(not worst <= 0.1)


def ratios(values: np.ndarray, crossed: bool) -> dict[str, tuple[np.ndarray, np.ndarray, int, int, float]]:
    """Compute errors of every pilot: figure -> foreseen, actual, wordings of the pilot and others, known error."""
    found: dict[str, list[tuple[float, float, int, int]]] = {}
    for threshold in THRESHOLDS:
        for seed in range(PILOTS):
            errors = compare_forecast_and_actual_errors(values, crossed, threshold, seed=seed)
            most = max((each.wordings for each in errors), default=0)
            for each in errors:
                name = f"flips > {threshold:g}" if each.figure == "flips" else each.figure
                if each.wordings == most and (each.figure == "flips" or threshold == THRESHOLDS[0]):
                    found.setdefault(name, []).append((each.predicted, each.actual, each.pilot, each.wordings))
    agree = (values >= 0.5).sum(axis=1) / (~np.isnan(values)).sum(axis=1)
    errors_known = {}
    for threshold in THRESHOLDS:
        share = (
            float(chances(agree, found[f"flips > {threshold:g}"][0][3], threshold).mean()) if not crossed else np.nan
        )
        errors_known[f"flips > {threshold:g}"] = float(np.sqrt(share * (1 - share) / len(values)))
    return {
        name: (
            np.array([e[0] for e in each]), np.array([e[1] for e in each]), each[0][2], each[0][3],
            errors_known.get(name, float(np.mean([e[1] for e in each]))),
        )
        for name, each in found.items()
    }  # fmt: skip


def chances(agree: np.ndarray, wordings: int, threshold: float) -> np.ndarray:
    """Return how likely items with these shares of agreeing wordings flip with so many."""
    drawn = np.arange(wordings + 1)
    flipped = drawn[np.minimum(drawn, wordings - drawn) / wordings > threshold]
    return np.asarray(binom.pmf(flipped, wordings, agree[:, None]).sum(axis=1))


def flips() -> bool:
    """Print mean ratios of foreseen and actual errors of flips, and coverage of the bounds; tell whether all hold."""
    print(
        f"{'population':>24} {'items':>5} {'pilot':>5} {'others':>6} {'threshold':>9} "
        f"{'flips':>6} {'ratio':>6} {'bounds':>6}"
    )
    fair = True
    for (items, pilot, others), threshold, name in product(SIZES, THRESHOLDS, POPULATIONS):
        rng, ratio, held, told = np.random.default_rng(1), [], [], []
        true = float(chances(POPULATIONS[name](rng, 20_000), others, threshold).mean())
        for _ in range(RUNS):
            agree = POPULATIONS[name](rng, items)
            drawn = (np.arange(pilot) < rng.binomial(pilot, agree)[:, None]).astype(float)
            agreed = rng.binomial(others, agree)
            share = float((np.minimum(agreed, others - agreed) / others > threshold).mean())
            found = build_flip_share_error_forecast(drawn, threshold)
            if found is None or share in (0, 1):
                continue
            low, high = found.compute_standard_error_bounds(items, others)
            told.append(share)
            ratio.append(predict_standard_error(found, items, others) / np.sqrt(share * (1 - share) / (items - 1)))
            held.append(low - 1e-12 <= np.sqrt(true * (1 - true) / items) <= high + 1e-12)
        if len(ratio) < RUNS / 2:  # nearly always all items flip, or none: nothing is told
            continue
        fair &= abs(np.mean(ratio) - 1) <= 0.11 and np.mean(held) >= 0.93
        print(f"{name:>24} {items:>5} {pilot:>5} {others:>6} {threshold:>9} {true:>6.3f} ", end="")
        print(f"{np.mean(ratio):>6.3f} {np.mean(held):>6.3f}", flush=True)
    return bool(fair)


def deviations() -> bool:
    """Print mean ratios of foreseen and actual errors of the mean SD, by wordings; tell whether all are within 11 %."""
    print(f"{'answers':>24} {'wordings':>8} {'pilot':>5} " + " ".join(f"{k:>13}" for k in AT))
    fair = True
    for crossed, name in product((False, True), ANSWERS):
        rng = np.random.default_rng(3)
        figures = {k: [_answers(rng, name, k, crossed).std(axis=1, ddof=1).mean() for _ in range(1500)] for k in AT}
        for pilot in (5, 7, 10) if crossed else (3, 4, 5, 7, 10):
            forecasts = [
                forecast_error_of_mean_wording_sd(_answers(rng, name, pilot, crossed), crossed) for _ in range(RUNS)
            ]
            texts = []
            for k in AT:
                ratio = np.array([predict_standard_error(each, 62, k) for each in forecasts]) / np.std(
                    figures[k], ddof=1
                )
                told = float((~np.isnan(ratio)).mean())
                fair &= told < 0.1 or abs(np.nanmean(ratio) - 1) <= 0.11
                texts.append(f"{np.nanmean(ratio):.3f} ({told:.2f})" if told >= 0.1 else "-")
            design = "shared" if crossed else "own"
            print(f"{name:>24} {design:>8} {pilot:>5} " + " ".join(f"{text:>13}" for text in texts), flush=True)
    return bool(fair)


def _answers(rng: np.random.Generator, name: str, wordings: int, crossed: bool) -> np.ndarray:
    """Draw the answers of 62 items."""
    shared = rng.normal(size=(1, wordings)) if crossed else np.zeros((1, wordings))
    own, item = rng.normal(size=(62, wordings)), rng.normal(size=(62, 1))
    return np.asarray(ANSWERS[name](rng, item, own, shared))


if __name__ == "__main__":
    sys.exit(main())
