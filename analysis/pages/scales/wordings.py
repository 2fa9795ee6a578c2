"""Compute the tables about items and their wordings: distributions of answers, and what wordings do to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.ratings import Ratings, average_known_over_first_axis, read_ratings
from analysis.measures.ratings_styles import CUT, LABELS, ORDER, average_model_scores_shown_in_two_ways
from analysis.measures.ratings_wordings import (
    average_answer_figures_per_setting,
    average_values_over_conditions_of_settings,
    measure_wording_effects_per_setting_and_item,
)
from analysis.measures.thresholds import refuse_too_few_examples
from analysis.runs import Runs
from analysis.statistics import interval
from analysis.statistics.resampling import DRAWS, Array, average_columns_in_each_draw, bootstrap_intervals
from analysis.statistics.spread import compute_ranges

SPREADS = ("sd", "range", "apart", "side_flips", "in_middle", "mode_flips")


def tabulate_answer_spread_over_wordings(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Compute what the wordings of an item do to its answer, and what single answers look like.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    resamples
        Bootstrap samples of the items.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), validity, validity_at_most (NaN where the validity is exact);
        n_conditions: of the setting; n_items, n_wordings: items with
        two wordings or more, and most wordings of one; sd, range, apart, side_flips, in_middle, mode_flips: means over
        these items, with X_lower, X_upper over items; entropy, ends, middle: means over all items; no_interval.
    """
    parts = [_tabulate_spread_of_settings(ratings, resamples, seed) for ratings in read_ratings(runs)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _tabulate_spread_of_settings(ratings: Ratings, resamples: int, seed: int) -> pd.DataFrame:
    """Compute the spread of every setting of a study."""
    effects = measure_wording_effects_per_setting_and_item(ratings)
    settings = ratings.list_unit_places_by_model_and_setting()
    names = [{"study": ratings.name, "model": model, "condition": setting} for (model, setting), _ in settings]
    # An item whose wordings all lack a mode has no share of mode flips: each figure is over the items that have it.
    intervals: dict[str, interval.Interval] = {}
    for name in SPREADS:
        columns = {name: effects[name].T}
        intervals |= bootstrap_intervals(columns, average_columns_in_each_draw, draws=resamples, seed=seed)
    n_wordings = (~np.isnan(ratings.scores)).sum(axis=2).max(axis=1)
    looks = {name: values for name, values in average_answer_figures_per_setting(ratings).items() if name != "shares"}
    return pd.DataFrame(names).assign(
        validity=[ratings.average_validity_over_units(places) for _, places in settings],
        validity_at_most=[ratings.average_validity_upper_bound_over_units(places) for _, places in settings],
        n_conditions=[len(places) for _, places in settings],
        n_items=(~np.isnan(effects["sd"])).sum(axis=1),
        n_wordings=[int(n_wordings[places].max()) for _, places in settings],
        **interval.build_interval_columns(intervals),
        **{name: [_compute_mean_of_items_with_value(row) for row in values] for name, values in looks.items()},
    )


def _compute_mean_of_items_with_value(values: Array) -> float:
    """Average over the items that have a value; NaN without one."""
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


def tabulate_answer_distributions_of_items(runs: Runs) -> pd.DataFrame:
    """Compute the distribution of the answers to every item, and what its wordings do to them.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), item, scale, key, text, options (labels, joined), validity; n_wordings:
        with an answer; score: mean s before reversing; share_1 ... share_K: mean shares of the options, the lowest
        first; sd, range, apart, side_flips, in_middle, mode_flips: over its wordings; order_effect: s shown rising
        minus s shown falling; label_effect_A_B: s by labels A minus s by B; middle_effect: s without the middle minus s
        with it; each NaN where no conditions tell.
    """
    parts = [_tabulate_answer_distributions_of_one_study(ratings) for ratings in read_ratings(runs)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _tabulate_answer_distributions_of_one_study(ratings: Ratings) -> pd.DataFrame:
    """Compute the rows of one study, model by model."""
    settings, items = ratings.list_unit_places_by_model_and_setting(), ratings.items
    shares = average_answer_figures_per_setting(ratings)["shares"]
    effects = measure_wording_effects_per_setting_and_item(ratings)
    in_wordings = average_values_over_conditions_of_settings(ratings, ratings.scores)
    scores = average_known_over_first_axis(np.moveaxis(in_wordings, 2, 0))
    n_wordings = (~np.isnan(in_wordings)).sum(axis=2)
    sizes = np.array([len(options) for options in items["options"]])
    parts = []
    for place, ((model, setting), places) in enumerate(settings):
        columns = {
            f"share_{rank}": np.where(sizes >= rank, shares[place, :, rank - 1], np.nan)
            for rank in range(1, shares.shape[-1] + 1)
        }
        parts.append(pd.DataFrame({
            "study": ratings.name, "model": model, "condition": setting, "item": items["item"],
            "scale": items["scale"], "key": items["key"], "text": items["text"],
            "options": ["; ".join(options) for options in items["options"]],
            "validity": ratings.average_validity_over_units(places), "n_wordings": n_wordings[place],
            "score": scores[place], **columns, **{name: effects[name][place] for name in SPREADS},
            "order_effect": np.nan, "middle_effect": np.nan, **_measure_display_effects_on_items(ratings, places),
        }))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _measure_display_effects_on_items(ratings: Ratings, places: npt.NDArray[np.intp]) -> dict[str, Array]:
    """Measure what the way in which the options are shown does to every item, by the column of table `scales_items`."""
    names = {ORDER: "order_effect", CUT: "middle_effect"}
    return {
        names.get(style)
        or style.replace(f"{LABELS} ", "label_effect_").replace("-", "_"): average_known_over_first_axis(
            (value - against).T
        )
        for style, (value, against) in average_model_scores_shown_in_two_ways(ratings, places).items()
    }


def tabulate_items_with_furthest_wordings(runs: Runs, *, examples: int = 3) -> pd.DataFrame:
    """List the items whose highest and lowest wording are furthest apart, with both texts.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    examples
        Items of every model.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), item; difference: between the highest and the lowest s before reversing,
        above 0; highest, highest_text, lowest, lowest_text: s, averaged over conditions, and wording.

    Raises
    ------
    InputError
        For a number of examples below 1.
    """
    refuse_too_few_examples(examples)
    parts = [pd.DataFrame(_list_items_of_widest_spread(ratings, examples)) for ratings in read_ratings(runs)]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    if rows.empty:
        return rows
    texts = runs.sql("SELECT study, item, variant, text FROM stimuli")
    for side in ("highest", "lowest"):
        of_side = texts.rename(columns={"variant": f"{side}_variant", "text": f"{side}_text"})
        rows = rows.merge(of_side, how="left", on=["study", "item", f"{side}_variant"])
    return rows.drop(columns=["highest_variant", "lowest_variant"])


def _list_items_of_widest_spread(ratings: Ratings, examples: int) -> list[dict[str, Any]]:
    """List the items of every setting whose wordings are furthest apart, with the variants of both ends."""
    variants = ratings.variants.drop_duplicates(["item_code", "wording_code"])
    names = variants.set_index(["item_code", "wording_code"])["variant"]
    rows = []
    averages = average_values_over_conditions_of_settings(ratings, ratings.scores)
    for ((model, setting), _), scores in zip(ratings.list_unit_places_by_model_and_setting(), averages, strict=True):
        ranges = np.nan_to_num(compute_ranges(scores))
        order = np.argsort(-ranges, kind="stable")[:examples]
        for item in order[ranges[order] > 0]:
            highest, lowest = int(np.nanargmax(scores[item])), int(np.nanargmin(scores[item]))
            rows.append({
                "study": ratings.name, "model": model, "condition": setting, "item": ratings.items["item"].iloc[item],
                "difference": ranges[item], "highest": scores[item, highest], "highest_variant": names[item, highest],
                "lowest": scores[item, lowest], "lowest_variant": names[item, lowest],
            })  # fmt: skip
    return rows
