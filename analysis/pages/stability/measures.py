"""Compute the stability measures of a model over its items, with formulas that the bootstrap can resample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from analysis.pages.stability import columns
from analysis.runs import Runs
from analysis.statistics import forms
from analysis.statistics.interval import Interval
from analysis.statistics.resampling import (
    Array,
    Columns,
    compute_item_sd_in_each_draw,
    compute_mean_per_draw,
    compute_ratio_of_sums_per_draw,
)
from analysis.statistics.shares import Share

SPREADS = {"range_sd": forms.DEVIATION, "sd_sd": forms.DEVIATION}


@dataclass(frozen=True, slots=True)
class Study:
    """Hold the item-level columns of one study as arrays (items, units); NaN where a unit has no value.

    Attributes
    ----------
    units
        (model, condition) of every unit, in the order of the arrays' columns.
    agreement, validity_sd
        Mean of the agreement, and SD of the validity, of an item's paraphrases.
    masses
        rows, total: number and sum of the validities of an item's paraphrases; texts, valid: the same for a unit whose
        answers were read from texts or counted, where the validity is a share; 0 for one with probabilities.
    spreads
        range, sd, minority: of an item's agreement; NaN below two valid paraphrases (minority: see
        `tables.tabulate_item_answers_over_paraphrases`).
    added
        Measures of a reader's own, by name (`added_measures`).
    """

    name: str
    units: list[tuple[str, str]]
    agreement: Array
    validity_sd: Array
    masses: Columns
    spreads: Columns
    added: Columns = field(default_factory=dict)


def build_stability_studies(runs: Runs, item_table: pd.DataFrame, added_names: Sequence[str] = ()) -> Iterator[Study]:
    """Yield the studies of the runs.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    item_table
        From `tables.tabulate_item_answers_over_paraphrases`.
    added_names
        Its columns that a reader added.

    Yields
    ------
    Study
        In the order of run.json.
    """
    return (build_study_arrays_from_item_table(runs, name, item_table, added_names) for name in runs.info["studies"])


def build_study_arrays_from_item_table(
    runs: Runs, study_name: str, item_table: pd.DataFrame, added_names: Sequence[str] = ()
) -> Study:
    """Turn a table of items into the arrays of one study.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study_name
        Of the study.
    item_table
        With the item-level columns of `tables.tabulate_item_answers_over_paraphrases`.
    added_names
        As in `build_stability_studies`.

    Returns
    -------
    Study
        Its arrays have a row for every item of the study and a column for every unit, also for those without a row in
        the table.
    """
    item_rows = runs.execute("SELECT item FROM study_items WHERE study = ? ORDER BY position", [study_name]).fetchall()
    units = runs.list_units_of_study(study_name)
    long = item_table[item_table["study"] == study_name]
    item_places = {item: place for place, (item,) in enumerate(item_rows)}
    unit_places = {unit: place for place, unit in enumerate(units)}
    cells = (
        [item_places[item] for item in long["item"]],
        [unit_places[unit] for unit in zip(long["model"], long["condition"], strict=True)],
    )

    def pivot_column_to_items_by_units(column: str) -> Array:
        """Return a column as an array (items, units)."""
        wide = np.full((len(item_places), len(units)), np.nan)
        wide[cells] = long[column].to_numpy(dtype=float, na_value=np.nan)
        return wide

    rows = pivot_column_to_items_by_units("n_variants")
    total = rows * pivot_column_to_items_by_units("validity_mean")
    is_without_probability = np.array([unit in _list_units_without_probability(runs, study_name) for unit in units])
    spreads = {"range": "agreement_range", "sd": "agreement_sd", "minority": "minority_share"}
    return Study(
        name=study_name,
        units=units,
        agreement=pivot_column_to_items_by_units("agreement_mean"),
        validity_sd=pivot_column_to_items_by_units("validity_sd"),
        masses={
            "rows": rows,
            "total": total,
            "texts": rows * is_without_probability,
            "valid": total * is_without_probability,
        },
        spreads={key: pivot_column_to_items_by_units(column) for key, column in spreads.items()},
        added={name: pivot_column_to_items_by_units(name) for name in added_names},
    )


def estimate_stability_measures(
    masses: Columns, means: Columns, spreads: Columns, thresholds: Mapping[str, float],
    resample: Callable[..., dict[str, Interval]],
) -> dict[str, Interval]:  # fmt: skip
    """Compute every measure with its interval: shares as shares, the others by resampling items.

    Parameters
    ----------
    masses, spreads
        As in `Study`.
    means
        agreement: as in `Study`.
    thresholds
        From `build_thresholds_by_flip_column`.
    resample
        `resampling.bootstrap_intervals` or `resampling.bootstrap_differences` with all but their columns and statistic.

    Returns
    -------
    dict
        Interval of every measure: (units,), or (pairs,) of `bootstrap_differences`.
    """
    estimates = resample(masses, _compute_mean_validity_in_each_draw, shares=_build_hits_and_totals_of_text_validity)
    estimates |= resample(means, _compute_mean_agreement_in_each_draw)
    estimates |= resample(spreads, _summarize_ranges_and_sds_in_each_draw, forms=SPREADS)
    minority = {"minority": spreads["minority"]}
    return estimates | resample(
        minority,
        partial(compute_flip_shares_in_each_draw, thresholds=thresholds),
        shares=partial(_build_hits_and_totals_of_flip_shares, thresholds=thresholds),
    )


def _list_units_without_probability(runs: Runs, study: str) -> frozenset[tuple[str, str]]:
    """Find the units of a study without any probability: their answers were read from texts, or counted."""
    if all(folder.two_probabilities for folder in runs.folders if folder.study == study):
        return frozenset()
    query = "SELECT model, condition FROM responses WHERE study = ? GROUP BY ALL HAVING count(probability) = 0"
    return runs.compute_once(
        ("units without probabilities", study), lambda: frozenset(runs.execute(query, [study]).fetchall())
    )


def _compute_mean_agreement_in_each_draw(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Compute the mean over items of an item's mean agreement: which answer a model tends to, not how firmly."""
    return {"agreement_mean": compute_mean_per_draw(draw_counts, columns["agreement"])}


