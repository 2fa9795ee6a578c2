"""The sentences of the page on changes over time follow its rules."""

from __future__ import annotations

import doctest

import pandas as pd
import pytest

from analysis.pages.drift import narrative
from analysis.pages.drift.narrative import WORD_MEANINGS, answer_page_question

MOVED = {"found": "changed", "p_holm": 0.001, "changed_time": "T3", "likely_first": "T3", "likely_last": "T3"}


def frames(*changes, **columns):
    """The tables of models, each with what differs from one in which no change was found."""
    rows = pd.DataFrame([
        {"study": "s", "model": f"m{number}", "condition": "c", "measure": "accuracy", "headline": True,
         "validity_least": 1.0, "validity_least_at_most": float("nan"),
         "n_looks": 4, "n_untested": 0, "n_items": 62, "wordings": "fresh each time",
         "found": "no change found", "p_holm": 0.6, "changed_time": "", "likely_first": "", "likely_last": "",
         "before": 0.812, "after": 0.744, "difference": -0.068, "lower": -0.09, "upper": -0.04, "like_lower": -0.1,
         "like_upper": -0.03} | change
        for number, change in enumerate(changes)
    ]).assign(**columns)  # fmt: skip
    looks = pd.concat([
        rows[["study", "model", "condition", "measure"]].assign(
            n_items=62, look=look, time=f"T{look}", validity=1.0, validity_at_most=float("nan"), changed_settings="",
            n_left_out=0,
        )
        for look in range(1, 5)
    ], ignore_index=True)  # fmt: skip
    return {"drift_changes": rows, "drift_measures": looks, "drift_looks": looks}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ([MOVED], "Changed: accuracy went from 0.812 to 0.744, at look 3."),
        ([MOVED | {"likely_first": "T2"}], "Changed: accuracy went from 0.812 to 0.744, around look 3."),
        ([{}], "No change found."),
        ([{"found": "cannot tell"}], "These runs cannot tell."),
        ([MOVED, MOVED], "Changed, with each of 2 models."),
        ([MOVED, {}, {"found": "cannot tell"}],
         "Changed with 1 of 3 models, no change found with 1; with the other, these runs cannot tell."),
        ([MOVED | {"validity_least": 0.4}], "At some look, this model does not answer."),
        ([MOVED | {"validity_least": 0.4, "validity_least_at_most": 0.9}],
         "At some look, whether this model answers cannot be told: between 40 % and 90 % of the probability is on the "
         "options."),
        ([MOVED | {"validity_least": 0.4}, {}],
         "No change found with 1 of 2 models; with the other, these runs cannot tell."),
    ],
)  # fmt: skip
def test_a_verdict_says_what_the_test_found(changes, verdict):
    assert answer_page_question(frames(*changes)).verdict == verdict


def test_the_setup_counts_looks_and_items():
    assert (
        answer_page_question(frames({}), ", in May").setup
        == "1 model was asked about 62 items at 4 times, called looks, in May."
    )
    setup = answer_page_question(frames({}, {"n_items": 0})).setup  # those that the second model never answered, too
    assert setup == "2 models were asked about 62 items at 4 times, called looks."


def test_a_change_comes_with_its_interval_and_its_looks():
    said = answer_page_question(frames(MOVED)).details["drift_series"]
    assert said == (
        "m0: accuracy is 0.068 lower (difference −0.100 to −0.030, for wordings like these), since look 3 (T3).",
    )
    unsure = MOVED | {"likely_first": "T2", "like_lower": float("nan"), "like_upper": float("nan")}
    said = answer_page_question(frames(unsure)).details["drift_series"]
    assert said == (
        "m0: accuracy is 0.068 lower (difference −0.090 to −0.040, for these wordings), since look 3 (T3), or "
        "another look from T2 to T3.",
    )
    assert "drift_series" not in answer_page_question(frames({})).details


@pytest.mark.slow
def test_what_weakens_the_answer_is_said():
    tables = frames(MOVED | {"wordings": "the same each time"}, n_untested=2, n_items=20)
    tables["drift_looks"].loc[2, ["changed_settings", "validity", "n_left_out"]] = ["revision", 0.8, 1]
    said = " ".join(answer_page_question(tables).cautions)
    for words in ("The last 2 looks", "other settings since look 3 (T3): revision", "answers to these: m0",
                  "The validity of m0 lies between 0.80 and 1.00", "1 item of the last look is left out",
                  "Only 20 items"):  # fmt: skip
        assert words in said, words
    assert answer_page_question(frames({})).cautions == (WORD_MEANINGS[1],)
    assert answer_page_question(frames(MOVED)).cautions == ()
    unjudged = answer_page_question(
        frames(MOVED | {"validity_least": 0.4, "validity_least_at_most": 0.9}, MOVED)
    ).cautions
    assert "Not judged: m0 (between 40 % and 90 %)." in unjudged[0]


def test_what_weakens_one_model_names_it():
    tables = frames({}, {}, {})
    of_second = tables["drift_looks"]["model"] == "m1"
    tables["drift_looks"].loc[of_second, "n_left_out"] = 3
    tables["drift_looks"].loc[tables["drift_looks"]["look"] == 2, "changed_settings"] = "revision"
    said = answer_page_question(tables).cautions
    assert any(line.startswith("3 items of the last look of m1 are left out: other looks") for line in said)
    assert [line.partition(":")[0] for line in said if "revision" in line] == ["m0, m1 and m2"]
    tables["drift_looks"]["changed_settings"] = [f"number {row}" for row in range(len(tables["drift_looks"]))]
    assert "The table of looks has more changes of settings." in answer_page_question(tables).cautions


def test_no_model_of_two_times_is_no_change():
    nothing = dict.fromkeys(("drift_changes", "drift_measures", "drift_looks"), pd.DataFrame())
    assert answer_page_question(nothing).verdict == "These runs cannot tell."


def test_the_examples_are_right():
    assert doctest.testmod(narrative).failed == 0


def test_few_items_that_no_test_could_find_a_change_of_are_not_said_to_show_large_ones():
    said = answer_page_question(frames({"n_items": 9, "found": "cannot tell"}, {"n_items": 20}))
    assert said.verdict == "No change found with 1 of 2 models; with the other, these runs cannot tell."
    assert any(
        line.startswith("Even a change of all answers could not be found with so few items or shared wordings: m0.")
        for line in said.cautions
    )
    assert "Only 20 items: only large changes are found." in said.cautions


def test_settings_of_one_model_that_differ_in_the_middle_of_their_names_are_told_apart():
    both = [MOVED | {"model": "org/model", "condition": f"{form}/yes-no/probabilities"} for form in ("plain", "chat")]
    tables = frames(*both)
    tables["drift_looks"].loc[tables["drift_looks"]["look"] == 3, "changed_settings"] = "revision"
    said = answer_page_question(tables)
    names = {line.partition(": ")[0] for line in said.details["drift_series"]}
    assert len(names) == 2
    assert any(line.startswith(" and ".join(sorted(names, reverse=True))) for line in said.cautions)
