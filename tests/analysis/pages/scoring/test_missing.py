"""Rows that failed do not vanish, and rounding noise is no variation: human scores, counts, reasons."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis import runs
from analysis.pages.scoring import contrasts
from analysis.pages.scoring.by_setting import (
    describe_all_settings_in_tables,
    describe_kurtosis_by_temperature,
    describe_range_of_most_extreme_kurtosis,
    describe_sampled_versus_exact_scores,
)
from analysis.pages.scoring.cautions import list_cautions
from analysis.pages.scoring.contrasts import tabulate_score_changes_by_tuning
from analysis.pages.scoring.figures import build_score_temperatures_frames
from analysis.pages.scoring.items import label_rows_with_model_and_prompt
from analysis.pages.scoring.page import ScoringPage
from analysis.pages.scoring.tables import tabulate_score_bias_and_accuracy, tabulate_scores_of_every_item
from analysis.reporting.catalogue import tables
from ground.errors import InputError
from helpers.scoring_runs import condition, make_run, name_of, one_judge, stimuli, write_scores
from helpers.synthetic import edit_run_json

GOLD = [5.0, 11, 18, 30, 42, 55, 61, 77, 90, 100]
NAME = name_of((0, 9), 0.7, "sampled")


def asked(given, gold=GOLD, model="m", groups=("g",)):
    """Rows of one model; None: its prompt failed, "gone": it was never asked."""
    rows = stimuli(dict.fromkeys(groups, gold)).assign(model=model, condition=NAME)
    given = list(given) * len(groups)
    rows["error"] = ["prompt too long" if value is None else None for value in given]
    rows["model"] = [None if value == "gone" else model for value in given]
    rows["score"] = [np.nan if value in (None, "gone") else float(value) for value in given]
    rows["output"] = [None if value is None or value == "gone" else ["1"] for value in given]
    rows["invalid"], rows["clipped"] = 0, 0
    return rows


def folder(path, *parts, **options):
    return write_scores(path, pd.concat(parts), {NAME: condition((0, 9), 0.7, "sampled", 1)}, **options)


def rows_of(path, **options):
    table = tabulate_score_bias_and_accuracy(runs.open_runs(path), resamples=0, **options).set_index("model")
    return table.loc["gold"], table.loc["m"]


def test_human_scores_are_over_all_items_whatever_the_model_could_read(tmp_path):
    """Three of ten prompts have no response: the kurtosis of the human scores was that of the seven others."""
    given = [1, 2, 2, 3, 5, 5, 6, None, "gone", None]
    gold, model = rows_of(folder(tmp_path / "run", asked(given)))
    assert gold["kurtosis"] == pytest.approx(stats.kurtosis(GOLD), abs=1e-14)
    assert abs(gold["kurtosis"] - stats.kurtosis(GOLD[:7])) > 0.05
    assert (gold["n"], gold["unscored"], gold["no_response"]) == (10, 0, 0)
    assert (model["n"], model["unscored"], model["no_response"]) == (7, 3, 3)
    assert model["kurtosis"] == pytest.approx(stats.kurtosis(given[:7]), abs=1e-14)
    assert model["tau"] == pytest.approx(stats.kendalltau(given[:7], GOLD[:7]).statistic, abs=1e-14)
    assert model["validity"] == 1


@pytest.mark.slow
def test_a_group_that_no_model_could_read_keeps_its_human_scores(tmp_path):
    rows = asked([1, 2, 2, 3, 5, 5, 6, 7, 8, 9], groups=("g", "h"))
    rows.loc[rows["item"].str.startswith("h"), ["score", "error", "output"]] = [np.nan, "prompt too long", None]
    table = tabulate_score_bias_and_accuracy(runs.open_runs(folder(tmp_path / "run", rows)), resamples=0).set_index(
        ["group", "model"]
    )
    assert table.loc[("h", "gold"), "kurtosis"] == pytest.approx(stats.kurtosis(GOLD))
    assert table.loc[("h", "m"), ["n", "unscored", "no_response", "caution"]].tolist() == [0, 10, 10, "no score"]
    assert len(tabulate_scores_of_every_item(runs.open_runs(tmp_path / "run"))) == 20


def test_the_human_kurtosis_of_a_difference_is_that_of_all_items(tmp_path):
    base = asked([1, 2, 2, 3, 5, 5, 6, None, None, None], model="base")
    tuned = asked([2, 2, 2, 3, 5, 5, 6, 7, 8, 9], model="tuned")
    models = {"base": {"series": "s", "stage": "base"}, "tuned": {"series": "s", "stage": "tuned"}}
    row = tabulate_score_changes_by_tuning(
        runs.open_runs(folder(tmp_path / "run", base, tuned, models=models)), resamples=0
    ).iloc[0]
    assert row["kurtosis_gold"] == pytest.approx(stats.kurtosis(GOLD))
    assert row["n"] == 7


@pytest.mark.slow
def test_the_page_tells_failed_prompts_apart_from_answers_without_a_number(tmp_path):
    path = folder(tmp_path / "run", asked([1, 2, 2, 3, 5, 5, np.nan, None, "gone", None]))
    page = ScoringPage([str(path)], resamples=0)
    said = (page.answer().text + page.cautions().text).replace("\N{NO-BREAK SPACE}", " ")
    assert "No response to 3 of 10 prompts: 2 failed, 1 is missing." in said
    assert "The first error: “prompt too long”." in said
    assert "1 score is missing: what was answered held no number, or too few." in said
    assert "Missing scores: 4, 3 of them because the prompt has no response" in page.method().text


@pytest.mark.parametrize("spread", [1e-15, 1e-12, 4e-10])
@pytest.mark.slow
def test_rounding_noise_has_neither_kurtosis_nor_correlation_and_the_table_says_why(tmp_path, spread):
    """A constant judge with noise of less than 1e-9 of the range had a tau of -.30 to .40, an order of noise."""
    noise = np.random.default_rng(3).normal(0, 9 * spread, 10)
    table = tabulate_score_bias_and_accuracy(runs.open_runs(one_judge(tmp_path / "run", 8 + noise, GOLD)), resamples=40)
    row = table[table["model"] == "m"].iloc[0]
    figures = ["kurtosis", "tau", "spearman", "pearson"]
    assert row[[*figures, *(f"{name}_lower" for name in figures)]].isna().all()
    assert (row["caution"], row["variance"]) == ("all scores are equal", 0)


def test_more_than_noise_is_variation(tmp_path):
    gold = np.array(GOLD)
    table = tabulate_score_bias_and_accuracy(
        runs.open_runs(one_judge(tmp_path / "run", 8 + 1e-6 * gold / 100, gold)), resamples=0
    )
    row = table[table["model"] == "m"].iloc[0]
    assert row["tau"] == pytest.approx(1) and row["caution"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "gold", "said"),
    [([1, 2, 3, 4], [50] * 4, "all human scores are equal"), ([1, 2, 3], [np.nan] * 3, "no human score"),
     ([4], [50], "only one score"), ([np.nan] * 2, [10, 20], "no score"),
     ([1, 1, 1, 2], [3, 4, 5, np.nan], "equal scores where"),
     ([1, 2, 3], [1, np.nan, np.nan], "only one item with a score and a human score")],
)  # fmt: skip
def test_a_missing_figure_has_its_reason(tmp_path, given, gold, said):
    _, row = rows_of(one_judge(tmp_path / "run", given, gold)) if said != "no human score" else (
        None, tabulate_score_bias_and_accuracy(runs.open_runs(one_judge(tmp_path / "run", given, gold)),
                              resamples=0).iloc[0])  # fmt: skip
    assert said in row["caution"]
    assert np.isnan(row["tau"])


def judged_samples(path, rows):
    """Every item's samples: lists of numbers, None where a sample holds none."""
    frame = stimuli({"g": GOLD[: len(rows)]}).assign(model="m", condition=NAME, clipped=0)
    frame["output"] = [["?" if sample is None else str(sample) for sample in row] for row in rows]
    frame["invalid"] = [row.count(None) for row in rows]
    numbers = [[sample for sample in row if sample is not None] for row in rows]
    frame["score"] = [float(np.mean(row)) if row else np.nan for row in numbers]
    return write_scores(path, frame, {NAME: condition((0, 9), 0.7, "sampled", len(rows[0]))})


