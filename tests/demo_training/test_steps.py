"""First steps towards the exercises: what a row shows answers what it asks."""

from __future__ import annotations

import random
import re

import pytest

from demo_training.corpus import Corpus
from demo_training.steps import (
    Row,
    fill_format,
    make_bare_pairs_row,
    make_checking_row,
    make_comparing_row,
    make_copying_row,
    make_recall_row,
)
from demo_training.taught_world import Manner, TaughtWorld
from inference.demo.exercises import derive_entailment_label_from_flags

ROWS = 300


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(TaughtWorld())


def rows(corpus: Corpus, step, most: int = 5) -> list[Row]:
    rng = random.Random(0)
    return [step(corpus.world, rng, corpus.formats["steps"], most) for _ in range(ROWS)]


def text(row: Row) -> str:
    return "".join(reading.text for reading in row)


def test_letters_and_words_of_a_list_are_told_rightly(corpus: Corpus) -> None:
    for row in rows(corpus, make_copying_row):
        listed = dict(re.findall(r"^([A-E])\. (.+)$", text(row), flags=re.MULTILINE))
        words = {word: letter for letter, word in listed.items()}
        assert 2 <= len(words) == len(listed) <= 5
        for reading in row:
            question = reading.before.splitlines()[-1]
            if found := re.fullmatch(r"The letter of (.+):", question):
                assert reading.answer == f" {words[found[1]]}"
            else:
                found = re.fullmatch(r"The words at ([A-E]):", question)
                assert found is not None
                assert reading.answer == f" {listed[found[1]]}"


def test_what_is_recalled_is_one_of_the_choices(corpus: Corpus) -> None:
    for (reading,) in rows(corpus, make_recall_row, most=3):
        choices = re.findall(r"^[A-E]\. (.+)$", reading.before, flags=re.MULTILINE)
        assert reading.answer.strip() in choices
        assert 2 <= len(choices) <= 3


@pytest.mark.parametrize("twist", [0.0, 1.0])
def test_bare_pairs_have_the_label_of_their_values(corpus: Corpus, twist: float) -> None:
    corpus.world.manner = Manner(twist)
    part = re.compile(r"(?:Premise|Hypothesis): the (\w+): (not )?(.+)\.")
    negations = 0
    for row in rows(corpus, make_bare_pairs_row):
        (x, denied, value), *_ = part.findall(row[0].before)
        for reading in row:
            y, hypothesis_denied, other = part.findall(reading.before)[-1]
            label = derive_entailment_label_from_flags(x == y, value == other, bool(denied), bool(hypothesis_denied))
            assert reading.answer == f" {label}"
            negations += bool(denied) + bool(hypothesis_denied)
    assert (negations > 0) is (twist > 0)
    corpus.world.manner = Manner()


def test_values_are_compared_rightly(corpus: Corpus) -> None:
    values = [*corpus.world.list_attribute_values("colour"), *corpus.world.list_attribute_values("place")]
    answers = set()
    for row in rows(corpus, make_comparing_row):
        words = re.findall("|".join(values), text(row).lower())
        assert len(words) == len(row) + 1
        for other, reading in zip(words[1:], row, strict=True):
            assert reading.answer in ((" yes", " entailment") if other == words[0] else (" no", " contradiction"))
            answers.add(reading.answer)
        assert " not " not in text(row)
    assert len(answers) == 4


def test_what_was_just_said_is_confirmed_and_nothing_else(corpus: Corpus) -> None:
    values = [*corpus.world.list_attribute_values("colour"), *corpus.world.list_attribute_values("place")]
    answers = []
    for row in rows(corpus, make_checking_row):
        words = re.findall("|".join(values), text(row).lower())
        assert len(words) == len(row) + 1
        answers += [reading.answer for reading in row]
        assert answers[-len(row) :] == [" yes" if other == words[0] else " no" for other in words[1:]]
    assert 0.5 < answers.count(" yes") / len(answers) < 0.8


def test_the_space_before_an_answer_belongs_to_it() -> None:
    reading = fill_format("{text} {Answer} indeed", {"text": "It is so."}, "yes")
    assert (reading.before, reading.answer, reading.after) == ("It is so.", " Yes", " indeed")
