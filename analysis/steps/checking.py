"""Compare numbers with those of another package, value by value."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ground.errors import InputError, format_quantity

TOLERANCE = 1e-9  # largest absolute difference of two ways to compute a number without iterations


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold how far two tables are apart.

    Attributes
    ----------
    columns
        A row per compared column: column; values: compared pairs; undefined: those that are so in both tables;
        half_defined: those that are so in one only; differing: these, and those further apart than the tolerance;
        largest: largest absolute difference of the defined pairs.
    missing_rows
        Rows that only one of the tables has.
    tolerance
        Largest absolute difference that is no difference.
    """

    columns: pd.DataFrame
    missing_rows: int
    tolerance: float

    @property
    def differs(self) -> bool:
        """Tell whether a value differs by more than the tolerance, or a row is missing."""
        return bool(self.missing_rows or self.columns["differing"].any())

    def describe(self) -> str:
        """Say whether the tables agree, and if not, where they do not."""
        n_values, largest = int(self.columns["values"].sum()), self.columns["largest"].max()
        if not n_values and not self.differs:
            return "There was nothing to compare."
        if not self.differs:
            n_undefined = int(self.columns["undefined"].sum())
            if n_undefined == n_values:
                return f"There was nothing to compare: {n_values:,} numbers are undefined in both tables."
            n_equal = n_values - n_undefined
            subject = f"All {n_equal:,} numbers agree: the largest" if n_equal > 1 else "The one number agrees: the"
            agreeing = f"{subject} difference is {largest:.1e}"
            undefined_text = f" {n_undefined:,} more {'are' if n_undefined > 1 else 'is'} undefined in both tables."
            return f"{agreeing}; up to {self.tolerance:g} counts as none.{undefined_text if n_undefined else ''}"
        further_apart, half_defined, sentences = [], [], []
        for row in self.columns.itertuples():
            if number := row.differing - row.half_defined:
                further_apart.append(f"{row.column} ({number:,} of {row.values:,}, by up to {row.largest:.2g})")
            if row.half_defined:
                half_defined.append(f"{row.column} ({row.half_defined:,} of {row.values:,})")
        if further_apart:
            sentences.append(f"Numbers differ by more than {self.tolerance:g}: {'; '.join(further_apart)}.")
        if half_defined:
            sentences.append(f"Numbers are undefined in one table only: {'; '.join(half_defined)}.")
        if self.missing_rows:
            sentences.append(f"{format_quantity(self.missing_rows, 'row is', 'rows are')} in one table only.")
        return " ".join(sentences)


def compare_tables(
    ours: pd.DataFrame, theirs: pd.DataFrame, on: Sequence[str], tolerance: float = TOLERANCE
) -> Comparison:
    """Compare the columns that a second table has with those of the same names in the first.

    Parameters
    ----------
    ours
        The table that is checked.
    theirs
        The same numbers, computed in another way; its columns other than `on` are compared.
    on
        Columns that name a row in both tables.
    tolerance
        Largest absolute difference that is no difference.

    Returns
    -------
    Comparison
        A value that is undefined in both tables is equal, and so is the same infinite one. A value that is undefined in
        one of them, and a row that only one has, are differences.

    Raises
    ------
    InputError
        For a column that a table lacks, nothing to compare, or a row that is there twice.
    """
    on, compared = list(on), [name for name in theirs.columns if name not in on]
    for names, table, where in (((*on, *compared), ours, "table that is checked"), (on, theirs, "other table")):
        lacking = [name for name in names if name not in table.columns]
        if lacking:
            raise InputError(f"check: no column {lacking[0]!r} in the {where}")
    if not compared:
        raise InputError("check: no column to compare")
    for table in (ours, theirs):
        if table.duplicated(on).any():
            raise InputError(f"check: rows are not told apart by {', '.join(on)}; name more columns in on=[...]")
    both = ours[[*on, *compared]].merge(theirs, on=on, how="outer", suffixes=("_ours", "_theirs"), indicator=True)
    shared = both[both["_merge"] == "both"]
    rows = [
        _build_comparison_row_of_column(shared[f"{name}_ours"], shared[f"{name}_theirs"], name, tolerance)
        for name in compared
    ]
    return Comparison(pd.DataFrame(rows), len(both) - len(shared), tolerance)


def _build_comparison_row_of_column(
    ours: pd.Series, theirs: pd.Series, name: str, tolerance: float
) -> dict[str, object]:
    """Compare two columns, value by value; the same infinite value is no difference."""
    left, right = (column.astype(float).to_numpy() for column in (ours, theirs))
    with np.errstate(invalid="ignore"):
        distance = np.where(left == right, 0.0, np.abs(left - right))
    is_half_defined = np.isnan(left) != np.isnan(right)
    defined = distance[~np.isnan(distance)]
    return {
        "column": name,
        "values": len(distance),
        "undefined": int((np.isnan(left) & np.isnan(right)).sum()),
        "half_defined": int(is_half_defined.sum()),
        "differing": int(is_half_defined.sum() + (defined > tolerance).sum()),
        "largest": float(defined.max(initial=0.0)),
    }


@contextlib.contextmanager
def print_line_if_package_is_missing(package: str) -> Iterator[None]:
    """Run the lines below `with`; where they cannot import the package, say so in one line instead.

    ::

        with print_line_if_package_is_missing("pingouin"):
            import pingouin
            display(page.check_against_package("correlations", pingouin.pairwise_corr(scores), on=["X", "Y"]))
    """
    try:
        yield
    except ImportError as error:
        print(f"Not checked: {package} is not installed here ({error}); pip install {package}")


@contextlib.contextmanager
def print_line_if_input_is_refused() -> Iterator[None]:
    """Run the lines below `with`; where the data do not allow it, say why in one line instead.

    ::

        with print_line_if_input_is_refused():
            display(run.correlate(measures, scores))
    """
    try:
        yield
    except InputError as error:
        print(f"Not computed: {error}")
