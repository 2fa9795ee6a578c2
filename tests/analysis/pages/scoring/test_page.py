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
from analysis.pages.scoring import by_setting, narrative
from analysis.pages.scoring.catalogue import CATALOGUE, TABLES
from analysis.pages.scoring.page import TABLES as SHOWN
from analysis.pages.scoring.page import ScoringPage
from analysis.reporting.catalogue import tables
from analysis.reporting.drawing.pictures import build_pictures
from analysis.statistics.significance import compute_smallest_bootstrap_p
from helpers.commands import waver
from helpers.html_pages import Page
from helpers.scoring_runs import Judge, make_run, one_judge
from helpers.shown_pages import show_page

pytestmark = pytest.mark.slow

SETTING = "0-9/0.7/sampled"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("scores") / "run", {"En-De": 35, "Et-En": 40})


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    return show_page("scoring", [run], tmp_path_factory.mktemp("report"), resamples=40)


@pytest.fixture(scope="module")
def frames(run):
    opened = runs.open_runs(run)
    return {name: tables.build_table(name, opened, resamples=40) for name in SHOWN}


def test_the_page_answers_with_numbers_and_says_what_tuning_did(made):
    page = Page(made)
    assert "4 models scored 75 items of “made up” in 2 groups from 0 to 9, 10 samples each at" in page.words
    assert "All settings are in the tables: ranges 0-9 and 1-5" in page.words
    share = r"\d+(\.\d)? % of the items of group “\w\w-\w\w”"
    assert re.search(rf"one score: org/small-tuned gives 7 to {share} \(95", page.words)
    assert "Of the human scores there" in page.words
    assert re.search(r"Without a test, kurtosis is higher after tuning in \d of \d pairs?, lower in \d", page.words)
    # An interval is left out where some draw of the items had constant scores.
    lowest = r"is lowest with [\w/-]+ on group “\w\w-\w\w”: −?\d\.\d\d"
    assert re.search(rf"{lowest}.* highest .* \(95 % interval", page.words)
    assert re.search(r"The correlation of kurtosis and tau has only \d points: it says little", page.words)
    assert page.tags.index("figure") < page.tags.index("h2")


def test_the_printed_correlation_shows_what_it_rests_on(made):
    words = Page(made).words
    assert "the changes of kurtosis and of tau correlate at −0.68 (95 % interval" in words
    assert "Without En-De/gemma, the correlation is −0.45" in words
    assert "With any one point left out, it lies between −0.72 and −0.45" in words
    assert ".26 in the first and .21 in the second" in words


def test_the_page_is_quiet_and_has_all_tables_and_pictures(made):
    text = made.read_text(encoding="utf-8")
    for noise in ("<script", "Warning", "Traceback", "object at 0x", "%|", ">nan<"):
        assert noise not in text, noise
    for name in TABLES:
        frame = pd.read_csv(made.parent / "tables" / f"{name}.csv")
        assert list(frame.columns) == tables.list_declared_columns(name, frame)
    assert {"score_violins", "score_temperatures", "score_methods", "score_influence-printed"} <= set(Page(made).ids)


def test_a_run_without_scores_has_no_such_page(opened):
    other = opened(pd.DataFrame({"item": ["a"], "variant": ["p1"], "agreement": [0.2]}))
    assert other.select_protocols(CATALOGUE.protocols) is None


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
    path = make_run(
        tmp_path / "run", {"g": 16}, family=family, ranges=[(0, 9)], temperatures=[0.7], methods=["sampled"]
    )
    page = ScoringPage([str(path)], resamples=20)
    answer = page.answer().text + page.cautions().text
    assert "Yes with 1 of 2 models; with the other, these runs cannot tell." in answer
    (line, *_) = page._answer.details["score_differences"][-1:]
    assert line.startswith("In 1 of 1 pair, the tuned model gives every item the same score")
    assert "All scores are equal in 1 of 2 combinations" in answer
    assert "Only 16 items in a group" in answer and "Only 2 models" in answer
    for shown in page.figure("score_influence"), page.method():
        assert shown.text
    assert "Fewer than three pairs" in page.figure("score_influence").text
    assert 'class="note nothing"' in page.figure("score_temperatures").text
    assert page.frame("score_methods").empty


