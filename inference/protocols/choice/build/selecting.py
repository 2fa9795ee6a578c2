"""Keep the questions about which a judge is right in some wordings only, and draw the splits (Choi, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ground.errors import InputError
from inference.protocols.choice.build.steps import SELECTED, LeftOut, Step
from inference.stimuli import records, splits
from inference.stimuli.files import shown
from inference.stimuli.questions import Question

INCONSISTENT = "inconsistent confidence"
CONFIDENT, UNCONFIDENT = "consistently confident", "consistently unconfident"
CLASSES = (CONFIDENT, INCONSISTENT, UNCONFIDENT)
"""Perfectly correct, which is right in all orders of the choices: in all wordings, in some, in none."""


def read(path: Path) -> dict[str, str]:
    """Read the list that `waver select` writes: item -> class.

    Raises
    ------
    InputError
        Naming the file and the line: no item, an unknown class, an item that is there twice.
    """
    found: dict[str, str] = {}
    for row, record in records.Records(path):
        where = f"{path}, {row}"
        item, named = record.get("item"), record.get("class")
        if not isinstance(item, str) or not item.strip():
            raise InputError(f"{where}: item must be the name of a question, not {shown(item)}")
        if named not in CLASSES:
            raise InputError(f"{where}: class must be one of {', '.join(CLASSES)}, not {shown(named)}")
        if item in found:
            raise InputError(f"{where}: item {shown(item)} is there twice; select again")
        found[item] = named
    return found


def selected(given: Sequence[Question], path: Path) -> Step:
    """Keep the questions of inconsistent confidence.

    Raises
    ------
    InputError
        As for `read`; and for a question that the list does not have: it was made from another run.
    """
    classes = read(path)
    missing = [each.item for each in given if each.item not in classes]
    if missing:
        raise InputError(
            f"{path}: {len(missing):,} of {len(given):,} questions are not in it (such as {shown(missing[0])}); it "
            "belongs to another study: select again, from the judge's run of these questions"
        )
    kept = tuple(each for each in given if classes[each.item] == INCONSISTENT)
    left = tuple(
        LeftOut(each, classes[each.item], each.question) for each in given if classes[each.item] != INCONSISTENT
    )
    if not kept:
        raise InputError(
            f"{path}: no question has {INCONSISTENT}, so none is left; judge with another model, or give more questions"
        )
    return Step(SELECTED, kept, left, (CONFIDENT, UNCONFIDENT))


def split(given: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """Draw the split of every question, within its subset."""
    of = {
        each.item: each.split
        for subset in {each.subset for each in given}
        for each in splits.split([each for each in given if each.subset == subset], seed)
    }
    return tuple(replace(each, split=of[each.item]) for each in given)
