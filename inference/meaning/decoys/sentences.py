"""Analyse the sentence that decoys are made of: its language, its words, and a pipeline's tags where there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from ground.extras import convert_import_errors_to_install_advice
from inference.negating.words import JAPANESE, Word, segment_japanese_sentence_into_words
from inference.stimuli.languages import get_main_language
from inference.stimuli.study import Item, Variant

ENGLISH, JAPANESE_NAME = "en", "ja"
UNKNOWN = "its language is not known; write en or ja into the column language"
# Words that few other languages write so: one of them makes a sentence English, where no column says the language.
_ENGLISH_WORDS = re.compile(
    r"\b(?:the|and|that|should|than|you|your|with|which|who|how|when|because|if|their|they|there|were|does|what|this|these|"
    r"those|not|people|from|my|i|i'm|it|it's|she|her|his|is|isn't|are|aren't|has|have|can|cannot|must|would|could|every|"
    r"some|more|better|many|always|never|often|only)\b",
    re.IGNORECASE,
)


class Candidate(NamedTuple):
    """A sentence that may become a decoy, and what it was made from, for people."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """The original of an item, analysed.

    Attributes
    ----------
    item
        The item.
    text
        The original.
    language
        "en", "ja", another name that the items give, or "" where it is not known.
    doc
        Of English, what a spaCy pipeline makes of the text; None without a pipeline.
    words
        Of Japanese, the words; else empty.
    """

    item: Item
    text: str
    language: str
    doc: Any
    words: tuple[Word, ...]


def build_sentences_of_item_originals(items: Sequence[Item], pipeline: Any) -> list[Sentence]:
    """Analyse the originals of items; an item without one is left out.

    Parameters
    ----------
    items
        The items.
    pipeline
        A spaCy pipeline for English with tagger and parser, or None.

    Returns
    -------
    The sentences, in the order of the items.

    Raises
    ------
    InputError
        A text is Japanese, and the packages of the extra `japanese` are not installed.
    """
    originals = [(item, item.original.text, detect_language_of_item(item)) for item in items if item.original]
    english_texts = [text for _, text, language in originals if language == ENGLISH]
    docs = pipeline.pipe(english_texts) if pipeline is not None else repeat(None)
    sentences = []
    for item, text, language in originals:
        words: tuple[Word, ...] = ()
        if language == JAPANESE_NAME:
            with convert_import_errors_to_install_advice("decoys of Japanese items", "japanese"):
                words = tuple(segment_japanese_sentence_into_words(text))
        sentences.append(Sentence(item, text, language, next(docs) if language == ENGLISH else None, words))
    return sentences


def detect_language_of_item(item: Item) -> str:
    """Return the language of an item: what the column `language` says, else "en" or "ja" by script and common words.

    English and Japanese are "en" and "ja" without their region; "" where nothing tells.
    """
    names = (_find_wording_language(variant) for variant in item.variants)
    return next(filter(None, names), "")


def _find_wording_language(variant: Variant) -> str:
    """Return the language of one wording."""
    if variant.language:
        language = get_main_language(variant.language)
        return language if language in (ENGLISH, JAPANESE_NAME) else variant.language
    if JAPANESE.search(variant.text):
        return JAPANESE_NAME
    return ENGLISH if _ENGLISH_WORDS.search(variant.text.replace("’", "'")) else ""


def explain_language_without_rules(language: str) -> str:
    """Say why nothing is made of a sentence in a language without rules."""
    return f"there are rules for en and ja only, not for {language}" if language else UNKNOWN
