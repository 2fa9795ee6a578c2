"""Compare readings step by step: the numbers of one model, their variances over wordings, and how far sides agree.

::

    values = list_first_model_answers_by_reading(read_reading_groups(runs))
    spreads = compute_wording_sd_of_each_reading(values)
    sides = cross_tabulate_sides_of_half(values)
    theirs = compute_kappas_of_sides_of_half(sides, statsmodels.stats.inter_rater.cohens_kappa)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from analysis.measures.readings import ReadingGroup

UNIT = ["study", "model", "setting"]
ROW = [*UNIT, "reading"]
PAIR = [*UNIT, "reading_a", "reading_b"]


def list_first_model_answers_by_reading(groups: Sequence[ReadingGroup]) -> pd.DataFrame:
    """List the numbers of the first model whose answers have two readings or more, at the wordings that all have.

    `groups`: from `analysis.measures.readings.read_reading_groups`.

    Returns
    -------
    DataFrame
        study, model, setting, reading, item, wording (numbered within the item), value (0 to 1), noise: the variance
        that sampling gives it, 0 where nothing was sampled. Left out are readings with less than half of valid answers,
        and items with a single wording.
    """
    columns = [*ROW, "item", "wording", "value", "noise"]
    group = next((group for group in groups if len(group.list_mostly_valid_readings()) > 1), None)
    if group is None:
        return pd.DataFrame(columns=columns)
    item, wording = np.indices(group.values.shape[1:])
    parts = [
        pd.DataFrame({
            "study": group.study, "model": group.model, "setting": group.setting, "reading": group.kinds[place].name,
            "item": item.ravel(), "wording": wording.ravel(), "value": group.values[place].ravel(),
            "noise": group.noise[place, place].ravel(),
        })
        for place in group.list_mostly_valid_readings()
    ]  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    n_readings = rows.groupby(["item", "wording"])["value"].transform("count")
    rows = rows[n_readings == len(parts)]
    n_wordings = rows.groupby("item")["wording"].transform("nunique")
    return rows.loc[n_wordings > 1, columns].reset_index(drop=True)


def compute_wording_sd_of_each_reading(values: pd.DataFrame) -> pd.DataFrame:
    """Compute the SD over wordings of every reading, net of what sampling adds.

    `values`: from `list_first_model_answers_by_reading`.

    Returns
    -------
    DataFrame
        study, model, setting, reading; within: variance over wordings, pooled over items with the wordings minus one as
        weights; noise: mean variance that sampling gives, pooled alike; wording_sd: root of their difference.
    """
    rows = []
    for key, part in values.groupby(ROW, sort=False):
        by_item = part.groupby("item")
        freedom = by_item["value"].size() - 1
        within = (by_item["value"].var(ddof=1) * freedom).sum() / freedom.sum()
        noise_by_item = by_item["noise"].mean().fillna(part["noise"].mean())  # unknown in all wordings of an item
        noise = (noise_by_item * freedom).sum() / freedom.sum()
        rows.append((*key, within, noise, np.sqrt(max(within - noise, 0.0)) if not np.isnan(noise) else np.nan))
    return pd.DataFrame(rows, columns=[*ROW, "within", "noise", "wording_sd"])


def cross_tabulate_sides_of_half(values: pd.DataFrame) -> pd.DataFrame:
    """Count the wordings that two readings put on the sides of one half.

    `values`: from `list_first_model_answers_by_reading`.

    Returns
    -------
    DataFrame
        study, model, setting, reading_a, reading_b; both_upper, a_only, b_only, both_lower: wordings from one half on,
        by both readings, one of them, or none; same_side: share of the first and the last.
    """
    rows = []
    for key, part in values.groupby(UNIT, sort=False):
        sides = part.assign(upper=part["value"] >= 0.5).pivot(
            index=["item", "wording"], columns="reading", values="upper"
        )
        for a, b in combinations(dict.fromkeys(part["reading"]), 2):
            counts = [int((sides[a].eq(first) & sides[b].eq(second)).sum())
                      for first in (True, False) for second in (True, False)]  # fmt: skip
            rows.append((*key, a, b, *counts, (counts[0] + counts[3]) / sum(counts)))
    return pd.DataFrame(rows, columns=[*PAIR, "both_upper", "a_only", "b_only", "both_lower", "same_side"])


def compute_kappas_of_sides_of_half(sides: pd.DataFrame, cohens_kappa: Callable[..., Any]) -> pd.DataFrame:
    """Compute Cohen's kappa of the sides by the function of statsmodels.

    Parameters
    ----------
    sides
        From `cross_tabulate_sides_of_half`.
    cohens_kappa
        `statsmodels.stats.inter_rater.cohens_kappa`.

    Returns
    -------
    DataFrame
        study, model, setting, reading_a, reading_b, kappa; NaN where both readings have all wordings on the same side.
    """
    kappas = []
    for row in sides.to_dict("records"):
        counts = np.array([[row["both_upper"], row["a_only"]], [row["b_only"], row["both_lower"]]])
        with np.errstate(divide="ignore", invalid="ignore"):
            kappas.append(float(cohens_kappa(counts, return_results=False)))
    return sides[PAIR].assign(kappa=np.array(kappas, float))


def select_page_rows_that_steps_recompute(
    table: pd.DataFrame, numbers: pd.DataFrame, on: Sequence[str]
) -> pd.DataFrame:
    """Select the rows of a table of the page that the steps are about.

    Parameters
    ----------
    table
        `readings` or `reading_pairs`.
    numbers
        From the functions above.
    on
        Columns that name a row.

    Returns
    -------
    DataFrame
        These columns, and those that both have.
    """
    names = [*on, *(name for name in numbers if name in table and name not in on)]
    return table.reindex(columns=names).astype(dict.fromkeys(on, object)).merge(numbers[list(on)], on=list(on))
