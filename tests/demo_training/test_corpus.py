"""The texts that the demo models learn from: nothing that they are examined on, and the prompts of the protocols."""

from __future__ import annotations

import random

import pytest

from demo_training.corpus import OPTIONS, Corpus
from demo_training.curriculum import COURSES, Upbringing
from demo_training.exercises import KINDS
from demo_training.taught_world import TaughtWorld
from demo_training.thoughts import write_thinking_text
from inference.demo.exercises import Exercise
from inference.demo.reworded import make_reworded_questions
from inference.protocols.agreement import read_agreement_prompts
from inference.stimuli.study import Variant
from inference.stimuli.templates.prompt_forms import OPTION_ORDERS
from inference.stimuli.templates.prompts import build_template_values_of_options

pytestmark = pytest.mark.slow

REWORDED = ("which_colour", "which_kind", "biggest")


@pytest.fixture(scope="module")
def world() -> TaughtWorld:
    return TaughtWorld()


def draws(world: TaughtWorld, kind: str, wording: str, count: int) -> list[Exercise]:
    rng = random.Random(0)
    return [KINDS[kind](world, rng, wording) for _ in range(count)]  # type: ignore[arg-type]


def test_held_out_sentences_are_not_in_the_reading_matter(world: TaughtWorld) -> None:
    corpus, rng = Corpus(world), random.Random(5)
    rows = [corpus.write_base_text(rng, stage, Upbringing()) for stage in COURSES["large"] for _ in range(300)]
    rows += [corpus.write_tuned_text(rng, COURSES["tuned"][-1], Upbringing()) for _ in range(1500)]
    rows += [write_thinking_text(corpus, rng, COURSES["tuned"][-1], Upbringing()) for _ in range(1500)]
    rows += [corpus.write_masked_text(rng, COURSES["masked"][-1], Upbringing()) for _ in range(1500)]
    read = " ".join(reading.text for row in rows for reading in row)
    examined = [e.fields["text"] for kind in ("agreement", "question") for e in draws(world, kind, "heldout", 400)]
    assert [text for text in examined if text in read] == []


def test_the_tuned_models_read_the_chat_prompt_of_the_agreement_protocol(world: TaughtWorld) -> None:
    corpus, rng = Corpus(world), random.Random(0)
    said = [corpus.write_message(exercise, rng) for exercise in draws(world, "agreement", "trained", 20)]
    assert any("yes or no" in text for text in said)
    assert any("no or yes" in text for text in said)
    book = read_agreement_prompts()
    for order in OPTION_ORDERS:
        text = "It is so."
        values = build_template_values_of_options(Variant("a", "b", "original", text, OPTIONS))
        assert (
            book.render("chat", values, option_order=order).messages
            == corpus.render_agreement_prompt(text, "chat", order).messages
        )


@pytest.mark.parametrize("course", ["large", "cut"])
def test_originals_are_read_in_training_and_paraphrases_never(world: TaughtWorld, course: str) -> None:
    corpus, rng, made = Corpus(world), random.Random(1), make_reworded_questions(world)
    read = "\n".join(
        "".join(reading.text for reading in corpus.write_base_text(rng, stage, Upbringing()))
        for stage in COURSES[course]
        for _ in range(1000)
    )
    originals = {each.question for each in made}
    assert sum(question in read for question in originals) / len(originals) > 0.9
    assert not any(text in read for each in made for text in each.paraphrases)
    ends = [kind[stem].partition("{v}")[2] or kind[stem] for kind in world.untaught.values() for stem in REWORDED]
    assert not any(end in read for end in ends)
