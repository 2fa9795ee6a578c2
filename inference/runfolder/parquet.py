"""Read and write the Parquet files of a run folder, so that no reader ever sees half a file."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ground.errors import InputError, explain_why_file_cannot_be_read
from ground.run_json import SCHEMA
from ground.writing import write_atomically
from inference.stimuli.reading.files import refuse_pipe_or_device

KEY = ["model", "condition", "item", "variant"]

Rows: TypeAlias = pa.Table | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


@functools.cache
def read_arrow_schema_of_table(table: str) -> pa.Schema:
    """Read the Arrow schema of `stimuli`, `responses` or `meaning` from `results/schema.json`."""
    types: dict[str, pa.DataType] = {
        "string": pa.string(),
        "double": pa.float64(),
        "int64": pa.int64(),
        "list<string>": pa.list_(pa.string()),
        "list<double>": pa.list_(pa.float64()),
        "list<int64>": pa.list_(pa.int64()),
        "list<list<double>>": pa.list_(pa.list_(pa.float64())),
        "map<string,string>": pa.map_(pa.string(), pa.string()),
    }
    columns = SCHEMA[table]["columns"]
    return pa.schema([pa.field(c["name"], types[c["type"]], nullable=c["nullable"]) for c in columns])


def build_responses_table(rows: Rows, study: str) -> pa.Table:
    """Turn rows into a table with exactly the columns of the schema.

    Parameters
    ----------
    rows
        Rows or columns without `study`; a nullable column may be missing.
    study
        Name of the study.

    Returns
    -------
    The table.

    Raises
    ------
    ValueError
        A column is unknown or of a wrong type, or a required one is missing.
    """
    if isinstance(rows, pa.Table):
        columns: dict[str, Any] = {name: rows[name] for name in rows.column_names}
    elif isinstance(rows, Mapping):
        columns = dict(rows)
    else:
        columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}
    target = read_arrow_schema_of_table("responses")
    length = len(next(iter(columns.values()), ()))
    columns["study"] = pa.array([study] * length, pa.string())
    if set(columns) - set(target.names):
        raise ValueError(f"unknown columns {sorted(set(columns) - set(target.names))}")
    arrays = [_build_column_array(columns.get(field.name), field, length) for field in target]
    return pa.Table.from_arrays(arrays, schema=target)


def _build_column_array(values: Any, field: pa.Field, length: int) -> Any:
    """Build a column in the type of the schema, null without values; texts of a model, in lists, hold no NUL."""
    if values is None:
        array = pa.nulls(length, field.type)
    else:
        array = (
            values.cast(field.type) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, field.type)
        )
    if field.type == pa.list_(pa.string()) and pc.any(pc.match_substring(pc.list_flatten(array), "\0")).as_py():
        texts_by_row = [
            texts and [text and replace_nul_characters(text) for text in texts] for texts in array.to_pylist()
        ]
        array = pa.array(texts_by_row, field.type)
    if array.null_count and not field.nullable:
        raise ValueError(f"column '{field.name}' may not be null")
    return array


def replace_nul_characters(text: str) -> str:
    r"""Replace each NUL, which models write and no CSV file holds, by the sign of a character that cannot be shown.

    >>> replace_nul_characters("te\0a")
    'te\ufffda'
    """
    return text.replace("\0", "\ufffd")


def drop_error_rows_asked_again(parts: Sequence[Path]) -> None:
    """Remove error rows whose key was asked again later, so that readers find every key once.

    A response replaces all errors of its key; without a response the newest error stays. Each part is replaced
    atomically. If the process is killed between two parts, the next one removes the rest.
    """
    failing = [part for part in parts if _may_hold_errors(part)]
    if not failing:
        return
    failed = {key for part in failing for key, error in _iterate_row_keys_and_errors(part) if error is not None}
    settled = {
        key for part in parts for key, error in _iterate_row_keys_and_errors(part) if error is None and key in failed
    }
    for part in reversed(failing):
        keep = []
        for key, error in reversed(list(_iterate_row_keys_and_errors(part))):
            keep.append(error is None or key not in settled)
            if error is not None:
                settled.add(key)
        if all(keep):
            continue
        if any(keep):
            write_parquet(part, read_parquet(part).filter(pa.array(keep[::-1])))
        else:
            part.unlink()


def _may_hold_errors(part: Path) -> bool:
    """Tell from its footer alone whether a part may hold error rows."""
    with _convert_errors_of_damaged_file(part):
        about = pq.read_metadata(part)
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(group.num_columns)]
    errors = [column for column in columns if column.path_in_schema == "error"]
    return any(c.statistics is None or c.statistics.null_count < c.num_values for c in errors)


def _iterate_row_keys_and_errors(part: Path) -> Iterable[tuple[tuple[str, ...], str | None]]:
    """Yield the key and the error of every row of a part."""
    table = read_parquet(part, [*KEY, "error"])
    return zip(zip(*(table[name].to_pylist() for name in KEY), strict=True), table["error"].to_pylist(), strict=True)


def read_parquet(path: Path, columns: list[str] | None = None, filters: pc.Expression | None = None) -> pa.Table:
    """Read a file of the run folder.

    Parameters
    ----------
    path
        The file.
    columns
        Names of the columns; None: all.
    filters
        What rows must pass; None: all rows.

    Returns
    -------
    The table.

    Raises
    ------
    InputError
        The file is damaged or cannot be read.
    """
    # partitioning=None: otherwise a folder named "a=b" in the path would be read as a column.
    with _convert_errors_of_damaged_file(path):
        table = pq.read_table(path, columns=columns, filters=filters, partitioning=None)
        table.validate(full=True)  # text that is not UTF-8, for example
        return table


def list_models_and_conditions_of_part(path: Path) -> frozenset[tuple[str, str]]:
    """List the models and conditions that a part has rows of."""
    table = read_parquet(path, ["model", "condition"]).group_by(["model", "condition"]).aggregate([])
    return frozenset(zip(table["model"].to_pylist(), table["condition"].to_pylist(), strict=True))


def refuse_damaged_or_foreign_columns(path: Path, table: str) -> None:
    """Refuse a file of the run folder that is damaged, or has a column missing or of another type than the schema.

    Only the end of the file is read.

    Parameters
    ----------
    path
        The file.
    table
        Name of its table in the schema.

    Raises
    ------
    InputError
        Naming the file and the column.
    """
    with _convert_errors_of_damaged_file(path):
        refuse_pipe_or_device(path)
        file_schema = pq.read_schema(path)
        for column in SCHEMA[table]["columns"]:
            name, column_type = column["name"], read_arrow_schema_of_table(table).field(column["name"]).type
            if name not in file_schema.names and not column.get("optional"):
                raise pa.ArrowInvalid(f"column '{name}' is missing")
            if name in file_schema.names and not file_schema.field(name).type.equals(column_type):
                raise pa.ArrowInvalid(f"column '{name}' has type {file_schema.field(name).type}, not {column_type}")


@contextmanager
def _convert_errors_of_damaged_file(path: Path) -> Iterator[None]:
    """Turn the error of a damaged or unreadable file, such as half a copy, into one line."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if obstacle := explain_why_file_cannot_be_read(error):  # not to be removed: it was perhaps paid for
            raise InputError(f"{path}: cannot be read: {obstacle}") from None
        reason = str(error).splitlines()[0]
        is_study = path.name == SCHEMA["stimuli"]["file"]  # without it, the answers in the folder are of no use
        advice = "bring a whole copy of it back" if is_study else "remove it, then repeat the command that wrote it"
        raise InputError(f"{path}: damaged ({reason}); {advice}") from None


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a file of the run folder atomically; text columns are stored as dictionaries.

    Parameters
    ----------
    path
        The file, which is replaced.
    table
        Its content.
    """
    write_tables_as_row_groups(path, table.schema, [table])


def write_tables_as_row_groups(path: Path, columns: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write one file from many tables, each a row group; only one is in memory at a time.

    Parameters
    ----------
    path
        The file, which is replaced.
    columns
        Names and types of the columns.
    tables
        Tables that have these.
    """
    repeated = [field.name for field in columns if pa.types.is_string(field.type)]

    def write_row_groups(aside: Path) -> None:
        with pq.ParquetWriter(aside, columns, compression="zstd", use_dictionary=repeated) as writer:
            for table in tables:
                writer.write_table(table)

    write_atomically(path, write_row_groups)
