r"""Choose the questions that can be asked alone and said in other words (Choi, section 4.1).

What the paper says in words is counted so: a sentence ends with `.`, `!` or `?` before white space or the end, so that
"3.5" ends none; a word is what stands between white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from inference.choice.steps import FILTERED, LeftOut, Step
from inference.stimuli.questions import EqualChoices, Question

SENTENCES, WORDS, CHOICES = 3, 10, (4, 5)
_END = re.compile(r"[.!?\u3002\uff01\uff1f]+[\"'”’)\]]*(?=\s|$)")


def sentences(text: str) -> int:
    """Count sentences; what stands behind the last end is one, too.

    >>> sentences("It costs $3.50. Why?"), sentences("Tea. Milk"), sentences("Who?! Me...")
    (2, 2, 2)
    """
    return sum(bool(part.strip()) for part in _END.split(text))


FILTERS: dict[str, Callable[[Question], bool]] = {
    "it has a passage": lambda each: each.passage is not None,
    "it has an underscore": lambda each: "_" in each.question,
    "it ends without a question mark": lambda each: not each.question.endswith(("?", "\uff1f")),
    f"it has more than {SENTENCES} sentences": lambda each: sentences(each.question) > SENTENCES,
    f"it has fewer than {WORDS} words": lambda each: len(each.question.split()) < WORDS,
    f"it has not {CHOICES[0]} or {CHOICES[1]} choices": lambda each: len(each.choices) not in CHOICES,
}
"""Reason -> whether it holds, in the order in which they are tried: a question counts for the first that holds."""
EQUAL = "two of its choices are equal"


def filtered(given: Sequence[Question], equal: Sequence[EqualChoices] = ()) -> Step:
    """Filter questions; those with equal choices, which no reader of questions takes, are left out first."""
    kept, left = [], [LeftOut(error.question, EQUAL, error.question.question) for error in equal]
    for question in given:
        reason = next((reason for reason, holds in FILTERS.items() if holds(question)), None)
        if reason is None:
            kept.append(question)
        else:
            left.append(LeftOut(question, reason, question.question))
    return Step(FILTERED, tuple(kept), tuple(left), (EQUAL, *FILTERS))
