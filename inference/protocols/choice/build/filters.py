r"""Choose the questions that can be asked alone and said in other words (Choi, section 4.1).

What the paper says in words is counted so: a sentence ends with `.`, `!` or `?` before white space or the end, so that
"3.5" ends none; a word is what stands between white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from inference.protocols.choice.build.steps import FILTERED, LeftOut, Step
from inference.stimuli.questions import EqualChoices, Question

SENTENCES, WORDS, CHOICES = 3, 10, (4, 5)
_END = re.compile(r"[.!?\u3002\uff01\uff1f]+[\"'”’)\]]*(?=\s|$)")


def sentences(text: str) -> int:
    """Count sentences; what stands behind the last end is one, too.

    >>> sentences("It costs $3.50. Why?"), sentences("Tea. Milk"), sentences("Who?! Me...")
    (2, 2, 2)
    """
    return sum(bool(part.strip()) for part in _END.split(text))


EQUAL = "two equal choices"


def filters(words: int = WORDS) -> dict[str, Callable[[Question], bool]]:
    """List the filters: reason -> whether it holds. A question counts for the first reason that holds."""
    return {
        "with a passage": lambda each: each.passage is not None,
        "with an underscore": lambda each: "_" in each.question,
        "without a question mark at the end": lambda each: not each.question.endswith(("?", "\uff1f")),
        f"more than {SENTENCES} sentences": lambda each: sentences(each.question) > SENTENCES,
        f"fewer than {words} words": lambda each: len(each.question.split()) < words,
        f"not {CHOICES[0]} or {CHOICES[1]} choices": lambda each: len(each.choices) not in CHOICES,
    }


def filtered(given: Sequence[Question], equal: Sequence[EqualChoices] = (), words: int = WORDS) -> Step:
    """Filter questions; those with equal choices, which no reader of questions takes, are left out first."""
    tried = filters(words)
    kept, left = [], [LeftOut(error.question, EQUAL, error.question.question) for error in equal]
    for question in given:
        reason = next((reason for reason, holds in tried.items() if holds(question)), None)
        if reason is None:
            kept.append(question)
        else:
            left.append(LeftOut(question, reason, question.question))
    return Step(FILTERED, tuple(kept), tuple(left), (EQUAL, *tried))
