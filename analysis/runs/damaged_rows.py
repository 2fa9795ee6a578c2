"""Refuse rows of a run folder that no run can have written: another program or a person may have changed the files.

The rules stand in `ground.impossible_rows`. The damaged rows are counted, of large files on all cores, since a count
does not depend on their order. Only where there are some, another pass finds the first of them. To join the options to
every row costs as much as half of the rules; where all stimuli have equally many options, it is done for rows with an
answer only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.runs.conditions import (
    build_options_without_middle_sql,
    list_conditions_that_omitted_middle_option,
)
from ground.errors import InputError, shorten_to_one_line
from ground.impossible_rows import (
    CLEARER_RULES,
    MISSING,
    RESPONSE_RULES,
    STIMULUS_RULES,
    Rules,
    fetch_rows_with_named_parameters,
    find_rule_of_first_damaged_row,
    read_scale_ends,
)
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import duckdb

LARGE = 2**20  # bytes, which take some hundredths of a second; threads take a few thousandths


def choose_rules_that_responses_can_break(
    complete_columns: Collection[str], empty_columns: Collection[str], absent_columns: Collection[str]
) -> Rules:
    """Choose the rules that responses can break: to learn that from file footers is cheaper than to read the rows.

    Parameters
    ----------
    complete_columns, empty_columns
        Columns in which the footers show no null, in lists neither; and those without a value.
    absent_columns
        Columns that some file lacks.

    Returns
    -------
    Those of `RESPONSE_RULES` that have to be checked, in their order.
    """
    rules = [rule for rule in RESPONSE_RULES if not set(absent_columns) & set(re.findall(r"\w+", rule[1]))]
    rules = [rule for rule in rules if rule not in MISSING or rule[0] not in complete_columns]
    # A list of no values is as empty as a null, and is damaged.
    return [rule for rule in rules if rule[0] not in empty_columns or rule[0] == "item" or rule[1].startswith("len(")]


# Responses with the options of their stimuli, the ends of their condition's scale, and how many values a row has.
# Under a condition without the middle option, options are those that were shown.
ROWS = """(
    SELECT *, coalesce(highest - lowest + 1, len(options)) AS n_values
    FROM (SELECT r.*, {options} AS options, {ends}
          FROM {parts} AS r LEFT JOIN (SELECT item, variant, options FROM ({stimuli})) AS s USING (item, variant)))"""
SCALE_ENDS = (
    "$lowest[list_position($scaled, condition)] AS lowest, $highest[list_position($scaled, condition)] AS highest"
)
NO_ENDS = "NULL AS lowest, NULL AS highest"


def check_stimuli_and_list_options(
    con: duckdb.DuckDBPyConnection, folder: Path, info: Mapping[str, Any], stimuli_sql: str
) -> tuple[list[str] | None, bool]:
    """Refuse stimuli without a text, and options, right answers and scores that cannot be.

    Parameters
    ----------
    con
        The DuckDB connection that reads them.
    folder, info
        The run folder and its run.json.
    stimuli_sql
        SQL that reads the stimuli.

    Returns
    -------
    The options of a stimulus, None unless all have equally many; and whether these are those of all.

    Raises
    ------
    InputError
        Names the file, item, variant and column.
    """
    parameters = {"canonical": info["study"]["canonical"]}
    query = (
        f"SELECT count(*) FILTER ({_build_damaged_row_condition(STIMULUS_RULES)}), min(options), max(options), "
        f"min(len(options)) = max(len(options)) FROM ({stimuli_sql})"
    )
    ((damaged, options, last_options, has_as_many),) = con.execute(query, parameters).fetchall()
    row = (
        find_rule_of_first_damaged_row(con, f"({stimuli_sql})", STIMULUS_RULES, "item, variant", parameters)
        if damaged
        else None
    )
    if row:
        rule, (item, variant), value = row
        raise InputError(
            f"{folder}: {SCHEMA['stimuli']['file']}: item {shorten_to_one_line(repr(item))}, variant "
            f"{shorten_to_one_line(repr(variant))}: "
            f"{rule[0]} {shorten_to_one_line(repr(value), 80)} {rule[2]}; restore the file"
        )
    return options if has_as_many else None, options == last_options


def refuse_damaged_response_rows(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    info: Mapping[str, Any],
    stimuli_sql: str,
    responses_sql: str,
    rules: Rules,
    options: list[str] | None,
    same_options: bool,
) -> None:
    """Refuse responses that contradict the stimuli, probabilities that are none, and counts below 0.

    Parameters
    ----------
    con
        The DuckDB connection that reads them.
    folder, info
        The run folder and its run.json.
    stimuli_sql, responses_sql
        SQL that reads the stimuli, and the response files with the columns `filename` and `file_row_number`.
    rules
        What to look for.
    options, same_options
        What `check_stimuli_and_list_options` returned.

    Raises
    ------
    InputError
        Names the file, its row, item, variant and column.
    """
    scales = {name: ends for name, fields in info["conditions"].items() if (ends := read_scale_ends(fields))}
    lowest, highest = zip(*scales.values(), strict=True) if scales else ([0.0], [0.0])
    parameters: dict[str, Any] = {"scaled": list(scales) or [""], "lowest": list(lowest), "highest": list(highest)}
    ends_sql = SCALE_ENDS if scales else NO_ENDS
    without_middle = list_conditions_that_omitted_middle_option(info["conditions"])
    parameters["without_middle"] = without_middle
    shown_sql = build_options_without_middle_sql("s.options")
    options_sql = f"CASE WHEN list_contains($without_middle, condition) THEN {shown_sql} ELSE s.options END"
    rows_sql = ROWS.format(
        parts=responses_sql, stimuli=stimuli_sql, options=options_sql if without_middle else "s.options", ends=ends_sql
    )
    counted = [f"{rows_sql} WHERE {_build_damaged_row_condition(rules)}"]
    if options and not without_middle:
        parameters["options"] = options
        of_rows = f"{ends_sql}, coalesce(highest - lowest + 1, {len(options)}) AS n_values"
        of_rows += ", $options AS options" if same_options else ""
        counted = _list_from_clauses_of_damaged_responses(
            stimuli_sql, responses_sql, rows_sql, rules, of_rows, same_options=same_options
        )
    names = "filename, file_row_number, model, condition, item, variant"
    columns = {rule[0] for rule in rules}
    clearest_rules = [*(rule for rule in CLEARER_RULES if rule[0] in columns), *rules]
    row = (
        find_rule_of_first_damaged_row(con, rows_sql, clearest_rules, names, parameters)
        if any(
            fetch_rows_with_named_parameters(con, f"SELECT count(*) FROM {rows}", parameters)[0][0] for rows in counted
        )
        else None
    )
    if row:
        rule, (file, number, model, condition, item, variant), value = row
        about = f"model {model!r}, condition {condition!r}, item {item!r}, variant {variant!r}"
        value_text = "" if rule[0] == "item" else f" {shorten_to_one_line(repr(value), 80)}"
        raise InputError(
            f"{folder}: {Path(file).relative_to(folder)}, row {number + 1} ({shorten_to_one_line(about, 200)}): "
            f"{rule[0]}{value_text} {rule[2]}; restore the file, or delete it, then repeat the command that wrote it"
        )


def _list_from_clauses_of_damaged_responses(
    stimuli_sql: str, responses_sql: str, rows_sql: str, rules: Rules, of_rows: str, *, same_options: bool
) -> list[str]:
    """List FROM clauses that together yield all damaged rows where stimuli have equally many options.

    `of_rows`: the columns that rows need for the rules, by SQL. `same_options`: stimuli have the same options, so that
    answers are compared with these.
    """
    answers = [rule for rule in rules if rule[0] != "item" and "options" in rule[1] and not same_options]
    values = [rule for rule in rules if rule[0] != "item" and rule not in answers]
    is_answered = " OR ".join(dict.fromkeys(f"{rule[0]} IS NOT NULL" for rule in answers))
    return [
        f"{responses_sql} ANTI JOIN ({stimuli_sql}) USING (item, variant)",
        f"(SELECT *, {of_rows} FROM {responses_sql}) WHERE {_build_damaged_row_condition(values)}",
        *([f"{rows_sql} WHERE ({is_answered}) AND ({_build_damaged_row_condition(answers)})"] if answers else ()),
    ]


def _build_damaged_row_condition(rules: Iterable[tuple[str, str, str]]) -> str:
    """Write the condition of a row that breaks any rule. To count, a null is as good as a false."""
    return " OR ".join(f"({condition})" for _, condition, _ in rules)


@contextmanager
def read_large_files_on_all_cores(con: duckdb.DuckDBPyConnection, files: Iterable[Path]) -> Iterator[None]:
    """Let a connection use all cores, unless the files are so small that to start the threads takes longer.

    Parameters
    ----------
    con
        The DuckDB connection; in the end, it has as many threads as before.
    files
        What it reads.

    Yields
    ------
    None
    """
    if sum(file.stat().st_size for file in files) < LARGE:
        yield
        return
    before = con.execute("SELECT current_setting('threads')").fetchone()
    con.execute(f"SET threads = {os.cpu_count() or 1}")
    try:
        yield
    finally:
        con.execute(f"SET threads = {before[0]}")
