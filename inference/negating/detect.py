"""Tell whether a sentence holds a negation already: then it takes no other (Yoshida et al., section 3.1.2)."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inference.negating.words import Word
from inference.stimuli.reading.files import read_yaml

CUES = Path(__file__).parent / "detection.yaml"


def has_japanese_negation(sentence: str, words: Sequence[Word]) -> bool:
    """Tell whether a Japanese sentence holds a negation: ない, ず and their forms, the adjective 無い, a prefix as 不.

    Fixed phrases in which these words deny nothing do not count (`detection.yaml`).

    Parameters
    ----------
    sentence
        The sentence.
    words
        Its words, as `words.segment_japanese_sentence_into_words` finds them.

    Returns
    -------
    Whether one of these words stands outside every such phrase.
    """
    cues, phrases = _read_japanese_cues_and_fixed_phrases()
    places = [
        word.start for word in words if any(word.pos.startswith(pos) and word.lemma in lemmas for pos, lemmas in cues)
    ]
    phrase_spans = [match.span() for match in phrases.finditer(sentence)] if places else []
    return any(not any(start <= place < end for start, end in phrase_spans) for place in places)


def has_english_negation(sentence: str) -> bool:
    """Tell whether an English sentence holds a negation: not, n't, no, never, nothing, without ..."""
    return _compile_english_negation_words().search(sentence.replace("’", "'")) is not None


@functools.cache
def _read_japanese_cues_and_fixed_phrases() -> tuple[Sequence[tuple[str, frozenset[str]]], re.Pattern[str]]:
    """Read the negations of Japanese as (part of speech, lemmas), and the pattern of phrases that are none."""
    content = _read_negation_cues_by_language()["ja"]
    cues = [(entry["pos"], frozenset(entry["lemmas"])) for entry in content["words"]]
    return cues, re.compile("|".join(content["phrases"]))


@functools.cache
def _compile_english_negation_words() -> re.Pattern[str]:
    """Compile the pattern of English words that negate."""
    words = "|".join(map(re.escape, _read_negation_cues_by_language()["en"]["words"]))
    return re.compile(rf"\b(?:{words})\b|n't\b", re.IGNORECASE)


def _read_negation_cues_by_language() -> Any:
    """Read the data file of words that negate and of phrases that are no negation, by language."""
    return read_yaml(CUES)
