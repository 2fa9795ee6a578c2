"""The figures of one model over its items, as statistics that `analysis.statistics.resampling` can resample."""

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
    """The item-level columns of one study as arrays (items, units); NaN where a unit has nothing.

    Attributes
    ----------
    units
        (model, condition) of every unit.
    agreement, validity_sd
        Mean agreement and SD of the validity of an item's paraphrases.
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
    """The studies of the runs, from the table of `stability.items`."""
    return (study(runs, name, table) for name in runs.info["studies"])


def study(runs: Runs, name: str, table: pd.DataFrame) -> Study:
    """One study, from a table with the item-level columns of `stability.items`.

    The arrays have a row for every item of the study and a column for every unit, whether the table has them or not.
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


def validity(columns: Columns, counts: Array) -> dict[str, Array]:
    """Mean validity over the rows of all items (section 4.1)."""
    return {"validity": ratio(counts, columns["total"], columns["rows"])}


def stability(columns: Columns, counts: Array, thresholds: Mapping[str, float]) -> dict[str, Array]:
    """The stability figures of section 4.2.1."""
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
    """Column name -> threshold: two digits of per cent, then decimals (0.05 -> flip_05, 0.125 -> flip_125)."""
    named = {}
    for threshold in thresholds:
        if not 0 <= threshold < 1:
            raise InputError(f"threshold {threshold} is not a share of paraphrases: 0 <= threshold < 1, as in 0.05")
        whole, _, decimals = f"{100 * threshold:.6f}".rstrip("0").partition(".")
        named[f"flip_{whole:0>2}{decimals}"] = threshold
    return named


def standard_error(study: Study) -> Array:
    """SD over rows / sqrt(rows) of the validity, the squares summed up within items and between them."""
    rows, total = study.masses["rows"], study.masses["total"]
    n = np.nansum(rows, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.nansum(total, axis=0) / n
        within = np.nansum((rows - 1) * study.validity_sd**2, axis=0)
        between = np.nansum(rows * (total / rows - centre) ** 2, axis=0)
        return np.where(n > 1, np.sqrt((within + between) / (n - 1) / n), np.nan)


def marks(agreement: Array) -> list[str]:
    """Per unit: "+" where it agrees with every item in the mean, "-" where it disagrees, "" otherwise."""
    found = []
    for means in agreement.T:
        known = means[~np.isnan(means)]
        found.append("+" if len(known) and all(known > 0.5) else "-" if len(known) and all(known < 0.5) else "")
    return found


def flip_columns(frame: pd.DataFrame) -> list[str]:
    """The flip columns of a `stability` frame, smallest threshold first."""
    return [name for name in map(str, frame.columns) if columns.threshold(name) is not None]


def headline(frame: pd.DataFrame) -> str:
    """The flip column that sentences and the overview speak about: the middle threshold."""
    columns = flip_columns(frame)
    return columns[(len(columns) - 1) // 2]
