"""Read and write the features of a run in its folder.

- `features.parquet`: one row per distinct text and language; its metadata records which component computed what;
- `features.json`: the same records, to be read by people;
- `similarity.parquet`: edit similarity, one row per stimulus, because it depends on the item;
- `features.parts/`: finished chunks of a computation, used again if it was killed.

A file is written under another name, flushed to disk and renamed, so that a reader finds the old or the new file whole.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.features.names import FEATURES as NAMES
from ground.errors import InputError, explain_why_file_cannot_be_read
from ground.writing import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
FEATURES_FILE, SIMILARITY_FILE = "features.parquet", "similarity.parquet"
RECORDS_FILE, PARTS_FOLDER = "features.json", "features.parts"
SIMILARITY_COLUMNS = (("item", "variant"), ("edit_similarity",))  # texts, and numbers
TEXT_COLUMNS = tuple(name for name in NAMES if name != "edit_similarity")
_METADATA = b"waver"


@dataclass(frozen=True)
class FeatureRecord:
    """Record which component computed some columns of a language; without `identity`, `note` says why none did.

    `looks_like` is the code of the language that the texts look like, where they name another one.
    """

    language: str
    columns: tuple[str, ...]
    identity: Mapping[str, str] | None
    note: str
    n_texts: int
    looks_like: str = ""


@dataclass(frozen=True)
class StoredFeatures:
    """Hold the features of a run folder.

    Attributes
    ----------
    default_language
        The assumed language of wordings that name none.
    is_default_named
        Whether a user said that it is that one.
    records
        Which component computed which columns.
    tables
        language -> its rows of features.parquet.
    """

    default_language: str | None = None
    is_default_named: bool = False
    records: tuple[FeatureRecord, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def find_feature_record(self, language: str, columns: Sequence[str]) -> FeatureRecord | None:
        """Return the record of some columns.

        Parameters
        ----------
        language, columns
            As a record names them: all of its columns, in its order.

        Returns
        -------
        FeatureRecord or None
            None where the folder holds none.
        """
        records = (r for r in self.records if r.language == language and r.columns == tuple(columns))
        return next(records, None)


def read_stored_features(folder: Path) -> StoredFeatures:
    """Read the features of a folder; empty if it holds none.

    Raises
    ------
    InputError
        If the file is damaged or has another format.
    """
    path = folder / FEATURES_FILE
    if not path.exists():
        return StoredFeatures()
    table = read_features_parquet(path, ("language", "text"), TEXT_COLUMNS)
    head = _parse_features_metadata(table.schema, path)
    tables, start = {}, 0
    for language, rows in itertools.groupby(table["language"].to_pylist()):
        # Rows of a language stand together: with 2 of "de" and 3 of "en", "en" begins at row 2.
        length = len(list(rows))
        tables[language] = table.slice(start, length)
        start += length
    return replace(head, tables=tables)


def assemble_features_table(language: str, texts: Sequence[str], values_by_feature: Mapping[str, Any]) -> pa.Table:
    """Build rows of features.parquet.

    Parameters
    ----------
    language, texts
        Texts of one language.
    values_by_feature
        Feature -> one value per text; features that are not given are missing.

    Returns
    -------
    Table
        language, text, and `TEXT_COLUMNS` (float64, null where missing or NaN).
    """
    import pyarrow as pa

    arrays = [pa.array([language] * len(texts), pa.string()), pa.array(texts, pa.string())]
    for name in TEXT_COLUMNS:
        values = values_by_feature.get(name, pa.nulls(len(texts), pa.float64()))
        arrays.append(values if isinstance(values, pa.Array) else pa.array(values, pa.float64(), from_pandas=True))
    return pa.table(arrays, names=["language", "text", *TEXT_COLUMNS])


def write_features(
    folder: Path, default_language: str, is_default_named: bool, records: Sequence[FeatureRecord], rows: pa.Table
) -> None:
    """Write features.json and features.parquet.

    Parameters
    ----------
    folder
        The run folder.
    default_language, is_default_named, records
        As in `StoredFeatures`.
    rows
        From `assemble_features_table`, all languages one after the other.
    """
    content = {
        "format": FORMAT,
        "default_language": default_language,
        "is_default_named": is_default_named,
        "components": [asdict(record) for record in records],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_atomically(folder / RECORDS_FILE, lambda aside: aside.write_text(text, encoding="utf-8"))
    # Last, because it is the one that is read: if a kill leaves it out, the next computation writes both.
    write_features_parquet(folder / FEATURES_FILE, rows.replace_schema_metadata({_METADATA: json.dumps(content)}))


class Chunks:
    """Read and write the finished chunks of one component and language, in `features.parts/`."""

    def __init__(self, folder: Path, language: str, columns: Sequence[str], identity: Mapping[str, str]) -> None:
        self.columns = tuple(columns)
        self._folder = folder / PARTS_FOLDER
        # The language is what somebody wrote, so it is no part of a file's name as it stands.
        key = json.dumps([language, self.columns, dict(identity)], sort_keys=True)
        self._stem = f"{self.columns[0]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"

    def read_values_by_text(self) -> dict[str, tuple[float, ...]]:
        """Read all chunks: text -> values of the columns."""
        values_by_text: dict[str, tuple[float, ...]] = {}
        for path in sorted(self._folder.glob(f"{self._stem}-*.parquet")):
            table = read_features_parquet(path, ("text",), self.columns)
            rows = zip(*(table[name].to_pylist() for name in self.columns), strict=True)
            values_by_text.update(zip(table["text"].to_pylist(), rows, strict=True))
        return values_by_text

    def append_chunk(self, texts: Sequence[str], values: Mapping[str, Sequence[float]]) -> None:
        """Write one chunk.

        Parameters
        ----------
        texts
            Its texts.
        values
            Column -> one value per text; NaN if undefined.
        """
        import pyarrow as pa

        self._folder.mkdir(exist_ok=True)
        number = sum(1 for _ in self._folder.glob(f"{self._stem}-*.parquet")) + 1
        arrays = [pa.array(values[name], pa.float64()) for name in self.columns]
        table = pa.table([pa.array(texts, pa.string()), *arrays], names=["text", *self.columns])
        write_features_parquet(self._folder / f"{self._stem}-{number:05d}.parquet", table)


def delete_chunks(folder: Path) -> None:
    """Delete the chunks: features.parquet holds their values now."""
    shutil.rmtree(folder / PARTS_FOLDER, ignore_errors=True)


def read_features_parquet(path: Path, text_columns: Sequence[str], number_columns: Sequence[str]) -> pa.Table:
    """Read a Parquet file as it is: no column is made from folder names.

    Parameters
    ----------
    path
        The file.
    text_columns, number_columns
        Columns that it must have, of strings and of doubles.

    Returns
    -------
    Table
        With all its columns.

    Raises
    ------
    InputError
        If it is damaged, cannot be read, or lacks one of these columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()  # read_table would import pandas, which takes a second
        table.validate(full=True)  # texts are UTF-8
    except (pa.ArrowException, OSError) as error:
        if obstacle := explain_why_file_cannot_be_read(error):
            raise InputError(f"{path}: cannot be read: {obstacle}") from None
        raise InputError(f"{path}: damaged or cut short; delete it and compute the features again") from error
    types = {column.name: str(column.type) for column in table.schema}
    for name, kind in (dict.fromkeys(text_columns, "string") | dict.fromkeys(number_columns, "double")).items():
        if types.get(name) != kind:
            problem = f"has type {types[name]}, not {kind}" if name in types else "is missing"
            raise InputError(f"{path}: column {name!r} {problem}; delete it and compute the features again")
    return table


