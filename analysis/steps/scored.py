"""Compute means, spreads over wordings and paired differences of scores step by step.

::

    scores = attach_measures_to_scores(run.responses(SCORE_COLUMNS), run.conditions())
    means = compute_means_and_spreads(scores)
    passes = compute_item_shares_by_wordings_passed(scores, thresholds)
    pairs = compare_scores_of_model_pairs(scores, scipy.stats.ttest_1samp)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.runs.folder import UNIT

ROW = list(UNIT)
PAIR = ["study", "a_model", "a_condition", "b_model", "b_condition"]
SCORE_COLUMNS = [*ROW, "item", "variant", "score"]  # columns of the responses that are read here
LEAST_ITEMS = 2  # of a pair, for a test


def attach_measures_to_scores(responses: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Read the scores with the measure, its range and the direction of their condition.

    Parameters
    ----------
    responses
        `Run.responses`: study, model, condition, item, variant, score.
    conditions
        `Run.conditions`: study, condition, measure, range, direction.

    Returns
    -------
    DataFrame
        study, model, condition, measure, range, direction, item, variant, score; without responses that have no score.
    """
    about = conditions.reindex(columns=["study", "condition", "measure", "range", "direction"])
    scores = responses[SCORE_COLUMNS].dropna(subset="score").merge(about, on=["study", "condition"], how="left")
    scores["score"] = scores["score"].astype(float)
    return scores


def compute_means_and_spreads(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute the mean over items of each item's mean, and of the SD (n - 1) over its wordings.

    `scores`: from `attach_measures_to_scores`.

    Returns
    -------
    DataFrame
        study, model, condition, mean; sd: over items with two scored wordings or more, NaN without one.
    """
    items = scores.groupby([*ROW, "item"], sort=False)["score"].agg(["mean", "std"])
    return items.groupby(ROW, sort=False).mean().rename(columns={"std": "sd"}).reset_index()


def compute_item_shares_by_wordings_passed(scores: pd.DataFrame, thresholds: pd.DataFrame) -> pd.DataFrame:
    """Compute the shares of items that pass a threshold in all, in some or in none of their wordings.

    Parameters
    ----------
    scores
        From `attach_measures_to_scores`.
    thresholds
        study, model, condition, threshold.

    Returns
    -------
    DataFrame
        study, model, condition, passed_all, passed_some, passed_none: of the items with two scored wordings or more.
    """
    rows = scores.merge(thresholds, on=ROW)
    is_low = rows["direction"] == "lower"
    rows["passes"] = np.where(is_low, rows["score"] <= rows["threshold"], rows["score"] >= rows["threshold"])
    items = rows.groupby([*ROW, "item"], sort=False)["passes"].agg(["mean", "size"])
    shares = items.loc[items["size"] > 1, "mean"]
    passed = pd.DataFrame(
        {"passed_all": shares == 1, "passed_some": (shares > 0) & (shares < 1), "passed_none": shares == 0}
    )
    return passed.groupby(ROW, sort=False).mean().reset_index()


def compare_scores_of_model_pairs(
    scores: pd.DataFrame, test: Callable[[npt.NDArray[np.float64], float], Any]
) -> pd.DataFrame:
    """Compare every two models by the same measure, on the wordings that both have, where it has a range.

    Without a range, the table's test heeds how skewed the differences are, too.

    Parameters
    ----------
    scores
        From `attach_measures_to_scores`.
    test
        `scipy.stats.ttest_1samp`: it gets the mean difference of every item, and 0, which it tests their mean against.

    Returns
    -------
    DataFrame
        study, a_model, a_condition, b_model, b_condition; difference: mean over items of their mean difference;
        p_items. Left out are pairs with one item, and those whose items all differ alike.
    """
    rows = []
    for (study, _), part in scores.groupby(["study", "measure"], sort=False):
        if part["range"].isna().any():
            continue
        wide = part.pivot_table(index=["item", "variant"], columns=["model", "condition"], values="score", sort=False)
        for a, b in combinations(wide.columns, 2):
            differences = (wide[a] - wide[b]).dropna().groupby(level="item", sort=False).mean().to_numpy(float)
            if len(differences) >= LEAST_ITEMS and np.ptp(differences) > 0:
                rows.append((study, *a, *b, differences.mean(), float(test(differences, 0).pvalue)))
    return pd.DataFrame(rows, columns=[*PAIR, "difference", "p_items"])


def select_rows_of_pairs(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of table `scored_differences` that are about some pairs, each as the table has it.

    Parameters
    ----------
    table
        study, a_model, a_condition, b_model, b_condition, difference, p_items.
    pairs
        From `compare_scores_of_model_pairs`.

    Returns
    -------
    DataFrame
        The columns of `pairs`.
    """
    columns = [*PAIR, "difference", "p_items"]
    return table.reindex(columns=columns).astype(dict.fromkeys(PAIR, object)).merge(pairs[PAIR], on=PAIR)


def keep_pairs_with_difference_interval(pairs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Keep the pairs that have an interval in table `scored_differences`.

    It compares models under their first condition. Where fewer than six items differ, p is no less than an exact one.

    Parameters
    ----------
    pairs
        From `compare_scores_of_model_pairs`: a row per pair.
    table
        Table `scored_differences` of the page.

    Returns
    -------
    DataFrame
        The rows of `pairs` that are in `table` with an interval.
    """
    compared = table.reindex(columns=[*PAIR, "lower"]).dropna(subset="lower")[PAIR]
    return pairs.merge(compared.astype(dict.fromkeys(PAIR, object)), on=PAIR)
