"""Say which items make up a scale, and how they are keyed: what asking and importing batteries share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

from ground.errors import InputError, shorten_text
from inference.stimuli.numbers import parse_number_or_nan
from inference.stimuli.study import Item

T = TypeVar("T")
SCALE, KEY = "scale", "key"
"""Attributes of a wording: the name of the scale that its item belongs to, and 1 or -1."""


def parse_scoring_key_of_item(where: str, text: str | None) -> str:
    """Read the key of an item.

    Parameters
    ----------
    where
        The place of the item, for messages.
    text
        The key as it was written; None: there is none.

    Returns
    -------
    "1", or "-1" where agreement counts against the scale; without a key "1".

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> parse_scoring_key_of_item("row 2", "-1.0"), parse_scoring_key_of_item("row 3", None)
    ('-1', '1')
    """
    if text is None:
        return "1"
    number: Any = parse_number_or_nan(text.replace("\u2212", "-"))
    if abs(number) != 1:
        raise InputError(
            f"{where}: key must be 1, or -1 where agreement counts against the scale, not '{shorten_text(text)}'"
        )
    return str(int(number))


def refuse_scales_with_only_one_item(source: str, items: Iterable[Item]) -> None:
    """Refuse a scale that has one item only: its score would be that item.

    Parameters
    ----------
    source
        Where the items came from, for messages.
    items
        All items of a study.

    Raises
    ------
    InputError
        Naming the scale and its item.
    """
    items_by_name = [(item.variants[0].attributes.get(SCALE), item.item) for item in items]
    n_items = Counter(scale for scale, _ in items_by_name)
    for scale, item in items_by_name:
        if scale is not None and n_items[scale] == 1:
            raise InputError(
                f"{source}, item '{shorten_text(item)}': scale '{shorten_text(scale)}' has no other item; correct its "
                "name, or leave it empty, and the item counts by itself"
            )


def drop_middle_option(entries: tuple[T, ...]) -> tuple[T, ...]:
    """Leave out the middle of ordered options; where their number is even, none is.

    >>> drop_middle_option(("never", "sometimes", "always")), drop_middle_option(("no", "yes"))
    (('never', 'always'), ('no', 'yes'))
    """
    middle = len(entries) // 2
    return (*entries[:middle], *entries[middle + 1 :]) if len(entries) % 2 else entries
