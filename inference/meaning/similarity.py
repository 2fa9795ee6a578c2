"""Compute the cosine of every wording's embedding with that of its original, and keep it: it is computed once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ground.progress import print_progress
from inference.asking.models import Model
from inference.asking.one_model import Settings
from inference.engines.digest import compute_sampled_checkpoint_digest
from inference.meaning.reading import Reading, find_current_model_revision
from inference.meaning.wordings import Pair
from inference.paraphrase.meaning import Meaning
from inference.runfolder.parquet import read_parquet, write_parquet

SAVED_EVERY = 1_000  # pairs, after which a stopped call goes on
_COLUMNS = pa.schema(
    [("model", pa.string()), ("revision", pa.string()), ("key", pa.string()), ("cosine", pa.float64())]
)


def compute_or_read_cosine_by_pair_key(
    model: Model, pairs: Mapping[str, Pair], root: Path, settings: Settings
) -> Reading:
    """Compute the cosines that are not there yet.

    Parameters
    ----------
    model
        A sentence-transformers model.
    pairs
        Key -> pair.
    root
        The folder in which cosines are kept.
    settings
        Whose `revision` counts.

    Returns
    -------
    The cosines, and which model they are of.

    Raises
    ------
    InputError
        It is no such model, or the package is not installed.
    """
    folder = Path(model.source).expanduser()
    revision = (
        compute_sampled_checkpoint_digest(folder) if folder.is_dir() else find_current_model_revision(model, settings)
    )
    cosine_by_key = _read_cosines_of_model_revision(root, model.id, revision)
    missing = {key: pair for key, pair in pairs.items() if key not in cosine_by_key}
    print_progress(
        f"{model.id}: {len(pairs):,} different pairs of texts, {len(pairs) - len(missing):,} of them read before"
    )
    about: dict[str, Any] = {"model": model.source, "revision": revision}
    if missing:
        encoder = Meaning(model.source, "--check similarity", None if folder.is_dir() else revision)
        by_original: dict[str, list[str]] = {}
        for key, pair in missing.items():
            by_original.setdefault(pair.original, []).append(key)
        unsaved: dict[str, float] = {}
        for original, keys in by_original.items():
            cosines = encoder.compute_cosines_with_original(original, [missing[key].text for key in keys])
            unsaved |= dict(zip(keys, cosines, strict=True))
            if len(unsaved) >= SAVED_EVERY:
                _save_cosines(root, model.id, revision, unsaved)
                cosine_by_key |= unsaved
                unsaved = {}
        _save_cosines(root, model.id, revision, unsaved)
        cosine_by_key |= unsaved
    return Reading({key: cosine_by_key[key] for key in pairs}, about)


def _list_cosine_files(root: Path) -> list[Path]:
    """List the files of cosines, the oldest first."""
    return sorted(root.glob("similarity-*.parquet"))


def _read_cosines_of_model_revision(root: Path, model: str, revision: str | None) -> dict[str, float]:
    """Read the cosines that one revision of a model gave in all calls so far."""
    cosine_by_key: dict[str, float] = {}
    for file in _list_cosine_files(root):
        for row in read_parquet(file).to_pylist():
            if (row["model"], row["revision"]) == (model, revision):
                cosine_by_key[row["key"]] = row["cosine"]
    return cosine_by_key


def _save_cosines(root: Path, model: str, revision: str | None, cosine_by_key: Mapping[str, float]) -> None:
    """Write cosines into a new file."""
    if not cosine_by_key:
        return
    root.mkdir(parents=True, exist_ok=True)
    files = _list_cosine_files(root)
    number = int(files[-1].stem.rpartition("-")[2]) + 1 if files else 0
    rows = [
        {"model": model, "revision": revision, "key": key, "cosine": cosine} for key, cosine in cosine_by_key.items()
    ]
    write_parquet(root / f"similarity-{number:06d}.parquet", pa.Table.from_pylist(rows, schema=_COLUMNS))