def _compute_mean_validity_in_each_draw(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Compute the mean validity over the rows of all items (section 4.1)."""
    return {"validity": compute_ratio_of_sums_per_draw(draw_counts, columns["total"], columns["rows"])}


def _build_hits_and_totals_of_text_validity(columns: Columns) -> dict[str, list[Share]]:
    """Give hits and totals of the validity of written answers: valid texts, and all texts."""
    return {"validity": [[(columns["valid"], columns["texts"])]]}


def _summarize_ranges_and_sds_in_each_draw(columns: Columns, draw_counts: Array) -> dict[str, Array]:
    """Compute the measures of section 4.2.1 that are means and SDs over items."""
    return {
        "range_mean": compute_mean_per_draw(draw_counts, columns["range"]),
        "range_sd": compute_item_sd_in_each_draw(draw_counts, columns["range"]),
        "sd_mean": compute_mean_per_draw(draw_counts, columns["sd"]),
        "sd_sd": compute_item_sd_in_each_draw(draw_counts, columns["sd"]),
    }


def compute_flip_shares_in_each_draw(
    columns: Columns, draw_counts: Array, thresholds: Mapping[str, float]
) -> dict[str, Array]:
    """Compute the share of items that flip, for every threshold (section 4.2.1).

    Parameters
    ----------
    columns, draw_counts
        What a statistic gets (`analysis.statistics.resampling`): (items, units) and (draws, items).
    thresholds
        From `build_thresholds_by_flip_column`.

    Returns
    -------
    dict
        Array of every measure: (draws, units).
    """
    return {
        name: compute_mean_per_draw(draw_counts, is_flipped)
        for name, is_flipped in _mark_flipped_items_by_threshold(columns, thresholds).items()
    }


def _build_hits_and_totals_of_flip_shares(columns: Columns, thresholds: Mapping[str, float]) -> dict[str, list[Share]]:
    """Give hits and totals of the share of items that flip, for every threshold."""
    items = np.ones_like(columns["minority"])
    return {
        name: [[(is_flipped, items)]]
        for name, is_flipped in _mark_flipped_items_by_threshold(columns, thresholds).items()
    }


def _mark_flipped_items_by_threshold(columns: Columns, thresholds: Mapping[str, float]) -> dict[str, Array]:
    """Mark for every threshold the items (items, units) whose minority share lies above it: 1 or 0."""
    return {name: (columns["minority"] > threshold).astype(float) for name, threshold in thresholds.items()}


def compute_validity_standard_error(study: Study) -> Array:
    """Compute the SD of the validity over rows / sqrt(rows), from sums of squares within items and between them."""
    rows, total = study.masses["rows"], study.masses["total"]
    n = np.nansum(rows, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.nansum(total, axis=0) / n
        within = np.nansum((rows - 1) * study.validity_sd**2, axis=0)
        between = np.nansum(rows * (total / rows - centre) ** 2, axis=0)
        return np.where(n > 1, np.sqrt((within + between) / (n - 1) / n), np.nan)


def list_unit_signs_common_to_all_items(agreement: Array) -> list[str]:
    """List a sign for every unit: "+" if its mean agreement with every item is above 0.5, "-" if it is below, else
    ""."""
    unit_marks = []
    for means in agreement.T:
        item_means = means[~np.isnan(means)]
        is_above, is_below = (len(item_means) and side.all() for side in (item_means > 0.5, item_means < 0.5))
        unit_marks.append("+" if is_above else "-" if is_below else "")
    return unit_marks


def list_flip_columns(frame: pd.DataFrame) -> list[str]:
    """List the flip columns of a `stability` frame, smallest threshold first."""
    return [name for name in map(str, frame.columns) if columns.parse_flip_threshold_percent(name) is not None]


def choose_headline_flip_column(frame: pd.DataFrame) -> str:
    """Choose the flip column that sentences and the overview speak about: the middle threshold."""
    flip_names = list_flip_columns(frame)
    return flip_names[(len(flip_names) - 1) // 2]
