"""Compute the tables of some runs, each table once, and join their rows as a page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.reporting import catalogue
from analysis.reporting.catalogue import orders, tables
from analysis.runs import Runs


class Frames:
    """Return the tables of some runs by name: computed at the first request, then kept.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    options
        Options of the tables, such as `resamples` or `thresholds`; each table takes those that it has.
    note_computed
        Called with the name and the frame of every table when it has been computed.
    """

    def __init__(
        self,
        runs: Runs,
        options: Mapping[str, Any],
        note_computed: Callable[[str, pd.DataFrame], None] = lambda name, frame: None,
    ) -> None:
        self.runs = runs
        self.options = options
        self._note_computed = note_computed
        self._frames: dict[str, pd.DataFrame] = {}

    def build_table_with_joined_option_orders(
        self,
        table_name: str,
        frame: pd.DataFrame | None = None,
        *,
        shown_columns: Sequence[str] = (),
        least_difference: float | None = None,
    ) -> pd.DataFrame:
        """Return a table as the page shows it: option orders are one row until they differ
        (`orders.merge_rows_of_both_option_orders`).

        Parameters
        ----------
        table_name
            A table of the catalogue.
        frame
            Some of its rows, or with more columns; the whole table unless given.
        shown_columns
            The columns that are shown; those of the printed table unless given.
        least_difference
            As in `orders.merge_rows_of_both_option_orders`.

        Returns
        -------
        A row per model and condition as they are shown.
        """
        rows = self[table_name] if frame is None else frame
        if not orders.has_several_option_orders(rows, self.runs.info["conditions"]):
            return rows
        page = catalogue.find_page_name_of_entry(table_name)
        finder_path = catalogue.map_page_names_to_catalogues()[page].differing_conditions
        differing_pairs = catalogue.import_page_function(page, finder_path)(self) if finder_path else ()
        return orders.merge_rows_of_both_option_orders(
            table_name,
            rows,
            shown_columns or tables.list_shown_columns(table_name, rows),
            self.runs.info["conditions"],
            differing_pairs,
            least_difference,
        )

    def list_conditions_in_computed_tables(self) -> set[tuple[str, str]]:
        """List study and condition of the rows of all tables that were computed."""
        return {
            (str(study), str(condition))
            for frame in self._frames.values()
            if {"study", "condition"} <= set(frame)
            for study, condition in frame[["study", "condition"]].drop_duplicates().itertuples(index=False)
        }

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            self._frames[name] = tables.build_table(name, self.runs, **self.options)
            self._note_computed(name, self._frames[name])
        return self._frames[name]
