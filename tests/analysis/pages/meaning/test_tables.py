"""The tables of the page on meaning, against other libraries and slow versions; and what they are without data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import mannwhitneyu
from statsmodels.stats.multitest import multipletests

from analysis import runs
from analysis.measures.beside_original import tabulate_answers_beside_original
from analysis.measures.meaning import read_meaning_checks_of_studies, read_meaning_scores, read_verdicts_on_wordings
from analysis.pages.meaning.catalogue import TABLES
from analysis.pages.meaning.narrative import count_people_who_judged_meaning
from analysis.reporting.catalogue.tables import build_table
from analysis.statistics.annotators import compute_fleiss_kappa_and_krippendorff_alpha
from analysis.statistics.corrected_share import POOR_READERS, estimate_flip_share_corrected_for_meaning
from helpers import choice_runs, scale_runs, wording_runs
from helpers.meaning_runs import KINDS, add_meaning, draw_flips, draw_meaning, write_meaning, write_meaning_run
from helpers.synthetic import random_frame, write_run

TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meaning") / "run"
    return runs.open_runs(write_meaning_run(folder, ["a", "b"], items=10, paraphrases=12, false_share=0.25))


def test_checks_are_rated_by_pairs_of_wordings_and_decoys(opened):
    scores, table = read_meaning_scores(opened), build_table("meaning_checks", opened).set_index("check")
    votes = scores[scores["check"].str.startswith("people") & scores["decoy"].isna()]
    is_passed = votes.groupby(["item", "variant"])["score"].mean() > 0.5
    for check, row in table.iterrows():
        part = scores[scores["check"] == check]
        decoys = part.loc[part["decoy"].notna(), "score"].to_numpy()
        wordings = part[part["decoy"].isna()].set_index(["item", "variant"])["score"]
        high = wordings[is_passed[is_passed].index].to_numpy()
        auc = np.mean([(h > low) + (h == low) / 2 for h in high for low in decoys])
        assert row["auc"] == pytest.approx(auc, abs=TOLERANCE)
        assert row["auc"] == pytest.approx(
            mannwhitneyu(high, decoys).statistic / len(high) / len(decoys), abs=TOLERANCE
        )
        assert (row["n_passed"], row["n_decoys"], row["passed_by"]) == (len(high), len(decoys), "people")
        assert row["passed_share"] == pytest.approx((high >= row["threshold"]).mean(), abs=TOLERANCE)
        assert row["decoy_share"] == pytest.approx((decoys >= row["threshold"]).mean(), abs=TOLERANCE)
        assert row["decoy_share"] <= 0.05
        assert row["passed_share_lower"] < row["passed_share"] <= row["passed_share_upper"] <= 1
    assert table["best"].tolist() == [False, False, True] and not table.loc["words", "used"]
    assert table.loc["words", "why_not"] and table.loc["entailment:good", "revision"] == "0" * 40


def test_decoys_are_rated_kind_by_kind(opened):
    table, checks = build_table("meaning_decoys", opened), build_table("meaning_checks", opened).set_index("check")
    assert table["decoy"].unique().tolist() == list(KINDS)
    scores = read_meaning_scores(opened)
    for row in table.itertuples():
        part = scores[(scores["check"] == row.check) & (scores["decoy"] == row.decoy)]["score"]
        share = (part >= checks.loc[row.check, "threshold"]).mean()
        assert row.n_decoys == len(part) and row.decoy_share == pytest.approx(share, abs=TOLERANCE)
        assert row.decoy_share_lower <= row.decoy_share <= row.decoy_share_upper
    for check, part in table.groupby("check"):
        pooled = (part["auc"] * part["n_decoys"]).sum() / part["n_decoys"].sum()
        assert checks.loc[check, "auc"] == pytest.approx(pooled, abs=TOLERANCE)


def test_people_and_everybody(opened):
    table, scores = build_table("meaning_annotators", opened, resamples=50), read_meaning_scores(opened)
    assert table["annotator"].tolist() == ["ann", "ben", "all"]
    people = scores[scores["check"].str.startswith("people")]
    for name, row in table.set_index("annotator").iterrows():
        votes = people if name == "all" else people[people["check"] == f"people:{name}"]
        wordings, decoys = votes[votes["decoy"].isna()], votes[votes["decoy"].notna()]
        assert row["yes_share"] == pytest.approx(wordings["score"].mean(), abs=TOLERANCE)
        assert row["decoy_error_share"] == pytest.approx(decoys["score"].mean(), abs=TOLERANCE)
        assert row["n_wordings"] == len(wordings.drop_duplicates(["item", "variant"]))
    wide = people[people["decoy"].isna()].pivot(index=["item", "variant"], columns="check", values="score")
    kappa, alpha = compute_fleiss_kappa_and_krippendorff_alpha(
        wide.to_numpy(), wide.index.get_level_values("item"), draws=50
    )
    everybody = table.iloc[-1]
    assert everybody["kappa"] == pytest.approx(kappa.value) and everybody["alpha"] == pytest.approx(alpha.value)
    assert table["kappa"].isna().tolist() == [True, True, False]


def test_one_person_has_no_agreement_and_the_table_says_why(tmp_path):
    run = write_meaning_run(tmp_path / "run", items=5, paraphrases=5, checks={"annotators": ["all"]})
    table = build_table("meaning_annotators", runs.open_runs(run), resamples=20)
    assert table["annotator"].tolist() == ["person all", "all"] and table["kappa"].isna().all()
    assert count_people_who_judged_meaning(table) == 1
    assert "one annotator only" in table["no_interval"].iloc[-1]


def test_thresholds_compare_as_many_wordings_of_the_same_items(opened):
    table = build_table("meaning_thresholds", opened, resamples=20)
    answers = tabulate_answers_beside_original(opened).astype({"item": str, "variant": str, "model": str})
    rows = answers.merge(
        read_verdicts_on_wordings(opened)[["item", "variant", "meaning_score"]], on=["item", "variant"]
    )
    assert table["kept"].max() == 1 and table["threshold"].is_monotonic_increasing
    assert len(table["threshold"].unique()) == 10
    lowest = table[table["kept"] == 1].set_index(["model", "wordings"])
    for figure in ("flip", "sd", "range_k", "n_wordings"):
        assert lowest.loc[("a", "all"), figure] == lowest.loc[("a", "certified"), figure]
    for row in table.itertuples():
        certified = rows[(rows["model"] == row.model) & (rows["meaning_score"] >= row.threshold)]
        items = set(certified["item"])
        of_all = rows[(rows["model"] == row.model) & rows["item"].isin(items)]
        part = certified if row.wordings == "certified" else of_all
        assert (row.n_items, row.n_wordings) == (len(items), len(part))
        assert row.flip == pytest.approx(part.groupby("item")["flip"].mean().mean(), abs=TOLERANCE)


def test_corrected_shares_are_those_of_the_sheet(opened):
    table, checks = build_table("meaning_corrected", opened), build_table("meaning_checks", opened).set_index("check")
    answers = tabulate_answers_beside_original(opened).astype({"item": str, "variant": str, "model": str})
    rows = answers.merge(read_verdicts_on_wordings(opened), on=["study", "item", "variant"])
    same = np.select([rows["votes_yes"] > rows["votes_no"], rows["votes_yes"] < rows["votes_no"]], [1, 0], np.nan)
    passes = rows["entailment:good"] >= checks.loc["entailment:good", "threshold"]
    for row in table.itertuples():
        is_unit = (rows["model"] == row.model).to_numpy()
        share = estimate_flip_share_corrected_for_meaning(
            rows["flip"][is_unit], passes[is_unit].astype(float), same[is_unit], rows["item"][is_unit]
        )
        assert (row.corrected, row.lower, row.upper) == pytest.approx((share.corrected, share.lower, share.upper))
        assert (row.sensitivity, row.specificity) == pytest.approx((share.sensitivity, share.specificity))
        assert row.corrected < row.uncorrected and row.n_wordings == is_unit.sum() and row.not_shown == ""


def test_people_who_call_decoys_the_same_correct_nothing(tmp_path):
    """Of two people, the majority errs where both do: the ties count as nothing."""
    run = runs.open_runs(write_meaning_run(tmp_path / "run", items=8, paraphrases=8, checks={"error": 0.45}))
    votes = read_meaning_scores(run)
    of_decoys = votes[votes["check"].str.startswith("people") & votes["decoy"].notna()]
    means = of_decoys.groupby(["item", "variant"])["score"].mean()
    table = build_table("meaning_corrected", run)
    assert (means == 1).sum() / (means != 0.5).sum() > 0.1
    assert (
        read_meaning_checks_of_studies(run)[0].compute_share_of_decoys_accepted_by_people()
        == (means == 1).sum() / (means != 0.5).sum()
    )
    assert table["corrected"].isna().all() and set(table["not_shown"]) == {POOR_READERS}


def test_without_a_sheet_there_are_no_people_and_no_corrected_shares(tmp_path):
    run = runs.open_runs(write_meaning_run(tmp_path / "run", items=6, paraphrases=6, checks={"sheet": 0}))
    assert build_table("meaning_annotators", run).empty and build_table("meaning_corrected", run).empty
    assert set(build_table("meaning_checks", run)["passed_by"]) == {"all wordings"}
    assert build_table("meanings", run)["votes_yes"].isna().all()


@pytest.mark.slow
def test_effects_are_those_of_statsmodels(tmp_path):
    """Items differ in their distances. REML, tolerance 1e-5: statsmodels' optimiser stops there."""
    frame, rng = draw_flips(["a", "b"], items=10, paraphrases=12, false_share=0.25), np.random.default_rng(1)
    size = frame["item"].str[1:].astype(float) * 0.01 + 0.05 + 0.15 * ~frame["same"] + rng.normal(0, 0.02, len(frame))
    frame["agreement"] = np.where(frame["variant"] == "original", 0.5, 0.5 + np.abs(size))
    folder = write_run(tmp_path / "run", frame.drop(columns="same"))
    wordings = frame[frame["variant"] != "original"].drop_duplicates(["item", "variant"])
    write_meaning(folder, draw_meaning(wordings[["item", "variant", "text", "same"]]))
    opened = runs.open_runs(folder)
    table = build_table("meaning_effect", opened)
    answers = tabulate_answers_beside_original(opened).astype({"item": str, "variant": str, "model": str})
    rows = answers.merge(
        read_verdicts_on_wordings(opened)[["item", "variant", "meaning_score"]], on=["item", "variant"]
    )
    for row in table.itertuples():
        part = rows[rows["model"] == row.model]
        fit = smf.mixedlm("distance ~ meaning_score", part, groups=part["item"]).fit()
        assert row.estimate == pytest.approx(fit.params["meaning_score"], abs=1e-5)
        assert row.lower < row.estimate < row.upper < 0 and row.n_rows == len(part) and row.warnings == ""
    assert table["p_holm"].tolist() == pytest.approx(multipletests(table["p"], method="holm")[1])
    assert table["p_robust_holm"].tolist() == pytest.approx(multipletests(table["p_robust"], method="holm")[1])
    assert (table["check"] == "entailment:good").all()


