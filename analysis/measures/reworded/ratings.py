"""Read the scores of protocol `scale` in every wording of an item, after reversing: 1 - s for items keyed -1.

All items together are one measure, and where there are several scales, so is each of them. Wordings are those that
`analysis.measures.ratings` compares. Conditions that differ in the persona alone are read as one, by the mean over
personas.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from analysis.measures.ratings import (
    Ratings,
    average_known_over_first_axis,
    group_units_by_columns,
    read_ratings,
)
from analysis.measures.reworded.study import SCORE, Study, has_item_in_several_wordings
from analysis.measures.thoughts import list_thought_conditions
from analysis.runs import Runs
from analysis.statistics.resampling import Array


def read_scale_studies(runs: Runs, study_names: list[str]) -> Iterator[Study]:
    """Read the studies of protocol `scale`: by the score over all items, then by that of every scale.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Yields
    ------
    A study per measure: `SCORE`, the headline, and "score (SCALE)" where there are two scales or more.
    """
    for ratings in read_ratings(runs):
        if ratings.name in study_names:
            study = _build_study_averaging_ratings_over_personas(runs, ratings)
            yield study
            for scale in ratings.scales if len(ratings.scales) > 1 else ():
                yield build_study_of_scale_items(study, ratings, scale, f"{SCORE} ({scale})")


def has_rewordings(runs: Runs, study_names: list[str]) -> bool:
    """Tell whether these studies can be compared over wordings or samples.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_names
        Names of the studies.

    Returns
    -------
    Whether an item of one of them has two wordings beside its original, or an answer several samples.
    """
    if has_item_in_several_wordings(runs, study_names):
        return True
    studies = (ratings for ratings in read_ratings(runs) if ratings.name in study_names)
    return any(ratings.samples is not None and bool((ratings.samples > 1).any()) for ratings in studies)


def build_study_of_unit_groups(ratings: Ratings, places_by_unit: dict[tuple[str, str], npt.NDArray[np.intp]]) -> Study:
    """Build the study of some groups of units, with the mean of each group's scores after reversing.

    Parameters
    ----------
    ratings
        The answers.
    places_by_unit
        Model and condition as the study names them -> places of the units that are averaged.

    Returns
    -------
    Study
        Without samples.
    """
    scores = ratings.keyed_scores
    values = np.stack([average_known_over_first_axis(scores[places]) for places in places_by_unit.values()])
    validity, validity_at_most = (
        np.array([compute(places) for places in places_by_unit.values()])
        for compute in (ratings.average_validity_over_units, ratings.average_validity_upper_bound_over_units)
    )
    all_places = places_by_unit.values()
    validities = np.stack([average_known_over_first_axis(ratings.validities[places]) for places in all_places])
    validities[~np.isnan(validity_at_most)] = np.nan  # known of some of the units that are averaged, if at all
    return Study(
        ratings.name, SCORE, True, ratings.crossed, list(places_by_unit), validity, values, ratings.wordings,
        items=tuple(ratings.items["item"]),
        validities=validities,
        validity_at_most=validity_at_most,
    )  # fmt: skip


def build_study_of_scale_items(study: Study, ratings: Ratings, scale: str, measure: str) -> Study:
    """Select the items of one scale, as a measure of its own that sentences are not about."""
    mask = ratings.mark_scale_items(scale)

    def select_items(array: Array | None) -> Array | None:
        """Keep the items of the scale."""
        return None if array is None else array[:, mask]

    return replace(
        study, measure=measure, headline=False, values=study.values[:, mask], samples=select_items(study.samples),
        spread=select_items(study.spread), counting=select_items(study.counting),
        validities=select_items(study.validities), items=tuple(ratings.items["item"][mask]),
    )  # fmt: skip


def _build_study_averaging_ratings_over_personas(runs: Runs, ratings: Ratings) -> Study:
    """Build the study of a run: a unit per model and condition, personas averaged."""
    groups = {
        (str(key[0]), str(key[1])): places
        for key, places in group_units_by_columns(ratings.units, ["model", "presentation"])
    }
    study = build_study_of_unit_groups(ratings, groups)
    thinking = list_thought_conditions(runs.info["conditions"][ratings.name])
    names = dict(zip(ratings.units["condition"], ratings.units["presentation"], strict=True))
    study = replace(study, thought_conditions=frozenset(names[name] for name in thinking if name in names))
    if ratings.samples is None or ratings.spread is None:
        return study
    of_groups = ratings.samples, list(groups.values())
    return replace(
        study, samples=np.stack([ratings.samples[places].sum(axis=0) for places in groups.values()]),
        spread=_compute_variance_of_one_sample_from_groups(ratings.spread, *of_groups),
        counting=None if ratings.counting is None
        else _compute_variance_of_one_sample_from_groups(ratings.counting, *of_groups),
    )  # fmt: skip


def _compute_variance_of_one_sample_from_groups(
    spread: Array, samples: Array, groups: list[npt.NDArray[np.intp]]
) -> Array:
    """Return the variance of a sample such that, divided by all samples of a group, it is that of the group's mean."""
    parts = []
    for places in groups:
        if len(places) == 1:
            parts.append(spread[places[0]])
            continue
        noise = (spread[places] / samples[places]).sum(axis=0) / len(places) ** 2
        parts.append(noise * samples[places].sum(axis=0))
    return np.stack(parts)
