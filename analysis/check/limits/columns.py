"""Test a column of a table in every row that a rule is about, by the interval that the row shows.

An interval over items holds for wordings like these where items have wordings of their own: other items come with other
wordings. Where items share them, only an interval that allows for other wordings does (`like_lower`, `like_upper`). A
column without intervals is counted: decided as it is. A row that lacks the interval of its column cannot be told.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.check.grammar import find_range_of_rule_number
from analysis.check.limits.number import Number, get_limit_of_rule
from analysis.check.limits.tails import SHARES, compute_tails_of_interval
from analysis.check.rules import LIKE_THESE, Rule
from analysis.measures.reworded import ACCURACY, AGREEMENT, SCORE
from analysis.reporting.catalogue import (
    find_page_name_of_entry,
    list_tables,
    look_up_column,
    look_up_table,
    map_page_names_to_catalogues,
)
from analysis.reporting.catalogue.columns import IDENTITY
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.catalogue.tables import (
    INTERVALS,
    build_table,
    convert_options_to_types_of_defaults,
    exclude_published_rows,
    list_table_options,
)
from analysis.runs import Runs
from ground.errors import InputError, format_nearest_name_hint, join_first_names, shorten_to_one_line

MEAN, MEASURED = "mean", "unit of the measure"  # a column, and its unit
LIKE = ("like_lower", "like_upper")
SIZES = ("n_items", "n_questions", "n")  # columns with the number of items, the first that a row has filled
OPTIONS = ("k", "threshold")  # numbers that tell rows of the same model apart
DRAWN = ("n_models", "n_templates")  # of which an interval may be, too
MODELS, CONDITIONS = ("model", "a_model", "b_model"), ("condition", "a_condition", "b_condition")


def list_numbers_of_table_rows(rule: Rule, runs: Runs) -> list[Number]:
    """List the number of every row of a table that a rule is about.

    Parameters
    ----------
    rule
        Its target is "table.column".
    runs
        The run.

    Returns
    -------
    list of Number
        In the order of the table; rows of printed numbers are left out.

    Raises
    ------
    InputError
        The run has no rows or no such column for it, the column is no number, or nothing tells of wordings like these.
    """
    table, _, column = rule.target.partition(".")
    where = f"rule {shorten_to_one_line(repr(rule.name))}: table {table}"
    frame = _select_table_rows_of_rule(rule, _build_table_named_by_rule(rule, runs, table, where), table, where)
    if column not in frame:
        raise InputError(
            f"{where} of this run has no column {shorten_to_one_line(repr(column))}"
            f"{format_nearest_name_hint(column, map(str, frame))}; see `waver table --list {table}`"
        )
    values = pd.to_numeric(frame[column], errors="coerce") if frame[column].isna().all() else frame[column]
    if values.dtype == bool or not pd.api.types.is_numeric_dtype(values):
        raise InputError(f"{where}: column {column} is no number that has a limit; `waver table --list {table}` "
                         "explains all")  # fmt: skip
    ends = _find_interval_columns_of_rule(rule, runs, frame, table, column)
    names = _name_rows_by_texts_and_options(frame, column)
    numbers = []
    # `to_dict("records")` would look up every column by itself: tables have many columns and few rows.
    rows = (dict(zip(frame.columns, cells, strict=True)) for cells in frame.astype(object).to_numpy())
    for row, name in zip(rows, names, strict=True):
        value, n_items = float(row[column]), _read_first_filled_size(row, SIZES)
        tails = None
        if ends:
            n_drawn = np.fmin.reduce([_read_first_filled_size(row, [size]) for size in (*DRAWN, *ends[2:])])
            interval = float(row[ends[0]]), float(row[ends[1]])
            bounds = _find_possible_range_of_item_number(rule.target, row)
            tails = compute_tails_of_interval(value, interval, get_limit_of_rule(rule), n_items, n_drawn, bounds)
        numbers.append(
            Number(
                str(row.get("study", "")), _join_names_of_both_sides(row, MODELS),
                _join_names_of_both_sides(row, CONDITIONS), name, value, tails, int(np.nan_to_num(n_items)),
                _read_first_filled_size(row, ["n_wordings"]), _explain_missing_interval(row, ends),
            )
        )  # fmt: skip
    return numbers


def _find_possible_range_of_item_number(target: str, row: Mapping[Hashable, Any]) -> tuple[float, float] | None:
    """Find the least and the largest number of a single item, of which the number of a row is a mean."""
    bounds = find_range_of_rule_number(target)
    if bounds and np.isfinite(bounds).all():
        return bounds
    table, _, column = target.partition(".")
    if column != MEAN or look_up_column(table, column).unit != MEASURED:
        return None
    if row.get("measure") in (AGREEMENT, ACCURACY, SCORE):
        return SHARES
    ends = re.fullmatch(r"(-?[\d.e+]+)-(-?[\d.e+]+)", str(row.get("range", "")))  # as scores say it: "1-5"
    return (float(ends[1]), float(ends[2])) if ends else None


def _build_table_named_by_rule(rule: Rule, runs: Runs, table: str, where: str) -> pd.DataFrame:
    """Build the table from the studies that its page is about."""
    page = map_page_names_to_catalogues()[find_page_name_of_entry(table)]
    own_runs = runs.select_protocols(page.protocols)
    if own_runs is None:
        there = ", ".join(sorted({fields["protocol"] for fields in runs.info["studies"].values()}))
        raise InputError(f"{where} is about protocol {' or '.join(sorted(page.protocols))}; the run is of {there}")
    options = convert_options_to_types_of_defaults(f"table {table}", rule.parameters, list_table_options(table))
    return build_table(table, own_runs, **options)


def _select_table_rows_of_rule(rule: Rule, frame: pd.DataFrame, table: str, where: str) -> pd.DataFrame:
    """Keep the rows of this run, and of the study, models and conditions of the rule."""
    frame = exclude_published_rows(table, frame)
    for key, names, columns in (
        ("study", [rule.study] if rule.study else [], ("study",)),
        ("models", rule.models, MODELS), ("conditions", rule.conditions, CONDITIONS),
    ):  # fmt: skip
        own_columns = [column for column in columns if column in frame]
        if names and not own_columns:
            raise InputError(f"{where} has no column for {key}: its rows are not of single ones; leave {key} out")
        if names:
            for name in names:
                if len(frame) and not (frame[own_columns] == name).any(axis=None):
                    present = list(map(str, dict.fromkeys(frame[own_columns].to_numpy().ravel())))
                    raise InputError(
                        f"{where} has no row of {shorten_to_one_line(repr(name))}"
                        f"{format_nearest_name_hint(name, present)} in {key}; it has {join_first_names(present, 5)}"
                    )
            frame = frame[frame[own_columns].isin(names).any(axis=1)]
    if frame.empty:
        raise InputError(f"{where} has no row for this run")
    return frame.reset_index(drop=True)


def _find_interval_columns_of_rule(
    rule: Rule, runs: Runs, frame: pd.DataFrame, table: str, column: str
) -> tuple[str, ...]:
    """Find the columns with the ends of a column's interval, and of shared wordings where others count; else empty."""
    own_ends = look_up_table(table).interval.get(column, (f"{column}_lower", f"{column}_upper")) or ()
    own_ends = own_ends if set(own_ends) <= set(frame) else ()
    is_count = look_up_column(table, column).digits is None
    if rule.wordings != LIKE_THESE or (is_count and not own_ends):
        return own_ends
    why = _explain_no_inference_to_wordings(runs, set(frame["study"]) if "study" in frame else set())
    if own_ends and LIKE[0] in frame and _find_column_with_interval_over_wordings(list(map(str, frame))) == column:
        return (*LIKE, "n_shared" if "n_shared" in frame else "n_wordings") if why else LIKE
    if own_ends and not why:
        return own_ends
    like_columns = [
        f"{name}.{_find_column_with_interval_over_wordings(list(entry.columns))}"
        for name, entry in list_tables().items()
        if LIKE[0] in entry.columns
    ]
    reason = f"the interval of {rule.target} is for these wordings, as {why}" if own_ends else (
        f"{rule.target} has no interval"
    )  # fmt: skip
    raise InputError(
        f'rule {shorten_to_one_line(repr(rule.name))}: {reason}; say wordings = "these", or take a measure such as '
        f"accuracy, or {', '.join(like_columns)}"
    )


