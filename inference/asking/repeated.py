"""Tell that a call was made before and has nothing left to ask, without reading its items or loading a model.

Each session of a run folder records a fingerprint of all that its call read. If the last session has the same one and
came to its end, and every row has a response, the same call would find nothing to do; any other call looks for itself,
and so does this one after another: that may have changed what is known about a model, or lost rows may lie between.
"""

from __future__ import annotations

import glob
import hashlib
import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from ground import run_json
from ground.errors import InputError
from inference.asking.models import Model
from inference.engines import hosted
from inference.engines.digest import folder_digest
from inference.runfolder.status import progress
from inference.runfolder.versions import versions
from inference.stimuli.files import located
from inference.stimuli.items import DEMO

PACKAGE = Path(__file__).resolve().parents[1]
MOST_BYTES = 2**30  # of a file that is read for a fingerprint: no file of items or prompts is as large
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
    if not isinstance(items, str) or (items != DEMO and not located(items).is_file()):
        return None
    if hosted(options.engine) or options.lora:
        return None
    sources = {model.source for model in models}
    if any(model.id != model.source and not Path(model.source).is_dir() for model in models):
        return None
    digest = hashlib.sha256(json.dumps([options.call[len(options.program) :], versions()]).encode())
    try:
        for path in sorted({*_named(options.call), *_beside(located(items)), *map(Path, sources)}):
            if path.resolve() != located(options.out).resolve() and path.exists():
                digest.update(f"{path}\0{folder_digest(path) if path.is_dir() else _file_digest(path)}\0".encode())
        for path in _ours():
            digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    except (OSError, ValueError, InputError):
        return None
    return digest.hexdigest()


def nothing_left(out: str, inputs: str, models: Sequence[str]) -> bool:
    """Tell whether the last call had this fingerprint and came to its end, and all its rows have a response.

    A run folder that is damaged is left to the call itself, which says so.
    """
    folder = Path(out)
    try:
        about = run_json.read(folder)
        last = (about["sessions"] or [{}])[-1]
        if last.get("inputs") != inputs or not last.get("finished") or not (folder / "stimuli.parquet").is_file():
            return False
        rows = [row for row in progress(folder, about) if row.model in models]
    except InputError:
        return False
    return {row.model for row in rows} == set(models) and all(row.condition and row.left == 0 for row in rows)


def _named(call: Sequence[str]) -> Iterator[Path]:
    """Go through all that words of a call may name: `FILE`, `--option=FILE`, and `FILE:TASK` of a file of templates."""
    for word in call:
        for part in (word, word.partition("=")[2]):
            yield from (located(name) for name in (part, part.rpartition(":")[0]) if name)


def _beside(items: Path) -> Iterator[Path]:
    """Go through the files of the same name beside the items, where a protocol may keep more about them."""
    yield from (path for path in items.parent.glob(f"{glob.escape(items.stem)}.*") if path.is_file())


def _file_digest(path: Path) -> str:
    if not path.is_file():
        raise ValueError("a pipe or device may give something else each time")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError("to read it takes longer than to look")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _ours() -> Iterator[Path]:
    """Go through the files that decide what this version asks: code, prompts, the words of the demo."""
    yield from sorted(path for path in PACKAGE.rglob("*") if path.suffix in OURS and path.is_file())
