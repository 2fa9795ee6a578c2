"""Compare the answers of models to rating scales with what people said.

An answer of a model to an item is the mean of its distributions over the wordings, and over the conditions that differ
in how the options are shown alone. A model that was asked as several personas has a row as each of them, and one as all
of them, whose answer is their mixture. Where the middle option was left out, people chose among other options: these
answers are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.measures.people_file import Item, PeopleFile, read_people
from analysis.measures.ratings import Ratings, average_units, list_groups, read_ratings
from analysis.measures.ratings_rows import PERSONA
from analysis.statistics.ratings.comparison import (
    compute_intervals_over_items,
    compute_intervals_over_people,
    compute_item_figures,
    judge_excess,
)
from analysis.statistics.ratings.people import (
    People,
    PeopleReference,
    build_people_reference,
    correlate_halves,
)
from analysis.statistics.resampling import Array

if TYPE_CHECKING:
    from analysis.runs import Runs

ALL_ITEMS, ALL_PERSONAS = "all items", "all personas"
FIGURES = ("w1", "tv", "alignment", "correlation", "bias", "excess")  # with intervals over items and over people


@dataclass(frozen=True, slots=True)
class Compared:
    """Hold the models of one study beside people.

    Attributes
    ----------
    ratings, people, reference
        The answers of models, those of people, and what chance does to these.
    units
        Model, condition (setting) and persona (None: asked without one) of every row to be.
    validity
        (units,): mean validity.
    shares
        (items, units, options); NaN where there is no answer that can be compared.
    figures
        From `compute_item_figures`: (items, units).
    """

    ratings: Ratings
    people: People
    reference: PeopleReference
    units: list[tuple[str, str, str | None]]
    validity: Array
    shares: Array
    figures: Mapping[str, Array]

    def list_item_groups(self) -> dict[str, Array]:
        """Return all items and those of every scale: 1, or -1 where an item is reversed; 0 for other items."""
        scales = {scale: self.ratings.mark_scale_items(scale) * self.ratings.keys for scale in self.ratings.scales}
        every = {ALL_ITEMS: np.ones(len(self.ratings.items))}
        return {**every, **{name: signs.astype(float) for name, signs in scales.items()}}


def read_people_of_runs(runs: Runs, people: str) -> PeopleFile:
    """Read a file of people's answers to the items of all studies, once per `Runs`; see `read_people`."""

    def read() -> PeopleFile:
        items = {
            ratings.name: [
                Item(str(row.item), tuple(map(str, row.options))) for row in ratings.items.itertuples(index=False)
            ]
            for ratings in read_ratings(runs)
        }
        return read_people(people, items)

    return runs.compute_once(("people", people), read)


def compare_studies_with_people(runs: Runs, people: str, seed: int = 0) -> list[Compared]:
    """Put the models of every study beside people, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    people
        A file (`read_people`); empty: none.
    seed
        Of the draws of people.

    Returns
    -------
    list of Compared
        Of the studies with items that people answered.
    """
    if not people:
        return []
    by_study = read_people_of_runs(runs, people).by_study

    def compare() -> list[Compared]:
        studies = [ratings for ratings in read_ratings(runs) if ratings.name in by_study]
        return [_compare_study(ratings, by_study[ratings.name], seed) for ratings in studies]

    return runs.compute_once(("models beside people", people, seed), compare)


def _compare_study(ratings: Ratings, people: People, seed: int) -> Compared:
    """Average the answers of every unit, and compare them with those of people."""
    reference = build_people_reference(people, seed=seed)
    is_comparable = ratings.n_options == people.n_options
    units, shares, samples, validity = [], [], [], []
    for unit, places in _list_units(ratings):
        has_same_options = is_comparable[places][:, :, None, None]
        answers = np.where(has_same_options, ratings.shares[places], np.nan)
        if np.isnan(answers).all():
            continue
        units.append(unit)
        shares.append(average_units(np.stack([average_units(each) for each in answers.swapaxes(1, 2)])))
        samples.append(_count_samples(ratings, places))
        validity.append(ratings.compute_validity(places))
    laid_out = np.stack(shares, axis=1) if shares else np.empty((len(ratings.items), 0, people.shares.shape[1]))
    n_samples = np.stack(samples, axis=1) if samples else np.empty(laid_out.shape[:2])
    figures = compute_item_figures(laid_out, people, reference, n_samples)
    return Compared(ratings, people, reference, units, np.array(validity), laid_out, figures)


def _list_units(ratings: Ratings) -> Iterator[tuple[tuple[str, str, str | None], np.ndarray]]:
    """Yield model, setting and persona with the places of their units; of several personas, all of them first."""
    for (model, setting), places in ratings.list_settings():
        personas = list_groups(ratings.units.iloc[places], [PERSONA])
        if len(personas) > 1:
            yield (model, setting, ALL_PERSONAS), places
        for (persona,), inside in personas:
            yield (model, setting, persona if isinstance(persona, str) else None), places[inside]


