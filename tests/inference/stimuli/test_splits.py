"""The splits of questions: drawn, and never two questions apart of which one gives the other away."""

from __future__ import annotations

from collections import Counter, defaultdict

from inference.demo.choices import make_choice_questions
from inference.demo.world import World
from inference.stimuli.questions import SPLITS, Question
from inference.stimuli.splits import assign_random_splits_to_questions


def asked(item, question, right, wrong):
    return Question(item, question, (right, *wrong), 0)


def test_the_same_question_with_the_same_right_choice_stays_in_one_split():
    """Questions that differ in their wrong choices only; small letters and white space do not tell them apart."""
    given = [
        asked(f"q{number}-{again}", ("What is 1 + {0}?", "what  is 1 + {0}?")[again % 2].format(number), "a", (wrong,))
        for number in range(40)
        for again, wrong in enumerate("bcdef")
    ]
    found = defaultdict(set)
    for each in assign_random_splits_to_questions(given, 1):
        found[each.item.partition("-")[0]].add(each.split)
    assert all(len(splits) == 1 for splits in found.values())
    assert Counter(each.split for each in assign_random_splits_to_questions(given, 1)) == {
        "train": 140,
        "validation": 30,
        "test": 30,
    }
    drawn = {each.item: each.split for each in assign_random_splits_to_questions(given, 1)}
    assert drawn == {each.item: each.split for each in assign_random_splits_to_questions(given[::-1], 1)}
    assert drawn != {each.item: each.split for each in assign_random_splits_to_questions(given, 2)}


def test_the_same_words_with_another_right_choice_are_another_question():
    given = [asked(f"q{number}", "Which of these is true?", f"right {number}", ("no",)) for number in range(40)]
    assert Counter(each.split for each in assign_random_splits_to_questions(given, 0)) == {
        "train": 28,
        "validation": 6,
        "test": 6,
    }


def test_what_is_learnt_in_the_demo_is_not_what_is_asked_in_its_test():
    learnt = defaultdict(set)
    for each in make_choice_questions(World()):
        learnt[each.question, each.choices[each.answer]].add(each.split)
    assert all(len(splits) == 1 for splits in learnt.values())
    assert {next(iter(splits)) for splits in learnt.values()} == set(SPLITS)
