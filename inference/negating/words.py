"""Analyse Japanese sentences with MeCab and UniDic: their words with part of speech, inflected and dictionary form."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f々〆]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word (morpheme) of a sentence, as UniDic describes it.

    Attributes
    ----------
    written, start, end
        The word as it stands in the sentence, and its place: characters `start` to `end`.
    pos
        Part of speech, pos1 to pos4 with a hyphen between: 動詞-非自立可能.
    inflection, form
        Type of conjugation (cType) and inflected form (cForm); "*" for a word that does not inflect.
    base
        The dictionary form, spelled as the word is spelled: いる of い, 居る of 居.
    lemma
        The dictionary form in UniDic's own spelling, the same for all spellings.
    """

    written: str
    start: int
    end: int
    pos: str
    inflection: str
    form: str
    base: str
    lemma: str


def segment_japanese_sentence_into_words(sentence: str) -> list[Word]:
    """Return the words of a sentence in order; white space belongs to none."""
    words = []
    end = 0
    for node in _load_unidic_tagger()(sentence):
        start = end + len(node.white_space)
        end = start + len(node.surface)
        features = node.feature
        pos = "-".join(part for part in features[:4] if part != "*")
        # A word that UniDic does not know has fewer features.
        words.append(
            Word(
                node.surface,
                start,
                end,
                pos,
                features.cType or "*",
                features.cForm or "*",
                features.orthBase or node.surface,
                features.lemma or node.surface,
            )
        )
    return words


@functools.cache
def _load_unidic_tagger() -> Any:
    """Load fugashi's tagger with the dictionary unidic-lite, once per process."""
    import fugashi
    import unidic_lite  # named, because fugashi would look for other dictionaries, too

    return fugashi.Tagger(f'-d "{unidic_lite.DICDIR}" -r "{unidic_lite.DICDIR}/mecabrc"')
