"""An entry of the registry of the report's tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """One table: where it is computed, what it is called, and its columns.

    Attributes
    ----------
    function
        "module.function" inside `analysis`, imported when the table is asked for.
    columns
        All columns in order, as in the CSV. `flip_*` stands for one column per threshold, `intervals` for the columns
        `X_lower` and `X_upper` of every figure X.
    hidden
        Columns that LaTeX, Markdown and HTML leave out for want of room.
    best
        Columns compared within each row, with what is best among them, "largest" or "smallest absolute": it is printed
        bold. `kurtosis_*` stands for one column per range.
    """

    function: str
    title: str
    caption: str
    columns: tuple[str, ...]
    hidden: frozenset[str] = frozenset()
    best: tuple[tuple[str, str], ...] = ()


def names(text: str) -> tuple[str, ...]:
    """Column names from one string."""
    return tuple(text.split())
