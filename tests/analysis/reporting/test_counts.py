"""How models, conditions and combinations hang together."""

from __future__ import annotations

import doctest

import pandas as pd
import pytest

from analysis.reporting.words import counts


def rows(*units: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(units, columns=["study", "model", "condition"])


def test_the_examples_are_right():
    assert doctest.testmod(counts).failed == 0


@pytest.mark.parametrize(
    ("units", "text"),
    [
        ([("s", "a", "x"), ("s", "a", "x")], "1 model"),
        ([("s", "a", "x"), ("t", "a", "x")], "1 model in 2 studies"),
        ([("s", "a", "x"), ("t", "a", "x"), ("s", "b", "y"), ("t", "b", "y")],
         "2 models, each in 2 studies (4 combinations)"),
        ([("s", "a", "x"), ("t", "b", "x")], "2 models"),
        ([("s", "a", "x"), ("s", "a", "y"), ("t", "a", "x"), ("s", "b", "x")],
         "2 models, each in 1 to 3 conditions (4 combinations)"),
        ([("s", f"m{i}", c) for i in range(3) for c in "xy"], "3 models, each in 2 conditions (6 combinations)"),
    ],
)  # fmt: skip
def test_every_combination_is_counted_once(units, text):
    assert counts.phrase_models_in_conditions(rows(*units)) == text


def test_models_of_which_some_show_both_orders_as_one_are_not_said_to_be_asked_in_one_to_two_conditions():
    mixed = rows(("s", "a", "x/yes-no"), ("s", "a", "x/no-yes"), ("s", "b", "x/both orders"))
    assert counts.phrase_models_in_conditions(mixed) == "2 models (3 combinations of model and condition)"


def test_the_verb_agrees_with_the_models_and_follows_a_comma_where_an_apposition_ends():
    assert counts.phrase_models_with_verb(rows(("s", "a", "x"), ("s", "a", "y"))) == "1 model in 2 conditions was"
    assert counts.phrase_models_with_verb(rows(("s", "a", "x"), ("s", "b", "x"))) == "2 models were"
    several = counts.phrase_models_with_verb(rows(("s", "a", "x"), ("s", "a", "y"), ("s", "b", "x"), ("s", "b", "y")))
    assert several == "2 models, each in 2 conditions (4 combinations), were"
