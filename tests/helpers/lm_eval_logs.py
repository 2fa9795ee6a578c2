"""Write logs as lm-evaluation-harness does, from a few documents of our own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-02-03T04-05-06.789"
LATER = "2026-02-04T04-05-06.789"
TEA = {"question": "What is tea made of?", "choices": ["leaves", "stones", "glass", "paper"], "answer": 0}
SNOW = {"question": "What is snow made of?", "choices": ["sand", "ice", "wool", "iron"], "answer": 1}
FEW = (-0.5, -2.0, -3.0, -4.0)  # log-likelihoods: the first option is taken


def digest(value: Any) -> str:
    """The sha256 of something."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def prompt(doc: Mapping[str, Any], shots: int = 0) -> str:
    """A question with its choices, after some examples."""
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in zip("ABCD", doc["choices"], strict=True))
    return "An example.\nAnswer: A\n\n" * shots + f"{doc['question']}\n{listed}\nAnswer:"


def row(doc_id: int, doc: Mapping[str, Any], requests: Sequence[tuple[Any, Any]], **fields: Any) -> dict[str, Any]:
    """One row: a document, what was asked, and other fields."""
    arguments = {f"gen_args_{i}": {"arg_0": context, "arg_1": end} for i, (context, end) in enumerate(requests)}
    fixed = {"doc_id": doc_id, "doc": doc, "arguments": arguments, "filter": "none", "doc_hash": digest(doc)}
    return {**fixed, **fields}


def letters(
    doc_id: int,
    doc: Mapping[str, Any],
    scores: Sequence[float] = FEW,
    *,
    shots: int = 0,
    lead: str = " ",
    **fields: Any,
) -> dict[str, Any]:
    """A row of a question that is answered by letter; `acc` is what lm-eval computes."""
    requests = [(prompt(doc, shots), f"{lead}{letter}") for letter in "ABCD"]
    best = max(range(len(scores)), key=scores.__getitem__)
    said = {
        "target": str(doc["answer"]),
        "filtered_resps": [[str(score), "False"] for score in scores],
        "resps": [[[str(score), "False"]] for score in scores],
        "metrics": ["acc"],
        "acc": float(best == doc["answer"]),
    }
    return row(doc_id, doc, requests, **{**said, **fields})


def written(
    doc_id: int, doc: Mapping[str, Any], right: Any, *, text: str = " Leaves.", **fields: Any
) -> dict[str, Any]:
    """A row of a question that is answered by a text."""
    said = {
        "target": "leaves",
        "resps": [[text]],
        "filtered_resps": [text],
        "metrics": ["exact_match"],
        "exact_match": right,
    }
    return row(doc_id, doc, [(prompt(doc), {"until": ["\n"]})], **{**said, **fields})


def results(tasks: Mapping[str, Mapping[str, Any]], **fields: Any) -> dict[str, Any]:
    """A results file: task -> its configuration; `shots` and `samples` stand where lm-eval has them."""
    apart = ("shots", "samples")
    return {
        "results": {task: {} for task in tasks},
        "configs": {task: {k: v for k, v in config.items() if k not in apart} for task, config in tasks.items()},
        "n-shot": {task: config.get("shots", 0) for task, config in tasks.items()},
        "n-samples": {task: {"effective": config["samples"]} for task, config in tasks.items() if "samples" in config},
        "config": {"model_dtype": "torch.float16", "model_num_parameters": 7, "model_sha": "abc", "model_args": {}},
        "model_name": "org/model",
        "lm_eval_version": "0.4.12",
        **fields,
    }  # fmt: skip


CHOICE = {"output_type": "multiple_choice", "target_delimiter": " "}
TEXT = {"output_type": "generate_until"}


def write(
    folder: Path,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    task: Mapping[str, Any] = CHOICE,
    *,
    date: str = DATE,
    **fields: Any,
) -> Path:
    """Write the samples of some tasks and their results file; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in rows.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{name}_{date}.jsonl").write_text(text, encoding="utf-8")
    said = results(dict.fromkeys(rows, task), **fields)
    (folder / f"results_{date}.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
