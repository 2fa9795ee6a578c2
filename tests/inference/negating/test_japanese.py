"""Sentences of our own, and all negations that the rule table makes of each: written by hand, letter for letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.negating.japanese import generate_japanese_negations
from inference.negating.rules import read_rule_table
from inference.negating.words import segment_japanese_sentence_into_words
from inference.protocols.negation.negate import sentences

pytest.importorskip("fugashi")
pytest.importorskip("unidic_lite")

EXPECTED = (Path(__file__).parent / "japanese.txt").read_text(encoding="utf-8").splitlines()[1:]
CASES = [[part.strip() for part in line.split("|")] for line in EXPECTED]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[sentence for sentence, _ in CASES])
def test_every_place_takes_a_negation_and_its_neighbours_follow(sentence, expected):
    made = [
        negation.text
        for negation in generate_japanese_negations(sentence, segment_japanese_sentence_into_words(sentence))
    ]
    assert made == ([] if expected == "-" else expected.split(" / "))


EXAMPLES = [rule.example for rule in read_rule_table().rules if rule.writes]


@pytest.mark.parametrize("example", EXAMPLES, ids=[source for source, _ in EXAMPLES])
def test_every_rule_makes_its_example(example):
    """Not only the sentence comes out: this very rule makes it, so no rule before it takes all its places."""
    source, expected = example
    words = segment_japanese_sentence_into_words(source)
    (rule,) = (rule for rule in read_rule_table().rules if rule.example == example)
    assert expected in [negation.text for negation in generate_japanese_negations(source, words)]
    kinds = {*rule.kinds, "verb", "adjective", "adjectival verb"}
    assert any(
        read_rule_table().find_first_rule_fitting_word(kind, words, place) is rule
        for place in range(len(words))
        for kind in kinds
    )


def test_a_rule_makes_a_negation_or_says_why_it_makes_none():
    from inference.negating.rules import TABLE
    from inference.stimuli.reading.files import read_yaml

    for entry in read_yaml(TABLE)["rules"]:
        assert ("writes" in entry) == ("example" in entry) != ("leaves" in entry), entry


@pytest.mark.parametrize(
    ("sentence", "position", "target_pos", "insertion"),
    [
        ("犬が走る。", "end", "動詞", "ない"),
        ("犬が走ります。", "end", "動詞", "ん"),
        ("犬が走ります", "end", "動詞", "ん"),
        ("犬が走りますか。", "mid", "動詞", "ん"),
        ("犬が走った。", "mid", "動詞", "なかっ"),
        ("犬が走りました。", "mid", "動詞", "ん"),
        ("「犬が走る！」", "end", "動詞", "ない"),
        ("犬が走り、止まれ。", "mid", "動詞", "ず"),
        ("空は青い。", "end", "形容詞", "ない"),
        ("空は青いです。", "mid", "形容詞", "ない"),
        ("海は静かです。", "end", "形容動詞", "ん"),
        ("海は静かでした。", "mid", "形容動詞", "ん"),
    ],
)
def test_the_end_is_right_before_the_last_punctuation(sentence, position, target_pos, insertion):
    (negation,) = generate_japanese_negations(sentence, segment_japanese_sentence_into_words(sentence))
    assert (negation.position, negation.target_pos, negation.insertion) == (position, target_pos, insertion)


def test_a_long_sentence_takes_as_many_negations_as_it_has_places():
    sentence = "犬が走って、" * 50 + "猫が寝る。"
    assert len(sentence) > 300
    (made,) = sentences.iterate_negations_or_reasons([sentence], "ja")
    assert len(made) == 51
    assert all(each.text.replace("走らず", "走って").replace("寝ない", "寝る") == sentence for each in made)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("", sentences.EMPTY),
        ("The dog runs.", sentences.FOREIGN),
        ("。。。", sentences.FOREIGN),
        ("１２３", sentences.FOREIGN),
        ("東京都千代田区", sentences.NO_TARGET),
        ("これは本です。", sentences.NO_TARGET),
        ("さあ、行こう。", sentences.NO_PLACE),
        ("犬が走らない。", sentences.NEGATED),
        ("走る。" * 1000, sentences.LONG),
    ],
)
def test_a_sentence_without_negations_has_a_reason(sentence, reason):
    assert list(sentences.iterate_negations_or_reasons([sentence], "ja")) == [reason]
