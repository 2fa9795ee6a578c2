"""Folders that hold no log, samples that name themselves wrongly, and tables of which no harness can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from helpers.eval_logs import as_eval, header, sample
from helpers.lm_eval_logs import SNOW, TEA, letters, write
from helpers.refusals import Case

INSPECT = ("inference", "import", "inspect", "logs", "--out", "run")
LM_EVAL = ("inference", "import", "lm-eval", "logs", "--out", "run")
NAMED = {"waver_item": "tea", "waver_pattern": "original", "waver_order": "BAC"}


def named(**fields: Any) -> dict[str, bytes]:
    """A log in whose second sample the fields of `waver_inspect` are changed."""
    samples = [
        sample(1, metadata=NAMED),
        sample(2, metadata={**NAMED, "waver_pattern": "paraphrase_1", **fields}),
    ]
    return {"logs/log.eval": as_eval(samples, header(task="waver_inspect/reworded"))}


def named_rows(**fields: Any) -> Any:
    """A file of lm-eval in whose second row the fields of `choice lm-eval` are changed."""

    def make(folder: Path) -> None:
        docs = [{**TEA, "waver_item": "tea", "waver_pattern": "original"}, {**SNOW, "waver_item": "snow", **fields}]
        write(folder / "logs", {"drinks": [letters(number, doc) for number, doc in enumerate(docs)]})

    return make


def questions(**fields: Any) -> dict[str, str]:
    """A table of two questions; some fields of them are changed."""
    question = {"question": "What is tea made of?", "choices": ["leaves", "stones", "glass"], "answer": "A", **fields}
    rows = [{**question, "item": item} for item in ("one", "two")]
    return {"questions.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)}


def task(name: str, words: tuple[str, ...], files: Any, *options: str, items: str = "questions.jsonl") -> Case:
    """A case of writing a task of lm-eval."""
    return Case(name, ("inference", "choice", "lm-eval", items, "--out", "tasks", *options), words, files)


TWO = {"paraphrases": ["Of what is tea made?"]}
CASES = [
    Case("an empty folder of Inspect's logs", INSPECT, ("logs", "holds no .eval and no .json log"),
         lambda folder: (folder / "logs").mkdir()),
    Case("a folder of other files", INSPECT, ("logs", "holds no .eval and no .json log"), {"logs/a/notes.txt": "x"}),
    Case("a folder of other JSON", INSPECT, ("none of 2 logs can be imported", "logs/a.json", "no log of Inspect"),
         {"logs/a.json": "{}", "logs/b/b.json": "[]"}),
    Case("a folder of unfinished logs", INSPECT, ("none of 2 logs", "not finished (status error)", "name the file"),
         {f"logs/{name}.eval": as_eval([sample(1)], {**header(), "status": "error"}) for name in "ab"}),
    Case("an empty folder of lm-eval's logs", LM_EVAL, ("logs", "no samples_TASK_DATE.jsonl", "--log_samples"),
         lambda folder: (folder / "logs").mkdir()),
    Case("an item that is no text", INSPECT, ("samples/2_epoch_1.json", "waver_item", "must be a name", "--item-key"),
         named(waver_item=3)),
    Case("an item without a wording", INSPECT, ("waver_pattern", "must be a name, not nothing"),
         named(waver_pattern=None)),
    Case("an order of other letters", INSPECT, ("samples/2_epoch_1.json", "waver_order", "ABC", "ABD"),
         named(waver_order="ABD")),
    Case("an order that is a number", INSPECT, ("waver_order", "ABC"), named(waver_order=3)),
    Case("a row without a wording", LM_EVAL, ("line 2", "waver_pattern", "must be a name"), named_rows()),
    Case("a row with an order of other letters", LM_EVAL, ("line 2", "waver_order", "ABCD"),
         named_rows(waver_pattern="original", waver_order="ABC")),
    task("no table", ("nothing.jsonl", "cannot be read"), {}, items="nothing.jsonl"),
    task("questions in one wording and one order", ("questions.jsonl", "nothing varies", "paraphrase_1"), questions(),
         "--orders", "1"),
    task("more orders than there are", ("3 choices", "6 orders"), questions(**TWO), "--orders", "7"),
    task("no orders", ("--orders", "0"), questions(**TWO), "--orders", "0"),
    task("a question without choices", ("questions.jsonl", "choices"), questions(**TWO, choices=["leaves"])),
    task("a name of a task that is a path", ("--task ../other", "begins with a letter"), questions(**TWO),
         "--task", "../other"),
    task("a table whose name is no name of a task", ("--task", "begins with a letter"),
         {"1.jsonl": questions(**TWO)["questions.jsonl"]}, items="1.jsonl"),
    Case("a task that would be written over its table",
         ("inference", "choice", "lm-eval", "questions.jsonl", "--out", ".", "--orders", "2"),
         ("questions.jsonl", "which this command reads"), questions(**TWO)),
    Case("a task where a file is",
         ("inference", "choice", "lm-eval", "questions.jsonl", "--out", "file", "--orders", "2"), ("file",),
         {**questions(**TWO), "file": "x"}),
]  # fmt: skip
