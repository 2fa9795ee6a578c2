"""Define the tidy tables of an export: one per kind, the SQL that makes it, and what every column means.

The tables join on the columns that they have in common: study, item, variant, model, condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.measures.meaning_file import MEANING_COLUMNS, MEANINGS_TABLE, list_meaning_folders
from analysis.reporting.catalogue.columns import MASS, Column
from analysis.reporting.tidy.fields import build_run_json_tables
from analysis.runs import Runs
from analysis.runs.conditions import (
    build_options_without_middle_sql,
    list_conditions_that_omitted_middle_option,
)
from analysis.runs.folder import quote_sql_literal
from ground.impossible_rows import read_scale_ends
from ground.run_json import SCHEMA

_WORDING = "study, item, variant"
_RESPONSE = "study, model, condition, item, variant"
_RESPONSE_OF_R = ", ".join(f"r.{name}" for name in _RESPONSE.split(", "))
_NAME_OF_OPTION = ", ".join(  # by its place; where a condition has a range, the number
    f"CASE WHEN lowest IS NULL THEN {names}[place] ELSE CAST(lowest + place - 1 AS VARCHAR) END AS {name}"
    for names, name in (("options", "option"), ("canonical", "canonical"))
)
_UNITS = {"probability": MASS, "mass": MASS, "mass_upper": MASS, "logprob": "natural logarithm",
          "text_logprob": "natural logarithm", "count": "samples", "invalid": "samples", "clipped": "samples",
          "unclosed": "thoughts",
          "score": "the condition's range", "gold_score": "the study's own"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table of an export.

    Attributes
    ----------
    rows
        What a row is about, in words.
    query
        SQL over the views of `analysis.runs.Runs`.
    columns
        Name -> meaning and unit, in the order of the query.
    """

    rows: str
    query: str
    columns: Mapping[str, Column]


def define_export_tables(runs: Runs) -> dict[str, ExportTable]:
    """Return the tables of some runs by name, those that are joined to others last."""
    return {
        "responses": _define_responses_table(),
        "response_options": _define_response_options_table(runs),
        "response_texts": _define_response_texts_table(),
        "response_samples": _define_response_samples_table(),
        "response_sample_options": _define_probabilities_after_thoughts_table(runs),
        "variants": _define_variants_table(runs),
        "variant_options": _define_variant_options_table(),
        "variant_attributes": _define_variant_attributes_table(),
        "variant_parents": _define_variant_parents_table(),
        **_register_run_json_tables(runs),
    }


def _register_run_json_tables(runs: Runs) -> dict[str, ExportTable]:
    """Register what run.json says of studies, models and conditions as tables `export_NAME`, and return them."""
    tables = {}
    for name, (rows, table, columns) in build_run_json_tables(runs.info).items():
        runs.con.register(f"export_{name}", table)
        tables[name] = ExportTable(rows, f"SELECT * FROM export_{name}", columns)
    return tables


def _look_up_column_meanings(table: str, column_names: str, **own_columns: Column) -> dict[str, Column]:
    """Return columns in order: their own meaning, or that of `table` in results/schema.json."""
    meanings = {column["name"]: str(column["meaning"]) for column in SCHEMA[table]["columns"]}
    return {
        name: own_columns.get(name) or Column(meanings[name], _UNITS.get(name, "")) for name in column_names.split(", ")
    }


def _define_variants_table(runs: Runs) -> ExportTable:
    """Return the query and the columns of the exported table of wordings, with their meaning where it was checked."""
    names = f"{_WORDING}, position, pattern, language, text, gold, gold_score"
    own_columns = {"position": Column("place of the wording in its study, from 0")}
    query = f"SELECT {names} FROM stimuli"
    if list_meaning_folders(runs):
        from analysis.measures.meaning import create_wording_meanings_table

        if create_wording_meanings_table(runs.con, runs):
            own_columns |= {name: Column(meaning) for name, meaning in MEANING_COLUMNS.items()}
            names = ", ".join([names, *MEANING_COLUMNS])
            query = f"SELECT {names} FROM stimuli JOIN {MEANINGS_TABLE} USING ({_WORDING})"
    return ExportTable("a wording of an item", query, _look_up_column_meanings("stimuli", names, **own_columns))


