"""Decoys: sentences that look like wordings of an item and mean something else; the table that holds them.

They are made by `inference.meaning.decoys`. A user may edit the table, or write one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from ground.errors import InputError, format_nearest_name_hint, shorten_text
from ground.spreadsheet import unescape_formula, write_spreadsheet_csv
from inference.paraphrase.parsing import normalise_wording
from inference.stimuli.reading import records
from inference.stimuli.study import Item

NEGATED, ANTONYM, OTHER_ITEM, EXCHANGED, SHUFFLED = "negated", "antonym", "other_item", "exchanged", "shuffled"
KINDS = (NEGATED, ANTONYM, OTHER_ITEM, EXCHANGED, SHUFFLED)
COLUMNS = ("item", "variant", "decoy", "text", "source")
REQUIRED = ("item", "decoy", "text")
PREFIX = "decoy-"


@dataclass(frozen=True, slots=True)
class Decoy:
    """A row of the table.

    Attributes
    ----------
    item
        The item whose meaning it does not have.
    variant
        Its name among the wordings of the item: decoy-KIND-N.
    decoy
        Its kind, of `KINDS`.
    text
        The sentence.
    source
        What it was made from, for people: "hot -> cold".
    """

    item: str
    variant: str
    decoy: str
    text: str
    source: str

    @property
    def key(self) -> tuple[str, str]:
        """The pair (item, variant), as that of a wording."""
        return self.item, self.variant


def write_decoys_csv(path: Path, decoys: Iterable[Decoy]) -> None:
    """Write the table of decoys for a spreadsheet; a file that is there is replaced.

    Parameters
    ----------
    path
        A .csv file.
    decoys
        The rows.

    Raises
    ------
    InputError
        It is no .csv file.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path}: the table of decoys is a .csv file; let its name end so")
    write_spreadsheet_csv(path, COLUMNS, map(astuple, decoys))


def read_decoys_csv(path: Path, items: Sequence[Item]) -> list[Decoy]:
    """Read a table of decoys, perhaps edited, and check that it fits the items.

    Parameters
    ----------
    path
        A table with the columns item, decoy and text; variant and source may be missing or empty.
    items
        The items that the decoys are for.

    Returns
    -------
    The decoys, in the order of the table.

    Raises
    ------
    InputError
        A row speaks of an item that is not there, has no kind or no text, a text that the item has already, or a name
        that is there twice or does not begin as those of decoys do; or a wording has such a name.
    """
    item_by_name = {item.item: item for item in items}
    taken_texts = {
        item.item: {normalise_wording(variant.text): f"variant '{variant.variant}'" for variant in item.variants}
        for item in items
    }
    refuse_wordings_named_like_decoys(items)
    decoys: dict[tuple[str, str], Decoy] = {}
    names = set(records.Records(path).list_column_names())
    columns = [column for column in COLUMNS if column in names or column in REQUIRED]
    for place, record in records.read_records(path, columns):
        where = f"{path}, {place}"
        name, variant, kind, text, source = (unescape_formula(record.get(column) or "").strip() for column in COLUMNS)
        if name not in item_by_name:
            hint = format_nearest_name_hint(name, item_by_name)
            raise InputError(
                f"{where}: there is no item '{shorten_text(name)}' in the items{hint}; is it another set's?"
            )
        if kind not in KINDS:
            raise InputError(f"{where}: decoy is '{shorten_text(kind)}'; write one of {', '.join(KINDS)}")
        folded_text = normalise_wording(text)
        if not folded_text:
            raise InputError(f"{where}: the text is empty; write a sentence or take the row out")
        if folded_text in taken_texts[name]:
            raise InputError(
                f"{where}: the text is that of {taken_texts[name][folded_text]} of item '{shorten_text(name)}'; a "
                "decoy means something else"
            )
        variant = variant or _name_next_decoy(name, kind, decoys)
        if not variant.startswith(PREFIX):
            raise InputError(f"{where}: variant is '{shorten_text(variant)}'; begin it with {PREFIX} or leave it out")
        if (name, variant) in decoys:
            raise InputError(
                f"{where}: variant '{shorten_text(variant)}' of item '{shorten_text(name)}' is there twice"
            )
        taken_texts[name][folded_text] = f"the decoy in {place}"
        decoys[name, variant] = Decoy(name, variant, kind, text, source)
    return list(decoys.values())


def refuse_wordings_named_like_decoys(items: Iterable[Item]) -> None:
    """Refuse items with a wording whose name begins as those of decoys do.

    Raises
    ------
    InputError
        Naming the item and the wording.
    """
    for variant in (variant for item in items for variant in item.variants):
        if variant.variant.startswith(PREFIX):
            raise InputError(
                f"item '{shorten_text(variant.item)}': variant '{shorten_text(variant.variant)}' has a name that "
                f"decoys have; name it without {PREFIX}"
            )


def _name_next_decoy(item: str, kind: str, decoys: Iterable[tuple[str, str]]) -> str:
    """Return the first name that no decoy of an item has yet."""
    taken_names = {variant for name, variant in decoys if name == item}
    number = 1
    while f"{PREFIX}{kind}-{number}" in taken_names:
        number += 1
    return f"{PREFIX}{kind}-{number}"
