"""Prepare what a notebook shows from the rows to the numbers: the part that is read, and how far two tables differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from analysis.reporting.output.html import Html, render_template_for_notebook
from analysis.runs.folder import UNIT
from analysis.steps.checking import compare_tables

if TYPE_CHECKING:
    from analysis.reporting.output.exploring import Run
    from analysis.runs import Runs

MOST_RESPONSES = 50_000  # that are read into memory, with a Python object for every list of a row


def restrict_run_to_units_that_fit_memory(run: Run, runs: Runs) -> Run:
    """Select the models and conditions that tables compare; of more than `MOST_RESPONSES` responses the first ones.

    Parameters
    ----------
    run, runs
        The same runs, for notebooks and as a database.

    Returns
    -------
    Run
        The run itself where nothing is left out; at least one model and condition.
    """
    units = select_units_that_fit_memory(runs)
    n_units = runs.sql(f"SELECT count(*) AS n FROM (SELECT DISTINCT {', '.join(UNIT)} FROM responses)")["n"].iloc[0]
    return run if len(units) == n_units else run.where(units)


def select_units_that_fit_memory(runs: Runs) -> pd.DataFrame:
    """List study, model and condition of the units that tables compare and whose responses fit into memory."""
    sizes = runs.sql(
        """SELECT study, model, condition, count(*) AS n FROM responses JOIN units USING (study, model, condition)
           GROUP BY ALL ORDER BY any_value(position)"""
    )
    n_read = sizes["n"].cumsum()
    return sizes.loc[(n_read <= MOST_RESPONSES) | (n_read == sizes["n"]), list(UNIT)]


def select_items_that_fit_memory(items: pd.DataFrame, runs: Runs) -> pd.DataFrame:
    """Select items; of those with more than `MOST_RESPONSES` responses together the first ones.

    Parameters
    ----------
    items
        study, item and any other columns.
    runs
        The runs, whose tables compare some models and conditions.

    Returns
    -------
    DataFrame
        The first rows of `items`, at least one.
    """
    sizes = runs.sql(
        "SELECT study, item, count(*) AS n FROM responses JOIN units USING (study, model, condition) GROUP BY ALL"
    )
    n_read = items[["study", "item"]].merge(sizes, how="left")["n"].fillna(0).cumsum()
    return items.head(max(1, int((n_read <= MOST_RESPONSES).sum())))


def render_comparison_of_two_tables(
    ours: pd.DataFrame, theirs: pd.DataFrame, on: Sequence[str], tolerance: float, units: pd.DataFrame | None = None
) -> Html:
    """Compare two tables, and show how many numbers were compared and how far they are apart.

    Parameters
    ----------
    ours, theirs, on, tolerance
        As in `checking.compare_tables`.
    units
        Compare only the rows of these studies, models and conditions (as far as `on` has these columns), and of those
        that the second table has; other rows are counted. A unit of these that the second table lacks is a difference.

    Returns
    -------
    A sentence and a table; the sentence is marked where there is a difference
    (`cells.render_frames_and_repeat_differences`).
    """
    unit = [name for name in UNIT if name in on]
    compared = ours
    if units is not None and unit:
        # Some conditions are made of others, such as "texts per byte" of "texts": no unit was asked in them.
        compared = ours.merge(pd.concat([units, theirs])[unit].drop_duplicates(), on=unit)
    comparison = compare_tables(compared, theirs, on, tolerance)
    return render_template_for_notebook("check", comparison=comparison, left_out=len(ours) - len(compared))