def write_features_parquet(path: Path, table: pa.Table) -> None:
    """Write a Parquet file whole or not at all.

    Parameters
    ----------
    path, table
        The file and its rows. An earlier file is replaced.
    """
    import pyarrow.parquet as pq

    write_atomically(path, lambda aside: pq.write_table(table, aside, compression="zstd"))


def _parse_features_metadata(schema: pa.Schema, path: Path) -> StoredFeatures:
    """Parse default language and records from the schema's metadata; raise InputError if they are no valid ones."""
    wrong = InputError(f"{path}: not a features file of format {FORMAT}; delete it and compute the features again")
    try:
        content = json.loads((schema.metadata or {}).get(_METADATA, b"{}"))
        records = tuple(
            FeatureRecord(**{**record, "columns": tuple(record["columns"])}) for record in content["components"]
        )
        # Folders of before languages were noticed do not say it.
        head = StoredFeatures(content["default_language"], content.get("is_default_named", False), records)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise wrong from error
    if (
        content.get("format") != FORMAT
        or not all(map(_is_valid_record, records))
        or not isinstance(head.default_language, str)
        or not isinstance(head.is_default_named, bool)
    ):
        raise wrong
    return head


def _is_valid_record(record: FeatureRecord) -> bool:
    """Tell whether a record holds what its fields are for."""
    has_names = all(
        isinstance(text, str) for text in (record.language, record.note, record.looks_like, *record.columns)
    )
    identity = record.identity if record.identity is not None else {}
    has_identity = isinstance(identity, dict) and all(isinstance(part, str) for part in identity.values())
    return has_names and has_identity and isinstance(record.n_texts, int)
