"""Explore run folders from code: rows and tables as DataFrames, figures as matplotlib figures."""

from __future__ import annotations

import copy
import html
import inspect
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import runs
from analysis.features.mixed_effects import choose_protocol_of_formula, fit_mixed_model_by_group
from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing.pictures import build_pictures
from analysis.reporting.drawing.plotting import PAGE
from analysis.reporting.output.notebooks import resolve_path_here_or_in_notebooks
from analysis.reporting.tidy.selection import select_part_of_runs
from analysis.reporting.tidy.tables import TABLES, find_meanings_of_tidy_columns, open_tidy_connection, read_tidy_table
from analysis.reporting.words import format_quantity
from analysis.runs.database import list_asked_and_expected_units
from analysis.runs.folder import KEY, UNIT, list_run_folders, read_protocol_of_run
from analysis.runs.guarded import run_guarded_query
from analysis.runs.parts import WORDING
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from analysis.reporting.drawing.plotting import Drawing
    from analysis.runs import Runs
    from analysis.runs.parts import Part


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
    """Give access to the rows, tables and figures of some run folders. Made by `waver.open`.

    Tables and figures have the names that they have in the report. What was computed is kept: the same table with the
    same options is not computed twice. The responses are read when they are needed.

    Attributes
    ----------
    folders
        The folders as they were given.
    part
        What is kept of them; None: all.
    over_time
        Whether the same models may have been asked several times: the last time counts, but for pages about all times.
    """

    def __init__(self, folders: Sequence[str | os.PathLike[str]], over_time: bool = False) -> None:
        self.over_time = over_time
        self.folders = [os.fspath(folder) for folder in folders]
        self._paths = [resolve_path_here_or_in_notebooks(folder) for folder in self.folders]
        run_folders = [folder for path in self._paths for folder in list_run_folders(path)]
        self._protocols = {read_protocol_of_run(folder) for folder in run_folders}
        if not run_folders:
            raise InputError("no run folder given")
        if not self._list_page_catalogues_of_protocols():
            raise InputError(
                f"{', '.join(map(str, self._paths))}: {catalogue.explain_no_page_for_protocols(self._protocols)}"
            )
        self.part: Part | None = None
        self._opened: dict[tuple[frozenset[str], bool], Runs] = {}
        self._frames: dict[str, Frames] = {}
        self._whole = self
        self._condition: str | None = ""  # None: the part has no condition, but keys

    def __repr__(self) -> str:
        info = self._runs.info
        summary = f"{', '.join(info['studies'])}; {format_quantity(len(info['models']), 'model')}"
        return f"<Run: {summary}. tables() and figures() list the names>"

    def where(self, where: str | pd.DataFrame = "") -> Run:
        """Keep a part of the runs; all tables, figures and pages are then of that part.

        Parameters
        ----------
        where
            A condition as after WHERE in SQL, such as `"negation_cues = 0 AND model LIKE '%tuned'"`, on study, model,
            condition, item, variant, the columns of `wordings`, `models` and `conditions` (`attributes.x` and `x` are
            the same; `models.form` is of the models where two tables have a column), n_wordings and n_paraphrases of
            `items`. Rows of which it is neither true nor false are left out. Or a table of keys, as DataFrame or name
            of a CSV file: some of the columns study, model, condition, item, variant, text. Empty: everything.

        Returns
        -------
        Run
            The part; these runs themselves where the condition is empty.

        Raises
        ------
        InputError
            For what is no condition, an unknown column (with the nearest), keys that match nothing, an empty part.
        """
        if isinstance(where, str) and not where.strip():
            return self
        part_run = copy.copy(self)
        is_condition = isinstance(where, str) and not where.strip().lower().endswith(".csv")
        # On lines of their own: a condition may end with a comment.
        both = f"({self._condition}\n) AND ({where}\n)" if self._condition else where
        part_run._condition = both if is_condition and self._condition is not None else None
        part_run.__dict__.pop("_tidy_tables_connection", None)
        part_run.part = select_part_of_runs(self._runs, self._tidy_tables_connection, where)
        part_run._opened, part_run._frames = {}, {}
        part_run._protocols = {folder.info["study"]["protocol"] for folder in part_run._runs.folders}
        return part_run

    def select_protocols(self, protocols: Collection[str]) -> Run:
        """Keep the runs of some protocols; they share what was opened with these."""
        if self._protocols <= set(protocols):
            return self
        run = copy.copy(self)
        run.__dict__.pop("_tidy_tables_connection", None)
        run._opened, run._frames = {(frozenset(), self.over_time): self.open_runs_of_protocols(protocols)}, {}
        run._protocols = self._protocols & set(protocols)
        run._whole = run if self.part is None else self._whole
        return run

    def responses(self, columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return every answer: a row per study, model, condition, item and variant.

        `Run.columns("responses")` explains the other columns. Where the parameter `columns` names some, only these are
        read, which takes a fraction of the time.
        """
        return read_tidy_table(self._tidy_tables_connection, "responses", columns)

    def thoughts(self) -> pd.DataFrame:
        """Return every thought of a model that thinks: tokens, probability of each option after it, and its text."""
        return read_tidy_table(self._tidy_tables_connection, "thoughts")

    def wordings(self) -> pd.DataFrame:
        """Return every wording with its attributes (`attributes.x`) and those text features that are stored."""
        return read_tidy_table(self._tidy_tables_connection, "wordings")

    def items(self) -> pd.DataFrame:
        """Return every item: how many wordings it has, and what is the same in all of them."""
        return read_tidy_table(self._tidy_tables_connection, "items")

    def models(self) -> pd.DataFrame:
        """Return every model with what run.json records of it."""
        return read_tidy_table(self._tidy_tables_connection, "models")

    def conditions(self) -> pd.DataFrame:
        """Return every condition of every study with its settings."""
        return read_tidy_table(self._tidy_tables_connection, "conditions")

    def columns(self, name: str) -> Listing:
        """List the columns of `responses`, `thoughts`, `wordings` and so on: name -> meaning.

        Raises
        ------
        InputError
            For an unknown table, with the nearest.
        """
        if name not in TABLES:
            raise InputError(
                f"there is no table {shorten_to_one_line(repr(name))}{format_nearest_name_hint(str(name), TABLES)}; "
                f"the tables are {', '.join(TABLES)}"
            )
        return Listing(find_meanings_of_tidy_columns(self._tidy_tables_connection, self._runs.info, name))

    def sql(self, query: str) -> pd.DataFrame:
        """Run a SELECT over the tables responses, thoughts, wordings, items, models and conditions by DuckDB.

        It reads the files of the run as it goes, also millions of rows. It can read nothing else, and change nothing.
        A column with a dot in its name stands in quotes: `SELECT "attributes.source" FROM wordings`.

        Parameters
        ----------
        query
            One SELECT statement.

        Returns
        -------
        DataFrame
            The rows; in no order unless the query says one.

        Raises
        ------
        InputError
            For anything but one SELECT over these tables, and for a query that DuckDB refuses.
        """
        return run_guarded_query(self._tidy_tables_connection, query, TABLES)

    def report(
        self, out: str | os.PathLike[str], *, title: str = "", single_file: bool = False, **parameters: Any
    ) -> Path:
        """Write the report: self-contained pages with an index, tables and figures.

        Parameters
        ----------
        out
            Folder to write to; made where it is missing.
        title
            What the report is about; unless given, how many models answered in which studies.
        single_file
            Write everything as one file, too.
        **parameters
            Parameters of the pages' notebooks, such as `resamples=2000`; `where`, as the method of this name takes it.

        Returns
        -------
        Path
            The index. A page that failed is named in a warning; the index says why.

        Raises
        ------
        InputError
            For an unknown or mistyped parameter, or a package that is missing.
        """
        # The report runs notebooks, which this module is for: nothing of that is needed before.
        from analysis.reporting.output.report import write_report

        where = parameters.pop("where", "")
        if not isinstance(where, str) or where:  # a table of keys is neither true nor false
            return self.where(where).report(out, title=title, single_file=single_file, **parameters)
        folder = Path(out)
        if self.part:
            parameters["where"] = self._condition or self._write_part_keys_to_csv(folder / "part.csv")
        report = write_report(
            self.folders, folder, parameters, title=title, single_file=single_file, over_time=self.over_time
        )
        if failed_names := [result.name for result in report.failed_results]:
            warnings.warn(f"failed: {', '.join(failed_names)}; the index says why", stacklevel=2)
        return folder / "index.html"

    def tables(self) -> Listing:
        """List the tables of the pages that these runs are for: name -> title."""
        pages = self._list_page_catalogues_of_protocols()
        return Listing({name: entry.title for page in pages for name, entry in page.tables.items()})

    def figures(self) -> Listing:
        """List the figures of the pages that these runs are for: name -> what it shows."""
        pages = self._list_page_catalogues_of_protocols()
        return Listing({name: entry.title for page in pages for name, entry in page.figures.items()})

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
        converted = tables.convert_options_to_types_of_defaults(
            f"table {name}", options, tables.list_table_options(name)
        )
        return self._compute_page_frames_once(catalogue.find_page_name_of_entry(name), converted)[name].copy()

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
            for table in catalogue.map_page_names_to_catalogues()[page].tables
            for key, value in tables.list_table_options(table).items()
        }
        converted = tables.convert_options_to_types_of_defaults(f"figure {name}", options, known_options)
        drawn_pictures = build_pictures(name, self._compute_page_frames_once(page, converted))
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
        """Fit a mixed model of one's own to the answers, once for every model and condition.

        Parameters
        ----------
        formula, by, engine
            As in `analysis.features.mixed_effects.fit_mixed_model_by_group`: "agreement ~ negation_cues +
            attributes.hedged + (1 | item)". Of rating scales, and of scores of any kind, "score ~ ...".

        Returns
        -------
        DataFrame
            A row per group and term: estimate, errors, intervals and tests as in table `mixed`, and warnings.

        Raises
        ------
        InputError
            For an unknown column, response or engine, and a formula that cannot be fitted.
        """
        protocol = choose_protocol_of_formula(formula, self._protocols)
        return fit_mixed_model_by_group(self.open_runs_of_protocols({protocol}), formula, by, engine)

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
            As in `correlate_chosen_measures_with_scores` of the page that compares measures: names as in table
            `benchmarks`, such as "Range"; a CSV or YAML file; "spearman" or "pearson"; "size" or a column of the
            scores.
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
        page = next(name for name, entry in catalogue.map_page_names_to_catalogues().items() if entry.compares_measures)
        correlate = catalogue.import_page_function(page, "chosen_correlations.correlate_chosen_measures_with_scores")
        known_options = {
            name: parameter
            for name, parameter in inspect.signature(correlate).parameters.items()
            if name not in ("runs", "measures", "scores", "method", "given")
        }
        converted = tables.convert_options_to_types_of_defaults("correlate", options, known_options)
        frame: pd.DataFrame = correlate(self._runs, measures, scores, method=method, given=given, **converted)
        return frame

    def _write_part_keys_to_csv(self, file: Path) -> str:
        """Write the keys of the part to a CSV file, which `where` reads, and return its name.

        They are those of what was asked, also where it failed. Of a part that keeps whole models, or whole wordings,
        the keys of these are enough, in a file that is no longer than `where` reads.
        """
        assert self.part is not None
        units, wordings = "main.part_units", "main.part_wordings"
        columns, rows = KEY, f"{units} AS u JOIN {wordings} AS w USING (study)"
        if self.part.pairs is not None:
            rows += " SEMI JOIN main.part_pairs AS p ON p.unit = u.unit AND p.wording = w.wording"
        elif self.part.keeps_all_wordings:
            columns, rows = UNIT, units
        elif self._keeps_all_units():
            columns, rows = WORDING, wordings
        keys = self._tidy_tables_connection.execute(f"SELECT {', '.join(columns)} FROM {rows} ORDER BY ALL").df()
        file.parent.mkdir(parents=True, exist_ok=True)
        keys.to_csv(file, index=False)
        return str(file)

    def _keeps_all_units(self) -> bool:
        """Tell whether the part keeps every model and condition of its studies."""
        units = list_asked_and_expected_units(self._runs)
        studies = {study for study, _, _ in units}
        whole = [unit for unit in list_asked_and_expected_units(self._whole._runs) if unit[0] in studies]
        return units == whole

    def _list_page_catalogues_of_protocols(self) -> list[catalogue.Catalogue]:
        """List the pages on the protocols of these runs; those over several times where these may be."""
        pages = catalogue.map_page_names_to_catalogues().values()
        return [page for page in pages if page.protocols & self._protocols and page.over_time <= self.over_time]

    def _compute_page_frames_once(self, page: str, options: Mapping[str, Any]) -> Frames:
        """Return the tables of a page under some options, computed once."""
        key = f"{page} {sorted(options.items())}"
        if key not in self._frames:
            entry = catalogue.map_page_names_to_catalogues()[page]
            self._frames[key] = Frames(self.open_runs_of_protocols(entry.protocols, entry.over_time), options)
        return self._frames[key]

    def open_runs_of_protocols(self, protocols: Collection[str] = (), over_time: bool = False) -> Runs:
        """Return the run folders of some protocols as one database, all of them where none is named; opened once."""
        over_time = over_time or self.over_time
        # Of a part, too, what there is in the whole decides: the part is counted over all that a page is about.
        is_all = not protocols or self._whole._protocols <= set(protocols)
        chosen = frozenset() if is_all else frozenset(protocols)
        key = chosen, over_time
        if key not in self._opened:
            self._opened[key] = (
                runs.open_runs(*self._paths, protocols=chosen, over_time=over_time)
                if self.part is None
                else self._whole.open_runs_of_protocols(chosen, over_time).restrict_to_part(self.part)
            )
        return self._opened[key]

    @property
    def _runs(self) -> Runs:
        """Return all run folders as one database."""
        return self.open_runs_of_protocols()

    @cached_property
    def _tidy_tables_connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection that has the tidy tables."""
        return open_tidy_connection(self._runs)