def test_an_effect_that_cannot_be_fitted_says_why(tmp_path):
    run = write_meaning_run(tmp_path / "run", items=1, paraphrases=6, checks={"decoys": 20, "sheet": 0})
    opened = runs.open_runs(run)
    if build_table("meaning_checks", opened)["best"].any():
        (row,) = build_table("meaning_effect", opened).to_dict("records")
        assert row["warnings"].startswith("not fitted: ") and math.isnan(row["estimate"]) and row["n_rows"] == 0
    else:
        assert build_table("meaning_effect", opened).empty


def test_without_a_used_check_nothing_is_traced_or_fitted(tmp_path):
    run = write_meaning_run(tmp_path / "run", items=5, paraphrases=5, checks={"shifts": {"words": 0.0}})
    opened = runs.open_runs(run)
    assert build_table("meaning_thresholds", opened).empty and build_table("meaning_effect", opened).empty
    assert not build_table("meaning_corrected", opened)["corrected"].isna().all()  # people alone tell it


@pytest.mark.slow
def test_tables_of_a_run_that_nobody_checked_are_empty(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", random_frame()))
    assert [table for table in TABLES if not build_table(table, opened).empty] == []


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["choice", "wording", "scale"])
def test_tables_are_made_for_every_protocol(tmp_path, protocol):
    folder = tmp_path / "run"
    if protocol == "choice":
        choice_runs.write_choice(folder, choice_runs.answers(choice_runs.questions(10, 3), ["m"]))
    elif protocol == "wording":
        wording_runs.write_wording(folder, wording_runs.random_rows(["m"], items=12))
    else:
        scale_runs.write_full(folder)
    add_meaning(folder, decoys=4)
    opened = runs.open_runs(folder)
    for table in TABLES:
        frame = build_table(table, opened, resamples=20)
        assert len(frame), table
        assert not [name for name in ("flip", "estimate", "auc") if name in frame and frame[name].isna().all()], table


