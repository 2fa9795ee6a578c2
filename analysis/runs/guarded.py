"""Run a query that a user wrote: it reads the tables that it may name, and can do nothing else.

Two walls stand before the files. The statement is parsed first, and only a single SELECT over the known tables goes on.
The connection then reads the files of the run and no others, writes none, reaches no network and takes no setting, so
that what the parser might let through is refused all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, format_message_on_one_line, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_TABLE_FUNCTIONS = {"unnest", "range", "generate_series"}
# They see or change more than rows, or cannot be interrupted.
_REFUSED_FUNCTIONS = {"current_setting", "pg_sleep", "sleep_ms", "write_log"}


def restrict_connection_to_files(con: duckdb.DuckDBPyConnection, files: Iterable[Path] = ()) -> None:
    """Let a connection read some files and nothing else from now on: no other file, no network, no new setting.

    Parameters
    ----------
    con
        The connection. Its views of the files are made already.
    files
        The files.

    Raises
    ------
    InputError
        If the installed DuckDB cannot do that.
    """
    import duckdb

    names = [str(file) for file in files]
    # A name with [, * or ? is looked up by a pattern that matches only itself (`folder._quote_file_names_for_duckdb`).
    patterns = [name.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for name in names]
    try:
        con.execute("SET allowed_paths = ?", [sorted({*names, *patterns})])
    except duckdb.CatalogException as error:
        raise InputError(
            f"duckdb {duckdb.__version__} cannot keep a query from other files; pip install -U duckdb"
        ) from error
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def parse_select_statement(
    con: duckdb.DuckDBPyConnection, query: str, about: str, user_text: str | None = None
) -> dict[str, Any]:
    """Parse one SELECT statement, without running it.

    Parameters
    ----------
    con
        Any connection.
    query
        SQL that a user wrote.
    about
        What it is, for messages.
    user_text
        The condition in it that the user wrote, which messages quote; None: the user wrote all of it.

    Returns
    -------
    dict
        The tree of the statement, as DuckDB's `json_serialize_sql` writes it.

    Raises
    ------
    InputError
        For what is no text, no SQL, or not exactly one SELECT.
    """
    import duckdb

    if not isinstance(query, str):
        raise InputError(f"{about}: {shorten_to_one_line(repr(query))} is no text")
    kind = "SELECT statement" if user_text is None else "condition"
    quoted = f"{about}: {shorten_to_one_line(query if user_text is None else user_text, 80)!r}"
    try:
        ((text,),) = con.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
        parsed: dict[str, Any] = json.loads(text)
    except (duckdb.Error, ValueError, RecursionError, UnicodeError) as error:
        raise InputError(f"{about}: not a query that can be read ({shorten_to_one_line(str(error), 200)})") from error
    if parsed["error"] and parsed.get("error_type") == "not implemented":
        raise InputError(f"{quoted}: only a {kind} is run; nothing can be changed")
    if parsed["error"]:
        problem = format_message_on_one_line(str(parsed.get("error_message", "not valid SQL")))
        raise InputError(f"{quoted}: {shorten_to_one_line(problem, 200)}")
    if len(parsed["statements"]) != 1:
        raise InputError(f"{quoted}: give one {kind}")
    statement: dict[str, Any] = parsed["statements"][0]
    return statement


def walk_mappings_of_statement(tree: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping of a parsed statement, the outer ones first."""
    unvisited = [tree]
    while unvisited:
        part = unvisited.pop()
        if isinstance(part, dict):
            yield part
            unvisited += part.values()
        elif isinstance(part, list):
            unvisited += part


def run_guarded_query(con: duckdb.DuckDBPyConnection, query: str, tables: Iterable[str]) -> pd.DataFrame:
    """Run a SELECT that a user wrote over some tables, and fetch all rows.

    Parameters
    ----------
    con
        A connection that was locked by `restrict_connection_to_files`.
    query
        The SQL.
    tables
        The tables that it may name.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        For anything but one SELECT over these tables, for a query that DuckDB refuses or cannot finish, and one that
        was interrupted.
    """
    import duckdb

    _refuse_forbidden_tables_and_functions(parse_select_statement(con, query, "sql"), set(tables))
    try:
        frame: pd.DataFrame = con.execute(query).df()  # rows are computed as they are fetched: that fails, too
    except (duckdb.Error, MemoryError) as error:
        raise InputError(f"sql: {format_message_on_one_line(str(error))}") from error
    except RuntimeError as error:  # how DuckDB tells of Ctrl-C and of "Interrupt kernel"
        if "interrupted" not in str(error):
            raise
        raise InputError("sql: the query was interrupted") from None
    return frame


def _refuse_forbidden_tables_and_functions(statement: Mapping[str, Any], tables: set[str]) -> None:
    """Refuse a statement that names another table or a function that reads, or that changes a table on the way."""
    nodes = list(walk_mappings_of_statement(statement))
    # {"cte_map": {"map": [{"key": "best", ...}]}}: the names that the statement gives to queries of its own.
    own_names = {entry["key"] for node in nodes for entry in _list_with_clause_entries(node)}
    for node in nodes:
        kind = str(node.get("type"))
        is_known = node.get("table_name", "").lower() in {name.lower() for name in tables | own_names}
        if kind == "BASE_TABLE" and (not is_known or node.get("schema_name") or node.get("catalog_name")):
            name = ".".join(filter(None, (node.get("catalog_name"), node.get("schema_name"), node.get("table_name"))))
            raise InputError(
                f"sql: there is no table {shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, tables)}; "
                f"the tables are {', '.join(sorted(tables))}"
            )
        function = dict(node.get("function") or {}).get("function_name") if kind == "TABLE_FUNCTION" else ""
        if kind == "TABLE_FUNCTION" and function not in _TABLE_FUNCTIONS:
            raise InputError(
                f"sql: {shorten_to_one_line(str(function))}() is not allowed: a query reads the tables of the run only"
            )
        if kind == "FUNCTION" and str(node.get("function_name")).lower() in _REFUSED_FUNCTIONS:
            raise InputError(f"sql: {node['function_name']}() is not allowed: a query reads the tables of the run only")
        if kind.endswith("_NODE") and kind not in _QUERY_NODES:
            raise InputError("sql: only a SELECT statement is run; nothing can be changed")


def _list_with_clause_entries(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the entries of a node's WITH clause."""
    named = node.get("cte_map")
    return list(named.get("map", ())) if isinstance(named, dict) else []
