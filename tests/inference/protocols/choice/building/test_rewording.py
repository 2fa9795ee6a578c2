"""What a model is asked for a question in other words, and what of its text is taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ground.errors import InputError
from inference.protocols.choice.building import rewording
from inference.stimuli.questions import Question
from inference.stimuli.templates.prompt_forms import CHAT, CLOZE, PLAIN

QUESTION = Question("cup", "Which of these do people pour into a cup of tea?", ("sand", "milk", "wood", "stone"), 1)
GOOD = "What is it, of these, that people add to their tea?"


@pytest.mark.parametrize("form", [PLAIN, CHAT])
def test_the_prompt_shows_question_choices_and_answer(form):
    asked = rewording.Questions(rewording.read_rewording_prompts(), 100)
    (only,) = asked.rounds(form)
    (variant,) = rewording.build_rewording_study([QUESTION], "s", "f").variants
    prompt = only.render(variant, None)
    text = prompt.text or "\n".join(message["content"] for message in prompt.messages)
    for words in (QUESTION.question, "A. sand\nB. milk\nC. wood\nD. stone", "Right answer: B. milk"):
        assert words in text
    (condition,) = only.conditions
    assert (condition.way.temperature, condition.way.max_tokens) == (0.0, 100)


def test_a_model_that_fills_gaps_is_refused():
    with pytest.raises(InputError, match="this model writes no text"):
        rewording.Questions(rewording.read_rewording_prompts(), 100).rounds(CLOZE)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"New question: {GOOD}",
        f"**Reworded question:** {GOOD}",
        f"Question: {GOOD}",
        f'"{GOOD}"',
        f"Here is the reworded question:\n\n{GOOD}\n\nI hope this helps!",
        f"<think>The user wants another wording. Why?</think>\n{GOOD}",
        f"{GOOD}\nA. sand\nB. milk\nC. wood\nD. stone",
    ],
)
def test_the_question_is_found_in_what_models_write(text):
    assert rewording.extract_and_judge_rewording(QUESTION, text) == (GOOD, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, rewording.NO_ANSWER),
        ("", rewording.EMPTY),
        (" \n ", rewording.EMPTY),
        ("<think>What could", rewording.EMPTY),
        ("I'm sorry, but I can't help with that.", rewording.REFUSED),
        ("I cannot reword this question.", rewording.REFUSED),
        ("I can't help with rewording it. Is there anything else?", rewording.REFUSED),
        (QUESTION.question, rewording.UNCHANGED),
        (f"New question: {QUESTION.question.upper()}", rewording.UNCHANGED),
        ("People pour this into a cup of tea.", rewording.NO_QUESTION),
        ("yes", rewording.NO_QUESTION),
        ("New question: ?", rewording.NO_QUESTION),
        ("Do people pour milk into their tea?", rewording.NAMES_CHOICE),
        ("Which of sand and others is poured into tea?", rewording.NAMES_CHOICE),
    ],
)
def test_why_a_text_is_no_rewording(text, reason):
    assert rewording.extract_and_judge_rewording(QUESTION, text)[1] == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [("バナナは黄色ですか？", rewording.NAMES_CHOICE), ("どんな色のバナナがありますか？", None)],
)
def test_a_choice_is_named_in_a_language_without_blanks_too(text, reason):
    question = replace(QUESTION, question="バナナは何色ですか？", choices=("赤色", "黄色", "青色", "緑色"))
    assert rewording.extract_and_judge_rewording(question, text)[1] == reason


def test_a_choice_that_the_question_names_itself_may_stay():
    question = Question("x", "Is tea with milk more like sand or like milk to you?", ("sand", "milk", "wood", "oil"), 1)
    assert (
        rewording.extract_and_judge_rewording(
            question, "Would you say that tea with milk is like sand, or is it like milk?"
        )[1]
        is None
    )


def test_a_part_of_a_word_is_no_choice():
    assert (
        rewording.extract_and_judge_rewording(QUESTION, "What do people who wear sandals pour into their tea?")[1]
        is None
    )


def test_the_same_wording_of_both_models_is_one_only():
    wrote = {"one": {"cup": GOOD}, "other": {"cup": GOOD.lower()}}
    step = rewording.build_step_of_two_model_rewordings([QUESTION], wrote)
    assert [(each.reason, each.text) for each in step.left_out] == [("other: the same as the other", GOOD.lower())]


def test_a_question_is_kept_with_both_wordings_or_counted_once():
    given = [QUESTION, Question("b", QUESTION.question, QUESTION.choices, 0)]
    wrote = {
        "one": {"cup": GOOD, "b": "I'm sorry, but I can't help with that."},
        "other": {"cup": "Into tea, what do people pour?", "b": ""},
    }
    step = rewording.build_step_of_two_model_rewordings(given, wrote)
    assert [each.paraphrases for each in step.kept_questions] == [(GOOD, "Into tea, what do people pour?")]
    assert [each.reason for each in step.left_out] == ["one: a refusal"]
    assert set(step.reasons) >= {"one: a refusal", "other: unchanged"}


@pytest.mark.parametrize(
    ("paraphrases", "reason"),
    [
        ((GOOD, "Into tea, what do people pour?"), None),
        ((GOOD,), "not 2 paraphrases"),
        ((), "not 2 paraphrases"),
        ((GOOD, "What?", "Which?"), "not 2 paraphrases"),
        ((GOOD, GOOD), "the file: the same as the other"),
        ((QUESTION.question, GOOD), "the file: unchanged"),
        ((GOOD, "People pour it."), "the file: not a question"),
    ],
)
def test_paraphrases_of_a_file_keep_the_same_rules(paraphrases, reason):
    step = rewording.build_step_of_paraphrases_in_file(
        [Question("cup", QUESTION.question, QUESTION.choices, 1, paraphrases)]
    )
    assert [each.reason for each in step.left_out] == ([reason] if reason else [])
    assert {each.reason for each in step.left_out} <= set(step.reasons)
