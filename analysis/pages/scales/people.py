"""Compute the tables about people: beside models, by scale and by item; what they said; how consistent scales are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.ratings import (
    Ratings,
    average_known_over_first_axis,
    group_units_by_columns,
    read_ratings,
    reverse_scores,
)
from analysis.measures.ratings_people import ALL_ITEMS, compare_studies_with_people, read_people_answers_to_run_items
from analysis.measures.ratings_rows import PERSONA
from analysis.pages.scales.people_catalogue import BOUNDS, FIGURES
from analysis.runs import Runs
from analysis.statistics.ratings.comparison import (
    average_item_figures_with_intervals,
    compute_intervals_of_unit_over_people,
    judge_distance_from_people,
)
from analysis.statistics.ratings.consistency import LISTWISE, PAIRWISE, compute_cronbach_alpha, compute_mcdonald_omega
from analysis.statistics.ratings.people import PeopleReference, compute_split_half_reliability_of_people
from analysis.statistics.resampling import Array

PEOPLE, MODELS, PERSONAS = "people", "models", "personas"  # who respondents are


def tabulate_distances_from_people_by_scale(runs: Runs, *, people: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute how far every model is from people, over all items and on every scale.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    people
        A file (`read_answers_of_people_by_study`); empty: no rows.
    seed
        Of the draws of people.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), persona, scale (or "all items"; a scale of that name is "scale all
        items"), validity; n_items; n_people: mean number behind an item; of every one of `FIGURES`, its value, X_lower,
        X_upper: 95 % interval over items, and X_people_lower, X_people_upper: over people; w1_net, tv_net: less chance;
        w1_between, tv_between, alignment_between, correlation_between: what two groups of as many people reach;
        beside_people: by `judge_distance_from_people`.
    """
    rows = []
    for study in compare_studies_with_people(runs, people, seed):
        groups = study.build_item_signs_by_scale()
        over_people = [
            compute_intervals_of_unit_over_people(
                study.shares[:, unit], study.people, study.reference, groups, study.figures["w1_expected"][:, unit]
            )
            for unit in range(len(study.units))
        ]
        for name, signs in groups.items():
            items = np.flatnonzero(signs)
            figures = {figure: values[items] for figure, values in study.figures.items()}
            over_items = average_item_figures_with_intervals(figures, signs[items])
            for unit, (model, setting, persona) in enumerate(study.units):
                has_both = items[~np.isnan(study.figures["w1"][items, unit])]
                if len(has_both):
                    rows.append({
                        "study": study.ratings.name, "model": model, "condition": setting, PERSONA: persona,
                        "scale": name, "validity": study.validity[unit], "n_items": len(has_both),
                        "n_people": float(study.people.n[has_both].mean()),
                        **_build_columns_of_computed_distances_from_people(
                            over_items, unit, over_people[unit].get(name, {})
                        ),
                        **_build_columns_of_two_groups_of_people(study.reference, has_both),
                    })  # fmt: skip
    table = pd.DataFrame(rows)
    if len(table):
        of_figure = [name for name in table if name.startswith("bias")]
        table.loc[table["scale"] == ALL_ITEMS, of_figure] = np.nan  # a bias is towards the high end of a scale
    return table


