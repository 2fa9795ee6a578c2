"""Lists become arrays, and answers are read from options, counts and probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.steps.rows import (
    attach_wordings,
    find_answer_or_modal_sample_answer,
    find_place_of_largest_score,
    pick_entry_at_place_per_row,
    stack_lists_into_array,
)


def test_lists_of_different_lengths_and_missing_ones_are_filled_up():
    column = pd.Series([np.array([0.5, 0.25, 0.25]), None, [1.0, 0.0], pd.NA, float("nan")])
    np.testing.assert_array_equal(
        stack_lists_into_array(column),
        [[0.5, 0.25, 0.25], [np.nan] * 3, [1.0, 0.0, np.nan], [np.nan] * 3, [np.nan] * 3],
    )
    assert stack_lists_into_array(pd.Series([["yes", "no"], None]), object).tolist() == [["yes", "no"], [None, None]]
    assert stack_lists_into_array(pd.Series([None])).shape == (1, 2)


def test_the_largest_is_none_where_two_are():
    scores = np.array([[0.1, 0.7], [0.5, 0.5], [np.nan, 0.2], [np.nan, np.nan], [-np.inf, -np.inf]])
    places = find_place_of_largest_score(scores)
    assert places.tolist() == [1, -1, 1, -1, -1]
    assert pick_entry_at_place_per_row(np.array([["a", "b"]] * 5, object), places).tolist() == [
        "b",
        None,
        "b",
        None,
        None,
    ]


def test_an_answer_counts_before_samples_and_a_tie_is_none():
    rows = pd.DataFrame({
        "answer": ["no", None, None, None],
        "count": [[3, 1], [3, 1], [2, 2], None],
        "options": [["yes", "no"]] * 4,
    })  # fmt: skip
    assert find_answer_or_modal_sample_answer(rows).tolist() == ["no", "yes", None, None]


def test_wordings_are_attached_in_the_order_of_the_responses():
    responses = pd.DataFrame({"study": "s", "item": ["b", "a"], "variant": "1", "pattern": "stale"})
    wordings = pd.DataFrame({"study": "s", "item": ["a", "b"], "variant": "1", "pattern": ["x", "y"]})
    rows = attach_wordings(responses, wordings, ["pattern", "attributes.task"])
    assert rows["pattern"].tolist() == ["y", "x"]
    assert rows["attributes.task"].isna().all()
    with pytest.raises(pd.errors.MergeError):
        attach_wordings(responses, pd.concat([wordings, wordings]), ["pattern"])