def test_one_item_at_several_temperatures_has_no_figure_of_them(tmp_path):
    page = ScoringPage([str(make_run(tmp_path / "run", {"g": 1}))], resamples=0)
    assert 'class="note nothing"' in page.figure("score_temperatures").text


@pytest.mark.parametrize(
    ("given", "gold", "said"),
    [([np.nan] * 3, [1, 2, 3],
      ("This model does not answer.", "3 scores are missing: what was answered held no number, or too few.",
       "3 samples hold no number. Where they count (-p invalid=inconsistent), no item loses its score.",
       "Less than half of the samples (or of the probability) hold a number")),
     ([1, 2, 3], [np.nan] * 3,
      ("These runs cannot tell: with each model, an interval of the share",
       "No item has a human score, so there is no tau.",
       "No series has both a base and a tuned model")),
     ([1, 2, 3], [5, np.nan, 7], ("Up to 1 item of a group has no human score and is left out of tau.",)),
     ([8], [80], ("These runs cannot tell", "Only 1 item in a group"))],
)  # fmt: skip
def test_what_a_run_lacks_is_said(tmp_path, given, gold, said):
    page = ScoringPage([str(one_judge(tmp_path / "run", given, gold))], resamples=20)
    text = page.answer().text + page.cautions().text
    for sentence in said:
        assert sentence in text.replace("\N{NO-BREAK SPACE}", " "), sentence
    assert "nan" not in text
    assert "<svg" in page.figure("score_violins").text


def told(answer):
    return " ".join(line for lines in answer.details.values() for line in lines)


@pytest.mark.parametrize("p_least", [2 / 41, 1e-4], ids=["few draws", "many draws"])
def test_numbers_in_sentences_are_those_of_the_tables(frames, p_least):
    pairs = frames["score_differences"].assign(p_least=p_least)
    said = narrative.answer_page_question({**frames, "score_differences": pairs}, SETTING).details["score_differences"]
    pairs = pairs[(pairs["range"] == "0-9") & (pairs["temperature"] == 0.7) & (pairs["method"] == "sampled")]
    for name, line, without in (("kurtosis", said[1], said[2]), ("tau", said[3], said[4])):
        known = pairs.dropna(subset=[f"{name}_difference"])
        up, down = known[f"{name}_difference"] > 0, known[f"{name}_difference"] < 0
        clear = known[f"{name}_p_holm"] < 0.05
        if p_least > 0.01:
            assert "no difference could be shown" in line
        else:
            n_tested = known[f"{name}_p_holm"].count()
            assert f"rises clearly in {(up & clear).sum() or 'none'} of {n_tested} pair" in line
            assert (" with a test" in line) == (n_tested < len(known))
            assert f"falls clearly in {(down & clear).sum() or 'none'} (bootstrap, at 0.05 after Holm)" in line
        assert f"higher after tuning in {up.sum()} of {len(known)} pairs, lower in {down.sum()}." in without


