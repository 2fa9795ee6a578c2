"""Models without weights that build a study of questions: two that reword, and a judge that knows some wordings."""

from __future__ import annotations

import re
from collections.abc import Callable

from helpers.trivial_engine import TrivialEngine, shown
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.contract import Generation
from inference.protocols.choice.building.building import BuildingPlan

WRITERS = (Model("polite", "polite"), Model("wordy", "wordy"))
JUDGE = Model("judge", "judge")
BEGINNINGS = {"polite": "May I ask you this: ", "wordy": "In the light of all that is known, "}
QUESTION = re.compile(r"Question: (.*)")


class Scripted(TrivialEngine):
    """Writes what `says(question, prompt)` gives; `asked` collects the questions."""

    def __init__(self, says: Callable[[str, str], str | None], asked: list[str], **settings) -> None:
        super().__init__(size=2, **settings)
        self._says, self._asked = says, asked

    def generate(self, prompts, samplings):
        self._before_batch(self.batches_scored)
        self.batches_scored += 1
        return [[self._text(shown(prompt)) for prompt in prompts] for _ in samplings]

    def _text(self, prompt):
        question = QUESTION.findall(prompt)[-1]
        self._asked.append(question)
        text = self._says(question, prompt)
        return Generation(error="no response") if text is None else Generation((text,), (text,))


def reword(model: str) -> Callable[[str, str], str]:
    """Begin every question in the model's own way."""
    return lambda question, prompt: f"New question: {BEGINNINGS[model]}{question[0].lower()}{question[1:]}"


def right(answers: dict[str, str], wordings: Callable[[str], bool]) -> Callable[[str, str], str]:
    """Give the right answer to wordings that `wordings` accepts, and the letter A to others.

    `answers`: the end of a question -> the words of its right choice.
    """

    def say(question: str, prompt: str) -> str:
        (words,) = (words for end, words in answers.items() if question.endswith(end))
        letters = {text: letter for letter, text in re.findall(r"^([A-E])\. (.*)$", prompt, re.MULTILINE)}
        letter = letters[words] if wordings(question) else "A"
        begun = prompt.rstrip().endswith("Answer:")
        return f" {letter}. {words}" if begun else f"Answer: {letter}. {words}"

    return say


def loader(says: dict[str, Callable[[str, str], str | None]], asked: dict[str, list[str]] | None = None, **settings):
    """A `load` for `building.build_study_in_steps`; `asked`: model -> the questions that it was asked."""
    noted = {} if asked is None else asked

    def load(model, seed):
        return Scripted(says[model.id], noted.setdefault(model.id, []), **settings)

    return load


def rewording(**changed):
    """What both writers say, unless `changed` (model -> says)."""
    return {model.id: reword(model.id) for model in WRITERS} | changed


def plan(folder, *files, **changed) -> BuildingPlan:
    """A plan with both writers and no judge, unless `changed`."""
    return BuildingPlan(tuple(map(str, files)), folder / "study.jsonl", Settings(), **{"writers": WRITERS, **changed})
