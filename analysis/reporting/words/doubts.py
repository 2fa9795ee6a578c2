"""Rank the cautions of a page, so that it opens with the gravest and folds the others."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Doubt(IntEnum):
    """What a caution says, the gravest first: the written rule by which pages sort their cautions."""

    WRONG = 1
    """A number may be wrong, or not what its name says: invalid answers that count in it, bounds, chance, settings."""
    WIDE = 2
    """A number is less sure than it looks: few items, models, wordings or people; a fit that leans on little."""
    LEFT_OUT = 3
    """Something was asked or could be told, and is in no number: dropped answers, prompts, models, items, measures."""
    READING = 4
    """How a number is to be read."""


WRONG, WIDE, LEFT_OUT, READING = Doubt


class Caution(str):
    """A sentence or two that weaken an answer, with what they say."""

    doubt: Doubt

    def __new__(cls, text: str, doubt: Doubt = READING) -> Caution:
        """Make a caution of a text."""
        caution = super().__new__(cls, text)
        caution.doubt = doubt
        return caution


def sort_cautions_by_gravity(cautions: Iterable[str]) -> tuple[str, ...]:
    """Sort the cautions of a page by `Doubt`; those of one kind keep their order.

    A text without a kind, as of a page in another package, is last.

    >>> sort_cautions_by_gravity(["b", Caution("c", LEFT_OUT), Caution("a", WRONG), Caution("d", LEFT_OUT)])
    ('a', 'c', 'd', 'b')
    """
    return tuple(sorted(cautions, key=lambda caution: getattr(caution, "doubt", READING)))
