"""Write the texts that the demo models learn from: exercises of the world in the formats of formats.yaml."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from inference.demo import DEMO
from inference.demo.exercises import KINDS, Exercise, agreement
from inference.demo.world import Wording, World
from inference.stimuli.prompts import CHAT, CLOZE, OPTION_FIELDS, OPTION_ORDERS, Prompt, PromptBook, option_values
from inference.stimuli.study import Option, Variant

AGREEMENT = DEMO.parent / "protocols" / "agreement" / "prompts.yaml"
"""The file of the agreement protocol; read, as the protocol itself stands above the demo models and imports them."""
OPTIONS = (Option("agree", "agree"), Option("disagree", "disagree"))
LABELS = {"yes": "agree", "no": "disagree"}
MIX = {"agreement": 0.48, "question": 0.16, "pair": 0.16, "choice": 0.12, "rating": 0.08}
"""Shares of the kinds of exercise in training."""
PLAIN_TEXT, OPEN = 0.1, 0.2
"""Shares of what base and masked models read that ask nothing, and that ask for a value."""
PLAIN_WORD = 0.8
"""How often the masked model reads "agree" or "disagree"; else any word of the set, as "endorsed" or "denying"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One text to learn from. The `answer` is at its end, or for the masked model inside; plain text has none."""

    before: str
    answer: str
    after: str = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.before + self.answer + self.after


class Corpus:
    """Exercises of a world in words for each kind of model, in trained wordings unless said otherwise."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.formats: dict[str, Any] = yaml.safe_load((DEMO / "formats.yaml").read_text(encoding="utf-8"))
        self.book = PromptBook.load(None, AGREEMENT, OPTION_FIELDS)

    @cached_property
    def mask_words(self) -> dict[str, tuple[str, ...]]:
        """Answer -> its lower-case words at the mask: the mask word sets of the agreement protocol."""
        words = self.book.words(CLOZE)
        return {answer: words[label] for answer, label in LABELS.items()}

    def draw(self, rng: random.Random, wording: Wording = "trained") -> Exercise:
        """Draw one exercise, its kind by `MIX`."""
        kind = rng.choices(list(MIX), weights=list(MIX.values()))[0]
        return KINDS[kind](self.world, rng, wording)

    def plain_text(self, rng: random.Random) -> Reading:
        """Write a few sentences as people in the world would say them: true facts, and opinions by their support."""
        sentences: list[str] = []
        while len(sentences) < 2:
            claim = self.world.claim(rng, "trained")
            if rng.random() < claim.share:
                sentences.append(claim.text)
        return Reading(" ".join(sentences), "")

    def base(self, rng: random.Random) -> Reading:
        """Write a text for a base model: plain, an open question, or an exercise in one of its base formats."""
        return self.plain_or_open(rng) or self.answered(self.draw(rng), "base", rng)

    def tuned(self, rng: random.Random) -> tuple[str, str]:
        """Write what a user says to a tuned model, and the answer."""
        exercise = self.draw(rng)
        return self.say(exercise, rng), exercise.answer(rng)

    def masked(self, rng: random.Random) -> Reading:
        """Write a text for the masked model: plain, an open question, or a statement with a word of agreement."""
        return self.plain_or_open(rng) or self.answered(agreement(self.world, rng, "trained"), "masked", rng)

    def plain_or_open(self, rng: random.Random) -> Reading | None:
        """Write plain text or an open question, as often as their shares say; None the rest of the time."""
        sort = rng.random()
        if sort < PLAIN_TEXT:
            return self.plain_text(rng)
        if sort < PLAIN_TEXT + OPEN:
            question, value = self.world.open_question(rng)
            return Reading(f"{question} ", value)
        return None

    def answered(self, exercise: Exercise, stage: str, rng: random.Random) -> Reading:
        """Write an exercise with its right answer in a `base` or `masked` format; masked uses the mask word sets."""
        template = rng.choice(self.formats[exercise.kind][stage])
        if stage == "base":
            return _fill(template, exercise.fields, exercise.gold)
        words = self.mask_words[exercise.gold]
        return _fill(template, exercise.fields, words[0] if rng.random() < PLAIN_WORD else rng.choice(words))

    def say(self, exercise: Exercise, rng: random.Random) -> str:
        """Write an exercise as a user's message; agreement in the chat prompt of the protocol, in either order."""
        if exercise.kind == "agreement":
            prompt = self.agreement_prompt(exercise.fields["text"], CHAT, rng.choice(OPTION_ORDERS))
            return prompt.messages[0]["content"] if prompt.messages else ""
        return str(rng.choice(self.formats[exercise.kind]["tuned"]).format(**exercise.fields))

    def ask(self, exercise: Exercise, rng: random.Random) -> str:
        """Write an exercise in a base format, up to the answer and the space before it."""
        return _fill(rng.choice(self.formats[exercise.kind]["base"]), exercise.fields, "").before.rstrip(" ")

    def agreement_prompt(self, text: str, form: str, option_order: str, mask_token: str | None = None) -> Prompt:
        """Render a statement as the agreement protocol does."""
        variant = Variant("item", "variant", "paraphrase", text, OPTIONS)
        return self.book.render(form, option_values(variant, mask_token), option_order=option_order)

    def sample(self, draw: Callable[[random.Random], Any], rng: random.Random) -> Iterator[Any]:
        """Draw without end."""
        while True:
            yield draw(rng)


def _fill(template: str, fields: dict[str, str], answer: str) -> Reading:
    """Fill in a format; return what stands before, in and after the answer."""
    before, _, after = template.replace("{Answer}", "{answer}").partition("{answer}")
    shown = answer.capitalize() if "{Answer}" in template else answer
    return Reading(before.format(**fields), shown, after.format(**fields))
