"""Draw the splits of questions: what is learnt in training must not be asked again in the test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from inference.stimuli.questions import SPLITS, Question
from inference.stimuli.random_order import place

SHARES = (0.70, 0.15)
"""Of the questions, for train and validation (Choi, section 4.3); the others are for the test."""


def split(given: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """Draw the split of every question; those with the same words and the same right choice fall into one.

    Such questions differ in their wrong choices only, and who has learnt one knows the other. Where there are none, the
    sizes of the splits are `SHARES`, rounded; the draw depends on the seed and the questions, not on their order.

    Parameters
    ----------
    given
        The questions.
    seed
        Another seed gives other splits.

    Returns
    -------
    The questions in the same order, with their splits.
    """
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in given:
        alike[_words(each.question), _words(each.choices[each.answer])].append(each.item)
    drawn = sorted(alike.values(), key=lambda items: min(place(seed, "split", item) for item in items))
    train, validation = (round(share * len(given)) for share in SHARES)
    of: dict[str, str] = {}
    for items in drawn:
        # Of 100 questions, 70 train and 15 validate: three alike after 69 others have their middle at 70.5: validation.
        middle = len(of) + len(items) / 2
        of |= dict.fromkeys(items, SPLITS[(middle > train) + (middle > train + validation)])
    return tuple(replace(each, split=of[each.item]) for each in given)


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
