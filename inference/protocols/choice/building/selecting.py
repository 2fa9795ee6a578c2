"""Keep the questions about which a judge is right in some wordings only, and draw the splits (Choi, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ground.errors import InputError, format_part_with_verb
from inference.protocols.choice.building.steps import SELECTED, LeftOut, Step
from inference.stimuli import splits
from inference.stimuli.questions import Question
from inference.stimuli.reading import records
from inference.stimuli.reading.files import shorten_value

INCONSISTENT = "inconsistent confidence"
CONFIDENT, UNCONFIDENT = "consistently confident", "consistently unconfident"
CLASSES = (CONFIDENT, INCONSISTENT, UNCONFIDENT)
"""A wording is correct if it is answered rightly in all orders of the choices: all wordings are, some are, none is."""


def _read_class_by_item_of_selection_list(path: Path) -> dict[str, str]:
    """Read the list that `waver select` writes: item -> class; refuse an unknown class or a repeated item."""
    class_by_item: dict[str, str] = {}
    for row, record in records.Records(path):
        where = f"{path}, {row}"
        item, class_name = record.get("item"), record.get("class")
        if not isinstance(item, str) or not item.strip():
            raise InputError(f"{where}: item must be the name of a question, not {shorten_value(item)}")
        if class_name not in CLASSES:
            raise InputError(f"{where}: class must be one of {', '.join(CLASSES)}, not {shorten_value(class_name)}")
        if item in class_by_item:
            raise InputError(f"{where}: item {shorten_value(item)} is there twice; select again")
        class_by_item[item] = class_name
    return class_by_item


def build_step_of_inconsistent_confidence(questions: Sequence[Question], classes_path: Path) -> Step:
    """Keep the questions of inconsistent confidence.

    Parameters
    ----------
    questions
        The questions that the judge answered.
    classes_path
        The list that `waver select` wrote.

    Returns
    -------
    The step "after selection"; the reason of a question that is left out is its class.

    Raises
    ------
    InputError
        The list is damaged, with file and line; a question is not in it, as it was made from another run; none is left.
    """
    class_by_item = _read_class_by_item_of_selection_list(classes_path)
    missing = [question.item for question in questions if question.item not in class_by_item]
    if missing:
        raise InputError(
            f"{classes_path}: {format_part_with_verb(len(missing), len(questions), 'question', 'is', 'are')} not in it "
            f"(such as {shorten_value(missing[0])}); it belongs to another study: select again, from the "
            "judge's run of these questions"
        )
    kept_questions = tuple(question for question in questions if class_by_item[question.item] == INCONSISTENT)
    left_out = tuple(
        LeftOut(question, class_by_item[question.item], question.question)
        for question in questions
        if class_by_item[question.item] != INCONSISTENT
    )
    if not kept_questions:
        raise InputError(
            f"{classes_path}: no question has {INCONSISTENT}, so none is left; judge with another model, or give more "
            "questions"
        )
    return Step(SELECTED, kept_questions, left_out, (CONFIDENT, UNCONFIDENT))


def assign_random_splits_within_subsets(questions: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """Draw the split of every question, within its subset.

    Parameters
    ----------
    questions
        The questions; those without a subset count as one.
    seed
        Of the draw.

    Returns
    -------
    The questions in the same order, each with its split.
    """
    split_by_item = {
        question.item: question.split
        for subset in {question.subset for question in questions}
        for question in splits.assign_random_splits_to_questions(
            [question for question in questions if question.subset == subset], seed
        )
    }
    return tuple(replace(question, split=split_by_item[question.item]) for question in questions)
