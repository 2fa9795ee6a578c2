"""Evaluate a condition that a user wrote, as `negation_cues = 0 AND model LIKE '%tuned'`, over the columns of a view.

The condition is parsed, and only comparisons, AND, OR, NOT, lists, LIKE, arithmetic and a few functions of numbers and
texts go on. It then runs as the tree that was checked: nothing that a user wrote is put into the text of a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.runs.guarded import parse_select_statement, walk_mappings_of_statement
from ground.errors import InputError, format_message_on_one_line, format_nearest_name_hint, shorten_to_one_line

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

ABOUT = "where"
_WORDS_OF_SQL = re.compile(r"(?<![\w.\"'])(group|order)\b(?!\s+by\b)", re.IGNORECASE)
"""Attributes of ours whose names SQL keeps for itself."""
_CLASSES = {
    "CONJUNCTION", "COMPARISON", "CONSTANT", "COLUMN_REF", "BETWEEN", "OPERATOR", "CAST", "FUNCTION", "CASE", "TYPE",
}  # fmt: skip
_OPERATORS = {
    "OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_COALESCE", "COMPARE_IN", "COMPARE_NOT_IN",
}  # fmt: skip
_FUNCTIONS = {
    "~~", "!~~", "~~*", "!~~*", "like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape", "+", "-", "*",
    "/", "//", "%", "||", "^@", "abs", "ceil", "concat", "contains", "ends_with", "exp", "floor", "greatest",
    "isfinite", "isnan", "least", "left", "len", "length", "ln", "log10", "lower", "ltrim", "nullif", "prefix",
    "regexp_full_match", "regexp_matches", "replace", "right", "round", "rtrim", "sqrt", "starts_with", "substr",
    "substring", "suffix", "trim", "upper",
}  # fmt: skip


def select_rows_fulfilling_condition(
    con: duckdb.DuckDBPyConnection, condition: str, view: str, kept: tuple[str, ...], columns: Mapping[str, str]
) -> pa.Table:
    """Select the rows of a view that a condition is true of.

    Parameters
    ----------
    con
        A connection that was locked by `guarded.restrict_connection_to_files`.
    condition
        What the user wrote. A row for which it is null is not selected, as in SQL.
    view, kept
        Name of the view, and the columns of it to return.
    columns
        Name that the condition may use -> column of the view. Upper and lower case count as the same where no two
        names differ by that alone.

    Returns
    -------
    Table
        The columns `kept`.

    Raises
    ------
    InputError
        For what is no condition, an unknown column (with the nearest), and values that cannot be compared.
    """
    import duckdb

    expression = _parse_where_condition(con, condition)
    _refuse_forbidden_expression(expression, condition)
    _replace_or_refuse_names_in_place(expression, columns)
    try:
        query = json.dumps(
            _replace_part_of_parsed_query(con, f"SELECT true AS kept FROM {view} LIMIT 0", "select_list", [expression])
        )
        ((_, kind, *_),) = con.execute("DESCRIBE FROM json_execute_serialized_sql(?)", [query]).fetchall()
        if kind != "BOOLEAN":
            raise InputError(
                f"{_quote_where_condition(condition)} is neither true nor false; compare something, as model = 'a'"
            )
        query = json.dumps(
            _replace_part_of_parsed_query(con, f"SELECT {', '.join(kept)} FROM {view}", "where_clause", expression)
        )
        table: pa.Table = con.sql("FROM json_execute_serialized_sql(?)", params=[query]).to_arrow_table()
    except (duckdb.Error, RecursionError) as error:
        # "Conversion Error: Could not convert ...": DuckDB puts its own words about fetching before it.
        problem = format_message_on_one_line(str(error)).rpartition("unsuccessful query result Error: ")[2]
        problem = problem.partition(" LINE 1: ")[0]  # what follows is the text of a query of ours
        raise InputError(f"{_quote_where_condition(condition)}: {shorten_to_one_line(problem, 250)}") from error
    return table


def _quote_where_condition(condition: str) -> str:
    return f"{ABOUT}: {shorten_to_one_line(repr(condition), 120)}"


def _parse_where_condition(con: duckdb.DuckDBPyConnection, condition: str) -> dict[str, Any]:
    """Parse a condition as the one expression of a SELECT that has nothing else."""
    try:
        node = parse_select_statement(con, f"SELECT {condition}\n", ABOUT, condition)["node"]
    except InputError as error:
        word = _WORDS_OF_SQL.search(condition)
        hint = f"; {word[0]} is a word of SQL: write attributes.{word[0]}" if word else ""
        raise InputError(f"{error}{hint}") from None
    plain = parse_select_statement(con, "SELECT true\n", ABOUT)["node"]
    expressions = node.get("select_list", ())
    rest, plain_rest = (_strip_query_locations_from_sql_tree({**part, "select_list": []}) for part in (node, plain))
    if len(expressions) != 1 or expressions[0].get("alias") or rest != plain_rest:
        raise InputError(
            f"{_quote_where_condition(condition)} is not one condition; write it as after WHERE, and nothing behind it"
        )
    expression: dict[str, Any] = expressions[0]
    return expression


def _strip_query_locations_from_sql_tree(tree: Any) -> Any:
    """Return a tree without the places that its parts have in the text."""
    if isinstance(tree, dict):
        return {
            key: _strip_query_locations_from_sql_tree(part)
            for key, part in tree.items()
            if not key.startswith("query_location")
        }
    return [_strip_query_locations_from_sql_tree(part) for part in tree] if isinstance(tree, list) else tree


def _refuse_forbidden_expression(expression: Mapping[str, Any], condition: str) -> None:
    """Refuse an expression that holds anything but the listed classes, operators and functions."""
    for node in walk_mappings_of_statement(expression):
        kind = node.get("class")
        if kind is None and "node" not in node:
            continue
        name = str(node.get("function_name", "")).lower() if kind == "FUNCTION" else ""
        if kind == "FUNCTION" and (name not in _FUNCTIONS or node.get("distinct") or node.get("filter")):
            raise InputError(
                f"{_quote_where_condition(condition)}: {shorten_to_one_line(repr(name))} is not known in a condition"
                f"{format_nearest_name_hint(name, _FUNCTIONS)}"
            )
        if kind not in _CLASSES or (kind == "OPERATOR" and node.get("type") not in _OPERATORS):
            word = str(node.get("type", kind)).removeprefix("OPERATOR_").replace("_", " ").lower()
            raise InputError(
                f"{_quote_where_condition(condition)}: a condition cannot hold a {word}; compare columns with values"
            )


def _replace_or_refuse_names_in_place(expression: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Put the columns of the view in the place of the names that the condition uses."""
    folded_columns = {name.casefold(): column for name, column in reversed(list(columns.items()))}
    for node in list(walk_mappings_of_statement(expression)):
        if node.get("class") == "COLUMN_REF":
            name = ".".join(node["column_names"])
            column = columns.get(name) or folded_columns.get(name.casefold())
            if column is None:
                raise InputError(
                    f"{ABOUT}: there is no column {shorten_to_one_line(repr(name))}"
                    f"{format_nearest_name_hint(name, columns)}; texts stand in single quotes, and "
                    "run.columns('wordings') lists columns"
                )
            node["column_names"][:] = [column]


def _replace_part_of_parsed_query(
    con: duckdb.DuckDBPyConnection, template: str, place: str, part: Any
) -> dict[str, Any]:
    """Return the tree of a query of ours with a part of it replaced."""
    statement = parse_select_statement(con, template, ABOUT)
    statement["node"][place] = part
    return {"error": False, "statements": [statement]}
