"""Measure what wordings do to answers of protocol `scale`, and how far answers are apart that differ in one thing.

Two answers to an item that differ in nothing but one thing - the wording, the order of the options, their labels, the
middle option, the persona, or the model - are apart by the absolute difference of their s. The mean over all such pairs
of an item says how much that one thing moves an answer, on one scale for all of them.

Reference
---------
Miller, R. G. (1974). The jackknife: a review. Biometrika 61, 1-15.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.measures.ratings import Ratings, average_known_over_first_axis, group_units_by_columns
from analysis.measures.ratings_rows import PERSONA
from analysis.statistics.ordered import (
    compute_answer_entropies_in_bits,
    compute_mean_wasserstein_between_wordings,
    compute_minority_side_and_middle_shares,
    compute_shares_of_end_options,
    compute_shares_of_middle_option,
    compute_wordings_share_off_modal_option,
    find_place_of_most_probable_option,
)
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.spread import (
    compute_mean_distances_to_others,
    compute_mean_pair_distances,
    compute_ranges,
    compute_standard_deviations,
)

WORDING, MODEL = "wording", "model"
# What two answers differ in alone -> the column of `Ratings.units` that differs.
FACTORS: Mapping[str, str] = {
    "order": "option_order", "labels": "labels", "middle": "without_middle", "persona": PERSONA, MODEL: "model",
}  # fmt: skip


class Change(NamedTuple):
    """Hold how far two answers to an item are apart that differ in one thing alone.

    Attributes
    ----------
    apart
        Mean over pairs by item: (items,), NaN where there is no pair.
    models
        How far the same answers are from those of another model; NaN where there is none.
    n_pairs
        Pairs of conditions or models, or units with several wordings.
    """

    apart: Array
    models: Array
    n_pairs: int


def measure_wording_effects_per_setting_and_item(ratings: Ratings) -> dict[str, Array]:
    """Measure what the wordings of an item do to its answer.

    Returns
    -------
    dict
        Name -> (settings, items), means over the conditions of a setting: sd, range (of s); side_flips, in_middle,
        mode_flips (shares of the wordings); apart (mean Wasserstein-1 of two wordings, by K - 1). NaN below two
        wordings.
    """
    side_flips, in_middle = compute_minority_side_and_middle_shares(ratings.scores)
    has_two = (~np.isnan(ratings.scores)).sum(axis=2) > 1
    by_unit = {
        "sd": compute_standard_deviations(ratings.scores),
        "range": np.where(has_two, compute_ranges(ratings.scores), np.nan),
        "side_flips": side_flips,
        "in_middle": in_middle,
        "mode_flips": compute_wordings_share_off_modal_option(
            find_place_of_most_probable_option(ratings.shares), ratings.shares.shape[-1]
        ),
        "apart": compute_mean_wasserstein_between_wordings(ratings.shares, ratings.n_options),
    }
    return {name: average_values_over_conditions_of_settings(ratings, values) for name, values in by_unit.items()}


def average_values_over_conditions_of_settings(ratings: Ratings, values: Array) -> Array:
    """Average values of units (units, ...) over the conditions of every setting: (settings, ...)."""
    return np.stack(
        [average_known_over_first_axis(values[places]) for _, places in ratings.list_unit_places_by_model_and_setting()]
    )


def average_answer_figures_per_setting(ratings: Ratings) -> dict[str, Array]:
    """Average what single answers look like, over wordings and the conditions of a setting that show all options.

    Where none of them shows all options, all conditions count.

    Returns
    -------
    dict
        shares: (settings, items, ranks); entropy, ends, middle: (settings, items). The entropy is that of single
        answers, not that of the mean distribution.
    """
    by_unit = {
        "shares": ratings.shares,
        "entropy": compute_answer_entropies_in_bits(ratings.shares),
        "ends": compute_shares_of_end_options(ratings.shares, ratings.n_options[:, :, None]),
        "middle": compute_shares_of_middle_option(ratings.shares, ratings.n_options[:, :, None]),
    }
    averages: dict[str, list[Array]] = {name: [] for name in by_unit}
    for _, places in ratings.list_unit_places_by_model_and_setting():
        places = select_places_of_units_showing_middle(ratings, places)
        for name, values in by_unit.items():
            over_conditions = average_known_over_first_axis(values[places])
            averages[name].append(average_known_over_first_axis(np.moveaxis(over_conditions, 1, 0)))
    return {name: np.stack(parts) for name, parts in averages.items()}


def select_places_of_units_showing_middle(ratings: Ratings, places: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Keep the units that show the middle option, if there are any."""
    shown = places[~ratings.units["without_middle"].to_numpy(bool)[places]]
    return shown if len(shown) else places


