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
from analysis.export.plain import Written
from analysis.reporting import citations
from ground.errors import InputError, short

if TYPE_CHECKING:
    import mlcroissant

    from analysis.runs import Runs

FILE = "croissant.json"


def write(runs: Runs, folder: Path, written: Mapping[str, Written]) -> None:
    """Write croissant.json beside the Parquet files of the tables.

    Parameters
    ----------
    runs
        What was exported.
    folder
        The folder that holds the files.
    written
        Name -> table, from `plain.write`.

    Raises
    ------
    InputError
        The library finds the metadata wrong.
    """
    import mlcroissant as ml

    files = [_file(folder / made.file) for made in written.values()]
    metadata = ml.Metadata(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", card.title(runs)).strip("-") or "waver-export",
        description="What language models answered to the same questions in several wordings: " + card.title(runs),
        cite_as=citations.bibtex(card.cited(runs)),
        conforms_to="http://mlcommons.org/croissant/1.0",
        date_published=datetime.datetime.now(datetime.UTC).replace(tzinfo=None, microsecond=0),
        version="1.0.0",
        distribution=files,
        record_sets=[_records(name, made) for name, made in written.items()],
    )
    if metadata.ctx.issues.errors:
        raise InputError(f"Croissant metadata: {short('; '.join(metadata.ctx.issues.errors), 300)}")
    text = json.dumps(metadata.to_json(), indent=1, ensure_ascii=False) + "\n"
    (folder / FILE).write_text(text, encoding="utf-8")


def _file(path: Path) -> mlcroissant.FileObject:
    import mlcroissant as ml

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ml.FileObject(
        id=path.name, name=path.name, content_url=path.name, content_size=f"{path.stat().st_size} B",
        encoding_formats=[ml.EncodingFormat.PARQUET], sha256=digest,
    )  # fmt: skip


def _records(name: str, made: Written) -> mlcroissant.RecordSet:
    import mlcroissant as ml

    kinds = {"string": ml.DataType.TEXT, "double": ml.DataType.FLOAT64, "int64": ml.DataType.INT64,
             "boolean": ml.DataType.BOOL}  # fmt: skip
    fields = [
        ml.Field(
            id=f"{name}/{column}",
            name=column,
            description=" ".join(filter(None, (entry.meaning, f"({entry.unit})" if entry.unit else ""))),
            data_types=[kinds[made.types[column]]],
            source=ml.Source(file_object=made.file, extract=ml.Extract(column=column)),
        )
        for column, entry in made.table.columns.items()
    ]
    return ml.RecordSet(id=name, name=name, description=f"A row is {made.table.rows}.", fields=fields)