@pytest.mark.slow
def test_samples_without_a_number_are_dropped_or_count(tmp_path):
    """Two of five items have no number in half of their samples or more: scores, or none, and none is a favourite."""
    rows = [[8, 8, 8, 8], [8, 8, 8, None], [8, 8, None, None], [8, None, None, None], [None] * 4, [2, 2, 3, 1]]
    run = runs.open_runs(judged_samples(tmp_path / "run", rows))
    dropped = tables.build_table("scores", run, resamples=20).set_index("model").loc["m"]
    counted = tables.build_table("scores", run, resamples=20, invalid="inconsistent").set_index("model").loc["m"]
    assert dropped[["n", "unscored", "dropped", "mode_share"]].tolist() == [5, 1, 10, 0.8]
    assert counted[["n", "unscored", "dropped"]].tolist() == [3, 3, 10]
    assert counted["mode_share"] == pytest.approx(2 / 6)
    low, high = proportion_confint(2, 6, method="wilson")
    assert (counted["mode_share_lower"], counted["mode_share_upper"]) == pytest.approx((low, high))
    assert counted["kurtosis"] == pytest.approx(stats.kurtosis([8, 8, 2]))
    assert counted["tau"] == pytest.approx(stats.kendalltau([8, 8, 2], [GOLD[0], GOLD[1], GOLD[5]]).statistic)
    (both,) = tables.build_table("score_conventions", run).to_dict("records")
    assert (both["n_dropped"], both["n_inconsistent"]) == (5, 3)
    assert (both["mode_share_dropped"], both["mode_share_inconsistent"]) == (0.8, pytest.approx(2 / 6))
    assert tables.build_table("score_items", run, invalid="inconsistent")["score"].isna().tolist() == [
        False,
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.slow
def test_the_convention_changes_no_exact_score_and_no_sample_that_is_a_number(tmp_path):
    path = make_run(tmp_path / "run", {"a": 12}, ranges=[(0, 9)], temperatures=[0.7])
    run = runs.open_runs(path)
    both = [tables.build_table("scores", run, resamples=0, invalid=name) for name in ("dropped", "inconsistent")]
    exact = both[0]["method"] == "exact"
    assert exact.any()
    pd.testing.assert_frame_equal(both[0][exact], both[1][exact])
    assert (tables.build_table("score_conventions", run)["condition"] == NAME).all()
    whole = runs.open_runs(folder(tmp_path / "whole", asked([1, 2, 2, 3, 5, 5, 6, 7, 8, 9])))
    assert tables.build_table("score_conventions", whole).empty
    with pytest.raises(InputError, match="invalid = 'counted' is not known"):
        tables.build_table("scores", run, invalid="counted")


def test_the_distance_of_sampled_scores_is_that_of_models_that_are_judged():
    methods = pd.DataFrame({
        "study": "s", "group": "g", "model": ["a", "b"], "range": "0-9", "samples": 20, "validity_sampled": [0.9, 0.1],
        "validity_exact": [0.9, 0.1], "score_distance": [0.9, 8.1], "tau_difference": [-0.1, -0.2], "tau_p": 0.01,
        "tau_p_holm": 0.01, "p_least": 0.001,
    })  # fmt: skip
    first, second = describe_sampled_versus_exact_scores(methods)
    assert "lies 10 % of the range away" in first and "in 1 of 1 comparison, clearly in 1 (" in second
    _, second, third = describe_sampled_versus_exact_scores(methods.assign(p_least=0.03))
    assert second.endswith("in 1 of 1 comparison.")
    assert third.startswith("2 pairs compared: no difference could be shown.")
    second_untested = pd.concat([methods[:1], methods[:1].assign(tau_p=np.nan, tau_p_holm=np.nan)])
    _, second = describe_sampled_versus_exact_scores(second_untested)
    assert "in 2 of 2 comparisons, clearly in 1 of 1 with a test (" in second
    untested = methods.assign(tau_p=np.nan, tau_p_holm=np.nan, p_least=np.nan)
    assert [line.endswith("comparison.") for line in describe_sampled_versus_exact_scores(untested)] == [False, True]


def test_the_range_of_the_largest_kurtosis_is_that_of_models_that_are_judged():
    """Model b is not judged on one range, so it is compared on none."""
    unit = {"study": "s", "group": "g", "form": "plain", "prompt": "", "temperature": 0.7, "method": "sampled"}
    ranges = pd.DataFrame({**unit, "model": list("abc"), "kurtosis_0_9": [1.0, 9.0, 9.0], "kurtosis_1_5": [2.0, 1, 1]})
    scores = pd.DataFrame({**unit, "model": list("aabbcc"), "range": ["0-9", "1-5"] * 3})
    (sentence,) = describe_range_of_most_extreme_kurtosis(ranges, scores.assign(validity=[0.9, 0.9, 0.1, 0.9, 0.1, 0]))
    assert sentence.startswith("The kurtosis is furthest from 0 on the range 1-5 in 1 of 1 combination of group")


@pytest.mark.slow
def test_a_temperature_that_nobody_set_is_the_makers(tmp_path):
    """Thoughts are sampled as the maker of a model advises: no page says “temperature nan”."""
    path = make_run(tmp_path / "run", {"g": 12}, temperatures=(1.0,), methods=("exact",))
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    thoughts = {name: {**fields, "answer": "thought", "temperature": None} for name, fields in conditions.items()}
    edit_run_json(path, conditions=thoughts)
    page = ScoringPage([str(path)], resamples=20)
    shown = [page.answer().text, page.figure("score_violins").text, page.figure("score_influence").text]
    assert all("at the maker’s temperature" in text for text in shown[:2])
    models = label_rows_with_model_and_prompt(page.frame("scores").query("model != 'gold'")).assign(validity=0.2)
    shown += list_cautions(models, models, page.frames, page.setting)
    assert not any("temperature nan" in text or "temperature maker" in text for text in shown)
    assert "1 temperature, thought scores." in " ".join(describe_all_settings_in_tables(models))


def test_scores_at_the_makers_temperature_are_left_out_of_curves_by_temperature(tmp_path):
    """They made every mark NaN, so that the figure was empty, and counted as the highest temperature."""
    path = make_run(tmp_path / "run", {"g": 12}, ranges=[(0, 9)], temperatures=(0.4, 0.7, 1.3), methods=["exact"])
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    edit_run_json(path, conditions={
        name: fields | {"answer": "thought", "temperature": None if "t1.3" in name else fields["temperature"]}
        for name, fields in conditions.items()
    })  # fmt: skip
    page = ScoringPage([str(path)], resamples=0)
    ((rows,),) = build_score_temperatures_frames(page.frames)
    assert set(rows["temperature"]) == {0.4, 0.7}
    scores = page.frame("scores")
    rising = scores.assign(kurtosis=scores["temperature"].fillna(0.1))
    *sentences, last = describe_kurtosis_by_temperature(rising)
    assert len(sentences) == 2
    assert all("than at the lowest in 0 of 2 cases" in sentence for sentence in sentences)
    assert last == "Scores at the maker’s temperature are left out of this; the tables have them."
    has_one = scores["temperature"].isna() | (scores["temperature"] == scores["stage"].map({"base": 0.4, "tuned": 0.7}))
    assert not list(describe_kurtosis_by_temperature(scores[has_one])), "left out of nothing that is said"


def test_thoughts_that_are_sampled_otherwise_are_other_settings(tmp_path):
    """With and without --top-p were one method: rows by range multiplied, and base was compared with tuned across."""
    path = make_run(tmp_path / "run", {"g": 12}, methods=["exact"])
    conditions = json.loads((path / "run.json").read_text())["conditions"]
    edit_run_json(path, conditions={
        name: fields | {"answer": "thought", "temperature": 1.0, "top_p": 0.9 if "t1.3" in name else 1.0, "top_k": 0}
        for name, fields in conditions.items()
    })  # fmt: skip
    run = runs.open_runs(path)
    wide, changes = (tables.build_table(name, run, resamples=0) for name in ("score_ranges", "score_differences"))
    assert wide.groupby("method").size().to_dict() == {"thought": 4, "thought-p0.9": 4}
    assert len(changes) == 2 * 2 * 2 and (changes["pre_condition"] == changes["post_condition"]).all()


def test_of_several_bases_the_one_of_the_same_size_counts_and_none_where_sizes_are_unknown():
    """Without sizes, every base model of a series was compared with every tuned one."""
    sizes = {"b7": 7, "b70": 70, "t7": 7}
    models = {name: {"series": "s", "stage": "base" if name[0] == "b" else "instruct", "parameters": size}
              for name, size in sizes.items()}  # fmt: skip
    pairs = [base for base in ("b7", "b70") if contrasts._is_tuned_from(models, list(models), base, "t7")]
    assert pairs == ["b7"]
    unknown = {name: fields | {"parameters": None} for name, fields in models.items()}
    assert not any(contrasts._is_tuned_from(unknown, list(unknown), base, "t7") for base in ("b7", "b70"))
    assert contrasts._is_tuned_from(unknown, ["b7", "t7"], "b7", "t7")
