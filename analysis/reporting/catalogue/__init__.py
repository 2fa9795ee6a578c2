"""Find the pages of the report by scanning `analysis/pages`, and their tables, columns and figures by name.

Pages of other installed packages come from `analysis.reporting.catalogue.outside`.

::

    for name, page in map_page_names_to_catalogues().items():
        print(name, list(page.tables), list(page.figures))
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from analysis.reporting.catalogue.columns import ADDED, SHARED, Column, Pattern
from analysis.reporting.catalogue.outside import PAGES, find_outside_room_of_page, load_outside_catalogues_or_warn
from ground.errors import InputError, MalformedPage, format_nearest_name_hint, shorten_to_one_line
from ground.outside_rooms import wrap_room_function_with_clear_errors

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

WHERE_LISTED = {
    "table": "`waver table --list` names all tables",
    "figure": "waver.open(RUN).figures() names all figures",
}

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Measures:
    """Say which columns of a table are measures of a model, for the page that compares them over models.

    Attributes
    ----------
    name_by_column
        Column -> what the measure is called.
    headline
        Those of them that stand first, in the verdict and in the matrix of all measures.
    lead
        The one that stands for the table where there is room for one.
    kinds
        Columns of which each value makes a measure of its own: Consistency by `pattern`.
    validity, averaged_kinds
        Column with the share of valid answers, and the kinds that it is averaged over before a model counts as silent.
    accuracy
        Column -> the column with the accuracy on the same items, which it is compared with as with a benchmark. Not for
        a measure that accuracy is a part of: that they go together is arithmetic.
    row_filter
        Column that is true where a row counts; empty: all count.
    joins_conditions
        Whether a row may be about several conditions together, whose name then is none of run.json.
    most_units
        Models and conditions, of more than which the table takes too long to be made for the comparison, too; 0: it
        never does.
    """

    name_by_column: Mapping[str, str]
    headline: tuple[str, ...] = ()
    lead: str = ""
    kinds: tuple[str, ...] = ()
    validity: str = "validity"
    averaged_kinds: tuple[str, ...] = ()
    accuracy: Mapping[str, str] = field(default_factory=dict)
    row_filter: str = ""
    joins_conditions: bool = False
    most_units: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """One table: where it is computed, what it is called, and its columns.

    Attributes
    ----------
    function
        "module.function" inside the folder of the page, imported when the table is asked for.
    columns
        All columns in order, as in the CSV. `flip_*` stands for one column per threshold, `intervals` for the columns
        `X_lower` and `X_upper` of every column X that is listed before and has them.
    hidden
        Columns that LaTeX, Markdown and HTML leave out to save room.
    optional
        Columns that these forms leave out where they are 0 in all rows, too; one without any value they always do.
    interval
        Column -> the two columns that hold the ends of its interval, printed with it. For a column X that is not named
        here these are `X_lower` and `X_upper`, if the table has them; None: it is printed without an interval.
    repeats
        Column -> the one that it may repeat: LaTeX, Markdown and HTML leave these out where all are such in all rows.
    caption_without_repeats
        The caption where these are left out; empty: the same.
    error
        Column -> the columns with its standard error and its dagger, printed with it.
    best
        Columns compared within each row, with what is best among them, "largest" or "smallest absolute": it is printed
        bold. A pattern stands for several columns, as in `columns`.
    measures
        Which columns are measures of a model; None: the table has none.
    """

    function: str
    title: str
    caption: str
    columns: tuple[str, ...]
    hidden: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    interval: Mapping[str, tuple[str, str] | None] = field(default_factory=dict)
    repeats: Mapping[str, str] = field(default_factory=dict)
    caption_without_repeats: str = ""
    error: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    best: tuple[tuple[str, str], ...] = ()
    measures: Measures | None = None

    def is_column_shown(self, column_name: str, rows: pd.DataFrame) -> bool:
        """Tell whether LaTeX, Markdown and HTML show a column of these rows.

        They show one that has a value in any row: of optional ones, a value that is not 0; those that may repeat
        others (`repeats`), where one of them differs. Where there are no rows, they show all that are not
        optional.

        >>> import pandas as pd
        >>> table = Table("f", "", "", ("n", "p"), optional=frozenset({"n"}))
        >>> [table.is_column_shown(name, pd.DataFrame({"n": [0], "p": [0.0]})) for name in ("n", "p")]
        [False, True]
        >>> table.is_column_shown("p", pd.DataFrame({"p": [None, "", float("nan")]}))
        False
        """
        values = rows[column_name].dropna()
        if column_name in self.optional:
            return bool(values.astype(bool).any())
        if rows.empty:
            return True
        if column_name in self.repeats and all(rows[name].equals(rows[other]) for name, other in self.repeats.items()):
            return False
        return any(not isinstance(value, str) or value for value in values)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it shows, and the frames that it is drawn from.

    Attributes
    ----------
    title
        What it shows, in one line.
    frames
        Names of tables, separated by blanks: their frames are drawn as one picture. Or "module.function" inside the
        folder of the page: given the frames (`analysis.reporting.catalogue.frames.Frames`), the function yields a tuple
        of frames for every picture.
    plot_name
        The function of the page's `plots`, and of its `captions`, that takes these frames; the figure's own name
        unless given.
    file_name
        Name of its files; the figure's own name unless given.
    empty_note
        What the page says where there is nothing to draw.
    """

    title: str
    frames: str
    plot_name: str = ""
    file_name: str = ""
    empty_note: str = "Nothing to show here: these runs have no data for it."


