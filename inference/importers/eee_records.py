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

from ground.errors import InputError, cut
from ground.run_json import SCHEMA
from inference.importers.recorded import refuse_unrecordable
from inference.stimuli.files import checked, lines_of, located, parse_json, refuse_special, shown, text_of

VERSION = "0.3.0"
SAMPLES = "_samples.jsonl"
OWN = "waver_"
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
class Response:
    """One row: its wording, its place in the study, and the columns of both tables of a run."""

    where: str
    text: str
    output: list[str] | None
    values: Mapping[str, Any]


def found(names: Sequence[str]) -> list[Path]:
    """Find the aggregates that have responses beside them, in folders and below; a file is the aggregate itself.

    Raises
    ------
    InputError
        There is none.
    """
    paths = [located(name) for name in names]
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


def read(path: Path) -> Aggregate:
    """Read an aggregate, and compare its responses with the checksum that it states.

    Raises
    ------
    InputError
        It is malformed, of another version or another tool, or its responses are missing or changed.
    """
    whole = checked(str(path), parse_json(path, text_of(path)))
    version = _field(path, whole, "schema_version", str)
    if version != VERSION:
        raise InputError(f"{path}: schema_version {shown(version)} is not known here; this version reads {VERSION}")
    results = _field(path, whole, "evaluation_results", list)
    if not results:
        raise InputError(f"{path}: evaluation_results is empty")
    conditions = {}
    for place, result in enumerate(results, start=1):
        where = f"{path}, evaluation_results {place}"
        own = _field(where, result, "generation_config.additional_details", dict)
        name = _field(where, own, f"{OWN}condition", str)
        conditions[name] = _parsed(where, f"{OWN}fields", _field(where, own, f"{OWN}fields", str), dict)
        refuse_unrecordable(where, "conditions", name, conditions[name])
    where = f"{path}, evaluation_results 1"
    study = _field(where, results[0], "source_data.additional_details", dict)
    known = {key.removeprefix(OWN): value for key, value in study.items() if key.startswith(OWN)}
    for key in ("protocol", "name", "hash", "canonical"):
        _field(where, known, key, str, shown_as=f"source_data.additional_details.{OWN}{key}")
    known["canonical"] = _texts(where, f"{OWN}canonical", _parsed(where, f"{OWN}canonical", known["canonical"], list))
    library = {"decision_rule": "", **_field(path, whole, "eval_library.additional_details", dict)}
    known["decision_rule"] = _field(path, library, "decision_rule", str)
    samples = path.with_name(f"{path.stem}{SAMPLES}")
    _compare(path, samples, _field(path, whole, "detailed_evaluation_results", dict))
    model = _field(path, whole, "model_info.id", str)
    refuse_unrecordable(str(path), "models", model, {})
    return Aggregate(
        path, samples, _field(path, whole, "evaluation_id", str), model, known,
        conditions, _field(path, whole, "model_info.additional_details", dict),
    )  # fmt: skip


def rows(aggregate: Aggregate) -> Iterator[Response]:
    """Go through the responses of an aggregate.

    Raises
    ------
    InputError
        A line is malformed, belongs to another record, or has a value of another type; with file and line.
    """
    path = aggregate.samples
    number = 0
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(_lines(path, file), start=1):
            where = f"{path}, line {number}"
            record = checked(where, parse_json(path, line, number))
            for key, known in (("evaluation_id", aggregate.identity), ("model_id", aggregate.model)):
                if (stated := _field(where, record, key, str)) != known:
                    raise InputError(f"{where}: {key} is {shown(stated)}, but {aggregate.path.name} has {shown(known)}")
            own = _field(where, record, "metadata", dict)
            values = {
                key.removeprefix(OWN): value(where, key, text) for key, text in own.items() if key.startswith(OWN)
            }
            for key in ("item", "variant", "pattern", "condition", "position", "options", "canonical"):
                _field(where, own, f"{OWN}{key}", str, shown_as=f"metadata.{OWN}{key}")
            if values["condition"] not in aggregate.conditions:
                raise InputError(f"{where}: condition {shown(values['condition'])} is not in {aggregate.path.name}")
            texts = _texts(where, "output.raw", _field(where, record, "output.raw", list))
            text = _field(where, record, "input.raw", str)
            if not text.strip():
                raise InputError(f"{where}: input.raw is empty; it must be the text that was asked")
            yield Response(where, text, texts or None, values)
    if not number:
        raise InputError(f"{path}: there are no responses in it")


def _lines(path: Path, file: TextIO) -> Iterator[str]:
    try:
        yield from lines_of(path, file)
    except UnicodeDecodeError:
        text_of(path)  # says where
        raise


def value(where: str, key: str, text: Any) -> Any:
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

    >>> value("a.jsonl, line 1", "waver_logprob", '["-Infinity", -0.5]')
    [-inf, -0.5]
    """
    kind = _TYPES.get(key.removeprefix(OWN))
    if not isinstance(text, str):
        raise InputError(f"{where}: metadata.{key} is {shown(text)}; it must be text")
    if kind in (None, "string"):
        return text
    if kind == "map<string,string>":
        pairs = _parsed(where, key, text, dict)
        _texts(where, key, list(pairs.values()))
        return pairs
    inner = kind.removeprefix("list<").removesuffix(">")
    parsed = _parsed(where, key, text, list if kind != inner else object)
    many = parsed if kind != inner else [parsed]
    read = [float(one) if key == f"{OWN}logprob" and one == "-Infinity" else one for one in many]
    for one in read:
        if isinstance(one, bool) or not isinstance(one, _KINDS[inner]):
            raise InputError(f"{where}: metadata.{key} holds {shown(one)}; it must be {inner}")
    return read if kind != inner else read[0]


def _compare(path: Path, samples: Path, detail: Mapping[str, Any]) -> None:
    """Refuse responses that are not those of the aggregate."""
    try:
        refuse_special(samples)
        with samples.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{samples}: cannot be read ({error.strerror}); {path.name} belongs to it") from None
    if detail.get("hash_algorithm") == "sha256" and detail.get("checksum") != digest:
        raise InputError(f"{samples}: not the file that {path.name} was written with (its sha256 differs); restore it")


def _field(where: str | Path, record: Any, name: str, kind: type, shown_as: str = "") -> Any:
    """Return a field, `a.b` inside another one; refuse one that is missing or of another type."""
    at = record
    for part in name.split("."):
        at = at.get(part) if isinstance(at, dict) else None
    if not isinstance(at, kind):
        names: dict[type, str] = {str: "text", list: "a list", dict: "an object"}
        hint = "; Waver reads what `waver export --as eee` wrote" if OWN in (shown_as or name) else ""
        raise InputError(f"{where}: {shown_as or name} is {shown(at)}; it must be {names[kind]}{hint}")
    return at


def _parsed(where: str | Path, name: str, text: str, kind: type) -> Any:
    """Read a text that holds JSON."""
    try:
        parsed = checked(str(where), json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {name} is no JSON ({cut(str(error))})") from None
    if not isinstance(parsed, kind):
        raise InputError(f"{where}: {name} is {shown(parsed)}; it must be {'a list' if kind is list else 'an object'}")
    return parsed


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _texts(where: str | Path, name: str, values: list[Any]) -> list[str]:
    for one in values:
        if not isinstance(one, str):
            raise InputError(f"{where}: {name} holds {shown(one)}; it must hold texts")
    return values
