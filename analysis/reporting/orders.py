"""Show conditions that differ in the order of the options only as one row, until their figures differ.

The rule, written once for all tables of a page. Two rows of a model, equal in all that names a row but the order of the
options, are one where

1. every figure with a 95 % interval lies in the interval that the other row has for it,
2. every other figure that is shown differs by less than one of the last digit that is printed, and
3. no paired comparison of the two conditions that the page has made is significant.

All rows that a model has in a table are joined, or none. A joined row has the mean of each figure, and the interval
from the lowest to the highest end. Only what is shown is joined: the CSV file has every row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from analysis.reporting import catalogue

UNIT = ["study", "model"]
BOTH = "both orders"
CAPTION = (
    " One row stands for both orders of the options where no figure of one order is outside the interval of the other. "
    "It has the mean of both, and an interval that holds both intervals."
)
Conditions = Mapping[str, Mapping[str, Mapping[str, Any]]]  # study -> condition -> settings, as in run.json


def joined(
    name: str,
    frame: pd.DataFrame,
    shown: Collection[str],
    conditions: Conditions,
    differing: Collection[tuple[str, str, frozenset[str]]] = (),
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

    Returns
    -------
    DataFrame
        The same columns; a joined row stands in the place of its first one. Its condition ends in "both orders".
    """
    if not {*UNIT, "condition"} <= set(frame) or frame.empty:
        return frame
    both = [_both(conditions, *key) for key in zip(frame["study"], frame["condition"], strict=True)]
    texts = [key for key in frame if key not in (*UNIT, "condition") and not _numeric(frame[key])]
    rows = frame.assign(condition=both).reset_index(drop=True)
    keys = rows[[*UNIT, "condition"]].assign(**{f"text_{key}": rows[key].map(str) for key in texts})
    group = keys.groupby(list(keys), sort=False, dropna=False).ngroup()
    partners = frame["condition"].reset_index(drop=True).groupby(group).transform("nunique")
    alike = (partners == group.groupby(group).transform("size")) & (partners > 1)
    for key in shown:
        if key in rows and _numeric(rows[key]):
            alike &= _alike(name, rows, key, group)
    apart = {(study, model, *{_both(conditions, study, one) for one in pair}) for study, model, pair in differing}
    units = rows[[*UNIT, "condition"]].itertuples(index=False, name=None)
    alike &= pd.Series([unit not in apart for unit in units], rows.index)
    unit = rows.groupby([*UNIT, "condition"], sort=False, dropna=False).ngroup()
    one = alike.groupby(unit).transform("all")
    apart_rows = rows.assign(condition=frame["condition"].to_numpy())[~one]
    if len(apart_rows) == len(rows):
        return frame
    return pd.concat([apart_rows, _mean(rows[one], group[one])]).sort_index(kind="stable")[list(frame)]


def _both(conditions: Conditions, study: str, name: str) -> str:
    """Return the name of a condition without the order of its options; its own where it has no order."""
    order = conditions.get(study, {}).get(name, {}).get("option_order")
    return name.replace(str(order), BOTH) if order and str(order) in name else name


def _numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def _ends(name: str, rows: pd.DataFrame, key: str) -> tuple[str, str] | None:
    """Return the columns with the ends of a figure's interval, if the table has them."""
    ends = catalogue.table(name).interval.get(key, (f"{key}_lower", f"{key}_upper"))
    return ends if ends and set(ends) <= set(rows) else None


def _alike(name: str, rows: pd.DataFrame, key: str, group: pd.Series) -> pd.Series:
    """Tell for each row whether its figure does not differ from those of its group."""
    grouped = rows.groupby(group)
    low, high = grouped[key].transform("min"), grouped[key].transform("max")
    known = grouped[key].transform("count")
    digits = catalogue.column(name, key).digits or 0
    close = (known == 0) | (high - low < 10.0**-digits) & (known == grouped[key].transform("size"))
    if (ends := _ends(name, rows, key)) is None:
        return close
    inside = (low >= grouped[ends[0]].transform("max")) & (high <= grouped[ends[1]].transform("min"))
    whole = rows[[key, *ends]].notna().all(axis=1).groupby(group).transform("all")
    return inside.where(whole, close)


def _mean(rows: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """Join the rows of every group: means, lowest and highest ends of intervals, and what all of them say."""

    def rule(key: str) -> str:
        if not _numeric(rows[key]):
            return "first"
        return "min" if key.endswith("lower") else "max" if key.endswith("upper") else "mean"

    first = rows.index.to_series().groupby(group).first()
    found = rows.groupby(group).agg({key: rule(key) for key in rows})
    return found.set_index(first.reindex(found.index).to_numpy())
