"""Which checks a call names, and the baseline of shared words."""

from __future__ import annotations

import math
import re

import pytest

from ground.errors import InputError
from inference.meaning.checks import parse_meaning_checks
from inference.meaning.words import compute_jaccard_index_of_words


def test_checks_are_named_by_kind_and_model(tmp_path):
    (tmp_path / "nli").mkdir()
    checks = parse_meaning_checks(
        ["words", f"entailment={tmp_path / 'nli'}", "judge=big=owner/model", "similarity=owner/st"]
    )
    assert [check.name for check in checks] == ["words", "entailment:nli", "judge:big", "similarity:owner/st"]
    assert checks[2].model.source == "owner/model" and checks[0].model is None


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["simlarity=m"], r"no check 'simlarity' \(the nearest is 'similarity'\)"),
        (["bleu"], "no check 'bleu'; words, similarity=MODEL"),
        (["entailment"], "which model. write entailment=MODEL"),
        (["words=m"], "shared words need no model"),
        (["words", "words"], "named twice"),
        (["judge=a/m", "judge=a/m"], "named twice"),
        (["judge=demo"], "name one"),
        (["entailment=./nobody"], "--check entailment ./nobody: no such folder"),
    ],
)
def test_wrong_checks_are_named(texts, message):
    with pytest.raises(InputError, match=message):
        parse_meaning_checks(texts)


def slow_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hot tea is good.", "A hot tea is a good thing!"),
        ("Tea", "coffee"),
        ("One one two", "two THREE, four"),
    ],
)
def test_shared_words_are_the_jaccard_index_of_plain_words(one, other):
    """Reference: the definition, for words of letters from a to z; no tolerance."""
    mine, theirs = slow_words(one), slow_words(other)
    assert compute_jaccard_index_of_words(one, other) == len(mine & theirs) / len(mine | theirs)
    assert compute_jaccard_index_of_words(one, other) == compute_jaccard_index_of_words(other, one)


def test_words_fold_and_japanese_letters_count_one_by_one():
    assert compute_jaccard_index_of_words("Ｈｏｔ ＴＥＡ", "hot tea.") == 1  # full-width letters
    assert compute_jaccard_index_of_words("don't go", "DON'T GO!") == 1
    assert compute_jaccard_index_of_words("お茶は良い", "お茶が良い") == 4 / 6  # by hand: お茶良い of お茶はが良い
    assert compute_jaccard_index_of_words("日本へtrip", "日本 trip") == 3 / 4
    assert math.isnan(compute_jaccard_index_of_words("...", "!"))
