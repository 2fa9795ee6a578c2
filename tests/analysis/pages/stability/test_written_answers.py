"""Texts and probabilities, against numbers counted by hand; and tables of stability that subsamples leave alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.pages.stability import narrative
from analysis.pages.stability.cautions import describe_agreement_bounds_from_unread_answers
from analysis.pages.stability.page import StabilityPage
from analysis.pages.stability.tables import tabulate_stability
from analysis.pages.stability.written_answers import tabulate_texts_against_probabilities
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.runs.conditions import (
    find_same_prompt_condition_with_probabilities,
    find_units_that_subsample_another_condition,
)
from helpers import textbook
from helpers.synthetic import random_frame, write_run

BASE, TEXT = "plain/yes-no", "plain/yes-no/text"
FIELDS = {"form": "plain", "option_order": "yes-no", "prompt": None, "prompt_hash": "h"}
WAYS = {"answer": "text", "temperature": 0.0, "samples": 1, "max_tokens": 32, "effort": None}
CONDITIONS = {BASE: FIELDS, TEXT: {**FIELDS, **WAYS, "share": 0.5}}

# item, variant, p(agree), most probable first token, what the text chooses (None: nothing); mass 0.8
ROWS = [
    ("a", "p1", 0.9, "agree", "agree"),
    ("a", "p2", 0.9, None, "agree"),  # the first token begins no option: another than the text's
    ("a", "p3", 0.2, "disagree", "agree"),
    ("a", "p4", 0.2, "agree", "agree"),
    ("b", "p1", 0.7, "agree", None),
    ("b", "p2", 0.7, "agree", "disagree"),
    ("b", "p3", 0.7, "agree", "absent"),  # not in the subsample
]


def probabilities(**columns: object) -> pd.DataFrame:
    rows = [(item, variant, p, 0.8, token) for item, variant, p, token, _ in ROWS]
    return pd.DataFrame(rows, columns=["item", "variant", "agreement", "mass", "answer"]).assign(**columns)


def texts(**columns: object) -> pd.DataFrame:
    rows = [
        (item, variant, np.nan, said, [int(said == "agree"), int(said == "disagree")], int(said is None), [str(said)])
        for item, variant, _, _, said in ROWS
        if said != "absent"
    ]
    names = ["item", "variant", "agreement", "answer", "count", "invalid", "output"]
    return pd.DataFrame(rows, columns=names).assign(condition=TEXT, **columns)


def together(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)


def test_mismatch_counted_by_hand(opened):
    run = opened(together(probabilities(condition=BASE), texts()), conditions=CONDITIONS)
    (row,) = tabulate_texts_against_probabilities(run, resamples=200).to_dict("records")
    assert (row["study"], row["model"], row["condition"]) == ("synthetic", "m", TEXT)
    assert (row["n_answers"], row["n_items"]) == (6, 2)
    assert row["token_mismatch"] == pytest.approx(3 / 5)  # a/p2, a/p3, b/p2
    assert row["option_mismatch"] == pytest.approx(3 / 5)  # a/p3, a/p4, b/p2
    assert row["text_invalid"] == pytest.approx(1 / 6)
    assert row["no_token"] == pytest.approx(1 / 6)
    assert row["read_agreement"] == pytest.approx(4 / 5)
    assert row["least_agreement"] == pytest.approx(4 / 6)  # b/p1, which says nothing, disagreed
    assert row["most_agreement"] == pytest.approx(5 / 6)  # ... or agreed
    wanted = textbook.share([[1, 1, 0, 0], [1]])  # item a: 2 of 4, item b: 1 of 1
    assert (row["token_mismatch_lower"], row["token_mismatch_upper"]) == pytest.approx(wanted, abs=1e-12)


def test_options_in_another_order_and_several_samples(opened):
    frame = pd.DataFrame({
        "item": ["a", "a"], "variant": ["p1", "p1"], "condition": [BASE, "plain/yes-no/text-t1"],
        "options": [["no", "yes"]] * 2, "canonical": [["disagree", "agree"]] * 2, "agreement": [0.9, np.nan],
        "answer": ["yes", "yes"], "count": [None, [2, 6]], "invalid": [np.nan, 2],
    })  # fmt: skip
    conditions = {BASE: FIELDS, "plain/yes-no/text-t1": {**FIELDS, **WAYS, "temperature": 1.0, "samples": 10}}
    (row,) = tabulate_texts_against_probabilities(opened(frame, conditions=conditions), resamples=10).to_dict("records")
    assert row["token_mismatch"] == row["option_mismatch"] == 2 / 8
    # "yes" means disagree here: 6 agree, 2 disagree, 2 say nothing
    assert [row[f"{end}_agreement"] for end in ("read", "least", "most")] == [6 / 8, 6 / 10, 8 / 10]
    assert (row["text_invalid"], row["n_answers"], row["n_items"]) == (0.2, 10, 1)
    # Ten texts of one item are one item: 2 of 10 invalid ones say as much as an item that is invalid by a fifth.
    wanted = textbook.share([[1, 1, 0, 0, 0, 0, 0, 0, 0, 0]])
    assert (row["text_invalid_lower"], row["text_invalid_upper"]) == pytest.approx(wanted, abs=1e-12)


def test_twins_differ_in_nothing_but_the_way_of_answering():
    other = {**CONDITIONS, "chat/yes-no/text": {**FIELDS, **WAYS, "form": "chat"}, "thought": {**FIELDS, "answer": "x"}}
    assert (
        find_same_prompt_condition_with_probabilities(other, TEXT)
        == find_same_prompt_condition_with_probabilities(other, "thought")
        == BASE
    )
    assert (
        find_same_prompt_condition_with_probabilities(other, BASE)
        is find_same_prompt_condition_with_probabilities(other, "chat/yes-no/text")
        is None
    )
    units = {("m", BASE), ("m", TEXT), ("m", "thought"), ("n", TEXT)}  # n has nothing but its texts
    assert find_units_that_subsample_another_condition(other, units) == {("m", TEXT)}


@pytest.mark.slow
def test_runs_without_pairs_have_no_rows_and_no_section(opened):
    run = opened(probabilities(condition=BASE), conditions={BASE: FIELDS})
    assert tabulate_texts_against_probabilities(run).empty
    empty = tables.build_table("answers", run)
    assert {"token_mismatch", "token_mismatch_lower", "token_mismatch_upper", "no_token_upper"} <= set(empty)
    alone = opened(texts(), conditions={TEXT: CONDITIONS[TEXT]})
    assert tabulate_texts_against_probabilities(alone).empty
    assert len(tabulate_stability(alone, resamples=0)) == 1  # texts alone are what the study is about


@pytest.mark.slow
def test_subsampled_texts_leave_the_other_tables_as_they_are(opened):
    frame = random_frame(["one", "two"], items=4, paraphrases=5, conditions=[BASE])
    few = frame[frame["variant"].isin(["paraphrase-001", "paraphrase-003"])].drop(columns="mass")
    said = few.assign(condition=TEXT, agreement=np.nan, answer="agree", count=[[1, 0]] * len(few), invalid=0)
    alone = opened(frame, conditions={BASE: FIELDS})
    both = opened(together(frame, said), conditions=CONDITIONS)
    for name in ("stability", "items", "differences", "item_stability", "divergent", "distribution", "outliers",
                 "invalid", "excluded"):  # fmt: skip
        expected, found = (tables.build_table(name, run, resamples=20) for run in (alone, both))
        pd.testing.assert_frame_equal(found, expected, obj=name)
    assert list(tabulate_texts_against_probabilities(both, resamples=20)["model"]) == ["one", "two"]


@pytest.mark.slow
def test_texts_for_all_wordings_are_a_condition_like_any_other(opened):
    whole = {BASE: FIELDS, TEXT: {**FIELDS, **WAYS, "share": 1.0}}
    run = opened(together(probabilities(condition=BASE), texts()), conditions=whole)
    found = tabulate_stability(run, resamples=0).set_index("condition")
    assert list(found.index) == [BASE, TEXT]
    assert found.loc[TEXT, "validity"] == pytest.approx(5 / 6)
    assert found.loc[TEXT, "n_items"] == 1  # b has one valid text only


@pytest.mark.slow
def test_the_section_says_it_in_words_and_is_not_there_without_texts(tmp_path):
    frames = [
        f(model=model, **c) for model in ("m", "n") for f, c in ((probabilities, {"condition": BASE}), (texts, {}))
    ]
    folder = write_run(tmp_path / "run", together(*frames), conditions=CONDITIONS)
    page = StabilityPage([str(folder)], tmp_path / "out", resamples=20)
    shown = page.section("answers", "Texts?", page.describe_texts_against_probabilities()).text
    assert '<h2 id="answers">Texts?</h2>' in shown
    assert "Of the texts that choose an option, 60\N{NO-BREAK SPACE}% choose another one than" in shown
    assert (tmp_path / "out" / "tables" / "answers.csv").is_file()
    without = write_run(tmp_path / "without", probabilities(condition=BASE), conditions={BASE: FIELDS})
    page = StabilityPage([str(without)])
    assert page.describe_texts_against_probabilities() == ""
    assert page.section("answers").text.startswith('<p class="note nothing">')


def test_shares_are_said_with_their_models():
    frame = pd.DataFrame({
        "label": ["a", "b", "c"], "n_answers": [10, 10, 5], "token_mismatch": [0.02, 0.31, np.nan],
        "option_mismatch": [0.0, 0.5, np.nan], "text_invalid": [0.0, 0.1, 1.0],
        "read_agreement": [0.3, 0.5, np.nan], "least_agreement": [0.3, 0.45, 0.0], "most_agreement": [0.3, 0.55, 1.0],
    })  # fmt: skip
    assert narrative.describe_text_probability_mismatches(frame, AnswerPair()) == (
        "Of the texts that choose an option, 2 % (a) to 31 % (b) choose another one than the most probable first token "
        "begins. 0 % (a) to 50 % (b) of them choose another one than the likeliest option. 0 % (a) to 100 % (c) of all "
        "texts choose none. Unread answers leave most open for c: its agreement lies between 0 % and 100 %."
    )
    assert narrative.describe_text_probability_mismatches(frame.iloc[:2], AnswerPair()).endswith(
        "Unread answers leave most open for b: its agreement (50 % of those read) lies between 45 % and 55 %."
    )
    rows = frame.assign(n_written=6, n_rows=[6, 36, 6])
    assert describe_agreement_bounds_from_unread_answers(rows.iloc[:2], AnswerPair()) == [
        "Unread answers leave most open for b: its agreement (50 % of those read), over the 6 responses without "
        "probabilities, lies between 45 % and 55 %."
    ]
    assert "its agreement lies between" in describe_agreement_bounds_from_unread_answers(rows, AnswerPair())[0]
    assert "Unread" not in narrative.describe_text_probability_mismatches(frame.iloc[:1], AnswerPair())
    hardly = frame.iloc[:2].assign(least_agreement=[0.3, 0.7403], most_agreement=[0.3, 0.7425])
    assert "Unread" not in narrative.describe_text_probability_mismatches(
        hardly, AnswerPair()
    )  # it was "between 74 % and 74 %"
    assert (
        narrative.describe_text_probability_mismatches(frame.iloc[2:], AnswerPair())
        == "None of the 5 texts could be read as an answer."
    )
