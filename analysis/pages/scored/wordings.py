"""Compute the tables about single wordings: their means where items share them, and the items that they part most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.reworded.scored import Scored, list_scored_per_study_and_measure
from analysis.measures.thresholds import refuse_too_few_examples
from analysis.runs import Runs
from analysis.statistics.spread import compute_ranges

EXAMPLES = ["study", "model", "condition", "measure", "item", "difference", "best", "best_text", "worst", "worst_text"]


def tabulate_mean_scores_by_wording(runs: Runs) -> pd.DataFrame:
    """Compute the mean score in every wording that all items share, the best wording of every model first.

    Returns
    -------
    DataFrame
        study, model, condition, measure, wording; n_items: with a score in it; mean, mean_lower, mean_upper: in the
        unit of the measure. No rows for studies whose items have their own wordings, or one.
    """
    rows = []
    for scored in list_scored_per_study_and_measure(runs):
        study = scored.study
        if not study.crossed or study.has_single_wording:
            continue
        for unit, (model, condition) in enumerate(study.units):
            unit_rows = []
            for place, wording in enumerate(study.wordings):
                panel = study.estimate_mean_and_components_of_answers(study.values[unit][:, [place]])
                low, high = panel.compute_interval("items")
                unit_rows.append({
                    "study": study.name, "model": model, "condition": condition, "measure": study.measure,
                    "wording": wording, "n_items": panel.n_items, "mean": scored.low + scored.width * panel.mean,
                    "mean_lower": scored.low + scored.width * low, "mean_upper": scored.low + scored.width * high,
                })  # fmt: skip
            sign = 1 if study.lower_is_better else -1
            rows += sorted(unit_rows, key=lambda row, sign=sign: (np.isnan(row["mean"]), sign * row["mean"]))  # type: ignore[misc]
    return pd.DataFrame(rows)


def tabulate_best_and_worst_wording_examples(runs: Runs, *, examples: int = 3) -> pd.DataFrame:
    """List the items whose best and worst wording are furthest apart, with both texts.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    examples
        Items of every model and measure.

    Returns
    -------
    DataFrame
        study, model, condition, measure, item; difference: between best and worst, above 0; best, best_text, worst,
        worst_text: score and wording.

    Raises
    ------
    InputError
        For a number of examples below 1.
    """
    refuse_too_few_examples(examples)
    parts = [_tabulate_items_of_widest_spread(scored, examples) for scored in list_scored_per_study_and_measure(runs)]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if rows.empty:
        return pd.DataFrame()
    texts = runs.sql(
        "SELECT study, item, variant, text FROM stimuli WHERE item IN (SELECT unnest(?))",
        [rows["item"].unique().tolist()],
    )
    for side in ("best", "worst"):
        of_side = texts.rename(columns={"variant": f"{side}_variant", "text": f"{side}_text"})
        rows = rows.merge(of_side, how="left", on=["study", "item", f"{side}_variant"])
    return rows[EXAMPLES]


def _tabulate_items_of_widest_spread(scored: Scored, examples: int) -> pd.DataFrame:
    """Find the items of every unit whose wordings are furthest apart, with the variants of both ends."""
    variants = scored.variants.set_index(["item_code", "wording_code"])
    turned = scored.study.orient_values_so_higher_is_better(scored.scores)
    rows = []
    for (model, condition), scores, ranked in zip(scored.study.units, scored.scores, turned, strict=True):
        ranges = np.nan_to_num(compute_ranges(scores))
        order = np.argsort(-ranges, kind="stable")[:examples]
        for item in order[ranges[order] > 0]:
            best, worst = int(np.nanargmax(ranked[item])), int(np.nanargmin(ranked[item]))
            rows.append({
                "study": scored.study.name, "model": model, "condition": condition, "measure": scored.study.measure,
                "item": variants.at[(item, best), "item"], "difference": ranges[item], "best": scores[item, best],
                "best_variant": variants.at[(item, best), "variant"], "worst": scores[item, worst],
                "worst_variant": variants.at[(item, worst), "variant"],
            })  # fmt: skip
    return pd.DataFrame(rows)
