"""Make one row of a model of the several that a file of scores has of it, by a rule that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.reporting.words import format_quantity
from ground.errors import InputError, shorten_to_one_line

BEST, MEAN, NEWEST = "best", "mean", "newest"
RULES = (BEST, MEAN, NEWEST)


@dataclass(frozen=True)
class JoinedRows:
    """Hold one row per model: its scores, its size, and how many rows of the file it has."""

    frame: pd.DataFrame
    sizes: pd.Series
    rows: pd.Series


def join_repeated_rows_of_models(
    file: Path, frame: pd.DataFrame, sizes: pd.Series, dates: pd.Series, models: Sequence[str],
    row_locations: Sequence[str],
    rule: str,
) -> JoinedRows:  # fmt: skip
    """Join the rows of every model.

    Parameters
    ----------
    file
        Named in messages.
    frame, sizes, dates, models, row_locations
        One entry per row of the file: its scores, size (NaN: unknown), date as the file has it, model, and how messages
        name the row.
    rule
        "best": the row with the highest mean over its benchmarks; "mean": the mean of every benchmark and of the size;
        "newest": the row with the latest date. Of several such rows, best and newest take the first. "": none, so that
        a model with several rows is refused.

    Returns
    -------
    JoinedRows
        Models in the order of their first rows.

    Raises
    ------
    InputError
        For a model with several rows and no rule, an unknown rule, and, by "newest", a row of such a model without a
        date.
    """
    if rule not in ("", *RULES):
        raise InputError(
            f"score_rows is {shorten_to_one_line(repr(rule))}; it must be {', '.join(RULES[:-1])} or {RULES[-1]}"
        )
    model_names = pd.Series(models, dtype=object)
    is_repeated = model_names.duplicated(keep=False)
    if is_repeated.any() and not rule:
        first = model_names[is_repeated].iloc[0]
        raise InputError(
            f"{file}: model {shorten_to_one_line(repr(first))} has {int((model_names == first).sum()):,} rows; say "
            f"what one row of it is: -p score_rows={BEST}, {MEAN} or {NEWEST}"
        )
    scores_and_sizes = frame.assign(**{"\0size": sizes.to_numpy()}).set_index(model_names.rename("model"))
    groups = scores_and_sizes.groupby(level=0, sort=False)
    if rule == MEAN:
        single = groups.mean()
    else:
        order = frame.mean(axis=1)
        if rule == NEWEST:
            order = _parse_required_dates_of_repeated_rows(file, dates, is_repeated, row_locations)
        # Largest first, the order of the file among equals, rows that nothing is known about last.
        ranked = order.sort_values(ascending=False, kind="stable", na_position="last").index
        chosen_rows = ranked[~model_names[ranked].duplicated()].sort_values()
        single = scores_and_sizes.iloc[chosen_rows].loc[groups.size().index]
    return JoinedRows(single.drop(columns="\0size"), single["\0size"].rename("parameters"), groups.size())


def describe_counts_of_rows_per_model(frame: pd.DataFrame) -> str:
    """Say how many rows of the file stand for how many models, where they are more."""
    joined_pairs = frame[frame["joined_by"].astype(bool)] if "joined_by" in frame else frame.iloc[:0]
    if joined_pairs.empty:
        return ""
    most = joined_pairs.loc[joined_pairs["rows"].idxmax()]
    return (
        f" {int(most['rows']):,} rows of the file are {format_quantity(int(most['n']), 'model')} here: several rows of "
        f"one model were joined to one ({most['joined_by']})."
    )


def _parse_required_dates_of_repeated_rows(
    file: Path, dates: pd.Series, is_repeated: pd.Series, row_locations: Sequence[str]
) -> pd.Series:
    """Read the dates of the rows that have to be compared."""
    parsed_dates = pd.to_datetime(dates.where(is_repeated), format="ISO8601", errors="coerce", utc=True)
    for row in is_repeated[is_repeated & parsed_dates.isna()].index[:1]:
        date_text = dates[row]
        problem = (
            f"date {shorten_to_one_line(repr(date_text))} is no date such as 2024-05-31" if date_text else "no date"
        )
        raise InputError(f"{file}: {row_locations[row]}: {problem}, so there is no newest row; choose {BEST} or {MEAN}")
    return parsed_dates
