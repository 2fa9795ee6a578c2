"""Show conditions that differ in the order of the options only as one row, until their figures differ.

The rule, written once for all tables, figures and sentences of a page. Two rows of a model, equal in all that names a
row but the order of the options, are one where

1. every figure with a 95 % interval lies in the interval that the other row has for it,
2. every p value is on the same side of 0.05 as the other row's,
3. every other figure that is shown differs by less than one of the last digit that is printed; in a figure of coloured
   cells, by less than a shade (`SHADE`), and
4. no paired comparison of the two conditions that the page has made is significant, where the difference can be seen
   in the digits that are printed.

All rows that a model has in a table are joined, or none. A joined row has the mean of each figure, the interval from
the lowest to the highest end, and the larger p value. Only what is shown is joined: the CSV file has every row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.reporting import catalogue
from analysis.statistics.multiplicity import ALPHA

UNIT = ["study", "model", "condition"]
BOTH_ORDERS = "both orders"
SHADE = 0.05  # of a scale from 0 to 1; colours that are nearer to each other look the same
# An interval that is wide enough holds any figure: that no difference was found does not say that both are the same.
JOINED_NOTE = " Both orders of the options are shown once, as their mean: no clear difference between them was found."
PARTLY_JOINED_NOTE = (
    " Where no clear difference between both orders of the options was found, they are shown once, as their mean."
)
JOINING_RULE = (
    "Both orders are shown once where each figure lies in the other's interval, looks the same where it has none, and "
    "no test differs. That does not show that they are the same: a wide interval holds much. Shown is their mean, with "
    "an interval that holds both."
)
Conditions = Mapping[str, Mapping[str, Mapping[str, Any]]]  # study -> condition -> settings, as in run.json


def merge_rows_of_both_option_orders(
    table_name: str,
    frame: pd.DataFrame,
    shown_columns: Collection[str],
    conditions: Conditions,
    differing_pairs: Collection[tuple[str, str, frozenset[str]]] = (),
    least_difference: float | None = None,
) -> pd.DataFrame:
    """Join the rows of a table that differ in the order of the options only, where their figures do not differ.

    Parameters
    ----------
    table_name
        A table of the catalogue.
    frame
        Its rows; those without columns study, model and condition stay as they are.
    shown_columns
        The columns that are shown.
    conditions
        Settings of the conditions; `option_order` is the one that may differ.
    differing_pairs
        Study, model and two conditions that a paired comparison has found to differ.
    least_difference
        The least difference that can be seen in figures without an interval; one of the last digit unless given.

    Returns
    -------
    DataFrame
        The same columns; a joined row stands in the place of its first one. Its condition ends in "both orders".
    """
    if not has_several_option_orders(frame, conditions):
        return frame
    rows = frame.reset_index(drop=True)
    names = [
        replace_order_by_both_orders(conditions, *key) for key in zip(rows["study"], rows["condition"], strict=True)
    ]
    renamed_rows = rows.assign(condition=names)
    group = _number_groups_of_mergeable_rows(renamed_rows)
    is_alike = _mark_groups_with_row_per_order(rows["condition"], group)
    if not is_alike.any():
        return frame
    figures = [key for key in dict.fromkeys(shown_columns) if key in rows and _is_column_of_numbers(rows[key])]
    if figures:
        is_alike &= _mark_rows_equal_to_their_group(table_name, renamed_rows, figures, group, least_difference)
    is_alike &= ~_mark_rows_of_models_tested_to_differ_by_order(renamed_rows, differing_pairs, conditions)
    unit = renamed_rows.groupby(UNIT, sort=False, dropna=False).ngroup()
    is_joined = is_alike.groupby(unit).transform("all")
    if not is_joined.any():
        return frame
    joined_rows = _summarize_rows_by_group(table_name, renamed_rows[is_joined], group[is_joined])
    return pd.concat([rows[~is_joined], joined_rows]).sort_index(kind="stable")[list(frame)]


def has_several_option_orders(frame: pd.DataFrame, conditions: Conditions) -> bool:
    """Tell whether a frame has conditions that differ in the order of the options only.

    Parameters
    ----------
    frame
        Rows; without columns study, model and condition, none differ.
    conditions
        Settings of the conditions (`Runs.info`).

    Returns
    -------
    Whether there are some in one study.
    """
    if not set(UNIT) <= set(frame):
        return False
    study_conditions = list(frame[["study", "condition"]].drop_duplicates().itertuples(index=False, name=None))
    without_order = {(study, replace_order_by_both_orders(conditions, study, name)) for study, name in study_conditions}
    return len(without_order) < len(study_conditions)


def explain_option_orders_shown_as_mean(conditions: Conditions, *frames: pd.DataFrame) -> str:
    """Say that both orders are shown once, where one of some frames has such rows; empty elsewhere.

    Parameters
    ----------
    conditions
        Settings of the conditions (`Runs.info`).
    *frames
        What is shown: rows with columns study, model, condition, or with these of two sides (a_model, b_model).

    Returns
    -------
    A sentence after a blank: `JOINED_NOTE`, or `PARTLY_JOINED_NOTE` where a model has a row for
    each order.
    """
    columns = (frame[key] for frame in frames for key in frame if str(key).endswith("condition"))
    if not any(column.astype(str).str.contains(BOTH_ORDERS, regex=False).any() for column in columns):
        return ""
    sides = [side for frame in frames for side in _extract_unit_columns_of_each_side(frame)]
    by_model = pd.concat(sides).groupby("model", sort=False) if sides else ()
    is_partly = any(has_several_option_orders(rows, conditions) for _, rows in by_model)
    return PARTLY_JOINED_NOTE if is_partly else JOINED_NOTE


def _extract_unit_columns_of_each_side(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """List study, model and condition of the rows, or of both sides of each."""
    names = (["study", f"{side}model", f"{side}condition"] for side in ("", "a_", "b_"))
    return [frame[columns].set_axis(UNIT, axis=1) for columns in names if set(columns) <= set(frame)]


def rename_conditions_like_joined_table(
    frame: pd.DataFrame, joined_rows: pd.DataFrame, conditions: Conditions, column_prefix: str = ""
) -> pd.DataFrame:
    """Give the rows of another table the conditions that a joined table has for them.

    Parameters
    ----------
    frame
        Has columns study, model, condition, or with a `column_prefix` such as "a_": study, a_model, a_condition.
    joined_rows
        From `merge_rows_of_both_option_orders`.
    conditions
        Settings of the conditions (`Runs.info`).
    column_prefix
        Beginning of the columns' names; empty for none.

    Returns
    -------
    The frame with new conditions; rows of models that `joined_rows` does not join keep theirs.
    """
    joined_units = set(joined_rows[UNIT].itertuples(index=False, name=None))
    keys = ["study", f"{column_prefix}model", f"{column_prefix}condition"]
    new_names = {}
    for study, model, name in frame[keys].drop_duplicates().itertuples(index=False, name=None):
        joined_name = replace_order_by_both_orders(conditions, study, name)
        new_names[study, model, name] = joined_name if (study, model, joined_name) in joined_units else name
    units = frame[keys].itertuples(index=False, name=None)
    return frame.assign(**{f"{column_prefix}condition": [new_names[unit] for unit in units]})


def replace_order_by_both_orders(conditions: Conditions, study: str, name: str) -> str:
    """Return the name of a condition without the order of its options; its own where it has no order.

    Parameters
    ----------
    conditions
        Settings of the conditions (`Runs.info`).
    study, name
        The condition.

    Returns
    -------
    Such as "chat/both orders" for "chat/yes-no"; "up" in "upset" is no order.
    """
    order = conditions.get(study, {}).get(name, {}).get("option_order")
    return re.sub(rf"(?<![^\W_]){re.escape(str(order))}(?![^\W_])", BOTH_ORDERS, name) if order else name


def _is_column_of_numbers(column: pd.Series) -> bool:
    """Return whether a column holds numbers, truth values left out."""
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def _find_interval_ends_of_column(table_name: str, rows: pd.DataFrame, column: str) -> tuple[str, str] | None:
    """Return the columns with the ends of a figure's interval, if the table has them."""
    ends = catalogue.look_up_table(table_name).interval.get(column, (f"{column}_lower", f"{column}_upper"))
    return ends if ends and set(ends) <= set(rows) else None


