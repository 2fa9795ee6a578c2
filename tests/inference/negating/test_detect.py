"""Negations that a sentence holds already, and words that only look like one."""

from __future__ import annotations

import pytest

from inference.negating import detect
from inference.negating.words import segment_japanese_sentence_into_words

HOLDING = """
犬が走らない。
犬は走りません。
父は笑わなかった。
駅まで歩かずに帰る。
誰も知らぬ話だ。
庭に池が無い。
お金がなくて困る。
静かではない町だ。
晴れなければ泳げる。
二度と行くまい。
不規則な音がする。
未舗装の道を走る。
袖なしの服を着る。
"""
HOLDING_NONE = """
犬が走る。
量が少ない。
雨が降るかもしれない。
彼が来るに違いない。
早く帰らなければならない。
毎日走らざるを得ない。
この話はつまらない。
思わず笑った。
切ない歌を聞く。
祖父が亡くなる。
不安な夜だ。
"""


@pytest.mark.parametrize("sentence", HOLDING.split())
def test_a_negation_is_found(sentence):
    pytest.importorskip("fugashi")
    assert detect.has_japanese_negation(sentence, segment_japanese_sentence_into_words(sentence))


@pytest.mark.parametrize("sentence", HOLDING_NONE.split())
def test_what_denies_nothing_is_no_negation(sentence):
    pytest.importorskip("fugashi")
    assert not detect.has_japanese_negation(sentence, segment_japanese_sentence_into_words(sentence))


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("She does not run.", True),
        ("She doesn't run.", True),
        ("She doesn’t run.", True),
        ("NOBODY runs.", True),
        ("There is no tea.", True),
        ("He left without tea.", True),
        ("She cannot run.", True),
        ("The knot is tight.", False),
        ("Notice the north.", False),
    ],
)
def test_english_words_that_deny(sentence, holds):
    assert detect.has_english_negation(sentence) is holds
