"""Tune a demo model on paraphrases, and as long without: the positive control of `waver tune choice`.

    python tests/benchmarks/bench_tune_choice.py [--divisions 6] [--orders 4] [--keep FOLDER]

The questions are like those of `run choice --items demo-reworded`, with other divisions of the facts into training and
test, none of which was looked at when the sizes were chosen. waver-demo-large was trained on the original wordings and
has read no paraphrase. For each division it is asked the questions for training and validation, and tuned twice with
the settings of `inference/demo/choice-tuning.toml`: on its own right answers as Choi has it, and on its right answers
to the originals alone, three of each question, too; there, the reply repeats the original in place of a paraphrase. All
three answer the test questions, which share no fact with the others. With --keep, a stopped call goes on.

The divisions are taken together; intervals are BCa's over facts, as questions about one fact are not independent. Exit
status 1 unless the tuning on paraphrases raises XParaCon with an interval above 0 and loses at most two points of
accuracy, under the base prompt and as Choi compares (tuned with the paraphrase-aware prompt, untuned with the base
prompt); the tuning without paraphrases raises it in neither; and a study like this one shows the rise with a
probability of .9 or more, by the standard error over facts.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from scipy import stats

from analysis import runs
from analysis.measures.choices import read_choice_studies
from analysis.pages.choice import measures, over_questions
from inference.__main__ import main as waver
from inference.demo import DEMO, FAMILY
from inference.demo.reworded import make_reworded_questions
from inference.demo.world import World
from inference.protocols.choice.building.building import write_questions

BASE = FAMILY["waver-demo-large"].path
WITH, WITHOUT = "with-paraphrases", "without-paraphrases"
WORDINGS = ("original", "paraphrase_1", "paraphrase_2")
BEFORE = (BASE.name, "plain/base/text")
CHANGES = {"tuning": "plain/base/text", "tuning and prompt": "plain/aware/text"}
MOST_LOST, POWER, DRAWS = 0.02, 0.9, 4000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--divisions", type=int, default=6, help="of the facts into training and test")
    parser.add_argument("--orders", type=int, default=4, help="of the choices of every test question")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        tested = []
        for division in range(1, options.divisions + 1):
            run = tune_and_ask((options.keep or Path(folder)) / f"division-{division}", division, options.orders)
            if run is None:
                return 1
            tested.append(read_figures(run))
        return judge_changes(pd.concat(tested, ignore_index=True))


def tune_and_ask(folder: Path, division: int, orders: int) -> Path | None:
    """Ask, tune with and without paraphrases, and ask again; return the last run folder, None where a call failed."""
    folder.mkdir(parents=True, exist_ok=True)
    items = folder / "questions.jsonl"
    write_questions(items, make_reworded_questions(World(), division))
    asking = ["run", "choice", "--items", str(items), "--model", str(BASE), "--form", "plain", "--answer", "text"]
    before, after = folder / "before", folder / "after"
    if waver([*asking, "--split", "train", "validation", "--max-tokens", "24", "--out", str(before)]):
        return None
    if not (folder / "originals").exists():
        keep_originals(before, folder / "originals")
    for name, run in ((WITH, before), (WITHOUT, folder / "originals")):
        began = time.process_time()
        call = ["tune", "choice", "--run", str(run), "--model", str(BASE), "--out", str(folder / name)]
        if waver([*call, "--config", str(DEMO / "choice-tuning.toml"), "--device", "cpu"]):
            return None
        print(f"division {division}, {name}: {(time.process_time() - began) / 60:.1f} min of a core", flush=True)
    adapters = ["--lora", str(folder / WITH), "--lora", str(folder / WITHOUT), "--prompt-kind", "base", "aware"]
    more = ["--split", "test", "--orders", str(orders), "--max-tokens", "24", "--out", str(after)]
    return None if waver([*asking, *adapters, *more]) else after


def keep_originals(run: Path, out: Path) -> None:
    """Copy a run with the original wording only: a third of its orders each stand as the original and two paraphrases.

    So `tune choice` makes as many examples of it, in which no wording is another one's paraphrase.
    """
    (out / "responses").mkdir(parents=True)
    shutil.copy(run / "run.json", out)
    for file in (run / "stimuli.parquet", *sorted((run / "responses").glob("part-*.parquet"))):
        table = pq.read_table(file)
        variants = table["variant"].to_pylist()
        numbers = [int(name.rpartition("/")[2]) for name in variants]
        patterns = [WORDINGS[number % len(WORDINGS)] for number in numbers]
        renamed = {"variant": [f"{pattern.replace('_', '-')}/{number}"
                               for pattern, number in zip(patterns, numbers, strict=True)],
                   "pattern": patterns}  # fmt: skip
        for name in renamed.keys() & set(table.column_names):
            field = table.schema.field(name)
            table = table.set_column(table.schema.get_field_index(name), field, pa.array(renamed[name], field.type))
        pq.write_table(
            table.filter(pa.array([name.startswith("original/") for name in variants])), out / file.relative_to(run)
        )


def read_figures(run: Path) -> pd.DataFrame:
    """Read a row per test question and unit: its fact, its accuracy and the standard deviation over its wordings."""
    (study,) = read_choice_studies(runs.open_runs(run))
    parts = over_questions.compute_headline_numerators_and_denominators(study)
    right, asked = parts[over_questions.ACCURACY]
    stimuli = pd.read_parquet(run / "stimuli.parquet").drop_duplicates("item").set_index("item").loc[study.items]
    answers = [
        dict(attributes)[f"choice_{gold}"]
        for attributes, gold in zip(stimuli["attributes"], stimuli["gold"], strict=True)
    ]
    facts = stimuli["text"].to_numpy() + " " + np.array(answers, dtype=object)
    spread = parts[over_questions.XPARACON][0] * measures.compute_largest_possible_sd(len(WORDINGS))
    return pd.concat(
        pd.DataFrame({"fact": facts, "model": model, "condition": condition, "item": study.items,
                      "accuracy": right[:, unit] / asked[:, unit], "spread": spread[:, unit]})
        for unit, (model, condition) in enumerate(study.units)
    )  # fmt: skip


def judge_changes(figures: pd.DataFrame) -> int:
    """Print accuracy and XParaCon before and after, with intervals, and what is shown; return the exit status."""
    sums = figures.groupby(["model", "condition", "fact"])[["accuracy", "spread"]].sum()
    n_questions = figures[figures["model"] == BASE.name].groupby(["condition", "fact"]).size().loc[BEFORE[1]]
    print(f"{n_questions.sum()} test questions about {len(n_questions)} facts")
    shown = {}
    for change, condition in CHANGES.items():
        for model in (WITH, WITHOUT):
            pair = [sums.loc[unit].reindex(n_questions.index) for unit in (BEFORE, (model, condition))]
            accuracy = compare_means([frame["accuracy"].to_numpy() for frame in pair], n_questions.to_numpy())
            xparacon = compare_xparacon([frame["spread"].to_numpy() for frame in pair], n_questions.to_numpy())
            for name, row in (("accuracy", accuracy), ("XParaCon", xparacon)):
                print(f"{model}, {change}: {name} {row['before']:.3f} to {row['after']:.3f}, "
                      f"{row['difference']:+.3f} [{row['lower']:+.3f}, {row['upper']:+.3f}]")  # fmt: skip
            raised, kept = xparacon["lower"] > 0, accuracy["difference"] >= -MOST_LOST
            shown[f"{model}, {change}"] = raised and kept if model == WITH else not raised
            if model == WITH:
                power = stats.norm.cdf(xparacon["difference"] / xparacon["error"] - stats.norm.ppf(0.975))
                print(f"power, {change}: {power:.3f}")
                shown[f"power, {change}"] = power >= POWER
    for what, true in shown.items():
        print(f"{what}: {'yes' if true else 'NOT SHOWN'}")
    return int(not all(shown.values()))


def compare_means(pair: Sequence[NDArray[np.float64]], n_questions: NDArray[np.int64]) -> dict[str, float]:
    """Compare means over questions, from sums over those of each fact."""
    return compare_facts(pair, n_questions, lambda sums, n: sums / n)


def compare_xparacon(pair: Sequence[NDArray[np.float64]], n_questions: NDArray[np.int64]) -> dict[str, float]:
    """Compare XParaCon, -log2 of the mean standard deviation over wordings (Choi, section 3.3)."""
    return compare_facts(pair, n_questions, lambda sums, n: -np.log2(sums / n))


def compare_facts(
    pair: Sequence[NDArray[np.float64]],
    n_questions: NDArray[np.int64],
    measure: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> dict[str, float]:
    """Compute a measure before and after, and the difference with BCa's interval and standard error over facts."""
    before, after = pair

    def subtract(
        old: NDArray[np.float64], new: NDArray[np.float64], n: NDArray[np.float64], axis: int = -1
    ) -> NDArray[np.float64]:
        return measure(new.sum(axis), n.sum(axis)) - measure(old.sum(axis), n.sum(axis))

    drawn = stats.bootstrap((before, after, n_questions), subtract, paired=True, n_resamples=DRAWS, rng=0)
    low, high = drawn.confidence_interval
    ends = [float(measure(sums.sum(), n_questions.sum())) for sums in pair]
    return {"before": ends[0], "after": ends[1], "difference": ends[1] - ends[0], "lower": low, "upper": high,
            "error": float(drawn.standard_error)}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
