"""Prompts that ask whether a premise entails a hypothesis, in English and Japanese."""

from __future__ import annotations

from pathlib import Path

from inference.stimuli.languages import find_prompt_file
from inference.stimuli.nli import LABELS
from inference.stimuli.study import Option
from inference.stimuli.templates.prompt_forms import FORMS, PAIR, SENTENCES, Fields
from inference.stimuli.templates.prompts import PromptBook

FOLDER = Path(__file__).parent
OPTIONS = tuple(Option(label, label) for label in LABELS)
FIELDS = Fields(
    variables=frozenset({*SENTENCES, "options", "shots"}),
    needed=frozenset(SENTENCES),
    trials=({"premise": "A premise.", "hypothesis": "Its hypothesis."},),
    forms=(*FORMS, PAIR),
    answers=True,
)


def read_entailment_prompts(language: str, path: str | Path | None = None) -> PromptBook:
    """Read a prompt file that asks for one of the three labels.

    Parameters
    ----------
    language
        The language of Waver's own prompts, of which there are English and Japanese ones.
    path
        A file of the user's; None: Waver's own in that language.

    Returns
    -------
    The prompts.

    Raises
    ------
    InputError
        Naming the file, the form and the field that is wrong, or a language without prompts.
    """
    return PromptBook.load(path, find_prompt_file(FOLDER, language) if path is None else FOLDER, FIELDS)
