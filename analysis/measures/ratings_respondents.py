"""Say how consistent the scales of protocol `scale` are: over models, over the personas of a model, and over people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.measures.ratings import Ratings, average_units, list_groups, read_ratings, reverse_scores
from analysis.measures.ratings_people import read_people_of_runs
from analysis.measures.ratings_rows import PERSONA
from analysis.statistics.ratings.consistency import LISTWISE, PAIRWISE, compute_alpha, compute_omega
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    from analysis.runs import Runs

PEOPLE, MODELS, PERSONAS = "people", "models", "personas"  # who respondents are


def tabulate_respondents(runs: Runs, *, people: str = "") -> pd.DataFrame:
    """Compute how consistent every scale is: over models, over the personas of a model, and over people.

    Parameters
    ----------
    runs, people
        As of `tabulate_people`; people who are known as shares only are no respondents.

    Returns
    -------
    DataFrame
        study, respondents ("people", "models", "personas"), model (whose personas), condition, scale; n_items,
        n_respondents; alpha, alpha_lower, alpha_upper: pairwise, with Feldt's interval; omega: pairwise; n_listwise,
        alpha_listwise: of respondents who answered all items; why_not: why there is no alpha or omega.
    """
    rows: list[dict[str, Any]] = []
    for ratings in read_ratings(runs):
        for names, answers in _list_respondents(ratings):
            rows += _describe_scales(ratings, names, answers)
        answered = read_people_of_runs(runs, people).by_study.get(ratings.name) if people else None
        if answered is not None and answered.ranks is not None:
            keyed = reverse_scores(answered.ranks / (answered.n_options - 1), ratings.keys)
            rows += _describe_scales(ratings, {"respondents": PEOPLE, "model": None, "condition": None}, keyed)
    return pd.DataFrame(rows)


def _list_respondents(ratings: Ratings) -> Iterator[tuple[dict[str, str | None], Array]]:
    """Yield who answers, with s after reversing: (respondents, items), over models, then over personas of a model."""
    by_unit = np.stack([average_units(scores.T) for scores in ratings.keyed_scores])
    units = ratings.units
    for (setting,), places in list_groups(units, ["setting"]):
        models = [average_units(by_unit[places[inside]]) for _, inside in list_groups(units.iloc[places], ["model"])]
        yield {"respondents": MODELS, "model": None, "condition": setting}, np.stack(models)
    for (model, setting), places in ratings.list_settings():
        asked = places[units[PERSONA].iloc[places].notna()]
        if len(asked):
            answers = [average_units(by_unit[asked[inside]]) for _, inside in list_groups(units.iloc[asked], [PERSONA])]
            yield {"respondents": PERSONAS, "model": model, "condition": setting}, np.stack(answers)


def _describe_scales(ratings: Ratings, names: Mapping[str, str | None], answers: Array) -> Iterator[dict[str, Any]]:
    """Yield a row per scale."""
    for scale in ratings.scales:
        of_scale = answers[:, ratings.mark_scale_items(scale)]
        of_scale = of_scale[:, ~np.isnan(of_scale).all(axis=0)]  # items that nobody was asked
        alpha, omega = compute_alpha(of_scale, PAIRWISE), compute_omega(of_scale, PAIRWISE)
        whole = compute_alpha(of_scale, LISTWISE)
        why_not = alpha.why_not or (f"no omega: {omega.why_not}" if omega.why_not else "")
        yield {
            "study": ratings.name, **names, "scale": scale, "n_items": alpha.n_items,
            "n_respondents": alpha.n_respondents, "alpha": alpha.value, "alpha_lower": alpha.lower,
            "alpha_upper": alpha.upper, "omega": omega.value, "n_listwise": whole.n_respondents,
            "alpha_listwise": whole.value, "why_not": why_not,
        }  # fmt: skip
