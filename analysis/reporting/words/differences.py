"""Mark the words in which two wordings differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TypeAlias

MOST_WORDS = 1_000  # words of a text; longer ones are not compared
# Japanese and Chinese have no blanks between words: there, every character counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*|\s+|.", re.DOTALL)
Pieces: TypeAlias = list[tuple[str, bool]]  # parts of a text in order, and whether each differs


def split_texts_at_differences(text_a: str, text_b: str) -> tuple[Pieces, Pieces]:
    """Cut two texts into parts that both have and parts that only one has; capitals do not count.

    Parameters
    ----------
    text_a, text_b
        The texts.

    Returns
    -------
    Per text its parts as (part, whether only this text has it); a text of more than `MOST_WORDS` words is one part,
    unmarked.

    >>> split_texts_at_differences("Tea is better.", "Is tea better?")[1]
    [('Is', True), (' tea better', False), ('?', True)]
    """
    texts = text_a, text_b
    words = [_WORDS.findall(text) for text in texts]
    if max(map(len, words)) > MOST_WORDS:
        return [(text_a, False)], [(text_b, False)]
    same_places: tuple[set[int], set[int]] = (set(), set())
    keys = [
        [word.casefold().replace("’", "'") if not word.isspace() else " " for word in text_words]
        for text_words in words
    ]
    for block in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for places, start in zip(same_places, (block.a, block.b), strict=True):
            places.update(range(start, start + block.size))
    first, second = (
        _join_neighbouring_words_of_equal_mark(text_words, places)
        for text_words, places in zip(words, same_places, strict=True)
    )
    return first, second


def _join_neighbouring_words_of_equal_mark(words: list[str], shared_positions: set[int]) -> Pieces:
    """Join neighbours; a blank is marked between two marked words only."""
    differs = [place not in shared_positions for place in range(len(words))]
    for place, word in enumerate(words):
        if word.isspace():
            differs[place] = all(
                0 <= near < len(words) and near not in shared_positions for near in (place - 1, place + 1)
            )
    pieces: Pieces = []
    for word, is_marked in zip(words, differs, strict=True):
        if pieces and pieces[-1][1] == is_marked:
            pieces[-1] = pieces[-1][0] + word, is_marked
        else:
            pieces.append((word, is_marked))
    return pieces
