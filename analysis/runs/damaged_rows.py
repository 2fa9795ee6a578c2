"""Refuse rows of a run folder that no run can have written: another program or a person may have changed the files.

Every rule is a column and an SQL condition that is true of a damaged value; a null is none unless the schema forbids
it. The damaged rows are counted, on all cores, since a count does not depend on their order. Only where there are some,
another pass finds the first of them. To join the options to every row costs as much as half of the rules; where all
stimuli have equally many options, it is done for rows with an answer only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.runs.conditions import (
    build_options_without_middle_sql,
    list_conditions_that_omitted_middle_option,
    read_scale_ends,
)
from ground.errors import InputError, shorten_to_one_line
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import duckdb

Rules: TypeAlias = Sequence[tuple[str, str, str]]  # column, condition of a damaged value, what is wrong
ENTRY_TOLERANCE = 1e-6  # of one probability
SUM_TOLERANCE = 1e-4  # of a sum of probabilities: of 100 numbers in single precision it is off by up to 6e-6
# What shows nothing: white space of any kind, controls, marks without a width, and letters that are blank (as the
# Braille pattern without dots, fillers of Hangul, and marks that choose among forms of a letter).
INVISIBLE = (
    r"[\s\p{Z}\p{Cc}\p{Cf}\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{2800}\x{3164}"
    r"\x{fe00}-\x{fe0f}\x{ffa0}\x{e0100}-\x{e01ef}]*"
)
CONTROL = r"[\x00-\x1f\x7f-\x9f\x{2028}\x{2029}]"  # in a name: it is shown in one line

STIMULUS_RULES: Rules = (
    *((name, f"regexp_matches({name}, '{CONTROL}')", "holds a line break or control character")
      for name in ("item", "variant", "pattern")),
    *((name, f"{name} IS NULL OR regexp_full_match({name}, '{INVISIBLE}')", "is empty, or shows nothing")
      for name in ("item", "variant", "pattern", "text")),
    ("options", "coalesce(len(options), 0) = 0 OR list_count(options) <> len(options) "
                "OR len(list_distinct(options)) <> len(options) "
                f"OR regexp_matches(array_to_string(options, chr(10)), '(^|\n){INVISIBLE}(\n|$)')",
     "are missing, or one is empty or there twice"),
    ("canonical", "canonical IS NULL OR len(canonical) <> len(options)", "has not as many entries as options"),
    ("canonical", "list_count(canonical) <> len(canonical) OR NOT list_has_all($canonical, canonical)",
     "has an entry that is not in run.json: study: canonical"),
    ("gold", "gold IS NOT NULL AND NOT list_contains(canonical, gold)", "is none of the canonical options"),
    ("gold_score", "NOT isfinite(gold_score)", "is not a number"),
)  # fmt: skip
MISSING: Rules = tuple(
    (name, f"list_count({name}) <> len({name})", "has an entry that is missing")
    for name in ("probability", "logprob", "count", "thought", "thought_tokens", "sample_score")
)
_KNOWN = "[x FOR x IN sample_probability IF x IS NOT NULL]"  # of the thoughts, or judged texts, with an answer
_UNLIKE = "has not as many entries as there are "
SAMPLE_RULES: Rules = (
    ("thought", "len(thought) = 0 OR len(thought) <> len(output)", f"{_UNLIKE}texts in output, or none"),
    ("thought_tokens", "len(thought_tokens) <> len(thought)", f"{_UNLIKE}thoughts"),
    ("thought_tokens", "list_min(thought_tokens) < 0", "has an entry below 0"),
    ("unclosed", "unclosed < 0 OR unclosed > len(thought)", "is not from 0 to the number of thoughts"),
    ("sample_probability", "len(sample_probability) = 0 OR len(sample_probability) <> len(thought)",
     f"{_UNLIKE}thoughts, or none"),
    ("sample_probability", f"list_max([abs(len(x) - n_values) FOR x IN {_KNOWN}]) > 0",
     "has an entry with more or fewer numbers than there are options"),
    ("sample_probability", f"list_min([list_count(x) - len(x) FOR x IN {_KNOWN}]) < 0", "has a number that is missing"),
    ("sample_probability", f"NOT list_min(flatten({_KNOWN})) >= -{ENTRY_TOLERANCE}", "has a number below 0"),
    ("sample_probability", f"NOT list_max([list_sum(x) FOR x IN {_KNOWN}]) <= 1 + {SUM_TOLERANCE}",
     "has an entry with a sum above 1"),
    ("sample_probability", f"probability IS NULL AND len({_KNOWN}) > 0", "is there, and no probability"),
    ("sample_probability", "NOT list_max([abs(list_avg([x[place] FOR x IN sample_probability IF x IS NOT NULL]) "
                           f"- probability[place]) FOR place IN range(1, len(probability) + 1)]) <= {SUM_TOLERANCE}",
     "does not have probability as its mean"),
    ("sample_probability", f"len(sample_probability) - len({_KNOWN}) > unclosed",
     "lacks more entries than there are thoughts without an end"),
    ("sample_answer", "len(sample_answer) <> coalesce(len(thought), len(output))", f"{_UNLIKE}thoughts or texts"),
    *((name, f"CASE WHEN lowest IS NULL THEN NOT list_has_all(options, [x FOR x IN {name} IF x IS NOT NULL]) "
             f"ELSE NOT list_bool_and([isfinite(coalesce(try_cast(x AS DOUBLE), 'nan')) FOR x IN {name} "
             "IF x IS NOT NULL]) END", "has an entry that is none of the options")
      for name in ("sample_answer", "sample_answer_otherwise")),
    ("sample_answer_otherwise", "len(sample_answer_otherwise) <> len(sample_answer)",
     f"{_UNLIKE}entries of sample_answer"),
)  # fmt: skip
RESPONSE_RULES: Rules = (
    *MISSING,
    ("item", "options IS NULL", "and variant are not in stimuli.parquet"),
    ("probability", "len(probability) <> n_values", "has not as many entries as there are options"),
    ("probability", f"NOT list_min(probability) >= -{ENTRY_TOLERANCE}", "has an entry below 0"),
    # Where there is a mass, it is their sum and at most 1, and so no entry is above 1.
    ("probability", f"mass IS NULL AND NOT list_sum(probability) <= 1 + {SUM_TOLERANCE}", "has a sum above 1"),
    ("logprob", "len(logprob) <> n_values", "has not as many entries as there are options"),
    ("logprob", f"NOT list_max(logprob) <= {ENTRY_TOLERANCE}", "has an entry above 0, or one that is not a number"),
    ("count", "len(count) <> n_values", "has not as many entries as there are options"),
    ("count", "list_min(count) < 0", "has an entry below 0"),
    ("count", "list_sum(count) + coalesce(invalid, 0) + coalesce(clipped, 0) = 0", "holds no samples"),
    ("invalid", "invalid < 0", "is below 0"),
    ("clipped", "clipped < 0", "is below 0"),
    ("read_otherwise", "read_otherwise < 0", "is below 0"),
    ("mass", "mass IS NOT NULL AND probability IS NULL", "is there, and no probability"),
    ("mass", f"NOT mass BETWEEN -{ENTRY_TOLERANCE} AND 1 + {ENTRY_TOLERANCE}", "is not from 0 to 1"),
    ("mass", f"NOT abs(mass - list_sum(probability)) <= {SUM_TOLERANCE}", "is not the sum of probability"),
    ("mass_upper", f"NOT mass_upper BETWEEN coalesce(mass, 0) - {ENTRY_TOLERANCE} AND 1 + {ENTRY_TOLERANCE}",
     "is not from the mass to 1"),
    ("score", "NOT isfinite(score)", "is not a number"),
    ("score", f"NOT score BETWEEN lowest - {ENTRY_TOLERANCE} AND highest + {ENTRY_TOLERANCE}",
     "is outside the range of its condition"),
    ("sample_score", "len(sample_score) = 0", "holds no samples"),
    ("sample_score", "NOT isfinite(list_sum(sample_score))", "has an entry that is not a number"),
    ("sample_score", f"NOT list_min(sample_score) >= lowest - {ENTRY_TOLERANCE} "
                     f"OR NOT list_max(sample_score) <= highest + {ENTRY_TOLERANCE}",
     "has an entry outside the range of its condition"),
    ("sample_score", "sample_score IS NOT NULL AND score IS NULL "
                     f"OR NOT abs(list_avg(sample_score) - score) <= {ENTRY_TOLERANCE} * greatest(1, abs(score))",
     "does not have the score as its mean"),
    ("score", "n IS NOT NULL AND NOT score BETWEEN 0 AND 1", "is not a share, from 0 to 1"),
    ("n", "n < 1", "is below 1"),
    ("answer", "answer IS NOT NULL AND NOT CASE WHEN lowest IS NULL THEN list_contains(options, answer) "
               "ELSE isfinite(coalesce(try_cast(answer AS DOUBLE), 'nan')) END", "is none of the options"),
    ("text_logprob", f"NOT text_logprob <= {ENTRY_TOLERANCE}", "is above 0, or not a number"),
    *SAMPLE_RULES,
)  # fmt: skip
# Another rule is true of these, too, and says less: they are for the message alone, and no row is read for them.
CLEARER_RULES: Rules = (
    ("probability", "isnan(list_sum(probability))", "has an entry that is not a number"),
    ("sample_probability", f"isnan(list_sum(flatten({_KNOWN})))", "has an entry that is not a number"),
)


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


def refuse_impossible_stimulus_rows(
    con: duckdb.DuckDBPyConnection, folder: Path, info: Mapping[str, Any], stimuli_sql: str
) -> None:
    """Refuse stimuli without a text, and options, right answers and scores that cannot be.

    Parameters
    ----------
    con
        The DuckDB connection that reads them.
    folder, info
        The run folder and its run.json.
    stimuli_sql
        SQL that reads the stimuli.

    Raises
    ------
    InputError
        Names the file, item, variant and column.
    """
    parameters = {"canonical": info["study"]["canonical"]}
    damaged = _count_damaged_rows(
        con, [f"({stimuli_sql}) WHERE {_build_damaged_row_condition(STIMULUS_RULES)}"], parameters
    )
    row = (
        _find_rule_of_first_damaged_row(con, f"({stimuli_sql})", STIMULUS_RULES, "item, variant", parameters)
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


def refuse_damaged_response_rows(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    info: Mapping[str, Any],
    stimuli_sql: str,
    responses_sql: str,
    rules: Rules,
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
    query = f"SELECT min(options), max(options), min(len(options)) = max(len(options)) FROM ({stimuli_sql})"
    ((options, last, as_many),) = con.execute(query).fetchall()
    if as_many and not without_middle:
        parameters["options"] = options
        of_rows = f"{ends_sql}, coalesce(highest - lowest + 1, {len(options)}) AS n_values"
        of_rows += ", $options AS options" if options == last else ""
        counted = _list_from_clauses_of_damaged_responses(
            stimuli_sql, responses_sql, rows_sql, rules, of_rows, same_options=options == last
        )
    names = "filename, file_row_number, model, condition, item, variant"
    columns = {rule[0] for rule in rules}
    clearest_rules = [*(rule for rule in CLEARER_RULES if rule[0] in columns), *rules]
    row = (
        _find_rule_of_first_damaged_row(con, rows_sql, clearest_rules, names, parameters)
        if _count_damaged_rows(con, counted, parameters)
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


def _count_damaged_rows(
    con: duckdb.DuckDBPyConnection, from_clauses: Sequence[str], parameters: Mapping[str, Any]
) -> int:
    """Count the rows that FROM clauses yield, on all cores."""
    before = con.execute("SELECT current_setting('threads')").fetchone()
    con.execute(f"SET threads = {os.cpu_count() or 1}")
    try:
        return sum(
            _fetch_rows_with_named_parameters(con, f"SELECT count(*) FROM {rows}", parameters)[0][0]
            for rows in from_clauses
        )
    finally:
        con.execute(f"SET threads = {before[0]}")


def _find_rule_of_first_damaged_row(
    con: duckdb.DuckDBPyConnection, rows_sql: str, rules: Rules, key_columns: str, parameters: Mapping[str, Any]
) -> tuple[tuple[str, str, str], tuple[Any, ...], Any]:
    """Return the rule that the first damaged row breaks, the columns that name the row, and the value."""
    which = " ".join(f"WHEN {condition} THEN {place}" for place, (_, condition, _) in enumerate(rules))
    values = " ".join(f'WHEN {place} THEN CAST("{rule[0]}" AS VARCHAR)' for place, rule in enumerate(rules))
    query = (
        f"SELECT which, CASE which {values} END, {key_columns} FROM (SELECT *, CASE {which} END AS which FROM "
        f"{rows_sql}) WHERE which IS NOT NULL ORDER BY {key_columns} LIMIT 1"
    )
    damaged_row = _fetch_rows_with_named_parameters(con, query, parameters)[0]
    return rules[damaged_row[0]], damaged_row[2:], damaged_row[1]


def _fetch_rows_with_named_parameters(
    con: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Run a query with those of the parameters that it names, and return all its rows."""
    return con.execute(query, {name: value for name, value in parameters.items() if f"${name}" in query}).fetchall()
