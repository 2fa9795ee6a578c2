"""Count negation cues, words that negate, with lists of our own. What a cue negates is not analysed."""

from __future__ import annotations

import re
from collections.abc import Callable

from analysis.features.component import Component, MissingComponent
from analysis.features.words import describe_missing_japanese_packages, name_word_cutter, tag_japanese

COLUMNS = ("negation_cues",)
# Clausal and approximate negators; affixes (un-, non-) and verbs that imply a negation (to lack) are left out.
ENGLISH_CUES = (
    "no", "not", "cannot", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without",
    "hardly", "scarcely", "barely", "rarely", "seldom",
)  # fmt: skip
_ENGLISH_PATTERN = re.compile(rf"\b(?:{'|'.join(ENGLISH_CUES)})\b|n['’]t\b", re.IGNORECASE)
# (UniDic part of speech, lemma): the auxiliaries nai, zu (also n, nu), mai; the adjective nai; the noun nashi.
JAPANESE_CUES = frozenset(
    {("助動詞", "ない"), ("助動詞", "ず"), ("助動詞", "まい"), ("形容詞", "無い"), ("名詞", "無し")}
)
# Negative in form, not in meaning: "may", "no doubt", and the ways to say "must".
_MODAL_PATTERN = re.compile(
    r"かもしれ(?:ない|なく|なかっ|ませ?ん)|に違い(?:ない|なく|なかっ|ありません)"
    r"|ざるを得(?:ない|なく|なかっ|ませ?ん)"
    r"|(?:なければ|なくては|ないと|なきゃ|なくちゃ|ねば)(?:なら|いけ)(?:ない|なく|なかっ|ず|ぬ|ませ?ん)"
)


def count_english_negation_cues(text: str) -> int:
    """Count the negation cues of an English text.

    >>> count_english_negation_cues("Nobody can't see why not; it is a knot.")
    3
    """
    return len(_ENGLISH_PATTERN.findall(text))


def count_japanese_negation_cues(text: str) -> int:
    """Count the negation cues of a Japanese text, by lemma; needs fugashi and UniDic."""
    return sum(
        (token.feature.pos1, token.feature.lemma) in JAPANESE_CUES
        for token in tag_japanese(_MODAL_PATTERN.sub("、", text))
    )


_COUNTERS: dict[str, Callable[[str], int]] = {"en": count_english_negation_cues, "ja": count_japanese_negation_cues}


def build_negation_cue_component(language: str) -> Component | MissingComponent:
    """Return the component of negation_cues, for English and Japanese."""
    if language not in _COUNTERS:
        return MissingComponent(
            COLUMNS, f"no list of negation cues for {language!r}, only for {' and '.join(_COUNTERS)}"
        )
    if language == "ja" and (unavailable := describe_missing_japanese_packages()):
        return MissingComponent(COLUMNS, unavailable)
    count = _COUNTERS[language]
    identity = {"name": "list of negation cues", "version": "1"}
    if language == "ja":
        identity["lemmas"] = f"by {name_word_cutter(language)}"
    return Component(COLUMNS, identity, lambda: lambda texts: {"negation_cues": [float(count(text)) for text in texts]})
