"""`waver negate` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.commands import waver
from helpers.trivial_engine import TrivialEngine
from inference.asking.one_model import Settings

pytest.importorskip("fugashi")
MODEL = Path(__file__).parents[3] / "inference" / "demo" / "models" / "waver-demo-small"
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


def test_a_model_judges_and_is_compared_with_people(file, monkeypatch):
    """An engine without a model: its verdicts follow from the prompts."""
    monkeypatch.setattr(Settings, "load", lambda settings, model, seed: TrivialEngine())
    _, before = negate(file)
    judged = [{**row, "acceptable": "yes" if number % 2 else "no"} for number, row in enumerate(before)]
    (file.parent / "people.jsonl").write_text("\n".join(map(json.dumps, judged)), encoding="utf-8")
    said, kept = negate(file, "--filter-model", MODEL, "--judgements", "people.jsonl")
    left_out = [row for row in before if row not in kept]
    assert kept == [row for row in before if row in kept]
    assert 0 < len(left_out) < len(before)
    assert f"left out by {MODEL.name}: {len(left_out)} unacceptable; answers: " in said
    both = sum(before.index(row) % 2 == 0 for row in left_out)
    assert (
        f"4 judgements of people, 2 of them unacceptable; the model leaves out {len(left_out)} of the same, "
        f"{both} rightly: precision {both / len(left_out):.3f}, recall {both / 2:.3f}"
    ) in said
    assert (file.parent / "negations-judged" / "run.json").exists()
    again = negate(file, "--filter-model", MODEL, "--judgements", "people.jsonl")
    assert again == (said, kept)
