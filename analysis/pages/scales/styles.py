"""Compute the tables about what moves answers: response styles, and changes of one thing alone beside the models."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.ratings import Ratings, read_ratings
from analysis.measures.ratings_styles import ACQUIESCENCE, iterate_model_response_styles
from analysis.measures.ratings_wordings import (
    compute_wording_margins_of_excess_over_models,
    measure_answer_distances_by_cause,
)
from analysis.measures.thresholds import is_validity_below_half
from analysis.runs import Runs
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.ordered import MIDDLE as HALF
from analysis.statistics.resampling import DRAWS, Array, Columns, average_columns_in_each_draw, bootstrap_intervals


def tabulate_response_styles(runs: Runs) -> pd.DataFrame:
    """Measure the response styles of every model.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), style, validity, n_items; value, against: the model's number, and what it
        is compared with; difference: value minus against; lower, upper: its 95 % interval for these wordings;
        like_lower, like_upper: for wordings like these; p: for wordings like these; p_holm: after Holm over all styles
        of the models of a study that answer.
    """
    rows = []
    for ratings in read_ratings(runs):
        validity = {
            unit: ratings.average_validity_over_units(places)
            for unit, places in ratings.list_unit_places_by_model_and_setting()
        }
        for style in iterate_model_response_styles(ratings):
            is_silent = is_validity_below_half(validity[style.unit])
            most = HALF if style.style == ACQUIESCENCE else 1.0  # intervals by t may pass what a difference can be
            (low, high), (like_low, like_high) = np.clip([style.ends, style.like_ends], -most, most)
            rows.append({
                "study": ratings.name, "model": style.unit[0], "condition": style.unit[1], "style": style.style,
                "validity": validity[style.unit], "n_items": style.n_items, "value": style.value,
                "against": style.against, "difference": style.value - style.against, "lower": low,
                "upper": high, "like_lower": like_low, "like_upper": like_high,
                "p": np.nan if is_silent else style.p,
            })  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.assign(p_holm=correct_families_by_holm(frame, ["study"])) if rows else frame


def tabulate_answer_distances_by_differing_factor(runs: Runs, *, resamples: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Measure how far two answers to an item are apart that differ in one thing alone, beside those of two models.

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
        study, change; n_pairs: pairs of conditions or models, or of the wordings those that have several; n_items;
        apart, apart_lower, apart_upper: mean over items of the mean absolute difference of s, of the answers that have
        another model beside them, or of all where none has; models: how far these are from it, on average; difference:
        apart minus models; lower, upper: over items, and over wordings where items share them; no_interval. Models and
        difference are NaN for the row on models, and where no answer has another model beside it.
    """
    parts = [_tabulate_answer_distances_by_cause(ratings, resamples, seed) for ratings in read_ratings(runs)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _tabulate_answer_distances_by_cause(ratings: Ratings, resamples: int, seed: int) -> pd.DataFrame:
    """Measure the changes of one study."""
    changes = measure_answer_distances_by_cause(ratings)
    if not changes:
        return pd.DataFrame()
    apart = np.stack([change.apart for change in changes.values()], axis=1)
    models = np.stack([change.models for change in changes.values()], axis=1)
    alone = bootstrap_intervals({"apart": apart}, average_columns_in_each_draw, draws=resamples, seed=seed)["apart"]
    rows = pd.DataFrame({
        "study": ratings.name, "change": list(changes), "n_pairs": [change.n_pairs for change in changes.values()],
        "n_items": alone.n_items, "apart": alone.estimate, "apart_lower": alone.lower, "apart_upper": alone.upper,
        "models": np.nan, "difference": np.nan, "lower": np.nan, "upper": np.nan, "no_interval": alone.missing,
    })  # fmt: skip
    compared = np.flatnonzero(~np.isnan(models).all(axis=0))
    if len(compared):
        intervals = bootstrap_intervals(
            {"apart": apart[:, compared], "models": models[:, compared]}, _average_distances_in_each_draw,
            draws=resamples,
            seed=seed,
        )  # fmt: skip
        difference = intervals["difference"]
        limits = compute_wording_margins_of_excess_over_models(ratings, list(changes))
        of_wordings = np.array([limits[list(changes)[place]] for place in compared])
        rows.loc[compared, ["models", "difference", "lower", "upper"]] = np.stack(
            [intervals["models"].estimate, difference.estimate,
             difference.estimate - np.hypot(difference.estimate - difference.lower, of_wordings),
             difference.estimate + np.hypot(difference.upper - difference.estimate, of_wordings)], axis=1
        )  # fmt: skip
    return rows


def _average_distances_in_each_draw(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Average over the items of each draw how far answers are apart, how far from other models, and the difference."""
    means = average_columns_in_each_draw(columns, draw_counts)
    return {**means, "difference": means["apart"] - means["models"]}
