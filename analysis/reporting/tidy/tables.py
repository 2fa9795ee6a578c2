"""Make the tidy tables of some runs, and say what their columns mean.

They join on the columns that they have in common: study, model, condition, item, variant. A column `attributes.x` is
the attribute x of a wording, as text; a column `probability.x` is the exact probability of the option x.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.features.frames import create_stored_features_table
from analysis.features.names import FEATURES, MEANINGS
from analysis.measures.meaning_file import MEANING_COLUMNS, MEANINGS_TABLE, list_meaning_folders
from analysis.reporting.tidy.fields import build_run_json_tables, choose_unique_column_name
from analysis.runs.conditions import build_options_without_middle_sql
from analysis.runs.database import (
    connect_duckdb,
    create_stimuli_and_responses_views,
    list_asked_and_expected_units,
    list_asked_units,
)
from analysis.runs.folder import quote_sql_literal
from analysis.runs.guarded import restrict_connection_to_files
from ground.errors import InputError, format_message_on_one_line, format_nearest_name_hint, shorten_to_one_line
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from analysis.runs import Runs

TABLES = ("responses", "thoughts", "wordings", "items", "models", "conditions")
# How a table is read whole: its columns {}, and the columns by which its rows are in the order of run.json and of the
# wordings in their study.
_READ = {
    "responses": ("SELECT {} FROM responses AS t JOIN main.places USING (study, model, condition) "
                  "JOIN main.stimuli AS s USING (study, item, variant)", ("place", "s.position")),
    "thoughts": ("SELECT {} FROM thoughts AS t JOIN main.places USING (study, model, condition) "
                 "JOIN main.stimuli AS s USING (study, item, variant)", ("place", "s.position", "number")),
    "wordings": ("SELECT {} FROM wordings AS t JOIN main.study_places USING (study)", ("place", "position")),
    "items": ("SELECT {} FROM items AS t JOIN main.study_places USING (study) JOIN (SELECT study, item, "
              "min(position) AS position FROM main.stimuli GROUP BY ALL) USING (study, item)", ("place", "position")),
}  # fmt: skip
_KEY = ("study", "model", "condition", "item", "variant")
_ORDER = "order"
_VECTORS = 5  # of 2,048 rows each, which are fetched at a time
_REPEATED_TEXTS = frozenset({*_KEY, "answer", "canonical_answer", "pattern", "language"})
_OWN_MEANINGS = {
    "position": "place of the wording in its study, from 0",
    "canonical_answer": "`answer` in the frame of the original item",
    "correct": "whether `canonical_answer` is the right answer; missing without a right answer or a valid answer",
    "n_wordings": "wordings of the item",
    "n_paraphrases": "of these, those whose pattern is not original",
    **MEANING_COLUMNS,
}
_THOUGHT_MEANINGS = {
    "number": "number of the thought of this prompt, from 1",
    "tokens": "tokens of the thought, up to the end of thinking, or all that were written where it did not end",
    "answered": "whether it has an answer: it ended by itself, or was closed at the budget of its condition",
    "answer": "option that owns the most probable token after the thought",
    "canonical_answer": "`answer` in the frame of the original item",
    "probability": "exact probability of every option after the thought; of a range, of every number",
    "thought": "what was thought",
    "output": "what was written after it; empty where it did not end by itself",
}
_ITEM_MEANINGS = {
    "text": "the original wording; the first one where none is original",
    "language": "language code of that wording",
    "gold": "right answer, where it is the same for all wordings of the item",
    "gold_score": "human score, where it is the same for all wordings of the item",
}
# Of the responses in results/schema.json: their keys stand first, and `error` is null in all that are answers.
_RESPONSE_COLUMNS = ("score", "n", "mass", "mass_upper", "probability", "logprob", "count", "invalid", "clipped",
                     "read_otherwise", "text_logprob", "output", "unclosed", "thought_tokens", "sample_score",
                     "sample_probability", "sample_answer", "sample_answer_otherwise")  # fmt: skip
_WORDING_COLUMNS = ("pattern", "parents", "language", "text", "gold", "gold_score", "options", "canonical")


def quote_identifier(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def open_tidy_connection(runs: Runs) -> duckdb.DuckDBPyConnection:
    """Open a connection with the tidy tables, by which a query reads the files of the runs and nothing else.

    Responses are read from the files by every query; memory does not grow with the run.
    """
    con = connect_duckdb()
    create_stimuli_and_responses_views(con, runs.folders, runs.part)
    create_tidy_tables(con, runs)
    restrict_connection_to_files(con, [file for folder in runs.folders for file in folder.files])
    return con


def create_tidy_tables(con: duckdb.DuckDBPyConnection, runs: Runs) -> None:
    """Create the views and tables of `TABLES` in a schema of their own, which is then the one that queries look in.

    Parameters
    ----------
    con
        A connection with the views `stimuli` and `responses` of the runs.
    runs
        The runs.
    """
    con.execute("CREATE SCHEMA tidy")
    has_features = create_stored_features_table(con, runs)
    has_meanings = _create_meanings_table_if_checked(con, runs)
    for name, (_, table, _) in build_run_json_tables(runs.info).items():
        if name in TABLES:
            con.register("fields", table)
            con.execute(f"CREATE TABLE tidy.{name} AS SELECT * FROM fields")
            con.unregister("fields")
    attributes = _name_attribute_columns(con)
    _create_unit_order_tables(con, runs)
    con.execute(f"CREATE VIEW tidy.wordings AS {_build_wordings_sql(attributes, has_features, has_meanings)}")
    con.execute(f"CREATE VIEW tidy.items AS {_build_items_sql(attributes)}")
    labels = dict.fromkeys(str(label) for study in runs.info["studies"].values() for label in study["canonical"])
    con.execute(f"CREATE VIEW tidy.responses AS {_build_responses_sql(labels)}")
    con.execute(f"CREATE VIEW tidy.thoughts AS {_build_thoughts_sql(labels)}")
    con.execute("SET schema = 'tidy'")


def _create_meanings_table_if_checked(con: duckdb.DuckDBPyConnection, runs: Runs) -> bool:
    """Create the table of meanings where wordings were checked; else load nothing for it."""
    if not list_meaning_folders(runs):
        return False
    from analysis.measures.meaning import create_wording_meanings_table

    return create_wording_meanings_table(con, runs)


def read_tidy_table(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read all rows of one of `TABLES`.

    Parameters
    ----------
    con
        From `open_tidy_connection`.
    name
        The table.
    columns
        Those of its columns that are read, or the name of one; all of them where none is named.

    Returns
    -------
    DataFrame
        In the order of run.json, and of the wordings in their study.

    Raises
    ------
    InputError
        For an unknown column (with the nearest), or if a file was damaged or removed since it was opened.
    """
    import duckdb

    names = [columns] if isinstance(columns, str) and columns else columns
    try:
        chosen_columns = _build_select_list_of_columns(con, name, names) or "t.*"
        query, order = _READ.get(name, (f"SELECT {{}} FROM {name} AS t", ()))
        places = [f'{column} AS "{_ORDER} {number}"' for number, column in enumerate(order)]
        result = con.execute(query.format(", ".join([*places, chosen_columns])))
        return _sort_rows_and_drop_sort_columns(_fetch_rows_with_deduplicated_texts(result), len(order))
    except duckdb.Error as error:
        raise InputError(f"{name}: cannot be read: {format_message_on_one_line(str(error))}") from error


