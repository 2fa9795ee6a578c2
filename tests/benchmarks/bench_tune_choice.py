"""Tune a demo model on paraphrases, and as long without: the positive control of `waver tune choice`.

    python tests/benchmarks/bench_tune_choice.py [--orders 4] [--keep FOLDER]

The questions are those of `run choice --items demo-reworded`: waver-demo-large was trained on the original wordings and
has read no paraphrase. It is asked the questions for training and validation, and tuned twice with the settings of
`inference/demo/choice-tuning.toml`: on its own right answers as Choi has it, and on its right answers to the originals
alone, three of each question, too; there, the reply repeats the original in place of a paraphrase. All three answer the
test questions, which share no fact with the others. With --keep, a stopped call goes on.

Exit status 1 unless the tuning on paraphrases raises XParaCon with an interval above 0 and loses at most two points of
accuracy, under the base prompt and as Choi compares (tuned with the paraphrase-aware prompt, untuned with the base
prompt); the tuning without paraphrases raises it in neither; and the test questions have a power of .9: of studies with
as many facts drawn again from those of the test, that share has an interval above 0.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from analysis import runs
from analysis.pages.choice import over_questions
from analysis.reporting import tables
from analysis.runs.choices import studies
from inference.__main__ import main as waver
from inference.demo import DEMO, FAMILY

BASE = FAMILY["waver-demo-large"].path
WITH, WITHOUT = "with-paraphrases", "without-paraphrases"
WORDINGS = ("original", "paraphrase_1", "paraphrase_2")
CHANGES = {"tuning": "plain/base/text", "tuning and prompt": "plain/aware/text"}
MOST_LOST, POWER, DRAWS = 0.02, 0.9, 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--orders", type=int, default=4, help="of the choices of every test question")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        run = tune_and_ask(options.keep or Path(folder), options.orders)
        return judge_changes(run) if run else 1


def tune_and_ask(folder: Path, orders: int) -> Path | None:
    """Ask, tune with and without paraphrases, and ask again; return the last run folder, None where a call failed."""
    asking = ["run", "choice", "--items", "demo-reworded", "--model", str(BASE), "--form", "plain", "--answer", "text"]
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
        print(f"{name}: {(time.process_time() - began) / 60:.1f} min of a core", flush=True)
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


def judge_changes(run: Path) -> int:
    """Print accuracy and XParaCon before and after, with intervals, and what is shown; return the exit status."""
    opened = runs.open(run)
    levels = tables.build("choice", opened).set_index(["model", "condition"])
    for unit, row in levels.iterrows():
        print(f"{' '.join(unit)}: accuracy {row['accuracy']:.3f}, XParaCon {row['xparacon']:.2f} "
              f"[{row['xparacon_lower']:.2f}, {row['xparacon_upper']:.2f}]")  # fmt: skip
    changes = tables.build("choice_changes", opened).set_index(["model_after", "change", "condition_after", "measure"])
    shown = {}
    for change, condition in CHANGES.items():
        for model in (WITH, WITHOUT):
            rows = {measure: changes.loc[(model, change, condition, measure)] for measure in ("accuracy", "xparacon")}
            print(f"{model}, {change}:", *(
                  f"{name} {row['before']:.3f} to {row['after']:.3f}, {row['difference']:+.3f} "
                  f"[{row['lower']:+.3f}, {row['upper']:+.3f}]" for name, row in rows.items()))  # fmt: skip
            raised = rows["xparacon"]["lower"] > 0
            kept = rows["accuracy"]["difference"] >= -MOST_LOST
            shown[f"{model}, {change}"] = raised and kept if model == WITH else not raised
        power = estimate_power(run, condition)
        print(f"power, {change}: {power:.2f}")
        shown[f"power, {change}"] = power >= POWER
    for what, true in shown.items():
        print(f"{what}: {'yes' if true else 'NOT SHOWN'}")
    return int(not all(shown.values()))


def estimate_power(run: Path, condition: str) -> float:
    """Estimate how often a study like this one shows the change: facts, not questions, are drawn again."""
    (study,) = studies(runs.open(run))
    pair = study.units.index((WITH, condition)), study.units.index((BASE.name, "plain/base/text"))
    part, whole = over_questions.headline(study)[over_questions.XPARACON]
    stimuli = pd.read_parquet(run / "stimuli.parquet").drop_duplicates("item").set_index("item").loc[study.items]
    right = [
        dict(attributes)[f"choice_{gold}"]
        for attributes, gold in zip(stimuli["attributes"], stimuli["gold"], strict=True)
    ]
    facts = pd.Series(range(len(stimuli))).groupby([stimuli["text"].to_numpy(), right]).apply(np.array).tolist()
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(DRAWS):
        drawn = np.concatenate([facts[place] for place in rng.integers(0, len(facts), len(facts))])
        lower, _ = over_questions.xparacon_ends(
            {over_questions.XPARACON: (part[drawn], whole[drawn])}, [pair], len(WORDINGS)
        )
        found += bool(lower[0] > 0)
    return found / DRAWS


if __name__ == "__main__":
    sys.exit(main())
