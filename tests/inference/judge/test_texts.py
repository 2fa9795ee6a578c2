"""Which texts of a run a judge reads, what they were asked, and what the options stand for."""

from __future__ import annotations

import pytest

from helpers.replies import statement_study
from inference.judge.texts import RunTexts, drop_thinking_from_text
from inference.runfolder.store import Run
from inference.runfolder.stored_study import read_stored_study
from inference.stimuli.study import Item, Option, Study, Variant

ROW = {"model": "m", "item": "tea", "variant": "original"}


def write(folder, study, conditions, *rows, **content):
    """Write rows of one model; return the texts of the run."""
    with Run.create_or_open(folder, study) as run:
        run.add_model("m", {"engine": "import", "revision": None})
        for name, fields in conditions.items():
            run.add_condition(name, fields)
        run.responses.append_rows_as_part([ROW | row for row in rows])
        if content:
            run.add_prompts("m", content["prompts"], content["asked"])
        run.finish()
    return RunTexts(folder)


def reply_of(texts):
    (row,) = texts.iterate_rows_with_texts()
    return texts.build_reply_from_text_and_context(row, row.texts[0])


def test_the_prompt_is_shown_to_the_letter_and_options_with_the_words_that_stood_for_them(tmp_path):
    wordings = [
        {"role": "system", "content": ["Be brief."]},
        {"role": "user", "content": ["Agree? ", {"column": "text"}]},
    ]
    asked = {"item": "tea", "variant": "original", "prompt": "...", "characters": 3, "wordings": wordings}
    texts = write(
        tmp_path / "run", statement_study(["tea"]), {"chat/text": {"answer": "text", "prompt_hash": "h"}},
        {"condition": "chat/text", "output": [" Yes. "]},
        prompts={"h": {"answers": {"agree": ["yes", "sure"], "disagree": ["no"]}}}, asked={"chat/text": asked},
    )  # fmt: skip
    reply = reply_of(texts)
    assert reply.asked == "system: Be brief.\nuser: Agree? About tea."
    assert reply.options == (("agree", "yes"), ("disagree", "no")) and reply.text == " Yes. "


def test_letters_stand_for_the_words_of_their_choices(tmp_path):
    options = (Option("A", "B"), Option("B", "A"))
    attributes = {"choice_A": "red", "choice_B": "blue", "choices": "A. blue\nB. red"}
    variant = Variant("tea", "original", "p1", "Which?", options, attributes=attributes)
    study = Study("choice", "s", (Item("tea", (variant,)),), ("A", "B"), paraphrased=False)
    texts = write(tmp_path / "run", study, {"c": {"way": "text"}}, {"condition": "c", "output": ["B"]})
    assert reply_of(texts).options == (("A", "blue"), ("B", "red"))
    assert reply_of(texts).asked == "Which?"


def test_only_conditions_with_texts_of_options_are_read(tmp_path):
    conditions = {"text": {}, "numbers": {"range": [0, 9]}, "exact": {}}
    texts = write(
        tmp_path / "run", statement_study(["tea"]), conditions,
        {"condition": "text", "output": ["Yes."], "answer": "agree"},
        {"condition": "numbers", "output": ["7"]},
        {"condition": "exact", "probability": [0.5, 0.1], "mass": 0.6},
    )  # fmt: skip
    assert texts.conditions == ["text"]
    assert [row.readings for row in texts.iterate_rows_with_texts()] == [("agree",)]


def test_a_stored_study_has_the_hash_of_the_one_that_was_written(tmp_path):
    variants = (
        Variant("1", "original", "original", "One.\n", (Option("x", "x"), Option("y", "y")), language="en", gold="x",
                attributes={"b": "2", "a": "1"}),
        Variant("1", "h_neg-1", "h_neg", "Not one.", (Option("x", "y"), Option("y", "x")), parents=("original",),
                gold_score=0.5),
    )  # fmt: skip
    study = Study("negation", "s", (Item("1", variants),), ("x", "y"), source="made.csv", paraphrased=False)
    with Run.create_or_open(tmp_path / "run", study) as run:
        run.finish()
    stored = read_stored_study(tmp_path / "run")
    assert stored.hash == study.hash and stored.items == study.items and stored.source == "made.csv"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes.", "Yes."),
        ("<think>No.</think> Yes.", " Yes."),
        ("a</think>b</think>c", "c"),
        ("<think>No.", ""),
        ("A <think> b", "A <think> b"),
    ],
)
def test_what_follows_the_last_end_of_thinking_is_the_answer(text, answer):
    assert drop_thinking_from_text(text) == answer


def test_a_thought_that_an_older_version_wrote_before_the_answer_is_no_reply(tmp_path):
    row = {"condition": "chat/thought", "output": ["<think>No?</think>\n\nYes.", "<think>No?</think>", "Yes."]}
    texts = write(tmp_path / "run", statement_study(["tea"]), {"chat/thought": {"answer": "thought"}}, row)
    (read,) = texts.iterate_rows_with_texts()
    assert read.texts == ("\n\nYes.", None, "Yes.")
