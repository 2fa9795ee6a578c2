"""Hold figures with their 95 % intervals, and why an interval is missing; turn them into the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.statistics.significance import ROUNDING

ONE_ITEM = "one item only"
FEW = "too few items"  # for an interval of this figure to hold the true value often enough
DECIDED = "a few items decide it"  # so that no interval holds the true value often enough
UNDEFINED = "undefined in some resamples"
EQUAL = "the same in every resample"
_WIDTH = 1e-9  # of the figure: a narrower interval is rounding
SOMETIMES = (ONE_ITEM, FEW, UNDEFINED, EQUAL)
REASONS = (*SOMETIMES, DECIDED)


@dataclass(frozen=True, slots=True)
class Interval:
    """Hold one figure for every unit (or pair of units): arrays of one length.

    Attributes
    ----------
    estimate
        The statistic on all items.
    lower, upper
        95 % interval; NaN where there is none.
    n_items
        Number of items (clusters) that the figure is computed from.
    missing
        Why there is no interval, one of `REASONS`. Empty where there is one, where the figure itself is undefined, and
        where no interval was asked for.
    p, p_least
        Two-sided p value of the figure against 0, for figures that are differences: of
        `significance.compute_mcnemar_p_of_share_differences` where both sides are shares with one answer to each of the
        same items, else of `significance.compute_two_sided_bootstrap_p`. NaN where there is no interval, but 1 where
        the items do not differ at all, and known where they are too few for an interval. p_least is the smallest that
        so few items or draws allow.
    """

    estimate: npt.NDArray[np.float64]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    n_items: npt.NDArray[np.int64]
    missing: npt.NDArray[np.object_]
    p: npt.NDArray[np.float64]
    p_least: npt.NDArray[np.float64]


def build_interval_without_values(n_items: npt.NDArray[np.int64]) -> Interval:
    """Return the interval of units of which only the number of items is known."""
    estimate, lower, upper, p, p_least = (np.full(len(n_items), np.nan) for _ in range(5))
    return Interval(estimate, lower, upper, n_items, np.full(len(n_items), "", object), p, p_least)


def write_ends_or_reason_into_open_intervals(
    interval: Interval, units: npt.NDArray[np.intp], ends: tuple[npt.NDArray[np.float64], ...],
    magnitude: npt.NDArray[np.float64], least_items: float,
) -> None:  # fmt: skip
    """Write the ends of intervals, or why there is none, where a figure is defined and has no interval yet.

    Parameters
    ----------
    interval
        Over all units; it is changed.
    units
        Units with the same items.
    ends
        Lower and upper ends of the intervals of these units.
    magnitude
        How large the figures are that were subtracted: a width far below it is rounding.
    least_items
        With fewer items, no interval is shown; infinite: with none, as a few items decide the figure.
    """
    lower, upper = ends
    width = upper - lower
    reason_by_unit = np.where(
        np.isnan(width), UNDEFINED, np.where(width <= np.maximum(_WIDTH * magnitude, ROUNDING), EQUAL, "")
    )
    n_items = interval.n_items[units[0]]
    if n_items < least_items:
        reason_by_unit = np.where(reason_by_unit == EQUAL, EQUAL, DECIDED if np.isinf(least_items) else FEW)
    if n_items < 2:
        reason_by_unit[:] = ONE_ITEM
    is_open = np.isnan(interval.lower[units]) & ~np.isnan(interval.estimate[units])
    interval.missing[units[is_open]] = reason_by_unit[is_open]
    has_ends = is_open & (reason_by_unit == "")
    interval.lower[units[has_ends]], interval.upper[units[has_ends]] = lower[has_ends], upper[has_ends]


def build_interval_columns(intervals: Mapping[str, Interval]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a table with a row per unit: X, X_lower, X_upper of every figure X, and `no_interval`.

    `no_interval` names the figures of a row that have none, by their columns, and says why: "range_mean, sd_mean: one
    item only". It leaves out those that never have one (`DECIDED`): the meanings of their columns say so.
    """
    table: dict[str, npt.NDArray[Any]] = {}
    for name, figure in intervals.items():
        table |= {name: figure.estimate, f"{name}_lower": figure.lower, f"{name}_upper": figure.upper}
    table["no_interval"] = np.full(len(next(iter(intervals.values())).missing), "", object)
    bare = np.any([(figure.missing != "") & (figure.missing != DECIDED) for figure in intervals.values()], axis=0)
    for unit in np.flatnonzero(bare):
        names = {
            reason: [name for name, figure in intervals.items() if figure.missing[unit] == reason]
            for reason in SOMETIMES
        }
        table["no_interval"][unit] = "; ".join(
            f"{', '.join(figure_names)}: {reason}" for reason, figure_names in names.items() if figure_names
        )
    return table


def list_reasons_for_missing_intervals(no_interval_texts: list[str], figures: tuple[str, ...]) -> list[str]:
    """List why some of these figures have no interval.

    Parameters
    ----------
    no_interval_texts
        Of the column `no_interval` (`build_interval_columns`).
    figures
        Names of figures. A text that names none is about all.

    Returns
    -------
    list of str
        Those of `REASONS` that occur, in that order.

    >>> list_reasons_for_missing_intervals(["range_mean, sd_mean: one item only", ""], ("sd_mean",))
    ['one item only']
    """
    stated_reasons = set()
    for text in no_interval_texts:
        for part in filter(None, text.split("; ")):
            names, _, reason = part.rpartition(": ")
            if not names or set(names.split(", ")) & set(figures):
                stated_reasons.add(reason)
    return [reason for reason in REASONS if reason in stated_reasons]
