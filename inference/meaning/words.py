"""Count the words that a wording shares with its original: the baseline that any other check must beat."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LETTER = "\u3041-\u30ff\u3400-\u9fff"
# Japanese has no spaces: each of its letters counts as a word.
_WORD = re.compile(rf"[{_LETTER}]|[^\W_{_LETTER}]+(?:['’][^\W_{_LETTER}]+)*")


def compute_jaccard_index_of_words(original: str, text: str) -> float:
    """Compute the Jaccard index of two texts' words: how many they share, of those that either has.

    Parameters
    ----------
    original, text
        The texts; case, punctuation and the width of letters do not count.

    Returns
    -------
    0 to 1; NaN where neither has a word.

    Examples
    --------
    >>> compute_jaccard_index_of_words("Tea is good.", "Is TEA bad?")
    0.5
    """
    words, other_words = _find_folded_words_of_text(original), _find_folded_words_of_text(text)
    either = len(words | other_words)
    return len(words & other_words) / either if either else float("nan")


@lru_cache(maxsize=1024)
def _find_folded_words_of_text(text: str) -> frozenset[str]:
    """Find the words of a text, folded."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())))
