"""Compute the tables about scales: scores with both intervals, by condition and by persona, and paired differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.ratings import (
    Ratings,
    average_known_over_first_axis,
    group_units_by_columns,
    read_ratings,
)
from analysis.measures.ratings_rows import PERSONA, SHOWN
from analysis.measures.reworded import Study
from analysis.measures.reworded.ratings import build_study_of_scale_items, build_study_of_unit_groups
from analysis.reporting.words.beyond import tabulate_pair_difference_tests
from analysis.runs import Runs
from analysis.statistics.multiplicity import correct_families_by_holm
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.significance import ROUNDING
from analysis.statistics.spread import compute_standard_deviations

Groups = dict[tuple[str, str], npt.NDArray[np.intp]]


def tabulate_scales_scores(runs: Runs) -> pd.DataFrame:
    """Compute where every model stands on every scale, over all ways in which the options were shown.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), scale, validity; n_items, n_reversed, n_wordings, n_conditions; score:
        mean over items of s after reversing, averaged over wordings and conditions; score_lower, score_upper: 95 %
        interval for these wordings; like_lower, like_upper and the standard error `error`: for wordings like these.
    """
    rows = []
    for ratings in read_ratings(runs):
        groups = dict(ratings.list_unit_places_by_model_and_setting())
        for scale, study in _iterate_scales_with_unit_group_scores(ratings, groups):
            n_reversed = int((ratings.mark_scale_items(scale) & (ratings.item_keying_signs < 0)).sum())
            for unit, (model, condition) in enumerate(study.units):
                rows.append({
                    "study": ratings.name, "model": model, "condition": condition, "scale": scale,
                    "validity": study.validity[unit], "n_reversed": n_reversed,
                    "n_conditions": len(groups[model, condition]), **_estimate_scale_score_of_unit(study, unit),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _iterate_scales_with_unit_group_scores(ratings: Ratings, groups: Groups) -> Iterator[tuple[str, Study]]:
    """Yield every scale with the scores of some groups of units on it."""
    study = build_study_of_unit_groups(ratings, groups)
    for scale in ratings.scales:
        yield scale, build_study_of_scale_items(study, ratings, scale, scale)


def _estimate_scale_score_of_unit(study: Study, unit: int) -> dict[str, Any]:
    """Return the columns about the score of a unit."""
    panel = study.estimate_mean_and_components(unit)
    low, high = panel.compute_interval("items")
    like_low, like_high = panel.compute_interval("both")
    return {
        "n_items": panel.n_items, "n_wordings": panel.n_wordings, "score": panel.mean, "score_lower": low,
        "score_upper": high, "like_lower": like_low, "like_upper": like_high,
        "error": panel.compute_standard_error("both"),
    }  # fmt: skip


def tabulate_scale_scores_by_condition(runs: Runs) -> pd.DataFrame:
    """Compute the score of every model on every scale in each way in which the options were shown.

    Returns
    -------
    DataFrame
        study, model, condition (without its persona), labels, option_order, without_middle, scale, validity; n_items,
        n_wordings, score, score_lower, score_upper, like_lower, like_upper, error: as in `tabulate_scales_scores`.
    """
    rows = []
    for ratings in read_ratings(runs):
        groups = dict(group_units_by_columns(ratings.units, ["model", "presentation"]))
        presentations = [ratings.units.iloc[places[0]][list(SHOWN)].to_dict() for places in groups.values()]
        for scale, study in _iterate_scales_with_unit_group_scores(ratings, groups):
            rows += [
                {"study": ratings.name, "model": model, "condition": condition, **presentations[unit], "scale": scale,
                 "validity": study.validity[unit], **_estimate_scale_score_of_unit(study, unit)}
                for unit, (model, condition) in enumerate(study.units)
            ]  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_scale_scores_by_persona(runs: Runs) -> pd.DataFrame:
    """Compute the score of every model on every scale as each persona.

    There may be hundreds of personas: all are computed at once, and for these wordings only.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), persona, scale, validity; n_items, score; score_lower, score_upper: 95 %
        interval over items, by t, cut at 0 and 1; difference: score minus the mean over the personas of the model. No
        rows without personas.
    """
    parts = []
    for ratings in read_ratings(runs):
        groups = [
            (key, places)
            for key, places in group_units_by_columns(ratings.units, ["model", "setting", PERSONA])
            if key[2] is not None
        ]
        if not groups:
            continue
        scores = ratings.keyed_scores
        means_of_groups = [average_known_over_first_axis(scores[places]) for _, places in groups]
        items = np.stack([average_known_over_first_axis(np.moveaxis(means, 1, 0)) for means in means_of_groups])
        names = pd.DataFrame([key for key, _ in groups], columns=["model", "condition", PERSONA])
        names = names.assign(validity=[ratings.average_validity_over_units(places) for _, places in groups])
        for scale in ratings.scales:
            columns = _estimate_means_with_t_intervals(items[:, ratings.mark_scale_items(scale)])
            parts.append(names.assign(study=ratings.name, scale=scale, **columns))
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    means = table.groupby(["study", "model", "condition", "scale"])["score"].transform("mean")
    return table.assign(difference=table["score"] - means)


def _estimate_means_with_t_intervals(values: Array) -> dict[str, npt.NDArray[Any]]:
    """Estimate the mean of every row with its t interval, cut at 0 and 1; NaN below two values or for equal ones."""
    from scipy.special import stdtrit

    n = (~np.isnan(values)).sum(axis=1)
    means = average_known_over_first_axis(values.T)
    at_least_two = np.where(n > 1, n, np.nan)
    half = stdtrit(at_least_two - 1, (1 + LEVEL) / 2) * compute_standard_deviations(values) / np.sqrt(at_least_two)
    half = np.where(half > ROUNDING, half, np.nan)
    return {
        "n_items": n, "score": means, "score_lower": np.maximum(means - half, 0),
        "score_upper": np.minimum(means + half, 1),
    }  # fmt: skip


def tabulate_scale_score_differences_of_pairs(runs: Runs) -> pd.DataFrame:
    """Test the differences between models, and between settings of a model, on every scale.

    Returns
    -------
    DataFrame
        study, scale, a_model, a_condition, b_model, b_condition; n_items, n_wordings: common ones; difference: a minus
        b; lower, upper: interval for these wordings; like_lower, like_upper: for wordings like these; p_items, p: p
        values for either; p_holm: that for wordings like these after Holm over all pairs and scales of a study.
    """
    parts = []
    for ratings in read_ratings(runs):
        settings = dict(ratings.list_unit_places_by_model_and_setting())
        studies = [study for _, study in _iterate_scales_with_unit_group_scores(ratings, settings)]
        pairs = tabulate_pair_difference_tests(studies)
        if len(pairs):
            pairs = pairs.assign(p_holm=correct_families_by_holm(pairs, ["study"]))  # a sentence counts all of them
            parts.append(pairs.rename(columns={"measure": "scale"}).drop(columns="headline"))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
