"""`waver tune choice`: which examples are made of a run, against section 3.4 of Choi worked out by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ground.errors import InputError
from helpers import choice_texts
from inference.asking.models import Model
from inference.protocols.choice import reply
from inference.protocols.choice.tune import Lesson, answers, settings

TINY = Model("tiny", "tiny")


def chosen(run: Path, whole=lambda text, most: True, seed: int = 42, subset: str | None = None):
    given = answers.read_answers_by_wording_and_order(run, TINY)
    return Lesson(
        run, TINY, given, {**settings.read_tuning_settings(), "seed": seed}, subset=subset
    ).draw_examples_of_lesson(whole)


def only(*orders: str):
    """The model is right in these orders only (as `wording/number` of every question)."""

    def said(variant, letter):
        wrong = next(option.label for option in variant.options if option.label != letter)
        given = letter if variant.variant in orders else wrong
        return given, f" {given}"

    return said


def test_an_example_per_wording_with_the_next_wording_and_the_model_s_own_response(tmp_path):
    """Worked out by hand for one question: each wording is right in one order only."""
    said = only("original/3", "paraphrase-1/5", "paraphrase-2/8")
    run = choice_texts.write_run(tmp_path / "run", said=said)
    made = chosen(run)
    first = [each for each in made.train if each.item == "q0"]
    assert [each.variant for each in first] == ["original/3", "paraphrase-1/5", "paraphrase-2/8"]
    question = choice_texts.questions()[0]
    shown = [question.question, *question.paraphrases]
    for place, each in enumerate(first):
        head, *choices, last = each.prompt.text.splitlines()
        assert head == f"Question: {shown[place]}" and last == "Paraphrase:"
        letter = next(line[0] for line in choices if line[3:] == question.choices[question.answer])
        assert each.reply == f" {shown[(place + 1) % 3]}\nAnswer: {letter}"
        assert (
            reply.find_chosen_letter(each.reply, dict.fromkeys("ABCDE", ""), each.prompt.text, reply.STRICT) == letter
        )


def test_math_reasons_first_in_the_reply_as_in_the_prompt(tmp_path):
    run = choice_texts.write_run(
        tmp_path / "run",
        said=lambda variant, letter: (letter, f" it is so.\nAnswer: {letter}. x")
        if variant.attributes["subset"] == "math reasoning" else (letter, f" {letter}. x"),
    )  # fmt: skip
    each = next(each for each in chosen(run).train if each.item == "q1")
    assert each.prompt.text.endswith("\nParaphrase:")
    letter = each.reply.partition("Answer: ")[2][0]
    assert each.reply == f" Which colour has the boat 1?\nReasoning: it is so.\nAnswer: {letter}. x"


def test_a_chat_reply_begins_with_the_paraphrase_and_keeps_the_response_as_it_stands(tmp_path):
    def said(variant, letter):
        return letter, f"Answer: {letter}. x\nReasoning: because.\n"

    run = choice_texts.write_run(tmp_path / "run", said=said, form="chat")
    each = chosen(run).train[0]
    assert each.prompt.messages and "Paraphrase: the question in other words" in each.prompt.messages[-1]["content"]
    letter = each.reply.partition("Answer: ")[2][0]
    assert each.reply == f"Paraphrase: Which colour has the lamp 0?\nAnswer: {letter}. x\nReasoning: because."


def test_no_question_of_the_test_split_is_trained_on_and_all_is_counted(tmp_path):
    splits = ("train", "validation", "test", None)
    asked = choice_texts.questions(12, lambda number: splits[number % 4])
    made = chosen(choice_texts.write_run(tmp_path / "run", asked=asked))
    split = {each.item: each.split for each in asked}
    assert {split[each.item] for each in made.train} == {"train"}
    assert {split[each.item] for each in made.validation} == {"validation"}
    assert made.counts["left out"] == {"test split": 3, "other subset": 0, "no split": 3}
    assert made.counts["train"] == {"questions": 3, "used": 3, "dropped": 0, "unread": 0, "cut": 0, "alone": 0}
    assert len(made.train) == len(made.validation) == 9


def test_a_question_with_a_wording_that_was_never_right_is_dropped(tmp_path):
    """One question is wrong in a wording, another one has no choice that could be read: they are counted apart."""

    def said(variant, letter):
        if variant.pattern == "paraphrase_1" and variant.item in ("q2", "q3"):
            other = next(option.label for option in variant.options if option.label != letter)
            return (None, " who knows") if variant.item == "q2" else (other, f" {other}")
        return letter, f" {letter}"

    made = chosen(choice_texts.write_run(tmp_path / "run", said=said))
    assert not {"q2", "q3"} & {each.item for each in made.train}
    assert made.counts["train"] == {"questions": 8, "used": 6, "dropped": 1, "unread": 1, "cut": 0, "alone": 0}


def test_nothing_to_learn_from_says_whether_it_was_wrong_or_could_not_be_read(tmp_path):
    def wrong(variant, letter):
        other = next(option.label for option in variant.options if option.label != letter)
        return other, f" {other}"

    for name, said, words in (
        ("wrong", wrong, "8 with a wording that was always answered wrongly, 0 with one of which no choice could be"),
        ("unread", lambda *_: (None, " hm"), "0 with a wording .* wrongly, 8 with one .* read, .*; look at the texts"),
    ):
        run = choice_texts.write_run(tmp_path / name, said=said)
        with pytest.raises(InputError, match=f"nothing to learn from in the split train: 8 questions, {words}"):
            chosen(run)


def test_a_reply_that_is_only_a_letter_is_learnt_behind_answer(tmp_path):
    run = choice_texts.write_run(tmp_path / "run", said=lambda variant, letter: (letter, letter), form="chat")
    each = chosen(run).train[0]
    assert each.reply.startswith("Paraphrase: Which colour has the lamp 0?\nAnswer: ")
    letters = dict.fromkeys("ABCDE", "")
    assert each.reply[-1] in letters
    assert {reply.find_chosen_letter(each.reply, letters, reading=reading) for reading in reply.READINGS} == {
        each.reply[-1]
    }


def test_the_right_answer_is_right_in_its_place_whatever_its_letter(tmp_path):
    """A model that always says A is right exactly in the orders that show the right choice first."""
    run = choice_texts.write_run(tmp_path / "run", said=lambda variant, letter: ("A", " A"))
    for question in answers.read_answers_by_wording_and_order(run, TINY).questions:
        for answer in (each for wording in question.answers.values() for each in wording):
            assert answer.is_right == (answer.variant.attributes["order"][0] == answer.variant.gold)


def test_texts_that_were_cut_are_no_examples(tmp_path):
    """The text of one order of every wording ended by itself: that order is drawn, though all are right."""

    def said(variant, letter):
        return letter, f" {letter}" + ("" if variant.variant.endswith("/2") else ". And so on and on")

    run = choice_texts.write_run(tmp_path / "run", said=said, max_tokens=4)
    made = chosen(run, whole=lambda text, most: len(text.split()) < most)
    assert {each.variant.rpartition("/")[2] for each in made.train} == {"2"} and len(made.train) == 24
    with pytest.raises(
        InputError, match=r"nothing to learn from in the split train: 8 questions, .* 8 with one right only in texts"
    ):
        chosen(run, whole=lambda text, most: False)


@pytest.mark.slow
def test_orders_are_drawn_by_the_seed_and_all_of_them_are_used(tmp_path):
    run = choice_texts.write_run(tmp_path / "run", asked=choice_texts.questions(120))
    drawn = [[each.variant for each in chosen(run, seed=seed).train] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    counts = Counter(variant.rpartition("/")[2] for variant in drawn[0])
    # 240 draws of 8 orders: 30 each, standard deviation 5.1.
    assert set(counts) == set("12345678") and all(10 <= count <= 50 for count in counts.values())


def test_a_subset_alone(tmp_path):
    asked = choice_texts.questions(12, lambda number: ("train", "validation")[number > 5])
    run = choice_texts.write_run(tmp_path / "run", asked=asked)
    made = chosen(run, subset="math reasoning")
    assert {each.item for each in (*made.train, *made.validation)} == {"q1", "q7"}
    assert made.counts["left out"]["other subset"] == 10
    with pytest.raises(InputError, match=r"--subset maths: .* has general knowledge, math reasoning"):
        chosen(run, subset="maths")


def test_the_defaults_are_those_of_tables_6_and_7():
    found = settings.read_tuning_settings()
    printed = {
        "seed": 42, "learning_rate": 0.0002, "lr_scheduler_type": "linear", "per_device_train_batch_size": 1,
        "per_device_eval_batch_size": 1, "warmup_ratio": 0.03, "weight_decay": 0, "logging_steps": 100,
        "eval_steps": 500, "gradient_accumulation_steps": 1, "max_grad_norm": 1, "r": 16, "lora_alpha": 32,
        "lora_dropout": 0.05,
    }  # fmt: skip
    assert {name: found[name] for name in printed} == printed
    assert found.keys() - printed.keys() == {"num_train_epochs", "target_modules", "four_bit"}
