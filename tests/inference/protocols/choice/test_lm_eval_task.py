"""`waver choice lm-eval` writes a task of lm-eval: data, without code, whose log reads back without keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import jinja2
import pyarrow.parquet as pq
import pytest
import yaml

from helpers.commands import ROOT, waver
from helpers.lm_eval_logs import row, write
from inference.protocols import choice
from inference.protocols.choice.wordings import build_question_items
from inference.stimuli.questions import read_questions

MODEL = ROOT / "inference" / "demo" / "models" / "waver-demo-small"


@pytest.fixture
def items(tmp_path) -> Path:
    """A table of four questions in three wordings; one holds what Jinja would run, were it no value."""
    rows = [
        {
            "item": f"q{number}",
            "question": f"What comes after {number}, {{{{ 1 / 0 }}}}?",
            "choices": [str(number + 1), "nothing", str(number)],
            "answer": "A",
            "paraphrases": [f"Say what follows {number}.", f"After {number} comes what?"],
        }
        for number in range(4)
    ]
    path = tmp_path / "counting.jsonl"
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in rows), encoding="utf-8")
    return path


def read_task(folder: Path) -> tuple[dict, list[dict]]:
    task = yaml.safe_load((folder / "counting.yaml").read_text(encoding="utf-8"))
    rows = (folder / "counting.jsonl").read_text(encoding="utf-8").splitlines()
    return task, list(map(json.loads, rows))


def read_run(run: Path) -> tuple[list[dict], list[dict]]:
    parts = (pq.read_table(part).to_pylist() for part in (run / "responses").glob("*.parquet"))
    return pq.read_table(run / "stimuli.parquet").to_pylist(), [entry for part in parts for entry in part]


def test_a_task_is_data_and_asks_what_waver_run_choice_asks(tmp_path, items):
    done = waver("inference", "choice", "lm-eval", items, "--out", tmp_path / "tasks", "--orders", "2")
    assert "24 questions" in done.stdout and "lm_eval --include_path" in done.stdout
    task, docs = read_task(tmp_path / "tasks")
    assert "!function" not in (tmp_path / "tasks" / "counting.yaml").read_text(encoding="utf-8")
    assert task["dataset_kwargs"] == {"data_files": {"test": str(tmp_path / "tasks" / "counting.jsonl")}}
    variants = [variant for item in build_question_items(read_questions(items), 2) for variant in item.variants]
    asking = choice.Questions(choice.read_choice_prompts())
    (round_,) = asking.rounds("plain")
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(task["doc_to_text"])  # as lm-eval does
    for doc, variant in zip(docs, variants, strict=True):
        assert template.render(**doc) == round_.render(variant, None).text
        assert doc["letters"] == [option.label for option in variant.options]
        assert variant.options[doc["answer"]].canonical == variant.gold


@pytest.mark.slow
def test_a_log_of_the_task_is_read_without_keys(tmp_path, items):
    waver("inference", "choice", "lm-eval", items, "--out", tmp_path / "tasks", "--orders", "2")
    _, docs = read_task(tmp_path / "tasks")
    rows = []
    for number, doc in enumerate(docs):  # a model that takes the first letter
        said = {
            "target": str(doc["answer"]),
            "filtered_resps": [["-0.1", "True"], ["-3.0", "False"], ["-4.0", "False"]],
            "metrics": ["acc"],
            "acc": float(doc["answer"] == 0),
        }
        rows.append(row(number, doc, [(doc["question"], f" {letter}") for letter in "ABC"], **said))
    write(tmp_path / "logs", {"counting": rows})
    waver("inference", "import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run")
    check_run(tmp_path / "run", items)
    stimuli, responses = read_run(tmp_path / "run")
    gold = {(entry["item"], entry["variant"]): entry["canonical"][0] == entry["gold"] for entry in stimuli}
    assert {entry["answer"] for entry in responses} == {"A"}
    waver("inference", "import", "lm-eval", tmp_path / "logs", "--scores", "--out", tmp_path / "scores")
    stimuli_of_scores, scores = read_run(tmp_path / "scores")
    assert {entry["variant"] for entry in stimuli_of_scores} == {entry["variant"] for entry in stimuli}
    assert sum(entry["score"] for entry in scores) == sum(gold.values()) and len(scores) == len(responses)
    assert sum(gold.values()) == sum(doc["answer"] == 0 for doc in docs)


def check_run(run: Path, items: Path) -> None:
    """The run has the wordings, orders and right choices of the table."""
    asked = {
        (item.item, variant.pattern, variant.attributes["order"]): variant.gold
        for item in build_question_items(read_questions(items), 2)
        for variant in item.variants
    }
    stimuli, responses = read_run(run)
    assert {(row["item"], row["pattern"], "".join(row["canonical"])): row["gold"] for row in stimuli} == asked
    assert len(responses) == len(asked)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("lm_eval") is None, reason="needs lm-eval, which is no extra of Waver")
def test_lm_eval_itself_asks_the_task(tmp_path, items):
    waver("inference", "choice", "lm-eval", items, "--out", tmp_path / "tasks", "--orders", "2")
    call = [sys.executable, "-m", "lm_eval", "run", "--include_path", "tasks", "--tasks", "counting", "--model", "hf",
            "--model_args", f"pretrained={MODEL}", "--device", "cpu", "--log_samples",
            "--output_path", "logs"]  # fmt: skip
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=600, env=offline)
    assert done.returncode == 0, done.stderr[-2000:]
    waver("inference", "import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run")
    check_run(tmp_path / "run", items)
    (results,) = (tmp_path / "logs").rglob("results_*.json")
    stated = json.loads(results.read_text(encoding="utf-8"))["results"]["counting"]["acc,none"]
    stimuli, responses = read_run(tmp_path / "run")
    right = {(row["item"], row["variant"]): row["options"][row["canonical"].index(row["gold"])] for row in stimuli}
    taken = [row["answer"] == right[row["item"], row["variant"]] for row in responses]
    assert sum(taken) / len(taken) == pytest.approx(stated, abs=1e-12)
