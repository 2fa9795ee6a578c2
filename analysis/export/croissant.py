"""Describe the tables of an export as Croissant metadata: files with their checksums, tables with their columns."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.export import card
from analysis.export.plain import WrittenTable
from analysis.reporting.words import citations
from ground.errors import InputError, shorten_to_one_line

if TYPE_CHECKING:
    import mlcroissant

    from analysis.runs import Runs

FILE = "croissant.json"


def write_croissant_metadata(runs: Runs, folder: Path, written_tables: Mapping[str, WrittenTable]) -> None:
    """Write croissant.json beside the Parquet files of the tables.

    Parameters
    ----------
    runs
        What was exported.
    folder
        The folder that holds the files.
    written_tables
        Name -> table, from `plain.write_tables_of_runs_and_dictionary`.

    Raises
    ------
    InputError
        The library finds the metadata wrong.
    """
    import mlcroissant as ml

    files = [_build_file_object(folder / written_table.file) for written_table in written_tables.values()]
    metadata = ml.Metadata(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", card.format_study_names(runs)).strip("-") or "waver-export",
        description="What language models answered to the same questions in several wordings: "
        + card.format_study_names(runs),
        cite_as=citations.render_bibtex(card.find_published_studies_to_cite(runs)),
        conforms_to="http://mlcommons.org/croissant/1.0",
        date_published=datetime.datetime.now(datetime.UTC).replace(tzinfo=None, microsecond=0),
        version="1.0.0",
        distribution=files,
        record_sets=[_build_record_set(name, written_table) for name, written_table in written_tables.items()],
    )
    if metadata.ctx.issues.errors:
        raise InputError(f"Croissant metadata: {shorten_to_one_line('; '.join(metadata.ctx.issues.errors), 300)}")
    text = json.dumps(metadata.to_json(), indent=1, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def _build_file_object(path: Path) -> mlcroissant.FileObject:
    """Describe a Parquet file: its name, size and checksum."""
    import mlcroissant as ml

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ml.FileObject(
        id=path.name, name=path.name, content_url=path.name, content_size=f"{path.stat().st_size} B",
        encoding_formats=[ml.EncodingFormat.PARQUET], sha256=digest,
    )  # fmt: skip


def _build_record_set(name: str, written_table: WrittenTable) -> mlcroissant.RecordSet:
    """Describe a table and its columns."""
    import mlcroissant as ml

    kinds = {"string": ml.DataType.TEXT, "double": ml.DataType.FLOAT64, "int64": ml.DataType.INT64,
             "boolean": ml.DataType.BOOL}  # fmt: skip
    fields = [
        ml.Field(
            id=f"{name}/{column}",
            name=column,
            description=" ".join(filter(None, (entry.meaning, f"({entry.unit})" if entry.unit else ""))),
            data_types=[kinds[written_table.types[column]]],
            source=ml.Source(file_object=written_table.file, extract=ml.Extract(column=column)),
        )
        for column, entry in written_table.table.columns.items()
    ]
    return ml.RecordSet(id=name, name=name, description=f"A row is {written_table.table.rows}.", fields=fields)
