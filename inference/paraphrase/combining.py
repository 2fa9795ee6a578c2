"""Combine paraphrases from several sources into one set of items; the attribute `source` names the source.

A wording that several sources found is asked once and belongs to all of them (`source` is "a|b"). Attributes on which
they differ are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ground.errors import InputError, format_quantity, join_first_names
from inference.paraphrase.itemsfile import copy_attributes_except_match
from inference.stimuli import items
from inference.stimuli.study import ORIGINAL, Item, Variant

SOURCE, SEPARATOR = "source", "|"


def list_sources_of_paraphrase(variant: Variant) -> tuple[str, ...]:
    """List the sources of a paraphrase; none known: an empty tuple."""
    source_text = variant.attributes.get(SOURCE, "")
    return tuple(name.strip() for name in source_text.split(SEPARATOR) if name.strip())


def combine_paraphrases(sources_and_files: Sequence[tuple[str | None, Path]]) -> tuple[Item, ...]:
    """Combine several sets of paraphrases of the same originals into one set of items.

    Parameters
    ----------
    sources_and_files
        (source, file of items). Without a source, every paraphrase in the file must have its attribute `source`.

    Returns
    -------
    tuple of Item
        Items in the order in which the files name them. Paraphrases are called SOURCE:VARIANT.

    Raises
    ------
    InputError
        Two files have different originals for one item, different wordings of one name and source, or another pattern,
        language or gold for one wording; an item has no original, a paraphrase has no source, or a source is named with
        `|` or not at all.
    """
    gathered: dict[str, dict[str, Variant]] = {}  # item -> wording -> variant
    differing_names = defaultdict[tuple[str, str], set[str]](set)  # (item, wording) -> attributes on which files differ
    first: dict[str, Path] = {}
    for source, path in sources_and_files:
        if source is not None and (SEPARATOR in source or not source.strip()):
            raise InputError(f"{source}={path}: a source needs a name without '{SEPARATOR}'")
        for item in items.read_and_check_items(str(path)):
            variant_by_wording = gathered.setdefault(item.item, {})
            _refuse_differing_originals(item, path, variant_by_wording, first)
            names = {variant.variant for variant in variant_by_wording.values()}
            for variant in item.variants:
                if variant.pattern != ORIGINAL:
                    variant = _set_source_and_prefix_variant_name(variant, source, path)
                wording = variant.text.strip()
                if wording in variant_by_wording:
                    variant = _merge_wording_and_note_differing_attributes(
                        variant_by_wording[wording], variant, path, differing_names[variant.item, wording]
                    )
                elif variant.variant in names:
                    raise InputError(
                        f"{path}: item '{variant.item}': another wording is called '{variant.variant}' already; name "
                        f"this file's source otherwise: NAME={path}"
                    )
                names.add(variant.variant)
                variant_by_wording[wording] = variant
    return tuple(Item(item, tuple(variants.values())) for item, variants in gathered.items())


def describe_paraphrase_counts_by_source(combined: Iterable[Item]) -> list[str]:
    """Count the paraphrases of every source, one line each, for the user."""
    combined_items = tuple(combined)
    variants = [
        (item.item, list_sources_of_paraphrase(variant)) for item in combined_items for variant in item.paraphrases
    ]
    lines = []
    for source in dict.fromkeys(name for _, names in variants for name in names):
        of_source = [item for item, names in variants if source in names]
        shared = sum(len(names) > 1 for _, names in variants if source in names)
        items_without = [item.item for item in combined_items if item.item not in set(of_source)]
        line = f"{source}: {format_quantity(len(of_source), 'paraphrase')} of "
        line += format_quantity(len(set(of_source)), "item")
        line += f", {shared:,} of them another source's, too" if shared else ""
        lines.append(line + (f"; none of {join_first_names(items_without)}" if items_without else ""))
    return lines


def _refuse_differing_originals(
    item: Item, path: Path, variant_by_wording: dict[str, Variant], first: dict[str, Path]
) -> None:
    """Refuse an item that has another original here than in the files before."""
    if item.original is None:
        raise InputError(f"{path}: item '{item.item}' has no original to compare with the other files; set a pattern")
    first_original = next((variant for variant in variant_by_wording.values() if variant.pattern == ORIGINAL), None)
    if first_original is not None and first_original.text.strip() != item.original.text.strip():
        raise InputError(
            f"{path}: item '{item.item}' differs from that in {first[item.item]}: its original is "
            f"'{item.original.text[:40]}', not '{first_original.text[:40]}'; make ids and originals agree"
        )
    first.setdefault(item.item, path)


def _set_source_and_prefix_variant_name(variant: Variant, source: str | None, path: Path) -> Variant:
    """Put the source of a paraphrase into its attributes and its name; refuse one whose source nobody names."""
    names = (source.strip(),) if source is not None else list_sources_of_paraphrase(variant)
    if not names:
        raise InputError(
            f"{path}: item '{variant.item}', variant '{variant.variant}' has no attribute 'source'; "
            f"name who made these paraphrases: NAME={path}"
        )
    is_combined = variant.variant.startswith(tuple(f"{name}:" for name in names))  # by an earlier call
    variant_name = variant.variant if is_combined else f"{names[0]}:{variant.variant}"
    return replace(variant, variant=variant_name, attributes={**variant.attributes, SOURCE: SEPARATOR.join(names)})


def _merge_wording_and_note_differing_attributes(
    first_variant: Variant, second_variant: Variant, path: Path, differing_names: set[str]
) -> Variant:
    """Merge one wording of the files before and of one more: what is true of all stays, and sources are joined."""
    fields = {}
    for name in ("pattern", "language", "gold", "gold_score"):
        first_value, second_value = getattr(first_variant, name), getattr(second_variant, name)
        if None not in (first_value, second_value) and first_value != second_value:
            raise InputError(
                f"{path}: item '{second_variant.item}': the {name} of '{second_variant.text[:40]}' is {second_value} "
                f"here and {first_value} before; make them agree"
            )
        fields[name] = second_value if first_value is None else first_value
    first, second = copy_attributes_except_match(first_variant), copy_attributes_except_match(second_variant)
    differing_names.update(name for name in first.keys() & second.keys() if first[name] != second[name])
    attributes = {name: value for name, value in (first | second).items() if name not in differing_names}
    names = dict.fromkeys((*list_sources_of_paraphrase(first_variant), *list_sources_of_paraphrase(second_variant)))
    if first_variant.pattern != ORIGINAL:
        attributes[SOURCE] = SEPARATOR.join(names)
    return replace(first_variant, attributes=attributes, **fields)
