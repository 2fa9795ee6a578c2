"""`waver negate` as a user calls it."""

from __future__ import annotations

import json
import math
import shutil
from argparse import ArgumentParser
from pathlib import Path

import pytest

from helpers.commands import waver
from helpers.trivial_engine import TrivialEngine
from inference.asking.one_model import Settings
from inference.engines.contract import Score
from inference.protocols.negation.negate import command, sentences

pytest.importorskip("fugashi")
MODEL = Path(__file__).parents[5] / "inference" / "demo" / "models" / "waver-demo-small"
SENTENCES = "犬が走って、止まります。\n\n静かな町に住む。\n犬は走らない。\nabc\n東京都千代田区\n行こう。\n"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text(SENTENCES, encoding="utf-8")
    return path


def negate(file, *arguments):
    out = file.parent / "negations.jsonl"
    done = waver("inference", "negate", file, "--language", "ja", "--out", out, *arguments, cwd=file.parent)
    return done.stdout, lines(out)


def test_a_region_is_its_language():
    parser = ArgumentParser()
    command.add_arguments(parser)
    assert parser.parse_args(["sentences.txt", "--language", "ja-JP", "--out", "negations.jsonl"]).language == "ja"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_end_as_any_system_ends_them(tmp_path, end):
    path = tmp_path / "sentences.txt"
    path.write_text(f"犬が走る。{end}猫が寝る。{end}", encoding="utf-8-sig", newline="")
    assert sentences.read_sentences_to_negate(str(path)) == [("line 1", "犬が走る。"), ("line 2", "猫が寝る。")]


def test_every_sentence_is_negated_or_skipped_with_a_reason(file):
    said, made = negate(file)
    assert [(row["source"], row["text"]) for row in made] == [
        ("犬が走って、止まります。", "犬が走らず、止まります。"),
        ("犬が走って、止まります。", "犬が走って、止まりません。"),
        ("静かな町に住む。", "静かでない町に住む。"),
        ("静かな町に住む。", "静かな町に住まない。"),
    ]
    assert made[0] == {
        "source": "犬が走って、止まります。",
        "text": "犬が走らず、止まります。",
        "position": "mid",
        "target_pos": "動詞",
        "insertion": "ず",
    }
    skipped = lines(file.parent / "negations-skipped.jsonl")
    reasons = {
        "line 2": "empty line",
        "line 4": "holds a negation already",
        "line 5": "no Japanese characters",
        "line 6": "no verb, adjective or adjectival verb",
        "line 7": "no place for a negation",
    }
    assert {row["place"]: row["reason"] for row in skipped} == reasons
    assert said.splitlines()[0] == "4 negations of 2 of 7 sentences"
    assert all(f"  1 skipped: {reason}" in said for reason in reasons.values())
    assert "no --filter-model, so no filter" in said


def test_tables_with_a_column_text_give_the_same(file):
    _, expected = negate(file)
    table = file.with_name("sentences.jsonl")
    table.write_text(
        "\n".join(json.dumps({"text": line, "n": 1}, ensure_ascii=False) for line in SENTENCES.split("\n")[:-1]),
        encoding="utf-8",
    )
    _, made = negate(table)
    assert made == expected
    assert lines(file.parent / "negations-skipped.jsonl")[0]["place"] == "line 2"


class Judge(TrivialEngine):
    """Likes no negation with ず, and none about a town."""

    def _score(self, text, batch):
        asked = text.rpartition("文：")[2]
        first, second = (0.1, 0.4) if "ず" in asked or "町" in asked else (0.4, 0.1)
        return Score((first, second), (math.log(first), math.log(second)), 0.5, int(second > first))


@pytest.mark.slow
def test_a_model_judges_and_is_compared_with_people(file, tmp_path, monkeypatch):
    model = shutil.copytree(MODEL, tmp_path / "judge")  # a demo model's own weights are known by their revision
    monkeypatch.setattr(Settings, "load_model_engine", lambda settings, model, seed: Judge())
    _, before = negate(file)
    judged = [{**row, "acceptable": "yes" if number % 2 else "no"} for number, row in enumerate(before)]
    (file.parent / "people.jsonl").write_text("\n".join(map(json.dumps, judged)), encoding="utf-8")
    said, kept = negate(file, "--filter-model", model, "--judgements", "people.jsonl")
    assert kept == [before[1]]
    assert f"left out by {model.name}: 3 unacceptable; answers: {file.parent / 'negations-judged'}" in said
    assert (
        "4 judgements of people, 2 of them unacceptable; the model leaves out 3 of the same, 2 rightly: "
        "precision 0.667, recall 1.000, F1 0.800"
    ) in said
    emptied = {"place": "line 3", "source": "静かな町に住む。", "reason": "the filter keeps none of its negations"}
    assert lines(file.parent / "negations-skipped.jsonl")[5:] == [emptied]
    assert negate(file, "--filter-model", model, "--judgements", "people.jsonl") == (said, kept)
