"""Read records of Every Eval Ever that `waver export` wrote: aggregates, and the responses beside them.

What a run holds beyond the schema stands in texts: of a study in `source_data.additional_details`, of a condition in
`generation_config.additional_details`, of a response in `metadata`, each under a name that begins with `waver_`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ground.run_json import SCHEMA
from inference.importers.eee.fields import (
    OWN_PREFIX,
    iterate_utf8_lines_of_samples,
    parse_json_field,
    refuse_samples_of_other_digest,
    require_list_of_texts,
    require_record_field,
)
from inference.importers.shared.recordable import refuse_unrecordable_name_or_fields
from inference.stimuli.reading.files import (
    expand_user_path,
    parse_json,
    read_text_file,
    require_storable_value,
    shorten_value,
)

VERSION = "0.3.0"
SAMPLES = "_samples.jsonl"
LARGEST = 2**53  # every whole number up to here is a number of 64 bits, with a point or without
_KINDS: dict[str, tuple[type, ...]] = {"double": (int, float), "int64": (int,), "string": (str,)}
_TYPES = {
    column["name"]: column["type"] for table in ("stimuli", "responses") for column in SCHEMA[table]["columns"]
} | {"position": "int64"}


@dataclass(frozen=True, slots=True)
class RecordFiles:
    """The file of an aggregate, that of its responses, and whose they are."""

    path: Path
    samples: Path
    identity: str
    model: str


@dataclass(frozen=True, slots=True)
class Aggregate(RecordFiles):
    """One aggregate.

    Attributes
    ----------
    study
        What it says about the study: name, protocol, hash, canonical ...
    conditions
        condition -> fields.
    about
        What it says about the model.
    """

    study: Mapping[str, Any]
    conditions: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EeeResponse:
    """One row: its wording, its place in the study, and the columns of both tables of a run."""

    where: str
    text: str
    output: list[str] | None
    values: Mapping[str, Any]


def find_aggregate_files(names: Sequence[str]) -> list[Path]:
    """Find the aggregates that have responses beside them, in folders and below; a file is the aggregate itself.

    Raises
    ------
    InputError
        There is none.
    """
    paths = [expand_user_path(name) for name in names]
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder; give the folder that `waver export --as eee` wrote")
    inside = [
        Path(above, file) for path in paths if path.is_dir() for above, _, files in os.walk(path) for file in files
        if file.endswith(SAMPLES)
    ]  # fmt: skip
    aggregates = [path.with_name(f"{path.name.removesuffix(SAMPLES)}.json") for path in inside]
    aggregates = sorted({*aggregates, *(path for path in paths if not path.is_dir())})
    if not aggregates:
        raise InputError(f"{paths[0]}: holds no *{SAMPLES}; responses are imported, aggregates alone have none")
    return aggregates


def read_aggregate_document_and_results(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """Read what an aggregate of any tool holds, and its results.

    Raises
    ------
    InputError
        It is malformed, of another version, or has no results.
    """
    document = require_storable_value(str(path), parse_json(path, read_text_file(path)))
    version = require_record_field(path, document, "schema_version", str)
    if version != VERSION:
        raise InputError(
            f"{path}: schema_version {shorten_value(version)} is not known here; this version reads {VERSION}"
        )
    results = require_record_field(path, document, "evaluation_results", list)
    if not results:
        raise InputError(f"{path}: evaluation_results is empty")
    return document, results


def read_aggregate_and_check_samples(path: Path) -> Aggregate:
    """Read an aggregate, and compare its responses with the checksum that it states.

    Raises
    ------
    InputError
        It is malformed, of another version or another tool, or its responses are missing or changed.
    """
    document, results = read_aggregate_document_and_results(path)
    conditions = {}
    for place, result in enumerate(results, start=1):
        where = f"{path}, evaluation_results {place}"
        condition_details = require_record_field(where, result, "generation_config.additional_details", dict)
        name = require_record_field(where, condition_details, f"{OWN_PREFIX}condition", str)
        conditions[name] = parse_json_field(
            where,
            f"{OWN_PREFIX}fields",
            require_record_field(where, condition_details, f"{OWN_PREFIX}fields", str),
            dict,
        )
        refuse_unrecordable_name_or_fields(where, "conditions", name, conditions[name])
    where = f"{path}, evaluation_results 1"
    study = require_record_field(where, results[0], "source_data.additional_details", dict)
    study_facts = {key.removeprefix(OWN_PREFIX): value for key, value in study.items() if key.startswith(OWN_PREFIX)}
    for key in ("protocol", "name", "hash", "canonical"):
        require_record_field(where, study_facts, key, str, shown_as=f"source_data.additional_details.{OWN_PREFIX}{key}")
    study_facts["canonical"] = require_list_of_texts(
        where,
        f"{OWN_PREFIX}canonical",
        parse_json_field(where, f"{OWN_PREFIX}canonical", study_facts["canonical"], list),
    )
    library = {"decision_rule": "", **require_record_field(path, document, "eval_library.additional_details", dict)}
    study_facts["decision_rule"] = require_record_field(path, library, "decision_rule", str)
    samples = path.with_name(f"{path.stem}{SAMPLES}")
    refuse_samples_of_other_digest(
        path, samples, require_record_field(path, document, "detailed_evaluation_results", dict)
    )
    model = require_record_field(path, document, "model_info.id", str)
    refuse_unrecordable_name_or_fields(str(path), "models", model, {})
    return Aggregate(
        path, samples, require_record_field(path, document, "evaluation_id", str), model, study_facts,
        conditions, require_record_field(path, document, "model_info.additional_details", dict),
    )  # fmt: skip


def read_sample_records(aggregate: RecordFiles) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the responses of an aggregate as they stand in their file, each with file and line.

    Raises
    ------
    InputError
        A line is malformed, or belongs to another record.
    """
    path = aggregate.samples
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(iterate_utf8_lines_of_samples(path, file), start=1):
            if line.isspace():
                continue
            where = f"{path}, line {number}"
            record = require_storable_value(where, parse_json(path, line, number))
            for key, expected_id in (("evaluation_id", aggregate.identity), ("model_id", aggregate.model)):
                if (stated_id := require_record_field(where, record, key, str)) != expected_id:
                    raise InputError(
                        f"{where}: {key} is {shorten_value(stated_id)}, but {aggregate.path.name} has "
                        f"{shorten_value(expected_id)}"
                    )
            yield where, record


