"""The report on scores by the real commands, and its sentences."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analysis import runs
from analysis.pages.scoring import narrative
from analysis.pages.scoring.catalogue import CATALOGUE, TABLES
from analysis.pages.scoring.page import TABLES as SHOWN
from analysis.pages.scoring.page import ScoringPage
from analysis.reporting import report, tables
from helpers.commands import waver
from helpers.html_pages import Page
from helpers.scoring_runs import Judge, make_run, one_judge

SETTING = "0-9/0.7/sampled"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("scores") / "run", {"En-De": 35, "Et-En": 40})


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "out"
    alone = [entry for entry in report.found() if entry.name == "scoring"]
    assert [result.error for result in report.report([str(run)], out, {"resamples": "40"}, alone)] == [None]
    return out


@pytest.fixture(scope="module")
def frames(run):
    opened = runs.open(run)
    return {name: tables.build(name, opened, resamples=40) for name in SHOWN}


def test_the_page_answers_with_numbers_and_says_what_tuning_did(made):
    page = Page(made / "scoring.html")
    assert "Does the judge give everything the same score?" in page.words
    assert "4 models (2 base, 2 tuned) scored 75 items of “made up” in 2 groups." in page.words
    assert "This was done on the ranges 0-9 and 1-5" in page.words
    assert re.search(r"habit: small-tuned gives the score 7 to \d+(\.\d)? % of the items of \w\w-\w\w", page.words)
    assert "of the human scores there" in page.words
    assert re.search(r"After tuning, the scores are more peaked \(higher kurtosis\) in \d of \d pairs?", page.words)
    # An interval is left out where some draw of the items had constant scores.
    assert re.search(r"tau: −?\d\.\d\d \([\w-]+, \w\w-\w\w[;)].* to .*; 95 % interval", page.words)
    assert "in the correlation of kurtosis and tau: it says little" in page.words
    assert page.tags.index("picture") < page.tags.index("h2")


def test_the_printed_correlation_shows_what_it_rests_on(made):
    words = Page(made / "scoring.html").words
    assert "the differences in kurtosis and in tau correlate at −0.68 (95 % interval" in words
    assert "It rests on one point: without En-De/gemma it is −0.45" in words
    assert "With any one point left out, it lies between −0.72 and −0.45" in words
    assert ".26 in the first and .21 in the second" in words


def test_the_page_is_quiet_and_loads_nothing(made):
    text = (made / "scoring.html").read_text(encoding="utf-8")
    for noise in ("Warning", "Traceback", "object at 0x", "%|", "<script", ">nan<"):
        assert noise not in text, noise
    for tag, address in Page(made / "scoring.html").addresses:
        assert tag == "a" or address.startswith("data:image/svg+xml;base64,")
    assert len(text) < 3_000_000


def test_tables_and_figures_lie_next_to_the_page(made):
    for name in TABLES:
        frame = pd.read_csv(made / "tables" / f"{name}.csv")
        assert list(frame.columns) == tables.declared(name, frame)
    drawn = {path.stem for path in (made / "figures").iterdir()}
    assert {"score_violins", "score_temperatures", "score_methods", "score_influence-2"} <= drawn
    dictionary = pd.read_csv(made / "tables" / "dictionary.csv")
    assert set(TABLES) <= set(dictionary["table"]) and dictionary["meaning"].notna().all()


def test_provenance_makes_the_page_again(made):
    assert "-p biased=True -p resamples=40 -p seed=0 -p setting=0-9/0.7/sampled" in Page(made / "scoring.html").words


def test_a_run_without_scores_has_no_such_page(opened):
    other = opened(pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.2]}))
    assert report._folders(CATALOGUE, other) == []


def test_table_prints_the_promised_columns(run):
    printed = waver("analysis", "table", run, "scores", "-p", "resamples=20").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    promised = ["model", "group", "range", "temperature", "method", "n", "kurtosis", "mode_share", "distinct", "tau",
                "tau_lower", "tau_upper", "dropped", "clipped"]  # fmt: skip
    assert set(promised) <= rows[0].keys()
    assert rows[0]["model"] == "gold"
    assert {row["method"] for row in rows} == {"", "sampled", "exact"}
    assert len(rows) == 2 * 2 * (1 + 4 * 2 * 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["score_items", "-p", "setting=1-7/0.7/sampled"], "no condition has the setting '1-7/0.7/sampled'; there are"),
     (["scores", "-p", "biased=perhaps"], "'perhaps' is neither true nor false")],
)  # fmt: skip
def test_wrong_options_are_refused_in_one_line(run, arguments, said):
    done = waver("analysis", "table", run, *arguments, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_a_flat_judge_is_said_to_be_one(tmp_path):
    family = {"a": Judge("s", "base", 0.4, 0), "b": Judge("s", "tuned", 0.4, 90.0)}
    path = make_run(tmp_path / "run", {"g": 6}, family=family, ranges=[(0, 9)], temperatures=[0.7], methods=["sampled"])
    page = ScoringPage([str(path)], resamples=20)
    answer = page.answer().text + page.cautions().text
    assert "1 of 2 models gives one score to at least half of all items" in answer
    assert "In 1 of 1 pair the tuned model gives every item the same score" in answer
    assert "All scores are equal in 1 of 2 combinations" in answer
    assert "Only 6 items in a group" in answer and "Only 2 models" in answer
    for shown in page.figure("score_influence"), page.method(), page.reading():
        assert shown.text
    assert "Fewer than three pairs" in page.figure("score_influence").text
    assert 'class="note"' in page.figure("score_temperatures").text
    assert page.frame("score_methods").empty


@pytest.mark.parametrize(
    ("given", "gold", "said"),
    [([np.nan] * 3, [1, 2, 3],
      ("This model does not answer.", "Missing: 3 scores",
       "3 of 3 samples (100 %) hold no number and were dropped", "Low validity")),
     ([1, 2, 3], [np.nan] * 3,
      ("No: no model gives one score to half", "No item has a human score, so there is no tau.",
       "No series has both a base and a tuned model")),
     ([1, 2, 3], [5, np.nan, 7], ("Up to 1 item of a group have no human score",)),
     ([8], [80], ("Yes: 1 of 1 model gives one score to at least half of all items.", "Only 1 item in a group"))],
)  # fmt: skip
def test_what_a_run_lacks_is_said(tmp_path, given, gold, said):
    page = ScoringPage([str(one_judge(tmp_path / "run", given, gold))], resamples=20)
    text = page.answer().text + page.cautions().text
    for sentence in said:
        assert sentence in text.replace("\N{NO-BREAK SPACE}", " "), sentence
    assert "nan" not in text
    assert "<picture" in page.figure("score_violins").text


def test_numbers_in_sentences_are_those_of_the_tables(frames):
    said = " ".join(narrative.answer(frames, SETTING).sentences)
    pairs = frames["score_differences"]
    pairs = pairs[(pairs["range"] == "0-9") & (pairs["temperature"] == 0.7) & (pairs["method"] == "sampled")]
    known = pairs.dropna(subset=["kurtosis_difference"])
    up = known["kurtosis_difference"] > 0
    sure = (up & (known["kurtosis_p_holm"] < 0.05)).sum()
    assert f"in {up.sum()} of {len(known)} pair" in said
    assert f"({sure or 'none'} significantly, at 0.05 after Holm)" in said
    tau = pairs.dropna(subset=["tau_difference"])["tau_difference"]
    assert f"Of {len(tau)} pairs, tau rises in {(tau > 0).sum()}" in said


def test_p_values_are_corrected_within_each_study_and_setting(frames):
    """Reference: statsmodels' multipletests (holm); p < 0.05 needs an interval without 0."""
    pairs = frames["score_differences"]
    for measure in ("kurtosis", "tau"):
        known = pairs.dropna(subset=[f"{measure}_p"])
        families = known.groupby(["study", "range", "temperature", "method"])
        assert families.ngroups > 1 and families.size().max() > 1
        for _, family in families:
            expected = multipletests(family[f"{measure}_p"], method="holm")[1]
            assert family[f"{measure}_p_holm"].tolist() == pytest.approx(list(expected), abs=1e-12)
        clear = known[known[f"{measure}_p"] < 0.05]
        low, high = clear[f"{measure}_difference_lower"], clear[f"{measure}_difference_upper"]
        assert len(clear) and ((low > 0) | (high < 0)).all()
    assert (pairs["p_least"] == 2 / 41).all()


