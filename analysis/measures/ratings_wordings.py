"""Measure what wordings do to answers of protocol `scale`, and how far answers are apart that differ in one thing.

Two answers to an item that differ in nothing but one thing - the wording, the order of the options, their labels, the
middle option, the persona, or the model - are apart by the absolute difference of their s. The mean over all such pairs
of an item says how much that one thing moves an answer, on one scale for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.measures.ratings import Ratings, average_units, list_groups
from analysis.measures.ratings_rows import PERSONA
from analysis.statistics.ordered import (
    compute_end_shares,
    compute_entropies,
    compute_middle_shares,
    compute_mode_flips,
    compute_side_flips,
    compute_wording_distances,
    find_modes,
)
from analysis.statistics.resampling import Array
from analysis.statistics.spread import compute_mean_pair_distances, compute_ranges, compute_standard_deviations

WORDING, MODEL = "wording", "model"
# What two answers differ in alone -> the column of `Ratings.units` that differs.
FACTORS: Mapping[str, str] = {
    "order": "option_order", "labels": "labels", "middle": "without_middle", "persona": PERSONA, MODEL: "model",
}  # fmt: skip


def measure_item_spreads(ratings: Ratings) -> dict[str, Array]:
    """Measure what the wordings of an item do to its answer.

    Returns
    -------
    dict
        Name -> (settings, items), means over the conditions of a setting: sd, range (of s); side_flips, in_middle,
        mode_flips (shares of the wordings); apart (mean Wasserstein-1 of two wordings, by K - 1). NaN below two
        wordings.
    """
    side_flips, in_middle = compute_side_flips(ratings.scores)
    has_two = (~np.isnan(ratings.scores)).sum(axis=2) > 1
    by_unit = {
        "sd": compute_standard_deviations(ratings.scores),
        "range": np.where(has_two, compute_ranges(ratings.scores), np.nan),
        "side_flips": side_flips,
        "in_middle": in_middle,
        "mode_flips": compute_mode_flips(find_modes(ratings.shares), ratings.shares.shape[-1]),
        "apart": compute_wording_distances(ratings.shares, ratings.n_options),
    }
    return {name: average_over_settings(ratings, values) for name, values in by_unit.items()}


def average_over_settings(ratings: Ratings, values: Array) -> Array:
    """Average values of units (units, ...) over the conditions of every setting: (settings, ...)."""
    return np.stack([average_units(values[places]) for _, places in ratings.list_settings()])


def average_distributions(ratings: Ratings) -> dict[str, Array]:
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
        "entropy": compute_entropies(ratings.shares),
        "ends": compute_end_shares(ratings.shares, ratings.n_options[:, :, None]),
        "middle": compute_middle_shares(ratings.shares, ratings.n_options[:, :, None]),
    }
    averages: dict[str, list[Array]] = {name: [] for name in by_unit}
    for _, places in ratings.list_settings():
        places = keep_units_with_all_options(ratings, places)
        for name, values in by_unit.items():
            averages[name].append(average_units(np.moveaxis(average_units(values[places]), 1, 0)))
    return {name: np.stack(parts) for name, parts in averages.items()}


def keep_units_with_all_options(ratings: Ratings, places: np.typing.NDArray[np.intp]) -> np.typing.NDArray[np.intp]:
    """Keep the units that show the middle option, if there are any."""
    shown = places[~ratings.units["without_middle"].to_numpy(bool)[places]]
    return shown if len(shown) else places


def measure_changes(ratings: Ratings) -> dict[str, tuple[Array, int]]:
    """Measure how far two answers to an item are apart that differ in one thing alone.

    Only units with mostly valid answers count.

    Returns
    -------
    dict
        wording, order, labels, middle, persona, model, where something is to be compared -> mean over pairs by item:
        (items,), NaN where there is no pair; and the number of pairs of conditions or models, or of units with several
        wordings.
    """
    answering = np.flatnonzero(~ratings.is_silent)
    of_wordings = compute_mean_pair_distances(ratings.scores[answering])
    has_several = (~np.isnan(of_wordings)).any(axis=1)
    changes = {WORDING: (average_units(of_wordings), int(has_several.sum()))} if has_several.any() else {}
    units = ratings.units.iloc[answering]
    for name, column in FACTORS.items():
        same = ["model", "setting", *FACTORS.values()]
        groups = list_groups(units, [key for key in dict.fromkeys(same) if key != column])
        sums, counts, n_pairs = np.zeros(len(ratings.items)), np.zeros(len(ratings.items)), 0
        for _, places in groups:
            if len(places) > 1:
                distances = compute_mean_pair_distances(np.moveaxis(ratings.scores[answering[places]], 0, -1))
                sums += np.nansum(distances, axis=1)
                counts += (~np.isnan(distances)).sum(axis=1)
                n_pairs += len(places) * (len(places) - 1) // 2
        if counts.any():
            changes[name] = sums / np.where(counts > 0, counts, np.nan), n_pairs
    return changes
