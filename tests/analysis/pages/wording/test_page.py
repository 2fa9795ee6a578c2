"""The pages on wording and on benchmarks by the real commands, and what they say."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import narrative as benchmark_words
from analysis.pages.benchmarks.catalogue import TABLES as BENCHMARKS
from analysis.pages.wording import captions, figures, narrative, printed
from analysis.pages.wording.catalogue import TABLES
from analysis.reporting import report, tables
from helpers.html_pages import Page
from helpers.synthetic import random_frame, write_run
from helpers.wording_runs import random_rows, said, write_wording

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
    chosen = [entry for entry in report.found() if entry.name not in ("stability", "text_features")]
    given = {"resamples": "40", "scores": str(folder / "scores.csv"), "score_columns": "MT"}
    results = report.report([str(folder / "run"), str(folder / "opinions")], folder / "out", given, chosen)
    assert [result.error for result in results] == [None, None]
    return folder / "out"


def test_the_page_answers_with_sizes_and_intervals(made):
    words = Page(made / "wording.html").words
    assert "4 models were asked 40 yes/no questions of “morality” in English and “morality” in Japanese" in words
    assert re.search(r"stays the same for \d+\.\d % \(95 % interval \d+\.\d to \d+\.\d %\) of the questions", words)
    assert re.search(r"“Yes” changes with agreement-seeking wording by [+−]\d+\.\d points \([+−]\d", words)
    assert re.search(r"With antonyms, .* \d+\.\d % of the answers contradict the first", words)
    assert "No valid answers to “morality” in Japanese from any model" in words


def test_the_page_is_quiet_escaped_and_loads_nothing(made):
    for name in ("wording", "benchmarks"):
        text = (made / f"{name}.html").read_text(encoding="utf-8")
        for noise in ("Warning", "Traceback", "object at 0x", "%|", "<script", ">nan<"):
            assert noise not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", text), noise
        for tag, address in Page(made / f"{name}.html").addresses:
            assert tag == "a" or address.startswith("data:image/svg+xml;base64,")


def test_every_number_lies_next_to_the_pages_as_csv(made):
    for name, entry in {**TABLES, **BENCHMARKS}.items():
        rows = list(csv.reader(io.StringIO((made / "tables" / f"{name}.csv").read_text(encoding="utf-8"))))
        listed = [c for column in entry.columns for c in ([column] if column != "intervals" else [])]
        assert set(listed) <= set(rows[0]), name
    drawn = {path.stem for path in (made / "figures").iterdir()}
    assert {"consistency", "diff_yes", "overall_scores", "size_overall", "accuracy_consistency"} <= drawn


def test_each_page_sees_the_runs_of_its_protocol(made, folder):
    words = Page(made / "wording.html").words
    assert f"analysis report {folder / 'run'} --out" in words
    assert "opinions" not in words


def test_the_other_pages_leave_wording_aside(folder):
    opened = runs.open(folder / "run", folder / "opinions")
    seen = {entry.name: report._folders(entry.page, opened) for entry in report.found()}
    assert seen["stability"] == seen["text_features"] == [str(folder / "opinions")]
    assert seen["wording"] == seen["benchmarks"] == [str(folder / "run")]


def test_the_benchmarks_page_names_what_it_refuses_and_redraws_the_printed_matrix(made):
    words = Page(made / "benchmarks.html").words
    assert "4 models" in words
    assert re.search(r"coefficients? rest on fewer than 10 models", words)
    assert "as printed in Takayama et al., Figure 8" in words
    assert "not what causes what" in words


def frames(rows, tmp_path, **options):
    run = runs.open(write_wording(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", rows, **options))
    return {name: tables.build(name, run, resamples=30) for name in narrative.TABLES}


@pytest.mark.parametrize(
    ("antonym", "said_of_yes"),
    [
        ("y" + "n" * 9 + "y" * 10, "not clearly more or less frequent than it should be: the difference is +5.0"),
        ("y" * 20, "more frequent than it should be: the difference is +50.0"),
        ("n" * 20, "less frequent than it should be: the difference is −50.0"),
    ],
)
def test_antonyms_draw_to_yes_only_where_the_interval_says_so(antonym, said_of_yes, tmp_path):
    rows = said({"original": "y" * 10 + "n" * 10, "antonym": antonym})
    assert f"“Yes” is then {said_of_yes} points (" in " ".join(narrative.answer(frames(rows, tmp_path)).sentences)


def test_a_consistent_model_is_called_so(tmp_path):
    rows = said({"original": "yn" * 20, "synonym": "yn" * 20, "antonym": "ny" * 20, "agreement": "yn" * 20})
    found = narrative.answer(frames(rows, tmp_path))
    assert found.verdict == "Yes, nearly always."
    assert any("No right answers are known" in caution for caution in found.cautions)
    assert any("Only 1 model" in caution for caution in found.cautions)


def test_a_model_that_always_says_yes_is_named(tmp_path):
    rows = said({"original": "y" * 30, "antonym": "y" * 30, "agreement": "y" * 30}, ["yes", "no"] * 15)
    found = narrative.answer(frames(rows, tmp_path))
    assert any("“Yes” to nearly everything, antonyms included" in caution for caution in found.cautions)
    text = " ".join(found.sentences)
    assert "100.0 % of the answers contradict the first" in text
    assert "agreement-seeking wording by 0.0 points" in text


def test_nothing_valid_is_said_not_averaged(tmp_path):
    found = narrative.answer(frames(said({"original": "---", "synonym": "---"}), tmp_path))
    assert found.verdict == "This model does not answer."
    assert len(found.sentences) == 1
    assert found.cautions[0].startswith("No valid answers to “morality” in English from any model")


def test_invalid_answers_are_told_in_both_conventions(tmp_path):
    rows = pd.concat([
        said({"original": "yn" * 10, "synonym": "y-" * 10}, model="half"),
        said({"original": "yn" * 10, "synonym": "yn" * 10}, model="whole"),
        said({"original": "--" * 10, "synonym": "--" * 10}, model="mute"),
    ])  # fmt: skip
    cautions = " ".join(narrative.answer(frames(rows, tmp_path)).cautions)
    assert "30 pairs have an invalid answer." in cautions
    assert "100.0 % without these pairs. It is 50.0 % where they count as inconsistent" in cautions
    assert "No valid answers to “morality” in English from mute." in cautions


def test_a_model_that_hardly_answers_is_in_no_verdict(tmp_path):
    """The one valid pair in ten of "mute" is consistent; the model that answers is consistent half of the time."""
    rows = pd.concat([
        said({"original": "yn" * 10, "synonym": "yy" * 10}, model="whole"),
        said({"original": "yn" + "-" * 18, "synonym": "yn" + "-" * 18}, model="mute"),
    ])  # fmt: skip
    tables_of = frames(rows, tmp_path)
    found = narrative.answer(tables_of)
    assert found.verdict == "Not reliably."
    assert "stays the same for 50.0 %" in found.sentences[0]
    assert "mute" not in " ".join(found.sentences)
    assert any("valid for mute. The lowest share is 10.0 %" in line for line in found.cautions)
    (row,) = tables_of["patterns"].to_dict("records")
    assert (row["n_models"], row["n_undefined"], row["consistency"]) == (1, 1, 0.5)
    marked = figures._marked(tables_of["consistency"])
    assert marked.groupby("model")["silent"].first().to_dict() == {"mute": True, "whole": False}
    assert "°: less than half" in captions.consistency(marked)


def test_three_models_give_no_coefficient_and_the_page_says_so(tmp_path):
    run = runs.open(write_wording(tmp_path / "run", random_rows(["a", "b", "c"], items=5)))
    found = benchmark_words.answer({name: tables.build(name, run) for name in benchmark_words.TABLES})
    assert found.verdict.startswith("These runs cannot tell: no measure is known for 4 models")
    assert any("-p scores=FILE" in caution for caution in found.cautions)
    assert any("refused: fewer than 4 models" in caution for caution in found.cautions)


def test_the_printed_figure_is_a_correlation_matrix_in_the_printed_order():
    table = printed.matrix()
    wide = table.pivot(index="measure_a", columns="measure_b", values="r")
    order = list(dict.fromkeys(table["measure_a"]))
    values = wide.loc[order, order].to_numpy()
    assert (order[0], order[6], order[-1]) == ("MT-Bench", "CommonsenseMorality", "Consistency(Strong Agr.)")
    assert values.shape == (11, 11)
    np.testing.assert_array_equal(values, values.T)
    np.testing.assert_array_equal(np.diag(values), 1)
    assert wide.loc["Consistency(Antonym)", "MT-Bench"] == 0.64


def test_printed_tables_are_whole_and_plausible():
    table = printed.groups()
    original = table["pattern"] == "original"
    assert table.loc[original, ["yes", "accuracy"]].notna().all(axis=None)
    assert table.loc[~original, ["consistency", "diff_yes", "diff_acc"]].notna().all(axis=None)
    assert table["consistency"].dropna().between(0.6, 1).all()
    base = table[(table["stage"] == "base") & (table["pattern"] == "strong_agreement")]
    assert base["diff_yes"].item() == pytest.approx(0.162)
