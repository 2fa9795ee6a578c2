"""Runs of multiple choice with gaps, and with variants and answers that fit nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from helpers.choice_runs import TEXT, TEXTS, always, answers, questions, right, write_choice
from helpers.refusals import Case

TABLE = "analysis table run choice"


def run(change: Callable[[pd.DataFrame], pd.DataFrame], condition: str = TEXT) -> Callable[[Path], object]:
    """Write a run of two questions in four orders after some change of its rows."""
    asked = questions(2, 4)

    def write(folder: Path) -> object:
        rows = answers(asked, conditions=[condition]) if condition == TEXTS else always(asked, right)
        return write_choice(folder / "run", change(rows))

    return write


def without(variant: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Leave the responses out that one question has to a variant; the variant stays."""

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        lost = (rows["item"] == "q001") & (rows["variant"] == variant)
        return rows.assign(model=rows["model"].where(~lost, None))

    return change


def _first(**values: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Change the first row."""

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.copy()
        rows.loc[0, list(values)] = list(values.values())
        return rows

    return change


CASES = [
    Case("a condition that takes a wording from some questions",
         ("analysis", "table", "run", "choice", "--where", "item = 'q000' OR pattern = 'original'"),
         ("'q001'", "any order", "'paraphrase_1'", "let where keep", "meaning_flips"), run(lambda rows: rows)),
    Case("a choice without a response to one order", TABLE,
         ("run", "'q001'", "'paraphrase_2'", "order 3", "'m'", "repeat the command"), run(without("paraphrase-2/3"))),
    Case("a question that lacks a wording", TABLE, ("stimuli.parquet", "'q001'", "any order", "'original'"),
         run(lambda rows: rows[(rows["item"] != "q001") | (rows["pattern"] != "original")])),
    Case("a question that lacks an order", TABLE, ("stimuli.parquet", "'q001'", "order 4", "'paraphrase_1'"),
         run(lambda rows: rows[(rows["item"] != "q001") | (rows["variant"] != "paraphrase-1/4")])),
    Case("a variant without an order", TABLE, ("stimuli.parquet", "'q000'", "order's number"),
         run(_first(variant="original"))),
    Case("a right choice that is no option", TABLE, ("stimuli.parquet", "'q000'", "gold 'E'"),
         run(_first(gold="E"))),
    Case("a choice that is no option", TABLE, ("responses", "'q000'", "'Z'"), run(_first(answer="Z"))),
    Case("choices without texts", TABLE, ("no text", "choice_A"),
         run(lambda rows: rows.assign(attributes=None), TEXTS)),
]  # fmt: skip
