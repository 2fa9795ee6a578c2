"""`waver select`: what a judge is perfectly correct about, and how that is refused where something is missing."""

from __future__ import annotations

import itertools
import json
import random
from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.pages.choice.selection import select_judge_answers
from ground.errors import InputError
from helpers.commands import waver
from helpers.synthetic import write_run

LETTERS = tuple("ABCD")
PATTERNS = ("original", "paraphrase_1", "paraphrase_2")
ORDERS = list(itertools.permutations(LETTERS))[:3]
CONDITION = "plain/base/text"
NAMES = ("consistently confident", "inconsistent confidence", "consistently unconfident")


def row(item, pattern, number, choice, gold="B", **fields):
    """What was taken in one order: `choice` is a letter of the question's own order, or None."""
    order = ORDERS[number - 1]
    variant = f"{pattern.replace('_', '-')}/{number}"
    answer = LETTERS[order.index(choice)] if choice else None
    return {
        "item": item, "variant": variant, "pattern": pattern, "answer": answer, "gold": gold,
        "options": list(LETTERS), "canonical": list(order), "model": "judge", "condition": CONDITION,
        "attributes": {"order": "".join(order), "subset": "general knowledge"},
    } | fields  # fmt: skip


def written(tmp_path, rows, name="run"):
    conditions = {each["condition"]: {"form": "plain", "prompt_kind": "base", "way": "text"} for each in rows}
    return write_run(
        tmp_path / name, pd.DataFrame(rows), protocol="choice", canonical=LETTERS, study="asked", conditions=conditions
    )


def right(item, known, **fields):
    """A question whose wordings are right in all orders where `known` says so, and else in all but the last."""
    return [
        row(item, pattern, number, "B" if good or number < len(ORDERS) else "C", **fields)
        for pattern, good in zip(PATTERNS, known, strict=True)
        for number in range(1, len(ORDERS) + 1)
    ]


def select(folder, out, *more, check=True):
    return waver("analysis", "select", folder, "--out", out, *more, check=check)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_the_classes_of_the_paper(tmp_path):
    known = {"all": (1, 1, 1), "two": (1, 0, 1), "one": (0, 1, 0), "none": (0, 0, 0)}
    folder = written(tmp_path, [each for item, flags in known.items() for each in right(item, flags)])
    said = json.loads(select(folder, tmp_path / "list.jsonl").stdout)
    assert lines(tmp_path / "list.jsonl") == [
        {"item": item, "perfectly_correct": dict(zip(PATTERNS, map(bool, flags), strict=True)), "class": name,
         "judge": "judge", "condition": CONDITION}
        for (item, flags), name in zip(known.items(), (NAMES[0], NAMES[1], NAMES[1], NAMES[2]), strict=True)
    ]  # fmt: skip
    assert [said[name] for name in ("n_questions", *NAMES)] == [4, 1, 2, 1]
    assert said["perfectly_correct"] == pytest.approx(dict(zip(PATTERNS, (0.5, 0.5, 0.5), strict=True)), abs=1e-12)
    assert said["accuracy"]["original"] == pytest.approx((1 + 1 + 2 / 3 + 2 / 3) / 4, abs=1e-12)
    assert said["subsets"]["general knowledge"]["n_questions"] == 4


@pytest.mark.slow
def test_random_answers_equal_a_slow_version(tmp_path):
    draw = random.Random(3)
    rows = [
        row(f"q{item}", pattern, number, draw.choices([gold, "D", None], [8, 1, 1])[0], gold=gold)
        for item in range(60)
        for gold in [draw.choice("ABC")]
        for pattern in PATTERNS
        for number in range(1, len(ORDERS) + 1)
    ]
    select(written(tmp_path, rows), tmp_path / "list.jsonl")
    for found in lines(tmp_path / "list.jsonl"):
        own = [each for each in rows if each["item"] == found["item"]]
        flags = {}
        for pattern in PATTERNS:
            shown = [each for each in own if each["pattern"] == pattern]
            meant = [each["canonical"][LETTERS.index(each["answer"])] if each["answer"] else "" for each in shown]
            flags[pattern] = all(letter == each["gold"] for letter, each in zip(meant, shown, strict=True))
        assert found["perfectly_correct"] == flags
        assert found["class"] == NAMES[{3: 0, 0: 2}.get(sum(flags.values()), 1)]
    assert {each["class"] for each in lines(tmp_path / "list.jsonl")} == set(NAMES)


def refused(tmp_path, rows, *more):
    done = select(written(tmp_path, rows), tmp_path / "list.jsonl", *more, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (tmp_path / "list.jsonl").exists()
    return done.stderr


@pytest.mark.slow
def test_a_missing_order_wording_or_answer_is_refused_by_name(tmp_path):
    rows = [*right("a", (1, 0, 1)), *right("b", (1, 1, 1))]
    lost = [each for each in rows if (each["item"], each["variant"]) != ("b", "paraphrase-1/2")]
    said = refused(tmp_path / "order", lost)
    assert "'b'" in said
    assert "paraphrase_1" in said
    assert "order 2" in said
    lost = [each for each in rows if (each["item"], each["pattern"]) != ("b", "paraphrase_2")]
    said = refused(tmp_path / "wording", lost)
    assert "'b'" in said
    assert "paraphrase_2" in said
    unasked = [
        each | ({"model": None} if (each["item"], each["variant"]) == ("a", "original/3") else {}) for each in rows
    ]
    said = refused(tmp_path / "answer", unasked)
    assert "'a'" in said
    assert "order 3" in said


def test_a_question_that_was_not_asked_at_all_is_refused(tmp_path):
    rows = [*right("a", (1, 0, 1)), *(each | {"model": None} for each in right("b", (1, 1, 1)))]
    assert "question 'b' has no answer in wording 'original'" in refused(tmp_path, rows)


@pytest.mark.slow
def test_one_wording_selects_nothing(tmp_path):
    rows = [each for each in right("a", (1, 0, 1)) if each["pattern"] == "original"]
    assert "has one wording ('original')" in refused(tmp_path, rows)


@pytest.mark.slow
def test_of_several_judges_one_must_be_named(tmp_path):
    rows = [*right("a", (1, 0, 1)), *right("a", (0, 0, 0), model="other")]
    assert "has several judges, so name one by --model and --condition" in refused(tmp_path, rows)
    said = refused(tmp_path / "again", rows, "--model", "judges")
    assert "has no model 'judges' (the nearest is 'judge')" in said
    folder = written(tmp_path / "third", rows)
    said = json.loads(select(folder, tmp_path / "list.jsonl", "--model", "other").stdout)
    assert (said["judge"], said[NAMES[2]]) == ("other", 1)


def test_a_judge_that_was_not_asked_so_is_named_with_its_condition():
    study = SimpleNamespace(study="s", units=[("A", "plain"), ("B", "chat")])
    for model, condition, name in (
        ("A", "chat", "model 'A' under 'chat'; "), ("C", "chat", "model 'C'; "),
        ("A", "chet", "condition 'chet' (the nearest is 'chat'); "),
    ):  # fmt: skip
        with pytest.raises(InputError) as error:
            select_judge_answers(study, model, condition)
        assert str(error.value).startswith(f"study 's' has no {name}"), error.value
        assert str(error.value).endswith("it has A under plain; B under chat")
