"""Exchange the sides of Japanese comparisons, and nouns before particles; find names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from inference.meaning.decoys.sentences import Candidate, Sentence
from inference.negating.words import Word

# 紅茶はコーヒーよりおいしい, コーヒーより紅茶のほうがおいしい
_COMPARISONS = (
    re.compile(r"(?P<before>^|.*、)(?P<one>[^、はがより]+)(?P<middle>[はが])(?P<other>[^、]+?)(?P<after>より.*)"),
    re.compile(
        r"(?P<before>^|.*、)(?P<one>[^、]+?)(?P<middle>より(?:も)?、?)(?P<other>[^、]+?)(?P<after>の(?:ほう|方)[がは].*)"
    ),
    re.compile(r"(?P<before>^|.*、)(?P<one>[^、]+?)(?P<middle>より(?:も)?、?)(?P<other>[^、はが]+)(?P<after>[はが].*)"),
)
_PARTICLES = ("は", "が", "を", "に", "で", "へ", "から", "の")
# Nouns that say little are no other thing; those for minors are never put where others stood.
_NEVER = frozenset(
    re.findall(r"\S+", "ほう 方 こと 事 もの 物 ため 為 すべて 全て 子供 子ども 児童 生徒 少年 少女 赤ちゃん")
)
_JOINING = ("と", "や", "か", "・", "、", "および", "及び", "または", "又は")


def swap_sides_of_comparison(sentence: Sentence) -> Iterator[Candidate]:
    """Swap the two sides of a comparison with より.

    Parameters
    ----------
    sentence
        The sentence.

    Yields
    ------
    The sentence with its sides exchanged.
    """
    for pattern in _COMPARISONS:
        match = pattern.fullmatch(sentence.text.strip())
        if match and match["one"] != match["other"]:
            changed = f"{match['before']}{match['other']}{match['middle']}{match['one']}{match['after']}"
            yield Candidate(changed, f"{match['one']} <-> {match['other']}")
            return


def list_proper_names_with_spans(sentence: Sentence) -> list[tuple[int, int, str]]:
    """List the names (固有名詞).

    Parameters
    ----------
    sentence
        The sentence.

    Returns
    -------
    Start, end and name, in order.
    """
    return [(word.start, word.end, word.written) for word in sentence.words if word.pos.startswith("名詞-固有名詞")]


def swap_nouns(sentence: Sentence) -> Iterator[Candidate]:
    """Swap two nouns that stand alone before different particles; not those that と or や joins.

    Parameters
    ----------
    sentence
        The sentence.

    Yields
    ------
    Sentences with two nouns exchanged.
    """
    nouns = [place for place in range(len(sentence.words) - 1) if _is_lone_noun(sentence.words, place)]
    for one, other in combinations(nouns, 2):
        first, second = sentence.words[one], sentence.words[other]
        particles = [sentence.words[place + 1].written for place in (one, other)]
        is_joined = any(word.written in _JOINING for word in sentence.words[one + 1 : other])
        is_modifier = other == one + 2 and particles[0] == "の"  # 夏の朝
        if first.written != second.written and not (is_joined or is_modifier) and set(particles) != {"は", "が"}:
            text = sentence.text
            changed = (
                text[: first.start]
                + second.written
                + text[first.end : second.start]
                + first.written
                + text[second.end :]
            )
            yield Candidate(changed, f"{first.written} <-> {second.written}")


def _is_lone_noun(words: tuple[Word, ...], place: int) -> bool:
    """Tell whether a noun is no part of a longer one and stands before a particle."""
    before = words[place - 1].pos if place else ""
    return (
        words[place].pos.startswith("名詞-普通名詞")
        and not before.startswith(("名詞", "接頭辞"))
        and words[place + 1].written in _PARTICLES
        and words[place].written not in _NEVER
    )