def _define_variant_options_table() -> ExportTable:
    """Return the query and the columns of the exported table of options: one row per option of a wording."""
    query = f"""
        SELECT {_WORDING}, place, option, canonical, canonical = gold AS is_gold
        FROM (SELECT {_WORDING}, gold, unnest(range(1, len(options) + 1)) AS place, unnest(options) AS option,
                     unnest(canonical) AS canonical FROM stimuli)"""
    return ExportTable(
        "an option of a wording", query,
        _look_up_column_meanings(
            "stimuli", f"{_WORDING}, place, option, canonical, is_gold",
            place=Column("place of the option as shown, from 1"), option=Column("its label as shown"),
            canonical=Column("what it means in the frame of the original item"),
            is_gold=Column("whether it is the right answer; missing where the wording has none"),
        ),
    )  # fmt: skip


def _define_variant_attributes_table() -> ExportTable:
    """Return the query and the columns of the exported table of attributes: one row per attribute of a wording."""
    query = f"""
        SELECT {_WORDING}, entry.key AS attribute, entry.value AS value
        FROM (SELECT {_WORDING}, unnest(map_entries(attributes)) AS entry FROM stimuli)"""
    return ExportTable(
        "an attribute of a wording", query,
        _look_up_column_meanings("stimuli", f"{_WORDING}, attribute, value", attribute=Column("name of the attribute"),
                  value=Column("its value, as text")),
    )  # fmt: skip


def _define_variant_parents_table() -> ExportTable:
    """Return the query and the columns of the exported table of parents: wordings that one differs from minimally."""
    parent = Column("id of a wording of the same item that this one differs from minimally")
    return ExportTable(
        "a wording and one that it differs from minimally",
        f"SELECT {_WORDING}, unnest(parents) AS parent FROM stimuli",
        _look_up_column_meanings("stimuli", f"{_WORDING}, parent", parent=parent),
    )  # fmt: skip


def _define_responses_table() -> ExportTable:
    """Return the query and the columns of the exported table of responses, failed ones with their error included."""
    number_names = "score, mass, mass_upper, invalid, clipped, unclosed, text_logprob"
    query = f"""
        SELECT {_RESPONSE_OF_R}, r.answer, s.canonical[list_position(s.options, r.answer)] AS canonical_answer,
               canonical_answer = s.gold AS correct, {number_names}, NULL::VARCHAR AS error
        FROM responses AS r LEFT JOIN stimuli AS s USING ({_WORDING})
        UNION ALL BY NAME SELECT {_RESPONSE}, error FROM errors"""
    return ExportTable(
        "a response: what a model answered to a wording under a condition", query,
        _look_up_column_meanings(
            "responses", f"{_RESPONSE}, answer, canonical_answer, correct, {number_names}, error",
            canonical_answer=Column("`answer` in the frame of the original item"),
            correct=Column("whether `canonical_answer` is the right answer; missing where there is no right answer, "
                           "and where there is no valid answer, which a share of right answers counts as wrong"),
            error=Column("why there is no response; missing where there is one"),
        ),
    )  # fmt: skip


def _define_response_options_table(runs: Runs) -> ExportTable:
    """Make the table of options; where the numbers of a range were asked for, they are the options."""
    query = f"""
        WITH scales(study, condition, lowest) AS ({_build_range_minimum_by_condition_sql(runs)}),
        answered AS (
            SELECT {_RESPONSE_OF_R}, {_build_select_list_of_shown_options(runs)}, lowest, probability, logprob, "count",
                   unnest(range(1, greatest(len(probability), len(logprob), len("count")) + 1)) AS place
            FROM responses AS r LEFT JOIN scales USING (study, condition) LEFT JOIN stimuli AS s USING ({_WORDING}))
        SELECT {_RESPONSE}, place, {_NAME_OF_OPTION},
               probability[place] AS probability, logprob[place] AS logprob, "count"[place] AS count
        FROM answered"""
    return ExportTable(
        "an option of a response: its probability, or how many samples gave it", query,
        _look_up_column_meanings(
            "responses", f"{_RESPONSE}, place, option, canonical, probability, logprob, count",
            place=Column("place of the option as shown, from 1"),
            option=Column("its label as shown; where a condition has a range, the number"),
            canonical=Column("what it means in the frame of the original item"),
            probability=Column("exact probability; a lower bound where the response has `mass_upper`", MASS),
            logprob=Column("natural logarithm of `probability`; missing where that is a bound", "natural logarithm"),
            count=Column("samples that gave this option", "samples"),
        ),
    )  # fmt: skip


