"""Explore run folders from code: tables as DataFrames, figures as matplotlib figures."""

from __future__ import annotations

import functools
import html
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis import runs
from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing.pictures import build_pictures
from analysis.reporting.drawing.plotting import PAGE
from analysis.reporting.output.notebooks import resolve_run_folder
from analysis.runs.folder import list_run_folders, read_protocol
from ground.errors import InputError

if TYPE_CHECKING:
    from analysis.reporting.drawing.plotting import Drawing
    from analysis.runs import Runs


class Listing(dict[str, str]):
    """Hold names and what they stand for; shown with one line per name."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {line}" for name, line in self.items())

    def _repr_html_(self) -> str:
        """Return the listing as an HTML table of names and what they show, by which notebooks show it."""
        left = "<td style='text-align: left'>"  # on the cell: Jupyter's own style aligns cells to the right
        rows = (
            f"<tr>{left}<code>{html.escape(name)}</code></td>{left}{html.escape(line)}</td></tr>"
            for name, line in self.items()
        )
        return f"<table>{''.join(rows)}</table>"


class Run:
    """Give access to the tables and figures of some run folders. Made by `analysis.open`.

    Tables and figures have the names that they have in the report. What was computed is kept: the same table with the
    same options is not computed twice.
    """

    def __init__(self, folders: Sequence[str | os.PathLike[str]], protocols: Collection[str] = ()) -> None:
        self.folders = [os.fspath(folder) for folder in folders]
        self._folders = [resolve_run_folder(folder) for folder in self.folders]
        folder_protocols = {read_protocol(path) for folder in self._folders for path in list_run_folders(folder)}
        self._protocols = folder_protocols & set(protocols) if protocols else folder_protocols
        if not self._list_run_pages():
            raise InputError(
                f"{', '.join(map(str, self._folders))}: {catalogue.explain_no_page_for_protocols(self._protocols)}"
            )
        self._units: pd.DataFrame | None = None
        self._opened: dict[str, Runs] = {}
        self._frames: dict[str, Frames] = {}

    @functools.cached_property
    def _runs(self) -> Runs:
        """Open the runs when they are needed: a page opens those of its own protocols only."""
        return runs.open_runs(*self._folders, protocols=self._protocols)

    def __repr__(self) -> str:
        info = self._runs.info
        summary = f"{', '.join(info['studies'])}; {len(info['models'])} models"
        return f"<Run: {summary}. tables() and figures() list what there is>"

    def responses(self) -> pd.DataFrame:
        """Return every response as a row, with the columns of results/schema.json."""
        rows = self._runs.sql("SELECT * FROM responses")
        return rows if self._units is None else rows.merge(self._units, on=list(self._units))

    def wordings(self) -> pd.DataFrame:
        """Return every wording as a row, with the columns of results/schema.json."""
        rows = self._runs.sql("SELECT * FROM stimuli ORDER BY position")
        attributes = pd.DataFrame([value or {} for value in rows["attributes"]]).add_prefix("attributes.")
        return pd.concat([rows.drop(columns="attributes"), attributes], axis=1)

    def where(self, condition: str | pd.DataFrame = "") -> Run:
        """Return a Run whose responses are those of some units: a stand-in until parts are there."""
        if isinstance(condition, str):
            return self
        part = Run(self.folders, self._protocols)
        part._units = condition
        return part

    def open_protocols(self, protocols: Collection[str]) -> Runs:
        """Return the runs of some protocols, opened once."""
        if self._protocols <= set(protocols):
            return self._runs
        key = ",".join(sorted(protocols))
        if key not in self._opened:
            self._opened[key] = runs.open_runs(*self._folders, protocols=protocols)
        return self._opened[key]

    def select_protocols(self, protocols: Collection[str]) -> Run:
        """Return a Run of some protocols only; the run itself where it has no others."""
        return self if self._protocols <= set(protocols) else Run(self.folders, protocols)

    def tables(self) -> Listing:
        """List the tables of the pages that these runs are for: name -> title."""
        return Listing({name: entry.title for page in self._list_run_pages() for name, entry in page.tables.items()})

    def figures(self) -> Listing:
        """List the figures of the pages that these runs are for: name -> what it shows."""
        return Listing({name: entry.title for page in self._list_run_pages() for name, entry in page.figures.items()})

    def table(self, name: str, **options: Any) -> pd.DataFrame:
        """Compute a table.

        Parameters
        ----------
        name
            One of `tables()`.
        **options
            Options of the table, such as `resamples=2000`.

        Returns
        -------
        DataFrame
            A copy with full precision. `waver table --list NAME` explains the columns.

        Raises
        ------
        InputError
            For an unknown table (the message names the nearest) or option, or runs that have no such table.
        """
        catalogue.look_up_table(name)
        converted = tables.convert_options(f"table {name}", options, tables.list_table_options(name))
        return self._find_page_frames(catalogue.find_page_name_of_entry(name), converted)[name].copy()

    def figure(self, name: str, *, part: int | None = None, width: float = PAGE, **options: Any) -> Drawing:
        """Draw a figure, which shows itself in a notebook and is saved with `savefig`.

        Parameters
        ----------
        name
            One of `figures()`.
        part
            Which picture, where models or tasks do not fit on one: 1, 2, ... The first unless given; a warning says
            when there are more.
        width
            Width in inches.
        **options
            Options of the tables that the figure is drawn from.

        Returns
        -------
        The picture.

        Raises
        ------
        InputError
            For an unknown figure (the message names the nearest), option or part, or runs without data for the figure.
        """
        entry, page = catalogue.look_up_figure(name), catalogue.find_page_name_of_entry(name, "figures")
        known_options = {
            key: value
            for table in catalogue.list_pages()[page].tables
            for key, value in tables.list_table_options(table).items()
        }
        converted = tables.convert_options(f"figure {name}", options, known_options)
        drawn_pictures = build_pictures(name, self._find_page_frames(page, converted))
        if not drawn_pictures:
            raise InputError(f"figure {name}: {entry.empty_note}")
        if part is None and len(drawn_pictures) > 1:
            warnings.warn(
                f"figure {name} has {len(drawn_pictures)} parts; this is the first, part=2 the next", stacklevel=2
            )
        number = 1 if part is None else part
        if not 1 <= number <= len(drawn_pictures):
            raise InputError(f"figure {name}: there is no part {number}; the parts are 1 to {len(drawn_pictures)}")
        return drawn_pictures[number - 1].draw(width=width)

    def _list_run_pages(self) -> list[catalogue.Catalogue]:
        """List the pages that are about the protocols of these runs."""
        return [page for page in catalogue.list_pages().values() if page.protocols & self._protocols]

    def _find_page_frames(self, page: str, options: Mapping[str, Any]) -> Frames:
        """Return the tables of a page under some options, computed once."""
        key = f"{page} {sorted(options.items())}"
        if key not in self._frames:
            self._frames[key] = Frames(self.open_protocols(catalogue.list_pages()[page].protocols), options)
        return self._frames[key]
