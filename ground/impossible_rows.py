"""Say which values of stimuli and responses no run can have written, for whoever reads or imports rows.

Every rule is a column and an SQL condition that is true of a damaged value; a null is none unless the schema forbids
it. Beside the columns of its table, a row of responses has `options`, those that were shown, `lowest` and `highest`,
the ends of its condition's scale or null, and `n_values`, how many values a list has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

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
     "has an entry that is none of the study's canonical options"),
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


def read_scale_ends(fields: Mapping[str, Any]) -> tuple[float, float] | None:
    """Read the lowest and the highest number of a condition; None where its scores do not lie on a scale.

    >>> read_scale_ends({"range": [0, 9]}), read_scale_ends({"range": [True, 9]}), read_scale_ends({"range": "0-9"})
    ((0.0, 9.0), None, None)
    """
    ends = fields.get("range")
    if not (isinstance(ends, list) and len(ends) == 2):  # an imported condition may have anything of that name
        return None
    is_finite = all(isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in ends)
    return (float(ends[0]), float(ends[1])) if is_finite and ends[0] < ends[1] else None


def find_rule_of_first_damaged_row(
    con: duckdb.DuckDBPyConnection, rows_sql: str, rules: Rules, key_columns: str, parameters: Mapping[str, Any]
) -> tuple[tuple[str, str, str], tuple[Any, ...], Any] | None:
    """Find the first row that breaks a rule.

    Parameters
    ----------
    con
        The DuckDB connection that reads the rows.
    rows_sql
        What stands after FROM.
    rules
        What to look for; the first rule that a row breaks is told.
    key_columns
        The columns that name a row, in SQL, by which rows are in order.
    parameters
        Those that the rows and the rules may name.

    Returns
    -------
    The rule, the columns that name the row, and the value as text; None where no row breaks a rule.
    """
    which = " ".join(f"WHEN {condition} THEN {place}" for place, (_, condition, _) in enumerate(rules))
    values = " ".join(f'WHEN {place} THEN CAST("{rule[0]}" AS VARCHAR)' for place, rule in enumerate(rules))
    query = (
        f"SELECT which, CASE which {values} END, {key_columns} FROM (SELECT *, CASE {which} END AS which FROM "
        f"{rows_sql}) WHERE which IS NOT NULL ORDER BY {key_columns} LIMIT 1"
    )
    for place, value, *key in fetch_rows_with_named_parameters(con, query, parameters):
        return rules[place], tuple(key), value
    return None


def fetch_rows_with_named_parameters(
    con: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """Run a query with those of the parameters that it names.

    Parameters
    ----------
    con
        The DuckDB connection.
    query
        SQL with parameters such as `$canonical`.
    parameters
        Name -> value; a value that the query does not name is left out, which DuckDB would refuse.

    Returns
    -------
    All rows.
    """
    return con.execute(query, {name: value for name, value in parameters.items() if f"${name}" in query}).fetchall()
