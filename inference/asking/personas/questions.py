"""Ask the questions of a study as every one of some personas (`inference.stimuli.personas`)."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ground.parser import require_file_name
from inference.asking.rounds import Questions, Round
from inference.stimuli.personas import Persona, read_personas
from inference.stimuli.templates.prompts import PromptBook


@dataclass(frozen=True, slots=True)
class PersonaQuestions:
    """The questions of a study, asked as every persona, and as no one else: each persona has conditions of its own.

    Parameters
    ----------
    questions
        The questions as they are without personas; a dataclass, whose prompts are in its field `book`.
    personas
        The personas.
    """

    questions: Any
    personas: tuple[Persona, ...]

    @property
    def book(self) -> PromptBook:
        """The prompts of these questions, without a persona."""
        book: PromptBook = self.questions.book
        return book

    def rounds(self, form: str) -> Sequence[Round]:
        """Make the rounds of all questions for every persona."""
        return [
            _add_persona_to_round_conditions(round_, persona)
            for persona in self.personas
            for round_ in replace(self.questions, book=self.book.copy_with_persona(persona)).rounds(form)
        ]


def _add_persona_to_round_conditions(round_: Round, persona: Persona) -> Round:
    """Record in the conditions of a round who the persona is."""
    conditions = (replace(c, fields={**c.fields, **persona.condition_fields}) for c in round_.conditions)
    return replace(round_, conditions=tuple(conditions))


def add_personas_argument(group: _ArgumentGroup) -> None:
    """Define `--personas`: as whom the model is asked."""
    group.add_argument(
        "--personas",
        type=require_file_name,
        metavar="FILE",
        help="ask as every persona of a table with name and text, each a condition: the text stands where the prompt "
        "has {{ persona }}, else it is the system message of a chat, else it stands before the question",
    )


def add_personas_to_questions(questions: Questions, options: Namespace) -> Questions:
    """Ask as the personas that the call names.

    Parameters
    ----------
    questions
        As `PersonaQuestions` takes them.
    options
        Those of `add_personas_argument`.

    Returns
    -------
    The questions, multiplied by the personas; the same questions where no persona is named.

    Raises
    ------
    InputError
        The file of personas is wrong.
    """
    if options.personas is None:
        return questions
    return PersonaQuestions(questions, read_personas(options.personas))
