"""Say whether items of which no texts are known share their wordings: a template moves all items at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inference.stimuli.study import ORIGINAL

if TYPE_CHECKING:
    from inference.importers.tables.long_rows import Stimulus

SHARED, OWN = "shared", "own"
LEAST_SHARED = 0.9  # share of the items that a wording is in, on average, where items share wordings


def choose_whether_wordings_are_shared(stated: str | None, stimuli: Sequence[Stimulus]) -> str:
    """Choose whether items share their wordings, by the ids of these: `shared` or `own`.

    What the user says holds. Numbers are taken for those within an item, which mean nothing in another one; so are
    names that only some items have.

    Parameters
    ----------
    stated
        What the user says; None if nothing.
    stimuli
        The stimuli of the table; originals do not count.

    Returns
    -------
    `shared` or `own`.
    """
    if stated is not None:
        return stated
    ids, n_items, n_wordings = _collect_ids_and_count_items_and_wordings(stimuli)
    has_shared_wordings = n_items > 1 and n_wordings >= LEAST_SHARED * n_items * len(ids)
    return SHARED if has_shared_wordings and not all(map(_is_bare_number, ids)) else OWN


def describe_whether_wordings_are_shared(sharing: str, stimuli: Sequence[Stimulus], *, is_stated: bool) -> list[str]:
    """Say in one line what wordings were taken for, why, and what to say if that is wrong.

    Parameters
    ----------
    sharing
        `shared` or `own`.
    stimuli
        The stimuli of the table; originals do not count.
    is_stated
        Whether the user has said it.

    Returns
    -------
    The line; none where fewer than two items have wordings besides originals.
    """
    ids, n_items, _ = _collect_ids_and_count_items_and_wordings(stimuli)
    if n_items < 2:
        return []
    if sharing == SHARED:
        subject = (
            "the only wording is taken for one" if len(ids) == 1 else f"the {len(ids):,} wordings are taken for ones"
        )
        taken, other = f"{subject} that all {n_items:,} items share", "every item has its own"
    else:
        taken, other = "every item is taken to have its own wordings", "an id is the same wording in all items"
        if not is_stated:
            numbered = all(map(_is_bare_number, ids))
            taken = f"{'wordings are numbered' if numbered else 'items have wordings of other names'}, so {taken}"
    choice = {SHARED: OWN, OWN: SHARED}[sharing]
    return [f"no --text-column: {taken}{'' if is_stated else f'; if {other}, say --wordings {choice}'}"]


def _collect_ids_and_count_items_and_wordings(stimuli: Sequence[Stimulus]) -> tuple[set[str], int, int]:
    """Return the ids of the wordings, the number of items, and how many wordings they have together."""
    wordings = [(stimulus.item, stimulus.variant) for stimulus in stimuli if stimulus.pattern != ORIGINAL]
    return {variant for _, variant in wordings}, len({item for item, _ in wordings}), len(wordings)


def _is_bare_number(name: str) -> bool:
    """Tell whether an id is a bare number, such as 7, 007 or 7.0.

    >>> [_is_bare_number(name) for name in ("7", "7.0", "p7", "")]
    [True, True, False, False]
    """
    whole, _, fraction = name.partition(".")
    return whole.isdecimal() and not fraction.strip("0")