def _is_p_value_column(table_name: str, column: str) -> bool:
    """Return whether a column holds p values: `p` is a part of its name, and it has no unit, as probabilities do."""
    return "p" in column.split("_") and not catalogue.look_up_column(table_name, column).unit


def compute_last_digit_unit_of_column(table_name: str, column: str) -> float:
    """Return one of the last digit with which a column of a table is printed.

    Parameters
    ----------
    table_name
        A table of the catalogue.
    column
        A column of it.

    Returns
    -------
    0.01 for two digits; 1 for a column without decimals.
    """
    return float(10.0 ** -(catalogue.look_up_column(table_name, column).digits or 0))


def _number_groups_of_mergeable_rows(renamed_rows: pd.DataFrame) -> pd.Series:
    """Number the rows that would be one: alike in the unit without its order, and in all that is no number."""
    text_columns = [key for key in renamed_rows if key not in UNIT and not _is_column_of_numbers(renamed_rows[key])]
    texts = {f"text_{key}": renamed_rows[key].map(str) for key in text_columns}
    keys = renamed_rows[UNIT].assign(**texts)
    return keys.groupby(list(keys), sort=False, dropna=False).ngroup()


def _mark_groups_with_row_per_order(condition: pd.Series, group: pd.Series) -> pd.Series:
    """Tell for each row whether its group has several conditions, and one row of each."""
    n_conditions = condition.groupby(group).transform("nunique")
    n_rows = group.groupby(group).transform("size")
    return (n_conditions == n_rows) & (n_conditions > 1)


