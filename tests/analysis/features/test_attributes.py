"""Attributes of wordings as predictors: what is a number, what a category, and what is refused."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import features, runs
from analysis.features import attributes
from ground.errors import InputError
from helpers.attribute_runs import make_attribute_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return runs.open_runs(make_attribute_run(tmp_path_factory.mktemp("attributes") / "run", items=2, paraphrases=8))


def test_numbers_are_floats_and_texts_are_sorted_categories(run):
    grade = attributes.read_attribute_column(run, "attributes.grade")
    assert grade.dtype == float
    assert grade.isna().sum() == 4  # every fifth of 18
    assert grade[1] == 0.5
    assert list(attributes.read_attribute_column(run, "attributes.hedged").cat.categories) == ["no", "yes"]
    assert attributes.describe_attribute_as_predictor(run, "attributes.hedged") == (
        "attributes.hedged: a category: yes compared with no; 18 of 18 wordings have a value"
    )
    assert attributes.describe_attribute_as_predictor(run, "attributes.grade").endswith(
        "a number; 14 of 18 wordings have a value"
    )


@pytest.mark.slow
def test_values_stand_with_the_answers_to_their_wordings(run):
    frame = features.join_answers_with_features(run, attributes=("attributes.hedged", "attributes.grade"))
    stored = run.sql("SELECT item, variant, map_extract(attributes, 'hedged')[1] AS hedged FROM stimuli")
    merged = frame.astype({"item": str, "variant": str}).merge(stored, on=["item", "variant"])
    assert (merged["attributes.hedged"].astype(str) == merged["hedged"]).all()
    assert frame["attributes.grade"].dtype == float
    assert "attributes.grade" not in features.join_answers_with_features(run)


def test_a_name_without_prefix_is_an_attribute_where_no_feature_has_it(run):
    columns = ["agreement", "statement_length"]
    assert attributes.find_predictor_column_or_none("hedged", columns, run) == "attributes.hedged"
    assert attributes.find_predictor_column_or_none("attributes.hedged", columns, run) == "attributes.hedged"
    assert attributes.find_predictor_column_or_none("hedged", ["hedged"], run) == "hedged"
    assert attributes.find_predictor_column_or_none("hedge", columns, run) is None
    assert attributes.suggest_nearest_column("hedge", columns, run) == " (the nearest is 'attributes.hedged')"
    assert attributes.suggest_nearest_column("statement_len", columns, run) == " (the nearest is 'statement_length')"


@pytest.mark.parametrize(
    ("name", "line"),
    [("note", "neither a number .* nor a category: it has 18 different values, and 10"), ("empty", "has no values")],
)
def test_what_is_no_predictor_is_refused(run, name, line):
    with pytest.raises(InputError, match=line):
        attributes.read_attribute_column(run, f"attributes.{name}")


def test_a_name_that_cannot_stand_in_a_formula_is_refused(run):
    with pytest.raises(InputError, match="attribute 'odd name' cannot stand in a formula"):
        attributes.find_predictor_column_or_none("odd name", (), run)


def test_levels_name_their_reference_among_the_rows_that_are_complete():
    tone = pd.Categorical(["a", "b", "c", "b"], categories=["a", "b", "c"])
    rows = pd.DataFrame({"agreement": [float("nan"), 1, 2, 3], "attributes.tone": tone})
    named = attributes.add_reference_to_level_names_in_rows(rows, ["agreement", "attributes.tone"])["attributes.tone"]
    assert list(named.cat.categories) == ["[b vs b]", "[c vs b]"]  # the first level stands in a row without a response
    assert list(named.iloc[1:]) == ["[b vs b]", "[c vs b]", "[b vs b]"]
    columns = ["agreement", "attributes.tone"]
    one_level = attributes.add_reference_to_level_names_in_rows(rows.iloc[[1, 3]], columns)["attributes.tone"]
    assert list(one_level) == [0.0, 0.0]
    assert attributes.add_reference_to_level_names_in_rows(rows, ["agreement"]) is rows
