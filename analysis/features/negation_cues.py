"""Count negation cues, words that negate, with lists of our own. What a cue negates is not analysed.

The lists are in `negation_cues.toml`, with their sources. In all languages affixes (un-, non-) and verbs that imply a
negation (to lack) are no cues, and neither are phrases that deny nothing: "not only", "isn't it?", "must" in Japanese.
Words that negate together in a clause (ne ... jamais, no ... nada) are one cue.
"""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.features.component import Component, MissingComponent
from analysis.features.words import (
    UNSPACED,
    describe_missing_japanese_packages,
    name_word_tokenizer,
    split_japanese_into_short_unit_tokens,
)

COLUMNS = ("negation_cues",)
_LISTS = Path(__file__).with_suffix(".toml")
_KINDS = ("cues", "negators", "neither", "joining")


def count_negation_cues(text: str, language: str) -> int:
    """Count the negation cues of a text.

    Parameters
    ----------
    text, language
        A text, and the first part of its language's code: one of `list_negation_languages`. Japanese needs fugashi and
        UniDic.

    Returns
    -------
    int
        Words that negate, those that negate together in a clause counted once.

    >>> count_negation_cues("Nobody can't see why not; it is a knot.", "en")
    3
    >>> count_negation_cues("Il n'a jamais menti à personne.", "fr")
    1
    """
    patterns = _compile_negation_cue_patterns(language)
    if language == "ja":
        words = read_negation_lists()["ja"]["words"]
        tokens = split_japanese_into_short_unit_tokens(patterns["not_cues"].sub("、", text))
        return sum([token.feature.pos1, token.feature.lemma] in words for token in tokens)
    plain_text = unicodedata.normalize("NFC", " ".join(text.split())).replace("’", "'")
    if language == "zh":
        plain_text = plain_text.translate(_build_traditional_to_simplified_map())
    # What denies nothing becomes a word that is no cue, so that its neighbours do not meet.
    kept_text = patterns["not_cues"].sub(" _ ", plain_text)
    clauses = patterns["clauses"].split(kept_text) if "clauses" in patterns else [kept_text]
    return sum(_count_clause_cues(clause, patterns) for clause in clauses)


@functools.cache
def _build_traditional_to_simplified_map() -> Mapping[int, int]:
    """Map the traditional characters of the Chinese lists to the simplified ones, once."""
    lists = read_negation_lists()["zh"]
    return str.maketrans(lists["traditional"], lists["simplified"])


def _count_clause_cues(clause: str, patterns: Mapping[str, re.Pattern[str]]) -> int:
    """Count the cues of a clause: words that negate together, as in "no ... nada", count as its negators do."""
    cues, negators, neither, joining = (
        sum(1 for _ in patterns[kind].finditer(clause)) if kind in patterns else 0 for kind in _KINDS
    )
    return cues + max(negators, neither, min(joining, 1))


@functools.cache
def read_negation_lists() -> Mapping[str, Mapping[str, Any]]:
    """Read the lists of all languages, once."""
    return tomllib.loads(_LISTS.read_text(encoding="utf-8"))


@functools.cache
def _compile_negation_cue_patterns(language: str) -> Mapping[str, re.Pattern[str]]:
    """Compile the lists of a language, once."""
    edge = "" if language in UNSPACED else r"\b"
    patterns = {
        name: re.compile("|".join(_add_word_boundaries(part, edge) for part in parts), re.IGNORECASE)
        for name, parts in read_negation_lists()[language].items()
        if name in _KINDS or name == "not_cues"
    }
    if "clauses" in read_negation_lists()[language]:
        patterns["clauses"] = re.compile(read_negation_lists()[language]["clauses"], re.IGNORECASE)
    return patterns


def _add_word_boundaries(part: str, edge: str) -> str:
    """Put word boundaries around a part of a pattern, but not beside a punctuation mark or the start of a clause."""
    return f"{'' if part[0] in '^,[' else edge}(?:{part}){'' if part.endswith('?') and part[-2] == chr(92) else edge}"


def list_negation_languages() -> list[str]:
    """List the codes of the languages that have negation cues here, sorted."""
    return sorted(read_negation_lists())


def build_negation_cue_component(language: str) -> Component | MissingComponent:
    """Return the component of negation_cues; missing for a language without a list.

    Parameters
    ----------
    language
        The first part of a language's code.
    """
    languages = list_negation_languages()
    if language not in languages:
        reason = f"no list of negation cues for {language!r}, only for {', '.join(languages)}"
        return MissingComponent(COLUMNS, reason)
    if language == "ja" and (unavailable := describe_missing_japanese_packages()):
        return MissingComponent(COLUMNS, unavailable)
    identity = {"name": "list of negation cues", "version": "2"}
    if language == "ja":
        identity["lemmas"] = f"by {name_word_tokenizer(language)}"

    def measure_texts(texts: Sequence[str]) -> dict[str, list[float]]:
        """Count the negation cues of every text."""
        return {"negation_cues": [float(count_negation_cues(text, language)) for text in texts]}

    return Component(COLUMNS, identity, lambda: measure_texts)