def _build_columns_of_computed_distances_from_people(
    over_items: Mapping[str, tuple[Array, Array, Array]], unit: int, over_people: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    """Return the columns of all figures of one row."""
    columns: dict[str, Any] = {}
    figures = {name: tuple(float(values[unit]) for values in parts) for name, parts in over_items.items()}
    for name in FIGURES:
        columns[name], *over = figures[name]
        bounds = BOUNDS.get(name, (-np.inf, np.inf))  # by t, an interval may pass what a figure can be
        columns[f"{name}_lower"], columns[f"{name}_upper"] = np.clip(over, *bounds)
        ends = over_people.get(name, (np.nan, np.nan))
        columns[f"{name}_people_lower"], columns[f"{name}_people_upper"] = np.clip(ends, *bounds)
    for name in ("w1_net", "tv_net"):
        columns[name] = figures[name][0]
    _, low, high = figures["excess"]
    columns["beside_people"] = judge_distance_from_people((low, high), over_people.get("excess", (np.nan, np.nan)))
    return columns


def _build_columns_of_two_groups_of_people(reference: PeopleReference, items: np.ndarray) -> dict[str, float]:
    """Return what two groups of as many people reach on some items."""
    w1 = float(reference.between_w1[items].mean())
    return {
        "w1_between": w1, "tv_between": float(reference.between_tv[items].mean()), "alignment_between": 1 - w1,
        "correlation_between": compute_split_half_reliability_of_people(reference, items),
    }  # fmt: skip


def tabulate_distances_from_people_by_item(runs: Runs, *, people: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute how far every model is from people on every item.

    Parameters
    ----------
    runs, people, seed
        As of `tabulate_distances_from_people_by_scale`.

    Returns
    -------
    DataFrame
        study, model, condition, persona, item, scale, key, n_people; s_model, s_people: before reversing; difference;
        w1, tv, w1_net, tv_net: less chance; w1_between, tv_between: between two groups of as many people.
    """
    parts = []
    for study in compare_studies_with_people(runs, people, seed):
        items, units = np.nonzero(~np.isnan(study.figures["w1"]))
        names = pd.DataFrame(study.units, columns=["model", "condition", PERSONA]).iloc[units]
        of_items = study.ratings.items[["item", "scale", "key"]].iloc[items]
        part = pd.concat([names.reset_index(drop=True), of_items.reset_index(drop=True)], axis=1)
        part.insert(0, "study", study.ratings.name)
        part["n_people"] = study.people.n[items]
        figures = {name: values[items, units] for name, values in study.figures.items()}
        part["s_model"], part["s_people"] = figures["s_model"], figures["s_people"]
        part["difference"] = figures["s_model"] - figures["s_people"]
        for name in ("w1", "tv"):
            part[name] = figures[name]
            part[f"{name}_net"] = figures[name] - figures[f"{name}_chance"]
            part[f"{name}_between"] = figures[f"{name}_between"]
        parts.append(part.iloc[np.lexsort((items, units))])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def tabulate_answer_shares_of_people(runs: Runs, *, people: str = "") -> pd.DataFrame:
    """List what people answered to every item.

    Parameters
    ----------
    runs, people
        As of `tabulate_distances_from_people_by_scale`.

    Returns
    -------
    DataFrame
        study, item, scale, key, n_people, score (before reversing), share_1 ... share_K, the lowest option first.
    """
    parts = []
    for ratings in read_ratings(runs) if people else []:
        answers = read_people_answers_to_run_items(runs, people).get(ratings.name)
        if answers is not None:
            shares = {f"share_{rank + 1}": column for rank, column in enumerate(answers.shares.T)}
            part = ratings.items[["item", "scale", "key"]].assign(
                n_people=answers.n, score=answers.mean_item_ranks, **shares
            )
            part.insert(0, "study", ratings.name)
            parts.append(part[~np.isnan(answers.mean_item_ranks)])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def tabulate_consistency_of_scales(runs: Runs, *, people: str = "") -> pd.DataFrame:
    """Compute how consistent every scale is: over models, over the personas of a model, and over people.

    Parameters
    ----------
    runs, people
        As of `tabulate_distances_from_people_by_scale`; people who are known as shares only are no respondents.

    Returns
    -------
    DataFrame
        study, respondents ("people", "models", "personas"), model (whose personas), condition, scale; n_items,
        n_respondents; alpha, alpha_lower, alpha_upper: pairwise, with Feldt's interval; omega: pairwise; n_listwise,
        alpha_listwise: of respondents who answered all items; why_not: why there is no alpha or omega.
    """
    rows: list[dict[str, Any]] = []
    for ratings in read_ratings(runs):
        for names, answers in _iterate_models_then_personas_as_respondents(ratings):
            rows += _compute_consistency_of_scales(ratings, names, answers)
        answered = read_people_answers_to_run_items(runs, people).get(ratings.name) if people else None
        if answered is not None and answered.ranks is not None:
            keyed = reverse_scores(answered.ranks / (answered.n_options - 1), ratings.item_keying_signs)
            rows += _compute_consistency_of_scales(
                ratings, {"respondents": PEOPLE, "model": None, "condition": None}, keyed
            )
    return pd.DataFrame(rows)


def _iterate_models_then_personas_as_respondents(ratings: Ratings) -> Iterator[tuple[dict[str, str | None], Array]]:
    """Yield who answers, with s after reversing: (respondents, items), over models, then over personas of a model."""
    by_unit = np.stack([average_known_over_first_axis(scores.T) for scores in ratings.keyed_scores])
    units = ratings.units
    for (setting,), places in group_units_by_columns(units, ["setting"]):
        models = [
            average_known_over_first_axis(by_unit[places[inside]])
            for _, inside in group_units_by_columns(units.iloc[places], ["model"])
        ]
        yield {"respondents": MODELS, "model": None, "condition": setting}, np.stack(models)
    for (model, setting), places in ratings.list_unit_places_by_model_and_setting():
        asked = places[units[PERSONA].iloc[places].notna()]
        if len(asked):
            answers = [
                average_known_over_first_axis(by_unit[asked[inside]])
                for _, inside in group_units_by_columns(units.iloc[asked], [PERSONA])
            ]
            yield {"respondents": PERSONAS, "model": model, "condition": setting}, np.stack(answers)


def _compute_consistency_of_scales(
    ratings: Ratings, names: Mapping[str, str | None], answers: Array
) -> Iterator[dict[str, Any]]:
    """Yield a row per scale."""
    for scale in ratings.scales:
        of_scale = answers[:, ratings.mark_scale_items(scale)]
        of_scale = of_scale[:, ~np.isnan(of_scale).all(axis=0)]  # items that nobody was asked
        alpha, omega = compute_cronbach_alpha(of_scale, PAIRWISE), compute_mcdonald_omega(of_scale, PAIRWISE)
        whole = compute_cronbach_alpha(of_scale, LISTWISE)
        why_not = alpha.why_not or (f"no omega: {omega.why_not}" if omega.why_not else "")
        yield {
            "study": ratings.name, **names, "scale": scale, "n_items": alpha.n_items,
            "n_respondents": alpha.n_respondents, "alpha": alpha.value, "alpha_lower": alpha.lower,
            "alpha_upper": alpha.upper, "omega": omega.value, "n_listwise": whole.n_respondents,
            "alpha_listwise": whole.value, "why_not": why_not,
        }  # fmt: skip
