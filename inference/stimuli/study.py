"""Define what is asked: a study of items, their wordings, and the options that an answer may take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ground.errors import InputError
from inference.stimuli.reading.files import (
    is_invisible_text,
    refuse_unprintable_name,
    require_portable_file_name,
    shorten_value,
)

ORIGINAL = "original"
PARAPHRASE = "paraphrase"


@dataclass(frozen=True, slots=True)
class Option:
    """An answer that a variant allows, and what it means for the original item."""

    label: str
    canonical: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording of an item: a row of `stimuli.parquet`."""

    item: str
    variant: str
    pattern: str
    text: str
    options: tuple[Option, ...]
    parents: tuple[str, ...] = ()
    language: str | None = None
    gold: str | None = None
    gold_score: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """The pair (item, variant), which a study has once."""
        return self.item, self.variant

    def row(self) -> dict[str, Any]:
        """Make the columns of `stimuli.parquet`, without `study`; an absent value is None, never an empty list."""
        return {
            "item": self.item,
            "variant": self.variant,
            "pattern": self.pattern,
            "parents": list(self.parents) or None,
            "language": self.language,
            "text": self.text,
            "gold": self.gold,
            "gold_score": self.gold_score,
            "options": [option.label for option in self.options],
            "canonical": [option.canonical for option in self.options],
            "attributes": sorted(self.attributes.items()) or None,
        }


@dataclass(frozen=True, slots=True)
class Item:
    """One meaning with all its variants; by convention the original, where there is one, comes first."""

    item: str
    variants: tuple[Variant, ...]

    @property
    def original(self) -> Variant | None:
        """The variant with the pattern `original`; None for an item that consists of paraphrases only."""
        return next((variant for variant in self.variants if variant.pattern == ORIGINAL), None)

    @property
    def paraphrases(self) -> tuple[Variant, ...]:
        """The variants with the pattern `paraphrase`."""
        return tuple(variant for variant in self.variants if variant.pattern == PARAPHRASE)


@dataclass(frozen=True, slots=True)
class Study:
    """A protocol and the items that it asks about.

    Parameters
    ----------
    protocol, name
        The protocol (`agreement`) and the name of this study: the `study` column of the run folder.
    items
        At least one, with unique ids; variant ids are unique within an item.
    canonical
        Labels of the canonical frame in order; of two, the first is the one that agreement measures. Empty where free
        text is asked for: no variant has options then.
    decision_rule
        How an answer follows from the numbers, in words; recorded in `run.json`.
    source
        Where the items came from, as the user gave it; recorded, not part of the identity.
    paraphrased
        Whether the variants of an item are compared; if not, an item needs no paraphrases.
    building
        The numbers of the steps by which the items were made, as `results/schema.json` has them; recorded, not part of
        the identity.

    Raises
    ------
    InputError
        If the name cannot be that of a file, there are no items, ids repeat, a text or name is empty or shows nothing,
        or an option has no meaning in the canonical frame.
    """

    protocol: str
    name: str
    items: tuple[Item, ...]
    canonical: tuple[str, ...]
    decision_rule: str = ""
    source: str = ""
    paraphrased: bool = True
    building: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        require_portable_file_name("the study's --name", self.name)
        if not self.items:
            raise InputError(f"study {self.name}: there are no items")
        item_ids: set[str] = set()
        for item in self.items:
            if item.item in item_ids:
                raise InputError(f"study {self.name}: item '{item.item}' appears twice")
            item_ids.add(item.item)
            self._refuse_malformed_item(item)

    def _refuse_malformed_item(self, item: Item) -> None:
        """Refuse an item without variants, with a variant twice, or with a text or an option that cannot be asked."""
        where = f"study {self.name}, item {shorten_value(item.item)}"
        refuse_unprintable_name(f"study {self.name}, item", item.item)
        if not item.variants:
            raise InputError(f"{where}: there are no variants")
        names: set[str] = set()
        for variant in item.variants:
            if variant.item != item.item:
                raise InputError(f"{where}: variant '{variant.variant}' belongs to item '{variant.item}'")
            if variant.variant in names:
                raise InputError(f"{where}: variant '{variant.variant}' appears twice")
            names.add(variant.variant)
            for column, name in (("variant", variant.variant), ("pattern", variant.pattern)):
                refuse_unprintable_name(f"{where}, {column}", name)
            if is_invisible_text(variant.text):
                raise InputError(f"{where}, variant '{variant.variant}': the text is empty, or shows nothing")
            has_meanings = all(option.canonical in self.canonical for option in variant.options)
            if not has_meanings or bool(variant.options) != bool(self.canonical):
                raise InputError(f"{where}, variant '{variant.variant}': options need a meaning among {self.canonical}")

    @property
    def variants(self) -> Iterator[Variant]:
        """Go through all variants, item by item."""
        return (variant for item in self.items for variant in item.variants)

    @property
    def items_with_too_few_paraphrases(self) -> tuple[str, ...]:
        """The items that are asked but get no stability: fewer than two variants other than the original."""
        if not (self.canonical and self.paraphrased):
            return ()
        return tuple(item.item for item in self.items if sum(v.pattern != ORIGINAL for v in item.variants) < 2)

    @property
    def hash(self) -> str:
        """Fingerprint of what is asked, by which a run folder recognises a changed study.

        It is the sha256 of the protocol, the canonical frame and every stimulus in order. The name and the source are
        not in it: the same stimuli from another file are the same study.
        """
        digest = hashlib.sha256(json.dumps([self.protocol, list(self.canonical)]).encode())
        write = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
        for variant in self.variants:
            digest.update(write(variant.row()).encode())
        return digest.hexdigest()
