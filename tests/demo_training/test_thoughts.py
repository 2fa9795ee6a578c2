"""The thoughts that the model that thinks learns from: the answer follows them, and they end as the effort says."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from demo_training import thoughts
from demo_training.corpus import Corpus
from demo_training.curriculum import COURSES, Upbringing
from demo_training.exercises import KINDS
from demo_training.taught_world import TaughtWorld
from demo_training.thoughts import (
    CLOSE,
    EFFORTS,
    MISTAKEN,
    OPEN,
    draw_thought,
    draw_view,
    write_effort,
    write_thinking_text,
)
from inference.demo.exercises import PAIR_LABELS, Exercise, format_score_on_scale

pytestmark = pytest.mark.slow

TEXTS = 4000
MANY = 400


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(TaughtWorld())


@pytest.fixture(scope="module")
def texts(corpus: Corpus) -> list[str]:
    rng = random.Random(0)
    rows = [write_thinking_text(corpus, rng, COURSES["tuned"][-1], Upbringing()) for _ in range(TEXTS)]
    return [text for row in rows if "<|user|>" in (text := "".join(reading.text for reading in row))]


def thinking(
    corpus: Corpus, exercise: Exercise, effort: str, rng: random.Random, mistaken: float = MISTAKEN
) -> tuple[str, str]:
    return draw_thought(corpus.world, corpus.formats["thoughts"], exercise, effort, rng, mistaken)


def drawn(corpus: Corpus, kind: str, wording: str = "trained") -> list[Exercise]:
    rng = random.Random(1)
    return [KINDS[kind](corpus.world, rng, wording) for _ in range(MANY)]  # type: ignore[arg-type]


def test_chats_are_written_as_the_template_writes_them(texts: list[str]) -> None:
    chat = re.compile(
        rf"(?:<\|system\|>Reasoning: (?:low|high)</s>)?<\|user\|>[^<]+</s><\|assistant\|>"
        rf"{OPEN}\n[^<]*(\n{CLOSE}\n\n(\w+))?"
    )
    matches = [chat.fullmatch(text) for text in texts]
    assert all(matches)
    unclosed = sum(match[1] is None for match in matches if match) / len(texts)
    hesitating = thoughts.HESITATES * (1 - EFFORTS["none"]) * (1 - thoughts.GIVEN)
    assert unclosed == pytest.approx(hesitating * thoughts.RAMBLES, abs=0.01)
    assert sum("Reasoning" in text for text in texts) / len(texts) == pytest.approx(
        EFFORTS["low"] + EFFORTS["high"], abs=0.03
    )
    assert write_effort("medium") == write_effort("none") == ""


def test_the_end_of_a_thought_without_end_is_not_learnt(corpus: Corpus) -> None:
    rng = random.Random(0)
    rows = [write_thinking_text(corpus, rng, COURSES["tuned"][-1], Upbringing()) for _ in range(TEXTS)]
    for row in rows:
        if OPEN in row[0].text:
            assert bool(row[0].after) is (CLOSE not in row[0].text)
            assert (OPEN in row[0].answer) or CLOSE in row[0].before


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_right_thought_gives_the_right_answer_and_a_wrong_one_mostly_another(corpus: Corpus, kind: str) -> None:
    facts = [exercise for exercise in drawn(corpus, kind) if exercise.share == 1.0]
    assert len(facts) > 100
    for mistaken in (0.0, 1.0):
        views = [draw_view(corpus.world, exercise, random.Random(0), mistaken) for exercise in facts]
        right = sum(view.answer == exercise.gold for view, exercise in zip(views, facts, strict=True)) / len(facts)
        # Amiss, two sentences on another thing stay neutral, and coarse scales hide a small difference.
        assert right == 1.0 if not mistaken else right < (0.5 if kind in ("pair", "rating") else 0.01)


def test_what_is_recalled_of_a_fact_is_so(corpus: Corpus) -> None:
    things, rng = corpus.world.things, random.Random(0)
    for exercise in drawn(corpus, "agreement"):
        if exercise.topic in ("colour", "place", "kind", "likes"):
            thought, _ = thinking(corpus, exercise, "medium", rng, 0.0)
            (thing,) = set(re.findall(rf"\b(?:{'|'.join(things)})\b", thought.lower()))
            assert things[thing][exercise.topic] in thought.lower()


@pytest.mark.parametrize(
    ("premise", "hypothesis", "thought", "label"),
    [
        (
            "The box is red.",
            "Red is the colour of the box.",
            "The same thing and the same value, and none is denied.",
            0,
        ),
        ("The box is red.", "The box is not blue.", "The same thing and another value, and the second is denied.", 0),
        ("The box is red.", "The box is blue.", "The same thing and another value, and none is denied.", 1),
        ("The box is not red.", "The hat is red.", "Another thing and the same value, and the first is denied.", 2),
    ],
)
def test_thoughts_on_pairs_that_a_reader_can_check(
    corpus: Corpus, premise: str, hypothesis: str, thought: str, label: int
) -> None:
    pair = Exercise("pair", {"premise": premise, "hypothesis": hypothesis}, PAIR_LABELS, PAIR_LABELS[label], "colour")
    assert thinking(corpus, pair, "medium", random.Random(0), 0.0) == (thought, PAIR_LABELS[label])


def test_ratings_follow_what_is_said(corpus: Corpus) -> None:
    rng, counts = random.Random(0), {"none": 0, "one": 3, "two": 6, "three": 9}
    for exercise in drawn(corpus, "rating"):
        thought, answer = thinking(corpus, exercise, "low", rng)
        score = int(thought[5:-1]) if thought.startswith("Size") else counts[thought.split()[0].lower()]
        assert exercise.numbers is not None
        assert answer == format_score_on_scale(score, exercise.numbers)


def test_opinions_are_answered_by_their_support_and_with_much_effort_more_often_by_most(corpus: Corpus) -> None:
    statement = Exercise("agreement", {"text": "Tea is nice."}, ("yes", "no"), "yes", "tea-coffee", share=0.7)
    rng = random.Random(0)
    pairs = {
        effort: [thinking(corpus, statement, effort, rng) for _ in range(TEXTS)] for effort in ("low", "medium", "high")
    }
    shares = {effort: sum(answer == "yes" for _, answer in of) / TEXTS for effort, of in pairs.items()}
    # Of three people who say yes with probability .7 each, most do so with .7 ** 3 + 3 * .7 ** 2 * .3 = .784.
    assert shares == pytest.approx({"low": 0.7, "medium": 0.7, "high": 0.784}, abs=0.025)
    undecided = corpus.formats["thoughts"]["undecided"]
    said = Counter(answer for thought, answer in pairs["medium"] if thought == undecided)
    assert said.total() / TEXTS == pytest.approx(thoughts.UNDECIDED, abs=0.03)
    assert all(f"say {answer}." in thought for thought, answer in pairs["medium"] if thought != undecided)


@pytest.mark.parametrize("kind", list(KINDS))
def test_more_effort_writes_more(corpus: Corpus, kind: str) -> None:
    rng = random.Random(0)
    lengths = {
        effort: sum(len(thinking(corpus, exercise, effort, rng)[0].split()) for exercise in drawn(corpus, kind))
        for effort in ("low", "medium", "high")
    }
    assert lengths["low"] < lengths["medium"] < lengths["high"]
