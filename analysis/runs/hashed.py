"""Tell baselines from other run folders: slim ones, whose texts are hashes of texts (`waver baseline save`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from ground.run_json import SCHEMA

if TYPE_CHECKING:
    from analysis.runs.folder import Folder

BASELINE = "baseline"  # field of run.json that only a baseline has
_DIGITS = 16  # of 64: among a million texts, two share them with a probability of 3e-8


def is_baseline_folder(folder: Folder) -> bool:
    """Tell whether a run folder is a baseline."""
    return BASELINE in folder.info


def compute_baseline_hash(path: Path, info: Mapping[str, Any]) -> str:
    """Compute the hash of a baseline that results/schema.json describes.

    Parameters
    ----------
    path
        Its folder.
    info
        What its run.json holds.

    Returns
    -------
    The digits.
    """
    digest = hashlib.sha256()
    files = [path / SCHEMA["stimuli"]["file"], *path.glob(SCHEMA["responses"]["files"])]
    for file in sorted(file for file in files if file.is_file()):
        file_digest = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(path).as_posix()}\n{file_digest}\n".encode())
    unsigned = {**info, BASELINE: {key: value for key, value in info[BASELINE].items() if key != "sha256"}}
    digest.update(json.dumps(unsigned, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode())
    return digest.hexdigest()


def refuse_changed_baseline(path: Path, info: Mapping[str, Any]) -> None:
    """Refuse a baseline that was changed after it was saved; other run folders pass.

    Parameters
    ----------
    path
        Its folder.
    info
        What its run.json holds.

    Raises
    ------
    InputError
        Naming the folder.
    """
    if BASELINE in info and info[BASELINE]["sha256"] != compute_baseline_hash(path, info):
        raise InputError(f"{path}: the baseline was changed after it was saved (hash); restore it")


def build_text_hash_sql(column: str) -> str:
    """Write the SQL of what stands for a text in a baseline: the first digits of its SHA-256."""
    return f"left(sha256({column}), {_DIGITS})"


def build_text_sql_comparable_with_other_folder(alias: str, folder: Folder, other: Folder) -> str:
    """Write the SQL of the texts of a folder such that those of another one are comparable.

    Parameters
    ----------
    alias
        Name of the stimuli of the folder in the query.
    folder, other
        The folders.

    Returns
    -------
    str
        The hash where only the other one is a baseline.
    """
    column = f"{alias}.text"
    return build_text_hash_sql(column) if is_baseline_folder(other) and not is_baseline_folder(folder) else column
