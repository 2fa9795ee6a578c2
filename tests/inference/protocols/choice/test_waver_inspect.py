"""Asking with Inspect: the task `waver_inspect/reworded` makes logs that `waver import inspect` reads without keys."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers.commands import waver
from helpers.few_pages import keep_pages
from helpers.html_pages import Page
from helpers.inspect_tasks import ask_task, install_task_package
from inference.importers.inspect.log import read_evaluation_and_cache_inspect_log
from inference.protocols import choice
from inference.protocols.choice.wordings import build_question_items
from inference.stimuli.questions import read_questions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("inspect_ai"), reason="needs Inspect: the extra `inspect`"),
    pytest.mark.usefixtures("forked_kernels"),
]

PUBLISHED = (
    "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval",
    "data_arc_qwen.json",
    "data_cvebench_empty_choices.json",
    "data_pubmedqa_gpt4o_mini.json",
    "log_formats.eval",
    "mmlu-summary-choices.eval",
)


def write_questions(folder: Path, *, wordings: int = 3) -> Path:
    """A table of six questions with three choices each."""
    path = folder / "questions.jsonl"
    rows = [
        {
            "item": f"q{number}",
            "question": f"What comes after {number}?",
            "choices": [str(number + 1), str(number + 2), str(number)],
            "answer": "A",
            "paraphrases": [f"Say what follows {number}.", f"After {number} comes what?"][: wordings - 1],
        }
        for number in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with the table, the logs of a mock model, the imported run and its report."""
    folder = tmp_path_factory.mktemp("inspect")
    items = write_questions(folder)
    done = ask_task(install_task_package(folder), folder, items=str(items), orders=2)
    assert done.stdout.split()[-1:] == ["success"], done.stdout[-2000:] + done.stderr[-2000:]
    done = waver("inference", "import", "inspect", folder / "logs", "--out", folder / "run")
    assert "36 samples, accuracy" in done.stdout and "as the log states" in done.stdout
    with pytest.MonkeyPatch.context() as patch:
        keep_pages(patch, "choice")
        waver("analysis", "report", folder / "run", "--out", folder / "report", "-p", "resamples=20")
    return folder


def test_every_wording_and_order_is_asked_and_read_back(place):
    stimuli = pq.read_table(place / "run" / "stimuli.parquet").to_pylist()
    (part,) = (place / "run" / "responses").glob("*.parquet")
    responses = pq.read_table(part).to_pylist()
    assert len(stimuli) == len(responses) == 36
    assert Counter(row["pattern"] for row in stimuli) == {"original": 12, "paraphrase_1": 12, "paraphrase_2": 12}
    assert {row["item"] for row in stimuli} == {f"q{number}" for number in range(6)}
    # The mock model answers A where it reads "Say", else B.
    said = {(row["item"], row["variant"]): row["answer"] for row in responses}
    for row in stimuli:
        assert said[row["item"], row["variant"]] == ("A" if row["pattern"] == "paraphrase_1" else "B")


def test_orders_and_right_choices_are_those_of_waver_run_choice(place):
    items = build_question_items(read_questions(place / "questions.jsonl"), 2)
    asked = {
        (item.item, variant.pattern, variant.attributes["order"]): variant.gold
        for item in items
        for variant in item.variants
    }
    stimuli = pq.read_table(place / "run" / "stimuli.parquet").to_pylist()
    read = {(row["item"], row["pattern"], "".join(row["canonical"])): row["gold"] for row in stimuli}
    assert read == asked
    assert all(dict(row["attributes"])["choice_A"] == str(int(row["item"][1:]) + 1) for row in stimuli)


def test_the_report_has_the_page_on_choices_with_the_accuracy_by_hand(place):
    from inspect_ai.log import read_eval_log

    (log_file,) = (place / "logs").glob("*.eval")
    log = read_eval_log(str(log_file))
    right = Counter(sample.metadata["waver_pattern"] for sample in log.samples if sample.scores["choice"].value == "C")
    run = json.loads((place / "run" / "run.json").read_text(encoding="utf-8"))
    assert run["study"]["protocol"] == choice.NAME
    assert "choice.html" in {path.name for path in (place / "report").iterdir()}
    assert right.total() > 0
    text = waver("analysis", "table", place / "run", "choice_wordings", "--format", "csv").stdout
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["model"] == log.eval.model]  # not the printed ones
    accuracy = {row["wording"]: float(row["accuracy"]) for row in rows}
    assert accuracy == pytest.approx({pattern: right[pattern] / 12 for pattern in accuracy}, abs=5e-4)  # as printed
    assert accuracy.keys() == {"original", "paraphrase_1", "paraphrase_2"}
    assert "mockllm/model" in Page(place / "report" / "choice.html").words


@pytest.mark.parametrize(
    ("wordings", "orders", "words"),
    [(0, 2, "cannot be read"), (1, 1, "one wording and one order of its choices, so nothing varies"),
     (3, 7, "-T orders=7: item 'q0' has 3 choices, which have 6 orders; say -T orders=6")],
)  # fmt: skip
def test_a_wrong_table_is_an_error_that_inspect_shows_as_a_line(tmp_path, wordings, orders, words):
    from inference.protocols.choice.waver_inspect import PrerequisiteError, reworded

    items = write_questions(tmp_path, wordings=wordings) if wordings else tmp_path / "nothing.jsonl"
    with pytest.raises(PrerequisiteError) as raised:
        reworded(items=str(items), orders=orders)
    assert str(raised.value.message).startswith("waver: ") and words in str(raised.value.message)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({}, "-T items must be the path of a table of questions, which is missing"), ({"items": 5}, "not 5"),
     ({"orders": "two"}, "-T orders must be a number from 1 to 24, not 'two'"), ({"orders": 2.5}, "not 2.5"),
     ({"orders": 0}, "not 0"), ({"orders": True}, "not True"), ({"orders": 10**9}, "-T orders"),
     ({"seed": -1}, "-T seed must be a whole number"), ({"seed": "x"}, "not 'x'"),
     ({"cot": "maybe"}, "-T cot must be true or false, not 'maybe'")],
)  # fmt: skip
def test_a_wrong_argument_is_an_error_that_inspect_shows_as_a_line(tmp_path, arguments, words):
    from inference.protocols.choice.waver_inspect import PrerequisiteError, reworded

    with pytest.raises(PrerequisiteError) as raised:
        reworded(**({"items": str(write_questions(tmp_path)), **arguments} if arguments else {}))
    assert str(raised.value.message).startswith("waver: -T ") and words in str(raised.value.message)


@pytest.mark.parametrize("name", PUBLISHED)
def test_public_logs_are_read_as_inspect_reads_them(shared, name):
    from inspect_ai.log import read_eval_log

    path = shared / "eval-logs" / "inspect" / name
    log = read_eval_log(str(path), resolve_attachments=True)
    ours = read_evaluation_and_cache_inspect_log(path)
    assert (ours.task, ours.model, ours.status) == (log.eval.task, log.eval.model, log.status)
    samples = {(sample["id"], sample["epoch"]): sample for _, sample in ours.iterate_places_and_raw_samples()}
    assert samples.keys() == {(sample.id, sample.epoch) for sample in log.samples}
    for theirs in log.samples:
        sample = samples[theirs.id, theirs.epoch]
        values = {scorer: score["value"] for scorer, score in (sample.get("scores") or {}).items()}
        assert values == {scorer: score.value for scorer, score in (theirs.scores or {}).items()}
        assert sample["target"] == theirs.target
        assert (sample.get("choices") or None) == (theirs.choices or None)
