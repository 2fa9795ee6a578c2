"""Write the texts that the demo models learn from: exercises of the world in the formats of formats.yaml."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from demo_training.curriculum import Stage, Upbringing
from demo_training.exercises import KINDS, LETTERS, draw_answer, make_choice_exercise
from demo_training.steps import (
    Reading,
    Row,
    fill_format,
    make_bare_pairs_row,
    make_checking_row,
    make_comparing_row,
    make_copying_row,
    make_recall_row,
)
from demo_training.taught_world import TaughtWorld
from inference.demo.exercises import Exercise, format_score_on_scale
from inference.protocols.agreement import read_agreement_prompts
from inference.stimuli.entailment import read_entailment_prompts
from inference.stimuli.reading.files import read_yaml
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompt_forms import CHAT, CLOZE, OPTION_ORDERS
from inference.stimuli.templates.prompts import Prompt, build_template_values_of_options

FORMATS = Path(__file__).with_name("formats.yaml")
OPTIONS = (Option("agree", "agree"), Option("disagree", "disagree"))
LABELS = {"yes": "agree", "no": "disagree"}
BEGIN, END, PAD = "<s>", "</s>", "<pad>"
TURNS = ("<|system|>", "<|user|>", "<|assistant|>")
EXEMPLARS = 0.12
"""Share of texts in which two to five exercises of one kind and format follow each other, as with exemplars."""
MOST_TOGETHER = 5
PLAIN_SHARE = 0.3
"""Share of what tuned models read that is not a chat, so that they keep what the base model can."""
PLAIN_WORD = 0.9
"""How often the masked model reads the first word of a set, as "agree"; else any of it, as "endorsed"."""
NEGATIVE = re.compile(r"\b(no|not|cannot|never|nobody|hardly|without)\b", re.IGNORECASE)
"""Words of negation in the statements of the world."""
STEPS: dict[str, Callable[[TaughtWorld, random.Random, dict[str, str], int], Row]] = {
    "copying": make_copying_row,
    "recall": make_recall_row,
    "bare_pairs": make_bare_pairs_row,
    "comparing": make_comparing_row,
    "checking": make_checking_row,
}


class Corpus:
    """Exercises of a world in words for each kind of model, in trained wordings unless said otherwise."""

    def __init__(self, world: TaughtWorld) -> None:
        self.world = world
        self.formats: dict[str, Any] = read_yaml(FORMATS)
        self.book = read_agreement_prompts()

    @cached_property
    def mask_words(self) -> dict[str, tuple[str, ...]]:
        """Answer -> its lower-case words at the mask: the mask word sets of the protocols agreement and negation."""
        words = self.book.get_answer_words_of_form(CLOZE)
        return {answer: words[label] for answer, label in LABELS.items()} | read_entailment_prompts(
            "en"
        ).get_answer_words_of_form(CLOZE)

    def write_base_text(self, rng: random.Random, stage: Stage, upbringing: Upbringing) -> Row:
        """Write a text for a base model: plain, an open question, a step, or exercises in one of their formats.

        Parameters
        ----------
        rng
            Draws all that is drawn.
        stage
            The stage of the training, which says what is read.
        upbringing
            The habits that the model is taught.

        Returns
        -------
        The text, in pieces that end with an answer.
        """
        kind = _draw_kind(stage.mix, rng)
        if kind in STEPS:
            return STEPS[kind](self.world, rng, self.formats["steps"], stage.choices)
        if kind in ("text", "open"):
            return (self.write_plain_text(rng) if kind == "text" else self.write_open_question(rng),)
        template: dict[str, str] = {}
        row = []
        for exercise in self.draw_exercises(kind, rng, stage):
            exercise_format = template.setdefault(exercise.kind, rng.choice(self.formats[exercise.kind]["base"]))
            row.append(
                fill_format(
                    exercise_format, exercise.fields, _draw_naysaying(exercise, rng, upbringing) or exercise.gold
                )
            )
        return _separate_readings(row)

    def write_tuned_text(self, rng: random.Random, stage: Stage, upbringing: Upbringing) -> Row:
        """Write a chat of one or more turns for a tuned model, or now and then a text as for a base model.

        Parameters
        ----------
        rng, stage, upbringing
            As in `write_base_text`.

        Returns
        -------
        The text, in pieces that end with an answer.
        """
        if rng.random() < PLAIN_SHARE:
            return self.write_base_text(rng, stage, upbringing)
        exercises = self.draw_exercises(_draw_kind(stage.mix, rng), rng, stage)
        turns = [
            Reading(write_turn(self.write_message(exercise, rng)), self.write_answer(exercise, rng, upbringing))
            for exercise in exercises
        ]
        return tuple(Reading(END + r.before if number else r.before, r.answer) for number, r in enumerate(turns))

    def write_masked_text(self, rng: random.Random, stage: Stage, upbringing: Upbringing) -> Row:
        """Write a text for the masked model: plain, an open question, or an exercise with its answer as a word.

        Parameters
        ----------
        rng, stage, upbringing
            As in `write_base_text`; the masked model is taught no habits.

        Returns
        -------
        The text, one piece.
        """
        kind = _draw_kind(stage.mix, rng)
        if kind in ("text", "open"):
            return (self.write_plain_text(rng) if kind == "text" else self.write_open_question(rng),)
        exercise = KINDS[kind](self.world, rng, "trained")
        words = self.mask_words[exercise.gold]
        word = words[0] if rng.random() < PLAIN_WORD else rng.choice(words)
        return (fill_format(rng.choice(self.formats[kind]["masked"]), exercise.fields, word),)

    def draw_exercises(self, kind: str, rng: random.Random, stage: Stage) -> list[Exercise]:
        """Draw an exercise, or now and then (`EXEMPLARS`) several of one kind.

        Parameters
        ----------
        kind
            A key of `KINDS`.
        rng
            Draws all that is drawn.
        stage
            Says how many choices a question has at most.

        Returns
        -------
        One to `MOST_TOGETHER` exercises, in trained wordings.
        """
        count = rng.randint(2, MOST_TOGETHER) if rng.random() < EXEMPLARS else 1
        if kind == "choice":
            return [
                make_choice_exercise(self.world, rng, "trained", rng.randint(2, stage.choices))
                for _ in range(min(count, 3))
            ]
        return [KINDS[kind](self.world, rng, "trained") for _ in range(count)]

    def write_plain_text(self, rng: random.Random) -> Reading:
        """Write a few sentences as people in the world would say them: true facts, and opinions by their support."""
        sentences: list[str] = []
        while len(sentences) < 2:
            claim = self.world.state_claim(rng, "trained")
            if rng.random() < claim.share:
                sentences.append(claim.text)
        return Reading(" ".join(sentences), "")

    def write_open_question(self, rng: random.Random) -> Reading:
        """Ask for a value, and answer with it."""
        question, value = self.world.ask_open_question(rng)
        return Reading(question, f" {value}")

    def write_answer(self, exercise: Exercise, rng: random.Random, upbringing: Upbringing) -> str:
        """Answer as a teacher of tuned models does: as one person of the world would, with the teacher's habits.

        Parameters
        ----------
        exercise
            What is answered.
        rng
            Draws the person.
        upbringing
            The habits.

        Returns
        -------
        The answer.
        """
        if exercise.kind == "choice" and rng.random() < upbringing.first_letter:
            return LETTERS[0]
        if exercise.score is not None and exercise.numbers is not None:
            return format_score_on_scale(upbringing.squeeze_score(exercise.score), exercise.numbers)
        return _draw_naysaying(exercise, rng, upbringing) or draw_answer(exercise, rng)

    def write_message(self, exercise: Exercise, rng: random.Random) -> str:
        """Write an exercise as a user's message; agreement in the chat prompt of the protocol, in either order.

        Parameters
        ----------
        exercise
            What is asked.
        rng
            Draws the format or the order of the options.

        Returns
        -------
        The message.
        """
        if exercise.kind == "agreement":
            prompt = self.render_agreement_prompt(exercise.fields["text"], CHAT, rng.choice(OPTION_ORDERS))
            return prompt.messages[0]["content"] if prompt.messages else ""
        return str(rng.choice(self.formats[exercise.kind]["tuned"]).format(**exercise.fields))

    def write_base_prompt(self, exercise: Exercise, rng: random.Random) -> str:
        """Write an exercise in a base format, up to the answer and the space before it.

        Parameters
        ----------
        exercise
            What is asked.
        rng
            Draws the format.

        Returns
        -------
        The text.
        """
        return fill_format(rng.choice(self.formats[exercise.kind]["base"]), exercise.fields, "").before

    def render_agreement_prompt(self, text: str, form: str, option_order: str, mask_token: str | None = None) -> Prompt:
        """Render a statement as the agreement protocol does.

        Parameters
        ----------
        text
            The statement.
        form
            "plain", "chat" or "cloze".
        option_order
            One of `OPTION_ORDERS`.
        mask_token
            The mask of the model; None where the form needs none.

        Returns
        -------
        The prompt.
        """
        variant = Variant("item", "variant", "paraphrase", text, OPTIONS)
        return self.book.render(form, build_template_values_of_options(variant, mask_token), option_order=option_order)


def write_turn(message: str) -> str:
    """Write a user's message as the chat template does, up to where the assistant answers."""
    return f"{TURNS[1]}{message}{END}{TURNS[2]}"


def _draw_naysaying(exercise: Exercise, rng: random.Random, upbringing: Upbringing) -> str:
    """Answer "no" to a statement with a word of negation as often as the upbringing says; empty otherwise."""
    may_naysay = upbringing.naysaying and exercise.kind == "agreement" and NEGATIVE.search(exercise.fields["text"])
    return "no" if may_naysay and rng.random() < upbringing.naysaying else ""


def _draw_kind(mix: dict[str, float], rng: random.Random) -> str:
    return rng.choices(list(mix), weights=list(mix.values()))[0]


def _separate_readings(row: list[Reading]) -> Row:
    """Put a new line before every reading but the first."""
    return tuple(Reading("\n" + r.before if number else r.before, r.answer, r.after) for number, r in enumerate(row))