def measure_answer_distances_by_cause(ratings: Ratings, left_out: int | None = None) -> dict[str, Change]:
    """Measure how far two answers to an item are apart that differ in one thing alone.

    Only units with mostly valid answers count. Where some of them have another model beside them, asked in the same
    way, a change is measured on these alone, and beside it how far they are from such models: answers that were drawn
    hold chance, so that both must be about the same answers.

    Parameters
    ----------
    ratings
        The answers.
    left_out
        Place of a wording that is left out; None: none is.

    Returns
    -------
    dict
        wording, order, labels, middle, persona, model, where something is to be compared.
    """
    answering = np.flatnonzero(~ratings.mostly_invalid_unit_mask)
    scores, units = ratings.scores[answering], ratings.units.iloc[answering]
    if left_out is not None:
        scores = np.delete(scores, left_out, axis=2)
    same = ["model", "setting", *FACTORS.values()]
    groups = {
        name: [places for _, places in group_units_by_columns(units,
        [key for key in dict.fromkeys(same) if key != column])
               if len(places) > 1]
        for name, column in FACTORS.items()
    }  # fmt: skip
    to_models = np.full(scores.shape, np.nan)  # distance of every answer to those of other models
    for places in groups[MODEL]:
        distances = compute_mean_distances_to_others(np.moveaxis(scores[places], 0, -1))
        to_models[places] = np.moveaxis(distances, -1, 0)
    beside_models = np.where(np.isnan(to_models), np.nan, scores)
    in_wordings, all_wordings = (compute_mean_pair_distances(cells)[:, :, None] for cells in (beside_models, scores))
    of_units = average_known_over_first_axis(np.moveaxis(to_models, 2, 0))[:, :, None]
    changes = {
        WORDING: _build_change_from_paired_distances(in_wordings, all_wordings, of_units, np.ones(len(answering), int))
    }
    for name, places_of_groups in groups.items():
        if places_of_groups:
            in_groups, all_groups = (
                np.stack(
                    [compute_mean_pair_distances(np.moveaxis(cells[places], 0, -1)) for places in places_of_groups]
                )
                for cells in (beside_models, scores)
            )
            of_groups = np.stack([average_known_over_first_axis(to_models[places]) for places in places_of_groups])
            n_pairs = np.array([len(places) * (len(places) - 1) // 2 for places in places_of_groups])
            changes[name] = _build_change_from_paired_distances(in_groups, all_groups, of_groups, n_pairs)
    if MODEL in changes:
        changes[MODEL] = changes[MODEL]._replace(models=np.full(len(ratings.items), np.nan))
    return {name: change for name, change in changes.items() if change.n_pairs}


def compute_wording_margins_of_excess_over_models(ratings: Ratings, names: Iterable[str]) -> dict[str, float]:
    """Compute how far other wordings would move the mean of apart - models of a change: half of a 95 % interval.

    Where items share their wordings, more items do not average these out. Each is left out in turn (jackknife; Miller
    1974), with the t of one degree of freedom less than there are wordings.

    Parameters
    ----------
    ratings
        The answers.
    names
        Of the changes.

    Returns
    -------
    dict
        Name -> half; 0 where items have wordings of their own, or one; NaN where a wording cannot be left out.
    """
    from scipy.special import stdtrit

    n_wordings = ratings.scores.shape[2]
    if not ratings.crossed or n_wordings == 1:
        return dict.fromkeys(names, 0.0)
    without = [measure_answer_distances_by_cause(ratings, wording) for wording in range(n_wordings)]
    limits = {}
    for name in names:
        means = np.array([
            np.nan if name not in changes else average_known_over_first_axis(changes[name].apart - changes[name].models)
            for changes in without
        ])  # fmt: skip
        error = np.sqrt((n_wordings - 1) * means.var())
        limits[name] = float(stdtrit(n_wordings - 1, (1 + LEVEL) / 2) * error)
    return limits


def _build_change_from_paired_distances(
    beside_models: Array, distances: Array, to_models: Array, n_pairs: npt.NDArray[np.int64]
) -> Change:
    """Average distances (groups, items, wordings) of answers beside models; without two of these, of all."""
    if np.isnan(beside_models).all():
        beside_models, to_models = distances, np.full_like(to_models, np.nan)
    is_used = ~np.isnan(beside_models)
    counts = is_used.sum(axis=(0, 2))
    apart, models = (
        np.where(is_used, values, 0.0).sum(axis=(0, 2)) / np.where(counts > 0, counts, np.nan)
        for values in (beside_models, to_models)
    )
    return Change(apart, models, int(n_pairs[is_used.any(axis=(1, 2))].sum()))
