"""The pages on wording and on benchmarks by the real commands, and what they say."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import narrative as benchmark_words
from analysis.pages.benchmarks.catalogue import TABLES as BENCHMARKS
from analysis.pages.benchmarks.printed import read_printed_correlations
from analysis.pages.wording import captions, cautions, figures, narrative, printed
from analysis.pages.wording.catalogue import CATALOGUE, TABLES
from analysis.pages.wording.page import WordingPage
from analysis.reporting import catalogue
from analysis.reporting.catalogue import tables
from analysis.reporting.catalogue.columns import format_value_by_column
from analysis.reporting.catalogue.selection import MIXED, AnswerPair
from analysis.reporting.output import report
from helpers import shown_pages
from helpers.html_pages import Page
from helpers.shown_pages import show_page
from helpers.synthetic import random_frame, write_run
from helpers.wording_runs import random_rows, said, write_wording

pytestmark = pytest.mark.slow

MODELS = {
    "org/small": {"stage": "base", "series": "S", "parameters": 1000},
    "org/small-tuned": {"stage": "tuned", "series": "S", "parameters": 1000},
    "org/large": {"stage": "base", "series": "L", "parameters": 9000},
    "org/large-tuned": {"stage": "tuned", "series": "L", "parameters": 9500},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four models, two languages; nobody knows Japanese. Next to it a run of another protocol."""
    where = tmp_path_factory.mktemp("wording")
    rows = random_rows(list(MODELS), items=20, conditions=["chat/0-shot"],
                       cells=[("en", "morality"), ("ja", "morality")], seed=1)  # fmt: skip
    rows.loc[rows["language"] == "ja", "answer"] = None
    rows.loc[0, "text"] = "<script>alert('wording')</script> & $5"
    write_wording(where / "run", rows, models=MODELS)
    write_run(where / "opinions", random_frame(items=2, paraphrases=3), study="opinions")
    pd.DataFrame({"model": [*MODELS, "else"], "MT": [1, 3, 2, 5, 4.0]}).to_csv(where / "scores.csv", index=False)
    return where


@pytest.fixture(scope="module")
def made(folder):
    scores = {"scores": str(folder / "scores.csv"), "score_columns": "MT"}
    for name, options in (("wording", {"resamples": 40}), ("benchmarks", scores)):
        show_page(name, [folder / "run", folder / "opinions"], folder / "out", **options)
    return folder / "out"


def test_the_page_answers_with_sizes_and_intervals(made):
    words = Page(made / "wording.html").words
    assert (
        "4 models were asked 40 yes/no questions of “morality” (English) and “morality” (Japanese), also reworded"
        in words
    )
    assert re.search(r"\d+\.\d % of the answers mean the same as before \(95 % interval \d+\.\d to \d+\.\d %\)", words)
    assert re.search(
        r"ith agreement-seeking wording, the share of “Yes” [a-z ]+: [+−]\d+\.\d points \(interval for 3 comparisons ",
        words,
    )
    assert re.search(r"ith antonyms, .* \d+\.\d % of the answers do not mean the same as the first", words)
    assert "No model gives a valid answer to “morality” in Japanese" in words


def test_the_page_is_quiet_and_escaped(made):
    for name in ("wording", "benchmarks"):
        text = (made / f"{name}.html").read_text(encoding="utf-8")
        for noise in ("<script", "Warning", "Traceback", "object at 0x", "%|", ">nan<"):
            assert noise not in text, noise
    assert "&lt;script&gt;alert" in (made / "wording.html").read_text(encoding="utf-8")


