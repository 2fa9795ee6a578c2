"""Follow answers over time step by step, on DataFrames.

::

    answers = page.list_answers_at_every_look()
    means = average_item_means_by_look(average_answers_by_item_and_look(answers))
    changes = compare_before_and_after_change_point(answers, page.frame("drift_changes"), scipy.stats.ttest_1samp)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

SERIES = ["study", "model", "condition", "measure"]


def average_answers_by_item_and_look(answers: pd.DataFrame) -> pd.DataFrame:
    """Average the answers of every item at every look over its wordings.

    `answers`: study, model, condition, measure, look, time, item, answer; a row per wording with an answer.

    Returns
    -------
    DataFrame
        The same without wordings; answer: the mean; n: answers.
    """
    items = answers.groupby([*SERIES, "look", "time", "item"], sort=False)["answer"].agg(["mean", "size"])
    return items.rename(columns={"mean": "answer", "size": "n"}).reset_index()


def average_item_means_by_look(items: pd.DataFrame) -> pd.DataFrame:
    """Average the means of items at every look.

    `items`: from `average_answers_by_item_and_look`.

    Returns
    -------
    DataFrame
        study, model, condition, measure, look; value: the mean; n_items.
    """
    looks = items.groupby([*SERIES, "look"], sort=False)["answer"].agg(["mean", "size"])
    return looks.rename(columns={"mean": "value", "size": "n_items"}).reset_index()


def compare_before_and_after_change_point(
    answers: pd.DataFrame, changes: pd.DataFrame, test: Callable[..., Any]
) -> pd.DataFrame:
    """Compare the answers of every item from a change on with those before, or of the last look where none was found.

    Parameters
    ----------
    answers
        As in `average_answers_by_item_and_look`.
    changes
        Table `drift_changes`: of its rows with an interval, changed_time is used.
    test
        `scipy.stats.ttest_1samp`: its result has `confidence_interval(level)`.

    Returns
    -------
    DataFrame
        study, model, condition, measure, difference, lower, upper: after minus before, over items. The data chose where
        a change begins: its interval holds at once for all looks but the first, so each at a higher level (Bonferroni).
    """
    rows = []
    with_interval = changes.reindex(columns=[*SERIES, "changed_time", "lower"]).dropna(subset="lower")
    for row in with_interval.to_dict("records"):
        key = [row[name] for name in SERIES]
        part = answers[(answers[SERIES] == key).all(axis=1)]
        begins = (
            part["look"].max() if not row["changed_time"] else part.loc[part["time"] == row["changed_time"], "look"]
        )
        is_after = part["look"] >= np.min(begins)
        after, before = (part[mask].groupby("item")["answer"].mean() for mask in (is_after, ~is_after))
        differences = (after - before).dropna()
        n_choices = part["look"].nunique() - 1 if row["changed_time"] else 1
        ends = test(differences, 0).confidence_interval(1 - 0.05 / n_choices)
        rows.append((*key, differences.mean(), ends.low, ends.high))
    return pd.DataFrame(rows, columns=[*SERIES, "difference", "lower", "upper"])
