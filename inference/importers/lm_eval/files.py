"""Find the logs of lm-eval: which files hold samples, which model and task they are of, and how that was asked.

``samples_TASK_DATE.jsonl`` stands beside ``results_DATE.json`` (or ``NAME_DATE.json``), which describes the model, the
tasks and how they were asked. Only the file's name tells the task.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError
from inference.importers.shared import saving
from inference.importers.shared.json_log import parse_json_number_or_nan, refuse_half_surrogates
from inference.importers.shared.log_folders import list_files_below, refuse_if_all_logs_are_left_out
from inference.stimuli.reading.files import refuse_pipe_or_device

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
_VERSION = re.compile(r"0\.4\.")
_SNAPSHOT = re.compile(r".*models--(?P<owner>[^/]+?)--(?P<name>[^/]+)/snapshots/(?P<revision>[0-9a-f]{7,40})/?")
IDENTITY = ("revision", "dtype", "parameters")


@dataclass(frozen=True, slots=True)
class SampleFile:
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
    means
        What the results file states of the samples' metrics: "f1,none" -> 0.5.
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
    means: Mapping[str, float]


def find_sample_files(paths: Sequence[str], left_out: list[InputError]) -> list[SampleFile]:
    """Find all files of samples, those of a folder in the order of their names.

    Parameters
    ----------
    paths
        Files and folders, or NAME=PATH.
    left_out
        What is wrong with files of folders that hold others, too: they are left out, and it is added here.

    Returns
    -------
    The files.

    Raises
    ------
    InputError
        No file is found, one is given twice, its results file is missing or says something else, or two models have
        one name.
    """
    files: list[SampleFile] = []
    full_paths: set[Path] = set()
    json_files_by_folder: dict[Path, list[Path]] = {}
    results_by_path: dict[Path, dict[str, Any]] = {}
    for name, path in saving.split_named_paths(paths):
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        inside, n_before = [path], len(left_out)
        if path.is_dir():
            inside = [file for file in list_files_below(path, left_out) if file.match("samples_*.jsonl")]
        if not inside and len(left_out) > n_before:
            raise left_out[n_before]
        if not inside:
            raise InputError(
                f"{path}: no samples_TASK_DATE.jsonl in this folder; lm-eval writes them with --log_samples"
            )
        folder_files: list[SampleFile] = []
        for file_path in inside:
            try:
                folder_files.append(_build_sample_file(file_path, name, results_by_path, json_files_by_folder))
            except InputError as error:
                if len(inside) == 1:
                    raise
                left_out.append(error)
        if not folder_files:
            refuse_if_all_logs_are_left_out(left_out[n_before:], len(left_out) - n_before)
        models = list(dict.fromkeys(_find_stated_model_name(results_by_path[file.results]) for file in folder_files))
        if name is not None and len(models) > 1:
            raise InputError(f"{name}={path}: holds two models, {models[0]} and {models[1]}; name each")
        for file in folder_files:
            full_path = file.path.resolve()
            if full_path in full_paths:
                raise InputError(f"{file.path}: this file is given twice; leave one out")
            full_paths.add(full_path)
            files.append(file)
    _refuse_one_name_for_two_models(files)
    return files


def _build_sample_file(
    path: Path,
    name: str | None,
    results_by_path: dict[Path, dict[str, Any]],
    json_files_by_folder: dict[Path, list[Path]],
) -> SampleFile:
    """Collect what is known of a file of samples, from its name and its results file; what was read is kept."""
    match = _SAMPLES.fullmatch(path.name)
    if not match:
        raise InputError(f"{path}: the name is not samples_TASK_DATE.jsonl, and only the name tells the task")
    task, date = match["task"], match["date"]
    try:
        refuse_pipe_or_device(path)
        path.open("rb").close()  # a file of a folder that may not be read is left out
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if path.parent not in json_files_by_folder:
        json_files_by_folder[path.parent] = sorted(path.parent.glob("*.json"))
    results = _require_results_file_beside_samples(path, date, json_files_by_folder[path.parent])
    if results not in results_by_path:
        results_by_path[results] = _read_results_file(results)
    content = results_by_path[results]
    config = _require_results_object_if_present(content, "configs", results).get(task)
    if not isinstance(config, dict):
        raise InputError(
            f"{results}: describes no task '{task}', of which {path.name} holds samples; is it another run's?"
        )
    shots = _require_results_object_if_present(content, "n-shot", results).get(task, config.get("num_fewshot"))
    counted = _require_results_object_if_present(content, "n-samples", results).get(task)
    effective = counted.get("effective") if isinstance(counted, dict) else None
    return SampleFile(
        path=path,
        results=results,
        model=name or _name_model_by_hub_or_folder(content, results),
        about=_collect_stated_model_facts(content),
        task=task,
        date=date,
        config=config,
        shots=shots if isinstance(shots, int) else None,
        form="chat" if content.get("chat_template") or content.get("chat_template_sha") else "plain",
        system=_strip_text_or_none(content.get("system_instruction_sha")),
        samples=effective if isinstance(effective, int) else None,
        means={
            name: mean
            for name, value in _require_results_object_if_present(content["results"], task, results).items()
            if math.isfinite(mean := parse_json_number_or_nan(value))
        },
    )


def _require_results_file_beside_samples(path: Path, date: str, json_files: Sequence[Path]) -> Path:
    """Find the one results file that was written with a file of samples."""
    beside = [candidate for candidate in json_files if candidate.name.endswith(f"_{date}.json")]
    if len(beside) == 1:
        return beside[0]
    if not beside:
        raise InputError(
            f"{path}: results_{date}.json is not beside it; it names the model and how it was asked: put it there"
        )
    raise InputError(f"{path}: both {beside[0].name} and {beside[1].name} could be its results file; keep one of them")


def _read_results_file(path: Path) -> dict[str, Any]:
    """Read a results file of lm-eval; refuse another file, or another version."""
    try:
        refuse_pipe_or_device(path)
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not readable as JSON ({str(error)[:80]}); was it cut?") from None
    refuse_half_surrogates(str(path), content)
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        raise InputError(f"{path}: not a results file of lm-eval: it has no field 'results'")
    version = content.get("lm_eval_version")
    if version is not None and not (isinstance(version, str) and _VERSION.match(version)):
        raise InputError(f"{path}: written by lm-eval {version}; logs of 0.4 are known, not those of this version")
    return content


def _require_results_object_if_present(content: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    """Return an object that a results file holds; an empty one where it is missing."""
    part = content.get(name, {})
    if not isinstance(part, dict):
        raise InputError(f"{path}: field '{name}' is not an object, as lm-eval writes it")
    return part


def _parse_model_arguments(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read `config.model_args`: an object, or text as in `pretrained=gpt2,dtype=float16`."""
    config = content.get("config")
    model_args = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(model_args, str):
        return dict(pair.split("=", 1) for pair in model_args.split(",") if "=" in pair)
    return model_args if isinstance(model_args, dict) else {}


