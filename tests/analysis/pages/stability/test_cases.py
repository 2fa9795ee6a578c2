"""`divergent`, `distribution`, `outliers` and `invalid` by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from analysis.pages.stability import cases
from analysis.pages.stability.page import StabilityPage
from ground.errors import InputError
from helpers.synthetic import paraphrases, random_frame, write_run


def test_divergent_by_hand(opened):
    rows = paraphrases({"x": [0.2, 0.9, 0.5], "y": [0.4, 0.1, 0.95], "z": [0.6, 0.6, 0.6]})
    run = opened(rows)
    assert cases.tabulate_two_most_different_wordings(run).values.tolist() == [
        ["synthetic", "m", "plain/yes-no", "y", "y: p2", pytest.approx(0.1), "y: p3", 0.95, pytest.approx(0.85)]
    ]
    assert cases.tabulate_two_most_different_wordings(run, k=None)["item"].tolist() == ["y", "x"]  # z never moves


@pytest.mark.slow
def test_divergent_needs_a_positive_number(opened):
    with pytest.raises(InputError, match="k is 0"):
        cases.tabulate_two_most_different_wordings(opened(paraphrases({"x": [0.2, 0.9]})), k=0)


def test_distribution_by_hand(opened):
    # 0.10 0.20 0.30 0.40 1.00: quartiles 0.20, 0.30, 0.40; fences -0.10 and 0.70, so 1.00 is an outlier.
    run = opened(paraphrases({"x": [0.1, 0.2, 0.3, 0.4, 1.0]}, original=0.0))
    row = cases.tabulate_agreement_quartiles_of_items(run).iloc[0]
    assert row[["q25", "median", "q75"]].tolist() == pytest.approx([0.2, 0.3, 0.4])
    assert row[["whisker_low", "whisker_high", "n"]].tolist() == pytest.approx([0.1, 0.4, 5])
    assert cases.tabulate_agreement_outliers(run)[["item", "variant", "agreement", "outside"]].values.tolist() == [
        ["x", "p5", 1.0, 0.6]
    ]


def test_the_furthest_outlier_comes_first(opened):
    # y: quartiles 0.50 throughout, so 0.40 lies 0.10 and 0.95 lies 0.45 outside.
    values = {"x": [0.1, 0.2, 0.3, 0.4, 1.0], "y": [0.5, 0.5, 0.4, 0.5, 0.5, 0.95, 0.5, 0.5]}
    dots = cases.tabulate_agreement_outliers(opened(paraphrases(values)))
    assert dots[["item", "variant"]].values.tolist() == [["x", "p5"], ["y", "p6"], ["y", "p3"]]
    assert dots["outside"].tolist() == pytest.approx([0.6, 0.45, 0.1])


@pytest.mark.slow
def test_the_distribution_is_the_same_in_small_portions(opened, tmp_path, monkeypatch):
    frames = [random_frame(list("abc"), items=3, paraphrases=5, seed=seed) for seed in (1, 2)]
    run = runs.open_runs(*(write_run(tmp_path / name, f, study=name) for name, f in zip("xy", frames, strict=True)))
    again = runs.open_runs(*(folder.path for folder in run.folders))
    whole = cases.tabulate_agreement_quartiles_of_items(run)
    monkeypatch.setattr(cases, "_PORTION", 30)  # two models of 15 answers each
    assert [models for _, models in cases._split_models_into_portions(run)] == [["a", "b"], ["c"], ["a", "b"], ["c"]]
    pd.testing.assert_frame_equal(cases.tabulate_agreement_quartiles_of_items(again), whole)


def test_a_whisker_is_never_inside_its_box(opened):
    # 0 0 0 1: q75 is interpolated to 0.25 while the largest answer within the fence is 0.
    row = cases.tabulate_agreement_quartiles_of_items(opened(paraphrases({"x": [0, 0, 0, 1.0]}))).iloc[0]
    assert row[["q25", "q75", "whisker_low", "whisker_high"]].tolist() == [0.0, 0.25, 0.0, 0.25]


def test_examples_of_invalid_answers(opened):
    outputs = ["Maybe.", "Perhaps", "Maybe.", "yes", 'I, being a "model", <b>', "Zz"]
    rows = pd.DataFrame({"item": "x", "variant": [f"p{i}" for i in range(6)], "output": [[text] for text in outputs]})
    rows["answer"] = [None, None, None, "agree", None, None]
    run = opened(rows)
    assert cases.tabulate_counts_of_invalid_answers(run)["examples"].tolist() == [
        ["Maybe.", 'I, being a "model", <b>', "Perhaps"]
    ]
    assert cases.tabulate_counts_of_invalid_answers(run, examples=1)["examples"].tolist() == [["Maybe."]]
    assert cases.tabulate_counts_of_invalid_answers(run, examples=0)["examples"].tolist() == [[]]


def test_bounds_that_unread_answers_allow(opened):
    """Issue 11: 9 % of the answers read agreed where people found 17 %; 5 of 10 answers could not be read."""
    given = pd.DataFrame({"item": "x", "variant": [f"p{i}" for i in range(10)], "model": "given"})
    given["answer"] = ["agree", *["disagree"] * 4, *[None] * 5]
    sampled = pd.DataFrame({"item": "x", "variant": ["p0", "p1"], "model": "sampled"})
    sampled["count"], sampled["invalid"] = [[3, 1], [0, 0]], [4, 8]
    asked = pd.DataFrame({"item": "x", "variant": ["p0", "p1"], "model": "asked", "agreement": [0.2, 0.4], "mass": 0.5})
    found = cases.tabulate_counts_of_invalid_answers(
        opened(pd.concat([given, sampled, asked], ignore_index=True))
    ).set_index("model")
    bounds = ["n_written", "read_agreement", "least_agreement", "most_agreement"]
    assert found.loc["given", bounds].tolist() == pytest.approx([10, 1 / 5, 1 / 10, 6 / 10])
    assert found.loc["sampled", bounds].tolist() == pytest.approx([2, 3 / 4, 3 / 16, 15 / 16])
    assert found.loc["asked", "n_written"] == 0  # mass that is on no option is no text that could be read
    assert found.loc["asked", bounds[1:]].isna().all()


@pytest.mark.slow
def test_examples_mark_what_differs_and_leave_out_models_with_one_answer(tmp_path):
    rows = paraphrases({"x": [0.2, 0.9]}).assign(text=["Tea <is> good.", "Tea is bad."])
    turned = [rows.assign(model="turned"), rows.assign(model="firm", agreement=[0.6, 0.9])]
    run = write_run(tmp_path / "run", pd.concat(turned, ignore_index=True))
    html = StabilityPage([str(run)], resamples=0).examples().text
    assert html.count('<section class="example">') == 1
    assert "Tea <mark>&lt;</mark>is<mark>&gt; good</mark>." in html
    assert "Tea is <mark>bad</mark>." in html
    assert "furthest apart get the same answer from firm." in html


@pytest.mark.slow
def test_an_example_names_study_and_condition_where_the_page_has_several(tmp_path):
    """Of the one study and condition with an example, a label said the model only."""
    rows = [paraphrases({"x": ends}, condition=condition) for condition, ends in (("a", [0.2, 0.9]), ("b", [0.6, 0.9]))]
    folders = [write_run(tmp_path / "first", pd.concat(rows), study="first"),
               write_run(tmp_path / "second", paraphrases({"x": [0.6, 0.7]}, mass=0.1), study="second")]  # fmt: skip
    html = StabilityPage([str(folder) for folder in folders], resamples=0).examples().text
    assert "m · a · first" in html and "get the same answer from m · b · first." in html


@pytest.mark.slow
def test_no_example_is_shown_where_no_model_gives_two_answers(tmp_path):
    run = write_run(tmp_path / "run", paraphrases({"x": [0.5, 0.9]}))
    html = StabilityPage([str(run)], resamples=0).examples().text
    assert "<section" not in html
    assert "The two wordings of an item that are furthest apart get the same answer from m." in html
