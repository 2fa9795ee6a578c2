"""Write the slim run folder that a baseline is: what a check needs of a run, without its texts.

Of the stimuli, every text becomes the first digits of its SHA-256. Attributes that readers of wordings look at stay as
they are; texts of options become as many "x" as they have bytes, which is all that is asked of them. Wordings that the
texts alone show to be shared by all items name their template, which a hash could not show.

Of the responses, probabilities stay, and where there are none, counts, answers and scores. Nothing is rounded: a run
differs from its own baseline in no number, so that rounding is never taken for a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.measures.choices import TEXTS
from analysis.measures.templates import count_templates_and_items_by_study, find_studies_of_reordered_words
from analysis.runs.folder import Folder, list_schema_columns, quote_sql_literal
from analysis.runs.hashed import build_text_hash_sql
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa

    from analysis.runs import Runs

PART = "responses/part-baseline.parquet"
# Attributes that tell how answers are read; all others are texts, or about them.
_LABELS = ("template", "subset", "group", "scale", "key", "gold_range")
_OPTION_TEXTS = "choice_"  # attributes that hold the text of an option: its length divides a probability
_MODEL_FIELDS = ("engine", "revision", "dtype", "quantization", "device", "parameters", "series", "stage", "family")
_SESSION_FIELDS = ("started", "finished", "versions")
_KEPT_OPTIONAL = ("score", "n", "sample_probability")  # columns of responses
_MOST_ROWS = 1_000_000  # of a row group: less would cost more for its footer than it saves


def build_slim_run_json(info: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of a run.json what a check needs: no prompts, paths or calls."""
    return {
        "format": info["format"],
        "study": {name: value for name, value in info["study"].items() if name not in ("source", "building")},
        "models": {
            name: {field: fields[field] for field in _MODEL_FIELDS if field in fields}
            for name, fields in info["models"].items()
        },
        "conditions": info["conditions"],
        "decision_rule": info["decision_rule"],
        "seed": info["seed"],
        "sessions": [
            {field: session[field] for field in _SESSION_FIELDS if field in session} for session in info["sessions"]
        ],
        **({"drawn": info["drawn"]} if "drawn" in info else {}),
    }


def write_slim_tables(runs: Runs, folder: Folder, out: Path) -> None:
    """Write the stimuli and responses of a run folder without their texts.

    Parameters
    ----------
    runs
        That the folder was opened with.
    folder
        One of the `folders` of these runs.
    out
        The folder to write to.
    """
    names_templates = folder.study in {
        *count_templates_and_items_by_study(runs),
        *find_studies_of_reordered_words(runs),
    }
    stimuli = runs.con.sql(
        _build_stimuli_sql_with_hashed_texts(folder, names_templates=names_templates)
    ).to_arrow_table()
    _write_compact_parquet(stimuli, out / SCHEMA["stimuli"]["file"], ())
    responses = runs.con.sql(_build_responses_sql(folder)).to_arrow_table()
    (out / PART).parent.mkdir()
    _write_compact_parquet(
        responses, out / PART, ("mass", "mass_upper", "probability.list.element", "logprob.list.element")
    )


def _build_stimuli_sql_with_hashed_texts(folder: Folder, *, names_templates: bool) -> str:
    """Write the SQL of the stimuli, with hashes in place of texts."""
    columns = ", ".join(f'"{name}"' for name in list_schema_columns("stimuli"))
    labels = ", ".join(f"'{name}'" for name in _LABELS)
    entries = f"""[{{'key': entry.key, 'value': CASE WHEN starts_with(entry.key, '{_OPTION_TEXTS}')
                  THEN repeat('x', strlen(entry.value)) ELSE entry.value END}}
                 FOR entry IN map_entries(attributes)
                 IF entry.key IN ({labels}) OR starts_with(entry.key, '{_OPTION_TEXTS}')]"""
    if names_templates:  # of a variant such as `polite/2`, the second order of its options, it is `polite`
        entries = (
            f"list_append([entry FOR entry IN coalesce({entries}, []) IF entry.key <> 'template'], "
            "{'key': 'template', 'value': regexp_replace(variant, '/[0-9]{1,4}$', '')})"
        )
    return f"""
        SELECT {columns} FROM (
            SELECT * REPLACE ({build_text_hash_sql("text")} AS text, NULL::VARCHAR[] AS parents,
                              map_from_entries({entries}) AS attributes)
            FROM ({folder.stimuli_sql})) ORDER BY position"""


def _build_responses_sql(folder: Folder) -> str:
    """Write the SQL of the responses: no texts, and nothing twice."""
    texts_of_options = [name for name, fields in folder.info["conditions"].items() if fields.get("way") == TEXTS]
    names = ", ".join(map(quote_sql_literal, texts_of_options)) or "NULL"
    replaced = {
        "logprob": f"CASE WHEN probability IS NULL OR mass_upper IS NOT NULL OR condition IN ({names}) "
                   "THEN logprob END",
        "answer": "CASE WHEN probability IS NULL THEN answer END",
        # How many texts there were is asked for, not what they say.
        "output": "CASE WHEN probability IS NULL THEN ['' FOR entry IN output] END",
        # Of the thoughts, their mean is asked for.
        "sample_probability": "CASE WHEN sample_probability IS NOT NULL AND probability IS NOT NULL "
                              "THEN [probability] END",
        "error": "CASE WHEN error IS NOT NULL THEN 'failed' END",
        "text_logprob": "NULL::DOUBLE",
    }  # fmt: skip
    optional = {column["name"] for column in SCHEMA["responses"]["columns"] if column.get("optional")}
    names_kept = [name for name in list_schema_columns("responses") if name not in optional or name in _KEPT_OPTIONAL]
    columns = ", ".join(f'{replaced[name]} AS "{name}"' if name in replaced else f'r."{name}"' for name in names_kept)
    return f"""
        SELECT {columns} FROM ({folder.responses_sql}) AS r
        JOIN (SELECT item, variant, position FROM ({folder.stimuli_sql})) AS s USING (item, variant)
        ORDER BY model, condition, position"""


def _write_compact_parquet(table: pa.Table, file: Path, split: Sequence[str]) -> None:
    """Write a table as small as can be; `split` columns by their bytes, of which the first are alike."""
    import pyarrow.parquet as pq

    # A column that repeats no value falls back to plain by itself.
    repeated = [name for name in _list_parquet_column_paths(table.schema) if name not in split]
    pq.write_table(
        table, file, compression="zstd", compression_level=15, use_dictionary=repeated,
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"), row_group_size=_MOST_ROWS, store_schema=False,
    )  # fmt: skip


def _list_parquet_column_paths(schema: pa.Schema) -> list[str]:
    """List the columns of a table as Parquet names them."""
    import pyarrow as pa

    names = []
    for field in schema:
        if pa.types.is_map(field.type):
            names += [f"{field.name}.key_value.key", f"{field.name}.key_value.value"]
        elif pa.types.is_list(field.type):
            inner = ".list.element" * (1 + pa.types.is_list(field.type.value_type))
            names.append(f"{field.name}{inner}")
        else:
            names.append(field.name)
    return names
