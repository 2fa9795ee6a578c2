"""Compute the tables of the catalogue by name and write them as text: for the command line, notebooks and pages.

::

    frame = build_table("stability", runs.open_runs("results/demo/agreement"))
    print(render_table_in_text_format("stability", frame, "latex"))
"""

from __future__ import annotations

import inspect
import json
import numbers
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from analysis.reporting.catalogue import (
    find_page_name_of_entry,
    format_page_folder_for_messages,
    import_page_function,
    list_tables,
    look_up_column,
    look_up_table,
    map_page_names_to_catalogues,
)
from analysis.reporting.catalogue.columns import ADDED, IDENTITY, SHARED, Column
from analysis.reporting.catalogue.option_values import convert_to_type_of_default
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.catalogue.selection import (
    attach_answer_pair_of_studies_to_frame,
    read_answer_pair_attached_to_frame,
)
from ground.errors import InputError, MalformedPage, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd

    from analysis.reporting.output.latex import Width
    from analysis.runs import Runs

FORMATS = ("csv", "json", "jsonl", "latex", "markdown")
INTERVALS = "intervals"  # in `Table.columns`: the ends of the intervals of all columns before it


def list_table_options(table_name: str) -> dict[str, inspect.Parameter]:
    """Return the options of a table: the keyword parameters of its function with their defaults."""
    parameters = inspect.signature(
        import_page_function(find_page_name_of_entry(table_name), look_up_table(table_name).function)
    ).parameters
    return {key: p for key, p in list(parameters.items())[1:] if p.default is not inspect.Parameter.empty}