ALL = frozenset({"*"})
"""Of `Catalogue.protocols`: all protocols that pages are about and whose runs hold answers."""


@dataclass(frozen=True, slots=True)
class Rewordings:
    """Name the functions that read the wordings of some protocols, to compare them with each other.

    Attributes
    ----------
    read_studies
        "package.module:function": from runs and names of studies to their answers (`measures.reworded.Study`).
    has_rewordings
        "package.module:function": from runs and names of studies to whether they have anything to compare.
    """

    read_studies: str
    has_rewordings: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What one page has. Written by `analysis/pages/<page>/catalogue.py`, which imports nothing heavy.

    Attributes
    ----------
    place
        Where the page stands in the report: 10, 20, 30 ...
    protocols
        The page is about run folders of these protocols, or of `ALL`; see `compares_measures` and `compares_wordings`.
        `map_page_names_to_catalogues` puts in their place what they stand for.
    tables
        Name -> table, in the order of `table --list`. A name is used by one page only.
    columns
        What the columns of these tables mean; found before the shared entries (`columns.SHARED`), which need none here.
        A key "table.column" is for one table, where a page uses one name for two things.
    figures
        Name -> figure, in the order of the page. A name is used by one page only.
    patterns
        Names of columns that a run decides on, such as "flip_*" -> a function that makes the entry of a matching
        name, or returns None. `columns` holds the pattern itself, too, with what its columns mean in general.
    explain_no_data
        Says in one line why runs of these protocols, with the parameters given to the report, have no data for the
        page; empty where they have.
    needed_packages
        Package beyond those of the report -> how to install it.
    studies
        The published studies that the page repeats, by their names in results/published/studies.toml.
    differing_conditions
        "module.function" of the page: from its frames to study, model and two conditions that a paired comparison finds
        to differ; empty where the page compares no conditions of a model.
    compares_measures
        Whether the page compares the measures (`Table.measures`) of all pages: `map_page_names_to_catalogues` adds
        their protocols.
    rewordings
        How the wordings of these protocols are read, to compare them with each other.
    why_not_compared
        Without `rewordings`: why their wordings are not compared, in one line that goes on "PROTOCOL: ...".
    compares_wordings
        Whether the page compares wordings: `map_page_names_to_catalogues` adds the protocols that some page names the
        `rewordings` of.
    over_time
        Whether the page is about models that were asked several times: its run folders are told apart by time
        (`analysis.runs.over_time`), and a report has it with `--over-time` only.
    unanswered_protocols
        Those of `protocols` whose runs hold no answers of models.
    of_agreement
        Whether its tables speak of agreement; other answers than “agree” and “disagree” are then called by their names.
    question, answer
        Of a page without a notebook, for which one is made (`output.made_notebook`): its heading, and the function,
        "module.function", that gives the answer (`words.Answer`) from the tables (`frames.Frames`).
    declared_protocols
        What `protocols` was before `map_page_names_to_catalogues` put in its place what it stands for.
    """

    place: int
    protocols: frozenset[str]
    tables: Mapping[str, Table]
    columns: Mapping[str, Column] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    explain_no_data: Callable[[Runs, Mapping[str, Any]], str] = lambda runs, parameters: ""
    needed_packages: Mapping[str, str] = field(default_factory=dict)
    studies: tuple[str, ...] = ()
    differing_conditions: str = ""
    compares_measures: bool = False
    rewordings: Rewordings | None = None
    why_not_compared: str = ""
    compares_wordings: bool = False
    over_time: bool = False
    unanswered_protocols: frozenset[str] = frozenset()
    of_agreement: bool = False
    question: str = ""
    answer: str = ""
    declared_protocols: frozenset[str] = frozenset()


def split_names(text: str) -> tuple[str, ...]:
    """Split a line of column names."""
    return tuple(text.split())


@functools.cache
def map_page_names_to_catalogues() -> Mapping[str, Catalogue]:
    """Return every page by name, in the order of the report."""
    folders = [module.name for module in pkgutil.iter_modules([str(PAGES)]) if module.ispkg]
    page_by_name: dict[str, Catalogue] = {
        name: import_module(f"analysis.pages.{name}.catalogue").CATALOGUE for name in folders
    }
    page_by_name |= load_outside_catalogues_or_warn(page_by_name, Catalogue)
    page_by_name = {name: replace(page, declared_protocols=page.protocols) for name, page in page_by_name.items()}
    compared = _list_protocols_of_pages(page for page in page_by_name.values() if page.rewordings)
    page_by_name |= {
        name: replace(page, protocols=page.protocols | compared)
        for name, page in page_by_name.items()
        if page.compares_wordings
    }
    measured_pages = [page for page in page_by_name.values() if any(table.measures for table in page.tables.values())]
    protocols = _list_protocols_of_pages(measured_pages)
    page_by_name |= {
        name: replace(page, protocols=protocols) for name, page in page_by_name.items() if page.compares_measures
    }
    unanswered = frozenset[str]().union(*(page.unanswered_protocols for page in page_by_name.values()))
    answered = _list_protocols_of_pages(page_by_name.values()) - ALL - unanswered
    page_by_name |= {
        name: replace(page, protocols=answered) for name, page in page_by_name.items() if page.protocols == ALL
    }
    return dict(sorted(page_by_name.items(), key=lambda entry: entry[1].place))


def _list_protocols_of_pages(pages: Iterable[Catalogue]) -> frozenset[str]:
    """Return all protocols that some pages are about."""
    return frozenset[str]().union(*(page.protocols for page in pages))


def list_protocols_without_model_responses() -> frozenset[str]:
    """List the protocols whose runs hold no responses of models, such as accuracies that were imported."""
    return frozenset[str]().union(*(page.unanswered_protocols for page in map_page_names_to_catalogues().values()))


def explain_no_page_for_protocols(protocols: Iterable[str]) -> str:
    """Say in one line that no page is about these protocols, and which protocols there are pages for."""
    about = sorted(_list_protocols_of_pages(map_page_names_to_catalogues().values()))
    return f"no page is about protocol {', '.join(sorted(protocols))}; there are pages for {', '.join(about)}"


def list_tables() -> dict[str, Table]:
    """Return every table by name, page after page."""
    return {name: entry for page in map_page_names_to_catalogues().values() for name, entry in page.tables.items()}


def list_figures() -> dict[str, Figure]:
    """Return every figure by name, page after page."""
    return {name: entry for page in map_page_names_to_catalogues().values() for name, entry in page.figures.items()}


def look_up_table(name: str) -> Table:
    """Look up a table.

    Raises
    ------
    InputError
        For an unknown name; the message names the nearest, and says where all of them are listed.
    """
    return look_up_catalogue_entry(name, list_tables(), "table")


def look_up_figure(name: str) -> Figure:
    """Look up a figure; an unknown name is an InputError as for a table."""
    return look_up_catalogue_entry(name, list_figures(), "figure")


def look_up_catalogue_entry(name: str, entries: Mapping[str, Entry], kind: str) -> Entry:
    """Look up an entry by name.

    Parameters
    ----------
    name
        Its name.
    entries
        All entries by name.
    kind
        "table" or "figure".

    Returns
    -------
    The entry.

    Raises
    ------
    InputError
        For an unknown name; the message names the nearest and how to list them, or that it is one of the other kind.
    """
    if name in entries:
        return entries[name]
    other, other_entries = ("figure", list_figures()) if kind == "table" else ("table", list_tables())
    if name in other_entries:
        raise InputError(f"{name!r} is a {other}, not a {kind}; ask for it as a {other}")
    nearest = format_nearest_name_hint(str(name), entries)
    raise InputError(f"unknown {kind} {shorten_to_one_line(repr(name))}{nearest}; {WHERE_LISTED[kind]}")


def find_page_name_of_entry(entry_name: str, kind: str = "tables") -> str:
    """Find the page that has a table or a figure.

    Parameters
    ----------
    entry_name
        Name of a table or figure that there is.
    kind
        "tables" or "figures".

    Returns
    -------
    Name of the page.
    """
    return next(page for page, entry in map_page_names_to_catalogues().items() if entry_name in getattr(entry, kind))


def look_up_column(table: str, name: str) -> Column:
    """Find what a column of a table means.

    The page that owns the table comes first: its entry for this table, its entry for all its tables, its patterns. Then
    come the shared entries, those that were added from Python, and last the ends of intervals: `tau_lower` is explained
    by `tau`.

    Parameters
    ----------
    table
        A table of the catalogue.
    name
        A column of it, or a pattern that stands for several.

    Returns
    -------
    Its meaning, unit, header and digits.

    Raises
    ------
    MalformedPage
        For a column that nothing explains; the line names the file to edit.
    """
    page_name = find_page_name_of_entry(table)
    if entry := _find_column_definition_of_page(map_page_names_to_catalogues()[page_name], table, name):
        return entry
    raise MalformedPage(
        f"{format_page_folder_for_messages(page_name)}/columns.py: column {name!r} of table {table!r} has no meaning; "
        "add it to COLUMNS"
    )


def _find_column_definition_of_page(page: Catalogue, table: str, name: str) -> Column | None:
    """Find what a page, or the shared entries, say of a column; None where they say nothing."""
    for key in (f"{table}.{name}", name):
        if key in page.columns:
            return page.columns[key]
    for pattern, make in page.patterns.items():
        if fnmatchcase(name, pattern) and (entry := make(name)):
            return entry
    if entry := SHARED.get(name) or ADDED.get((table, name)):
        return entry
    for ending, side in (("_lower", "lower"), ("_upper", "upper")):
        if name.endswith(ending) and (base := _find_column_definition_of_page(page, table, name.removesuffix(ending))):
            return replace(base, meaning=f"{side} end of the 95 % interval (over items) of: {base.meaning}")
    return None


def format_page_folder_for_messages(page: str) -> str:
    """Return the folder of a page as messages name it: of an outside page with package and version."""
    room = find_outside_room_of_page(page)
    return f"{room.package_and_version}: {room.module.replace('.', '/')}" if room else f"analysis/pages/{page}"


def import_page_function(page: str, function_path: str) -> Callable[..., Any]:
    """Import a function from the folder of a page.

    Parameters
    ----------
    page
        Name of the page.
    function_path
        "module.function".

    Returns
    -------
    The function.
    """
    module, name = function_path.split(".")
    room = find_outside_room_of_page(page)
    if room is None:
        return _import_function(f"analysis.pages.{page}.{module}", name)
    return wrap_room_function_with_clear_errors(
        room, wrap_room_function_with_clear_errors(room, _import_function)(f"{room.module}.{module}", name)
    )


def _import_function(module: str, name: str) -> Callable[..., Any]:
    """Import a function of a module."""
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