def read_eee_responses(aggregate: Aggregate) -> Iterator[EeeResponse]:
    """Go through the responses of an aggregate.

    Raises
    ------
    InputError
        A line is malformed, belongs to another record, or has a value of another type; with file and line.
    """
    is_empty = True
    for where, record in read_sample_records(aggregate):
        is_empty = False
        metadata = require_record_field(where, record, "metadata", dict)
        values = {
            key.removeprefix(OWN_PREFIX): _parse_metadata_value(where, key, text)
            for key, text in metadata.items()
            if key.startswith(OWN_PREFIX)
        }
        for key in ("item", "variant", "pattern", "condition", "position", "options", "canonical"):
            require_record_field(where, metadata, f"{OWN_PREFIX}{key}", str, shown_as=f"metadata.{OWN_PREFIX}{key}")
        if values["condition"] not in aggregate.conditions:
            raise InputError(f"{where}: condition {shorten_value(values['condition'])} is not in {aggregate.path.name}")
        texts = require_list_of_texts(where, "output.raw", require_record_field(where, record, "output.raw", list))
        text = require_record_field(where, record, "input.raw", str)
        if not text.strip():
            raise InputError(f"{where}: input.raw is empty; it must be the text that was asked")
        yield EeeResponse(where, text, texts or None, values)
    if is_empty:
        raise InputError(f"{aggregate.samples}: there are no responses in it")


def _parse_metadata_value(where: str, key: str, text: Any) -> Any:
    """Read a value of `metadata`, which is a text; its type is that of the column in results/schema.json, else text.

    >>> _parse_metadata_value("a.jsonl, line 1", "waver_logprob", '["-Infinity", -0.5]')
    [-inf, -0.5]
    >>> _parse_metadata_value("a.jsonl, line 1", "waver_sample_probability", "[[0.5, 0.25], null]")
    [[0.5, 0.25], None]
    """
    kind = _TYPES.get(key.removeprefix(OWN_PREFIX))
    if not isinstance(text, str):
        raise InputError(f"{where}: metadata.{key} is {shorten_value(text)}; it must be text")
    if kind in (None, "string"):
        return text
    if kind == "map<string,string>":
        pairs = parse_json_field(where, key, text, dict)
        require_list_of_texts(where, key, list(pairs.values()))
        return pairs
    inner = kind.removeprefix("list<").removesuffix(">")
    if inner.startswith("list<"):  # of every sample: a list, or none
        lists = parse_json_field(where, key, text, list)
        return [None if one is None else _require_list_of_numbers(where, key, one) for one in lists]
    parsed = parse_json_field(where, key, text, list if kind != inner else object)
    many = parsed if kind != inner else [parsed]
    entries = [float(entry) if key == f"{OWN_PREFIX}logprob" and entry == "-Infinity" else entry for entry in many]
    for entry in entries:
        if entry is None and key.startswith(f"{OWN_PREFIX}sample_answer"):
            continue  # a sample without an answer
        if isinstance(entry, bool) or not isinstance(entry, _KINDS[inner]):
            raise InputError(f"{where}: metadata.{key} holds {shorten_value(entry)}; it must be {inner}")
        _refuse_too_large_whole_number(where, key, entry)
    return entries if kind != inner else entries[0]


def _refuse_too_large_whole_number(where: str, key: str, number: Any) -> None:
    """Refuse a whole number that a column of numbers cannot hold exactly."""
    if isinstance(number, int) and abs(number) > LARGEST:
        raise InputError(f"{where}: metadata.{key} holds {shorten_value(number)}; it must be {LARGEST} at most")


def _require_list_of_numbers(where: str, key: str, numbers: Any) -> list[float]:
    """Return a list of numbers as it is; refuse anything else."""
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        raise InputError(f"{where}: metadata.{key} holds {shorten_value(numbers)}; it must be a list of numbers")
    for number in numbers:
        _refuse_too_large_whole_number(where, key, number)
    return numbers
