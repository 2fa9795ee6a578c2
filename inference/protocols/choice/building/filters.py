r"""Choose the questions that can be asked alone and said in other words (Choi, section 4.1).

The paper gives its rules in words; here, a sentence ends with `.`, `!` or `?` before white space or the end, so that
"3.5" ends none, or with the full-width form of one, wherever it stands; a word is what stands between white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from inference.protocols.choice.building.steps import FILTERED, LeftOut, Step
from inference.stimuli.questions import EqualChoices, Question

MOST_SENTENCES, FEWEST_WORDS, NUMBERS_OF_CHOICES = 3, 10, (4, 5)
_END = re.compile(
    r"[.!?\u3002\uff01\uff1f]*[\u3002\uff01\uff1f][\"'”’)\]\u300d\u300f\uff09]*|[.!?]+[\"'”’)\]]*(?=\s|$)"
)


def count_sentences(text: str) -> int:
    """Count sentences; the words after the last end count as one, too.

    >>> count_sentences("It costs $3.50. Why?"), count_sentences("Tea. Milk"), count_sentences("Who?! Me...")
    (2, 2, 2)
    """
    return sum(bool(part.strip()) for part in _END.split(text))


EQUAL = "two equal choices"


def build_exclusion_tests_by_reason(fewest_words: int = FEWEST_WORDS) -> dict[str, Callable[[Question], bool]]:
    """List the filters: reason -> whether it holds. A question counts for the first reason that holds."""
    return {
        "with a passage": lambda question: question.passage is not None,
        "with an underscore": lambda question: "_" in question.question,
        "without a question mark at the end": lambda question: not question.question.endswith(("?", "\uff1f")),
        f"more than {MOST_SENTENCES} sentences": lambda question: count_sentences(question.question) > MOST_SENTENCES,
        f"fewer than {fewest_words} words": lambda question: len(question.question.split()) < fewest_words,
        f"not {NUMBERS_OF_CHOICES[0]} or {NUMBERS_OF_CHOICES[1]} choices": lambda question: (
            len(question.choices) not in NUMBERS_OF_CHOICES
        ),
    }


def build_filtering_step(
    questions: Sequence[Question], equal_choices: Sequence[EqualChoices] = (), fewest_words: int = FEWEST_WORDS
) -> Step:
    """Filter questions: the first reason that holds leaves a question out (`build_exclusion_tests_by_reason`).

    Parameters
    ----------
    questions
        The questions that could be read.
    equal_choices
        Questions with two equal choices, which cannot be read: they are left out first.
    fewest_words
        The fewest words of a question.

    Returns
    -------
    The step "after filters", with the questions that are kept and those that are left out.
    """
    reason_checks = build_exclusion_tests_by_reason(fewest_words)
    kept_questions, left_out = [], [LeftOut(error.question, EQUAL, error.question.question) for error in equal_choices]
    for question in questions:
        reason = next((reason for reason, holds in reason_checks.items() if holds(question)), None)
        if reason is None:
            kept_questions.append(question)
        else:
            left_out.append(LeftOut(question, reason, question.question))
    return Step(FILTERED, tuple(kept_questions), tuple(left_out), (EQUAL, *reason_checks))
