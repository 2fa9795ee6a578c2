"""Write items into a file that `run --items` reads: JSON lines, one per variant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from inference.errors import InputError
from inference.runfolder.locking import absent, remove_empty
from inference.runfolder.parquet import write_atomically
from inference.stimuli.study import Item, Variant

MATCH = ("match_proportion", "match_n", "match_seed")
"""Attributes that tell how well a set of paraphrases means what its original means."""


def write(path: Path, items: Iterable[Item]) -> None:
    """Write the variants of items in the long shape, atomically; `items.load` gives them back.

    Raises
    ------
    OSError
        The file cannot be written; no new folder is left.
    """
    lines = [json.dumps(_record(variant), ensure_ascii=False) for item in items for variant in item.variants]
    made = absent(path.parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda aside: aside.write_text("\n".join(lines) + "\n", encoding="utf-8"))
    except OSError:
        remove_empty(made)
        raise


def output(path: str) -> Path:
    """Check the path of an items file that `--out` names.

    Raises
    ------
    InputError
        It does not end in .jsonl.
    """
    if Path(path).suffix.lower() != ".jsonl":
        raise InputError(f"--out {path}: items are written as JSON lines; let the name end in .jsonl")
    return Path(path)


def without_match(variant: Variant) -> dict[str, str]:
    """Keep the attributes that do not describe one set of paraphrases."""
    return {name: value for name, value in variant.attributes.items() if name not in MATCH}


def _record(variant: Variant) -> dict[str, object]:
    fields = {
        "item": variant.item,
        "variant": variant.variant,
        "pattern": variant.pattern,
        "text": variant.text,
        "language": variant.language,
        "gold": variant.gold,
        "gold_score": variant.gold_score,
        "attributes": dict(variant.attributes) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
