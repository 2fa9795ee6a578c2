"""The two readings of texts: what is an answer, and what is not although people would read it as one."""

from __future__ import annotations

import pytest

from inference.protocols.choice.reply import LETTER, READINGS, STRICT, VERSION, find_chosen_letter

CHOICES = {"A": "red", "B": "green", "C": "blue", "D": "yellow"}
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
def test_what_is_an_answer_by_both_readings(text: str, letter: str) -> None:
    assert {find_chosen_letter(text, CHOICES, reading=reading) for reading in READINGS} == {letter}


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
def test_what_is_none_by_the_strict_reading(text: str) -> None:
    assert find_chosen_letter(text, CHOICES, reading=STRICT) is None


@pytest.mark.parametrize(
    "text", [" B. green", " B", "B", "B.", "\nB. green", " B. green\nReasoning: so.\nAnswer: A. red"]
)
def test_a_text_goes_on_from_a_prompt_that_ends_in_answer(text: str) -> None:
    found = {find_chosen_letter(text, CHOICES, plain, way) for plain in (PLAIN, f"{PLAIN} ") for way in READINGS}
    assert found == {"B"}


def test_what_goes_on_from_a_prompt_is_as_strict() -> None:
    for text in (" green", " b", " (B)", " The answer is B.", " Answer: B. green", "", " E. none"):
        assert find_chosen_letter(text, CHOICES, PLAIN, STRICT) is None
    for reading in READINGS:
        reasoning = PLAIN.replace("Answer:", "Reasoning:")
        assert find_chosen_letter(" B. green", CHOICES, reasoning, reading) is None
        assert find_chosen_letter(" It is.\nAnswer: B. green", CHOICES, reasoning, reading) == "B"


def test_the_letters_are_those_of_the_question() -> None:
    for reading in READINGS:
        assert find_chosen_letter("Answer: C. blue", {"A": "red", "B": "blue"}, reading=reading) is None
        assert (
            find_chosen_letter("Answer: Z. blue", dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "x"), reading=reading)
            == "Z"
        )


def test_a_changed_rule_has_another_number() -> None:
    """Whoever changes an example above changes the number, too: old runs say by which rule they were read."""
    assert VERSION == 4


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("D", "D"), ("D.", "D"), ("D. yellow", "D"), ("**D**", "D"), ("Answer: D", "D"), (" D\n", "D"), ("D)", "D"),
        ("(D)", "D"), ("(D) yellow", "D"), ("[D]", "D"), ("**D. yellow**", "D"), ("**D.** yellow", "D"), ("'D'", "D"),
        ("D: yellow", "D"), ("D yellow", "D"), ("D (yellow)", "D"), ("D. The lemon is yellow.", "D"),
        ("D. yellow, A is red", "D"), ("D. yellow\n\nReasoning: A lemon is.", "D"), ("D\nD. yellow", "D"),
        ("**Answer: D**", "D"), ("**Answer:** D", "D"), ("answer: D. yellow", "D"), ("ANSWER: D", "D"),
        ("Answer:D", "D"), ("Answer:\nD. yellow", "D"), (" Answer: (D) yellow", "D"), ("- Answer: D", "D"),
        ("Reasoning: It is.\n**Answer: D**", "D"), ("A dog is yellow.\nAnswer: D", "D"),
    ],
)  # fmt: skip
def test_a_reply_that_is_only_the_letter_is_a_choice(text: str, letter: str) -> None:
    assert find_chosen_letter(text, CHOICES, reading=LETTER) == letter