def _mark_rows_of_models_tested_to_differ_by_order(
    renamed_rows: pd.DataFrame, differing_pairs: Collection[tuple[str, str, frozenset[str]]], conditions: Conditions
) -> pd.Series:
    """Tell for each row whether a paired comparison has found that its model differs between the orders."""
    differing_units = set()
    for study, model, pair in differing_pairs:
        names = {replace_order_by_both_orders(conditions, study, condition) for condition in pair}
        if len(names) == 1:  # else the two differ in more than the order
            differing_units.add((study, model, *names))
    units = renamed_rows[UNIT].itertuples(index=False, name=None)
    return pd.Series([unit in differing_units for unit in units], renamed_rows.index)


def _mark_rows_equal_to_their_group(
    table_name: str, rows: pd.DataFrame, number_columns: Sequence[str], group: pd.Series, least_difference: float | None
) -> pd.Series:
    """Tell for each row whether none of its figures differs from those of its group."""
    p_values = [key for key in number_columns if _is_p_value_column(table_name, key)]
    ends = {key: _find_interval_ends_of_column(table_name, rows, key) for key in number_columns if key not in p_values}
    columns = [*number_columns, *(end for pair in ends.values() if pair for end in pair)]
    values = rows[list(dict.fromkeys(columns))]
    values = values.assign(**{key: values[key] < ALPHA for key in p_values}).astype(float)  # a test's decision: 0 or 1
    by_group = values.groupby(group)
    lowest, highest, n_known, n_rows = (by_group.transform(how) for how in ("min", "max", "count", "size"))
    is_alike = pd.Series(True, rows.index)
    for key in number_columns:
        if key in p_values:
            least = 0.5
        else:
            least = compute_last_digit_unit_of_column(table_name, key) if least_difference is None else least_difference
        looks_alike = (n_known[key] == 0) | (highest[key] - lowest[key] < least) & (n_known[key] == n_rows)
        if interval := ends.get(key):
            lower, upper = interval
            lies_inside = (lowest[key] >= highest[lower]) & (highest[key] <= lowest[upper])
            has_intervals = n_known[[key, lower, upper]].eq(n_rows, axis=0).all(axis=1)
            looks_alike = lies_inside.where(has_intervals, looks_alike)
        is_alike &= looks_alike
    return is_alike


def _summarize_rows_by_group(table_name: str, rows: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """Join the rows of every group: means, lowest and highest ends of intervals, and what all of them say."""
    first_place = rows.index.to_series().groupby(group).first()
    ways = {key: _choose_aggregate_of_column_values(table_name, key, rows[key]) for key in rows}
    joined_rows = rows.groupby(group).agg(ways)
    return joined_rows.set_index(first_place.reindex(joined_rows.index).to_numpy())


def _choose_aggregate_of_column_values(table_name: str, key: str, column: pd.Series) -> str:
    """Choose how pandas joins the values of a column: first, min, max or mean."""
    if not _is_column_of_numbers(column):
        return "first"
    if key.endswith(("lower", "_min")):
        return "min"
    if key.endswith(("upper", "_max")) or _is_p_value_column(table_name, key):
        return "max"
    return "mean"
