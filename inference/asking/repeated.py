"""Tell that a call was made before and has nothing left to ask, without reading its items or loading a model.

Each session of a run folder records a fingerprint of all that its call read. If a session with the same fingerprint
came to its end and every row has a response, the same call would find nothing to do; any other call looks for itself.
"""

from __future__ import annotations

import hashlib
import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from inference.asking.models import Model
from inference.engines import hosted
from inference.engines.digest import folder_digest
from inference.errors import InputError
from inference.runfolder import run_json
from inference.runfolder.status import progress
from inference.runfolder.versions import versions
from inference.stimuli.items import DEMO

PACKAGE = Path(__file__).resolve().parents[1]
OURS = {".py", ".yaml", ".toml", ".json", ".txt", ".csv", ".tsv"}


def fingerprint(options: Namespace, models: Sequence[Model]) -> str | None:
    """Compute the sha256 of a call, of the files and folders that it names, of the models, and of this package.

    Parameters
    ----------
    options
        Those of `run PROTOCOL`.
    models
        Those of the call, without adapters.

    Returns
    -------
    str or None
        None where a call reads what has no fingerprint: a data set of the hub, a server, an adapter or model of the hub
        under another name, or a file that is no ordinary one.
    """
    items = getattr(options, "items", None)
    if not isinstance(items, str) or (items != DEMO and not Path(items).is_file()):
        return None
    if hosted(options.engine) or options.lora:
        return None
    sources = {model.source for model in models}
    if any(model.id != model.source and not Path(model.source).is_dir() for model in models):
        return None
    named = {part for word in options.call for part in (word, word.partition("=")[2]) if part}
    digest = hashlib.sha256(json.dumps([options.call[len(options.program) :], versions()]).encode())
    try:
        for path in sorted(map(Path, named | sources)):
            if path != Path(options.out) and path.exists():
                digest.update(f"{path}\0{folder_digest(path) if path.is_dir() else _file_digest(path)}\0".encode())
        for path in _ours():
            digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def nothing_left(out: str, inputs: str, models: Sequence[str]) -> bool:
    """Tell whether a call of this fingerprint came to its end, and all rows of its models have a response.

    A run folder that is damaged is left to the call itself, which says so.
    """
    folder = Path(out)
    try:
        about = run_json.read(folder)
        ended = any(session.get("inputs") == inputs and session.get("finished") for session in about["sessions"])
        if not ended or not (folder / "stimuli.parquet").is_file():
            return False
        rows = [row for row in progress(folder, about) if row.model in models]
    except InputError:
        return False
    return {row.model for row in rows} == set(models) and all(row.condition and row.left == 0 for row in rows)


def _file_digest(path: Path) -> str:
    if not path.is_file():
        raise ValueError("a pipe or device may give something else each time")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _ours() -> Iterator[Path]:
    """Go through the files that decide what this version asks: code, prompts, the words of the demo."""
    yield from sorted(path for path in PACKAGE.rglob("*") if path.suffix in OURS and path.is_file())
