"""Write items into a file that `run --items` reads: JSON lines, one per variant."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inference.runfolder import json_lines
from inference.stimuli.study import Item, Variant

MATCH_ATTRIBUTES = ("match_proportion", "match_n", "match_seed")
"""Attributes that tell how well a set of paraphrases means what its original means."""


def write_items_file(path: Path, items: Iterable[Item]) -> None:
    """Write the variants of items in the long shape, atomically; `items.read_and_check_items` gives them back.

    Parameters
    ----------
    path
        A .jsonl file, which is replaced.
    items
        The items.

    Raises
    ------
    OSError
        The file cannot be written; no new folder is left.
    """
    json_lines.write_json_lines(path, (_build_variant_record(variant) for item in items for variant in item.variants))


def copy_attributes_except_match(variant: Variant) -> dict[str, str]:
    """Return a copy of a variant's attributes, without those that a match check gave it."""
    return {name: value for name, value in variant.attributes.items() if name not in MATCH_ATTRIBUTES}


def _build_variant_record(variant: Variant) -> dict[str, object]:
    """Build the JSON object of a variant: its fields, without those that have no value."""
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
