"""Ask about some wordings of every item, drawn by seed and item; more of them can be asked later in the same folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from ground.errors import format_part_with_verb, shorten_text
from ground.progress import print_warning
from inference.asking.limit import ChosenQuestions
from inference.asking.rounds import Draw, Questions
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.study import ORIGINAL, Study, Variant

Key = tuple[str, ...]  # what wordings are drawn from: an item, or an item and a pattern


def build_group_key_of_item(variant: Variant) -> Key:
    """Return the key (item,) of the group that wordings are drawn from: all rewordings of an item."""
    return (variant.item,)


def build_group_key_of_item_and_pattern(variant: Variant) -> Key:
    """Return the key (item, pattern) of the group that wordings are drawn from: an item's rewordings of one pattern."""
    return variant.item, variant.pattern


def limit_questions_to_sampled_wordings(
    study: Study,
    questions: Questions,
    n_wordings: int | None,
    seed: int,
    build_key: Callable[[Variant], Key] = build_group_key_of_item,
) -> Questions:
    """Draw some wordings of every item, or of every pattern of it, beside its original.

    They stand in a random order, and the first of them are drawn: so a larger number contains the smaller.
    Where there are fewer, all are asked, and a line on standard error says so.

    Parameters
    ----------
    study, questions
        The study and what is asked about it.
    n_wordings
        How many are drawn; None: all.
    seed
        The draw depends on it and on the names of item and wording.
    build_key
        What they are drawn from: `build_group_key_of_item` or `build_group_key_of_item_and_pattern`.

    Returns
    -------
    The questions in these wordings; the same questions where that is all of them.
    """
    if n_wordings is None:
        return questions
    places: dict[Key, list[bytes]] = defaultdict(list)
    for variant in study.variants:
        if variant.pattern != ORIGINAL:
            places[build_key(variant)].append(_compute_random_order_key_of_wording(seed, variant))
    sizes = list(map(len, places.values()))
    few = [name for name, item_places in places.items() if len(item_places) < n_wordings]
    if few:
        print_warning(f"{study.name}: {_describe_items_short_of_wordings(few, sizes, n_wordings)}")
    if max(sizes, default=0) <= n_wordings:
        return questions
    # The place of the last wording that is drawn: where 3 are wanted, the third smallest of 5, and the larger one of 2.
    last = {name: sorted(item_places)[min(n_wordings, len(item_places)) - 1] for name, item_places in places.items()}

    def is_original_or_drawn(variant: Variant) -> bool:
        return (
            variant.pattern == ORIGINAL
            or _compute_random_order_key_of_wording(seed, variant) <= last[build_key(variant)]
        )

    per_pattern = build_key is build_group_key_of_item_and_pattern
    return ChosenQuestions(questions, is_original_or_drawn, Draw(n_wordings, min(sizes), max(sizes), per_pattern))


def _compute_random_order_key_of_wording(seed: int, variant: Variant) -> bytes:
    """Compute the place of a wording in the random order of the wordings of its item."""
    return compute_sort_key_for_random_order(seed, "wording", variant.item, variant.variant)


def _describe_items_short_of_wordings(short_keys: Sequence[Key], sizes: Sequence[int], n_wordings: int) -> str:
    """Say how many items, or patterns of items, have fewer wordings than are to be drawn."""
    is_per_item = len(short_keys[0]) == 1
    if max(sizes) < n_wordings:
        group = "item" if is_per_item else "pattern of an item"
        return f"--wordings {n_wordings:,} is more than any {group} has ({max(sizes):,} at most): all are asked"
    noun, plural = ("reworded item", "reworded items") if is_per_item else ("pattern of items", "patterns of items")
    return (
        f"{format_part_with_verb(len(short_keys), len(sizes), noun, plural=plural)} fewer wordings than --wordings "
        f"{n_wordings:,} (such as {shorten_text('/'.join(short_keys[0]))}): all of these are asked"
    )
