"""The list of selected questions, and the splits."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ground.errors import InputError
from inference.protocols.choice.building import selecting
from inference.stimuli.questions import GENERAL, MATH, Question


def made(number, subset=GENERAL, prefix="q"):
    return [Question(f"{prefix}{n}", f"Why {n}?", ("a", "b"), 0, subset=subset) for n in range(number)]


def listed(tmp_path, *rows):
    path = tmp_path / "list.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_questions_of_inconsistent_confidence_stay(tmp_path):
    path = listed(tmp_path, *({"item": f"q{n}", "class": name} for n, name in enumerate(selecting.CLASSES)))
    step = selecting.build_step_of_inconsistent_confidence(made(3), path)
    assert [each.item for each in step.kept_questions] == ["q1"]
    assert [(each.question.item, each.reason) for each in step.left_out] == [
        ("q0", "consistently confident"), ("q2", "consistently unconfident"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"item": "q0", "class": "confident"}], "line 1: class must be one of"),
        ([{"class": selecting.INCONSISTENT}], "line 1: item must be the name of a question"),
        ([{"item": "q0", "class": selecting.INCONSISTENT}] * 2, "line 2: item 'q0' is there twice"),
        ([{"item": "q0", "class": selecting.INCONSISTENT}], "1 of 2 questions is not in it (such as 'q1')"),
        ([{"item": f"q{n}", "class": selecting.CONFIDENT} for n in range(2)], "no question has inconsistent"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path, rows, words):
    with pytest.raises(InputError) as error:
        selecting.build_step_of_inconsistent_confidence(made(2), listed(tmp_path, *rows))
    assert words in str(error.value)


def test_the_splits_have_the_sizes_of_table_4():
    drawn = selecting.assign_random_splits_within_subsets([*made(3134), *made(7140, MATH, "m")], seed=1)
    counts = Counter((each.subset, each.split) for each in drawn)
    assert [counts[GENERAL, name] for name in ("train", "validation", "test")] == [2194, 470, 470]
    assert [counts[MATH, name] for name in ("train", "validation", "test")] == [4998, 1071, 1071]


def test_the_splits_depend_on_the_seed_and_not_on_the_order_of_the_file():
    given = made(60)
    first = {each.item: each.split for each in selecting.assign_random_splits_within_subsets(given, seed=1)}
    assert first == {
        each.item: each.split for each in selecting.assign_random_splits_within_subsets(given[::-1], seed=1)
    }
    assert first != {each.item: each.split for each in selecting.assign_random_splits_within_subsets(given, seed=2)}
