"""Damaged logs of lm-eval for `waver import lm-eval`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.lm_eval_logs import DATE, FEW, LATER, SNOW, TEA, TEXT, letters, results, write, written
from helpers.refusals import Case

CALL = "inference import lm-eval logs --out run"
SAMPLES, RESULTS = f"samples_drinks_{DATE}.jsonl", f"results_{DATE}.json"


def log(*rows: Any, **fields: Any) -> Callable[[Path], None]:
    """A folder `logs` with the rows of a task `drinks`, the first one good."""
    return lambda folder: write(folder / "logs", {"drinks": [letters(0, TEA), *rows]}, **fields)


def texts(*rows: Any) -> Callable[[Path], None]:
    """The same with texts."""
    return lambda folder: write(folder / "logs", {"drinks": list(rows)}, TEXT)


def then(change: Callable[[Path], Any], *rows: Any) -> Callable[[Path], None]:
    """A good log that is changed."""

    def make(folder: Path) -> None:
        log(letters(1, SNOW), *rows)(folder)
        change(folder / "logs")

    return make


def scores(*values: Any) -> dict[str, Any]:
    """The second row of a log, with other log-likelihoods and no word on what is right."""
    return letters(1, SNOW, filtered_resps=[[value, "False"] for value in values], metrics=[])


def cut(folder: Path) -> None:
    """End a file in the middle of its second row."""
    path = folder / SAMPLES
    path.write_bytes(path.read_bytes()[:-40])


def two_models(folder: Path) -> None:
    """Two runs of one model's name, of which the second is another revision."""
    write(folder / "logs", {"drinks": [letters(0, TEA)]})
    write(folder / "logs", {"food": [letters(0, TEA)]}, date=LATER, config={"model_sha": "def"})


def two_names(folder: Path) -> None:
    """Two models in one folder."""
    write(folder / "logs", {"drinks": [letters(0, TEA)]})
    write(folder / "logs", {"food": [letters(0, TEA)]}, date=LATER, model_name="other")


def two_runs(folder: Path) -> None:
    """Two runs of one task."""
    write(folder / "logs", {"drinks": [letters(0, TEA)]})
    write(folder / "logs", {"drinks": [letters(0, TEA)]}, date=LATER)


def rewritten(**fields: Any) -> Callable[[Path], Any]:
    """Change the results file."""
    said = {**results({"drinks": {"output_type": "multiple_choice"}}), **fields}
    return lambda folder: (folder / RESULTS).write_text(json.dumps(said))


def _replace(path: Path, make: Callable[[Path], Any]) -> None:
    """Put something else where a file was."""
    path.unlink()
    make(path)


def _lines(folder: Path, text: str) -> None:
    (folder / SAMPLES).write_text(text, encoding="utf-8")


