"""Ask about the first items of a study only; the others can be asked later, into the same folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from inference.asking.rounds import Questions, Round
from inference.stimuli.study import Study, Variant
from inference.stimuli.templates.prompts import PromptBook


@dataclass(frozen=True, slots=True)
class LimitedQuestions:
    """The questions of a study about some of its items.

    The study stays whole: the run folder lists all of its stimuli, so that a later call can ask about more of them. Its
    rows are then those of one call without a limit, up to the last digits: other prompts share a batch.
    """

    questions: Questions
    items: frozenset[str]

    @property
    def book(self) -> PromptBook:
        """The prompts of these questions."""
        return self.questions.book

    def rounds(self, form: str) -> Sequence[Round]:
        """Make the rounds of all questions, in which the variants of these items are asked."""
        return [
            replace(round_, chosen=partial(self._is_chosen_within_limit, round_.chosen))
            for round_ in self.questions.rounds(form)
        ]

    def _is_chosen_within_limit(self, is_chosen: Callable[[Variant], bool], variant: Variant) -> bool:
        """Tell whether a variant is of one of these items and chosen anyway."""
        return variant.item in self.items and is_chosen(variant)


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
    return LimitedQuestions(questions, frozenset(item.item for item in study.items[:limit]))
