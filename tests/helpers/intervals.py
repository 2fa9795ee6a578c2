"""What must hold of every interval of every table: it holds its estimate, and lies where the figure can be."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.reporting import catalogue

ROUNDING = 1e-12
RANGE = re.compile(r"(?:(?P<low>-?[\d.]+) to (?P<high>-?[\d.]+)|up to (?P<most>[\d.]+)|from (?P<least>[\d.]+))$")
UNITS = {"bits": (0, np.inf), "squared": (0, np.inf), "rank": (1, np.inf)}  # by the end of the unit
OF_MEASURE = {"agreement": (0, 1), "accuracy": (0, 1), "score": (0, 1)}  # what "unit of the measure" may be


def possible_range(unit: str, measure: str, difference: bool) -> tuple[float, float]:
    """The range that a unit allows: "share, 0 to 1" says it, "unit of the measure" has it of the row's measure."""
    if said := RANGE.search(unit):
        low, high = said["low"] or said["least"], said["high"] or said["most"]
        return float(low) if low else -np.inf, float(high) if high else np.inf
    if unit == "unit of the measure" and measure in OF_MEASURE:
        low, high = OF_MEASURE[measure]
        return (low - high, high - low) if difference else (low, high)
    return next((ends for end, ends in UNITS.items() if unit.endswith(end)), (-np.inf, np.inf))


def ends_by_column(name: str, frame: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Yield every column of a table that has intervals, with those of their ends."""
    entry = catalogue.look_up_table(name)
    for column in frame.columns:
        ends = entry.interval.get(column) or (f"{column}_lower", f"{column}_upper")
        if ends[0] in frame and ends[1] in frame:
            yield column, *ends
    for estimate, low, high in (("mean", "like_lower", "like_upper"), ("difference", "like_lower", "like_upper")):
        if estimate in frame and low in frame:
            yield estimate, low, high


def list_faults(name: str, frame: pd.DataFrame) -> list[str]:
    """Name the columns of a table in which a row has an interval that cannot be, or a figure that is not finite."""
    faults = []
    numbers = frame.select_dtypes("number")
    endless = np.isinf(numbers).any()
    faults += [f"{name}.{column}: infinite" for column in endless.index[endless]]
    for column, low, high in ends_by_column(name, frame):
        about = f"{name}.{column} ({low}, {high})"
        estimate, lower, upper = (frame[part].to_numpy(float) for part in (column, low, high))
        shown = ~np.isnan(lower) | ~np.isnan(upper)
        if (np.isnan(lower) | np.isnan(upper) | np.isnan(estimate))[shown].any():
            faults.append(f"{about}: half an interval, or one of nothing")
        with np.errstate(invalid="ignore"):
            outside = shown & ((estimate < lower - ROUNDING) | (estimate > upper + ROUNDING))
        if outside.any():
            faults.append(f"{about}: {outside.sum()} of {shown.sum()} estimates are outside their interval")
        unit = catalogue.look_up_column(name, column).unit
        measures = frame["measure"] if "measure" in frame else pd.Series("", frame.index)
        limits = [possible_range(unit, measure, "difference" in column) for measure in measures]
        least, most = np.array(limits).reshape(-1, 2).T
        impossible = shown & ((lower < least - ROUNDING) | (upper > most + ROUNDING))
        if impossible.any():
            faults.append(
                f"{about}: {impossible.sum()} of {shown.sum()} intervals leave the possible range of {unit!r}"
            )
    return faults
