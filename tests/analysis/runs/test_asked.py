"""Prompts are written again from run.json or not at all, and answers are told with all their numbers."""

from __future__ import annotations

import doctest

import pandas as pd
import pytest

from analysis import runs
from analysis.runs import conditions, model_prompts
from analysis.runs.model_prompts import Prompt, describe_response
from helpers.synthetic import edit_run_json, write_run

FORM = [
    {"role": "system", "content": ["Be brief."]},
    {"role": "user", "content": ["Of ", {"column": "attributes.source"}, ": ", {"column": "text"}, "?"]},
]
ENTRY = {"models": ["m"], "item": "x", "variant": "p1", "prompt": "<s>Be", "characters": 5, "wordings": FORM}
WORDING = {"item": "x", "variant": "p2", "text": "{{ text }} <b>", "attributes": {"source": "tea"}}


def test_the_examples_are_right():
    assert not any(doctest.testmod(module).failed for module in (conditions, model_prompts))


def test_columns_come_where_they_stand_and_nothing_is_a_template():
    found = model_prompts.recover_prompt_of_wording(ENTRY, WORDING)
    assert found.messages == (("system", "Be brief."), ("user", "Of tea: {{ text }} <b>?"))
    assert found.text == "[system]\nBe brief.\n\n[user]\nOf tea: {{ text }} <b>?"


@pytest.mark.parametrize("attributes", [None, {}, {"other": "tea"}])
def test_a_wording_without_a_shown_attribute_has_no_prompt(attributes):
    found = model_prompts.recover_prompt_of_wording(ENTRY, {**WORDING, "attributes": attributes})
    assert not found.messages
    assert "lack" in found.why


def test_without_a_form_only_the_recorded_prompt_is_shown():
    entry = {**ENTRY, "wordings": None, "inexact": "the template changes the wording"}
    assert model_prompts.recover_prompt_of_wording(entry, {**WORDING, "variant": "p1"}) == Prompt(((None, "<s>Be"),))
    assert "only (the template changes the wording)" in model_prompts.recover_prompt_of_wording(entry, WORDING).why
    cut = {**entry, "characters": 6}
    assert not model_prompts.recover_prompt_of_wording(cut, {**WORDING, "variant": "p1"}).messages


def test_a_run_without_prompts_says_so(tmp_path):
    run = runs.open_runs(
        write_run(tmp_path / "run", pd.DataFrame({"item": ["x"], "variant": ["p1"], "agreement": [0.4]}))
    )
    assert model_prompts.find_prompts_entry_of_condition(run, "synthetic", "m", "plain/yes-no") is None
    assert model_prompts.recover_prompt_of_wording(None, WORDING) == Prompt(why=model_prompts.UNKNOWN)


def test_entries_belong_to_their_models_and_studies(tmp_path):
    folder = write_run(tmp_path / "run", pd.DataFrame({"item": ["x"], "variant": ["p1"], "agreement": [0.4]}))
    edit_run_json(folder, asked={"plain/yes-no": [{**ENTRY, "models": ["other"]}, ENTRY]})
    run = runs.open_runs(folder)
    assert model_prompts.find_prompts_entry_of_condition(run, "synthetic", "m", "plain/yes-no") == ENTRY
    assert model_prompts.find_prompts_entry_of_condition(run, "synthetic", "unasked", "plain/yes-no") is None
    assert model_prompts.find_prompts_entry_of_condition(run, "another", "m", "plain/yes-no") is None


def test_answers_come_with_failures_in_the_order_of_the_run(tmp_path):
    rows = pd.DataFrame({"item": ["x", "x", "y"], "variant": ["p1", "p2", "p1"], "agreement": [0.25, 0.5, 0.75]})
    both = pd.concat([rows.assign(model=name) for name in ("b", "a")], ignore_index=True)
    both["error"] = [None, "too long", None, None, None, None]
    both.loc[1, "agreement"] = None
    run = runs.open_runs(write_run(tmp_path / "run", both))
    found = model_prompts.read_answers_to_wordings(
        run, pd.DataFrame({"study": "synthetic", "item": "x", "variant": ["p1", "p2"]})
    )
    assert found[["model", "variant", "said"]].values.tolist() == [
        ["b", "p1", "agree 0.25, disagree 0.75, together 1; answer: none"],
        ["b", "p2", "no response: too long"],
        ["a", "p1", "agree 0.25, disagree 0.75, together 1; answer: none"],
        ["a", "p2", "agree 0.5, disagree 0.5, together 1; answer: none"],
    ]


def test_conditions_of_every_study_keep_their_own_order_and_a_range_may_be_text(tmp_path):
    rows = pd.DataFrame([{"item": "a", "variant": "p1", "agreement": 0.25}])
    for study, names in (("first", ["x", "y"]), ("second", ["y", "x"])):
        frame = pd.concat([rows.assign(condition=name) for name in names])
        write_run(tmp_path / study, frame, study=study, conditions={name: {"range": "0-9"} for name in names})
    opened = runs.open_runs(tmp_path / "first", tmp_path / "second")
    wordings = pd.DataFrame({"study": ["first", "second"], "item": "a", "variant": "p1"})
    answers = model_prompts.read_answers_to_wordings(opened, wordings)
    assert answers["condition"].tolist() == ["x", "y", "y", "x"]


@pytest.mark.parametrize(
    ("row", "scale", "line"),
    [
        ({"probability": [0.9996, 1e-6], "mass": 0.9999, "mass_upper": 1.0}, None,
         "yes >0.999, no <0.001, together >0.999 to 1; answer: none"),
        ({"count": [2, 1], "invalid": 7, "output": ["a"] * 10, "answer": "yes"}, None,
         "of 10 texts: yes 2, no 1, none of them 7; answer: yes"),
        ({"probability": [0.1, 0.2, 0.3, 0.15], "mass": 0.75, "score": 2.5, "answer": "3"}, [1, 4],
         "3 0.3, 2 0.2, 4 0.15 (of 4 numbers, the likeliest), together 0.75; score 2.5; answer: 3"),
        ({"output": ["9", "ten"], "invalid": 1, "score": 9.0}, None, "of 2 texts, 1 without an answer; score 9"),
        ({"output": ["a"], "score": 12345.6}, None, "score 12,346"),
        ({"probability": [0.1, 0.2, 0.3]}, None, "3 probabilities; answer: none"),
        ({"error": "too long"}, None, "no response: too long"),
    ],
)  # fmt: skip
def test_every_number_of_an_answer_is_said(row, scale, line):
    assert describe_response({"options": ["yes", "no"], **row}, scale) == line