def _find_stated_model_name(content: Mapping[str, Any]) -> str | None:
    """Find the name of the model that a results file states; None where it states none."""
    arguments = _parse_model_arguments(content)
    return (
        _strip_text_or_none(content.get("model_name"))
        or _strip_text_or_none(arguments.get("pretrained"))
        or _strip_text_or_none(arguments.get("model"))
    )


def _name_model_by_hub_or_folder(content: Mapping[str, Any], path: Path) -> str:
    """Name the model as its hub does; a local folder by its last part.

    >>> _name_model_by_hub_or_folder({"model_name": "/cache/models--org--m/snapshots/0123456789abcdef"}, Path("r.json"))
    'org/m'
    """
    stated = _find_stated_model_name(content)
    if stated is None:
        raise InputError(f"{path}: names no model (model_name, config.model_args); give it as NAME=PATH")
    if snapshot := _SNAPSHOT.fullmatch(stated):
        return f"{snapshot['owner']}/{snapshot['name']}"
    return Path(stated).name if stated.startswith(("/", ".", "~")) else stated


def _collect_stated_model_facts(content: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what `run.json` records of a model, where the results file states it."""
    config: Any = content.get("config")
    config = config if isinstance(config, dict) else {}
    snapshot = _SNAPSHOT.fullmatch(_find_stated_model_name(content) or "")
    arguments, parameters = _parse_model_arguments(content), config.get("model_num_parameters")
    dtype = _strip_text_or_none(config.get("model_dtype")) or _strip_text_or_none(arguments.get("dtype"))
    about = {
        "revision": _strip_text_or_none(config.get("model_sha")) or (snapshot["revision"] if snapshot else None),
        "dtype": dtype and dtype.removeprefix("torch."),
        "parameters": parameters if isinstance(parameters, int) and parameters > 0 else None,
    }
    return {name: value for name, value in about.items() if value is not None}


def _strip_text_or_none(value: Any) -> str | None:
    """Return a text without surrounding white space; None where it is empty or no text."""
    return value.strip() or None if isinstance(value, str) else None


def _refuse_one_name_for_two_models(files: Sequence[SampleFile]) -> None:
    """Refuse one name for what are two models by their results files."""
    first: dict[str, SampleFile] = {}
    for file in files:
        before = first.setdefault(file.model, file)
        for field in IDENTITY:
            first_value, other_value = before.about.get(field), file.about.get(field)
            if first_value != other_value:
                raise InputError(
                    f"{file.results}: model '{file.model}' has {field} {other_value}, but {first_value} in "
                    f"{before.results}; these are two models: name one as NAME=PATH"
                )
