"""Write a file of JSON lines, as commands write items and negations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ground.errors import InputError
from ground.writing import list_missing_folder_and_parents, remove_empty_folders, write_atomically
from inference.stimuli.reading.files import expand_user_path


def require_usable_json_lines_path(path: str) -> Path:
    """Check the path of a file of JSON lines that `--out` names.

    Raises
    ------
    InputError
        It does not end in .jsonl, or is a folder.
    """
    if Path(path).suffix.lower() != ".jsonl":
        raise InputError(f"--out {path}: it is written as JSON lines; let the name end in .jsonl")
    if Path(path).is_dir():
        raise InputError(f"--out {path}: this is a folder; give another name")
    return Path(path)


def refuse_output_over_input(output: Path, *inputs: str | None) -> None:
    """Refuse to write over a file that the same command reads.

    Parameters
    ----------
    output
        What is to be written.
    *inputs
        Names of the files that are read; None stands for an option that is not given.

    Raises
    ------
    InputError
        The output is one of the inputs.
    """
    for name in filter(None, inputs):
        if output.resolve() == expand_user_path(name).resolve():
            raise InputError(f"--out would write {output}, which this command reads; give another name")


def write_json_lines(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    """Write records, one per line, atomically.

    Parameters
    ----------
    path
        The file, which is replaced; its folder is made.
    records
        What JSON can hold.

    Raises
    ------
    OSError
        The file cannot be written; no new folder is left.
    """
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    new_folders = list_missing_folder_and_parents(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda aside: aside.write_text(text, encoding="utf-8"))
    except OSError:
        remove_empty_folders(new_folders)
        raise
