"""Read records of Every Eval Ever that `waver export` wrote: aggregates, and the responses beside them.

What a run holds beyond the schema stands in texts: of a study in `source_data.additional_details`, of a condition in
`generation_config.additional_details`, of a response in `metadata`, each under a name that begins with `waver_`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ground.errors import InputError, shorten_text
from ground.run_json import SCHEMA
from inference.importers.shared.recordable import refuse_unrecordable
from inference.stimuli.reading.files import (
    check_ordinary_file,
    check_storable_value,
    expand_user_path,
    parse_json,
    read_checked_lines,
    read_text_file,
    shorten_value,
)

VERSION = "0.3.0"
SAMPLES = "_samples.jsonl"
OWN_PREFIX = "waver_"
_KINDS: dict[str, tuple[type, ...]] = {"double": (int, float), "int64": (int,), "string": (str,)}
_TYPES = {
    column["name"]: column["type"] for table in ("stimuli", "responses") for column in SCHEMA[table]["columns"]
} | {"position": "int64"}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate.

    Attributes
    ----------
    path
        Its file; the responses stand in `samples`.
    study
        What it says about the study: name, protocol, hash, canonical ...
    conditions
        condition -> fields.
    about
        What it says about the model.
    """

    path: Path
    samples: Path
    identity: str
    model: str
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


def read_aggregate(path: Path) -> Aggregate:
    """Read an aggregate, and compare its responses with the checksum that it states.

    Raises
    ------
    InputError
        It is malformed, of another version or another tool, or its responses are missing or changed.
    """
    document = check_storable_value(str(path), parse_json(path, read_text_file(path)))
    version = _require_record_field(path, document, "schema_version", str)
    if version != VERSION:
        raise InputError(
            f"{path}: schema_version {shorten_value(version)} is not known here; this version reads {VERSION}"
        )
    results = _require_record_field(path, document, "evaluation_results", list)
    if not results:
        raise InputError(f"{path}: evaluation_results is empty")
    conditions = {}
    for place, result in enumerate(results, start=1):
        where = f"{path}, evaluation_results {place}"
        condition_details = _require_record_field(where, result, "generation_config.additional_details", dict)
        name = _require_record_field(where, condition_details, f"{OWN_PREFIX}condition", str)
        conditions[name] = _parse_json_field(
            where,
            f"{OWN_PREFIX}fields",
            _require_record_field(where, condition_details, f"{OWN_PREFIX}fields", str),
            dict,
        )
        refuse_unrecordable(where, "conditions", name, conditions[name])
    where = f"{path}, evaluation_results 1"
    study = _require_record_field(where, results[0], "source_data.additional_details", dict)
    study_facts = {key.removeprefix(OWN_PREFIX): value for key, value in study.items() if key.startswith(OWN_PREFIX)}
    for key in ("protocol", "name", "hash", "canonical"):
        _require_record_field(
            where, study_facts, key, str, shown_as=f"source_data.additional_details.{OWN_PREFIX}{key}"
        )
    study_facts["canonical"] = _check_only_texts(
        where,
        f"{OWN_PREFIX}canonical",
        _parse_json_field(where, f"{OWN_PREFIX}canonical", study_facts["canonical"], list),
    )
    library = {"decision_rule": "", **_require_record_field(path, document, "eval_library.additional_details", dict)}
    study_facts["decision_rule"] = _require_record_field(path, library, "decision_rule", str)
    samples = path.with_name(f"{path.stem}{SAMPLES}")
    _check_samples_digest(path, samples, _require_record_field(path, document, "detailed_evaluation_results", dict))
    model = _require_record_field(path, document, "model_info.id", str)
    refuse_unrecordable(str(path), "models", model, {})
    return Aggregate(
        path, samples, _require_record_field(path, document, "evaluation_id", str), model, study_facts,
        conditions, _require_record_field(path, document, "model_info.additional_details", dict),
    )  # fmt: skip


def read_eee_responses(aggregate: Aggregate) -> Iterator[EeeResponse]:
    """Go through the responses of an aggregate.

    Raises
    ------
    InputError
        A line is malformed, belongs to another record, or has a value of another type; with file and line.
    """
    path = aggregate.samples
    number = 0
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(_read_sample_lines(path, file), start=1):
            where = f"{path}, line {number}"
            record = check_storable_value(where, parse_json(path, line, number))
            for key, expected_id in (("evaluation_id", aggregate.identity), ("model_id", aggregate.model)):
                if (stated_id := _require_record_field(where, record, key, str)) != expected_id:
                    raise InputError(
                        f"{where}: {key} is {shorten_value(stated_id)}, but {aggregate.path.name} has "
                        f"{shorten_value(expected_id)}"
                    )
            metadata = _require_record_field(where, record, "metadata", dict)
            values = {
                key.removeprefix(OWN_PREFIX): parse_metadata_value(where, key, text)
                for key, text in metadata.items()
                if key.startswith(OWN_PREFIX)
            }
            for key in ("item", "variant", "pattern", "condition", "position", "options", "canonical"):
                _require_record_field(
                    where, metadata, f"{OWN_PREFIX}{key}", str, shown_as=f"metadata.{OWN_PREFIX}{key}"
                )
            if values["condition"] not in aggregate.conditions:
                raise InputError(
                    f"{where}: condition {shorten_value(values['condition'])} is not in {aggregate.path.name}"
                )
            texts = _check_only_texts(where, "output.raw", _require_record_field(where, record, "output.raw", list))
            text = _require_record_field(where, record, "input.raw", str)
            if not text.strip():
                raise InputError(f"{where}: input.raw is empty; it must be the text that was asked")
            yield EeeResponse(where, text, texts or None, values)
    if not number:
        raise InputError(f"{path}: there are no responses in it")


