"""Find questions that other words, or another order of the options, turn from right to wrong."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from analysis.measures.choices import NO_CHOICE, NOT_ASKED, Choices, Codes, read_choice_studies
from analysis.runs import Runs
from analysis.runs.folder import quote_sql_literal

WORDS, ORDER = "other words", "another order"
Cell: TypeAlias = tuple[int, int, int]  # question, wording, order


def tabulate_right_then_wrong_examples(runs: Runs) -> pd.DataFrame:
    """Find for every model a question that it answers rightly, and wrongly in other words or another order.

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
    for study in read_choice_studies(runs):
        rows_by_change: dict[tuple[str, str], dict[str, Any]] = {}
        for unit, (model, condition) in enumerate(study.units):
            for change, pair in (
                pair
                for pair in _find_right_to_wrong_cells_per_change(study, unit)
                if (model, pair[0]) not in rows_by_change
            ):
                rows_by_change[model, change] = {"study": study.study, "model": model, "condition": condition,
                                                 "change": change,
                                        **_build_row_of_texts_before_and_after(runs, study, unit, *pair)}  # fmt: skip
        rows += sorted(rows_by_change.values(), key=lambda row: [model for model, _ in study.units].index(row["model"]))
    return pd.DataFrame(rows)


def _find_right_to_wrong_cells_per_change(study: Choices, unit: int) -> list[tuple[str, tuple[Cell, Cell]]]:
    """Return for each change (words, order) the cells of a right answer before and a wrong one after it."""
    chosen = study.chosen_letter[..., unit]
    pairs = []
    for change, choices_by_change in ((WORDS, chosen.transpose(0, 2, 1)), (ORDER, chosen)):
        turned_places = _locate_question_most_often_turned_wrong(choices_by_change, study.gold)
        if turned_places:
            item, shared_place, *sides = turned_places
            before, after = (
                (item, side, shared_place) if change == WORDS else (item, shared_place, side) for side in sides
            )
            pairs.append((change, (before, after)))
    return pairs


def _locate_question_most_often_turned_wrong(chosen: Codes, gold: Codes) -> tuple[int, int, int, int] | None:
    """Find the question that the last axis of (questions, shared, differing) turns most often from right to wrong.

    Return it, the place that both share, and the places before and after; None where there is no such question.
    """
    right = chosen == gold[:, None, None]
    wrong = ~right & (chosen != NO_CHOICE) & (chosen != NOT_ASKED)
    is_turned = right.any(axis=2) & wrong.any(axis=2)
    if not is_turned.any():
        return None
    share = right.sum(axis=1) / np.maximum((chosen != NOT_ASKED).sum(axis=1), 1)
    gap = np.where(is_turned.any(axis=1), np.ptp(share, axis=1), -1)
    item = int(gap.argmax())
    turned_pairs = [
        (share[item, before] - share[item, after], shared_place, before, after)
        for shared_place in np.flatnonzero(is_turned[item])
        for before in np.flatnonzero(right[item, shared_place])
        for after in np.flatnonzero(wrong[item, shared_place])
    ]
    _, shared_place, before, after = max(turned_pairs, key=lambda pair: pair[0])  # the first of several
    return item, int(shared_place), int(before), int(after)


def _build_row_of_texts_before_and_after(
    runs: Runs, study: Choices, unit: int, before: Cell, after: Cell
) -> dict[str, Any]:
    """Return the texts of both variants of a question, and of the choices taken."""
    item = study.items[before[0]]
    row: dict[str, Any] = {"item": item}
    gold_sql = _build_choice_text_sql(study, study.gold[before[0]])
    for side, cell in (("before", before), ("after", after)):
        chosen_sql = _build_choice_text_sql(study, study.chosen_letter[(*cell, unit)])
        variant, text, order, chosen_text, right_text = runs.execute(
            f"""SELECT variant, text, map_extract(attributes, 'order')[1], {chosen_sql}, {gold_sql}
                FROM stimuli WHERE study = ? AND item = ? AND pattern = ?
                      AND TRY_CAST(regexp_extract(variant, '[0-9]+$') AS INTEGER) = ?""",
            [study.study, item, study.wordings[cell[1]], study.orders[cell[2]]],
        ).fetchall()[0]
        row |= {f"variant_{side}": variant, f"text_{side}": text, f"order_{side}": order, f"said_{side}": chosen_text,
                "right": right_text}  # fmt: skip
    return row


def _build_choice_text_sql(study: Choices, letter_number: int) -> str:
    """Return the SQL of the text of a choice: its letter, where the study has no texts."""
    letter = study.letters[letter_number]
    return f"coalesce(map_extract(attributes, {quote_sql_literal(f'choice_{letter}')})[1], {quote_sql_literal(letter)})"