def _fetch_rows_with_deduplicated_texts(result: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Fetch rows some at a time; equal texts in `_REPEATED_TEXTS` become one object, which takes 50 bytes and more."""
    import pandas as pd

    chunks: list[pd.DataFrame] = []
    shared_texts: dict[str, str] = {}
    while len(chunk := result.fetch_df_chunk(_VECTORS)) or not chunks:
        for name in _REPEATED_TEXTS.intersection(chunk.columns):
            codes, texts = pd.factorize(chunk[name])  # -1 where there is none, which is the last place of an array
            chunk[name] = np.array([*(shared_texts.setdefault(text, text) for text in texts), None])[codes]
        chunks.append(chunk)
    if len(chunks) == 1:
        return chunks[0]
    # Column by column, each is held twice only while it is joined.
    columns = {name: pd.concat([chunk.pop(name) for chunk in chunks], ignore_index=True) for name in list(chunks[0])}
    return pd.DataFrame(columns, copy=False)


def _sort_rows_and_drop_sort_columns(rows: pd.DataFrame, n_order_columns: int) -> pd.DataFrame:
    """Sort rows by their first columns, and drop these: to sort, DuckDB would hold all rows a second time."""
    places = [rows.pop(f"{_ORDER} {number}").to_numpy() for number in range(n_order_columns)]
    if not places:
        return rows
    order = np.lexsort(places[::-1])
    is_sorted = bool((np.diff(order) > 0).all())
    return rows if is_sorted else rows.take(order).reset_index(drop=True)


def _build_select_list_of_columns(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[str]) -> str:
    """Write the SQL of some columns of a table `t`; refuse one that it has not."""
    known_columns = [row[0] for row in con.execute(f"DESCRIBE {name}").fetchall()]
    for column in columns:
        if column not in known_columns:
            raise InputError(
                f"{name}: there is no column {shorten_to_one_line(repr(column))}"
                f"{format_nearest_name_hint(str(column), known_columns)}"
            )
    return ", ".join(f"t.{quote_identifier(column)}" for column in columns)


def find_meanings_of_tidy_columns(con: duckdb.DuckDBPyConnection, info: Mapping[str, Any], name: str) -> dict[str, str]:
    """Say what the columns of one of `TABLES` mean.

    Parameters
    ----------
    con
        From `open_tidy_connection`.
    info
        `Runs.info`.
    name
        The table.

    Returns
    -------
    dict
        Column -> meaning.
    """
    columns = [row[0] for row in con.execute(f"DESCRIBE {name}").fetchall()]
    if name in ("models", "conditions"):
        fields = build_run_json_tables(info)[name][2]
        return {column: fields[column].meaning for column in columns}
    schema = SCHEMA["responses" if name in ("responses", "thoughts") else "stimuli"]["columns"]
    meanings = {column["name"]: str(column["meaning"]) for column in schema} | _OWN_MEANINGS
    meanings |= {"items": _ITEM_MEANINGS, "thoughts": _THOUGHT_MEANINGS}.get(name, {})
    return {column: meanings.get(column) or _explain_column_of_run(column) for column in columns}


def _explain_column_of_run(name: str) -> str:
    """Say what a column means that depends on the run: an attribute, an option or a text feature."""
    kind, _, label = name.partition(".")
    if kind == "attributes":
        return f"the wording's attribute {label}, as text"
    if kind == "probability":
        return f"exact probability of the option {label} (in the frame of the original item)"
    return f"text feature: {MEANINGS[name]}; missing where it was not computed (`waver features`)"


def _name_attribute_columns(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Name the column of every attribute of the wordings: attribute -> column."""
    rows = con.execute(
        "SELECT DISTINCT unnest(map_keys(attributes)) AS name FROM stimuli WHERE attributes IS NOT NULL ORDER BY name"
    ).fetchall()
    columns: dict[str, str] = {}
    for (name,) in rows:
        columns[name] = choose_unique_column_name(f"attributes.{name}", columns.values())
    return columns


def _create_unit_order_tables(con: duckdb.DuckDBPyConnection, runs: Runs) -> None:
    """Create the tables `places`, of what was or was to be asked, in the order of run.json, and `study_places`."""
    con.execute("CREATE TABLE places (study VARCHAR, model VARCHAR, condition VARCHAR, place BIGINT, has_rows BOOLEAN)")
    asked_units = set(list_asked_units(runs))
    rows = [(*unit, place, unit in asked_units) for place, unit in enumerate(list_asked_and_expected_units(runs))]
    con.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?)", rows)
    con.execute("CREATE TABLE study_places AS SELECT study, min(place) AS place FROM places GROUP BY study")


