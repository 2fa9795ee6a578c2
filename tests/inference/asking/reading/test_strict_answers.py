"""The strict rule beside the lenient one, and the columns that say how every text was read."""

from __future__ import annotations

import pytest

from inference.asking.reading.strict_answers import find_option_equal_to_text
from inference.asking.rounds import build_columns_of_response
from inference.engines.contract import Generation
from inference.protocols.choice.reading import build_columns_of_majority_choice
from inference.stimuli.study import Option, Variant
from inference.stimuli.templates.prompts import Prompt

LABELS = {"agree": ["agree", "yes"], "disagree": ["disagree", "no"]}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("agree", "agree"),
        (" YES. ", "agree"),
        ("Disagree.\n", "disagree"),
        ("no 。", "disagree"),
        ("agree..", None),
        ("**Agree**", None),
        ("I agree.", None),
        ("agree!", None),
        ("", None),
        (".", None),
    ],
)
def test_a_strict_answer_is_the_whole_text(text, answer):
    assert find_option_equal_to_text(text, LABELS) == answer


def test_a_wording_with_a_full_stop_of_its_own_is_equal_to_itself():
    assert find_option_equal_to_text("e.g.", {"a": ["e.g."], "b": ["i.e."]}) == "a"
    assert find_option_equal_to_text("e.g..", {"a": ["e.g."], "b": ["i.e."]}) == "a"


def test_every_text_of_options_in_words_is_read_by_both_rules():
    variant = Variant("1", "original", "original", "Text.", (Option("agree", "agree"), Option("disagree", "disagree")))
    texts = ("Yes.", "I agree.", "What?", "<think> no")
    columns = build_columns_of_response(
        variant,
        Prompt("Text.", None, tuple(map(tuple, LABELS.values()))),
        Generation(texts, ("Yes.", "I agree.", "What?", None)),
    )
    assert columns == {
        "output": list(texts),
        "count": [2, 0],
        "invalid": 2,
        "answer": "agree",
        "sample_answer": ["agree", "agree", None, None],
        "sample_answer_otherwise": ["agree", None, None, None],
    }


@pytest.mark.parametrize(
    ("reading", "main", "other"),
    [("letter", ["A", "B", None], ["A", None, None]), ("strict", ["A", None, None], ["A", "B", None])],
)
def test_every_text_of_a_choice_is_read_by_both_readings(reading, main, other):
    options = (Option("A", "B"), Option("B", "A"))
    attributes = {"choice_A": "red", "choice_B": "blue"}
    variant = Variant("1", "original", "original", "Which?", options, attributes=attributes)
    texts = ("Answer: A. blue", "**B**", "What?")
    columns = build_columns_of_majority_choice(
        variant, Prompt(None, ({"role": "user", "content": "Which?"},), (("A",), ("B",))), Generation(texts, texts),
        reading,
    )  # fmt: skip
    assert columns["sample_answer"] == main and columns["sample_answer_otherwise"] == other
    assert columns["read_otherwise"] == 1
    assert columns["count"] == [main.count("A"), main.count("B")] and columns["invalid"] == main.count(None)
