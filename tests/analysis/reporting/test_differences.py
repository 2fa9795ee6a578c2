"""Which words of two wordings are marked."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.reporting.words import differences
from analysis.reporting.words.differences import MOST_WORDS, split_texts_at_differences


def shown(text: str, other: str) -> str:
    return "".join(f"[{part}]" if differs else part for part, differs in split_texts_at_differences(text, other)[0])


def test_the_examples_are_right():
    assert doctest.testmod(differences).failed == 0


@pytest.mark.parametrize(
    ("text", "other", "marks"),
    [
        ("Tea is better than coffee.", "tea is better than beer.", "Tea is better than [coffee]."),
        ("I do not agree at all.", "I agree.", "I [do not] agree [at all]."),
        ("It’s tea", "It's  tea", "It’s tea"),
        ("この文は正しい。", "この文は誤りだ。", "この文は[正しい]。"),
        ("", "A word", ""),
        ("Same", "Same", "Same"),
        ("<b>tea</b>", "<i>tea</i>", "<[b]>tea</[b]>"),
    ],
)
def test_the_words_that_the_other_lacks_are_marked(text, other, marks):
    assert shown(text, other) == marks


@given(st.text(alphabet="ab 。の'\n", max_size=30), st.text(alphabet="ab 。の'\n", max_size=30))
@pytest.mark.slow
def test_no_letter_is_lost_and_both_sides_share_what_is_not_marked(one, other):
    first, second = split_texts_at_differences(one, other)
    assert ("".join(part for part, _ in first), "".join(part for part, _ in second)) == (one, other)
    same = ["".join("".join(part.split()) for part, differs in side if not differs) for side in (first, second)]
    assert same[0].casefold() == same[1].casefold()


def test_very_long_texts_are_not_compared():
    text = "a " * MOST_WORDS
    assert split_texts_at_differences(text, "b") == ([(text, False)], [("b", False)])
