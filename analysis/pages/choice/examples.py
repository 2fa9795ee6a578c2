"""Find questions that other words, or another order of the options, turn from right to wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.pages.choice.answers import NONE, NOT_ASKED, Choices, studies
from analysis.runs.folder import literal

if TYPE_CHECKING:
    from analysis.runs import Runs

WORDS, ORDER = "other words", "another order"


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


def _pairs(study: Choices, unit: int) -> list[tuple[str, tuple[tuple[int, int, int], tuple[int, int, int]]]]:
    """Return for each change the cells (question, wording, order) before and after, where the model has such a pair."""
    chosen = study.chosen[..., unit]
    right = chosen == study.gold[:, None, None]
    wrong = ~right & (chosen != NONE) & (chosen != NOT_ASKED)
    pairs = []
    for change, axis in ((WORDS, 1), (ORDER, 2)):
        other = 3 - axis  # right and wrong share their place on this axis
        both = right.any(axis=axis) & wrong.any(axis=axis)
        if not both.any():
            continue
        share = right.sum(axis=other) / np.maximum((chosen != NOT_ASKED).sum(axis=other), 1)  # by wording, or by order
        gap = np.where(both.any(axis=1), share.max(axis=1) - share.min(axis=1), -1)
        item = int(gap.argmax())
        best = [
            (share[item, one] - share[item, two], -shared, -one, -two)
            for shared in np.flatnonzero(both[item])
            for one in np.flatnonzero(np.take(right[item], shared, axis=other - 1))
            for two in np.flatnonzero(np.take(wrong[item], shared, axis=other - 1))
        ]
        _, shared, one, two = max(best)
        cells = [(item, -place, -shared) if axis == 1 else (item, -shared, -place) for place in (one, two)]
        pairs.append((change, (cells[0], cells[1])))
    return pairs


def _told(
    runs: Runs, study: Choices, unit: int, before: tuple[int, int, int], after: tuple[int, int, int]
) -> dict[str, Any]:
    """Return the texts of both variants of a question, and of the choices taken."""
    item = study.items[before[0]]
    row: dict[str, Any] = {"item": item}
    for side, cell in (("before", before), ("after", after)):
        variant, text, order, taken, right = runs.execute(
            f"""SELECT variant, text, map_extract(attributes, 'order')[1],
                       {_choice(study, study.chosen[(*cell, unit)])}, {_choice(study, study.gold[cell[0]])}
                FROM stimuli WHERE study = ? AND item = ? AND pattern = ? AND variant LIKE ?""",
            [study.study, item, study.wordings[cell[1]], f"%/{cell[2] + 1}"],
        ).fetchall()[0]
        row |= {f"variant_{side}": variant, f"text_{side}": text, f"order_{side}": order, f"said_{side}": taken,
                "right": right}  # fmt: skip
    return row


def _choice(study: Choices, number: int) -> str:
    """Return the SQL of the text of a choice: its letter, where the study has no texts."""
    letter = study.letters[number]
    return f"coalesce(map_extract(attributes, {literal(f'choice_{letter}')})[1], {literal(letter)})"
