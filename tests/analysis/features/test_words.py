"""Features of words and edit similarity, counted by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.features import similarity, words
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


@pytest.mark.slow
def test_word_frequency_is_asked_in_the_language_of_the_text():
    wordfreq = pytest.importorskip("wordfreq")
    values = {}
    for language in ("en", "de"):
        measure = words.build_frequency_component(language).load()
        values[language] = measure(["the house"])["word_frequency"]
        expected = (wordfreq.zipf_frequency("the", language) + wordfreq.zipf_frequency("house", language)) / 2
        assert values[language] == [pytest.approx(expected)]
    assert values["en"][0] > 6 > values["de"][0]


@pytest.mark.parametrize(
    ("language", "text", "cut_words"),
    [
        ("fr", "L'eau n'est pas là, aujourd'hui !", ["L'eau", "n'est", "pas", "là", "aujourd'hui"]),
        ("it", "«L'acqua» è fredda.", ["L'acqua", "è", "fredda"]),
        ("es", "¿No lo crees?", ["No", "lo", "crees"]),
        ("nl", "Zo'n auto - 's avonds.", ["Zo'n", "auto", "s", "avonds"]),
        ("en", "Don't stop, well-known!", ["Dont", "stop", "wellknown"]),  # as the published code
    ],
)
@pytest.mark.slow
def test_words_are_looked_up_as_their_language_writes_them(language, text, cut_words):
    wordfreq = pytest.importorskip("wordfreq")
    (value,) = words.build_frequency_component(language).load()([text])["word_frequency"]
    assert value == pytest.approx(sum(wordfreq.zipf_frequency(word, language) for word in cut_words) / len(cut_words))
    assert value > 3


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
    assert words.split_text_into_words(text, "ja") == ["犬", "は", "猫", "より", "大きい", "です", "か"]
    assert words.count_statement_words(text, "ja") == 7
    assert words.compute_mean_word_length(text, "ja") == pytest.approx((1 + 1 + 1 + 2 + 3 + 2 + 1) / 7)


@fugashi
def test_japanese_frequency():
    wordfreq = pytest.importorskip("wordfreq")
    pytest.importorskip("ipadic")
    expected = (wordfreq.zipf_frequency("犬", "ja") + wordfreq.zipf_frequency("だ", "ja")) / 2
    assert words.build_frequency_component("ja").load()(["犬だ。"]) == {"word_frequency": [pytest.approx(expected)]}
    assert expected > 4


def textbook_distance(one: str, other: str) -> int:
    """Levenshtein distance, cell by cell."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        previous, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (a != b)))
    return row[-1]


@pytest.mark.slow
@given(st.text(alphabet="abcé雨 ", max_size=90), st.text(alphabet="abcé雨 ", max_size=90))
def test_bit_parallel_distance_is_the_textbook_distance(one, other):
    assert similarity.EditPattern(one).compute_edit_distance(other) == textbook_distance(one, other)


@pytest.mark.slow
@given(st.text(max_size=20), st.text(max_size=20))
def test_similarity_is_symmetric_and_one_for_equal_texts_only(one, other):
    value = similarity.EditPattern(one).compute_edit_similarity(other)
    assert value == similarity.EditPattern(other).compute_edit_similarity(one)
    assert 0 <= value <= 1
    assert (value == 1) == (one == other)


def test_similarities_to_the_original():
    pairs = [("abcd", "abcd"), ("abcd", " abcd "), ("abcd", "abed"), (None, "abcd"), ("x", "abcd"), ("a b", "a  b")]
    assert list(similarity.iterate_edit_similarities(pairs)) == pytest.approx([1, 1, 0.75, math.nan, 0, 1], nan_ok=True)
