"""Write the card of an export: what the tables hold, where they come from, how to read and to cite them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.export.eee import EeeRecord, describe_left_out_responses
from analysis.export.plain import DICTIONARY, WrittenTable
from analysis.reporting import catalogue
from analysis.reporting.output import provenance
from analysis.reporting.words import citations
from analysis.runs import Runs
from ground.errors import shorten_to_one_line

CARD = "README.md"
_EEE = """Records of Every Eval Ever, schema 0.3.0, exported from Waver: an aggregate per study and model, with the
responses beside it. `metadata` of a response has the item, the wording (`waver_variant`), its pattern, and every number
that the schema has no place for. Where no answer is right or wrong, `is_correct` is false in all rows, and the metric
says so.

    waver import eee data/STUDY --out RUN               # back into a run folder
"""
_CSV = """
CSV cannot tell an empty text from a missing value, and its texts stand as models wrote them. A spreadsheet takes a cell
that begins with `=`, `+`, `-` or `@` for a formula: import such columns as text, or export Parquet. In pandas:

    dictionary = pd.read_csv("dictionary.csv").query("table == 'responses' and type == 'string'")
    texts = dict.fromkeys(dictionary["column"], str)
    exact = {"float_precision": "round_trip", "keep_default_na": False, "na_values": [""]}
    pd.read_csv("responses.csv", dtype=texts, **exact)
"""
_PARQUET = """
    pd.read_parquet("responses.parquet")                # Python
    arrow::read_parquet("responses.parquet")            # R
"""
_HUB = """
    datasets.load_dataset("this-folder")                # the responses
    datasets.load_dataset("this-folder", "variants")    # another table
"""


def build_tables_card(runs: Runs, written_tables: Mapping[str, WrittenTable], export_kind: str) -> str:
    """Write the card of a folder of tables.

    Parameters
    ----------
    runs
        What was exported.
    written_tables
        Name -> table, from `plain.write_tables_of_runs_and_dictionary`.
    export_kind
        The kind of export: parquet, csv, croissant or hf.

    Returns
    -------
    str
        Markdown.
    """
    table_lines = [
        f"| `{written_table.file}` | {written_table.table.rows} | {written_table.rows:,} |"
        for written_table in written_tables.values()
    ]
    reading = _CSV if export_kind == "csv" else (_HUB if export_kind == "hf" else "") + _PARQUET
    tables = "\n".join(["| file | a row is | rows |", "|---|---|---|", *table_lines])
    return "\n".join(
        [
            f"# {format_study_names(runs)}",
            "",
            "What language models answered to the same questions in several wordings, exported from Waver.",
            "",
            tables,
            "",
            f"The tables join on the columns that they share. `{DICTIONARY}` explains every column. Tables without "
            "rows are left out.",
            reading,
            describe_origin_of_data(runs),
        ]
    )


def build_records_card(runs: Runs, records: Sequence[EeeRecord]) -> str:
    """Write the card of a folder of records of Every Eval Ever.

    Parameters
    ----------
    runs
        What was exported.
    records
        From `eee.write_eee_records_of_models`.

    Returns
    -------
    str
        Markdown.
    """
    record_lines = [f"| `{record.file}` | {record.rows:,} |" for record in records if record.rows]
    left_out: Counter[str] = sum((record.left_out for record in records), Counter())
    left_out_sentence = (
        f"Not in the records, which need a score: {describe_left_out_responses(left_out)}."
        if left_out
        else "All responses are in them."
    )
    return "\n".join(
        [
            f"# {format_study_names(runs)}", "", _EEE,
            "\n".join(["| aggregate | responses |", "|---|---|", *record_lines]),
            "", left_out_sentence, "",
            describe_origin_of_data(runs),
        ]
    )  # fmt: skip


def format_study_names(runs: Runs) -> str:
    """Name the studies of some runs on one line."""
    return shorten_to_one_line(", ".join(runs.info["studies"]), 200)


def build_front_matter(runs: Runs, written_tables: Mapping[str, WrittenTable]) -> str:
    """Write the YAML from which `datasets` takes the tables: a configuration per table, responses first.

    Parameters
    ----------
    runs, written_tables
        As in `build_tables_card`.

    Returns
    -------
    str
        To stand before the card.
    """
    import yaml

    languages = runs.execute("SELECT DISTINCT language FROM stimuli WHERE language IS NOT NULL ORDER BY ALL").fetchall()
    fields: dict[str, Any] = {
        "pretty_name": format_study_names(runs),
        "tags": ["waver", "robustness", "paraphrase"],
        **({"language": [name for (name,) in languages]} if languages else {}),
        "configs": [
            {"config_name": name, "data_files": written_table.file, **({"default": True} if place == 0 else {})}
            for place, (name, written_table) in enumerate(written_tables.items())
        ],
    }
    return f"---\n{yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)}---\n"


def describe_origin_of_data(runs: Runs) -> str:
    """Say where the data come from and how to cite them: hashes of studies, revisions of models, BibTeX."""
    lines_by_entry = dict(provenance.list_provenance_entries(runs, [str(folder.path) for folder in runs.folders], {}))
    lines = ["## Where it comes from", ""]
    for name in ("Study", "Models", "No response", "Analysed with", "Date"):
        lines += [f"- {name}: {_format_as_markdown_code(line)}" for line in lines_by_entry[name]]
    return "\n".join(
        [
            *lines,
            "",
            "## Cite",
            "",
            "```bibtex",
            citations.render_bibtex(find_published_studies_to_cite(runs)),
            "```",
            "",
        ]
    )


def find_published_studies_to_cite(runs: Runs) -> dict[str, citations.PublishedStudy]:
    """Return the published studies that the protocols of some runs repeat: those of the pages about one protocol."""
    protocols = {about["protocol"] for about in runs.info["studies"].values()}
    pages = [
        page
        for page in catalogue.map_page_names_to_catalogues().values()
        if len(page.protocols) == 1 and page.protocols & protocols
    ]
    studies = citations.read_published_studies()
    return {
        name: studies[name] for name in citations.list_distinct_study_names_of_pages(page.studies for page in pages)
    }


def _format_as_markdown_code(line: str) -> str:
    """Write what others named as code: no Markdown, and no HTML, in a name is read as such."""
    return "`" + " ".join(line.replace("`", "'").split()) + "`"
