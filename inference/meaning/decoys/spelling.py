"""Spell English sentences again after a part was exchanged: capitals, and a or an."""

from __future__ import annotations

import re

from ground.capitals import capitalise_sentence, uncapitalise_sentence
from inference.meaning.decoys.sentences import Sentence

_VOWEL = re.compile(r"(?!one\b|one-|once|eu|u[st][aeiu]|uni(?![mn]))[aeiou]|hono|hour|heir", re.IGNORECASE)
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a an the all any both each every some many most no not if because although when while in on at of for from to
    with without it it's it’s its this that these those there they we you he she my our your their what what's which who
    how one people should""",
    )
)


def lowercase_first_word_unless_name(sentence: Sentence, word: str) -> str:
    """Write the first word of a sentence as it stands inside one: small, unless it is a name or I.

    Parameters
    ----------
    sentence
        The sentence; with a pipeline's tags they tell a name, else the wordings of the item do.
    word
        Its first word as it is written.

    Returns
    -------
    The word, in small letters where it is none that keeps its capital.
    """
    small = uncapitalise_sentence(word)
    if word[1:2].isupper() or word == "I" or word[:2] in ("I'", "I’"):
        return word
    if sentence.doc is not None:
        return word if sentence.doc[0].tag_.startswith("NNP") else small
    small_word = small.rstrip(",;:")
    wordings = " ".join(variant.text for variant in sentence.item.variants)
    is_written_small = re.search(rf"(?<!\S){re.escape(small_word)}(?!\w)", wordings) is not None
    return small if is_written_small or small_word in _FUNCTION_WORDS else word


def copy_initial_capital(word: str, new_word: str) -> str:
    """Write a word with a capital where the one that it replaces has one."""
    return capitalise_sentence(new_word) if word[:1].isupper() else new_word


def replace_span_and_fix_article(text: str, span: tuple[int, int], new_part: str) -> str:
    """Replace a part of a text, with a or an before it as its first letter wants it.

    Parameters
    ----------
    text, span
        The text, and where the part begins and ends.
    new_part
        What takes its place.

    Returns
    -------
    The new text.
    """
    before = text[: span[0]]
    if match := re.search(r"\b([Aa])n? $", before):
        before = f"{before[: match.start()]}{match[1]}{'n' if _VOWEL.match(new_part) else ''} "
    return before + new_part + text[span[1] :]