CASES = [
    Case("no such folder", CALL, ("logs", "no such file or folder")),
    Case("no samples", CALL, ("logs", "--log_samples"), {f"logs/{RESULTS}": "{}"}),
    Case(
        "a file without a date",
        "inference import lm-eval samples_t.jsonl --out run",
        ("samples_t.jsonl", "TASK_DATE"),
        {"samples_t.jsonl": "{}"},
    ),
    Case("a line that is cut", CALL, (f"{SAMPLES}, line 2", "not a JSON object", "ends within a row"), then(cut)),
    Case("a line that is no object", CALL, ("line 1", "one sample"), then(lambda f: _lines(f, "[1, 2]\n"))),
    Case(
        "a file of another encoding",
        CALL,
        ("line 1", "not UTF-8"),
        then(lambda f: (f / SAMPLES).write_bytes(b'{"doc_id": "\xff"}\n')),
    ),
    Case(
        "probabilities that add up to more than 1",
        CALL,
        (f"{SAMPLES}, line 2", "4 options add up to 2.426", "more than 1"),
        log(scores("-0.5", "-0.5", "-0.5", "-0.5")),
    ),
    Case("no samples in the file", CALL, (SAMPLES, "no samples"), then(lambda f: _lines(f, "\n"))),
    Case("no results file", CALL, (SAMPLES, RESULTS, "not beside it"), then(lambda f: (f / RESULTS).unlink())),
    Case(
        "two results files",
        CALL,
        (SAMPLES, f"mine_{DATE}.json", "keep one"),
        then(lambda f: (f / f"mine_{DATE}.json").write_text("{}")),
    ),
    Case(
        "a results file that is cut", CALL, (RESULTS, "JSON"), then(lambda f: (f / RESULTS).write_text('{"results": {'))
    ),
    Case(
        "something else as results file", CALL, (RESULTS, "'results'"), then(lambda f: (f / RESULTS).write_text("[]"))
    ),
    Case("results of other tasks", CALL, (RESULTS, "no task 'drinks'"), then(rewritten(configs={}))),
    Case(
        "shots that are no number",
        CALL,
        ("logs", "condition 'plain'", "shots", "True"),
        then(rewritten(**{"n-shot": {"drinks": True}})),
    ),
    Case(
        "a model whose name has a NUL",
        CALL,
        ("logs", "model 'a\\x00b'", "control character"),
        then(rewritten(model_name="a\0b")),
    ),
    Case(
        "a filter whose name has a NUL",
        CALL,
        ("logs", "condition 'plain/a\\x00b'", "control character"),
        then(lambda folder: None, letters(2, TEA, filter="a\0b")),
    ),
    Case(
        "a prompt that is empty",
        CALL,
        ("line 1", "text that was asked is empty"),
        texts({**written(0, TEA, 1.0), "arguments": {"gen_args_0": {"arg_0": " ", "arg_1": {}}}}),
    ),
    Case("results with a list of tasks", CALL, (RESULTS, "'configs'"), then(rewritten(configs=[]))),
    Case("results that name no model", CALL, (RESULTS, "NAME=PATH"), then(rewritten(model_name=None))),
    Case("an unknown version", CALL, (RESULTS, "lm-eval 0.9.1", "0.4"), then(rewritten(lm_eval_version="0.9.1"))),
    Case("two models of one name", CALL, (f"results_{LATER}.json", "org/model", "revision def", "abc"), two_models),
    Case(
        "two models for one name",
        "inference import lm-eval mine=logs --out run",
        ("two models", "org/model", "other"),
        two_names,
    ),
    Case(
        "two runs of one task", CALL, (f"samples_drinks_{LATER}.jsonl", "second run of task 'drinks'", DATE), two_runs
    ),
    Case("a file given twice", "inference import lm-eval logs logs --out run", (SAMPLES, "given twice"), log()),
    Case("a pipe of samples", CALL, (SAMPLES, "a pipe"), then(lambda folder: _replace(folder / SAMPLES, os.mkfifo))),
    Case("a pipe of results", CALL, (RESULTS, "a pipe"), then(lambda folder: _replace(folder / RESULTS, os.mkfifo))),
    Case(
        "samples that are a link to nowhere",
        CALL,
        (SAMPLES, "cannot be read"),
        then(lambda folder: _replace(folder / SAMPLES, lambda path: path.symlink_to("nowhere"))),
    ),
    Case("an unknown key", f"{CALL} --variant-key colour", ("--variant-key colour", "doc.FIELD"), log()),
    Case("a key that no document has", f"{CALL} --item-key doc.id", ("line 1", "doc.id", "--item-key"), log()),
    Case(
        "a variant key that no document has", f"{CALL} --variant-key doc.p", ("line 1", "doc.p", "--variant-key"), log()
    ),
    Case("a row that is there twice", CALL, ("line 2", "doc_id 0", "filter 'none'", "line 1"), log(letters(0, TEA))),
    Case("half of a surrogate pair", CALL, ("line 2", "surrogate"), log(letters(1, {**SNOW, "question": "\ud800"}))),
    Case("names of metrics that are no names", CALL, ("line 2", "'metrics'"), log(letters(1, SNOW, metrics=[["acc"]]))),
    Case("a number too large", CALL, ("line 2", "no log-likelihood"), log(scores(10**400, -1, -2, -3))),
    Case("a row without doc_id", CALL, ("line 2", "doc_id"), log({"doc": {}})),
    Case("a row without arguments", CALL, ("line 2", "arguments"), log({"doc_id": 1})),
    Case(
        "a row whose arguments are no requests",
        CALL,
        ("line 2", "gen_args"),
        log(letters(1, SNOW, arguments={"first": {"arg_0": "x"}})),
    ),
    Case(
        "a number that is a word", CALL, ("line 2", "'low' is no log-likelihood"), log(scores("low", "-1", "-2", "-3"))
    ),
    Case(
        "a log-likelihood that is not a number",
        CALL,
        ("line 2", "no log-likelihood"),
        log(scores("nan", "-1", "-2", "-3")),
    ),
    Case("NaN without quotes", CALL, ("line 2", "no log-likelihood"), log(scores(float("nan"), -1, -2, -3))),
    Case("a log-likelihood above 0", CALL, ("line 2", "2.5"), log(scores("2.5", "-1", "-2", "-3"))),
    Case(
        "fewer log-likelihoods than options",
        CALL,
        ("line 2", "3 log-likelihoods of 4 options"),
        log(scores(-1, -1, -2)),
    ),
    Case(
        "a target that is no option",
        CALL,
        ("line 2", "--right-or-wrong"),
        log(letters(1, SNOW, target="9", metrics=[])),
    ),
    Case("several right options", CALL, ("line 2", "no single right option"), log(letters(1, SNOW, target="[0, 1]"))),
    Case(
        "a metric that the row contradicts",
        CALL,
        ("line 2", "acc is 1.0", "the choice is wrong", "target '1'"),
        log(letters(1, SNOW, acc=1.0)),
    ),
    Case(
        "another number of options in other words",
        f"{CALL} --item-key doc_id --variant-key task",
        ("samples_food", "options", "doc_id".replace("doc_id", "0")),
        lambda folder: write(
            folder / "logs",
            {
                "drinks": [letters(0, TEA)],
                "food": [
                    {
                        **letters(0, TEA, FEW[:3], target="0"),
                        "arguments": {
                            f"gen_args_{i}": {"arg_0": "q", "arg_1": f" {e}"} for i, e in enumerate(("x", "y", "z"))
                        },
                    }
                ],
            },
        ),
    ),
    Case(
        "a score that is neither right nor wrong", CALL, ("line 1", "exact_match is 0.5"), texts(written(0, TEA, 0.5))
    ),
    Case("a score that is missing", CALL, ("line 1", "exact_match"), texts(written(0, TEA, None))),
    Case(
        "rows that were not judged",
        CALL,
        ("line 1", "bypass"),
        texts(written(0, TEA, 1.0, metrics=["bypass"], bypass=999)),
    ),
    Case(
        "texts and choices together",
        CALL,
        ("line 1", "--right-or-wrong"),
        lambda folder: (
            write(folder / "logs" / "a", {"drinks": [letters(0, TEA)]}),
            write(folder / "logs" / "b", {"say": [written(0, TEA, 1.0)]}, TEXT),
        ),
    ),
]
