"""The strict rule for texts: what is an answer, and what is not although people would read it as one."""

from __future__ import annotations

import pytest

from inference.protocols.choice.reply import VERSION, chosen

LETTERS = "ABCD"
PLAIN = "Question: What colour is grass?\nA. red\nB. green\nAnswer:"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: B. green\n\nReasoning: Grass is green.", "B"),  # Figure 5 of the paper
        ("Reasoning: Grass is green.\n\nAnswer: B. green", "B"),  # Figure 6
        ("Paraphrase: Which colour has grass?\nAnswer: B. green\nReasoning: It is.", "B"),  # Figure 8
        ("Answer: B", "B"), ("Answer: B.", "B"), ("Answer: B.green", "B"), ("Answer: B  ", "B"),
        ("Answer: B\r\nReasoning: It is.", "B"),
        ("Answer: B. red", "B"),  # the letter decides
        ("Answer: A. red\nAnswer: B. green", "A"),  # the first line decides
        ("\n\nAnswer: D. blue", "D"),
    ],
)  # fmt: skip
def test_what_is_an_answer(text: str, letter: str) -> None:
    assert chosen(text, LETTERS) == letter


@pytest.mark.parametrize(
    "text",
    [
        "", "B", "B. green", "The answer is B.", "answer: B. green", "ANSWER: B. green", "Answer : B. green",
        "Answer:B. green", "Answer:  B. green", "Answer:\tB. green", "Answer:\nB. green", "Answer: ",
        "Answer: b. green", "Answer: (B) green", "Answer: B) green", "Answer: B green", "Answer: B, green",
        "Answer: Blue", "Answer: BC", "Answer: A or B", "Answer: **B**. green", "**Answer: B. green**",
        " Answer: B. green", "- Answer: B. green", "Final Answer: B. green", "So Answer: B. green",
        "Answer: E. none of them",  # no such choice was shown
        "Answer: \u0412. green",  # a Cyrillic letter
        "Answer: \uff22. green",  # a wide letter
        "Answer: none\nAnswer: B. green",  # a later line does not mend the first one
        "Reasoning: the prefix is 'Answer: B.'",
    ],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    assert chosen(text, LETTERS) is None


@pytest.mark.parametrize(
    "text", [" B. green", " B", "B", "B.", "\nB. green", " B. green\nReasoning: so.\nAnswer: A. red"]
)
def test_a_text_goes_on_from_a_prompt_that_ends_in_answer(text: str) -> None:
    assert chosen(text, LETTERS, PLAIN) == chosen(text, LETTERS, f"{PLAIN} ") == "B"


def test_what_goes_on_from_a_prompt_is_as_strict() -> None:
    for text in (" green", " b", " (B)", " The answer is B.", " Answer: B. green", "", " E. none"):
        assert chosen(text, LETTERS, PLAIN) is None
    assert chosen(" B. green", LETTERS, PLAIN.replace("Answer:", "Reasoning:")) is None
    assert chosen(" It is.\nAnswer: B. green", LETTERS, PLAIN.replace("Answer:", "Reasoning:")) == "B"


def test_the_letters_are_those_of_the_question() -> None:
    assert chosen("Answer: C. blue", "AB") is None
    assert chosen("Answer: Z. blue", "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "Z"


def test_a_changed_rule_has_another_number() -> None:
    """Whoever changes an example above changes the number, too: old runs say by which rule they were read."""
    assert VERSION == 1
