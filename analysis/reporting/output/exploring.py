"""Explore run folders from code: tables as DataFrames, figures as matplotlib figures."""

from __future__ import annotations

import html
import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis import runs
from analysis.features.mixed_effects import fit_formula_by_group
from analysis.measures.agreement import PROTOCOL
from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing.pictures import build_pictures
from analysis.reporting.drawing.plotting import PAGE
from analysis.reporting.output.notebooks import resolve_run_folder
from ground.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

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

    def __init__(self, folders: Sequence[str | os.PathLike[str]]) -> None:
        self._folders = [resolve_run_folder(os.fspath(folder)) for folder in folders]
        self._runs = runs.open_runs(*self._folders)
        self._protocols = {folder.info["study"]["protocol"] for folder in self._runs.folders}
        if not self._list_run_pages():
            raise InputError(
                f"{', '.join(map(str, self._folders))}: {catalogue.explain_no_page_for_protocols(self._protocols)}"
            )
        self._opened: dict[frozenset[str], Runs] = {}
        self._frames: dict[str, Frames] = {}

    def __repr__(self) -> str:
        info = self._runs.info
        summary = f"{', '.join(info['studies'])}; {len(info['models'])} models"
        return f"<Run: {summary}. tables() and figures() list what there is>"

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

    def mixed(self, formula: str, by: Sequence[str] = ("model", "condition"), engine: str = "auto") -> pd.DataFrame:
        """Fit a mixed model of one's own to the answers to paraphrases, once for every model and condition.

        Parameters
        ----------
        formula, by, engine
            As in `analysis.features.mixed_effects.fit_formula_by_group`: "agreement ~ negation_cues +
            attributes.hedged + (1 | item)".

        Returns
        -------
        DataFrame
            A row per group and term: estimate, errors, intervals and tests as in table `mixed`, and warnings.

        Raises
        ------
        InputError
            For an unknown column, response or engine, and a formula that cannot be fitted.
        """
        return fit_formula_by_group(self._open_protocol_runs(frozenset({PROTOCOL})), formula, by, engine)

    def correlate(
        self,
        measures: str | Sequence[str] | pd.DataFrame,
        scores: str | os.PathLike[str] | pd.DataFrame,
        method: str = "spearman",
        given: str | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Correlate measures of the models with scores of the same models, from a file or a frame.

        Parameters
        ----------
        measures, scores, method, given
            As in `correlate_chosen_measures` of the page that compares measures: names as in table `benchmarks`, such
            as "Range"; a CSV or YAML file; "spearman" or "pearson"; "size" or a column of the scores.
        **options
            aliases, score_columns, score_rows and invalid, as in table `benchmarks`.

        Returns
        -------
        DataFrame
            A row per measure and score: r with its 95 % interval, p, p_holm, n and given.

        Raises
        ------
        InputError
            For an unknown measure, score, method or option, and where no model is among the scores.
        """
        page = next(name for name, entry in catalogue.list_pages().items() if entry.compares_measures)
        correlate = catalogue.import_page_function(page, "chosen_correlations.correlate_chosen_measures")
        known_options = {
            name: parameter
            for name, parameter in inspect.signature(correlate).parameters.items()
            if name not in ("runs", "measures", "scores", "method", "given")
        }
        converted = tables.convert_options("correlate", options, known_options)
        frame: pd.DataFrame = correlate(self._runs, measures, scores, method=method, given=given, **converted)
        return frame

    def _list_run_pages(self) -> list[catalogue.Catalogue]:
        """List the pages that are about the protocols of these runs."""
        return [page for page in catalogue.list_pages().values() if page.protocols & self._protocols]

    def _find_page_frames(self, page: str, options: Mapping[str, Any]) -> Frames:
        """Return the tables of a page under some options, computed once."""
        key = f"{page} {sorted(options.items())}"
        if key not in self._frames:
            self._frames[key] = Frames(self._open_page_runs(page), options)
        return self._frames[key]

    def _open_page_runs(self, page: str) -> Runs:
        """Return the run folders that a page is about."""
        return self._open_protocol_runs(catalogue.list_pages()[page].protocols)

    def _open_protocol_runs(self, protocols: frozenset[str]) -> Runs:
        """Return the run folders of some protocols."""
        if self._protocols <= protocols:
            return self._runs
        if protocols not in self._opened:
            self._opened[protocols] = runs.open_runs(*self._folders, protocols=protocols)
        return self._opened[protocols]
