"""Choices and scores as items and wordings: every number beside one that is read from the rows the slow way."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures import scores
from analysis.measures.reworded import ACCURACY, SCORE
from analysis.measures.reworded.study import AVERAGED, CROSSED, NESTED, ONE, ORDERS_CROSSED, ORDERS_NESTED
from analysis.pages.reliability import narrative, tables, templates
from analysis.pages.reliability.page import ReliabilityPage
from analysis.reporting.catalogue.rewordings import list_reasons_protocols_are_not_compared, read_reworded_studies
from analysis.reporting.catalogue.tables import build_table
from analysis.reporting.words import beyond
from helpers import choice_runs, scoring_runs, textbook
from helpers.prompted_runs import prompted
from helpers.synthetic import random_frame, write_run

pytestmark = pytest.mark.slow


def asked_once(orders=("ABCD",), wordings=("0-shot", "5-shot"), items=12, template=True, choices=4):
    """Questions as a log has them: wordings that all share, the options in some fixed orders."""
    rows = [
        {
            "item": f"q{i:02d}", "variant": f"{wording}/{number}", "pattern": wording, "gold": "ABCD"[i % choices],
            "text": f"Question {i}?", "options": list("ABCD"), "canonical": list(order), "language": "en",
            "attributes": {"wording": wording, "order": order} | ({"template": wording} if template else {}),
        }
        for i in range(items) for wording in wordings for number, order in enumerate(orders, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def read_one(path, asked, models=("a", "b"), **options):
    rows = choice_runs.answers(asked, models, **options)
    (found,) = read_reworded_studies(runs.open_runs(choice_runs.write_choice(path / "run", rows)))
    return found, rows.assign(right=[choice_runs.meant(row) == row["gold"] for row in rows.to_dict("records")])


def expected(rows, model, columns):
    own = rows[rows["model"] == model]
    return own.pivot_table(index="item", columns=columns, values="right", aggfunc="mean", sort=False)


def test_paraphrases_are_their_questions_own_and_orders_are_averaged(tmp_path):
    asked = choice_runs.questions(15, orders=4)
    asked["text"] = [hashlib.md5((row.item + row.pattern).encode()).hexdigest() for row in asked.itertuples()]
    found, rows = read_one(tmp_path, asked)
    assert (found.measure, found.design, found.headline) == (ACCURACY, NESTED + AVERAGED, True)
    assert found.values.shape == (2, 15, 3) and set(np.unique(found.values)) <= {0, 0.25, 0.5, 0.75, 1}
    for number, model in enumerate("ab"):
        np.testing.assert_allclose(found.values[number], expected(rows, model, "pattern")[list(choice_runs.WORDINGS)])
        clusters = [list(own["right"]) for _, own in rows[rows["model"] == model].groupby("item")]
        assert found.estimate_mean_and_components(number).compute_interval("items") == pytest.approx(
            textbook.share(clusters), abs=1e-9
        )


@pytest.mark.parametrize(
    ("orders", "template", "design"),
    [(("ABCD",), True, CROSSED), (("ABCD", "DCBA"), True, CROSSED + AVERAGED), (("ABCD",), False, NESTED)],
)
def test_shots_of_a_log_are_shared_where_they_name_their_template(tmp_path, orders, template, design):
    found, rows = read_one(tmp_path, asked_once(orders, template=template))
    assert found.design == design and found.wordings == (["0-shot", "5-shot"] if template else [])
    np.testing.assert_allclose(found.values[1], expected(rows, "b", "pattern"))


def test_orders_are_the_wordings_of_questions_in_one_wording(tmp_path):
    shared, rows = read_one(tmp_path / "1", asked_once(("ABCD", "BCDA", "CDAB"), ["original"], template=False))
    assert shared.design == ORDERS_CROSSED and shared.wordings == ["ABCD", "BCDA", "CDAB"]
    np.testing.assert_allclose(shared.values[0], expected(rows, "a", "variant"))
    asked = choice_runs.questions(10, orders=5)
    own, _ = read_one(tmp_path / "2", asked[asked["pattern"] == "original"])
    assert own.design == ORDERS_NESTED and own.wordings == []
    path = choice_runs.write_choice(tmp_path / "3", choice_runs.answers(asked_once(("ABCD", "BCDA"), ["original"])))
    assert set(templates.tabulate_accuracies_by_template(runs.open_runs(path))["template"]) == {"ABCD", "BCDA"}


def test_a_text_that_is_no_choice_is_wrong(tmp_path):
    asked = asked_once(("ABCD", "BCDA"))
    said = choice_runs.always(asked, lambda row: None if row["item"] == "q03" else choice_runs.right(row))
    (found,) = read_reworded_studies(runs.open_runs(choice_runs.write_choice(tmp_path / "run", said)))
    assert (found.values[0, 3] == 0).all() and np.delete(found.values[0], 3, axis=0).min() == 1
    assert found.validity == pytest.approx([11 / 12])


def test_one_order_of_one_wording_tells_means_only(tmp_path):
    rows = choice_runs.answers(asked_once(wordings=["0-shot"], items=30), ["a", "b"])
    opened = runs.open_runs(choice_runs.write_choice(tmp_path / "run", rows))
    row = tables.tabulate_precision_of_means(opened).iloc[0]
    assert row["design"] == ONE and row["mean_lower"] < row["mean"] < row["mean_upper"]
    assert row[["like_lower", "error", "widening", "widening_upper"]].isna().all()
    assert row["missing"] == "the wording that all items share is not told apart from the items"
    assert (
        templates.tabulate_accuracies_by_template(opened).empty
        and beyond.describe_differences_beyond_rewording(opened) == ""
    )
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert "one of each item" in narrative.answer_page_question(frames).verdict
    (pair,) = frames["beyond_rewording"].to_dict("records")
    assert pair["p_items"] == pair["p_items"] and np.isnan([pair["p"], pair["p_holm"], pair["same_both"]]).all()


def test_prompts_that_differ_in_nothing_else_are_shared_wordings(tmp_path):
    path, drawn = prompted(tmp_path / "run")
    (found,) = read_reworded_studies(runs.open_runs(path))
    assert (found.measure, found.design, found.headline) == (SCORE, CROSSED, True)
    assert found.wordings == ["Waver's prompt", "mine", "yours"]
    assert found.units == [(model, "plain/0-10/t0.7") for model in "abc"]
    np.testing.assert_allclose(found.values, drawn.mean(axis=3) / 10, atol=1e-12)
    np.testing.assert_allclose(found.spread, drawn.var(axis=3, ddof=1) / 100, atol=1e-12)
    assert (found.samples == 4).all()
    row = tables.tabulate_variance_components(runs.open_runs(path)).iloc[1]
    assert row["sample"] == pytest.approx(drawn[1].var(axis=2, ddof=1).mean() / 100, abs=1e-12)
    assert row["n_samples"] == pytest.approx(4) and row["missing"] == ""


def test_scales_and_temperatures_are_conditions_of_one_wording(tmp_path):
    path = scoring_runs.make_run(tmp_path / "run", {"g": 12})
    (found,) = read_reworded_studies(runs.open_runs(path))
    assert found.design == ONE and len(found.units) == 4 * 2 * 2 * 2
    rows = scores.read_scores(runs.open_runs(path))
    for number, (model, condition) in enumerate(found.units):
        own = rows[(rows["model"] == model) & (rows["condition"] == condition)]
        share = (own["score"] - own["low"]) / (own["high"] - own["low"])
        np.testing.assert_allclose(found.values[number, :, 0], share, atol=1e-12)
        assert (found.estimate_unit_sampling_spread(number) is None) == condition.endswith("/exact")


def test_conditions_of_one_prompt_and_setting_stay_apart(tmp_path):
    path, _ = prompted(tmp_path / "run", ["a"], ["mine", "yours"])
    fields = scoring_runs.condition((0, 10), 0.7, "sampled")
    rows = scoring_runs.stimuli({"g": [50.0, 60.0, 70.0]}).assign(model="a", score=5.0, output=[["5"]] * 3, invalid=0)
    two = pd.concat([rows.assign(condition=name) for name in ("x", "y")], ignore_index=True)
    path = scoring_runs.write_scores(tmp_path / "two", two, {"x": fields, "y": fields})
    (found,) = read_reworded_studies(runs.open_runs(path))
    assert found.units == [("a", "x"), ("a", "y")] and found.has_single_wording


def test_texts_that_do_not_give_the_score_tell_no_samples(tmp_path):
    """The texts are read again; where their mean is not the score, they were read by another rule."""
    rows = scoring_runs.stimuli({"g": [50.0, 60.0]}).assign(
        model="m", condition="x", score=[3.0, 4.5], output=[["2", "4"], ["2", "11 of 9"]], invalid=0, clipped=0
    )
    path = scoring_runs.write_scores(tmp_path / "run", rows, {"x": scoring_runs.condition((0, 9), 0.7, "sampled", 2)})
    opened = runs.open_runs(path)
    scores.read_scores(opened)
    found = scores.read_sample_counts_and_variances(opened)
    assert found["drawn"].tolist() == [2, 2]
    assert found["spread"].tolist() == pytest.approx([2.0, np.nan], nan_ok=True)  # 2 and 9 have a mean of 5.5


def test_several_protocols_are_read_together(tmp_path):
    prompted(tmp_path / "scores", prompts=[None])
    choice_runs.write_choice(tmp_path / "choices", choice_runs.answers(choice_runs.questions(6, orders=2)))
    write_run(tmp_path / "opinions", random_frame(["a"], items=4, paraphrases=3))
    opened = runs.open_runs(tmp_path)
    found = read_reworded_studies(opened)
    assert {study.measure for study in found} == {"agreement", "logit", "accuracy", "score"}
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    said = narrative.answer_page_question(frames)
    assert "in one or several wordings" in said.setup
    assert "Asked in one wording, so that nothing is said about others: judged." in said.cautions


def test_accuracies_say_why_their_wordings_are_not_compared():
    """`waver compare` and `waver check` said that "page reliability names no reader of its wordings"."""
    assert list_reasons_protocols_are_not_compared({"accuracies"}) == (
        "accuracies: accuracies by template hold no answers to single items",
    )


def test_models_that_do_not_answer_are_not_said_to_have_valid_answers(tmp_path):
    opened = runs.open_runs(
        write_run(tmp_path / "run", random_frame(["a", "b"], items=4, paraphrases=3).assign(mass=0.1))
    )
    said = narrative.answer_page_question({name: build_table(name, opened, resamples=0) for name in narrative.TABLES})
    assert said.verdict == "These models do not answer."
    assert said.setup == "2 models were asked about 4 items in several wordings."


def test_an_interval_of_reliability_that_reaches_0_says_so(tmp_path):
    opened = runs.open_runs(prompted(tmp_path / "run", models=["a", "b"])[0])
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert frames["ranking_reliability"]["relative_lower"].iloc[0] == 0
    said = narrative.answer_page_question(frames)
    assert said.verdict.endswith("is not shown to be reliable.")
    assert "is not shown to be reliable" in said.details["wording_ranking"][0]


def test_the_page_says_what_samples_of_one_wording_tell(tmp_path):
    path, drawn = prompted(tmp_path / "run", prompts=[None], items=40, samples=6)
    page = ReliabilityPage([str(path)], resamples=0)
    page.answer()
    said = page._answer
    assert (
        said.setup.startswith("3 models were asked about 40 items in one wording")
        and "with 6 samples each" in said.setup
    )
    assert said.verdict.startswith("These runs cannot tell whether the wording was enough: there is one of each item.")
    assert said.verdict.endswith("in this wording.")
    values = drawn[:, :, 0] / 10
    noise = values.var(axis=2, ddof=1).mean(axis=1)
    item = values.mean(axis=2).var(axis=1, ddof=1) - noise / 6
    many, one = item / (item + noise / 6), item / (item + noise)
    (sentence,) = said.details["variance_components"]
    assert sentence == (
        "Score from 6 samples of one wording tells items of judged apart with a reliability of "
        f"{many.min():.2f} to {many.max():.2f} by 3 models; from one, {one.min():.2f} to {one.max():.2f}."
    )


def test_scores_that_never_differ_have_missing_figures(tmp_path):
    path = scoring_runs.one_judge(tmp_path / "run", [4.0, 4.0, 4.0], [10.0, 20.0, 30.0])
    opened = runs.open_runs(path)
    row = tables.tabulate_precision_of_means(opened).iloc[0]
    assert row["mean"] == pytest.approx(4 / 9) and row[["like_lower", "widening"]].isna().all()
    ends = textbook.mean_score([4 / 9] * 3, True)  # as wide as that of three answers of 0 and 1
    assert (row["mean_lower"], row["mean_upper"]) == pytest.approx(ends, abs=1e-12)
    assert "no answer has two samples" in tables.tabulate_variance_components(opened)["missing"].iloc[0]
