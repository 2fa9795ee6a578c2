"""Draw the splits of questions: what is learnt in training must not be asked again in the test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from inference.stimuli.questions import SPLITS, Question
from inference.stimuli.random_order import compute_sort_key_for_random_order

SHARES = (0.70, 0.15)
"""Of the questions, for train and validation (Choi, section 4.3); the others are for the test."""


def assign_random_splits_to_questions(questions: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """Draw the split of every question; those with the same words and the same right choice fall into one.

    Such questions differ in their wrong choices only, and who has learnt one knows the other. Where there are none, the
    sizes of the splits are `SHARES`, rounded; the draw depends on the seed and the questions, not on their order.

    Parameters
    ----------
    questions
        The questions.
    seed
        Another seed gives other splits.

    Returns
    -------
    The questions in the same order, with their splits.
    """
    items_by_content: dict[tuple[str, str], list[str]] = defaultdict(list)
    for question in questions:
        items_by_content[
            _normalise_case_and_spaces(question.question), _normalise_case_and_spaces(question.choices[question.answer])
        ].append(question.item)
    drawn = sorted(
        items_by_content.values(),
        key=lambda items: min(compute_sort_key_for_random_order(seed, "split", item) for item in items),
    )
    train, validation = (round(share * len(questions)) for share in SHARES)
    split_by_item: dict[str, str] = {}
    for items in drawn:
        # Of 100 questions, 70 train and 15 validate: three alike after 69 others have their middle at 70.5: validation.
        middle = len(split_by_item) + len(items) / 2
        split_by_item |= dict.fromkeys(items, SPLITS[(middle > train) + (middle > train + validation)])
    return tuple(replace(question, split=split_by_item[question.item]) for question in questions)


def _normalise_case_and_spaces(text: str) -> str:
    """Return a text in small letters with single spaces, so that equal words compare as equal."""
    return " ".join(text.casefold().split())
