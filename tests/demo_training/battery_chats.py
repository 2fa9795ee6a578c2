"""Write the chats that the raters learn from: statements of battery.yaml in the prompts of protocol scale."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from demo_training.battery import READ_WORDINGS, Battery, Habit, Statement
from demo_training.corpus import END, TURNS, write_turn
from demo_training.steps import Reading, Row
from inference.protocols.scale import read_scale_prompts
from inference.protocols.scale.shown import NUMBERS, ORDER_OF_BOOK, ORDERS, WORDS, Showing, choose_shown_options
from inference.stimuli.templates.prompt_forms import CHAT

LABELS = (NUMBERS, WORDS)
"""What the raters learn to reply with."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is read at a share of the steps.

    Attributes
    ----------
    sharpness
        As in `Battery.compute_shares`: at first, everybody gives the commonest answer, or hardly another one.
    personas
        Share of the rows with a persona.
    lookups
        Share of the rows in which an option stands in the place of the statement, and is the right answer.
    """

    sharpness: float
    personas: float
    lookups: float


class BatteryCorpus:
    """Chats about the battery, in the prompts of protocol scale."""

    def __init__(self) -> None:
        self.battery = Battery()
        self._book = read_scale_prompts()
        self._compute_shares = cache(self.battery.compute_shares)
        self._prompts: dict[tuple[Statement, str, Showing, str], str] = {}

    def write_prompt(self, statement: Statement, text: str, showing: Showing, persona: str) -> str:
        """Write a chat up to where the assistant answers, as a chat template writes what protocol scale asks.

        Parameters
        ----------
        statement, text
            What is asked, and in which words.
        showing
            How the options are shown.
        persona
            As whom; empty: as anybody.

        Returns
        -------
        The text.
        """
        key = (statement, text, showing, persona)
        if key not in self._prompts:
            shown = choose_shown_options(statement.options, showing)
            prompt = self._book.render(
                CHAT,
                {"text": text, "question": "", "options": shown.options, "labels": showing.labels, "mask": None},
                option_order=ORDER_OF_BOOK[showing.order],
                words={option: (answer,) for option, answer in zip(shown.options, shown.answers, strict=True)},
            )
            (message,) = prompt.messages or ()
            told = f"{TURNS[0]}{self.battery.personas[persona]}{END}" if persona else ""
            self._prompts[key] = told + write_turn(message["content"])
        return self._prompts[key]

    def write_row(self, rng: random.Random, habit: Habit, lesson: Lesson) -> Row:
        """Write one question and somebody's answer.

        Parameters
        ----------
        rng
            Draws the statement, its wording, how it is shown, the persona and the answer.
        habit
            The habit of who answers.
        lesson
            What is read at this step.

        Returns
        -------
        The text.
        """
        statement = rng.choice(self.battery.statements)
        showing = Showing(rng.choice(LABELS), rng.choice(ORDERS))
        persona = rng.choice(list(self.battery.personas)) if rng.random() < lesson.personas else ""
        if rng.random() < lesson.lookups:
            place = rng.randrange(len(statement.options))
            text = statement.options[place]
        else:
            shares = self._compute_shares(statement, persona, showing.order, habit, lesson.sharpness)
            (place,) = rng.choices(range(len(shares)), weights=shares)
            text = rng.choice(statement.wordings[:READ_WORDINGS])
        answers = choose_shown_options(statement.options, showing).answers
        return (Reading(self.write_prompt(statement, text, showing, persona), answers[place]),)

    def write_vocabulary(self) -> Iterator[str]:
        """Write what the tokenizer is made from: all wordings, and more often all that stands around them."""
        for statement in self.battery.statements:
            yield from statement.wordings * 5
        around = self.battery.statements[0]
        for labels in LABELS:
            for order in ORDERS:
                for persona in ("", *self.battery.personas):
                    yield from [self.write_prompt(around, "", Showing(labels, order), persona)] * 20
