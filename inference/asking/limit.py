"""Ask about some variants of a study only, such as its first items; a later call can ask about the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from inference.asking.rounds import Draw, Questions, Round
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompts import PromptBook


@dataclass(frozen=True, slots=True)
class ChosenQuestions:
    """The questions of a study about some of its variants.

    The study stays whole: the run folder lists all of its stimuli, so that a later call can ask about more of them. Its
    rows are then those of one call without a limit, up to the last digits: other prompts share a batch.

    Attributes
    ----------
    questions
        Those about all variants.
    is_asked
        Tells whether a variant is asked about.
    draw
        As in `Round`.
    """

    questions: Questions
    is_asked: Callable[[Variant], bool]
    draw: Draw | None = None

    @property
    def book(self) -> PromptBook:
        """The prompts of these questions."""
        return self.questions.book

    def rounds(self, form: str) -> Sequence[Round]:
        """Make the rounds of all questions, in which these variants are asked."""
        return [
            replace(round_, chosen=partial(self._is_asked_and_chosen, round_.chosen), draw=self.draw or round_.draw)
            for round_ in self.questions.rounds(form)
        ]

    def _is_asked_and_chosen(self, is_chosen: Callable[[Variant], bool], variant: Variant) -> bool:
        """Tell whether a variant is asked about and chosen anyway."""
        return self.is_asked(variant) and is_chosen(variant)


def limit_questions_to_first_items(study: Study, questions: Questions, limit: int | None) -> Questions:
    """Limit the questions to the first items of a study.

    Parameters
    ----------
    study, questions
        The study and what is asked about it.
    limit
        Number of items; None: all.

    Returns
    -------
    The questions about these items; the same questions where that is all of them.
    """
    if limit is None or limit >= len(study.items):
        return questions
    first_items = {item.item for item in study.items[:limit]}
    return ChosenQuestions(questions, lambda variant: variant.item in first_items, getattr(questions, "draw", None))