def _build_wordings_sql(attributes: Mapping[str, str], has_features: bool, has_meanings: bool) -> str:
    """Write the SQL of the wordings: a column per attribute, and those of features and meanings that are stored."""
    columns = ["s.study", "s.item", "s.variant", "s.position", *(f"s.{name}" for name in _WORDING_COLUMNS)]
    columns += [
        f"map_extract(s.attributes, {quote_sql_literal(name)})[1] AS {quote_identifier(column)}"
        for name, column in attributes.items()
    ]
    join = ""
    if has_meanings:
        columns += [f"m.{name}" for name in MEANING_COLUMNS]
        join += f" LEFT JOIN {MEANINGS_TABLE} AS m USING (study, item, variant)"
    if has_features:
        columns += [f"f.{name}" for name in FEATURES]
        join += " LEFT JOIN main.stored_features AS f USING (study, item, variant)"
    return f"SELECT {', '.join(columns)} FROM main.stimuli AS s{join}"


def _build_items_sql(attributes: Mapping[str, str]) -> str:
    """Write the SQL of the items; what is not the same in all wordings of an item is null."""
    same = {name: name for name in ("gold", "gold_score")} | {column: column for column in attributes.values()}
    columns = "".join(
        f", CASE WHEN count({name}) = count(*) AND min({name}) = max({name}) THEN min({name}) END AS {name}"
        for name in map(quote_identifier, same)
    )
    first = "arg_min({}, (pattern <> 'original', position))"
    return (
        "SELECT study, item, count(*) AS n_wordings, count(*) FILTER (WHERE pattern <> 'original') AS n_paraphrases, "
        f"{first.format('language')} AS language, {first.format('text')} AS text{columns} "
        "FROM tidy.wordings GROUP BY study, item"
    )


