"""Mark the words in which two wordings differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TypeAlias

MOST = 1_000  # words of a text; longer ones are not compared
# Japanese and Chinese have no blanks between words: there, every character counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*|\s+|.", re.DOTALL)
Pieces: TypeAlias = list[tuple[str, bool]]  # parts of a text in order, and whether each differs


def marked(one: str, other: str) -> tuple[Pieces, Pieces]:
    """Cut two texts into parts that both have and parts that only one has; capitals do not count.

    Parameters
    ----------
    one, other
        The texts.

    Returns
    -------
    Per text its parts as (part, whether only this text has it); a text of more than `MOST` words is one part, unmarked.

    >>> marked("Tea is better.", "Is tea better?")[1]
    [('Is', True), (' tea better', False), ('?', True)]
    """
    texts = one, other
    words = [_WORDS.findall(text) for text in texts]
    if max(map(len, words)) > MOST:
        return [(one, False)], [(other, False)]
    same: tuple[set[int], set[int]] = (set(), set())
    keys = [[word.casefold().replace("’", "'") if not word.isspace() else " " for word in found] for found in words]
    for block in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for places, start in zip(same, (block.a, block.b), strict=True):
            places.update(range(start, start + block.size))
    first, second = (_joined(found, places) for found, places in zip(words, same, strict=True))
    return first, second


def _joined(words: list[str], same: set[int]) -> Pieces:
    """Join neighbours; a blank is marked between two marked words only."""
    differs = [place not in same for place in range(len(words))]
    for place, word in enumerate(words):
        if word.isspace():
            differs[place] = all(0 <= near < len(words) and near not in same for near in (place - 1, place + 1))
    pieces: Pieces = []
    for word, marked_ in zip(words, differs, strict=True):
        if pieces and pieces[-1][1] == marked_:
            pieces[-1] = pieces[-1][0] + word, marked_
        else:
            pieces.append((word, marked_))
    return pieces
