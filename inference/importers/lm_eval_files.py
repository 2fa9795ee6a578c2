"""Find the logs of lm-eval: which files hold samples, which model and task they are of, and how that was asked.

``samples_TASK_DATE.jsonl`` stands beside ``results_DATE.json`` (or ``NAME_DATE.json``), which describes the model, the
tasks and how they were asked. Only the file's name tells the task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.importers import saving
from inference.importers.json_log import refuse_halves

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
_VERSION = re.compile(r"0\.4\.")
_SNAPSHOT = re.compile(r".*models--(?P<owner>[^/]+?)--(?P<name>[^/]+)/snapshots/(?P<revision>[0-9a-f]{7,40})/?")
IDENTITY = ("revision", "dtype", "parameters")


@dataclass(frozen=True, slots=True)
class File:
    """One file of samples.

    Attributes
    ----------
    path, results
        The file, and the one that describes it.
    model, about
        The model's name, and what `run.json` records of it.
    task, date
        From the file's name.
    config
        Of the task.
    shots
        Examples before each question; None: not stated.
    form
        `chat` where a chat template was applied, else `plain`.
    system
        Digest of the system instruction, where there is one.
    samples
        How many samples the results file counts; None: it does not.
    """

    path: Path
    results: Path
    model: str
    about: Mapping[str, Any]
    task: str
    date: str
    config: Mapping[str, Any]
    shots: int | None
    form: str
    system: str | None
    samples: int | None


def find(paths: Sequence[str]) -> list[File]:
    """Find all files of samples, those of a folder in the order of their names.

    Raises
    ------
    InputError
        No file is found, one is given twice, its results file is missing or says something else, or two models have
        one name.
    """
    files: list[File] = []
    first: dict[Path, Path] = {}
    known: dict[Path, dict[str, Any]] = {}
    for name, path in saving.named(paths):
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        inside = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise InputError(
                f"{path}: no samples_TASK_DATE.jsonl in this folder; lm-eval writes them with --log_samples"
            )
        found = [_file(each, name, known) for each in inside]
        if name is not None and len(models := dict.fromkeys(_stated_name(known[each.results]) for each in found)) > 1:
            raise InputError(f"{name}={path}: holds two models, {' and '.join(map(str, list(models)[:2]))}; name each")
        for each in found:
            place = each.path.resolve()
            if first.setdefault(place, each.path) != each.path or place in {other.path.resolve() for other in files}:
                raise InputError(f"{each.path}: this file is given twice; leave one out")
            files.append(each)
    _refuse_mixed(files)
    return files


def _file(path: Path, name: str | None, known: dict[Path, dict[str, Any]]) -> File:
    named = _SAMPLES.fullmatch(path.name)
    if not named:
        raise InputError(f"{path}: the name is not samples_TASK_DATE.jsonl, and only the name tells the task")
    task, date = named["task"], named["date"]
    results = _results(path, date)
    if results not in known:
        known[results] = _read(results)
    said = known[results]
    config = _part(said, "configs", results).get(task)
    if not isinstance(config, dict):
        raise InputError(
            f"{results}: describes no task '{task}', of which {path.name} holds samples; is it another run's?"
        )
    shots = _part(said, "n-shot", results).get(task, config.get("num_fewshot"))
    counted = _part(said, "n-samples", results).get(task)
    effective = counted.get("effective") if isinstance(counted, dict) else None
    return File(
        path=path,
        results=results,
        model=name or _model_name(said, results),
        about=_about(said),
        task=task,
        date=date,
        config=config,
        shots=shots if isinstance(shots, int) else None,
        form="chat" if said.get("chat_template") or said.get("chat_template_sha") else "plain",
        system=_text(said.get("system_instruction_sha")),
        samples=effective if isinstance(effective, int) else None,
    )


def _results(path: Path, date: str) -> Path:
    """Find the one results file that was written with a file of samples."""
    beside = sorted(each for each in path.parent.glob("*.json") if each.name.endswith(f"_{date}.json"))
    if len(beside) == 1:
        return beside[0]
    if not beside:
        raise InputError(
            f"{path}: results_{date}.json is not beside it; it names the model and how it was asked: put it there"
        )
    raise InputError(f"{path}: both {beside[0].name} and {beside[1].name} could be its results file; keep one of them")


def _read(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON ({str(error)[:80]}); was it cut?") from None
    refuse_halves(str(path), said)
    if not isinstance(said, dict) or not isinstance(said.get("results"), dict):
        raise InputError(f"{path}: not a results file of lm-eval: it has no field 'results'")
    version = said.get("lm_eval_version")
    if version is not None and not (isinstance(version, str) and _VERSION.match(version)):
        raise InputError(f"{path}: written by lm-eval {version}; logs of 0.4 are known, not those of this version")
    return said


def _part(said: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    part = said.get(name, {})
    if not isinstance(part, dict):
        raise InputError(f"{path}: field '{name}' is not an object, as lm-eval writes it")
    return part


def _arguments(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read `config.model_args`: an object, or text as in `pretrained=gpt2,dtype=float16`."""
    config = said.get("config")
    given = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(given, str):
        return dict(pair.split("=", 1) for pair in given.split(",") if "=" in pair)
    return given if isinstance(given, dict) else {}


def _stated_name(said: Mapping[str, Any]) -> str | None:
    arguments = _arguments(said)
    return _text(said.get("model_name")) or _text(arguments.get("pretrained")) or _text(arguments.get("model"))


def _model_name(said: Mapping[str, Any], path: Path) -> str:
    """Name the model as its hub does; a local folder by its last part.

    >>> _model_name({"model_name": "/cache/models--org--m/snapshots/0123456789abcdef"}, Path("r.json"))
    'org/m'
    """
    stated = _stated_name(said)
    if stated is None:
        raise InputError(f"{path}: names no model (model_name, config.model_args); give it as NAME=PATH")
    if snapshot := _SNAPSHOT.fullmatch(stated):
        return f"{snapshot['owner']}/{snapshot['name']}"
    return Path(stated).name if stated.startswith(("/", ".", "~")) else stated


def _about(said: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what `run.json` records of a model, where the results file states it."""
    config: Any = said.get("config")
    config = config if isinstance(config, dict) else {}
    snapshot = _SNAPSHOT.fullmatch(_stated_name(said) or "")
    arguments, parameters = _arguments(said), config.get("model_num_parameters")
    dtype = _text(config.get("model_dtype")) or _text(arguments.get("dtype"))
    about = {
        "revision": _text(config.get("model_sha")) or (snapshot["revision"] if snapshot else None),
        "dtype": dtype and dtype.removeprefix("torch."),
        "parameters": parameters if isinstance(parameters, int) and parameters > 0 else None,
    }
    return {name: value for name, value in about.items() if value is not None}


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _refuse_mixed(files: Sequence[File]) -> None:
    """Refuse one name for what are two models by their results files."""
    first: dict[str, File] = {}
    for each in files:
        before = first.setdefault(each.model, each)
        for field in IDENTITY:
            one, other = before.about.get(field), each.about.get(field)
            if one != other:
                raise InputError(
                    f"{each.results}: model '{each.model}' has {field} {other}, but {one} in {before.results}; "
                    "these are two models: name one as NAME=PATH"
                )