def _build_responses_sql(labels: Iterable[str]) -> str:
    """Write the SQL of the responses, with the probability of every canonical option in a column of its own."""
    probabilities = _build_option_probability_columns_sql("r.probability", labels)
    columns = [
        *(f"r.{name}" for name in _KEY), "r.answer",
        "s.canonical[list_position(s.options, r.answer)] AS canonical_answer",
        "canonical_answer = s.gold AS correct", *probabilities, *(f'r."{name}"' for name in _RESPONSE_COLUMNS),
    ]  # fmt: skip
    return (
        f"SELECT {', '.join(columns)} FROM main.responses AS r LEFT JOIN main.stimuli AS s USING (study, item, variant)"
    )


def _build_option_probability_columns_sql(probabilities_sql: str, labels: Iterable[str]) -> list[str]:
    """Write the SQL of a column for the probability of every canonical option."""
    names: dict[str, str] = {}
    for label in labels:
        names[label] = choose_unique_column_name(f"probability.{label}", names.values())
    # Of a range, probabilities are about its numbers, not about the options.
    shown_sql = build_options_without_middle_sql("s.canonical")
    return [
        f"CASE len({probabilities_sql}) WHEN len(s.canonical) THEN {probabilities_sql}"
        f"[list_position(s.canonical, {quote_sql_literal(label)})] WHEN len({shown_sql}) THEN {probabilities_sql}"
        f"[list_position({shown_sql}, {quote_sql_literal(label)})] END AS {quote_identifier(name)}"
        for label, name in names.items()
    ]


def _build_thoughts_sql(labels: Iterable[str]) -> str:
    """Write the SQL of the thoughts, a row each, with the probability of every canonical option after it."""
    columns = [
        *(f"r.{name}" for name in _KEY), "number", "r.thought_tokens[number] AS tokens",
        "r.sample_probability[number] IS NOT NULL AS answered", "r.sample_answer[number] AS answer",
        "s.canonical[list_position(s.options, r.sample_answer[number])] AS canonical_answer",
        *_build_option_probability_columns_sql("r.sample_probability[number]", labels),
        "r.sample_probability[number] AS probability", "r.thought[number] AS thought", "r.output[number] AS output",
    ]  # fmt: skip
    return (
        f"SELECT {', '.join(columns)} FROM (SELECT *, unnest(range(1, len(thought_tokens) + 1)) AS number "
        "FROM main.responses WHERE thought_tokens IS NOT NULL) AS r "
        "LEFT JOIN main.stimuli AS s USING (study, item, variant)"
    )
