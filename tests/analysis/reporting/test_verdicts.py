"""The rules of all verdicts, one by one."""

from __future__ import annotations

import doctest
import math

import pandas as pd
import pytest

from analysis.reporting import verdicts
from analysis.reporting.thresholds import silent
from analysis.reporting.verdicts import Band, beyond, clear, tally, word

BANDS = (Band("hardly", 0.0, 0.1), Band("yes", 0.1, 1.0))


def test_the_examples_are_right():
    assert doctest.testmod(verdicts).failed == 0


def test_every_rule_is_a_sentence_of_at_most_thirty_words():
    for name, rule in verdicts.RULES.items():
        assert rule.endswith("."), name
        assert all(len(sentence.split()) <= 30 for sentence in rule.split(". ")), name
    assert verdicts.told("holm", "fit") == f"{verdicts.RULES['holm']} {verdicts.RULES['fit']}"


def test_validity_half_of_the_answers_is_enough():
    assert silent(pd.Series([0.49, 0.5, math.nan])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0, 0.1, "hardly"), (0, 0.11, ""), (0.09, 0.5, ""), (0.1, 0.5, "yes"), (0.11, 1.0, "yes"),
     (math.nan, 0.05, ""), (0.0, math.nan, "")],
)  # fmt: skip
def test_interval_a_word_holds_for_the_whole_interval_or_is_not_said(low, high, said):
    assert word(low, high, BANDS) == said


@pytest.mark.parametrize(
    ("low", "high", "people", "said"),
    [(0.33, 0.67, 0.47, ""), (0.48, 0.67, 0.47, "more"), (0.33, 0.46, 0.47, "less"), (0.47, 0.6, 0.47, ""),
     (0.3, 0.47, 0.47, ""), (math.nan, math.nan, 0.47, ""), (math.nan, 0.3, 0.47, ""), (0.3, 0.6, math.nan, "")],
)  # fmt: skip
def test_people_nothing_is_said_where_their_value_lies_in_the_interval(low, high, people, said):
    assert beyond(low, high, people) == said


def test_fit_an_effect_that_the_robust_error_does_not_show_is_not_named():
    ordinary, robust = pd.Series([0.001, 0.001, 0.2, 0.001]), pd.Series([0.01, 0.06, 0.01, math.nan])
    assert clear(ordinary, robust).tolist() == [True, False, False, False]


def test_holm_nothing_differs_at_the_limit_or_without_a_test():
    assert clear(pd.Series([0.049, 0.05, math.nan])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("found", "said"),
    [(["yes"], "Yes."), ([""], "These runs cannot tell."), (["yes"] * 3, "Yes, with each of 3 models."),
     (["hardly", "yes", "hardly"], "Hardly with 2 of 3 models, yes with 1."),
     (["", "yes", ""], "Yes with 1 of 3 models; the intervals of the others are too wide to tell."),
     (["yes", "yes", ""], "Yes with 2 of 3 models; the interval of the other one is too wide to tell.")],
)  # fmt: skip
def test_words_of_several_rows_are_counted(found, said):
    assert tally(found, "3 models" if len(found) == 3 else "1 model") == said
