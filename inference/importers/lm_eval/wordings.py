"""Tell which wording a file of lm-eval samples asks in, and under which condition: what varies is recognised."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError
from inference.importers.lm_eval.files import SampleFile

SHOTS, TASK, FOLDER, DOC = "shots", "task", "folder", "doc."
PROMPT = "prompt"  # the wording's name where nothing is known to vary
_SUFFIX = re.compile(
    r"(?P<base>.+?)(?:[_-](?P<name>p\d+|prompt[_-]?\d+|v\d+)|-(?P<versions>v?\d+(?:\.\d+)+-v?\d+(?:\.\d+)+))"
)
_PROMPT_FOLDER = re.compile(r"prompt[_-]?\d+")


@dataclass(frozen=True, slots=True)
class WordedFile:
    """A file with the wording and the condition that its rows belong to.

    Attributes
    ----------
    base
        The task without what names its wording; items are called after it. Empty: the task is the wording.
    wording, otherwise
        What varies between files; empty where nothing does. What the wording is called where nothing varies in the rows
        either.
    fields
        Names in the rows' documents that vary within a file: `prompt_id`.
    condition, settings
        Name and fields of the condition, as far as the file tells.
    """

    file: SampleFile
    base: str
    wording: str
    otherwise: str
    fields: tuple[str, ...]
    condition: str
    settings: Mapping[str, Any]


def assign_wordings_to_files(files: Sequence[SampleFile], keys: Sequence[str]) -> list[WordedFile]:
    """Give every file its wording and condition.

    A wording is named by the keys given, or else by what varies between the files of one model and task: an ending
    (`_p1`, `_prompt_2`, `-v1.0-0.3`), a folder `prompt_1`, the number of examples. Examples that vary between models
    only are a condition.

    Parameters
    ----------
    files
        Files of samples.
    keys
        Names of what tells wordings apart; empty: what varies is recognised.

    Returns
    -------
    The files in the same order, with wording and condition.

    Raises
    ------
    InputError
        An unknown key, or two runs of one task: the same model, wording and condition.
    """
    for key in keys:
        if key not in (SHOTS, TASK, FOLDER) and not (key.startswith(DOC) and len(key) > len(DOC)):
            raise InputError(f"--variant-key {key}: expected {SHOTS}, {TASK}, {FOLDER} or doc.FIELD")
    bases = _split_tasks_into_bases_and_endings(files, keys)
    folders = _find_wording_folder_of_each_file(files, bases, keys)
    as_wording = SHOTS in keys or (
        not keys and _has_file_group_with_several_values(files, bases, [file.shots for file in files], folders)
    )
    numbers = {file.shots for file in files}
    worded_files = [
        _build_worded_file(
            file, *bases[number], folders[number], shots_tell_wording=as_wording, same_shots=len(numbers) == 1,
            fields=tuple(key.removeprefix(DOC) for key in keys if key.startswith(DOC)),
        )
        for number, file in enumerate(files)
    ]  # fmt: skip
    _refuse_files_of_same_run(worded_files)
    return worded_files


def _build_worded_file(
    file: SampleFile,
    base: str,
    ending: str,
    folder: str,
    *,
    shots_tell_wording: bool,
    same_shots: bool,
    fields: tuple[str, ...],
) -> WordedFile:
    """Name the wording and the condition of a file."""
    shots = f"{'unknown' if file.shots is None else file.shots}-shot"
    parts = [part for part in (shots if shots_tell_wording else "", folder, ending) if part]
    settings: dict[str, Any] = {"form": file.form}
    name = file.form
    if not shots_tell_wording:
        settings["shots"] = file.shots
        name += "" if same_shots else f"/{shots}"
    if file.system is not None:
        settings["system"] = file.system
        name += f"/system-{file.system[:8]}"
    return WordedFile(file, base, "/".join(parts), shots if same_shots else PROMPT, fields, name, settings)


def _split_tasks_into_bases_and_endings(files: Sequence[SampleFile], keys: Sequence[str]) -> list[tuple[str, str]]:
    """Split every task into base and ending, where this tells wordings apart; an ending that stands alone is kept."""
    if keys and TASK not in keys:
        return [(file.task, "") for file in files]
    matches = [_SUFFIX.fullmatch(file.task) for file in files]
    if TASK in keys:
        if not any(matches):
            return [("", file.task) for file in files]
        return [_split_task_into_base_and_ending(file.task, match) for file, match in zip(files, matches, strict=True)]
    endings = defaultdict(set)
    for file, match in zip(files, matches, strict=True):
        base, ending = _split_task_into_base_and_ending(file.task, match)
        endings[base].add(ending)
    return [
        (base, ending) if len(endings[base]) > 1 else (file.task, "")
        for file, (base, ending) in (
            (file, _split_task_into_base_and_ending(file.task, match))
            for file, match in zip(files, matches, strict=True)
        )
    ]


def _split_task_into_base_and_ending(task: str, match: re.Match[str] | None) -> tuple[str, str]:
    """Split the name of a task into base and ending; the ending is empty where it has none."""
    return (match["base"], match["name"] or match["versions"]) if match else (task, "")


def _find_wording_folder_of_each_file(
    files: Sequence[SampleFile], bases: Sequence[tuple[str, str]], keys: Sequence[str]
) -> list[str]:
    """Name the folder that tells a wording: `prompt_1`; with the key, the folder that the models' folders are in."""
    if keys and FOLDER not in keys:
        return [""] * len(files)
    prompt_folders = [
        next((part for part in reversed(f.path.parts[:-1]) if _PROMPT_FOLDER.fullmatch(part)), "") for f in files
    ]
    if keys:
        return [
            name or file.path.absolute().parent.parent.name for name, file in zip(prompt_folders, files, strict=True)
        ]
    return prompt_folders if _has_file_group_with_several_values(files, bases, prompt_folders) else [""] * len(files)


def _has_file_group_with_several_values(
    files: Sequence[SampleFile],
    bases: Sequence[tuple[str, str]],
    values: Sequence[Any],
    folders: Sequence[str] | None = None,
) -> bool:
    """Tell whether the files of a model, task, ending and folder have several values."""
    values_by_group = defaultdict(set)
    for number, (file, value) in enumerate(zip(files, values, strict=True)):
        values_by_group[file.model, bases[number], folders[number] if folders else ""].add(value)
    return any(len(several) > 1 for several in values_by_group.values())


def _refuse_files_of_same_run(worded_files: Sequence[WordedFile]) -> None:
    """Refuse two files of one model, task, wording and condition."""
    first: dict[tuple[str, str, str, str], WordedFile] = {}
    for worded_file in worded_files:
        before = first.setdefault(
            (worded_file.file.model, worded_file.base, worded_file.wording, worded_file.condition), worded_file
        )
        if before is not worded_file:
            raise InputError(
                f"{worded_file.file.path}: a second run of task '{worded_file.file.task}' by "
                f"'{worded_file.file.model}', of {worded_file.file.date}; the first is {before.file.path}, of "
                f"{before.file.date}; leave one out, or say what tells them apart (--variant-key, NAME=PATH)"
            )
