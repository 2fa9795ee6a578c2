"""Compare the answers of models to rating scales with what people said.

An answer of a model to an item is the mean of its distributions over the wordings, and over the conditions that differ
in how the options are shown alone. A model that was asked as several personas has a row as each of them, and one as all
of them, whose answer is their mixture. Where the middle option was left out, people chose among other options: these
answers are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.measures.part_names import name_part_beside_total
from analysis.measures.people_file import Item, read_answers_of_people_by_study
from analysis.measures.ratings import (
    Ratings,
    average_known_over_first_axis,
    group_units_by_columns,
    read_ratings,
)
from analysis.measures.ratings_rows import PERSONA
from analysis.runs import Runs
from analysis.statistics.ratings.comparison import compute_item_figures_of_units_and_people
from analysis.statistics.ratings.people import People, PeopleReference, build_resampled_and_halved_people
from analysis.statistics.resampling import Array

ALL_ITEMS, ALL_PERSONAS = "all items", "all personas"


@dataclass(frozen=True, slots=True)
class Compared:
    """Hold the models of one study beside people.

    Attributes
    ----------
    ratings, people, reference
        The answers of models, those of people, and what chance does to these.
    units
        Model, condition (setting) and persona (None: asked without one) of every unit.
    validity
        (units,): mean validity.
    shares
        (items, units, options); NaN where there is no answer that can be compared.
    figures
        From `compute_item_figures_of_units_and_people`: (items, units).
    """

    ratings: Ratings
    people: People
    reference: PeopleReference
    units: list[tuple[str, str, str | None]]
    validity: Array
    shares: Array
    figures: Mapping[str, Array]

    def build_item_signs_by_scale(self) -> dict[str, Array]:
        """Return signs for all items together, 1 each, and for every scale: 1, -1 for reversed items, 0 for others."""
        scales = {
            scale: self.ratings.mark_scale_items(scale) * self.ratings.item_keying_signs
            for scale in self.ratings.scales
        }
        return {ALL_ITEMS: np.ones(len(self.ratings.items))} | {
            name_part_beside_total(name, ALL_ITEMS, "scale"): signs.astype(float) for name, signs in scales.items()
        }


def read_people_answers_to_run_items(runs: Runs, people: str) -> dict[str, People]:
    """Read people's answers to the items of all studies, once per `Runs`; see `read_answers_of_people_by_study`."""

    def read_answers_to_all_items() -> dict[str, People]:
        items = {
            ratings.name: [
                Item(str(row.item), tuple(map(str, row.options))) for row in ratings.items.itertuples(index=False)
            ]
            for ratings in read_ratings(runs)
        }
        return read_answers_of_people_by_study(people, items)

    return runs.compute_once(("people", people), read_answers_to_all_items)


def compare_studies_with_people(runs: Runs, people: str, seed: int = 0) -> list[Compared]:
    """Put the models of every study beside people, once per `Runs`.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    people
        A file (`read_answers_of_people_by_study`); empty: none.
    seed
        Of the draws of people.

    Returns
    -------
    list of Compared
        Of the studies with items that people answered.

    Raises
    ------
    InputError
        As `read_answers_of_people_by_study`.
    """
    if not people:
        return []
    by_study = read_people_answers_to_run_items(runs, people)

    def compare_all_studies() -> list[Compared]:
        studies = [ratings for ratings in read_ratings(runs) if ratings.name in by_study]
        return [_compare_study_with_people(ratings, by_study[ratings.name], seed) for ratings in studies]

    return runs.compute_once(("models beside people", people, seed), compare_all_studies)


def _compare_study_with_people(ratings: Ratings, people: People, seed: int) -> Compared:
    """Average the answers of every unit, and compare them with those of people."""
    reference = build_resampled_and_halved_people(people, seed=seed)
    is_comparable = ratings.n_options == people.n_options
    units, shares, samples, validity = [], [], [], []
    for unit, places in _list_units_by_persona(ratings):
        has_same_options = is_comparable[places][:, :, None, None]
        answers = np.where(has_same_options, ratings.shares[places], np.nan)
        if np.isnan(answers).all():
            continue
        units.append(unit)
        unit_shares = [average_known_over_first_axis(of_wordings) for of_wordings in answers.swapaxes(1, 2)]
        shares.append(average_known_over_first_axis(np.stack(unit_shares)))
        samples.append(_count_samples_per_item(ratings, places, is_comparable[places]))
        validity.append(ratings.average_validity_over_units(places))
    laid_out = np.stack(shares, axis=1) if shares else np.empty((len(ratings.items), 0, people.shares.shape[1]))
    n_samples = np.stack(samples, axis=1) if samples else np.empty(laid_out.shape[:2])
    figures = compute_item_figures_of_units_and_people(laid_out, people, reference, n_samples)
    return Compared(ratings, people, reference, units, np.array(validity), laid_out, figures)


def _list_units_by_persona(ratings: Ratings) -> Iterator[tuple[tuple[str, str, str | None], np.ndarray]]:
    """Yield model, setting and persona with the places of their units; of several personas, all of them first."""
    for (model, setting), places in ratings.list_unit_places_by_model_and_setting():
        personas = group_units_by_columns(ratings.units.iloc[places], [PERSONA])
        if len(personas) > 1:
            yield (model, setting, ALL_PERSONAS), places
        for (persona,), inside in personas:
            name = name_part_beside_total(persona, ALL_PERSONAS, "persona") if isinstance(persona, str) else None
            yield (model, setting, name), places[inside]


def _count_samples_per_item(ratings: Ratings, places: np.ndarray, is_comparable: np.ndarray) -> Array:
    """Return how many samples are behind the answers to every item that are compared: (items,).

    Infinite where they are probabilities. `is_comparable` (units, items): whether people had the same options.
    """
    if ratings.samples is None:
        return np.full(len(ratings.items), np.inf)
    counts = np.where(is_comparable[:, :, None], ratings.samples[places], np.nan)
    return np.where(np.isnan(counts).all(axis=(0, 2)), np.inf, np.nansum(counts, axis=(0, 2)))
