"""Find questions that other words, or another order of the options, turn from right to wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from analysis.runs.choices import NONE, NOT_ASKED, Choices, Codes, studies
from analysis.runs.folder import literal

if TYPE_CHECKING:
    from analysis.runs import Runs

WORDS, ORDER = "other words", "another order"
Cell: TypeAlias = tuple[int, int, int]  # question, wording, order


def examples(runs: Runs) -> pd.DataFrame:
    """Find for every model the first question that it answers rightly, and wrongly in other words or another order.

    Wrongly means with another choice: an answer that is none shows nothing. Preferred is the question that is answered
    rightly most often in the one wording (or order) and least often in the other. Of several conditions of a model, it
    is the first that has such a question.

    Returns
    -------
    DataFrame
        study, model, condition, change, item; variant, text, order and said (the text of the choice) before and after;
        right: the text of the right choice.
    """
    rows = []
    for study in studies(runs):
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for unit, (model, condition) in enumerate(study.units):
            for change, pair in (pair for pair in _pairs(study, unit) if (model, pair[0]) not in found):
                found[model, change] = {"study": study.study, "model": model, "condition": condition, "change": change,
                                        **_told(runs, study, unit, *pair)}  # fmt: skip
        rows += sorted(found.values(), key=lambda row: [model for model, _ in study.units].index(row["model"]))
    return pd.DataFrame(rows)


def _pairs(study: Choices, unit: int) -> list[tuple[str, tuple[Cell, Cell]]]:
    """Return for each change the cells before and after, where the model has such a pair."""
    chosen = study.chosen[..., unit]
    pairs = []
    for change, turned in ((WORDS, chosen.transpose(0, 2, 1)), (ORDER, chosen)):
        found = _turning(turned, study.gold)
        if found:
            item, shared, *sides = found
            before, after = ((item, side, shared) if change == WORDS else (item, shared, side) for side in sides)
            pairs.append((change, (before, after)))
    return pairs


def _turning(chosen: Codes, gold: Codes) -> tuple[int, int, int, int] | None:
    """Find the question that its last axis turns most often from right to another choice.

    Parameters
    ----------
    chosen
        Array (questions, what both sides share, what differs between them).

    Returns
    -------
    tuple
        The question, the place that both share, and the places before and after; None where there is no such question.
    """
    right = chosen == gold[:, None, None]
    wrong = ~right & (chosen != NONE) & (chosen != NOT_ASKED)
    both = right.any(axis=2) & wrong.any(axis=2)
    if not both.any():
        return None
    share = right.sum(axis=1) / np.maximum((chosen != NOT_ASKED).sum(axis=1), 1)
    gap = np.where(both.any(axis=1), np.ptp(share, axis=1), -1)
    item = int(gap.argmax())
    known = [
        (share[item, before] - share[item, after], shared, before, after)
        for shared in np.flatnonzero(both[item])
        for before in np.flatnonzero(right[item, shared])
        for after in np.flatnonzero(wrong[item, shared])
    ]
    _, shared, before, after = max(known, key=lambda pair: pair[0])  # the first of several
    return item, int(shared), int(before), int(after)


def _told(runs: Runs, study: Choices, unit: int, before: Cell, after: Cell) -> dict[str, Any]:
    """Return the texts of both variants of a question, and of the choices taken."""
    item = study.items[before[0]]
    row: dict[str, Any] = {"item": item}
    for side, cell in (("before", before), ("after", after)):
        variant, text, order, taken, right = runs.execute(
            f"""SELECT variant, text, map_extract(attributes, 'order')[1],
                       {_choice(study, study.chosen[(*cell, unit)])}, {_choice(study, study.gold[cell[0]])}
                FROM stimuli WHERE study = ? AND item = ? AND pattern = ? AND variant LIKE ?""",
            [study.study, item, study.wordings[cell[1]], f"%/{study.orders[cell[2]]}"],
        ).fetchall()[0]
        row |= {f"variant_{side}": variant, f"text_{side}": text, f"order_{side}": order, f"said_{side}": taken,
                "right": right}  # fmt: skip
    return row


def _choice(study: Choices, number: int) -> str:
    """Return the SQL of the text of a choice: its letter, where the study has no texts."""
    letter = study.letters[number]
    return f"coalesce(map_extract(attributes, {literal(f'choice_{letter}')})[1], {literal(letter)})"