def judged(*rows):
    """Rows of table `scores`: model, group, share of the most frequent score, the ends of its interval."""
    names = ["label", "group", "mode_share", "mode_share_lower", "mode_share_upper"]
    frame = pd.DataFrame(rows, columns=names).assign(study="s", range="0-9")
    return frame.assign(model=frame["label"])


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([("m", "g", 0.8, 0.6, 0.9)], "yes"),
        ([("m", "g", 0.5, 0.33, 0.67)], ""),  # human scores: 0.47
        ([("m", "g", 0.3, 0.2, 0.4)], "no"),
        ([("m", "g", 0.3, 0.2, 0.4), ("m", "h", 0.5, 0.4, 0.6)], ""),
        ([("m", "g", 0.3, 0.2, 0.4), ("m", "h", 0.9, 0.8, 0.95)], "no more than people"),
        ([("m", "g", 0.9, 0.8, 0.95), ("m", "h", 0.9, 0.8, 0.95)], "yes"),
        ([("m", "g", 0.9, np.nan, np.nan)], ""),
        # Above the share of people, but not above what their interval allows.
        ([("m", "h", 0.95, 0.86, 0.98)], "no more than people"),
        # One of three groups is above a half by its own interval, not by one that is widened for three.
        ([("m", "g", 0.62, 0.51, 0.72), ("m", "i", 0.3, 0.2, 0.4), ("m", "j", 0.3, 0.2, 0.4)], ""),
        ([("m", "i", 0.62, 0.51, 0.72)], "yes"),
    ],
)  # fmt: skip
def test_a_word_is_said_only_where_interval_and_people_allow_it(rows, word):
    people = judged(("gold", "g", 0.47, 0.3, 0.6), ("gold", "h", 0.85, 0.7, 0.95))
    assert narrative.choose_repetition_verdict_word_per_model(judged(*rows), people)["m"] == word


def test_the_share_that_is_told_is_one_that_the_word_rests_on():
    """Group g has the largest share, of 5 items; only group h shows that a score is given to most."""
    known = judged(("m", "g", 0.8, 0.38, 0.96), ("m", "h", 0.7, 0.63, 0.76))
    text = "the most frequent score goes to 70 % of the items of group “h” (interval 63 to 76 %)."
    assert narrative._describe_counts_of_scoring_verdicts(known, judged(), n_asked=1) == f"Yes: {text}"
    assert narrative._describe_counts_of_scoring_verdicts(known, judged(), n_asked=2) == f"Yes: with m, {text}"


@pytest.mark.parametrize(
    ("studies", "conditions", "unit"),
    [("st", "cc", "model and study"), ("ss", "cd", "model and condition")],
)  # fmt: skip
def test_combinations_are_named_by_what_tells_them_apart(studies, conditions, unit):
    """Two studies were said to be “2 combinations of model and prompt”."""
    rows = judged(("a", "g", 0.8, 0.6, 0.9), ("b", "g", 0.8, 0.6, 0.9))
    rows = rows.assign(model="m", study=list(studies), condition=list(conditions))
    verdict = narrative._describe_counts_of_scoring_verdicts(rows, judged(), n_asked=2)
    assert verdict == f"Yes, with each of 2 combinations of {unit}."


def test_p_values_are_corrected_within_each_study_and_setting(frames):
    """Reference: statsmodels' multipletests (holm); p < 0.05 needs an interval without 0, where there is one."""
    pairs = frames["score_differences"]
    for measure in ("kurtosis", "tau"):
        known = pairs.dropna(subset=[f"{measure}_p"])
        families = known.groupby(["study", "range", "temperature", "method"])
        assert families.ngroups > 1 and families.size().max() > 1
        for _, family in families:
            expected = multipletests(family[f"{measure}_p"], method="holm")[1]
            assert family[f"{measure}_p_holm"].tolist() == pytest.approx(list(expected), abs=1e-12)
        low, high = pairs[f"{measure}_difference_lower"], pairs[f"{measure}_difference_upper"]
        assert low.isna().all() if measure == "kurtosis" else low.notna().any()  # of fewer than 1,000 items
        assert not ((low <= 0) & (high >= 0))[pairs[f"{measure}_p"] < 0.05].any()
    assert (pairs["p_least"] == compute_smallest_bootstrap_p(40, pairs["n"])).all()


def test_p_values_of_samples_against_exact_scores_are_corrected_over_all_settings_which_the_page_counts(frames):
    """They were corrected within each setting, and those of all settings were counted. Reference: multipletests."""
    methods = frames["score_methods"].dropna(subset=["tau_p"])
    assert methods["study"].nunique() == 1 and len(methods[["range", "temperature"]].drop_duplicates()) > 1
    expected = multipletests(methods["tau_p"], method="holm")[1]
    assert methods["tau_p_holm"].tolist() == pytest.approx(list(expected), abs=1e-12)


