"""Count negation cues, words that negate, with lists of our own. What a cue negates is not analysed."""

from __future__ import annotations

import re
from collections.abc import Callable

from analysis.features.component import Component, Missing
from analysis.features.words import cutter, japanese_missing, tag_japanese

COLUMNS = ("negation_cues",)
# Clausal and approximate negators; affixes (un-, non-) and verbs that imply a negation (to lack) are left out.
ENGLISH = (
    "no", "not", "cannot", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without",
    "hardly", "scarcely", "barely", "rarely", "seldom",
)  # fmt: skip
_ENGLISH = re.compile(rf"\b(?:{'|'.join(ENGLISH)})\b|n['’]t\b", re.IGNORECASE)
# (UniDic part of speech, lemma): the auxiliaries nai, zu (also n, nu), mai; the adjective nai; the noun nashi.
JAPANESE = frozenset({("助動詞", "ない"), ("助動詞", "ず"), ("助動詞", "まい"), ("形容詞", "無い"), ("名詞", "無し")})
# Negative in form, not in meaning: "may", "no doubt", and the ways to say "must".
_MODAL = re.compile(
    r"かもしれ(?:ない|なく|なかっ|ませ?ん)|に違い(?:ない|なく|なかっ|ありません)"
    r"|ざるを得(?:ない|なく|なかっ|ませ?ん)"
    r"|(?:なければ|なくては|ないと|なきゃ|なくちゃ|ねば)(?:なら|いけ)(?:ない|なく|なかっ|ず|ぬ|ませ?ん)"
)


def english(text: str) -> int:
    """Count the negation cues of an English text.

    >>> english("Nobody can't see why not; it is a knot.")
    3
    """
    return len(_ENGLISH.findall(text))


def japanese(text: str) -> int:
    """Count the negation cues of a Japanese text, by lemma; needs fugashi and UniDic."""
    return sum((token.feature.pos1, token.feature.lemma) in JAPANESE for token in tag_japanese(_MODAL.sub("、", text)))


_COUNTERS: dict[str, Callable[[str], int]] = {"en": english, "ja": japanese}


def cues(language: str) -> Component | Missing:
    """Return the component of negation_cues, for English and Japanese."""
    if language not in _COUNTERS:
        return Missing(COLUMNS, f"no list of negation cues for {language!r}, only for {' and '.join(_COUNTERS)}")
    if language == "ja" and (unavailable := japanese_missing()):
        return Missing(COLUMNS, unavailable)
    count = _COUNTERS[language]
    identity = {"name": "list of negation cues", "version": "1"}
    if language == "ja":
        identity["lemmas"] = f"by {cutter(language)}"
    return Component(COLUMNS, identity, lambda: lambda texts: {"negation_cues": [float(count(text)) for text in texts]})