def _read_sample_lines(path: Path, file: TextIO) -> Iterator[str]:
    """Go through the lines of a file of responses; what is not UTF-8 is named by its line."""
    try:
        yield from read_checked_lines(path, file)
    except UnicodeDecodeError:
        read_text_file(path)  # says where
        raise


def parse_metadata_value(where: str, key: str, text: Any) -> Any:
    """Read a value of `metadata`, which is a text; its type is that of the column in results/schema.json.

    Parameters
    ----------
    where
        File and line, for messages.
    key
        Name in `metadata`; one that the schema lacks has a text.
    text
        The text.

    Returns
    -------
    The value; -Infinity of a log-probability as -inf.

    Raises
    ------
    InputError
        The text does not hold a value of this type.

    >>> parse_metadata_value("a.jsonl, line 1", "waver_logprob", '["-Infinity", -0.5]')
    [-inf, -0.5]
    >>> parse_metadata_value("a.jsonl, line 1", "waver_sample_probability", "[[0.5, 0.25], null]")
    [[0.5, 0.25], None]
    """
    kind = _TYPES.get(key.removeprefix(OWN_PREFIX))
    if not isinstance(text, str):
        raise InputError(f"{where}: metadata.{key} is {shorten_value(text)}; it must be text")
    if kind in (None, "string"):
        return text
    if kind == "map<string,string>":
        pairs = _parse_json_field(where, key, text, dict)
        _check_only_texts(where, key, list(pairs.values()))
        return pairs
    inner = kind.removeprefix("list<").removesuffix(">")
    if inner.startswith("list<"):  # of every sample: a list, or none
        lists = _parse_json_field(where, key, text, list)
        return [None if one is None else _parse_numbers(where, key, one) for one in lists]
    parsed = _parse_json_field(where, key, text, list if kind != inner else object)
    many = parsed if kind != inner else [parsed]
    entries = [float(entry) if key == f"{OWN_PREFIX}logprob" and entry == "-Infinity" else entry for entry in many]
    for entry in entries:
        if entry is None and key.startswith(f"{OWN_PREFIX}sample_answer"):
            continue  # a sample without an answer
        if isinstance(entry, bool) or not isinstance(entry, _KINDS[inner]):
            raise InputError(f"{where}: metadata.{key} holds {shorten_value(entry)}; it must be {inner}")
    return entries if kind != inner else entries[0]


def _parse_numbers(where: str, key: str, numbers: Any) -> list[float]:
    """Return a list of numbers as it is; refuse anything else."""
    if not isinstance(numbers, list) or not all(isinstance(number, int | float) for number in numbers):
        raise InputError(f"{where}: metadata.{key} holds {shorten_value(numbers)}; it must be a list of numbers")
    return numbers


def _check_samples_digest(path: Path, samples: Path, detail: Mapping[str, Any]) -> None:
    """Refuse responses that are not those of the aggregate."""
    try:
        check_ordinary_file(samples)
        with samples.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{samples}: cannot be read ({error.strerror}); {path.name} belongs to it") from None
    if detail.get("hash_algorithm") == "sha256" and detail.get("checksum") != digest:
        raise InputError(f"{samples}: not the file that {path.name} was written with (its sha256 differs); restore it")


def _require_record_field(where: str | Path, record: Any, name: str, kind: type, shown_as: str = "") -> Any:
    """Return a field, `a.b` inside another one; refuse one that is missing or of another type."""
    field = record
    for part in name.split("."):
        field = field.get(part) if isinstance(field, dict) else None
    if not isinstance(field, kind):
        names: dict[type, str] = {str: "text", list: "a list", dict: "an object"}
        hint = "; Waver reads what `waver export --as eee` wrote" if OWN_PREFIX in (shown_as or name) else ""
        raise InputError(f"{where}: {shown_as or name} is {shorten_value(field)}; it must be {names[kind]}{hint}")
    return field


def _parse_json_field(where: str | Path, name: str, text: str, kind: type) -> Any:
    """Read a text that holds JSON."""
    try:
        parsed = check_storable_value(str(where), json.loads(text, parse_constant=_refuse_special_number))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {name} is no JSON ({shorten_text(str(error))})") from None
    if not isinstance(parsed, kind):
        raise InputError(
            f"{where}: {name} is {shorten_value(parsed)}; it must be {'a list' if kind is list else 'an object'}"
        )
    return parsed


def _refuse_special_number(name: str) -> float:
    """Refuse NaN and infinities, which JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


def _check_only_texts(where: str | Path, name: str, values: list[Any]) -> list[str]:
    """Return a list, if it holds texts only."""
    for text in values:
        if not isinstance(text, str):
            raise InputError(f"{where}: {name} holds {shorten_value(text)}; it must hold texts")
    return values
