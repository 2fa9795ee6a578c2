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

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.reporting import catalogue
from analysis.statistics.multiplicity import ALPHA

UNIT = ["study", "model"]
BOTH_ORDERS = "both orders"
SHADE = 0.05  # of a scale from 0 to 1; colours that are nearer to each other look the same
JOINED_NOTE = (
    " Both orders of the options are one where nothing tells them apart: each figure lies in the other's interval, "
    "looks the same where it has none, and no test differs. Shown is their mean, with an interval that holds both."
)
REPEATED_NOTE = " Both orders of the options are one where nothing tells them apart, as said above."
Conditions = Mapping[str, Mapping[str, Mapping[str, Any]]]  # study -> condition -> settings, as in run.json


def join_order_rows(
    name: str,
    frame: pd.DataFrame,
    shown: Collection[str],
    conditions: Conditions,
    differing: Collection[tuple[str, str, frozenset[str]]] = (),
    seen: float | None = None,
) -> pd.DataFrame:
    """Join the rows of a table that differ in the order of the options only, where their figures do not differ.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows; those without columns study, model and condition stay as they are.
    shown
        The columns that are shown.
    conditions
        Settings of the conditions; `option_order` is the one that may differ.
    differing
        Study, model and two conditions that a paired comparison has found to differ.
    seen
        The least difference that can be seen in figures without an interval; one of the last digit unless given.

    Returns
    -------
    DataFrame
        The same columns; a joined row stands in the place of its first one. Its condition ends in "both orders".
    """
    if not has_several_orders(frame, conditions):
        return frame
    joined_names = [
        _name_without_order(conditions, *key) for key in zip(frame["study"], frame["condition"], strict=True)
    ]
    text_columns = [key for key in frame if key not in (*UNIT, "condition") and not _is_numeric(frame[key])]
    rows = frame.assign(condition=joined_names).reset_index(drop=True)
    keys = rows[[*UNIT, "condition"]].assign(**{f"text_{key}": rows[key].map(str) for key in text_columns})
    group = keys.groupby(list(keys), sort=False, dropna=False).ngroup()
    partners = frame["condition"].reset_index(drop=True).groupby(group).transform("nunique")
    is_alike = (partners == group.groupby(group).transform("size")) & (partners > 1)
    if not is_alike.any():
        return frame
    figures = [key for key in dict.fromkeys(shown) if key in rows and _is_numeric(rows[key])]
    if figures:
        is_alike &= _mark_alike_rows(name, rows, figures, group, seen)
    differing_units = {
        (study, model, *{_name_without_order(conditions, study, member) for member in pair})
        for study, model, pair in differing
    }
    units = rows[[*UNIT, "condition"]].itertuples(index=False, name=None)
    is_alike &= pd.Series([unit not in differing_units for unit in units], rows.index)
    unit = rows.groupby([*UNIT, "condition"], sort=False, dropna=False).ngroup()
    member = is_alike.groupby(unit).transform("all")
    apart_rows = rows.assign(condition=frame["condition"].to_numpy())[~member]
    if len(apart_rows) == len(rows):
        return frame
    return pd.concat([apart_rows, _join_groups(rows[member], group[member])]).sort_index(kind="stable")[list(frame)]


def has_several_orders(frame: pd.DataFrame, conditions: Conditions) -> bool:
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
    if not {*UNIT, "condition"} <= set(frame):
        return False
    study_conditions = list(frame[["study", "condition"]].drop_duplicates().itertuples(index=False, name=None))
    return len({(study, _name_without_order(conditions, study, name)) for study, name in study_conditions}) < len(
        study_conditions
    )


def describe_joined_orders(*frames: pd.DataFrame) -> str:
    """Say what a row for both orders is, where one of some frames has such rows; empty elsewhere."""
    columns = (frame[key] for frame in frames for key in frame if str(key).endswith("condition"))
    return (
        JOINED_NOTE
        if any(column.astype(str).str.contains(BOTH_ORDERS, regex=False).any() for column in columns)
        else ""
    )


