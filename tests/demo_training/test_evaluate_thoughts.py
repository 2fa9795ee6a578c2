"""The model that thinks: its answers follow its thoughts, these differ, and the examination counts what it says."""

from __future__ import annotations

import random
from functools import cache

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from demo_training import evaluate_thoughts  # noqa: E402
from demo_training.corpus import Corpus  # noqa: E402
from demo_training.evaluate import draw_examination  # noqa: E402
from demo_training.evaluate_thoughts import (  # noqa: E402
    Attempt,
    Thinker,
    draw_opinions,
    render_thought_table,
)
from demo_training.taught_world import TaughtWorld  # noqa: E402
from demo_training.thoughts import EFFORTS  # noqa: E402
from inference.demo import THINKERS  # noqa: E402
from inference.demo.exercises import Exercise  # noqa: E402

pytestmark = pytest.mark.slow

(NAME,) = THINKERS
CORPUS = Corpus(TaughtWorld())
MOST_TOKENS = 32


@pytest.fixture(autouse=True)
def thoughts_end_soon(monkeypatch) -> None:
    """No thought of the model that ends has more than 24 tokens; one that never ends would cost all the others time."""
    monkeypatch.setattr(evaluate_thoughts, "MOST_TOKENS", MOST_TOKENS)


@cache
def thinker() -> Thinker:
    return Thinker(NAME, CORPUS)


def answer_after(exercise: Exercise, thought: str) -> str:
    """Give the model a thought, and take its most probable next token."""
    prompt = thinker().write_prompt(CORPUS.write_message(exercise, random.Random(0)), "medium")
    ids = thinker().tokenizer(
        f"{prompt}<think>\n{thought}\n</think>\n\n", add_special_tokens=False, return_tensors="pt"
    )
    with torch.inference_mode():
        return thinker().tokenizer.decode(thinker().model(**ids).logits[0, -1].argmax())


def test_the_same_thoughts_are_drawn_each_time() -> None:
    opinions = draw_opinions(CORPUS.world, 2)
    assert thinker().think(opinions, "medium", 10) == thinker().think(opinions, "medium", 10)


def test_the_table_has_a_line_for_every_effort(monkeypatch) -> None:
    monkeypatch.setattr(evaluate_thoughts, "KINDS", ["agreement"])
    monkeypatch.setattr(evaluate_thoughts, "THOUGHTS", 2)
    table = render_thought_table(NAME, 1, 1)
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == list(EFFORTS)
    assert {line.count("|") for line in table.splitlines()} == {1 + 5}


def test_opinions_are_answered_as_the_thought_says() -> None:
    opinions = draw_opinions(CORPUS.world, 20)
    for answer in ("yes", "no"):
        answers = [answer_after(exercise, f"Most people say {answer}.") for exercise in opinions]
        assert answers.count(answer) > 18


def test_choices_are_answered_as_the_thought_says() -> None:
    followed = asked = 0
    for exercise in draw_examination(CORPUS.world, "choice", "trained", 60):
        if exercise.topic in ("biggest", "smallest"):
            for letter in exercise.options:
                followed += answer_after(exercise, f"The {exercise.topic} is the {exercise.fields[letter]}.") == letter
                asked += 1
    assert followed / asked > 0.45  # chance is at most 1/3


@cache
def think_often(effort: str, opinions: int) -> list[list[Attempt]]:
    """Think ten times about each of some opinions."""
    return thinker().think(draw_opinions(CORPUS.world, opinions), effort, 10)


def test_thoughts_of_one_prompt_lead_to_different_answers_and_with_much_effort_less_often() -> None:
    minorities = {}
    for effort in ("medium", "high"):
        counts = [[a.answer for a in of if a.tokens is not None] for of in think_often(effort, 10)]
        minorities[effort] = sum(min(of.count("yes"), of.count("no")) for of in counts) / (10 * 10)
    assert minorities["medium"] > minorities["high"] > 0.02


def test_more_effort_thinks_longer_and_none_not_at_all() -> None:
    lengths = {}
    for effort, opinions in zip(EFFORTS, (3, 10, 10, 10), strict=True):  # low and medium are alike but for .5 tokens
        thought = think_often(effort, opinions)
        tokens = [attempt.tokens for of in thought for attempt in of if attempt.tokens is not None]
        assert len(tokens) >= 8 * opinions
        lengths[effort] = sum(tokens) / len(tokens)
    assert 0 == lengths["none"] < lengths["low"] < lengths["medium"] < lengths["high"] < MOST_TOKENS
