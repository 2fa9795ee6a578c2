"""Write sheets on which people mark whether wordings mean what their original means, with decoys mixed in unseen.

A row is known by its item and its text: nothing on a sheet tells a decoy from a wording. `votes.read_votes_of_sheets`
reads the filled sheets, and `match` gives the items what they say.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ground.errors import InputError
from ground.spreadsheet import write_spreadsheet_csv
from inference.paraphrase.combining import list_sources_of_paraphrase
from inference.paraphrase.decoys import Decoy
from inference.paraphrase.parsing import normalise_wording
from inference.paraphrase.votes import refuse_reserved_annotator_name
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading.files import require_portable_file_name
from inference.stimuli.study import Item, Variant

COLUMNS = ("item", "original", "paraphrase", "match")
WORDINGS_PER_DECOY = 5


@dataclass(frozen=True, slots=True)
class WrittenSheets:
    """The sheets that were written, and what is on each of them.

    Attributes
    ----------
    paths
        The files, one for each annotator.
    n_wordings, n_decoys
        Rows of each sheet.
    items_without_decoy
        Items that have wordings on the sheets and no decoy, where decoys were given.
    """

    paths: tuple[Path, ...]
    n_wordings: int
    n_decoys: int
    items_without_decoy: tuple[str, ...]


class _Row(NamedTuple):
    """A row of a sheet, without the verdict."""

    item: str
    original: str
    text: str


def write_match_sheets(
    path: Path,
    items: Sequence[Item],
    n_each: int,
    seed: int,
    *,
    decoys: Sequence[Decoy] = (),
    n_decoys_each: int | None = None,
    annotators: Sequence[str] = (),
) -> WrittenSheets:
    """Write a sheet, or one for each annotator, with the column `match` left to fill in.

    Parameters
    ----------
    path
        A .csv file; with annotators, each name is put behind a hyphen before its suffix. A sheet that is there is never
        overwritten.
    items
        The items with their paraphrases.
    n_each
        Paraphrases drawn per item and source; all where there are fewer. Wordings that are alike are one row.
    seed
        The draw depends on it, on the item's id and on the source's name only.
    decoys
        Decoys to mix in.
    n_decoys_each
        Decoys drawn per item; None: one for every five of its wordings, and at least one.
    annotators
        Their names: the sheets have the same rows, in another order for each.

    Returns
    -------
    What was written.

    Raises
    ------
    InputError
        A file is there already or is no .csv file, or a name is there twice.
    """
    paths = _name_new_sheet_of_each_annotator(path, annotators)
    rows_by_item: dict[str, list[_Row]] = {}
    decoys_by_item: dict[str, list[Decoy]] = {}
    for decoy in decoys:
        decoys_by_item.setdefault(decoy.item, []).append(decoy)
    n_decoys, items_without_decoy = 0, []
    for item in items:
        original = item.original.text if item.original else ""
        texts: dict[str, str] = {}
        for variant in _sample_item_paraphrases_per_source(item, n_each, seed):
            texts.setdefault(normalise_wording(variant.text), variant.text)
        if not texts:
            continue
        number = max(1, len(texts) // WORDINGS_PER_DECOY) if n_decoys_each is None else n_decoys_each
        item_decoys = _sample_decoys_of_item(decoys_by_item.get(item.item, []), number, seed)
        n_decoys += len(item_decoys)
        items_without_decoy += [item.item] if not item_decoys else []
        all_texts = [*texts.values(), *(decoy.text for decoy in item_decoys)]
        rows_by_item[item.item] = [_Row(item.item, original, text) for text in all_texts]
    for annotator, sheet_path in paths.items():
        rows = _order_sheet_rows_item_by_item(rows_by_item, seed, annotator, is_mixed=bool(annotator or decoys))
        write_spreadsheet_csv(sheet_path, COLUMNS, [(*row, "") for row in rows])
    return WrittenSheets(
        tuple(paths.values()),
        sum(map(len, rows_by_item.values())) - n_decoys,
        n_decoys,
        tuple(items_without_decoy) if decoys else (),
    )


def _name_new_sheet_of_each_annotator(path: Path, annotators: Sequence[str]) -> dict[str, Path]:
    """Name the sheet of every annotator ("": the only sheet); refuse one that is there."""
    if path.suffix.lower() != ".csv":
        raise InputError(f"--out {path}: the sheet is a .csv file")
    names = [require_portable_file_name("--annotators", name.strip()) for name in annotators]
    for number, name in enumerate(names):
        if "/" in name or "\\" in name or "=" in name:
            raise InputError(f"--annotators: '{name}' becomes part of a file's name; leave out / \\ and =")
        refuse_reserved_annotator_name("--annotators", name)
        if name.casefold() in {other.casefold() for other in names[:number]}:
            raise InputError(f"--annotators: '{name}' is there twice; give every annotator another name")
    paths = {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names} or {"": path}
    for sheet_path in paths.values():
        if sheet_path.exists():
            raise InputError(f"{sheet_path}: is there already and may be filled in; choose another --out")
    return paths


def _sample_item_paraphrases_per_source(item: Item, n_each: int, seed: int) -> list[Variant]:
    """Draw `n_each` paraphrases of every source, in the order of the item."""
    groups: dict[str, list[Variant]] = {}
    for variant in item.paraphrases:
        for source in list_sources_of_paraphrase(variant) or ("",):
            groups.setdefault(source, []).append(variant)
    drawn_names = {
        variant.variant
        for source, group in groups.items()
        for variant in random.Random(f"{seed} {item.item} {source}").sample(group, min(n_each, len(group)))
    }
    return [variant for variant in item.paraphrases if variant.variant in drawn_names]


def _sample_decoys_of_item(item_decoys: Sequence[Decoy], number: int, seed: int) -> list[Decoy]:
    """Draw some of an item's decoys: one of each kind before a second one of any."""
    item_decoys = sorted(
        item_decoys, key=lambda decoy: compute_sort_key_for_random_order(seed, "sheet", decoy.item, decoy.variant)
    )
    n_before: dict[str, int] = {}
    rounds = []
    for decoy in item_decoys:
        n_before[decoy.decoy] = n_before.get(decoy.decoy, 0) + 1
        rounds.append((n_before[decoy.decoy], decoy))
    return [decoy for _, decoy in sorted(rounds, key=lambda entry: entry[0])[:number]]


def _order_sheet_rows_item_by_item(
    rows_by_item: Mapping[str, Sequence[_Row]], seed: int, annotator: str, *, is_mixed: bool
) -> list[_Row]:
    """Put the rows into the order of a sheet: item by item, mixed within each; every annotator gets another order."""
    names = list(rows_by_item)
    if annotator:
        names.sort(key=lambda name: compute_sort_key_for_random_order(seed, "sheet items", annotator, name))
    rows = [list(rows_by_item[name]) for name in names]
    if is_mixed:
        for item_rows in rows:
            item_rows.sort(
                key=lambda row: compute_sort_key_for_random_order(seed, "sheet rows", annotator, row.item, row.text)
            )
    return [row for item_rows in rows for row in item_rows]