def rename_joined_conditions(
    frame: pd.DataFrame, joined_rows: pd.DataFrame, conditions: Conditions, side: str = ""
) -> pd.DataFrame:
    """Give the rows of another table the conditions that a joined table has for them.

    Parameters
    ----------
    frame
        Has columns study, model, condition, or with a `side` such as "a_": study, a_model, a_condition.
    joined_rows
        From `join_order_rows`.
    conditions
        Settings of the conditions (`Runs.info`).
    side
        Beginning of the columns' names; empty for none.

    Returns
    -------
    The frame with new conditions; rows of models that `joined_rows` does not join keep theirs.
    """
    joined_units = set(joined_rows[[*UNIT, "condition"]].itertuples(index=False, name=None))
    model, condition = f"{side}model", f"{side}condition"
    units = frame[["study", model, condition]].drop_duplicates()
    names = {
        (study, model_id, old_name): new_name
        if (study, model_id, new_name := _name_without_order(conditions, study, old_name)) in joined_units
        else old_name
        for study, model_id, old_name in units.itertuples(index=False, name=None)
    }
    keys = frame[["study", model, condition]].itertuples(index=False, name=None)
    return frame.assign(**{condition: [names[key] for key in keys]})


def _name_without_order(conditions: Conditions, study: str, name: str) -> str:
    """Return the name of a condition without the order of its options; its own where it has no order."""
    order = conditions.get(study, {}).get(name, {}).get("option_order")
    return name.replace(str(order), BOTH_ORDERS) if order and str(order) in name else name


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def _find_interval_columns(name: str, rows: pd.DataFrame, key: str) -> tuple[str, str] | None:
    """Return the columns with the ends of a figure's interval, if the table has them."""
    ends = catalogue.look_up_table(name).interval.get(key, (f"{key}_lower", f"{key}_upper"))
    return ends if ends and set(ends) <= set(rows) else None


def _is_p_value(key: str) -> bool:
    return key == "p" or key.startswith("p_")


def compute_last_digit(name: str, key: str) -> float:
    """Return one of the last digit with which a column of a table is printed.

    Parameters
    ----------
    name
        A table of the catalogue.
    key
        A column of it.

    Returns
    -------
    0.01 for two digits; 1 for a column without decimals.
    """
    return float(10.0 ** -(catalogue.look_up_column(name, key).digits or 0))


def _mark_alike_rows(
    name: str, rows: pd.DataFrame, figures: Sequence[str], group: pd.Series, least_difference: float | None
) -> pd.Series:
    """Tell for each row whether none of its figures differs from those of its group."""
    ends = {
        key: interval_columns
        for key in figures
        if not _is_p_value(key) and (interval_columns := _find_interval_columns(name, rows, key))
    }
    used = [*figures, *(end for pair in ends.values() for end in pair)]
    values = rows[list(dict.fromkeys(used))]
    values = values.assign(**{key: values[key] < ALPHA for key in figures if _is_p_value(key)}).astype(float)
    grouped = values.groupby(group)
    low, high, n_known, size = (grouped.transform(how) for how in ("min", "max", "count", "size"))
    is_alike = pd.Series(True, rows.index)
    for key in figures:
        least = (
            0.5 if _is_p_value(key) else compute_last_digit(name, key) if least_difference is None else least_difference
        )  # one decision of a test is 1
        close = (n_known[key] == 0) | (high[key] - low[key] < least) & (n_known[key] == size)
        if key in ends:
            lower, upper = ends[key]
            inside = (low[key] >= high[lower]) & (high[key] <= low[upper])
            whole = (n_known[[key, lower, upper]].eq(size, axis=0)).all(axis=1)
            close = inside.where(whole, close)
        is_alike &= close
    return is_alike


def _join_groups(rows: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """Join the rows of every group: means, lowest and highest ends of intervals, and what all of them say."""

    def choose_rule(key: str) -> str:
        if not _is_numeric(rows[key]):
            return "first"
        return (
            "min"
            if key.endswith(("lower", "_min"))
            else "max"
            if key.endswith(("upper", "_max")) or _is_p_value(key)
            else "mean"
        )

    first = rows.index.to_series().groupby(group).first()
    joined_rows = rows.groupby(group).agg({key: choose_rule(key) for key in rows})
    return joined_rows.set_index(first.reindex(joined_rows.index).to_numpy())
