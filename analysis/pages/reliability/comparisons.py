"""Compute the tables that compare models: differences beyond rewording, rankings, and how reliable these are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.measures.reworded import Study, estimate_components_across_models
from analysis.pages.reliability import accuracies
from analysis.pages.reliability.columns import BOTH, ITEMS
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.words import beyond
from analysis.runs import Runs
from analysis.statistics.reliability.generalizability import (
    compute_absolute_coefficient,
    compute_relative_coefficient,
    compute_relative_coefficient_interval,
)
from analysis.statistics.reliability.ranking import rank_models
from ground.errors import InputError

FEW = 3  # wordings, for comparison: as many as many studies ask
COMPONENTS = ("item", "wording", "item_wording", "model_item", "model_wording", "residual")


def tabulate_differences_beyond_rewording(runs: Runs, *, margin: float = 0.05) -> pd.DataFrame:
    """Test whether differences between models, or conditions of a model, are more than what rewording does.

    Compared are the models that answer, each under its first condition in run.json, and the conditions of each model.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    margin
        Difference that is small enough to count as none, in the unit of the measure.

    Returns
    -------
    DataFrame
        study, measure, headline, a_model, a_condition, b_model, b_condition; n_items, n_wordings: common ones;
        difference: a minus b; lower, upper: 95 % interval for these wordings; like_lower, like_upper: for wordings like
        these; p_items: p value for these wordings; p: for wordings like these; p_holm: p after Holm over the pairs of a
        study and measure; same_wordings, same_items, same_both: probability that another study finds the same sign,
        with other wordings, other items, or both; p_equivalent: p value of two one-sided tests that the difference is
        within the margin, for wordings like these; margin.

    Raises
    ------
    InputError
        For a margin that is not above 0.
    """
    if not margin > 0:
        raise InputError(f"margin = {margin}: give a difference above 0, in the unit of the measure, such as 0.05")
    return beyond.tabulate_pair_difference_tests(read_reworded_studies(runs), margin)


def tabulate_model_ranking(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Rank the models that answer, each under its first condition in run.json, by their means over common items.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, measure, headline, task (of accuracies without answers, else empty), model, condition; n_items,
        n_wordings: common ones; anew: what another study has anew, `BOTH` or `ITEMS`; mean; rank, rank_lower,
        rank_upper: with the interval that holds it in 95 % of other
        studies; first: probability to be first in another study (`reliability.ranking.rank_models`). The highest mean
        is first, or the lowest where lower is better.
    """
    rows = []
    for study in read_reworded_studies(runs):
        chosen_units = study.list_first_units_of_answering_models()
        study_ranking = (
            rank_models(study.orient_values_so_higher_is_better(study.values[chosen_units]), study.crossed, seed=seed)
            if len(chosen_units) > 1
            else None
        )
        if study_ranking is None:
            continue
        means = study.orient_values_so_higher_is_better(study_ranking.mean)
        for place, unit in enumerate(chosen_units):
            rows.append({
                "study": study.name, "measure": study.measure, "headline": study.headline, "task": "",
                "model": study.units[unit][0], "condition": study.units[unit][1],
                "n_items": study_ranking.n_items, "n_wordings": study_ranking.n_wordings,
                "anew": _name_factors_redrawn_in_another_study(study), "mean": means[place],
                "rank": study_ranking.rank[place], "rank_lower": study_ranking.lower[place],
                "rank_upper": study_ranking.upper[place],
                "first": study_ranking.first[place],
            })  # fmt: skip
    rows.sort(key=lambda row: (row["study"], row["measure"], row["rank"]))
    return pd.DataFrame(rows + accuracies.list_rank_rows_from_accuracies(runs, seed))


def tabulate_ranking_reliability(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute how reliable the ranking of the models is, with the variance components that it rests on.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, measure, headline, design, n_models, n_items, n_wordings: of each item; n_shared: as in
        `incidence.Incidence`; anew: as in `tabulate_model_ranking`; the components models and `COMPONENTS`
        (`reliability.components.ModelComponents`); relative, relative_lower, relative_upper: coefficient of
        generalizability of the ranking; relative_few: with `FEW` wordings; absolute: of the means themselves; tau:
        expected Kendall tau with the ranking of another study.
    """
    rows = []
    for study in read_reworded_studies(runs):
        components = estimate_components_across_models(study)
        if components is None:
            continue
        low, high = compute_relative_coefficient_interval(components, seed)
        study_ranking = rank_models(
            study.values[study.list_first_units_of_answering_models()], study.crossed, seed=seed
        )
        size = components.n_items, components.n_wordings
        rows.append({
            "study": study.name, "measure": study.measure, "headline": study.headline, "design": study.design,
            "n_models": components.n_models, "n_items": components.n_items, "n_wordings": components.n_wordings,
            "n_shared": components.incidence.n_shared, "anew": _name_factors_redrawn_in_another_study(study),
            "models": components.model, **{name: getattr(components, name) for name in COMPONENTS},
            "relative": compute_relative_coefficient(components, *size), "relative_lower": low, "relative_upper": high,
            "relative_few": np.nan if np.isnan(components.wording)
            else compute_relative_coefficient(components, components.n_items, FEW),
            "absolute": compute_absolute_coefficient(components, *size),
            "tau": study_ranking.tau if study_ranking else np.nan,
        })  # fmt: skip
    return pd.DataFrame(rows)


def _name_factors_redrawn_in_another_study(study: Study) -> str:
    """Say what another study has anew: where all items share one wording, nothing is known of others."""
    return ITEMS if study.crossed and study.has_single_wording else BOTH
