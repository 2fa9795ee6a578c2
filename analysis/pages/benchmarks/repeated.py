"""Make one row of a model of the several that a file of scores has of it, by a rule that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.reporting.words import count
from ground.errors import InputError, short

BEST, MEAN, NEWEST = "best", "mean", "newest"
RULES = (BEST, MEAN, NEWEST)


@dataclass(frozen=True)
class Joined:
    """Hold one row per model: its scores, its size, and how many rows of the file it has."""

    frame: pd.DataFrame
    sizes: pd.Series
    rows: pd.Series


def joined(
    file: Path, frame: pd.DataFrame, sizes: pd.Series, dates: pd.Series, models: Sequence[str], where: Sequence[str],
    rule: str,
) -> Joined:  # fmt: skip
    """Join the rows of every model.

    Parameters
    ----------
    file
        Named in messages.
    frame, sizes, dates, models, where
        One entry per row of the file: its scores, size (NaN: unknown), date as the file has it, model, and how messages
        name the row.
    rule
        "best": the row with the highest mean over its benchmarks; "mean": the mean of every benchmark and of the size;
        "newest": the row with the latest date. Of several such rows, best and newest take the first. "": none, so that
        a model with several rows is refused.

    Returns
    -------
    Joined
        Models in the order of their first rows.

    Raises
    ------
    InputError
        For a model with several rows and no rule, an unknown rule, and a row of such a model without a date.
    """
    if rule not in ("", *RULES):
        raise InputError(f"score_rows is {short(repr(rule))}; it must be {', '.join(RULES[:-1])} or {RULES[-1]}")
    name = pd.Series(models, dtype=object)
    several = name.duplicated(keep=False)
    if several.any() and not rule:
        first = name[several].iloc[0]
        raise InputError(
            f"{file}: model {short(repr(first))} has {int((name == first).sum()):,} rows; say what one row of it is: "
            f"-p score_rows={BEST}, {MEAN} or {NEWEST}"
        )
    whole = frame.assign(**{"\0size": sizes.to_numpy()}).set_index(name.rename("model"))
    groups = whole.groupby(level=0, sort=False)
    if rule == MEAN:
        single = groups.mean()
    else:
        order = _order(file, dates, several, where) if rule == NEWEST else frame.mean(axis=1)
        # Largest first, the order of the file among equals, rows that nothing is known about last.
        ranked = order.sort_values(ascending=False, kind="stable", na_position="last").index
        kept = ranked[~name[ranked].duplicated()].sort_values()
        single = whole.iloc[kept].loc[groups.size().index]
    return Joined(single.drop(columns="\0size"), single["\0size"].rename("parameters"), groups.size())


def told(frame: pd.DataFrame) -> str:
    """Say how many rows of the file stand for how many models, where they are more."""
    several = frame[frame["joined_by"].astype(bool)] if "joined_by" in frame else frame.iloc[:0]
    if several.empty:
        return ""
    most = several.loc[several["rows"].idxmax()]
    return (
        f" {int(most['rows']):,} rows of the file are {count(int(most['n']), 'model')} here: several rows of one model "
        f"were joined to one ({most['joined_by']})."
    )


def _order(file: Path, dates: pd.Series, several: pd.Series, where: Sequence[str]) -> pd.Series:
    """Read the dates of the rows that have to be compared."""
    read = pd.to_datetime(dates.where(several), format="ISO8601", errors="coerce", utc=True)
    for at in several[several & read.isna()].index[:1]:
        given = dates[at]
        what = f"date {short(repr(given))} is no date such as 2024-05-31" if given else "no date"
        raise InputError(f"{file}: {where[at]}: {what}, so there is no newest row; choose {BEST} or {MEAN}")
    return read
