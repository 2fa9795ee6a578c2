"""Make tables of what run.json says: studies, models and conditions, a column per field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.reporting.catalogue.columns import SHARED, Column
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa

_CONTENT = SCHEMA["run"]["content"]["properties"]
_MEANINGS = {
    "protocol": "how it was asked: the protocol of the study",
    "hash": "fingerprint of everything that was asked: the same stimuli have the same hash",
    "canonical": "labels of the canonical frame, in order, as JSON",
    "engine": "what computed the answers, or import",
    "revision": "which version of the weights it was",
    "dtype": "number format of the weights",
    "device": "kind of processor",
    "parameters": "number of parameters",
    "series": "the series that the model belongs to",
    "form": "form of the prompt: plain text, or chat",
    "option_order": "order in which the options were named",
    "prompt_hash": "fingerprint of the prompt's form",
    "temperature": "sampling temperature",
    "samples": "texts sampled per wording",
    "max_tokens": "longest text that was asked for",
    "shots": "worked examples in the prompt",
    "range": "lowest and highest number asked for, as JSON",
    "share": "share of the wordings that was asked",
}
_UNITS = {"parameters": "parameters", "samples": "texts", "max_tokens": "tokens", "shots": "examples",
          "share": "share, 0 to 1"}  # fmt: skip


def build_run_json_tables(info: Mapping[str, Any]) -> dict[str, tuple[str, pa.Table, dict[str, Column]]]:
    """Make tables of what `Runs.info` says of studies, models and conditions.

    Returns
    -------
    dict
        studies, models, conditions -> what a row is about, the table, and what its columns mean.
    """
    studies = [{"study": name, **fields} for name, fields in info["studies"].items()]
    models = [
        {"model": name, **_rename_fields_that_clash_with_keys(("model",), fields)}
        for name, fields in info["models"].items()
    ]
    conditions = [
        {"study": study, "condition": name, **_rename_fields_that_clash_with_keys(("study", "condition"), fields)}
        for study, study_conditions in info["conditions"].items()
        for name, fields in study_conditions.items()
    ]
    records_by_table = {
        "studies": ("a study", studies, _CONTENT["study"]["properties"]),
        "models": ("a model", models, _CONTENT["models"]["additionalProperties"]["properties"]),
        "conditions": ("a condition", conditions, _CONTENT["conditions"]["additionalProperties"]["properties"]),
    }
    tables = {}
    for name, (rows, records, field_schemas) in records_by_table.items():
        table = _build_arrow_table(
            [{key: value for key, value in record.items() if key != "name"} for record in records]
        )
        tables[name] = (
            rows,
            table,
            {key: _build_catalogue_column_of_field(key, field_schemas) for key in table.column_names},
        )
    return tables


def _rename_fields_that_clash_with_keys(keys: Sequence[str], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give a field another name where it has that of a key: an imported condition may have a field `study`."""
    return {f"field_{name}" if name in keys else name: value for name, value in fields.items()}


def _build_catalogue_column_of_field(name: str, field_schemas: Mapping[str, Any]) -> Column:
    """Return what the column of a field of run.json means, and its unit."""
    if name in SHARED and name in ("study", "model", "condition"):
        return SHARED[name]
    description = field_schemas.get(name, {}).get("description")
    return Column(_MEANINGS.get(name) or description or f"`{name}` as run.json has it", _UNITS.get(name, ""))


def _build_arrow_table(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Make a table with a column per field: whole numbers, numbers, truth values, else text; lists as JSON."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for record in records for name in record))
    columns: dict[str, pa.Array] = {}
    for name in names:
        values = [record.get(name) for record in records]
        kind = _choose_arrow_type_of_values(value for value in values if value is not None)
        columns[choose_unique_column_name(name, columns)] = pa.array(
            [value if value is None or kind != pa.string() else _convert_field_to_text(value) for value in values], kind
        )
    return pa.table(columns)


def _choose_arrow_type_of_values(values: Iterable[Any]) -> pa.DataType:
    """Choose the Arrow type that holds all values: truth value, whole number, number, else text."""
    import pyarrow as pa

    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()


def choose_unique_column_name(name: str, taken_names: Iterable[str]) -> str:
    """Return a column name that differs from others in more than the case of its letters, which SQL does not see.

    Parameters
    ----------
    name
        The name as it would be.
    taken_names
        The other columns.

    Returns
    -------
    The name, with a number behind it where it is taken.
    """
    folded_names = {other.casefold() for other in taken_names}
    number = 2
    free_name = name
    while free_name.casefold() in folded_names:
        free_name, number = f"{name}_{number}", number + 1
    return free_name


def _convert_field_to_text(value: Any) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
