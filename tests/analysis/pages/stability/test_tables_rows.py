"""What a response may hold, what it means for `analysis.pages.stability.tables`, and what is refused."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import cases, tables
from ground.errors import InputError
from helpers.synthetic import paraphrases, write_run

pytestmark = pytest.mark.slow


def test_permuted_options_mean_what_canonical_says(opened):
    # All three rows say 0.9 for agreement, under other labels and in another order.
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2", "p3"]})
    rows["options"] = [["yes", "no"], ["no", "yes"], ["wrong", "right"]]
    rows["canonical"] = [["agree", "disagree"], ["disagree", "agree"], ["agree", "disagree"]]
    rows["probability"] = [[0.45, 0.05], [0.05, 0.45], [0.45, 0.05]]
    rows["mass"] = 0.5
    row = tables.tabulate_item_answers_over_paraphrases(opened(rows)).iloc[0]
    assert [row["agreement_min"], row["agreement_max"]] == pytest.approx([0.9, 0.9])


def test_permuted_answers_mean_what_canonical_says(opened):
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2", "p3"]})
    rows["options"] = [["yes", "no"], ["yes", "no"], ["no", "yes"]]
    rows["canonical"] = [["agree", "disagree"], ["disagree", "agree"], ["disagree", "agree"]]
    rows["answer"] = ["yes", "no", "yes"]
    assert tables.tabulate_item_answers_over_paraphrases(opened(rows))["agreement_min"].tolist() == [1.0]


def test_the_first_canonical_label_of_the_study_is_measured(opened):
    rows = paraphrases({"x": [0.2, 0.3]})
    table = tables.tabulate_item_answers_over_paraphrases(opened(rows, canonical=("disagree", "agree")))
    assert table["agreement_max"].tolist() == [pytest.approx(0.3)]  # now of "disagree", which stands first


def test_counts_and_answers(opened):
    # p1: 3 of 4 valid samples agree, 1 is invalid. p2: the answer "disagree". p3: no valid answer. p4: all 5 invalid.
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2", "p3", "p4"]})
    rows["count"] = [[3, 1], None, None, [0, 0]]
    rows["invalid"] = [1, None, None, 5]
    rows["answer"] = ["agree", "disagree", None, None]
    row = tables.tabulate_item_answers_over_paraphrases(opened(rows)).iloc[0]
    assert [row["agreement_min"], row["agreement_max"]] == [0.0, 0.75]
    assert row["validity_mean"] == pytest.approx((0.8 + 1 + 0 + 0) / 4)
    assert row[["n_variants", "n_valid", "n_invalid"]].tolist() == [4, 2, 2]


def test_probabilities_go_before_counts_and_answers(opened):
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2"]})
    rows["probability"] = [[0.1, 0.3], [0.0, 0.0]]
    rows["mass"] = [0.4, 0.0]
    rows["count"] = [[9, 1], [9, 1]]
    rows["answer"] = "agree"
    row = tables.tabulate_item_answers_over_paraphrases(opened(rows)).iloc[0]
    assert row["agreement_mean"] == pytest.approx(0.25)  # the second has no mass: undefined, not what the answer says
    assert row[["n_valid", "n_invalid"]].tolist() == [1, 1]
    assert row["validity_mean"] == pytest.approx(0.2)


def test_the_mass_may_be_missing(opened):
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2"], "mass": [None, 0.7]})
    rows["probability"] = [[0.1, 0.3], [0.3, 0.4]]
    assert tables.tabulate_item_answers_over_paraphrases(opened(rows))["validity_mean"].tolist() == [
        pytest.approx(0.55)
    ]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("probability", [0.1, 0.2, 0.3], "probability .* has not as many entries as there are options"),
        ("probability", [0.1], "probability .* has not as many entries as there are options"),
        ("probability", [-0.1, 0.3], "probability .* has an entry below 0"),
        ("probability", [math.nan, 0.3], "probability .* has an entry that is not a number"),
        ("probability", [20.0, 30.0], "probability .* has a sum above 1"),
        ("count", [1, 2, 3], "count .* has not as many entries as there are options"),
        ("count", [0, 0], "count '\\[0, 0\\]' holds no samples"),
        ("count", [-1, 3], "count .* has an entry below 0"),
        ("answer", "perhaps", "answer .* is none of the options"),
    ],
)
@pytest.mark.parametrize("others", ["alike", "other"])
def test_values_that_cannot_be_are_refused(opened, column, value, expected, others):
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2"]})
    usual = {"probability": [0.5, 0.5], "count": [1, 1], "answer": "agree"}[column]
    rows[column] = [usual if others == "alike" else None, value]
    if column == "probability":
        # With every mass there, rows are read in the short way; a missing one makes them be looked at one by one.
        rows["mass"] = [1.0 if others == "alike" else None, None if others == "other" or sum(value) > 1 else 1.0]
    if others == "other" and column != "answer":
        rows["answer"] = ["agree", None]
    with pytest.raises(InputError, match=expected) as caught:
        tables.tabulate_item_answers_over_paraphrases(opened(rows))
    assert "item 'x'" in str(caught.value) or "item x" in str(caught.value)


@pytest.mark.parametrize("variant", ["p1", "original"])
def test_a_variant_is_not_answered_twice(opened, variant):
    rows = paraphrases({"x": [0.2, 0.4], "y": [0.2, 0.3]}, original=0.5)
    again = rows[(rows["item"] == "x") & (rows["variant"] == variant)]
    with pytest.raises(InputError, match="item 'x' has more answers than variants"):
        tables.tabulate_item_answers_over_paraphrases(opened(pd.concat([rows, again])))


def test_an_item_must_be_in_the_stimuli(tmp_path):
    path = write_run(tmp_path / "run", paraphrases({"x": [0.2, 0.4], "y": [0.2, 0.3]}))
    write_run(tmp_path / "other", paraphrases({"x": [0.2, 0.4]}))
    (tmp_path / "other" / "stimuli.parquet").replace(path / "stimuli.parquet")
    with pytest.raises(InputError, match=r"item 'y'.* not in stimuli\.parquet"):
        tables.tabulate_item_answers_over_paraphrases(runs.open_runs(path))


def test_agreement_needs_two_canonical_labels(tmp_path):
    labels = ["a", "b", "c"]
    rows = pd.DataFrame({"item": "x", "variant": ["p1", "p2"], "answer": "a"})
    run = runs.open_runs(write_run(tmp_path / "run", rows, canonical=labels))
    for table in (
        tables.tabulate_stability,
        tables.tabulate_item_answers_over_paraphrases,
        cases.tabulate_two_most_different_wordings,
        cases.tabulate_counts_of_invalid_answers,
        cases.tabulate_excluded_items,
    ):
        with pytest.raises(InputError, match=r"run\.json: study\.canonical is .*; agreement needs two labels"):
            table(run)
    assert len(run.sql("FROM responses")) == 2  # still good for other protocols


@pytest.mark.parametrize("canonical", [["agree", "agree"], ["agree", "neutral"], ["agree"]])
def test_options_must_mean_the_canonical_labels(opened, canonical):
    rows = paraphrases({"x": [0.2, 0.4]}).assign(probability=[[0.5, 0.5]] * 2).drop(columns="agreement")
    rows["options"] = [["agree", "disagree"]] * 2
    rows["canonical"] = [["agree", "disagree"], canonical]
    with pytest.raises(InputError, match=r"stimuli\.parquet: item 'x', variant 'p2'"):
        tables.tabulate_item_answers_over_paraphrases(opened(rows))