def convert_options_to_types_of_defaults(
    subject: str, given_options: Mapping[str, Any], known_options: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
    """Check options, and convert those that are text, as on a command line, to the types of their defaults.

    Parameters
    ----------
    subject
        The table or figure that the options are for, as messages name it.
    given_options
        Option -> value.
    known_options
        The options that there are (`list_table_options`).

    Returns
    -------
    Option -> value.

    Raises
    ------
    InputError
        For an option that there is not, with the nearest and all names, or a value that does not fit.
    """
    converted = {}
    for name, value in given_options.items():
        if name not in known_options:
            listed = f"the options are {', '.join(known_options)}" if known_options else "it has none"
            raise InputError(
                f"{subject} has no option {shorten_to_one_line(repr(name))}"
                f"{format_nearest_name_hint(name, known_options)}; {listed}"
            )
        try:
            converted[name] = convert_to_type_of_default(known_options[name].default, value)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{subject}: option {name}: {error}") from error
        if name == "seed" and isinstance(converted[name], numbers.Integral) and converted[name] < 0:
            raise InputError(f"{subject}: seed = {converted[name]}: give a whole number from 0 on")
    return converted


def explain_tables(names: Sequence[str] = ()) -> str:
    """List all tables by name and title; with names, the columns of these tables and what they mean."""
    if not names:
        width = max(map(len, list_tables()))
        return "".join(f"{name:{width}}  {entry.title}\n" for name, entry in list_tables().items())
    lines = []
    for name in names:
        lines.append(f"{name}: {look_up_table(name).title}\n{look_up_table(name).caption}\n")
        lines += [
            f"  {key:18}  {meaning}{f' ({unit})' if unit else ''}\n"
            for key, unit, meaning in _list_column_meanings(name)
        ]
        # An option without a default is no text: it can only be given from Python.
        options = {key: option.default for key, option in list_table_options(name).items()}
        option_texts = [f"{key}={default}" for key, default in options.items() if default is not None]
        lines.append(f"  options (-p): {', '.join(option_texts) or 'none'}\n")
    return "".join(lines)


def format_table_descriptions_as_json(names: Sequence[str] = ()) -> str:
    """Write what `explain_tables` says of tables, all unless some are named, as JSON.

    `analysis/reporting/catalogue/schema.json` explains it.
    """
    records = [
        {
            "table": name,
            "title": look_up_table(name).title,
            "caption": look_up_table(name).caption,
            "page": find_page_name_of_entry(name),
            "columns": [
                {"column": key, "unit": unit, "meaning": meaning} for key, unit, meaning in _list_column_meanings(name)
            ],
            "options": {key: option.default for key, option in list_table_options(name).items()},
        }
        for name in names or list_tables()
    ]
    return json.dumps({"format": 1, "tables": records}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _list_column_meanings(table_name: str) -> list[tuple[str, str, str]]:
    """List name, unit and meaning of every column that the catalogue declares for a table."""
    lines = []
    for key in look_up_table(table_name).columns:
        if key == INTERVALS:
            lines.append(("X_lower, X_upper", "", "95 % interval of every figure X above, over items"))
        else:
            entry = look_up_column(table_name, key)
            lines.append((key, entry.unit, entry.meaning))
    return lines


def build_table(name: str, runs: Runs, **given_options: Any) -> pd.DataFrame:
    """Compute a table.

    Parameters
    ----------
    name
        A table of the catalogue.
    runs
        From `analysis.runs.open_runs`.
    **given_options
        Options such as `resamples` or `thresholds`. One that this table does not have is left out, so that a report
        can give one set to all its tables.

    Returns
    -------
    DataFrame
        The columns that the catalogue declares, in its order and in full precision; `catalogue.look_up_column` explains
        each. A table without rows has them, too.

    Raises
    ------
    MalformedPage
        For a column that is declared and not computed, computed and not declared, or without a meaning.
    """
    known_options, page_name = list_table_options(name), find_page_name_of_entry(name)
    own_options = {key: value for key, value in given_options.items() if key in known_options}
    options = convert_options_to_types_of_defaults(f"table {name}", own_options, known_options)
    frame: pd.DataFrame = import_page_function(page_name, look_up_table(name).function)(runs, **options)
    declared_columns = list_declared_columns(name, frame)
    for key in declared_columns:
        look_up_column(name, key)
    if frame.empty:
        import pandas as pd

        frame = pd.DataFrame({key: frame.get(key, pd.Series(dtype=object)) for key in declared_columns})
    else:
        _refuse_undeclared_columns(name, frame, declared_columns)
        frame = frame[declared_columns]
    if map_page_names_to_catalogues()[page_name].of_agreement:
        attach_answer_pair_of_studies_to_frame(frame, runs.info)
    return frame


def _refuse_undeclared_columns(name: str, frame: pd.DataFrame, declared_columns: Sequence[str]) -> None:
    """Refuse a frame whose columns are not those that the catalogue declares."""
    folder, function = format_page_folder_for_messages(find_page_name_of_entry(name)), look_up_table(name).function
    for key in declared_columns:
        if key not in frame:
            raise MalformedPage(
                f"{folder}/catalogue.py: column {key!r} of table {name!r} is declared, but {function} does not compute "
                "it; compute it, or take it out"
            )
    for key in frame:
        if key not in declared_columns:
            raise MalformedPage(
                f"{folder}/catalogue.py: column {key!r} of table {name!r} is computed by {function}, but not declared; "
                "add it to the columns of the table"
            )


def exclude_published_rows(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of a table that come from runs, where a paper's printed rows stand among them.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.

    Returns
    -------
    DataFrame
        The rows whose `source` says these runs; all of a table without that column, or where it means something else.
    """
    if "source" not in frame or look_up_column(name, "source") != SHARED["source"]:
        return frame
    return frame[frame["source"] == OURS]


def list_declared_columns(name: str, frame: pd.DataFrame) -> list[str]:
    """List the columns that the catalogue declares for a table, in order, with those that depend on the run.

    A frame with `flip_05`, `flip_10`, `flip_05_lower`, `flip_05_upper` and the entries `flip_* intervals` give
    `flip_05, flip_10, flip_05_lower, flip_05_upper`.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.

    Returns
    -------
    Names of columns.
    """
    columns_so_far: list[str] = []
    for entry in look_up_table(name).columns:
        if entry == INTERVALS:
            columns_so_far += [
                end for key in columns_so_far for end in (f"{key}_lower", f"{key}_upper") if end in frame
            ]
        else:
            columns_so_far += _expand_column_pattern(name, frame, entry)
    return columns_so_far + [
        end
        for key in _list_columns_that_reader_added(name, frame)
        for end in (key, f"{key}_lower", f"{key}_upper")
        if end in frame
    ]


def _list_columns_that_reader_added(table_name: str, frame: pd.DataFrame) -> list[str]:
    """List the columns of a frame that a reader added from Python (`catalogue.ADDED`)."""
    return [key for key in map(str, frame.columns) if (table_name, key) in ADDED]


def _expand_column_pattern(table_name: str, frame: pd.DataFrame, pattern: str) -> list[str]:
    """List the columns of a frame that a column of the catalogue stands for: itself, or those of its pattern."""
    if "*" not in pattern:
        return [pattern]
    make = map_page_names_to_catalogues()[find_page_name_of_entry(table_name)].patterns[pattern]
    return [key for key in map(str, frame.columns) if fnmatchcase(key, pattern) and make(key)]


def render_table_in_text_format(
    name: str, frame: pd.DataFrame, form: str, columns: Sequence[str] | None = None, width: Width = "page"
) -> str:
    """Write a table as text: CSV or JSON with full precision, LaTeX (booktabs) or Markdown with few digits.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.
    form
        "csv", "json" (a list of rows), "jsonl" (a row per line), "latex" or "markdown".
    columns
        The columns to write, in this order; LaTeX and Markdown print before them the model, and study and condition
        where these tell rows apart, unless they are named. All (CSV, JSON), or those of `list_shown_columns`, unless
        given.
    width
        Of a LaTeX table: "page", or one "column" of a two-column document.

    Returns
    -------
    The text.

    Raises
    ------
    InputError
        For an unknown format, column or width.
    """
    from analysis.reporting.catalogue import grid
    from analysis.reporting.output import latex

    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; the formats are: {', '.join(FORMATS)}")
    columns = list(dict.fromkeys(columns or ()))
    for key in columns:
        if key not in frame:
            raise InputError(f"table {name} has no column {shorten_to_one_line(repr(key))}"
                             f"{format_nearest_name_hint(key, frame)}; "
                             f"`waver table --list {name}` explains all")  # fmt: skip
    if form in ("csv", "json", "jsonl"):
        kept_frame = frame[columns] if columns else frame
        return grid.render_csv(kept_frame) if form == "csv" else grid.render_json(kept_frame, form == "jsonl")
    shown_columns = columns or list_shown_columns(name, frame)
    answers = read_answer_pair_attached_to_frame(frame)
    cells = answers.reword_agreement_as_answers_in_grid(
        grid.build_grid(name, frame, shown_columns, list_compared_column_groups_with_rules(name, frame))
    )
    if form == "markdown":
        return grid.render_markdown(cells)
    entry = look_up_table(name)
    caption = choose_caption_for_shown_columns(name, frame, shown_columns)
    title, caption = map(answers.rewrite_agreement_text_for_answers, (entry.title, caption))
    return latex.render_grid_as_latex(cells, name, replace(entry, title=title, caption=caption), width)


def choose_caption_for_shown_columns(name: str, frame: pd.DataFrame, shown_columns: Sequence[str]) -> str:
    """Choose the caption of a table for the columns that stand in it, and drop what it says of columns that do not.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.
    shown_columns
        The columns that stand in it.

    Returns
    -------
    str
        The caption. A sentence "Flips: ..." explains the columns whose name or header has this word; it stays where one
        of these is shown, or one whose meaning has the word.
    """
    table, shown_names = look_up_table(name), set(shown_columns)
    caption = table.caption
    if table.repeats and not shown_names & set(table.repeats):
        caption = table.caption_without_repeats or caption
    for key in shown_columns:  # a standard error, a dagger and an interval are printed with their column
        shown_names |= {*table.error.get(key, ()), *(table.interval.get(key) or ())}
    entries = {key: look_up_column(name, key) for key in list_declared_columns(name, frame)}
    sentences = re.split(r"(?<=\.) (?=[^a-z])", caption)
    return " ".join(text for text in sentences if not _explains_only_columns_not_shown(text, entries, shown_names))


def _explains_only_columns_not_shown(
    sentence: str, entries: Mapping[str, Column], shown_names: Collection[str]
) -> bool:
    """Tell whether a sentence of a caption explains columns of a table, and none that stands in it."""
    # Up to four words, as "Range and SD: ..."; neither "With 95 % intervals (shares: Wilson)" nor "Mixed model of every
    # model and condition: ..." begins with one.
    head = re.match(r"(?:[^\s,(:]+ ){0,3}[^\s,(:]+(?=: )", sentence)
    if head is None:
        return False
    words = "|".join(map(re.escape, head[0].split(" and ")))
    has_word = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE).search
    explained_names = {key for key, entry in entries.items() if has_word(f"{key.replace('_', ' ')} {entry.header}")}
    means_shown = any(has_word(entry.meaning) for key, entry in entries.items() if key in shown_names)
    return bool(explained_names) and explained_names.isdisjoint(shown_names) and not means_shown


def list_shown_columns(name: str, frame: pd.DataFrame) -> list[str]:
    """List the columns of a table that LaTeX, Markdown and HTML show, without study, model and condition.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.

    Returns
    -------
    Names of columns, in the order of the catalogue; without those that have no value in any row.
    """
    table = look_up_table(name)
    left_out = (*IDENTITY, INTERVALS, *table.hidden)
    declared_columns = [
        key
        for entry in table.columns
        if entry not in left_out
        for key in _expand_column_pattern(name, frame, entry)
        if table.is_column_shown(key, frame)
    ]
    return declared_columns + _list_columns_that_reader_added(name, frame)


def list_compared_column_groups_with_rules(name: str, frame: pd.DataFrame) -> list[tuple[list[str], str]]:
    """List the columns of a table that are compared within each row.

    Parameters
    ----------
    name
        A table of the catalogue.
    frame
        Its rows.

    Returns
    -------
    Columns that are compared, and which is best: "largest" or "smallest absolute" (`Table.best`).
    """
    groups = look_up_table(name).best
    return [
        ([key for part in names.split() for key in _expand_column_pattern(name, frame, part)], rule)
        for names, rule in groups
    ]