def _find_column_with_interval_over_wordings(columns: list[str]) -> str:
    """Find the column that `like_lower` belongs to: the last one before it that is no end of an interval."""
    before = [name for name in columns[: columns.index(LIKE[0])] if name != INTERVALS]
    return next(name for name in reversed(before) if not name.endswith(("lower", "upper")))


def _explain_no_inference_to_wordings(runs: Runs, names: set[str]) -> str:
    """Say which of these studies does not tell, by other items, of other wordings; empty where all do."""
    studies = [study for study in read_reworded_studies(runs) if not names or study.name in names]
    for name in names - {study.name for study in studies}:
        return f"the wordings of {name} are not compared"
    for study in studies:
        if study.crossed and not study.has_single_wording:
            return f"all items of {study.name} share their wordings"
    alone = {study.name for study in studies} - {study.name for study in studies if not study.has_single_wording}
    return f"the items of {min(alone)} have one wording" if alone else ""


def _name_rows_by_texts_and_options(frame: pd.DataFrame, column: str) -> list[str]:
    """Name every row by the column, and by the texts and options that tell rows of the same model apart."""
    keys = [key for key in dict.fromkeys((*IDENTITY, *MODELS, *CONDITIONS)) if key in frame]
    # Generators: what follows seldom asks for more than a few.
    texts = (str(key) for key in frame if key not in keys and frame[key].map(_is_cell_without_number).all())
    added: list[str] = []
    units = frame.assign(all=0).groupby(["all", *keys], dropna=False, sort=False).ngroup()
    further_keys = itertools.chain(texts, (key for key in OPTIONS if key in frame))
    while units.duplicated().any() and (key := next(further_keys, None)):
        parts = pd.DataFrame({"unit": units, "key": frame[key].map(str)}).groupby(["unit", "key"], sort=False).ngroup()
        if parts.nunique() > units.nunique():
            units = parts
            added.append(key)
    if not added:
        return [column] * len(frame)
    rows: list[dict[Hashable, Any]] = frame[added].to_dict("records")
    return [
        f"{column} ({', '.join(f'{key} {shorten_to_one_line(str(value), 40)}' for key, value in row.items())})"
        for row in rows
    ]


def _is_cell_without_number(value: object) -> bool:
    """Tell whether a cell is a text, a truth value or nothing, and no number."""
    return isinstance(value, str | bool | np.bool_) or value is None


def _read_first_filled_size(row: Mapping[Hashable, Any], names: tuple[str, ...] | list[str]) -> float:
    """Read the first of these columns that a row has; NaN: none."""
    return next((float(row[name]) for name in names if name in row and pd.notna(row[name])), np.nan)


def _join_names_of_both_sides(row: Mapping[Hashable, Any], columns: tuple[str, ...]) -> str:
    """Name the model or condition of a row, or both sides of a pair."""
    names = dict.fromkeys(str(row[column]) for column in columns if column in row)
    return " - ".join(names)


def _explain_missing_interval(row: Mapping[Hashable, Any], ends: tuple[str, ...]) -> str:
    """Say why a row lacks its interval, where the table does."""
    if not ends or pd.notna(row[ends[0]]):
        return ""
    reason = str(row.get("no_interval") or row.get("missing") or "")
    return f"no interval{f' ({shorten_to_one_line(reason, 80)})' if reason else ''}"