@pytest.mark.parametrize(
    "text",
    [
        "", "d", "E", "E. none", "yellow", "A dog", "A dog is not yellow.", "A cat is not green", "I", "I think so.",
        "A red one", "DD", "D-day", "D's", "It is D.", "D or A", "D, A", "D/A", "D. or A.",
        "A. and B.", "D. (not A) or B", "A. B. C. D.", "A. red\nB. green\nC. blue\nD. yellow", "A\nB. green",
        "D. yellow or A. red", "D. yellow, or A. red", "D. yellow, A. red", "D: yellow / A: red", "D) yellow or A)",
        "D. red", "D. Red, I think", "Answer: none\nAnswer: D", "Answer: A or B", "Answer: Blue", "Answer: BC",
        "Answer: A dog", "Answer:", "Reasoning: so.\nD", "\u0412", "B!?", "Option A is wrong", "The option is A dog.",
    ],
)  # fmt: skip
def test_what_is_none_by_any_reading(text: str) -> None:
    assert find_chosen_letter(text, CHOICES, reading=LETTER) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is D.", "The correct answer is **D**", "So, the answer is: D", "I think that the answer is D.",
        "My final answer is (D) yellow.", "Correct answer: D", "**Final answer:** D. yellow", "The best choice is D.",
        "Lemons are.\nThe answer is D.", "The answer is not A.\nThe answer is D.", "Final answer:\nD", "Option D",
        "Option D: yellow", "Answer: option D", "Die richtige Antwort ist D.", "Antwort: D",
        "La respuesta correcta es D.", "La bonne réponse est D.", "答え：D", "答えはDです。", "正解は「D」です",
        "回答: D. yellow", "正确答案是D。", "D。", "Dです", "「D」", "（Ｄ）", "Ｄ．ｙｅｌｌｏｗ", "Answer：D", "选项D",
        "정답은 D입니다.", "답: D", "D번입니다", "D번", "D예요", "D이에요.", "정답은 D입니다. 노란색이니까요.",
        "제 답은 D입니다", "私の答えはDです。理由は簡単です。", "D。因为是黄色。", "**D**입니다. yellow",
        "D. yellow\nThe answer is D because lemons are.",
        "A. red\nB. green\nC. blue\nD. yellow\nThe answer is D.",
    ],
)  # fmt: skip
def test_a_sentence_or_a_heading_says_which_letter(text: str) -> None:
    assert find_chosen_letter(text, CHOICES, reading=LETTER) == "D"
    assert find_chosen_letter(text, CHOICES, reading=STRICT) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is A.\nThe answer is D.", "The answer is not D.", "The answer is A or D.",
        "The answer is A, B and D.", "The answer is D. red", "The answer is unclear.\nD", "The answer is E.",
        "The answer is A dog.", "答えはDではない", "答えはAかDです", "Dさんです",
        "정답은 D가 아닙니다", "답은 A 또는 D입니다", "D입니까?", "정답은 D입니다. red", "Dです。または A。",
        "D입니다만", "A。 B。 C。 D。", "A。red\nB。green",
        "A. red\nReasoning: lemons are.\nSo the answer is D.", "D型です", "D。 または A。",
        "The best choice is A. No, D.",
    ],
)  # fmt: skip
def test_a_sentence_that_says_no_letter_or_several_is_no_answer(text: str) -> None:
    assert find_chosen_letter(text, CHOICES, reading=LETTER) is None


def test_the_line_of_the_format_comes_before_sentences() -> None:
    for reading in READINGS:
        assert find_chosen_letter("The answer is A.\nAnswer: D", CHOICES, reading=reading) == "D"


def test_an_example_is_no_other_letter() -> None:
    """Of five choices, “e.g.” was taken for E."""
    choices = {**CHOICES, "E": "grey"}
    assert find_chosen_letter("D. yellow, e.g. a lemon", choices) == "D"
    assert find_chosen_letter("D. yellow, e. grey", choices) is find_chosen_letter("D. yellow・A. red", choices) is None


def test_words_of_choices_that_begin_with_a_letter_are_no_letters() -> None:
    germs = {"A": "E. coli", "B": "A dog", "C": "dog", "D": "B. subtilis", "E": "none of them"}
    assert [find_chosen_letter(text, germs) for text in ("E. coli", "B. subtilis", "A dog")] == [None] * 3
    assert [find_chosen_letter(text, germs)
            for text in ("A. E. coli", "D. B. subtilis", "B. A dog", "C. dog", "E.")] == [
        "A", "D", "B", "C", "E",
    ]  # fmt: skip
    wide = dict(zip("ABCDEFGHI", ("the house", "the house of wood", *"cdefghi"), strict=True))
    assert find_chosen_letter("B. the house of wood", wide) == "B" and find_chosen_letter("A. the house", wide) == "A"
    assert find_chosen_letter("A. the house of wood", wide) is None
    assert find_chosen_letter("I", wide) == "I" and find_chosen_letter("I think so", wide) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B. 青です", "B"), ("B. 青です。", "B"), ("C. 青森です", "C"), ("A. 赤", "A"), ("A. 答えです", "A"),
        ("A. 青です", None), ("A. 青です。", None), ("A: 青い", None), ("B. 青森です", None), ("A. または B.", None),
        ("A. 赤、B. 青", None), ("A. 赤、青でない", "A"), ("A. それ、Bです", None),
    ],
)  # fmt: skip
def test_words_without_blanks_speak_against_a_letter_as_others_do(text: str, letter: str | None) -> None:
    assert find_chosen_letter(text, {"A": "赤", "B": "青", "C": "青森"}) == letter


def test_a_text_that_goes_on_with_another_line_of_its_prompt_has_its_letter_behind_answer() -> None:
    paraphrase = PLAIN.replace("Answer:", "Paraphrase:")
    assert find_chosen_letter(" A.", CHOICES, paraphrase) is None
    assert find_chosen_letter(" A.\nAnswer: **D**", CHOICES, paraphrase) == "D"
    assert find_chosen_letter(" **D**", CHOICES, PLAIN) == "D"
    assert find_chosen_letter(" **D**", CHOICES, PLAIN, STRICT) is None
