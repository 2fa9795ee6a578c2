"""Compute measures of a reader's own: functions of the answers to one item, given from Python."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from analysis.measures.agreement import create_agreement_tables
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.reporting.catalogue import look_up_table
from analysis.reporting.catalogue.columns import ADDED, Column
from analysis.runs import Runs
from analysis.statistics.interval import Interval
from analysis.statistics.resampling import Array, average_columns_in_each_draw, bootstrap_intervals
from analysis.statistics.shares import build_shares_counting_items_once
from ground.errors import InputError, shorten_to_one_line

ItemMeasure: TypeAlias = Callable[[pd.DataFrame], float]
ItemMeasures: TypeAlias = Mapping[str, ItemMeasure]
KEY = ["study", "model", "condition", "item"]
DIGITS = 3


def add_reader_measures_to_item_table(
    runs: Runs, item_table: pd.DataFrame, measures: ItemMeasures | None
) -> pd.DataFrame:
    """Add a column of a reader's own for every measure to a table with a row per item.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    item_table
        study, model, condition, item.
    measures
        Name -> function. It gets the answers of one model under one condition to the paraphrases of one item, in the
        order of the study: variant, text, agreement (NaN where undefined), validity; it returns a number, or NaN where
        there is none. None: nothing is added.

    Returns
    -------
    DataFrame
        The table; NaN for an item without answers.

    Raises
    ------
    InputError
        For a name that cannot be a column, and a function that fails or returns no number.
    """
    if measures is None:
        return item_table
    refuse_invalid_added_measures(measures)
    keys = pd.MultiIndex.from_frame(item_table[KEY])
    columns = {}
    for name, function in measures.items():
        values = runs.compute_once(
            ("measure of items", function), partial(_map_items_of_all_units_to_added_measure, runs, name, function)
        )
        columns[name] = [values.get(key, math.nan) for key in keys]
        ADDED["items", name] = Column(_get_first_docstring_line(function), "", name, DIGITS)
    return item_table.assign(**columns)


def refuse_invalid_added_measures(measures: Any) -> None:
    """Refuse what are no functions by name, and names that a column of the tables has or may have."""
    if not isinstance(measures, Mapping) or not all(map(callable, measures.values())):
        raise InputError("measures are functions by name, given from Python: measures={'gini': compute_gini}")
    taken = {column for table in ("items", "stability") for column in look_up_table(table).columns}
    for name in measures:
        is_flip = isinstance(name, str) and parse_flip_threshold_percent(name) is not None
        is_taken = name in taken or str(name).endswith(("_lower", "_upper", "_n"))
        if not isinstance(name, str) or not name.isidentifier() or is_taken or is_flip:
            raise InputError(
                f"measure {shorten_to_one_line(repr(name))} cannot be a column: take letters, digits and _, no name of "
                "a column of the table, and none that ends in _lower, _upper or _n"
            )


def _map_items_of_all_units_to_added_measure(
    runs: Runs, name: str, function: ItemMeasure
) -> dict[tuple[str, ...], float]:
    """Compute a measure of every item: key of an item under a model -> value. One unit is in memory at a time."""
    create_agreement_tables(runs)
    values: dict[tuple[str, ...], float] = {}
    for unit in runs.execute("SELECT study, model, condition FROM units ORDER BY position").fetchall():
        rows = runs.sql(
            """
            SELECT item, variant, text, agreement, validity
            FROM (SELECT * FROM answers WHERE study = ? AND model = ? AND condition = ? AND NOT original)
            JOIN (SELECT study, item, variant, text, position FROM stimuli) USING (study, item, variant)
            ORDER BY position""",
            unit,
        ).astype({"agreement": float, "validity": float})
        for item, item_rows in rows.groupby("item", sort=False):
            where = f"measure {name!r}, model {unit[1]!r} ({unit[2]}), item {str(item)!r}"
            values[*unit, str(item)] = _apply_measure_to_item(function, item_rows.drop(columns="item"), where)
    return values


def _apply_measure_to_item(function: ItemMeasure, rows: pd.DataFrame, where: str) -> float:
    """Compute the measure of one item; refuse what is no number, and say where a function failed."""
    try:
        value = function(rows.reset_index(drop=True))
    except Exception as error:  # whatever a reader's function raises is told in one line, with the item
        raise InputError(f"{where}: {type(error).__name__}: {shorten_to_one_line(str(error), 200)}") from error
    try:
        number = float(value) if isinstance(value, numbers.Real | np.bool_) else math.inf
    except OverflowError:  # a whole number of more than 308 digits
        number = math.inf
    if math.isinf(number):
        raise InputError(
            f"{where}: it returned {shorten_to_one_line(repr(value))}, which is no number; NaN stands for none"
        )
    return number


def estimate_added_measures(
    values_by_name: Mapping[str, Array], measures: ItemMeasures | None, *, draws: int, seed: int
) -> dict[str, Interval]:
    """Compute the mean over items of every added measure, with its interval by resampling items.

    The mean of a measure that is 0 or 1 for every item is a share, and gets the interval of a share.

    Parameters
    ----------
    values_by_name
        Values (items, units); NaN is left out.
    measures
        The functions, for what the columns mean.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    dict
        Name of the measure -> its `Interval` over units.
    """
    estimates: dict[str, Interval] = {}
    for name, values in values_by_name.items():
        estimates |= bootstrap_intervals(
            {name: values},
            average_columns_in_each_draw,
            shares=partial(build_shares_counting_items_once, names=[name])
            if _has_only_zeros_and_ones(values)
            else None,
            draws=draws,
            seed=seed,
        )
        meaning = f"mean over items of: {_get_first_docstring_line((measures or {})[name])}"
        ADDED["stability", name] = Column(meaning, "", name, DIGITS)
        ADDED["stability", f"{name}_n"] = Column(f"items with a value of {name}", "items", f"{name} n")
    return estimates


def _has_only_zeros_and_ones(values: Array) -> bool:
    """Tell whether every item has 0, 1 or no value."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def _get_first_docstring_line(function: ItemMeasure) -> str:
    """Return the first line of a function's docstring, which says what it measures."""
    lines = (inspect.getdoc(function) or "").strip().splitlines() if inspect.isroutine(function) else []
    return shorten_to_one_line(lines[0], 200) if lines else "own measure"
