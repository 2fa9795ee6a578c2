"""Let people check paraphrases: write some of every item into a table, and read the filled table back.

The match proportion is the share of an item's checked paraphrases that mean what the original means (Haller et al.,
appendix B, check 15 of 500).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ground.errors import InputError
from ground.spreadsheet import unescape_formula, write_spreadsheet_csv
from inference.paraphrase.combining import list_paraphrase_sources
from inference.paraphrase.itemsfile import copy_attributes_except_match
from inference.paraphrase.parsing import fold_wording
from inference.stimuli.reading import records
from inference.stimuli.study import Item, Variant

COLUMNS = ("item", "variant", "original", "paraphrase", "match")
_VERDICTS = {"yes": True, "y": True, "1": True, "true": True, "no": False, "n": False, "0": False, "false": False}


def write_match_sheet(path: Path, items: Sequence[Item], n_each: int, seed: int) -> int:
    """Write the sheet, with the column `match` left to fill in.

    Parameters
    ----------
    path
        A .csv file that does not exist yet: a filled sheet is never overwritten.
    items
        The items with their paraphrases.
    n_each
        Paraphrases drawn per item and source; all where there are fewer.
    seed
        The draw depends on it, on the item's id and on the source's name only.

    Returns
    -------
    Number of rows.

    Raises
    ------
    InputError
        The file is there already or is no .csv file, or no item has a paraphrase.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"--out {path}: the sheet is a .csv file")
    if path.exists():
        raise InputError(f"{path}: is there already and may be filled in; choose another --out")
    rows = [
        (variant.item, variant.variant, item.original.text if item.original else "", variant.text, "")
        for item in items
        for variant in _draw_paraphrases_per_source(item, n_each, seed)
    ]
    if not rows:
        raise InputError("there are no paraphrases to check in these items")
    write_spreadsheet_csv(path, COLUMNS, rows)
    return len(rows)


@dataclass(frozen=True, slots=True)
class CheckedItems:
    """What a filled sheet makes of items: the items, and the keys of the paraphrases that it marks with no."""

    items: tuple[Item, ...]
    refused_keys: frozenset[tuple[str, str]]


def add_match_attributes_from_sheet(path: Path, items: Sequence[Item], *, drop_refused: bool = False) -> CheckedItems:
    """Give items the `match_proportion` (two decimals) and `match_n` that a filled sheet says.

    Every variant of an item in the sheet gets them; with several paraphrase sources, from the rows of its own source.

    Parameters
    ----------
    path
        The filled sheet.
    items
        The items with their paraphrases.
    drop_refused
        Leave out the paraphrases that the sheet marks with no, and an item that has no wording then. The match
        proportion is that of the paraphrases as they were drawn, those included.

    Returns
    -------
    The items with both attributes, and the paraphrases that are marked with no.

    Raises
    ------
    InputError
        A row that is not filled in, or that speaks of a paraphrase that these items do not have.
    """
    verdicts = _read_match_verdicts(path, {variant.key: variant for item in items for variant in item.variants})
    refused_keys = frozenset(key for key, matches in verdicts.items() if not matches)
    left_variants = [
        (item, [variant for variant in item.variants if not (drop_refused and variant.key in refused_keys)])
        for item in items
    ]
    checked_items = (
        Item(item.item, tuple(_add_match_attributes(variant, item, verdicts) for variant in variants))
        for item, variants in left_variants
        if variants
    )
    return CheckedItems(tuple(checked_items), refused_keys)


def _draw_paraphrases_per_source(item: Item, n_each: int, seed: int) -> list[Variant]:
    """Draw `n_each` paraphrases of every source, in the order of the item."""
    groups: dict[str, list[Variant]] = {}
    for variant in item.paraphrases:
        for source in list_paraphrase_sources(variant) or ("",):
            groups.setdefault(source, []).append(variant)
    drawn_names = {
        variant.variant
        for source, group in groups.items()
        for variant in random.Random(f"{seed} {item.item} {source}").sample(group, min(n_each, len(group)))
    }
    return [variant for variant in item.paraphrases if variant.variant in drawn_names]


def _read_match_verdicts(path: Path, variant_by_key: Mapping[tuple[str, str], Variant]) -> dict[tuple[str, str], bool]:
    """Read the sheet as (item, variant) -> whether it matches."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        raise InputError(f"{path}: a sheet is a .csv file with the columns {', '.join(COLUMNS)}")
    verdicts: dict[tuple[str, str], bool] = {}
    sheet_rows = records.read_records(path)
    empty = [place for place, record in sheet_rows if not str(record.get("match", "")).strip()]
    for place, record in sheet_rows:
        key = unescape_formula(record.get("item", "")).strip(), unescape_formula(record.get("variant", "")).strip()
        if key not in variant_by_key:
            raise InputError(f"{path}, {place}: item '{key[0]}' has no variant '{key[1]}' in the items; give its own")
        if fold_wording(unescape_formula(record.get("paraphrase", ""))) != fold_wording(variant_by_key[key].text):
            raise InputError(f"{path}, {place}: the paraphrase is not that of the items; is the sheet another set's?")
        if place in empty:
            raise InputError(f"{path}, {place}: match is empty ({len(empty):,} rows are); write yes or no")
        verdict = _VERDICTS.get(record["match"].strip().lower())
        if verdict is None:
            raise InputError(f"{path}, {place}: match is '{record['match'][:20]}'; write yes or no")
        if key in verdicts:
            raise InputError(f"{path}, {place}: variant '{key[1]}' of item '{key[0]}' is checked twice")
        verdicts[key] = verdict
    return verdicts


def _add_match_attributes(variant: Variant, item: Item, verdicts: Mapping[tuple[str, str], bool]) -> Variant:
    """Add the share of matching paraphrases, among those checked of the same sources, and their number."""
    variant_sources = set(list_paraphrase_sources(variant))
    item_verdicts = [
        verdicts[other.key]
        for other in item.paraphrases
        if other.key in verdicts
        and (
            not variant_sources
            or not list_paraphrase_sources(other)
            or variant_sources & set(list_paraphrase_sources(other))
        )
    ]
    if not item_verdicts:
        return variant
    match = {"match_proportion": f"{sum(item_verdicts) / len(item_verdicts):.2f}", "match_n": str(len(item_verdicts))}
    return replace(variant, attributes={**copy_attributes_except_match(variant), **match})
