"""Features of words, negation cues and edit similarity, counted by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.features import negation_cues, similarity, words
from analysis.features.component import MissingComponent

fugashi = pytest.mark.skipif(
    not words.find_installed_version("fugashi") or not words.find_installed_version("unidic-lite"),
    reason="needs fugashi and UniDic",
)


@pytest.mark.parametrize(
    ("text", "length", "statement"),
    [
        ("Cats sleep.", (4 + 5) / 2, 2),
        ("Well-known facts, aren't they?", (9 + 5 + 5 + 4) / 4, 4),  # punctuation goes inside words too
        ("One - two", (3 + 3) / 2, 3),  # a dash is a white-space word, but none with letters
        ("  spaced   out  ", (6 + 3) / 2, 2),
        ("“Curly” isn’t ASCII…", (5 + 4 + 5) / 3, 3),
        ("costs $5 + tax", (5 + 1 + 3) / 3, 4),  # string.punctuation holds $ and +
        ("Größe", 5, 1),
    ],
)
def test_word_and_statement_length(text, length, statement):
    assert words.compute_mean_word_length(text) == pytest.approx(length)
    assert words.count_statement_words(text) == statement


@pytest.mark.parametrize("text", ["", "  ", "...", "- –"])
def test_without_a_word_means_are_undefined_and_not_zero(text):
    assert math.isnan(words.compute_mean_word_length(text))
    assert math.isnan(words.compute_mean_word_frequency(text, "en", lambda word: 1.0))


def test_word_frequency_is_the_mean_over_words_without_punctuation():
    seen = {"The": 7.0, "cats": 4.0, "dont": 5.0}
    assert (
        words.compute_mean_word_frequency("The cats, the… don't!", "en", {**seen, "the": 7.0}.__getitem__)
        == (7 + 4 + 7 + 5) / 4
    )


def test_word_frequency_is_asked_in_the_language_of_the_text():
    wordfreq = pytest.importorskip("wordfreq")
    values = {}
    for language in ("en", "de"):
        measure = words.build_frequency_component(language).load()
        values[language] = measure(["the house"])["word_frequency"]
        expected = (wordfreq.zipf_frequency("the", language) + wordfreq.zipf_frequency("house", language)) / 2
        assert values[language] == [pytest.approx(expected)]
    assert values["en"][0] > 6 > values["de"][0]


def test_an_unknown_word_has_the_lowest_frequency_and_an_unknown_language_none():
    pytest.importorskip("wordfreq")
    assert words.build_frequency_component("en").load()(["qzxvbrrk"]) == {"word_frequency": [0.0]}
    assert words.build_frequency_component("tlh") == MissingComponent(
        words.FREQUENCY, f"wordfreq {words.find_installed_version('wordfreq')} has no word list for 'tlh'"
    )


@pytest.mark.parametrize("language", ["zh", "th"])
def test_languages_without_spaces_are_not_cut_at_spaces(language):
    for part in (words.build_length_component(language), words.build_frequency_component(language)):
        assert isinstance(part, MissingComponent)
        assert "without spaces" in part.reason


@fugashi
def test_japanese_words_are_unidic_short_units_without_punctuation():
    text = "犬は、猫より大きいですか？"
    assert words.split_words(text, "ja") == ["犬", "は", "猫", "より", "大きい", "です", "か"]
    assert words.count_statement_words(text, "ja") == 7
    assert words.compute_mean_word_length(text, "ja") == pytest.approx((1 + 1 + 1 + 2 + 3 + 2 + 1) / 7)


@fugashi
def test_japanese_frequency():
    wordfreq = pytest.importorskip("wordfreq")
    pytest.importorskip("ipadic")
    expected = (wordfreq.zipf_frequency("犬", "ja") + wordfreq.zipf_frequency("だ", "ja")) / 2
    assert words.build_frequency_component("ja").load()(["犬だ。"]) == {"word_frequency": [pytest.approx(expected)]}
    assert expected > 4


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Taxes are fair.", 0),
        ("Taxes are not fair, and no one pays them.", 2),
        ("You can't, you cannot and you won’t.", 3),
        ("Neither here nor there, NEVER without hope.", 4),
        ("Nothing is known about the northern knot; note it.", 1),
        ("It is unfair and hardly non-violent.", 1),  # affixes are no cues
    ],
)
def test_english_negation_cues(text, count):
    assert negation_cues.count_english_negation_cues(text) == count


@fugashi
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("雨が降る。", 0),
        ("雨が降らない。", 1),
        ("お金がなくて、本を買えなかった。", 2),
        ("それは正しくありません。", 1),
        ("彼は来ず、電話もなしだった。", 2),
        ("もう行くまい。", 1),
        ("雨が降るかもしれない。", 0),  # "may"
        ("雨が降らないかもしれない。", 1),
        ("学校へ行かなければならない。", 0),  # "must"
        ("人数が少ない。", 0),  # an adjective that ends in nai
    ],
)
def test_japanese_negation_cues(text, count):
    assert negation_cues.count_japanese_negation_cues(text) == count


def test_negation_cues_of_other_languages_are_missing():
    assert negation_cues.build_negation_cue_component("de") == MissingComponent(
        negation_cues.COLUMNS, "no list of negation cues for 'de', only for en and ja"
    )


def textbook_distance(one: str, other: str) -> int:
    """Levenshtein distance, cell by cell."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        previous, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (a != b)))
    return row[-1]


@given(st.text(alphabet="abcé雨 ", max_size=90), st.text(alphabet="abcé雨 ", max_size=90))
def test_bit_parallel_distance_is_the_textbook_distance(one, other):
    assert similarity.EditPattern(one).compute_edit_distance(other) == textbook_distance(one, other)


@given(st.text(max_size=20), st.text(max_size=20))
def test_similarity_is_symmetric_and_one_for_equal_texts_only(one, other):
    value = similarity.EditPattern(one).compute_edit_similarity(other)
    assert value == similarity.EditPattern(other).compute_edit_similarity(one)
    assert 0 <= value <= 1
    assert (value == 1) == (one == other)


def test_similarities_to_the_original():
    pairs = [("abcd", "abcd"), ("abcd", " abcd "), ("abcd", "abed"), (None, "abcd"), ("x", "abcd"), ("a b", "a  b")]
    assert list(similarity.compute_edit_similarities(pairs)) == pytest.approx([1, 1, 0.75, math.nan, 0, 1], nan_ok=True)