def test_ranges_temperatures_and_methods_are_compared_with_their_tables(frames):
    details = narrative.answer_page_question(frames, SETTING).details
    assert details["score_ranges"][0].startswith("The kurtosis is furthest from 0 on the range")
    assert [line.split(",")[0] for line in details["score_temperatures"]] == ["With base models", "With tuned models"]
    unknown = frames["scores"].assign(stage=None)  # as where no --models says it
    (said,) = by_setting.describe_kurtosis_by_temperature(unknown)
    assert said.startswith("With models of unknown stage, the kurtosis is lower")
    assert "correlate at −0.68" in details["score_influence_printed"][0]
    methods = frames["score_methods"].dropna(subset=["tau_difference"])
    lower = (methods["tau_difference"] < 0).sum()
    assert f"lower than that of the exact score in {lower} of {len(methods)} compar" in details["score_methods"][1]


@pytest.fixture(scope="module")
def page_of_two_studies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    options = {"ranges": [(0, 9)], "temperatures": [0.7], "methods": ["exact"]}
    paths = [make_run(folder / name, {"En-De": 15, "Et-En": 20}, study=name, **options) for name in ("alpha", "beta")]
    return ScoringPage([str(path) for path in paths], resamples=40)


def test_every_study_has_its_own_picture_of_influence_and_is_named(page_of_two_studies):
    """Both were one picture: the correlation of the first study beside the omissions of both."""
    page = page_of_two_studies
    pictures = [picture for name in ("score_influence", "score_influence_printed")
                for picture in build_pictures(name, page.frames)]  # fmt: skip
    assert [picture.name for picture in pictures] == [
        "score_influence-1", "score_influence-2", "score_influence-printed"
    ]  # fmt: skip
    for study, picture in zip(["alpha", "beta"], pictures, strict=False):
        assert [set(frame["study"]) for frame in picture.draw.args] == [{study}, {study}]
        assert picture.caption.endswith(f"Study: {study}.")
    answer = narrative.answer_page_question({name: page.frame(name) for name in SHOWN}, page.setting)
    for study in ("alpha", "beta"):
        assert f"Over 4 points of “{study}”, each a group and a series" in told(answer)
    assert "has only 4 points in “alpha” and “beta”: it says little." in " ".join(answer.cautions)


def test_a_judge_that_hardly_answers_is_in_no_verdict(tmp_path):
    """The single number of "mute" is given to all of its items: without the rule it would be the strongest habit."""
    path = make_run(tmp_path / "run", {"g": 12}, ranges=[(0, 9)], temperatures=[0.7], methods=["sampled"])
    opened = runs.open_runs(path)
    frames = {name: tables.build_table(name, opened, resamples=20) for name in SHOWN}
    scores, pairs = frames["scores"], frames["score_differences"]
    mute = scores["model"] == "org/small-tuned"
    assert "small-tuned" in told(narrative.answer_page_question(frames, SETTING))
    frames["scores"] = scores.assign(validity=scores["validity"].mask(mute, 0.2))
    silent_pair = pairs["post_model"] == "org/small-tuned"
    frames["score_differences"] = pairs.assign(validity_post=pairs["validity_post"].mask(silent_pair, 0.2))
    found = narrative.answer_page_question(frames, SETTING)
    assert "small-tuned" not in found.verdict + told(found)
    assert f"of {len(pairs) - silent_pair.sum()} pair" in told(found)
    (line,) = [line for line in found.cautions if line.startswith("Not judged")]
    names, _, reason = line.partition(". ")
    assert re.search(r"small-tuned · [\d-]+ at temperature", names)  # no comma, which would look like two models
    assert reason == "Less than half of the samples (or of the probability) hold a number: 20 %."
