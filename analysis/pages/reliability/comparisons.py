"""Compute the tables that compare models: differences beyond rewording, rankings, and how reliable these are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.pages.reliability import accuracies
from analysis.reporting import beyond
from analysis.reporting.reworded import Study, across_models
from analysis.reporting.rewordings import studies
from analysis.statistics.reliability.generalizability import absolute, relative, relative_interval
from analysis.statistics.reliability.ranking import ranking
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.runs import Runs

FEW = 3  # wordings, for comparison: as many as many studies ask
BOTH, ITEMS = "items and wordings", "items"  # what another study has anew
FIGURES = ("item", "wording", "item_wording", "model_item", "model_wording", "residual")


def beyond_rewording(runs: Runs, *, margin: float = 0.05) -> pd.DataFrame:
    """Test whether differences between models, or conditions of a model, are more than what rewording does.

    Compared are the models that answer, each under its first condition in run.json, and the conditions of each model.

    Parameters
    ----------
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
    return beyond.differences(studies(runs), margin)


def rankings(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Rank the models that answer, each under its first condition in run.json, by their means over common items.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, measure, headline, task (of accuracies without answers, else empty), model, condition; n_items,
        n_wordings: common ones; anew: what another study has anew, `BOTH` or `ITEMS`; mean; rank, rank_lower,
        rank_upper: with the interval that holds it in 95 % of other
        studies; first: probability to be first in another study (`reliability.ranking.ranking`). The highest mean
        is first.
    """
    rows = []
    for study in studies(runs):
        chosen = study.chosen()
        found = ranking(study.values[chosen], study.crossed, seed=seed) if len(chosen) > 1 else None
        if found is None:
            continue
        for place, unit in enumerate(chosen):
            rows.append({
                "study": study.name, "measure": study.measure, "headline": study.headline, "task": "",
                "model": study.units[unit][0], "condition": study.units[unit][1],
                "n_items": found.n_items, "n_wordings": found.n_wordings,
                "anew": _anew(study), "mean": found.mean[place],
                "rank": found.rank[place], "rank_lower": found.lower[place], "rank_upper": found.upper[place],
                "first": found.first[place],
            })  # fmt: skip
    rows.sort(key=lambda row: (row["study"], row["measure"], row["rank"]))
    return pd.DataFrame(rows + accuracies.ranks(runs, seed, BOTH))


def reliability(runs: Runs, *, seed: int = 0) -> pd.DataFrame:
    """Compute how reliable the ranking of the models is, with the variance components that it rests on.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
    seed
        Of the random draws.

    Returns
    -------
    DataFrame
        study, measure, headline, design, n_models, n_items, n_wordings: of each item; n_shared: as in
        `incidence.Incidence`; anew: as in `rankings`; the components models and `FIGURES`
        (`reliability.components.Across`); relative, relative_lower, relative_upper: coefficient of generalizability of
        the ranking; relative_few: with `FEW` wordings; absolute: of the means themselves; tau: expected Kendall tau
        with the ranking of another study.
    """
    rows = []
    for study in studies(runs):
        found = across_models(study)
        if found is None:
            continue
        low, high = relative_interval(found, seed)
        ranked = ranking(study.values[study.chosen()], study.crossed, seed=seed)
        size = found.n_items, found.n_wordings
        rows.append({
            "study": study.name, "measure": study.measure, "headline": study.headline, "design": study.design,
            "n_models": found.n_models, "n_items": found.n_items, "n_wordings": found.n_wordings,
            "n_shared": found.incidence.n_shared, "anew": _anew(study),
            "models": found.model, **{name: getattr(found, name) for name in FIGURES},
            "relative": relative(found, *size), "relative_lower": low, "relative_upper": high,
            "relative_few": np.nan if np.isnan(found.wording) else relative(found, found.n_items, FEW),
            "absolute": absolute(found, *size),
            "tau": ranked.tau if ranked else np.nan,
        })  # fmt: skip
    return pd.DataFrame(rows)


def _anew(study: Study) -> str:
    """Say what another study has anew: where all items share one wording, nothing is known of others."""
    return ITEMS if study.crossed and study.single else BOTH
