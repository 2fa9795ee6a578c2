"""Refuse rows of a run folder that hold what no run can hold: another hand may have written or changed them.

Every rule is a column and an SQL condition that is true of a damaged value; a null is none unless the schema forbids
it. One pass over the columns counts the damaged rows, on all cores, since a count does not depend on their order. Only
where there are some, a second one finds the first of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.errors import InputError, short
from analysis.runs.run_json import SCHEMA

if TYPE_CHECKING:
    import duckdb

Rules: TypeAlias = Sequence[tuple[str, str, str]]  # column, condition of a damaged value, what is wrong
ROUNDING = 1e-6  # of one probability
SUMMED = 1e-4  # of a sum of probabilities: of 100 numbers in single precision it is off by up to 6e-6
# What shows nothing: white space of any kind, controls, and marks without a width.
INVISIBLE = r"^[\s\p{Z}\p{Cc}\p{Cf}]*$"

STIMULI: Rules = (
    ("pattern", "pattern IS NULL OR pattern = ''", "is empty"),
    ("text", f"text IS NULL OR regexp_matches(text, '{INVISIBLE}')", "is empty, or shows nothing"),
    ("options", "coalesce(len(options), 0) = 0 OR list_count(options) <> len(options) "
                "OR len(list_distinct(options)) <> len(options)", "are missing, or one is empty or there twice"),
    ("canonical", "canonical IS NULL OR len(canonical) <> len(options)", "has not as many entries as options"),
    ("canonical", "NOT list_has_all($canonical, canonical)", "has an entry that is not in run.json: study: canonical"),
    ("gold", "gold IS NOT NULL AND NOT list_contains(canonical, gold)", "is none of the canonical options"),
    ("gold_score", "NOT isfinite(gold_score)", "is not a number"),
)  # fmt: skip
RESPONSES: Rules = (
    ("item", "options IS NULL", "and variant are not in stimuli.parquet"),
    ("probability", "len(probability) <> n_values", "has not as many entries as there are options"),
    ("probability", f"list_count(probability) <> len(probability) OR NOT list_min(probability) >= -{ROUNDING}",
     "has an entry that is missing or below 0"),
    # Where there is a mass, it is their sum and at most 1, and so no entry is above 1.
    ("probability", f"mass IS NULL AND NOT list_sum(probability) <= 1 + {SUMMED}", "has a sum above 1"),
    ("logprob", "len(logprob) <> n_values OR list_count(logprob) <> len(logprob)", "has not as many entries as there "
     "are options"),
    ("logprob", f"NOT list_max(logprob) <= {ROUNDING}", "has an entry above 0, or one that is not a number"),
    ("count", "len(count) <> n_values OR list_count(count) <> len(count)", "has not as many entries as there are "
     "options"),
    ("count", "list_min(count) < 0", "has an entry below 0"),
    ("count", "list_sum(count) + coalesce(invalid, 0) + coalesce(clipped, 0) = 0", "holds no samples"),
    ("invalid", "invalid < 0", "is below 0"),
    ("clipped", "clipped < 0", "is below 0"),
    ("mass", f"NOT mass BETWEEN -{ROUNDING} AND 1 + {ROUNDING}", "is not from 0 to 1"),
    ("mass", f"NOT abs(mass - list_sum(probability)) <= {SUMMED}", "is not the sum of probability"),
    ("mass_upper", f"NOT mass_upper BETWEEN coalesce(mass, 0) - {ROUNDING} AND 1 + {ROUNDING}",
     "is not from the mass to 1"),
    ("score", "NOT isfinite(score)", "is not a number"),
    ("n", "n < 1", "is below 1"),
    ("answer", "answer IS NOT NULL AND NOT CASE WHEN scale IS NULL THEN list_contains(options, answer) "
               "ELSE isfinite(coalesce(try_cast(answer AS DOUBLE), 'nan')) END", "is none of the options"),
    ("text_logprob", f"NOT text_logprob <= {ROUNDING}", "is above 0, or not a number"),
)  # fmt: skip


def refuse_damaged_stimuli(con: duckdb.DuckDBPyConnection, folder: Path, info: Mapping[str, Any], rows: str) -> None:
    """Refuse stimuli without a text, and options, right answers and scores that cannot be.

    Parameters
    ----------
    con
        The DuckDB connection that reads them.
    folder, info
        The run folder and its run.json.
    rows
        SQL that reads the stimuli.

    Raises
    ------
    InputError
        Names the file, item, variant and column.
    """
    given = {"canonical": info["study"]["canonical"]}
    row = _find_damaged(con, f"({rows})", STIMULI, "item, variant", given)
    if row:
        rule, (item, variant), value = row
        raise InputError(
            f"{folder}: {SCHEMA['stimuli']['file']}: item {short(repr(item))}, variant {short(repr(variant))}: "
            f"{rule[0]} {short(repr(value), 80)} {rule[2]}; restore the file"
        )


def refuse_damaged_responses(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    info: Mapping[str, Any],
    stimuli: str,
    parts: str,
    absent: Sequence[str],
) -> None:
    """Refuse responses that contradict the stimuli, probabilities that are none, and counts below 0.

    Parameters
    ----------
    con
        The DuckDB connection that reads them.
    folder, info
        The run folder and its run.json.
    stimuli, parts
        SQL that reads the stimuli, and the response files with the columns `filename` and `file_row_number`.
    absent
        Columns that the files may lack.

    Raises
    ------
    InputError
        Names the file, its row, item, variant and column.
    """
    sizes = _count_values(info["conditions"]) or {"": 0}
    given = {"scales": list(sizes), "sizes": list(sizes.values())}
    rows = (
        "(SELECT *, coalesce(scale, len(options)) AS n_values FROM (SELECT r.*, s.options, "
        f"$sizes[list_position($scales, condition)] AS scale FROM {parts} AS r "
        f"LEFT JOIN (SELECT item, variant, options FROM ({stimuli})) AS s USING (item, variant)))"
    )
    rules = [rule for rule in RESPONSES if rule[0] not in absent]
    row = _find_damaged(con, rows, rules, "filename, file_row_number, model, condition, item, variant", given)
    if row:
        rule, (file, number, model, condition, item, variant), value = row
        about = f"model {model!r}, condition {condition!r}, item {item!r}, variant {variant!r}"
        shown = "" if rule[0] == "item" else f" {short(repr(value), 80)}"
        raise InputError(
            f"{folder}: {Path(file).relative_to(folder)}, row {number + 1} ({short(about, 200)}): {rule[0]}{shown} "
            f"{rule[2]}; restore the file, or delete it and run again"
        )


def _find_damaged(
    con: duckdb.DuckDBPyConnection, rows: str, rules: Rules, names: str, given: Mapping[str, Any]
) -> tuple[tuple[str, str, str], tuple[Any, ...], Any] | None:
    """Return the rule that the first damaged row breaks, the columns that name the row, and the value; None if none."""
    # To count, a null is as good as a false: to replace nulls costs a fifth of the time.
    damaged = " OR ".join(f"({condition})" for _, condition, _ in rules)
    counted = con.execute("SELECT current_setting('threads')").fetchone()
    con.execute(f"SET threads = {os.cpu_count() or 1}")
    try:
        number = con.execute(f"SELECT count(*) FROM {rows} WHERE {damaged}", given).fetchall()
    finally:
        con.execute(f"SET threads = {counted[0]}")
    if number == [(0,)]:
        return None
    which = " ".join(f"WHEN {condition} THEN {place}" for place, (_, condition, _) in enumerate(rules))
    values = " ".join(f'WHEN {place} THEN CAST("{rule[0]}" AS VARCHAR)' for place, rule in enumerate(rules))
    found = con.execute(
        f"SELECT which, CASE which {values} END, {names} FROM (SELECT *, CASE {which} END AS which FROM {rows}) "
        f"WHERE which IS NOT NULL ORDER BY {names} LIMIT 1",
        given,
    ).fetchall()[0]
    return rules[found[0]], found[2:], found[1]


def _count_values(conditions: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many numbers there are on the scale of every condition that asks for numbers on one.

    >>> _count_values({"plain/0-9": {"range": [0, 9]}, "plain": {"form": "plain"}})
    {'plain/0-9': 10}
    """
    scales = {name: fields.get("range") for name, fields in conditions.items()}
    return {
        name: scale[1] - scale[0] + 1
        for name, scale in scales.items()
        if isinstance(scale, list) and len(scale) == 2 and all(isinstance(end, int) for end in scale)
    }
