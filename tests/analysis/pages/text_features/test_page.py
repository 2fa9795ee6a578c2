"""The text-features report by the real commands: one small run from wordings to page."""

from __future__ import annotations

import csv
import io
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from analysis import runs
from analysis.pages.text_features.catalogue import CATALOGUE, TABLES
from analysis.reporting.catalogue import tables
from analysis.reporting.output import notebooks, report
from helpers.commands import waver
from helpers.html_pages import Page
from helpers.shown_pages import show_page
from helpers.text_feature_runs import SENTIMENT, make_run

pytestmark = pytest.mark.slow

pytest.importorskip("statsmodels")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("features") / "run", ["org/one", "org/two", "org/three"])


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(run, folder / "run")
    return show_page("text_features", [folder / "run"], folder / "out", sentiment=SENTIMENT)


def test_the_page_answers_with_numbers_and_says_what_is_missing(made):
    page = Page(made)
    assert re.search(r"The answers of 3 models\b.* to paraphrases of 6 items were compared with", page.words)
    assert re.search(
        r"The largest confirmed effect is that of [\w ]+ with [\w/-]+: [+−]\d\.\d+ SD per SD of the feature \(95 %",
        page.words,
    )
    assert "Left out: left dependents, right dependents and dependency length." in page.words
    assert "Only 6 items" in page.words
    assert page.tags.index("figure") < page.tags.index("h2")


def test_the_page_is_quiet_and_has_all_tables_and_pictures(made):
    text = made.read_text(encoding="utf-8")
    for noise in ("<script", "Warning", "Traceback", "object at 0x", "%|", "Retrying"):
        assert noise not in text, noise
    for name in TABLES:
        frame = pd.read_csv(made.parent / "tables" / f"{name}.csv")
        assert list(frame.columns) == list(TABLES[name].columns)
    assert {"effects", "correlations", "residuals", "intercepts"} <= set(Page(made).ids)
    kept = pd.read_csv(made.parent / "tables" / "mixed.csv", float_precision="round_trip")
    ours = tables.build_table("mixed", runs.open_runs(made.parent.parent / "run"))
    assert kept["estimate"].tolist() == ours["estimate"].tolist()


def test_provenance_names_what_computed_and_fitted(made):
    words = Page(made).words
    assert "word_length, statement_length (en): words cut by white space" in words
    assert "engine profile; statsmodels" in words


def test_a_notebook_that_lacks_a_package_is_left_out_and_named(run, tmp_path, capsys):
    page = replace(CATALOGUE, needed_packages={"no_such_package": "pip install it"})
    lacking = report.Notebook(notebooks.FOLDER / "text_features.ipynb", page)
    results = report.write_report([str(run)], tmp_path / "out", registry=[lacking]).results
    assert results[0].left_out == "it needs no_such_package: pip install it"
    assert results[0].error is None
    assert "text_features: left out: it needs no_such_package" in capsys.readouterr().err
    assert "because it needs no_such_package: pip install it" in Page(tmp_path / "out" / "index.html").words
    assert not (tmp_path / "out" / "text_features.html").exists()


def test_features_and_table_by_command(run):
    first = waver("analysis", "features", run, "--sentiment", SENTIMENT)
    assert "word_length, statement_length (en, " in first.stdout
    assert "nothing to compute" in waver("analysis", "features", run).stdout
    promised = ["model", "term", "estimate", "se", "df", "statistic", "p", "p_bonferroni", "p_holm", "lower", "upper",
                "estimate_std", "n_rows", "n_items"]  # fmt: skip
    identity, logit = (
        list(csv.DictReader(io.StringIO(waver("analysis", "table", run, "mixed", *options).stdout)))
        for options in ([], ["-p", "engine=profile", "-p", "scale=logit"])
    )
    assert set(promised) <= identity[0].keys()
    assert {row["model"] for row in identity} == {"org/one", "org/two", "org/three"}
    assert {row["scale"] for row in logit} == {"logit"}
    assert identity[1]["estimate"] != logit[1]["estimate"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["stability", "-p", "engine=profile"],
            "table stability has no option 'engine'; the options are thresholds, invalid, resamples, seed",
        ),
        (["vif", "-p", "scale=logit"], "table vif has no option 'scale'; the options are engine, predictors, invalid"),
        (["mixed", "-p", "engine=lmer"], "no engine 'lmer'; there are auto, profile, pymer4"),
        (
            ["mixed", "-p", "predictors=left_dependents,word_length"],
            "'left_dependents' has no values: no spaCy pipeline",
        ),
        (["mixed", "-p", "predictors=colour"], "no predictor 'colour'; there are all, published, word_length"),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, arguments, said):
    done = waver("analysis", "table", run, *arguments, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert said in done.stderr
