"""What the page says of people beside models, and of respondents: never more than the rule allows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.pages.scales.people_narrative import (
    describe_consistency_of_scales,
    describe_models_as_close_as_people,
    judge_excess_distance_from_people,
)
from analysis.reporting.words.verdicts import RULES
from analysis.statistics.ratings.comparison import LARGER, NO_LARGER, OPEN


def make_row(model: str, excess: float, half: float, **others: object) -> dict[str, object]:
    return {
        "study": "s", "model": model, "condition": "plain", "persona": None, "scale": "all items", "validity": 0.9,
        "n_people": 100.0,
        "w1": 0.03 + excess, "w1_between": 0.03, "excess": excess, "excess_lower": excess - half,
        "excess_upper": excess + half, "excess_people_lower": excess - half, "excess_people_upper": excess + half,
        **others,
    }  # fmt: skip


def test_models_are_named_by_the_rule():
    rows = pd.DataFrame([
        make_row("near", -0.01, 0.005), make_row("far", 0.05, 0.01), make_row("between", 0.005, 0.01),
        make_row("silent", 0.05, 0.01, validity=0.2), make_row("far", 0.05, 0.01, scale="care"),
    ])  # fmt: skip
    assert list(describe_models_as_close_as_people(rows)) == [
        "No further from people than two groups of people from each other: near.",
        "Further from people than two groups of people from each other: far.",
        "With these people, it is open which of the two holds for between.",
        "Two groups of as many people are 0.030 of the scale apart, on average.",
        "Distances to people go from 0.020 (near) to 0.080 (far).",
    ]
    assert max(len(sentence.split()) for sentence in describe_models_as_close_as_people(rows)) <= 30


def test_people_are_as_far_apart_as_on_the_items_of_any_model():
    """Models that lack items are compared on others."""
    rows = pd.DataFrame([make_row("a", 0.05, 0.01), make_row("b", 0.05, 0.01, w1_between=0.041)])
    assert (
        "Two groups of as many people are 0.030 to 0.041 of the scale apart, on average."
        in describe_models_as_close_as_people(rows)
    )


def test_intervals_are_widened_for_the_number_of_models():
    one = pd.DataFrame([make_row("a", -0.01, 0.0095)])
    assert list(judge_excess_distance_from_people(one)) == [NO_LARGER]
    many = pd.concat([one, *[pd.DataFrame([make_row(f"m{number}", 0.05, 0.03)]) for number in range(9)]])
    assert (
        list(judge_excess_distance_from_people(many)) == [OPEN] + [LARGER] * 9
    )  # 0.0095 * 2.81 / 1.96 is more than 0.01
    assert "widened for the number of models" in RULES["beside people"]


@pytest.mark.parametrize("which", ["excess", "excess_people"])
def test_both_intervals_have_to_agree(which):
    rows = pd.DataFrame([make_row("a", -0.01, 0.005, **{f"{which}_upper": 0.001})])
    assert list(judge_excess_distance_from_people(rows)) == [OPEN]


def test_personas_count_as_all_of_them():
    rows = pd.DataFrame([make_row("m", 0.05, 0.01, persona=name) for name in ("all personas", "ann", "bob")])
    sentences = list(describe_models_as_close_as_people(rows))
    assert sentences[0] == "Further from people than two groups of people from each other: m."
    assert sentences[-1] == "The distance to people is 0.080 of the scale, on average over items."


def test_too_few_people_are_not_called_an_unknown_number():
    rows = pd.DataFrame([make_row("m", np.nan, 0.0, w1=0.1, w1_between=np.nan, n_people=1.0)])
    assert list(describe_models_as_close_as_people(rows)) == [
        "Too few people answered some items: how far they lie from each other by chance is not known.",
        "The distance to people is 0.100 of the scale, on average over items.",
    ]


def test_people_of_unknown_number():
    rows = pd.DataFrame([make_row("m", np.nan, 0.0, w1=0.1, w1_between=np.nan, n_people=np.nan)])
    assert list(describe_models_as_close_as_people(rows)) == [
        "How many people answered is not known: how far they lie from each other by chance is not, either.",
        "The distance to people is 0.100 of the scale, on average over items.",
    ]
    assert list(describe_models_as_close_as_people(pd.DataFrame())) == []


def test_respondents_or_why_not():
    rows = pd.DataFrame([
        {"respondents": "models", "scale": "care", "alpha": np.nan, "why_not": "fewer than 10 respondents (3)"},
        {"respondents": "models", "scale": "order", "alpha": np.nan, "why_not": "fewer than 10 respondents (3)"},
        {"respondents": "people", "scale": "care", "alpha": 0.703, "why_not": ""},
        {"respondents": "people", "scale": "order", "alpha": 0.814, "why_not": "no omega: fewer than 3 items"},
    ]).assign(study="s")  # fmt: skip
    assert list(describe_consistency_of_scales(rows)) == [
        "No alpha over models: fewer than 10 respondents (3).",
        "Over people, Cronbach's alpha is 0.70 to 0.81 in 2 scales.",
    ]
    two_studies = pd.concat([rows, rows.assign(study="t", alpha=[np.nan, np.nan, 0.703, np.nan])])
    assert list(describe_consistency_of_scales(two_studies))[1:] == [
        "Over people, Cronbach's alpha is 0.70 to 0.81 in 3 of 4 scales."
    ]
    assert list(describe_consistency_of_scales(rows[2:3])) == ["Over people, Cronbach's alpha is 0.70."]
    assert list(describe_consistency_of_scales(pd.DataFrame())) == []


def test_of_two_studies_it_is_said_which_one_people_are_put_beside():
    rows = pd.DataFrame([make_row("near", -0.01, 0.005), make_row("far", 0.05, 0.01, study="t")])
    sentences = list(describe_models_as_close_as_people(rows))
    assert sentences[0] == "People are put beside the models of s alone; the table has all."
    assert not any("far" in sentence for sentence in sentences)
    of_second = list(describe_models_as_close_as_people(rows.assign(validity=[0.2, 0.9])))
    assert of_second[0].startswith("People are put beside the models of t") and of_second[1].endswith(": far.")


def test_a_model_is_named_with_its_setting_where_it_does_not_answer_in_another():
    rows = pd.DataFrame([make_row("m", 0.05, 0.01), make_row("m", 0.05, 0.01, condition="turned", validity=0.2)])
    first, *_, last = describe_models_as_close_as_people(rows)
    assert first == "Further from people than two groups of people from each other: m · plain."
    assert last == "The distance of m · plain to people is 0.080 of the scale, on average over items."