def test_reading_compares_ranges_temperatures_and_methods(frames):
    lines = narrative.reading(frames)
    assert [line.split(":")[0].split(",")[0] for line in lines] == [
        "Range", "Temperature", "Sampling", "In the paper's Table 1"
    ]  # fmt: skip
    methods = frames["score_methods"].dropna(subset=["tau_difference"])
    lower = (methods["tau_difference"] < 0).sum()
    assert f"lower than the exact one in {lower} of {len(methods)} comparisons" in lines[2]


def test_a_judge_that_hardly_answers_is_in_no_verdict(tmp_path):
    """The single number of "mute" is given to all of its items: without the rule it would be the strongest habit."""
    path = make_run(tmp_path / "run", {"g": 12}, ranges=[(0, 9)], temperatures=[0.7], methods=["sampled"])
    opened = runs.open(path)
    frames = {name: tables.build(name, opened, resamples=20) for name in SHOWN}
    scores, pairs = frames["scores"], frames["score_differences"]
    mute = scores["model"] == "org/small-tuned"
    before = narrative.answer(frames, SETTING)
    assert "small-tuned" in before.sentences[0]
    frames["scores"] = scores.assign(validity=scores["validity"].mask(mute, 0.2))
    silent_pair = pairs["post_model"] == "org/small-tuned"
    frames["score_differences"] = pairs.assign(validity_post=pairs["validity_post"].mask(silent_pair, 0.2))
    found = narrative.answer(frames, SETTING)
    assert "small-tuned" not in " ".join((found.verdict, *found.sentences))
    assert f"of {len(pairs) - silent_pair.sum()} pair" in " ".join(found.sentences)
    assert any("Low validity" in line and "small-tuned" in line for line in found.cautions)