def _count_samples(ratings: Ratings, places: np.ndarray) -> Array:
    """Return how many samples are behind the answers to every item: (items,); infinite where they are probabilities."""
    if ratings.samples is None:
        return np.full(len(ratings.items), np.inf)
    counts = ratings.samples[places]
    return np.where(np.isnan(counts).all(axis=(0, 2)), np.inf, np.nansum(counts, axis=(0, 2)))


def tabulate_people(runs: Runs, *, people: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute how far every model is from people, over all items and on every scale.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    people
        A file (`read_people`); empty: no rows.
    seed
        Of the draws of people.

    Returns
    -------
    DataFrame
        study, model, condition (the setting), persona, scale (or "all items"), validity; n_items; n_people: mean number
        behind an item; of every one of `FIGURES`, its value, X_lower, X_upper: 95 % interval over items, and
        X_people_lower, X_people_upper: over people; w1_net, tv_net: less chance; w1_between, tv_between,
        alignment_between, correlation_between: what two groups of as many people reach; beside_people: by
        `judge_excess`.
    """
    rows = []
    for study in compare_studies_with_people(runs, people, seed):
        groups = study.list_item_groups()
        over_people = [
            compute_intervals_over_people(study.shares[:, unit], study.people, study.reference, groups)
            for unit in range(len(study.units))
        ]
        for name, signs in groups.items():
            items = np.flatnonzero(signs)
            figures = {figure: values[items] for figure, values in study.figures.items()}
            over_items = compute_intervals_over_items(figures, signs[items])
            for unit, (model, setting, persona) in enumerate(study.units):
                has_both = items[~np.isnan(study.figures["w1"][items, unit])]
                if len(has_both):
                    rows.append({
                        "study": study.ratings.name, "model": model, "condition": setting, PERSONA: persona,
                        "scale": name, "validity": study.validity[unit], "n_items": len(has_both),
                        "n_people": float(study.people.n[has_both].mean()),
                        **_build_figure_columns(over_items, unit, over_people[unit].get(name, {})),
                        **_build_ceiling_columns(study.reference, has_both),
                    })  # fmt: skip
    table = pd.DataFrame(rows)
    if len(table):
        of_figure = [name for name in table if name.startswith("bias")]
        table.loc[table["scale"] == ALL_ITEMS, of_figure] = np.nan  # a bias is towards the high end of a scale
    return table


def _build_figure_columns(
    over_items: Mapping[str, tuple[Array, Array, Array]], unit: int, over_people: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    """Return the columns of all figures of one row."""
    columns: dict[str, Any] = {}
    figures = {name: tuple(float(values[unit]) for values in parts) for name, parts in over_items.items()}
    for name in FIGURES:
        columns[name], columns[f"{name}_lower"], columns[f"{name}_upper"] = figures[name]
        columns[f"{name}_people_lower"], columns[f"{name}_people_upper"] = over_people.get(name, (np.nan, np.nan))
    for name in ("w1_net", "tv_net"):
        columns[name] = figures[name][0]
    columns["beside_people"] = judge_excess(figures["excess"][1:], over_people.get("excess", (np.nan, np.nan)))
    return columns


def _build_ceiling_columns(reference: PeopleReference, items: np.ndarray) -> dict[str, float]:
    """Return what two groups of as many people reach on some items."""
    w1 = float(reference.between_w1[items].mean())
    return {
        "w1_between": w1, "tv_between": float(reference.between_tv[items].mean()), "alignment_between": 1 - w1,
        "correlation_between": correlate_halves(reference, items),
    }  # fmt: skip


def tabulate_people_items(runs: Runs, *, people: str = "", seed: int = 0) -> pd.DataFrame:
    """Compute how far every model is from people on every item.

    Parameters
    ----------
    runs, people, seed
        As of `tabulate_people`.

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


def tabulate_people_shares(runs: Runs, *, people: str = "") -> pd.DataFrame:
    """List what people answered to every item.

    Parameters
    ----------
    runs, people
        As of `tabulate_people`.

    Returns
    -------
    DataFrame
        study, item, scale, key, n_people, score (before reversing), share_1 ... share_K, the lowest option first.
    """
    parts = []
    for ratings in read_ratings(runs) if people else []:
        answers = read_people_of_runs(runs, people).by_study.get(ratings.name)
        if answers is not None:
            shares = {f"share_{rank + 1}": column for rank, column in enumerate(answers.shares.T)}
            part = ratings.items[["item", "scale", "key"]].assign(n_people=answers.n, score=answers.scores, **shares)
            part.insert(0, "study", ratings.name)
            parts.append(part[~np.isnan(answers.scores)])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
