"""The tables of the page on reliability beside numbers computed the slow way, and what is refused or missing."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import runs
from analysis.measures.reworded import CROSSED, NESTED
from analysis.pages.reliability import captions, comparisons, narrative, tables, templates
from analysis.reporting import words
from analysis.reporting.catalogue import look_up_table
from analysis.reporting.catalogue.rewordings import read_reworded_studies
from analysis.reporting.catalogue.tables import (
    build_table,
    choose_caption_for_shown_columns,
    list_shown_columns,
    render_table_in_text_format,
)
from analysis.reporting.output import provenance
from analysis.statistics.reliability.panel import estimate_panel_mean
from analysis.statistics.shares import wilson
from ground.errors import InputError
from helpers import choice_runs, text_feature_runs, textbook, wording_runs
from helpers.figures import check_caption
from helpers.scored_runs import draw_scores, write_scored
from helpers.synthetic import edit_run_json, paraphrases, random_frame, write_run

pytestmark = pytest.mark.slow

MODELS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Three models, eight items with five paraphrases of their own; the third answers as the second."""
    frame = random_frame(MODELS, items=8, paraphrases=5).assign(mass=0.9)
    names = frame["item"] + frame["variant"]
    frame["text"] = [hashlib.md5(name.encode()).hexdigest() for name in names]  # nothing that two of them share
    frame.loc[frame["model"] == "c", "agreement"] = frame.loc[frame["model"] == "b", "agreement"].to_numpy()
    path = tmp_path_factory.mktemp("own") / "run"
    return runs.open_runs(write_run(path, frame)), frame[frame["variant"] != "original"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Two models, 30 items in the templates that the kinds of wording are, with right answers."""
    rows = wording_runs.random_rows(["m", "n"], items=30, invalid=0, seed=2)
    return runs.open_runs(wording_runs.write_wording(tmp_path_factory.mktemp("shared") / "run", rows)), rows


def test_models_that_give_one_answer_are_not_ranked(tmp_path):
    """The page said that the ranking has a reliability of 0.16 to 1.00, from what rounding left of 0.3."""
    frame = random_frame(MODELS[:2], items=7, paraphrases=3).assign(agreement=0.3)
    frame["mass"] = np.random.default_rng(0).uniform(0.6, 0.9, len(frame))
    opened = runs.open_runs(write_run(tmp_path / "run", frame))
    answer = narrative.answer_page_question({name: build_table(name, opened) for name in narrative.TABLES})
    assert "reliab" not in answer.verdict
    parts = build_table("variance_components", opened).query("headline")
    assert (parts[["item", "wording"]] == 0).all(axis=None) and parts[["icc", "alpha"]].isna().all(axis=None)
    assert parts["missing"].str.startswith("all answers are alike").all()


def test_shared_wordings_with_equal_means_have_no_interval_and_say_so(tmp_path):
    """The interval of their component was 0 to 0."""
    rows = wording_runs.said(dict.fromkeys(["original", *wording_runs.PATTERNS[::2]], "yynyn"), ["yes"] * 5)
    opened = runs.open_runs(wording_runs.write_wording(tmp_path / "run", rows))
    row = build_table("variance_components", opened).iloc[0]
    assert row["wording"] == 0 and np.isnan(row["wording_lower"]) and row["interaction_upper"] > 0
    assert "no interval of the wordings: their means are equal" in row["missing"]


def test_paraphrases_are_their_items_own_and_templates_are_shared(own, shared, tmp_path):
    assert {study.design for study in read_reworded_studies(own[0])} == {NESTED}
    assert {study.design for study in read_reworded_studies(shared[0])} == {CROSSED}
    texts = [
        (f"item-{i}", f"t{j}", frame.format(said))
        for i, said in enumerate(["cats purr", "dogs bark", "birds sing"])
        for j, frame in enumerate(["Is it so that {}?", "Do you think that {}?", "Some say: {}. Right?"])
    ]
    asked = pd.DataFrame(texts, columns=["item", "variant", "text"])
    by_text = runs.open_runs(write_run(tmp_path / "run", text_feature_runs.answers(asked)))
    assert {study.design for study in read_reworded_studies(by_text)} == {CROSSED}


def test_orders_of_the_same_words_are_shared(tmp_path):
    texts = [
        (f"item-{i}", f"order-{j}", " or ".join(pair[:: 1 - 2 * j]) + " ?")
        for i, pair in enumerate([("run", "hide"), ("buy now", "wait"), ("tell her", "keep quiet")])
        for j in range(2)
    ]
    asked = pd.DataFrame(texts, columns=["item", "variant", "text"])
    opened = runs.open_runs(write_run(tmp_path / "run", text_feature_runs.answers(asked)))
    assert {study.design for study in read_reworded_studies(opened)} == {CROSSED}


def test_a_mean_has_the_interval_of_its_items(own):
    opened, frame = own
    table = tables.tabulate_precision_of_means(opened).set_index(["model", "measure"])
    found = table.loc[("a", "agreement")]
    means = frame[frame["model"] == "a"].groupby("item")["agreement"].mean()
    assert found["mean"] == pytest.approx(means.mean(), abs=1e-12)
    expected = textbook.mean_score(list(means), True)
    assert (found["mean_lower"], found["mean_upper"]) == pytest.approx(expected, abs=1e-9)
    of_a = frame[frame["model"] == "a"].assign(logit=lambda rows: np.log(rows["agreement"] / (1 - rows["agreement"])))
    assert table.loc[("a", "logit"), "mean"] == pytest.approx(of_a.groupby("item")["logit"].mean().mean(), abs=1e-12)
    assert found["like_upper"] == found["mean_upper"]  # own wordings: other items bring others


def test_shared_wordings_widen_the_interval(shared):
    found = tables.tabulate_precision_of_means(shared[0])
    assert (found["n_wordings"] == 5).all() and set(found["measure"]) == {"agreement", "logit", "accuracy"}
    wider = found["like_upper"] - found["like_lower"] - (found["mean_upper"] - found["mean_lower"])
    assert (wider >= 0).all() and (wider > 0).any()


def test_accuracy_is_of_the_likelier_option_and_known_by_template(shared):
    opened, rows = shared
    found = templates.tabulate_accuracies_by_template(opened)
    right = rows["probability"].str[0] >= rows["probability"].str[1]
    right = right ^ (rows["pattern"] == "antonym") ^ (rows["gold"] == "no")
    expected = right.groupby([rows["model"], rows["pattern"] + "-1"]).mean()
    ours = found.set_index(["model", "template"])["accuracy"]
    pd.testing.assert_series_equal(ours.sort_index(), expected.sort_index(), check_names=False, atol=1e-12)
    row = found.iloc[0]
    ends = wilson(np.asarray(row["accuracy"]), np.asarray(float(row["n_items"])), 0.95)
    assert (row["accuracy_lower"], row["accuracy_upper"]) == pytest.approx(tuple(map(float, ends)), abs=1e-9)
    scores = templates.tabulate_accuracy_summaries_over_templates(opened).set_index("model")
    assert scores.loc["m", "highest"] == pytest.approx(expected["m"].max())
    assert scores.loc["m", "combined"] == pytest.approx(
        (1 - expected["m"].max() + expected["m"].mean()) * expected["m"].max()
    )
    assert (scores["highest_lower"] < scores["highest"]).all() and "sd_lower" not in scores


def test_spreads_shrink_with_fewer_wordings(own):
    opened, frame = own
    all_five, two = (
        tables.tabulate_spreads_at_k_wordings(opened, resamples=20),
        tables.tabulate_spreads_at_k_wordings(opened, k=2, resamples=0),
    )
    ranges = frame[frame["model"] == "a"].groupby("item")["agreement"].agg(np.ptp).mean()
    assert all_five["k"].tolist() == [5, 5, 5]
    assert all_five.loc[0, ["range_k", "range_all"]].tolist() == pytest.approx([ranges, ranges], abs=1e-12)
    assert (two["range_k"] < two["range_all"]).all() and two["range_k_lower"].isna().all()
    pd.testing.assert_series_equal(two["sd_k"], all_five["sd_k"])


@pytest.mark.parametrize(
    ("options", "told"),
    [({"k": 6}, "no item of study synthetic has more than 5"), ({"k": 1}, "from 2 on"), ({"k": -3}, "from 2 on"),
     ({"threshold": 1.5}, "is not a share")],
)  # fmt: skip
def test_wrong_options_are_refused(own, options, told):
    with pytest.raises(InputError, match=told):
        tables.tabulate_spreads_at_k_wordings(own[0], **options)


def test_a_margin_is_above_0(own):
    with pytest.raises(InputError, match="margin = 0"):
        comparisons.tabulate_differences_beyond_rewording(own[0], margin=0)


def test_differences_are_paired_and_equal_models_never_differ(own):
    opened, frame = own
    pairs = comparisons.tabulate_differences_beyond_rewording(opened)
    found = pairs[pairs["headline"]].set_index(["a_model", "b_model"])
    means = frame.groupby(["model", "item"])["agreement"].mean()
    assert found.loc[("a", "b"), "p"] == pytest.approx(stats.ttest_rel(means["a"], means["b"]).pvalue, abs=1e-9)
    same = found.loc[("b", "c")]
    assert same["difference"] == 0 and same["p_holm"] == 1 and np.isnan(same["same_both"])
    assert (found["p_holm"] >= found["p"]).all()
    ranking = comparisons.tabulate_model_ranking(opened)
    ranks = ranking[ranking["headline"]].set_index("model")["rank"]
    assert ranks["b"] == ranks["c"]
    assert comparisons.tabulate_ranking_reliability(opened)["n_models"].tolist() == [3, 3]


def test_models_that_do_not_answer_are_not_ranked(tmp_path):
    frame = random_frame(["a", "b"], items=6, paraphrases=3)
    frame["mass"] = np.where(frame["model"] == "a", 0.1, 0.9)
    opened = runs.open_runs(write_run(tmp_path / "run", frame))
    assert (
        comparisons.tabulate_model_ranking(opened).empty
        and comparisons.tabulate_differences_beyond_rewording(opened).empty
    )


@pytest.mark.parametrize(
    "agreements",
    [{"x": [0.4]}, {"x": [0.4, 0.6]}, {"x": [0.4], "y": [0.5]}, {"x": [0.4, 0.4, 0.4], "y": [0.4, 0.4, 0.4]}],
)
def test_what_cannot_be_told_is_missing(tmp_path, agreements):
    opened = runs.open_runs(write_run(tmp_path / "run", paraphrases(agreements)))
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert frames["wording_precision"]["widening_lower"].isna().all()
    assert tables.tabulate_variance_components(opened)["item_lower"].isna().all()
    one = max(map(len, agreements.values())) == 1
    which = "wording was enough: there is one of each item." if one else "wordings were enough."
    assert narrative.answer_page_question(frames).verdict == f"These runs cannot tell whether the {which}"
    assert (tables.tabulate_variance_components(opened)["missing"].str.len() > 0).all()


@pytest.mark.parametrize(
    ("ends", "verdict", "explained"),
    [([(1.0, 1.05)] * 2, "Enough with each of 2 models.", "“Enough” means that more wordings, however many,"),
     ([(1.2, 1.9), (1.0, 1.3)], "Too few with 1 of 2 models.", "“Too few” means that enough further wordings"),
     ([(1.12, 1.9), (1.0, 1.3)], "These runs cannot tell whether the wordings were enough.", ""),
     ([(1.0, np.inf)] * 2, "These runs cannot tell whether the wordings were enough.", "")],
)  # fmt: skip
def test_a_word_needs_the_whole_interval_and_is_explained(ends, verdict, explained):
    rows = pd.DataFrame(ends, columns=["widening_lower", "widening_upper"])
    precision = rows.assign(
        study="s", model=["a", "b"], condition="c", measure="agreement", headline=True, validity=1.0, n_items=40,
        n=200, n_wordings=5.0, n_shared=np.nan, mean=0.5, widening=[sum(pair) / 2 for pair in ends], design=NESTED,
        mean_lower=0.4, mean_upper=0.6, like_lower=0.4, like_upper=0.6, error_least=0.05,
    )  # fmt: skip
    frames = {name: pd.DataFrame(columns=[*look_up_table(name).columns]) for name in narrative.TABLES}
    answer = narrative.answer_page_question({**frames, "wording_precision": precision})
    assert answer.verdict == verdict
    assert answer.explanation.startswith(explained) and bool(answer.explanation) == bool(explained)


def test_the_widening_is_said_of_standard_errors_and_intervals_apart():
    """Two shared wordings of 400 items: the error grows by 1.76, the interval, with one degree of freedom, by 7.7."""
    right = [(1, 1)] * 136 + [(1, 0)] * 30 + [(0, 1)] * 52 + [(0, 0)] * 182
    found = estimate_panel_mean(np.array(right, float), crossed=True)
    (low, up), these = found.compute_interval("both"), found.compute_interval("items")
    least = found.predict_standard_error_at_size(400, np.inf)
    assert (up - low) / (2 * stats.norm.ppf(0.975) * least) == pytest.approx(7.67, abs=0.01)
    precision = pd.DataFrame([{
        "study": "s", "model": "a", "condition": "c", "measure": "accuracy", "headline": True, "validity": 1.0,
        "n_items": 400, "n": 800, "n_wordings": 2.0, "n_shared": 2.0, "mean": found.mean,
        "widening": found.compute_interval_widening_by_few_wordings(),
        "widening_lower": 1.19, "widening_upper": 54.77, "design": CROSSED, "like_lower": low, "like_upper": up,
        "error_least": least, "mean_lower": these[0], "mean_upper": these[1],
    }])  # fmt: skip
    frames = {name: pd.DataFrame(columns=[*look_up_table(name).columns]) for name in narrative.TABLES}
    said = narrative.answer_page_question({**frames, "wording_precision": precision}).details["wordings_needed"]
    assert said[0].startswith("“Enough” means that the standard error for wordings like these is at most a tenth")
    assert said[2] == (
        "The wordings add to the standard error of a: it is 1.76 times (95 % interval 1.19 to 54.77) what it would be "
        "with wordings without end."
    )
    assert said[3].startswith("Its interval for wordings like these is 7.7 times as wide as with wordings without end")
    half = stats.norm.ppf(0.975) * least * found.compute_interval_widening_by_few_wordings()
    plain = precision.assign(like_lower=found.mean - half, like_upper=found.mean + half)
    assert len(narrative.answer_page_question({**frames, "wording_precision": plain}).details["wordings_needed"]) == 3
    wide = precision.assign(mean_lower=low, mean_upper=up)  # by items that are few, or skewed
    assert len(narrative.answer_page_question({**frames, "wording_precision": wide}).details["wordings_needed"]) == 3
    least = 0.1 / stats.norm.ppf(0.975)
    cut = precision.assign(mean=0.9, like_lower=0.4, like_upper=1.0, error_least=least)  # uncut, up to 1.4
    said = narrative.answer_page_question({**frames, "wording_precision": cut}).details["wordings_needed"]
    assert said[3].startswith("Its interval for wordings like these is 5.0 times as wide as with")


RANKING = {
    "study": "s", "measure": "accuracy", "headline": True, "n_models": 8, "n_wordings": 5.0, "anew": comparisons.BOTH,
    "relative": 0.9966, "relative_lower": 0.4, "relative_upper": 0.999, "relative_few": 0.98, "tau": np.nan,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "said"),
    [({}, "Ranking these 8 models by accuracy is reliable to more than 0.99 (95 % interval 0.40 to 1.00); with 3 "
      "wordings it would be 0.98."),
     ({"n_wordings": 3.0},
      "Ranking these 8 models by accuracy is reliable to more than 0.99 (95 % interval 0.40 to 1.00)."),
     ({"relative": -0.1, "relative_lower": -0.9, "relative_upper": -0.01},
      "By accuracy, the ranking of 8 models is not shown to be reliable."),
     ({"relative": 0.85, "relative_lower": -0.02},
      "By accuracy, the ranking of 8 models is not shown to be reliable: its reliability may be anything up to 1.00."),
     ({"relative": 0.85, "relative_lower": np.nan, "relative_upper": np.nan},
      "By accuracy, the ranking of 8 models is not shown to be reliable: there is no interval of its reliability.")],
)  # fmt: skip
def test_a_reliability_is_stated_with_its_interval_and_not_rounded_to_perfect(fields, said):
    assert list(narrative._describe_ranking_reliability(pd.DataFrame([RANKING | fields]), False)) == [said]


@pytest.mark.parametrize(
    ("ends", "said"),
    [([(0.41, 0.97)], "The ranking of the models, by accuracy, has a reliability of 0.41 to 0.97."),
     ([(0.41, 0.97), (0.2, 0.99)],
      "The least reliable ranking of the models, by accuracy, has a reliability of 0.20 to 0.99."),
     ([(-0.02, 0.97)], "The ranking of the models, by accuracy, is not shown to be reliable."),
     ([(0.41, 0.97), (np.nan, np.nan)],
      "The least reliable ranking of the models, by accuracy, is not shown to be reliable.")],
)  # fmt: skip
def test_the_first_screen_states_a_reliability_only_where_its_whole_interval_is_above_0(ends, said):
    rows = [RANKING | {"relative": 0.85, "relative_lower": low, "relative_upper": high} for low, high in ends]
    assert list(narrative._describe_least_reliable_ranking(pd.DataFrame(rows), False)) == [said]
    in_study = f", in “{rows[0]['study']}” by accuracy, "  # not the least reliable of several in this study
    assert list(narrative._describe_least_reliable_ranking(pd.DataFrame(rows), True)) == [
        said.replace(", by accuracy, ", in_study)
    ]


def test_the_one_ranking_or_model_of_two_studies_is_named(tmp_path):
    """The other study has one model that answers: its ranking was "the" ranking of the page."""
    for name, seed, mass in (("first", 1, 0.9), ("second", 2, 0.2)):
        frame = random_frame(["m", "n"], items=12, paraphrases=4, seed=seed)
        frame["mass"] = np.where(frame["model"] == "m", 0.9, mass)
        write_run(tmp_path / name, frame, study=name)
    opened = runs.open_runs(tmp_path / "first", tmp_path / "second")
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    answer = narrative.answer_page_question(frames)
    assert "The ranking of the models, in “first” by agreement, is not shown" in answer.verdict
    assert answer.details["wording_ranking"][0].startswith("Study “first”: by agreement, ")
    rows = frames["wording_precision"].assign(
        validity=lambda rows: np.where((rows["model"] == "m") & (rows["study"] == "second"), 0.9, 0.1),
        widening_lower=1.0, widening=1.02, widening_upper=1.05,
    )  # fmt: skip
    answer = narrative.answer_page_question({**frames, "wording_precision": rows})
    assert answer.verdict.startswith("Enough with m · second.")
    assert any("to the standard error of m · second:" in text for text in answer.details["wordings_needed"])


def test_few_shared_wordings_are_said_of_their_study():
    rows = pd.DataFrame({"study": ["s", "t"], "model": "m", "name": ["m · s", "m · t"], "n_items": 99, "n_wordings": 5,
                         "design": CROSSED, "n_shared": [3.0, 9.0], "label": "m", "validity": 0.9})  # fmt: skip
    for part, told in ((rows, "Only 3 shared wordings in s: what"), (rows[:1], "Only 3 shared wordings: what")):
        assert any(text.startswith(told) for text in narrative._list_reliability_cautions(part, part))


def test_items_that_samples_explain_are_not_said_to_be_alike():
    parts = pd.DataFrame({"study": "s", "measure": "score", "icc": [-0.02, 0.6], "icc_sample": [-0.01, 0.13],
                          "item_lower": [-0.03, 0.01], "n_samples": 10.0, "sampled": "samples"})  # fmt: skip
    assert list(narrative._describe_item_reliability_of_samples(parts)) == [
        "Score from 10 samples of one wording tells items of s apart with a reliability of 0.60 by 1 model; from one, "
        "0.13.",
        "With 1 of 2 models, items of s are not shown to differ by more than samples explain.",
    ]
    named = list(narrative._describe_item_reliability_of_samples(parts.assign(measure="BLEU")))
    assert named[0].startswith("BLEU from 10 samples")


def test_sentences_do_not_count_answers_twice_that_are_read_per_byte_too(tmp_path):
    rows = choice_runs.answers(choice_runs.questions(8, 2), ["a", "b"], conditions=[choice_runs.TEXTS], mass=0.1)
    opened = runs.open_runs(choice_runs.write_choice(tmp_path / "run", rows))
    answer = narrative.answer_page_question({name: build_table(name, opened) for name in narrative.TABLES})
    (caution,) = answer.cautions
    assert caution.startswith("Not judged: a and b. ")


def test_a_study_without_a_valid_answer_has_rows_and_no_verdict(tmp_path):
    frame = random_frame(["a"], items=3, paraphrases=3).assign(agreement=np.nan, answer=None)
    opened = runs.open_runs(write_run(tmp_path / "run", frame))
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert frames["wording_precision"][["mean", "error"]].isna().all(axis=None)
    answer = narrative.answer_page_question(frames)
    assert answer.setup == "1 model was asked about items in several wordings."  # none is counted, and no order named
    assert answer.verdict == "This model does not answer."


def test_of_scores_the_page_does_not_speak_of_options(tmp_path):
    """A judge that gives a score to one response of three: nothing was on any option."""
    rows = draw_scores(["m"], items=3, wordings=3)
    opened = runs.open_runs(write_scored(tmp_path / "run", rows.assign(score=rows["score"].where(rows.index % 3 == 0))))
    answer = narrative.answer_page_question({name: build_table(name, opened, resamples=0) for name in narrative.TABLES})
    assert answer.cautions == (
        "Not judged: m. Less than half of the probability, of the texts or of the responses is surely a valid answer: "
        "33 %.",
    )


@pytest.mark.parametrize(
    ("mass_upper", "verdict", "caution"),
    [
        ((0.1, 0.6), "Whether this model answers cannot be told.", "Not judged: a · de."),
        ((0.1, 0.45), "This model does not answer.", "Not judged: a · de and a · en."),
        ((0.1, np.nan), narrative.ONLY_LATER, "Not judged: a · de."),
    ],
)
def test_a_model_that_lacks_answers_under_its_first_condition_only_is_not_said_to_give_none(
    tmp_path, mass_upper, verdict, caution
):
    """The page is about first conditions, and said “does not answer” of a model that may, or does, under its second."""
    rows = [
        random_frame(["a"], items=3, paraphrases=3).assign(condition=name, mass=mass, mass_upper=most)
        for name, mass, most in zip(
            ("de", "en"), (0.0, 0.9 if np.isnan(mass_upper[1]) else 0.4), mass_upper, strict=True
        )
    ]
    rows[0] = rows[0].assign(agreement=np.nan, answer=None)
    run = write_run(tmp_path / "run", pd.concat(rows, ignore_index=True), conditions={"de": {}, "en": {}})
    opened = runs.open_runs(run)
    answer = narrative.answer_page_question({name: build_table(name, opened, resamples=0) for name in narrative.TABLES})
    assert answer.verdict == verdict
    assert answer.cautions[0].startswith(caution)


@pytest.mark.parametrize(
    ("table", "ends"),
    [("wording_precision", ["mean_lower", "mean_upper"]), ("beyond_rewording", ["lower", "upper"])],
)
def test_two_intervals_that_are_the_same_are_printed_once_and_why(table, ends, own):
    likes, of_own = ["like_lower", "like_upper"], build_table(table, own[0])
    assert of_own[likes].equals(of_own[ends].set_axis(likes, axis=1))
    assert not set(likes) & set(list_shown_columns(table, of_own))
    one_end_apart = of_own.assign(like_lower=of_own["like_lower"].where(of_own.index > 0, -9.0))
    assert set(likes) <= set(list_shown_columns(table, one_end_apart)) and set(likes) <= set(of_own)
    apart_caption, own_caption = (
        choose_caption_for_shown_columns(table, frame, list_shown_columns(table, frame))
        for frame in (one_end_apart, of_own)
    )
    assert apart_caption == look_up_table(table).caption and "wo 95 % intervals" in apart_caption
    for text in (own_caption, render_table_in_text_format(table, of_own, "latex")):
        assert (
            "with its 95 % interval for these wordings, if there is one." in text.replace("\\%", "%")
            and "wo 95" not in text
        )


def test_the_share_of_wordings_that_was_drawn_is_told(tmp_path):
    path = write_run(tmp_path / "run", random_frame(MODELS, items=8, paraphrases=5).assign(mass=0.9))
    draw = {"plain/yes-no": {"wordings": 5, "least": 5, "most": 12}}
    edit_run_json(path, drawn={"a": draw, "b": draw}, seed=3)
    opened = runs.open_runs(path)
    said = "5 of 5 to 12 wordings per item, drawn by seed 3: a and b"
    entries = dict(provenance.list_provenance_entries(opened, [str(path)], {}))
    assert entries["Wordings"] == [said]
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert (
        f"Asked in {said}."
        in narrative.answer_page_question(
            frames, drawn_wordings_texts=words.list_wording_subsample_notes(opened.info)
        ).cautions
    )
    edit_run_json(path, drawn={"a": {"plain/yes-no": draw["plain/yes-no"] | {"per_pattern": True}}})
    entries = dict(provenance.list_provenance_entries(runs.open_runs(path), [str(path)], {}))
    assert entries["Wordings"] == ["5 of 5 to 12 wordings per item and pattern, drawn by seed 3: a"]
    edit_run_json(path, drawn=None)
    assert "Wordings" not in dict(provenance.list_provenance_entries(runs.open_runs(path), [str(path)], {}))


def test_a_draw_without_its_number_is_refused(tmp_path):
    path = write_run(tmp_path / "run", random_frame(MODELS, items=2, paraphrases=3))
    edit_run_json(path, drawn={"a": {"plain/yes-no": {"least": 5, "most": 12}}})
    with pytest.raises(InputError, match=r"drawn: a: .*wordings"):
        runs.open_runs(path)


def test_models_without_a_common_item_are_not_compared(tmp_path):
    frame = random_frame(["a", "b"], items=6, paraphrases=4).assign(mass=0.9)
    frame = frame[(frame["model"] == "a") == frame["item"].isin(frame["item"].unique()[:3])]
    opened = runs.open_runs(write_run(tmp_path / "run", frame))
    pairs = comparisons.tabulate_differences_beyond_rewording(opened)
    assert len(pairs) and (pairs["n_items"] == 0).all()
    assert pairs[["difference", "lower", "p", "p_items", "same_both", "p_equivalent"]].isna().all(axis=None)
    assert comparisons.tabulate_model_ranking(opened).empty and comparisons.tabulate_ranking_reliability(opened).empty
    frames = {name: build_table(name, opened, resamples=0) for name in narrative.TABLES}
    assert "beyond_rewording" not in narrative.answer_page_question(frames).details


def test_a_caption_says_that_the_lowest_is_first_where_lower_is_better():
    """Ranked by bits or milliseconds, the best model stood on top, "the highest first"."""
    frame = pd.DataFrame({"rank": [2.0, 1.0], "mean": [0.9, 0.4], "measure": "bits", "n_items": 9, "task": "",
                          "anew": "items"})  # fmt: skip
    assert "by mean bits over 9 common items, the lowest first." in captions.caption_wording_ranking(frame)
    assert "the highest first." in captions.caption_wording_ranking(frame.assign(mean=[0.4, 0.9]))


def test_one_model_has_no_ranking_and_no_differences(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", random_frame(["a"], items=6, paraphrases=4).assign(mass=0.9)))
    assert (
        comparisons.tabulate_model_ranking(opened).empty
        and comparisons.tabulate_differences_beyond_rewording(opened).empty
    )
    assert (tables.tabulate_precision_of_means(opened)["n_items"] == 6).all()


def test_of_as_many_models_with_either_word_the_warning_is_said(monkeypatch):
    rows = pd.DataFrame({"n_wordings": [5] * 4})
    words = [narrative.ENOUGH, narrative.ENOUGH, narrative.TOO_FEW, narrative.TOO_FEW]
    monkeypatch.setattr(narrative, "choose_verdict_words_by_widening", lambda rows: words)
    assert narrative.find_commonest_verdict_word_and_count(rows) == (narrative.TOO_FEW, 2)


def test_the_caption_says_why_a_mark_is_below_its_line():
    """Of ten statements in two paraphrases, all marks lay below their lines, and the caption did not say why."""
    curves = pd.DataFrame({
        "label": ["a", "a", "b", "b"], "at": [1, 2, 1, 2], "item": [0.1, 0.1, 0.2, 0.2], "widening": 1.2, "n_items": 10,
        "measure": "agreement", "design": "own wordings of each item", "wording": 0.2, "interaction": np.nan,
    })  # fmt: skip
    assert "below its line" not in captions.caption_wordings_needed(curves)
    check_caption(captions.caption_wordings_needed(curves.assign(item=[0.1, 0.1, 0.0, 0.0])))
    assert "A mark below its line: " in captions.caption_wordings_needed(curves.assign(item=[0.1, 0.1, 0.0, 0.0]))
    shared = captions.caption_wordings_needed(curves.assign(wording=[0.0, 0.0, 0.1, 0.1], interaction=0.1))
    check_caption(shared)
    assert "A mark below its line: these shared wordings " in shared


def test_a_single_difference_has_the_probability_of_its_sign():
    row = {"study": "s", "measure": "accuracy", "headline": True, "a_model": "a", "b_model": "b", "a_condition": "c",
           "b_condition": "c", "n_items": 9, "n_wordings": 3.0, "difference": 0.2, "lower": 0.1, "upper": 0.3,
           "like_lower": 0.1, "like_upper": 0.3, "p_items": 0.01, "p": 0.01, "p_holm": 0.01,
           "same_both": 0.93}  # fmt: skip
    *_, sign = narrative._describe_counts_of_differences_that_hold(pd.DataFrame([row]))
    assert sign == "Another study with other items and wordings would find the same sign with a probability of 0.93."