def _define_response_texts_table() -> ExportTable:
    """Return the query and the columns of the exported table of texts: one row per text that a model wrote."""
    query = f"""
        SELECT {_RESPONSE}, unnest(range(1, len(output) + 1)) AS place, unnest(output) AS text
        FROM responses WHERE output IS NOT NULL"""
    return ExportTable(
        "a text that a model wrote", query,
        _look_up_column_meanings("responses", f"{_RESPONSE}, place, text", place=Column("number of the sample, from 1"),
                  text=Column("the text as it was written, unchanged")),
    )  # fmt: skip


def _build_range_minimum_by_condition_sql(runs: Runs) -> str:
    """Write the SQL of study, condition and lowest number of every condition that asks for numbers of a range."""
    lowest = [
        f"({quote_sql_literal(study)}, {quote_sql_literal(name)}, {fields['range'][0]:d})"
        for study, conditions in runs.info["conditions"].items()
        for name, fields in conditions.items()
        if read_scale_ends(fields) and isinstance(fields["range"][0], int)
    ]
    return f"VALUES {', '.join(lowest)}" if lowest else "SELECT NULL::VARCHAR, NULL::VARCHAR, NULL::BIGINT"


def _build_select_list_of_shown_options(runs: Runs) -> str:
    """Write the SQL of the columns `options` and `canonical`, without the middle where a condition left it out."""
    without_middle = ", ".join(
        f"({quote_sql_literal(study)}, {quote_sql_literal(name)})"
        for study, conditions in runs.info["conditions"].items()
        for name in list_conditions_that_omitted_middle_option(conditions)
    )
    if not without_middle:
        return "s.options, s.canonical"
    return ", ".join(
        f"CASE WHEN (r.study, r.condition) IN ({without_middle}) "
        f"THEN {build_options_without_middle_sql(f's.{name}')} ELSE s.{name} END AS {name}"
        for name in ("options", "canonical")
    )


def _define_response_samples_table() -> ExportTable:
    """Return the query and the columns of the exported table of samples: a row per thought, text read, or score."""
    query = f"""
        SELECT {_RESPONSE}, place, sample_answer[place] AS answer, sample_answer_otherwise[place] AS answer_otherwise,
               sample_score[place] AS score, thought_tokens[place] AS thought_tokens, thought[place] AS thought
        FROM (SELECT *, unnest(range(1, greatest(len(thought), len(sample_answer), len(sample_probability),
                                             len(sample_score)) + 1)) AS place FROM responses)"""
    return ExportTable(
        "a thought, a text that was read, or a sample of a score: the answer of this sample", query,
        _look_up_column_meanings(
            "responses", f"{_RESPONSE}, place, answer, answer_otherwise, score, thought_tokens, thought",
            place=Column("number of the sample, from 1"),
            answer=Column("option that the text was read as, or the likeliest one after the thought; missing without "
                          "an answer"),
            answer_otherwise=Column("option that the other rule, strict or lenient, reads in the text"),
            score=Column("score of the sample, in the unit of its condition's `measure`"),
            thought_tokens=Column("tokens of the thought; missing where it is a text", "tokens"),
            thought=Column("what was thought, as it was written; what was written after it is in response_texts"),
        ),
    )  # fmt: skip


def _define_probabilities_after_thoughts_table(runs: Runs) -> ExportTable:
    """Return the query and the columns of the exported table of probabilities after single thoughts."""
    query = f"""
        WITH scales(study, condition, lowest) AS ({_build_range_minimum_by_condition_sql(runs)}),
        samples AS (
            SELECT {_RESPONSE_OF_R}, {_build_select_list_of_shown_options(runs)}, lowest, sample_probability,
                   unnest(range(1, len(sample_probability) + 1)) AS sample
            FROM responses AS r LEFT JOIN scales USING (study, condition) LEFT JOIN stimuli AS s USING ({_WORDING})),
        entries AS (SELECT *, unnest(range(1, len(sample_probability[sample]) + 1)) AS place FROM samples)
        SELECT {_RESPONSE}, sample, place, {_NAME_OF_OPTION}, sample_probability[sample][place] AS probability
        FROM entries"""
    return ExportTable(
        "an option after a thought, or of a text that a judge read: its probability", query,
        _look_up_column_meanings(
            "responses", f"{_RESPONSE}, sample, place, option, canonical, probability",
            sample=Column("number of the thought or text, from 1; one without an answer has no rows"),
            place=Column("place of the option as shown, from 1"),
            option=Column("its label as shown; where a condition has a range, the number"),
            canonical=Column("what it means in the frame of the original item"),
            probability=Column("exact probability after this thought, or that this text means the option", MASS),
        ),
    )  # fmt: skip
