"""Compute what orders the items of a study, step by step: how far apart the answers to their wordings are, or a score.

::

    numbers = convert_responses_to_numbers(run.responses(), run.wordings(), run.conditions(), items, {"demo": "agree"})
    values = average_spread_or_score_by_item(numbers, items)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.runs.folder import UNIT
from analysis.steps.agreement import compute_agreement
from analysis.steps.scores import read_item_and_human_scores

SPREAD, SCORE = "spread", "score"
_NUMBER = [*UNIT, "item", "measure", "number"]


def convert_responses_to_numbers(
    responses: pd.DataFrame,
    wordings: pd.DataFrame,
    conditions: pd.DataFrame,
    items: pd.DataFrame,
    first_labels: Mapping[str, str],
) -> pd.DataFrame:
    """Read every response as a number from 0 to 1: the share of the first answer, or the score on its scale.

    Parameters
    ----------
    responses, wordings, conditions
        `Run.responses`, `Run.wordings` and `Run.conditions`.
    items
        Table `transcript_items`: study, measure ("spread", "score", or empty where there is neither).
    first_labels
        Study -> the first of its canonical labels.

    Returns
    -------
    DataFrame
        study, model, condition, item, measure, number: the share *p(first) / (p(first) + p(second))*, or
        *(score - low) / (high - low)*; NaN without a valid answer.
    """
    parts = [pd.DataFrame(columns=_NUMBER)]
    for measure in (SPREAD, SCORE):
        studies = items.loc[items["measure"] == measure, "study"].unique()
        rows = responses[responses["study"].isin(studies)]
        if rows.empty:
            continue
        if measure == SPREAD:
            read = compute_agreement(rows, wordings, first_labels).rename(columns={"agreement": "number"})
        else:
            read = read_item_and_human_scores(rows, wordings, conditions)
            read = read.assign(number=(read["score"] - read["low"]) / (read["high"] - read["low"]))
        parts.append(read.assign(measure=measure)[_NUMBER])
    return pd.concat(parts[1:] or parts, ignore_index=True)


def average_spread_or_score_by_item(numbers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Average what every model and condition makes of an item: the spread of its answers, or their mean score.

    Parameters
    ----------
    numbers
        From `convert_responses_to_numbers`.
    items
        study, item: those that are wanted.

    Returns
    -------
    DataFrame
        study, item; transcript_value: mean over models and conditions of the highest minus the lowest number of two or
        more, or of the mean score; n_units: how many models and conditions have one.
    """
    groups = numbers.groupby([*UNIT, "item", "measure"], sort=False)["number"]
    units = groups.agg(lowest="min", highest="max", mean="mean", n="count").reset_index()
    spread = (units["highest"] - units["lowest"]).where(units["n"] > 1)
    units["value"] = np.where(units["measure"] == SPREAD, spread, units["mean"]).astype(float)
    of_items = units.groupby(["study", "item"])["value"]
    values = of_items.agg(transcript_value="mean", n_units="count").reset_index()
    return items[["study", "item"]].merge(values, how="left").fillna({"n_units": 0})
