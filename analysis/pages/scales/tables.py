"""Compute the tables about scales: scores with both intervals, by condition and by persona, and paired differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.measures.ratings import Ratings, list_groups, read_ratings
from analysis.measures.ratings_rows import PERSONA, SHOWN
from analysis.measures.reworded import Study
from analysis.measures.reworded.ratings import build_settings_study, select_scale
from analysis.reporting.words.beyond import compare_model_pairs

if TYPE_CHECKING:
    from analysis.runs import Runs

Groups = dict[tuple[str, str], npt.NDArray[np.intp]]


def tabulate_scales_scores(runs: Runs) -> pd.DataFrame:
    """Compute where every model stands on every scale, over all ways in which the options were shown.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), scale, validity; n_items, n_reversed, n_wordings, n_conditions; score:
        mean over items of s after reversing, averaged over wordings and conditions; score_lower, score_upper: 95 %
        interval for these wordings; like_lower, like_upper: for wordings like these; error: its standard error.
    """
    rows = []
    for ratings in read_ratings(runs):
        groups = dict(ratings.list_settings())
        for scale, study in _build_scale_studies(ratings, groups):
            n_reversed = int((ratings.mark_scale_items(scale) & (ratings.keys < 0)).sum())
            for unit, (model, condition) in enumerate(study.units):
                rows.append({
                    "study": ratings.name, "model": model, "condition": condition, "scale": scale,
                    "validity": study.validity[unit], "n_reversed": n_reversed,
                    "n_conditions": len(groups[model, condition]), **_estimate_score(study, unit),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _build_scale_studies(ratings: Ratings, groups: Groups) -> Iterator[tuple[str, Study]]:
    """Yield every scale with the scores of some groups of units on it."""
    study = build_settings_study(ratings, groups)
    for scale in ratings.scales:
        yield scale, select_scale(study, ratings, scale, scale)


def _estimate_score(study: Study, unit: int) -> dict[str, Any]:
    """Return the columns about the score of a unit."""
    panel = study.estimate_mean_and_components(unit)
    low, high = study.cut_at_bounds(panel.compute_interval("items"))
    like_low, like_high = study.cut_at_bounds(panel.compute_interval("both"))
    return {
        "n_items": panel.n_items, "n_wordings": panel.n_wordings, "score": panel.mean, "score_lower": low,
        "score_upper": high, "like_lower": like_low, "like_upper": like_high,
        "error": panel.compute_standard_error("both"),
    }  # fmt: skip


def tabulate_scales_conditions(runs: Runs) -> pd.DataFrame:
    """Compute the score of every model on every scale in each way in which the options were shown.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition (without its persona), labels, option_order, without_middle, scale, validity; n_items,
        n_wordings, score, score_lower, score_upper, like_lower, like_upper, error: as in `tabulate_scales_scores`.
    """
    return _tabulate_scores_of_units(runs, ["model", "presentation"], list(SHOWN))


def tabulate_scales_personas(runs: Runs) -> pd.DataFrame:
    """Compute the score of every model on every scale as each persona.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), persona, scale, validity; n_items, n_wordings, score, score_lower,
        score_upper, like_lower, like_upper, error; difference: score minus the mean over the personas of the model. No
        rows without personas.
    """
    table = _tabulate_scores_of_units(runs, ["model", "setting", PERSONA], [PERSONA])
    if table.empty or table[PERSONA].isna().all():
        return pd.DataFrame()
    table = table[table[PERSONA].notna()].reset_index(drop=True)
    means = table.groupby(["study", "model", "condition", "scale"])["score"].transform("mean")
    return table.assign(difference=table["score"] - means)


def _tabulate_scores_of_units(runs: Runs, group_columns: list[str], shown_columns: list[str]) -> pd.DataFrame:
    """Compute the scores of groups of units that share some columns; the second of these is the condition."""
    rows = []
    for ratings in read_ratings(runs):
        groups = list_groups(ratings.units, group_columns)
        firsts = ratings.units.iloc[[places[0] for _, places in groups]][shown_columns].to_dict("records")
        named = {(str(number), str(key[1])): places for number, (key, places) in enumerate(groups)}
        for scale, study in _build_scale_studies(ratings, named):
            for unit, ((key, _), shown) in enumerate(zip(groups, firsts, strict=True)):
                rows.append({
                    "study": ratings.name, "model": key[0], "condition": key[1], **shown, "scale": scale,
                    "validity": study.validity[unit], **_estimate_score(study, unit),
                })  # fmt: skip
    return pd.DataFrame(rows)


def tabulate_scales_differences(runs: Runs) -> pd.DataFrame:
    """Test the differences between models, and between settings of a model, on every scale.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.

    Returns
    -------
    DataFrame
        study, scale, a_model, a_condition, b_model, b_condition; n_items, n_wordings: common ones; difference: a minus
        b; lower, upper: interval for these wordings; like_lower, like_upper: for wordings like these; p_items, p: p
        values for either; p_holm: that for wordings like these after Holm over the pairs of a study and scale.
    """
    parts = []
    for ratings in read_ratings(runs):
        studies = [study for _, study in _build_scale_studies(ratings, dict(ratings.list_settings()))]
        pairs = compare_model_pairs(studies)
        if len(pairs):
            parts.append(pairs.rename(columns={"measure": "scale"}).drop(columns="headline"))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