@pytest.mark.slow
def test_models_that_do_not_answer_have_no_flips(tmp_path):
    rows = random_frame(["m"], items=5, paraphrases=4)
    folder = write_run(tmp_path / "run", rows.assign(agreement=np.nan))
    add_meaning(folder)
    opened = runs.open_runs(folder)
    flips = build_table("meaning_flips", opened, resamples=20)
    assert flips["flip"].isna().all() and (flips["n_items"] == 0).all() and (flips["validity"] == 0).all()
    assert isinstance(build_table("meaning_thresholds", opened, resamples=20), pd.DataFrame)
    assert build_table("meaning_corrected", opened)["corrected"].isna().all()


@pytest.mark.slow
def test_decoys_alone_say_nothing_of_wordings(tmp_path):
    run = write_run(tmp_path / "run", draw_flips(items=3, paraphrases=3).drop(columns="same"))
    decoy = {"item": "i00", "variant": "decoy-negated-1", "decoy": "negated", "check": "words", "score": 0.5}
    write_meaning(run, pd.DataFrame([decoy | {"text": "x"}]))
    opened = runs.open_runs(run)
    (check,) = build_table("meaning_checks", opened).to_dict("records")
    assert check["n_passed"] == 0 and check["why_not"] and math.isnan(check["auc"]) and not check["used"]
    assert build_table("meanings", opened).empty
    assert build_table("meaning_flips", opened, resamples=10)["wordings"].tolist() == ["all"]


@pytest.mark.slow
def test_votes_that_are_all_alike_have_no_agreement(tmp_path):
    options = {"error": 0.0, "decoys": 2}
    run = write_meaning_run(tmp_path / "run", items=6, paraphrases=5, false_share=0.0, checks=options)
    everybody = build_table("meaning_annotators", runs.open_runs(run), resamples=10).iloc[-1]
    assert everybody["no_interval"] == "kappa: all votes are alike; alpha: all votes are alike"
    assert everybody["yes_share"] == 1 and math.isnan(everybody["alpha"])
