"""Every run file of a paper is one that `waver run` and `waver preview` take, and the site has a page about it."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from helpers.trivial_engine import TrivialEngine
from inference.__main__ import build_parser_of_run_file_study, build_task_from_options, main
from inference.asking.one_model import Settings
from inference.runfile import read_run_file

ROOT = Path(__file__).parents[2]
PLANS = sorted((ROOT / "inference" / "protocols").glob("*/paper.toml"))
MODELS = re.compile(r"^model = \[[^]]*\]", re.MULTILINE)
PAIR = {"pair": "En-De", "source_language": "English", "target_language": "German", "item": "1", "mean": "8.5"}


def write_rows(path: Path, *rows: dict) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def write_questions(path: Path, _study: dict) -> None:
    question = {"question": "Which is it?", "choices": list("wxyz"), "answer": "x", "paraphrases": ["This?", "That?"]}
    write_rows(path, *({"split": split, **question} for split in ("train", "validation", "test")))


def write_translations(path: Path, _study: dict) -> None:
    row = {"original": 'A "dog.', "translation": 'Ein "Hund.', **PAIR}
    path.write_text("\n".join(["\t".join(row), "\t".join(row.values())]) + "\n", encoding="utf-8")


def write_statements(path: Path, _study: dict) -> None:
    if path.suffix == ".json":
        paraphrased = {"id": 0, "original_statement": "One.", "alternative_statements": ["The first.", "Number one."]}
        path.write_text(json.dumps([paraphrased]), encoding="utf-8")
    else:
        write_rows(path, *({"item": "a", "text": text} for text in ("One.", "The first.", "Number one.")))


def write_pairs(path: Path, _study: dict) -> None:
    write_rows(
        path,
        {"sentence_pair_id": "1", "sentence1": "犬が走る。", "sentence2": "動物が走る。", "label": "entailment"},
        {"sentence_pair_id": "2", "sentence1": "犬が走る。", "sentence2": "猫が寝る。", "label": "neutral"},
    )


def write_texts(path: Path, study: dict) -> None:
    """Texts for both answers, `yes-if` and `no-if`, enough for exemplars."""
    conditions = [study[name].lstrip("<>=") for name in ("yes-if", "no-if") for _ in range(study.get("sample", 0) + 4)]
    named = [study.get("item-column", "item"), study["text-column"], study["gold-column"]]
    others = dict(condition.split("=") for condition in study.get("where", ()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*named, *others])
        writer.writerows([number, f"Text {number}.", gold, *others.values()] for number, gold in enumerate(conditions))


ITEMS: dict[str, Callable[[Path, dict], None]] = {
    "agreement": write_statements,
    "choice": write_questions,
    "negation": write_pairs,
    "scoring": write_translations,
    "wording": write_texts,
}
"""What writes a table such as the page tells the reader to get."""


def list_studies(content: dict) -> list[dict]:
    return [{**content.get("defaults", {}), **study} for study in content["study"]]


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS, ids=lambda path: path.parent.name)
def test_the_run_file_is_taken_with_the_demo_models(plan, tmp_path, monkeypatch):
    text = MODELS.sub('model = ["demo"]', plan.read_text(encoding="utf-8"))
    (tmp_path / "paper.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for other in plan.parent.glob("paper-*"):
        Path(other.name).write_bytes(other.read_bytes())
    planned = read_run_file("paper.toml", build_parser_of_run_file_study)
    assert planned.out.startswith("runs/")  # beside the reader's own files, where all pages write runs
    for study in list_studies(tomllib.loads(text)):
        ITEMS[study["protocol"]](Path(study["items"]), study)
    for task in planned.load_tasks_of_run_file(build_parser_of_run_file_study, build_task_from_options, ["run"]):
        assert task.models
        assert task.study.items


@pytest.mark.parametrize("plan", PLANS, ids=lambda path: path.parent.name)
def test_every_model_of_the_run_file_is_described_where_some_are(plan):
    for study in list_studies(tomllib.loads(plan.read_text(encoding="utf-8"))):
        if "models" in study:
            described = yaml.safe_load((plan.parent / study["models"]).read_text(encoding="utf-8"))
            assert list(described) == study["model"]


def test_a_preview_shows_one_study_of_a_run_file_or_all(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Settings, "load_model_engine", lambda self, model, seed: TrivialEngine())
    (tmp_path / "items.csv").write_text("item,text\na,One.\na,The first.\na,Number one.\n", encoding="utf-8")
    study = '[[study]]\nprotocol = "agreement"\nmodel = "m"\nitems = "items.csv"\nname = "{}"\n'
    (tmp_path / "plan.toml").write_text(
        'out = "runs"\n' + study.format("first") + study.format("second"), encoding="utf-8"
    )
    call = ["preview", str(tmp_path / "plan.toml")]
    assert main(call) == 0
    shown = capsys.readouterr().out
    assert shown.count("study first (agreement): 1 item, 3 variants") == shown.count("study second") == 1
    assert main([*call, "--study", "second"]) == 0
    assert "study first" not in capsys.readouterr().out
    assert main([*call, "--study", "third"]) == 2
    assert "--study third: " in (error := capsys.readouterr().err)
    assert "it has first, second" in error
    assert not (tmp_path / "runs").exists()