def test_what_a_cell_prints_warns_of_or_leaves_bare_is_seen_on_a_shown_page(tmp_path, monkeypatch):
    """So that the test above can fail."""
    code = "import warnings\nprint('said')\nwarnings.warn('wrong', RuntimeWarning)\nobject()"
    cells = [{"cell_type": "code", "metadata": {}, "source": [code]}]
    (tmp_path / "noisy.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    monkeypatch.setattr(shown_pages, "FOLDER", tmp_path)
    text = show_page("noisy", [], tmp_path).read_text(encoding="utf-8")
    assert all(noise in text for noise in ("said", "RuntimeWarning: wrong", "object at 0x")), text


def test_both_pages_have_their_pictures(made):
    shown = {*Page(made / "wording.html").ids, *Page(made / "benchmarks.html").ids}
    assert {"consistency", "diff_yes", "overall_scores", "size_measures", "accuracy_measures"} <= shown


def test_every_number_lies_next_to_the_pages_as_csv(made):
    for name, entry in {**TABLES, **BENCHMARKS}.items():
        rows = list(csv.reader(io.StringIO((made / "tables" / f"{name}.csv").read_text(encoding="utf-8"))))
        listed = [c for column in entry.columns for c in ([column] if column != "intervals" else [])]
        assert set(listed) <= set(rows[0]), name


def test_each_page_sees_the_runs_of_its_protocol(made, folder):
    words = Page(made / "wording.html").words
    assert f"Run {folder / 'run'} " in words
    assert str(folder / "opinions") not in words


def test_the_other_pages_leave_wording_aside(folder):
    opened = runs.open_runs(folder / "run", folder / "opinions")
    selected = {
        entry.name: opened.select_protocols(entry.page.protocols) for entry in report.list_notebooks_of_all_pages()
    }
    seen = {name: [run_folder.path for run_folder in part.folders] for name, part in selected.items() if part}
    assert seen["stability"] == seen["text_features"] == [folder / "opinions"]
    assert seen["wording"] == [folder / "run"]
    assert seen["benchmarks"] == [folder / "run", folder / "opinions"]


def test_the_benchmarks_page_names_what_it_refuses_and_redraws_the_printed_matrix(made):
    words = Page(made / "benchmarks.html").words
    assert "4 models" in words
    assert re.search(r"rank correlations? rests? on fewer than 10 models", words)
    assert "as printed in Takayama et al., Figure 8" in words
    assert "not what causes what" in words


def frames(rows, tmp_path, **options):
    run = runs.open_runs(write_wording(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options))
    return {name: tables.build_table(name, run, resamples=30) for name in narrative.TABLES}


def told(answer):
    return " ".join(line for lines in answer.details.values() for line in lines)


@pytest.mark.parametrize(
    ("antonym", "said_of_yes"),
    [
        ("y" + "n" * 9 + "y" * 10, "not clearly more or less frequent than unchanged answers would make it: +5.0"),
        ("y" * 20, "more frequent than unchanged answers would make it: +50.0"),
        ("n" * 20, "less frequent than unchanged answers would make it: −50.0"),
    ],
)
def test_antonyms_draw_to_yes_only_where_the_interval_says_so(antonym, said_of_yes, tmp_path):
    rows = said({"original": "y" * 10 + "n" * 10, "antonym": antonym})
    assert f"“Yes” is then {said_of_yes} points (" in told(narrative.answer_page_question(frames(rows, tmp_path)))


def test_a_mean_difference_of_exemplars_is_not_called_their_effect_before_a_test(tmp_path):
    """Where no difference could be shown, it began with "Exemplars change Consistency by"."""
    rows = pd.concat([said({"original": "yyyy", "synonym": synonyms}, condition=condition)
                      for condition, synonyms in (("chat/0-shot", "yyyy"), ("chat/4-shot", "yyyn"))])  # fmt: skip
    sentence, test = narrative.answer_page_question(frames(rows, tmp_path)).details["shots"]
    assert sentence == "Consistency with exemplars minus without is −25.0 points on average."
    assert "no difference could be shown" in test


def test_few_items_say_nothing_of_overall_where_it_is_undefined(tmp_path):
    few = {"original": "yn" * 4, "synonym": "yn" * 4}
    without = narrative.answer_page_question(frames(said(few), tmp_path)).cautions
    assert "Only 8 items in a cell: intervals are wide." in without
    labelled = narrative.answer_page_question(frames(said(few, ["yes", "no"] * 4), tmp_path)).cautions
    assert "Only 8 items in a cell: intervals are wide. That of Overall tends to be too narrow." in labelled


def test_a_consistent_model_is_called_so(tmp_path):
    many = {"original": "yn" * 40, "synonym": "yn" * 40, "antonym": "ny" * 40, "agreement": "yn" * 40}
    found = narrative.answer_page_question(frames(said(many), tmp_path))
    assert found.verdict == (
        "Yes, nearly always: with synonyms, 100 % of answers mean the same as before (interval 95 to 100 %)."
    )
    assert any("No right answers are known" in caution for caution in found.cautions)
    assert any("Only 1 model" in caution for caution in found.cautions)


@pytest.mark.parametrize(
    ("ends", "said_of_it"),
    [
        ([(0.96, 1.0), (0.95, 0.99)], "yes, nearly always"),
        ([(0.96, 1.0), (0.94, 0.99)], "mostly"),
        ([(0.80, 0.90)], "mostly"),
        ([(0.96, 1.0), (0.79, 0.90)], ""),
        ([(0.60, 0.78), (0.79, 0.90)], "not reliably"),
        ([(0.96, 1.0), (np.nan, np.nan)], ""),
    ],
)
def test_a_word_is_said_only_where_the_intervals_of_all_kinds_of_wording_allow_it(ends, said_of_it):
    table = pd.DataFrame(ends, columns=["consistency_lower", "consistency_upper"])
    table = table.assign(consistency=table.mean(axis=1))
    assert narrative.choose_one_verdict_word_for_all_patterns(table) == said_of_it


def kinds(*ends):
    """Rows of table `patterns`: a kind of wording, Consistency, the ends of its interval."""
    names = ["pattern", "consistency", "consistency_lower", "consistency_upper"]
    return pd.DataFrame(ends, columns=names).assign(language="")


def test_of_several_kinds_one_is_too_low_only_after_widening_for_their_number():
    one = ("antonym", 0.71, 0.61, 0.79)
    others = [(name, 0.9, 0.85, 0.94) for name in ("synonym", "agreement", "strong_agreement")]
    assert narrative.choose_one_verdict_word_for_all_patterns(kinds(one)) == "not reliably"
    assert narrative.choose_one_verdict_word_for_all_patterns(kinds(one, *others)) == ""
    low = ("antonym", 0.6, 0.5, 0.69)
    assert narrative.choose_one_verdict_word_for_all_patterns(kinds(low, *others)) == "not reliably"


def test_the_share_that_is_told_is_one_that_the_word_rests_on():
    """Synonyms have the lowest share, of few pairs; only antonyms show that it is below 80 %."""
    one = single([0.65])
    said = narrative._describe_verdict_with_weakest_pattern(
        kinds(("synonym", 0.6, 0.36, 0.8001), ("antonym", 0.65, 0.62, 0.68)), one
    )
    assert said.startswith("Not reliably: with antonyms, 65 % of answers")
    unsure = narrative._describe_verdict_with_weakest_pattern(
        kinds(("synonym", 0.85, 0.82, 0.88), ("antonym", 0.86, 0.7, 0.94)), one
    )
    assert unsure.startswith("These runs cannot tell: with antonyms, 86 %")


def single(shares, conditions=("chat",), half=0.08):
    """Rows of table `consistency` on antonyms: a model for each share, under some conditions."""
    rows = [(f"m{i}", name, share) for i, share in enumerate(shares) for name in conditions]
    table = pd.DataFrame(rows, columns=["model", "condition", "consistency"]).assign(task="t", language="")
    ends = {"consistency_lower": table["consistency"] - half, "consistency_upper": table["consistency"] + half}
    return table.assign(pattern="antonym", **ends)


@pytest.mark.parametrize(
    ("rows", "ending"),
    [
        (single([0.34, 0.5, 0.84]), "on average (34 to 84 % by model)."),
        (single([0.34, 0.84], ("a", "b")), "on average (34 to 84 % by model and condition)."),
        (single([0.5, 0.6]), "as before (interval 50 to 58 %)."),
        (single([0.34, 0.84], half=0.3), "as before (interval 50 to 58 %)."),
        (single([0.54]), "as before (interval 50 to 58 %)."),
    ],
)
def test_the_spread_of_the_models_stands_beside_the_mean_where_chance_does_not_explain_it(rows, ending):
    said = narrative._describe_verdict_with_weakest_pattern(kinds(("antonym", 0.54, 0.5, 0.58)), rows)
    assert said == f"Not reliably: with antonyms, 54 % of answers mean the same {ending}"


def test_changes_are_called_so_after_widening_for_their_number():
    """+5 points (0.2 to 9.8) are clear as one comparison, not as one of three."""
    change = {"diff_yes": 0.05, "diff_yes_lower": 0.002, "diff_yes_upper": 0.098, "excess_yes": 0.0,
              "excess_yes_lower": -0.1, "excess_yes_upper": 0.1, "consistency": 0.5}  # fmt: skip
    means = pd.DataFrame([{"pattern": name, **change} for name in ("agreement", "strong_agreement", "antonym")])
    none = pd.DataFrame(columns=["pattern", "language", "diff_yes", "model"])
    assert narrative._count_tested_yes_changes(means) == 3
    three = list(narrative._describe_yes_changes("", means, none, False, 3))
    assert three[0] == (
        "With agreement-seeking wording, the share of “Yes” does not clearly change: +5.0 points (interval for 3 "
        "comparisons −0.9 to +10.9)."
    )
    (one,) = narrative._describe_yes_changes("", means[:1], none, False, 1)
    assert one.endswith("the share of “Yes” rises: +5.0 points (interval +0.2 to +9.8).")


def test_tables_print_words_for_codes():
    for table, key, code, words in (
        ("consistency", "pattern", "strong_agreement", "strong agreement-seeking"),
        ("consistency", "pattern", "original", "original"), ("shots", "measure", "diff_yes", "Change of “Yes”"),
        ("stages", "measure", "consistency", "Consistency"), ("differences", "measure", "flip_10", "Flips > 10 %"),
        ("differences", "measure", "range_mean", "Range"), ("differences", "measure", "validity", "Validity"),
    ):  # fmt: skip
        assert format_value_by_column(code, catalogue.look_up_column(table, key)) == words


def test_where_no_word_holds_the_page_says_so(tmp_path):
    rows = said({"original": "yn" * 10, "synonym": "yn" * 8 + "ny" * 2})
    assert narrative.answer_page_question(frames(rows, tmp_path)).verdict == (
        "These runs cannot tell: with synonyms, 80 % of answers mean the same as before (interval 58 to 92 %)."
    )


def test_answers_with_other_names_are_explained(tmp_path):
    tables_of = frames(said({"original": "yn" * 10, "synonym": "yn" * 10}), tmp_path)
    for names in (AnswerPair("yes", "no"), AnswerPair("はい", "いいえ"), AnswerPair(*MIXED)):
        assert "stands for" not in told(narrative.answer_page_question(tables_of, choice=names))
    other = told(narrative.answer_page_question(tables_of, choice=AnswerPair("true", "false")))
    assert "“Yes” stands for “true” here, and “No” for “false”." in other


def test_a_model_that_always_says_yes_is_named(tmp_path):
    rows = said({"original": "y" * 30, "antonym": "y" * 30, "agreement": "y" * 30}, ["yes", "no"] * 15)
    found = narrative.answer_page_question(frames(rows, tmp_path))
    assert any("“Yes” to nearly everything, antonyms included" in caution for caution in found.cautions)
    text = told(found)
    assert "100.0 % of the answers do not mean the same as the first" in text
    assert "With agreement-seeking wording, the share of “Yes” does not clearly change: 0.0 points" in text


def test_nothing_valid_is_said_not_averaged(tmp_path):
    found = narrative.answer_page_question(frames(said({"original": "---", "synonym": "---"}), tmp_path))
    assert found.verdict == "This model does not answer."
    assert found.details == {}
    assert found.cautions[0].endswith(". Less than half of the answers are valid: 0 %.")
    assert found.cautions[1].startswith("No model gives a valid answer to “morality” in English")


def test_invalid_answers_are_told_in_both_conventions(tmp_path):
    rows = pd.concat([
        said({"original": "yn" * 10, "synonym": "y-" * 10}, model="half"),
        said({"original": "yn" * 10, "synonym": "yn" * 10}, model="whole"),
        said({"original": "--" * 10, "synonym": "--" * 10}, model="mute"),
    ])  # fmt: skip
    cautions = " ".join(narrative.answer_page_question(frames(rows, tmp_path)).cautions)
    assert "30 pairs have an invalid answer." in cautions
    assert "In the rows of such pairs and some valid ones, mean Consistency is" in cautions  # not in those of "whole"
    assert "100.0 % without these pairs. It is 50.0 % where they count as inconsistent" in cautions
    assert "and would be 100.0 % if all were consistent." in cautions
    assert "The share of “Yes” lies between 50.0 % and 100.0 %, whatever the invalid answers say." in cautions
    assert "There are no valid answers to “morality” in English from mute." in cautions


def test_without_a_response_to_an_original_the_page_is_left_out_and_says_so(tmp_path):
    rows = said({"original": "yn", "synonym": "yn"})
    rows["error"] = rows["pattern"].map({"original": "no answer came"})
    rows.loc[rows["pattern"] == "original", "answer"] = None
    folder = write_wording(tmp_path / "run", rows)
    reason = CATALOGUE.explain_no_data(runs.open_runs(folder), {})
    assert reason == "no original question has a response to compare others with"
    page = WordingPage([str(folder)], resamples=0)
    assert "No original question has a response." in page.answer().text
    assert CATALOGUE.explain_no_data(runs.open_runs(write_wording(tmp_path / "all", said({"original": "y"}))), {}) == ""


def test_models_with_valid_answers_to_rewordings_alone_are_named(tmp_path):
    reworded = said({"original": "-" * 10, "synonym": "y" + "-" * 9}, model="reworded")
    twice = said({"original": "y" + "-" * 9, "synonym": "y" + "-" * 9}, model="twice")
    alone, others = (
        " ".join(narrative.answer_page_question(frames(rows, tmp_path)).cautions)
        for rows in (reworded, pd.concat([reworded, twice]))
    )
    assert "No model gives a valid answer to an original question of “morality” in English: nothing is mea" in alone
    assert "Less than half of the answers to “morality” in English are valid for reworded and twice." in others
    assert "The lowest share is 5.0 %." in others


def test_valid_answers_to_a_task_count_for_each_study_that_asks_it(tmp_path):
    """Only the first of two studies with one language and task was looked at: n of "other" was not named."""
    valid, silent = ({"original": answers, "synonym": answers} for answers in ("yn" * 10, "y" + "-" * 19))
    for study, quiet in (("first", "m"), ("other", "n")):
        rows = pd.concat([said(silent if model == quiet else valid, model=model) for model in ("m", "n")])
        write_wording(tmp_path / study, rows, study=study)
    opened = runs.open_runs(tmp_path / "first", tmp_path / "other")
    consistency_rows = tables.build_table("consistency", opened, resamples=0)
    sentences = [
        sentence.partition(" The lowest")[0]
        for sentence in cautions._describe_models_with_few_valid_answers(consistency_rows)
    ]
    assert sentences == [
        "Less than half of the answers to “morality” in English of study “first” are valid for m.",
        "Less than half of the answers to “morality” in English of study “other” are valid for n.",
    ]


def test_of_two_studies_of_which_one_is_answered_sentences_name_it(tmp_path):
    yes, silent = (dict.fromkeys(("original", "agreement"), letter * 30) for letter in "y-")
    for study, silent_model in (("first", "m"), ("other", "n")):
        rows = pd.concat([said(silent if model == silent_model else yes, model=model) for model in ("m", "n")])
        write_wording(tmp_path / study, rows, study=study)
    opened = runs.open_runs(tmp_path / "first", tmp_path / "other")
    found = narrative.answer_page_question({name: tables.build_table(name, opened, resamples=0) for name in TABLES})
    assert any("n · first and m · other say “Yes” to nearly" in caution for caution in found.cautions)
    assert "The largest change with agreement-seeking wording is that of n · first: " in told(found)


def test_a_contradiction_names_the_study_where_the_other_study_has_none(tmp_path):
    for study, reworded in (("first", "ny"), ("other", "yn")):
        write_wording(tmp_path / study, said({"original": "yn", "synonym": reworded}), study=study)
    page = WordingPage([str(tmp_path / "first"), str(tmp_path / "other")], resamples=0)
    assert "m · first, synonyms" in page.examples().text


def test_shares_of_two_studies_with_one_task_are_by_model_and_study():
    rows = pd.DataFrame({"model": "m", "condition": "chat", "task": "a", "study": ["s", "t"]})
    assert narrative._choose_noun_for_row_units(rows) == "model and study"
    assert narrative._choose_noun_for_row_units(rows.assign(task=["a", "b"])) == "model and task"


def test_a_model_that_hardly_answers_is_in_no_verdict(tmp_path):
    """The one valid pair in ten of "mute" is consistent; the model that answers is consistent half of the time."""
    rows = pd.concat([
        said({"original": "yn" * 10, "synonym": "yy" * 10}, model="whole"),
        said({"original": "yn" + "-" * 18, "synonym": "yn" + "-" * 18}, model="mute"),
    ])  # fmt: skip
    tables_of = frames(rows, tmp_path)
    found = narrative.answer_page_question(tables_of)
    assert found.verdict.startswith("Not reliably: with synonyms, 50 % of answers by whole mean the same as before")
    assert "mute" not in found.verdict + told(found)
    assert any("valid for mute. The lowest share is 10.0 %" in line for line in found.cautions)
    (row,) = tables_of["patterns"].to_dict("records")
    assert (row["n_models"], row["n_undefined"], row["consistency"]) == (1, 1, 0.5)
    marked = figures._add_silent_column_by_task(tables_of["consistency"])
    assert marked.groupby("model")["silent"].first().to_dict() == {"mute": True, "whole": False}
    assert "°: less than half of the answers are valid, so" in captions.caption_consistency(marked)


def test_three_models_give_no_coefficient_and_the_page_says_so(tmp_path):
    run = runs.open_runs(write_wording(tmp_path / "run", random_rows(["a", "b", "c"], items=5)))
    found = benchmark_words.answer_page_question(
        {name: tables.build_table(name, run) for name in benchmark_words.TABLES}
    )
    assert found.verdict == (
        "These runs cannot tell: at most 3 models asked in the same way answered, and a correlation needs 4."
    )
    assert any("-p scores=FILE" in caution for caution in found.cautions)
    assert any(
        caution.startswith("No measure of wording (wording and all)")
        and caution.endswith("Fewer than 4 models answer.")
        for caution in found.cautions
    )


def test_the_printed_figure_is_a_correlation_matrix_in_the_printed_order():
    table = read_printed_correlations()
    wide = table.pivot(index="measure_a", columns="measure_b", values="r")
    order = list(dict.fromkeys(table["measure_a"]))
    values = wide.loc[order, order].to_numpy()
    assert (order[0], order[6], order[-1]) == ("MT-Bench", "CommonsenseMorality", "Consistency(Strong Agr.)")
    assert values.shape == (11, 11)
    np.testing.assert_array_equal(values, values.T)
    np.testing.assert_array_equal(np.diag(values), 1)
    assert wide.loc["Consistency(Antonym)", "MT-Bench"] == 0.64


def test_printed_tables_are_whole_and_plausible():
    table = printed.read_printed_means_by_training_stage()
    original = table["pattern"] == "original"
    assert table.loc[original, ["yes", "accuracy"]].notna().all(axis=None)
    assert table.loc[~original, ["consistency", "diff_yes", "diff_acc"]].notna().all(axis=None)
    assert table["consistency"].dropna().between(0.6, 1).all()
    base = table[(table["stage"] == "base") & (table["pattern"] == "strong_agreement")]
    assert base["diff_yes"].item() == pytest.approx(0.162)


def test_no_word_is_said_of_every_wording_where_one_kind_has_no_valid_answer(tmp_path):
    rows = said({"original": "y" * 40, "synonym": "y" * 40, "antonym": "-" * 40})
    answer = narrative.answer_page_question(frames(rows, tmp_path))
    assert answer.verdict == "These runs cannot tell: with antonyms, there are no valid answers to compare."
    assert "With antonyms, there are no valid answers to compare." in answer.cautions
    assert any("under every wording but antonyms without any" in caution for caution in answer.cautions)
    some = narrative.answer_page_question(frames(said({"original": "y" * 40, "synonym": "y" * 40}), tmp_path))
    assert some.verdict.startswith("Mostly: with synonyms, 100 % ") and "no valid answers" not in told(some)


def test_antonyms_are_named_only_where_they_were_asked(tmp_path):
    rows = said({"original": "y" * 30, "synonym": "y" * 30}, ["yes", "no"] * 15)
    (caution,) = [
        c for c in narrative.answer_page_question(frames(rows, tmp_path)).cautions if "nearly everything" in c
    ]
    assert "nearly everything. This is consistent under every wording without any understanding" in caution


def test_antonyms_of_another_model_are_not_said_of_this_one():
    rows = pd.DataFrame({"model": ["a", "a", "b", "b"], "pattern": ["original", "synonym", "original", "antonym"]})
    rows = rows.assign(study="s", condition="plain", label=rows["model"], n=9, yes=[1.0, 1.0, 0.4, 0.6])
    (caution,) = cautions._describe_constant_answers(rows)
    assert "a says “Yes” to nearly everything. This" in caution
