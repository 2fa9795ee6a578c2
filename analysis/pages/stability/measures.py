"""Compute the stability measures of a model over its items, with formulas that the bootstrap can resample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.errors import InputError
from analysis.pages.stability import columns
from analysis.statistics.resampling import Array, Columns, mean, ratio, sd

if TYPE_CHECKING:
    from analysis.runs import Runs


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
        rows, total: number and sum of the validities of an item's paraphrases.
    spreads
        range, sd, minority: of an item's agreement; NaN below two valid paraphrases.
    """

    name: str
    units: list[tuple[str, str]]
    agreement: Array
    validity_sd: Array
    masses: Columns
    spreads: Columns


def studies(runs: Runs, table: pd.DataFrame) -> Iterator[Study]:
    """Yield the studies of the runs, made from the table of `tables.items`."""
    return (study(runs, name, table) for name in runs.info["studies"])


def study(runs: Runs, name: str, table: pd.DataFrame) -> Study:
    """Turn a table with the item-level columns of `tables.items` into the arrays of one study.

    The arrays have a row for every item of the study and a column for every unit, also for those without a row in the
    table.
    """
    listed = runs.execute("SELECT item FROM study_items WHERE study = ? ORDER BY position", [name]).fetchall()
    units = runs.execute("SELECT model, condition FROM units WHERE study = ? ORDER BY position", [name]).fetchall()
    long = table[table["study"] == name].set_index(["item", "model", "condition"])

    def matrix(column: str) -> Array:
        wide = long[column].unstack(["model", "condition"])
        wide = wide.reindex(index=[row[0] for row in listed], columns=pd.MultiIndex.from_tuples(units))
        return wide.to_numpy(dtype=float)

    rows = matrix("n_variants")
    rows[rows == 0] = np.nan
    spreads = {"range": "agreement_range", "sd": "agreement_sd", "minority": "minority_share"}
    return Study(
        name=name,
        units=units,
        agreement=matrix("agreement_mean"),
        validity_sd=matrix("validity_sd"),
        masses={"rows": rows, "total": rows * matrix("validity_mean")},
        spreads={key: matrix(column) for key, column in spreads.items()},
    )


def mean_agreement(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the mean over items of an item's mean agreement: which answer a model tends to, not how firmly."""
    return {"agreement_mean": mean(counts, columns["agreement"])}


def validity(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the mean validity over the rows of all items (section 4.1)."""
    return {"validity": ratio(counts, columns["total"], columns["rows"])}


def stability(columns: Columns, counts: Array, thresholds: Mapping[str, float]) -> dict[str, Array]:
    """Compute the stability measures of section 4.2.1."""
    figures = {
        "range_mean": mean(counts, columns["range"]),
        "range_sd": sd(counts, columns["range"]),
        "sd_mean": mean(counts, columns["sd"]),
        "sd_sd": sd(counts, columns["sd"]),
    }
    for name, threshold in thresholds.items():
        figures[name] = mean(counts, (columns["minority"] > threshold).astype(float))
    return figures


def named(thresholds: Sequence[float]) -> dict[str, float]:
    """Name the flip columns: two digits of per cent, then decimals (0.05 -> flip_05, 0.125 -> flip_125)."""
    named = {}
    for threshold in thresholds:
        if not 0 <= threshold < 1:
            raise InputError(f"threshold {threshold} is not a share of paraphrases: 0 <= threshold < 1, as in 0.05")
        whole, _, decimals = f"{100 * threshold:.6f}".rstrip("0").partition(".")
        named[f"flip_{whole:0>2}{decimals}"] = threshold
    return named


def standard_error(study: Study) -> Array:
    """Compute the SD of the validity over rows / sqrt(rows), from sums of squares within items and between them."""
    rows, total = study.masses["rows"], study.masses["total"]
    n = np.nansum(rows, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.nansum(total, axis=0) / n
        within = np.nansum((rows - 1) * study.validity_sd**2, axis=0)
        between = np.nansum(rows * (total / rows - centre) ** 2, axis=0)
        return np.where(n > 1, np.sqrt((within + between) / (n - 1) / n), np.nan)


def marks(agreement: Array) -> list[str]:
    """Mark every unit: "+" if its mean agreement with every item is above 0.5, "-" if it is below, else ""."""
    found = []
    for means in agreement.T:
        known = means[~np.isnan(means)]
        found.append("+" if len(known) and all(known > 0.5) else "-" if len(known) and all(known < 0.5) else "")
    return found


def flip_columns(frame: pd.DataFrame) -> list[str]:
    """List the flip columns of a `stability` frame, smallest threshold first."""
    return [name for name in map(str, frame.columns) if columns.threshold(name) is not None]


def headline(frame: pd.DataFrame) -> str:
    """Choose the flip column that sentences and the overview speak about: the middle threshold."""
    columns = flip_columns(frame)
    return columns[(len(columns) - 1) // 2]
