"""Give items the share of their checked paraphrases that mean what the original means, as people's sheets say.

The match proportion is the share of an item's checked paraphrases that mean what the original means (Haller et al.,
appendix B, check 15 of 500). Of several annotators, the majority counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from inference.paraphrase.combining import list_sources_of_paraphrase
from inference.paraphrase.itemsfile import copy_attributes_except_match
from inference.paraphrase.votes import Key, Votes
from inference.stimuli.study import Item, Variant


@dataclass(frozen=True, slots=True)
class CheckedItems:
    """What filled sheets make of items.

    Attributes
    ----------
    items
        The items with their match proportions.
    refused_keys
        The wordings that most annotators mark with no.
    tied_keys
        Those with as many yes as no; they count for neither.
    """

    items: tuple[Item, ...]
    refused_keys: frozenset[Key]
    tied_keys: frozenset[Key]


def add_share_of_matching_paraphrases(
    votes: Votes, items: Sequence[Item], *, drop_refused: bool = False
) -> CheckedItems:
    """Give items the `match_proportion` (two decimals) and `match_n` that people's votes say.

    Every variant of an item on the sheets gets them; with several paraphrase sources, from the wordings of its own
    source.

    Parameters
    ----------
    votes
        The votes on these items.
    items
        The items with their paraphrases.
    drop_refused
        Leave out the paraphrases that most annotators mark with no, and an item that has no wording then. The match
        proportion is that of the paraphrases as they were drawn, those included.

    Returns
    -------
    The items with both attributes, the paraphrases that are refused, and those without a majority.
    """
    counts = votes.count_votes()
    verdicts = {key: n_yes > n_no for key, (n_yes, n_no) in counts.items() if n_yes != n_no}
    refused_keys = frozenset(key for key, matches in verdicts.items() if not matches)
    left_variants = [
        (item, [variant for variant in item.variants if not (drop_refused and variant.key in refused_keys)])
        for item in items
    ]
    checked_items = (
        Item(
            item.item,
            tuple(_add_share_of_matching_item_paraphrases_to_variant(variant, item, verdicts) for variant in variants),
        )
        for item, variants in left_variants
        if variants
    )
    return CheckedItems(tuple(checked_items), refused_keys, frozenset(counts.keys() - verdicts.keys()))


def _add_share_of_matching_item_paraphrases_to_variant(
    variant: Variant, item: Item, verdicts: Mapping[Key, bool]
) -> Variant:
    """Add the share of matching paraphrases, among those checked of the same sources, and their number."""
    variant_sources = set(list_sources_of_paraphrase(variant))
    item_verdicts = [
        verdicts[other.key]
        for other in item.paraphrases
        if other.key in verdicts
        and (
            not variant_sources
            or not list_sources_of_paraphrase(other)
            or variant_sources & set(list_sources_of_paraphrase(other))
        )
    ]
    if not item_verdicts:
        return variant
    match = {"match_proportion": f"{sum(item_verdicts) / len(item_verdicts):.2f}", "match_n": str(len(item_verdicts))}
    return replace(variant, attributes={**copy_attributes_except_match(variant), **match})
