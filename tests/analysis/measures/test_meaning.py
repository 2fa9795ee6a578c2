"""Verdicts on wordings, read from meaning.parquet: votes, scores, texts that variants share, parts and folders."""

from __future__ import annotations

import errno
import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import waver
from analysis import runs
from analysis.measures import meaning
from analysis.measures.meaning_file import MEANING_COLUMNS
from ground.errors import InputError
from helpers import choice_runs
from helpers.meaning_runs import add_meaning, draw_flips, draw_meaning, write_meaning, write_meaning_run
from helpers.synthetic import paraphrases, random_frame, write_run

CHECK = "entailment:nli"


def hand_made(path):
    """Two items; ten decoys from 0 to .45; people read three wordings; two more differ in their score."""
    agreements = {"a": [0.6, 0.6, 0.6], "b": [0.6, 0.6, 0.6]}
    write_run(path, paraphrases(agreements, original=0.7))
    votes = {("a", "p1"): (1, 1), ("a", "p2"): (0, 0), ("b", "p1"): (1, 0)}
    scores = {("a", "p1"): 0.9, ("a", "p2"): 0.95, ("a", "p3"): 0.8, ("b", "p1"): 0.9, ("b", "p2"): 0.1}
    rows = [(*key, None, CHECK, score) for key, score in scores.items()]
    rows += [(*key, None, f"people:{who}", vote) for key, of_key in votes.items()
             for who, vote in zip(("ann", "ben"), of_key, strict=True)]  # fmt: skip
    rows += [(item, f"decoy-negated-{n}", "negated", CHECK, n / 20) for item in "ab" for n in range(10)]
    write_meaning(path, pd.DataFrame(rows, columns=["item", "variant", "decoy", "check", "score"]))
    return path


def test_a_hand_made_example(tmp_path):
    """Only one wording was passed by people, so that no check has an interval, and people alone decide."""
    frame = meaning.read_verdicts_on_wordings(runs.open_runs(hand_made(tmp_path / "run")))
    assert frame[["item", "variant"]].to_numpy().tolist() == [["a", "p1"], ["a", "p2"], ["a", "p3"], ["b", "p1"],
                                                               ["b", "p2"]]  # fmt: skip
    assert frame["votes_yes"].tolist() == [2, 0, 0, 1, 0] and frame["votes_no"].tolist() == [0, 2, 0, 1, 0]
    assert frame["meaning"].tolist() == ["same", "another", None, "unclear", None]
    assert frame["passed_by"].tolist() == ["people", "people", None, "people", None]
    assert frame[CHECK].tolist() == [0.9, 0.95, 0.8, 0.9, 0.1] and frame["meaning_score"].isna().all()


@pytest.mark.slow
def test_people_come_before_the_best_check_and_wordings_that_nobody_read_are_judged_by_it(tmp_path):
    run = write_meaning_run(tmp_path / "run", items=10, paraphrases=12, checks={"error": 0.0})
    (study,) = meaning.read_meaning_checks_of_studies(runs.open_runs(run))
    frame = meaning.read_verdicts_on_wordings(runs.open_runs(run))
    quality = study.verdict_deciding_check_quality
    assert quality is not None and quality.check == "entailment:good"
    threshold, lower = quality.threshold, quality.lower_threshold
    for row in frame.itertuples():
        score = row.meaning_score
        by_check = "same" if score >= threshold else "another" if score < lower else "unclear"
        by_people = "same" if row.votes_yes else "another"
        is_read = row.votes_yes + row.votes_no > 0
        assert row.meaning == (by_people if is_read else by_check)
        assert row.passed_by == ("people" if is_read else "entailment:good")
    decoys = study.decoy_scores["entailment:good"]
    assert (decoys >= threshold).mean() <= 0.05 < (decoys >= np.nextafter(threshold, 0)).mean()


@pytest.mark.slow
def test_checks_are_judged_on_the_whole_study_where_a_part_is_looked_at(tmp_path):
    run = waver.open(write_meaning_run(tmp_path / "run", items=8, paraphrases=10))
    part = run.where("item < 'i04' AND (variant = 'original' OR meaning_score > 0.5)")
    whole, kept = run.wordings(), part.wordings()
    both = kept.merge(whole, on=["item", "variant"], suffixes=("", "_whole"))
    assert len(both) == len(kept) < len(whole)
    assert both["meaning"].tolist() == both["meaning_whole"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("every_variant", [True, False])
def test_variants_with_the_same_text_have_the_same_verdict(tmp_path, every_variant):
    rows = choice_runs.answers(choice_runs.questions(10, 4), ["m"])
    folder = choice_runs.write_choice(tmp_path / "run", rows)
    add_meaning(folder, every_variant=every_variant)
    frame = meaning.read_verdicts_on_wordings(runs.open_runs(folder))
    assert len(frame) == 10 * 2 * 4
    assert (frame.groupby(["item", "text"])["meaning"].nunique() == 1).all()
    (study,) = meaning.read_meaning_checks_of_studies(runs.open_runs(folder))
    assert len(study.wordings) == 10 * 2  # each text counts once


def test_without_a_file_there_is_nothing(tmp_path):
    opened = runs.open_runs(write_run(tmp_path / "run", random_frame()))
    assert not meaning.has_meaning_scores(opened)
    assert meaning.read_meaning_scores(opened).empty and meaning.read_verdicts_on_wordings(opened).empty
    assert not set(MEANING_COLUMNS) & set(waver.open(tmp_path / "run").wordings())


@pytest.mark.slow
def test_a_file_that_may_not_be_read_is_not_to_be_deleted(tmp_path, monkeypatch):
    def refuse_to_open(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    opened = runs.open_runs(hand_made(tmp_path / "run"))
    monkeypatch.setattr(pq, "ParquetFile", refuse_to_open)
    with pytest.raises(InputError, match=r"meaning\.parquet: cannot be read: permission denied; make it readable"):
        meaning.read_verdicts_on_wordings(opened)


@pytest.mark.slow
def test_a_file_without_rows_says_nothing(tmp_path):
    run = write_run(tmp_path / "run", random_frame())
    write_meaning(run, pd.DataFrame({"item": [], "variant": [], "check": [], "score": []}))
    assert (
        not meaning.has_meaning_scores(runs.open_runs(run))
        and meaning.read_verdicts_on_wordings(runs.open_runs(run)).empty
    )
    assert not set(MEANING_COLUMNS) & set(waver.open(run).wordings())


@pytest.mark.slow
def test_folders_of_one_study_may_have_the_same_file_in_any_order_or_one_file(tmp_path):
    for name in "ab":
        write_meaning_run(tmp_path / name, [name], items=3, paraphrases=4)
    once = meaning.read_verdicts_on_wordings(runs.open_runs(tmp_path / "a"))
    scores = meaning.read_meaning_scores(runs.open_runs(tmp_path / "b"))
    write_meaning(tmp_path / "b", scores.sample(frac=1, random_state=0))
    pd.testing.assert_frame_equal(
        meaning.read_verdicts_on_wordings(runs.open_runs(tmp_path / "a", tmp_path / "b")), once
    )
    (tmp_path / "b" / "meaning.parquet").unlink()
    pd.testing.assert_frame_equal(
        meaning.read_verdicts_on_wordings(runs.open_runs(tmp_path / "a", tmp_path / "b")), once
    )


@pytest.mark.slow
def test_several_studies_each_have_their_own_checks(tmp_path):
    write_meaning_run(tmp_path / "runs" / "x", study="x", items=3, paraphrases=4, checks={"shifts": {"words": 1}})
    write_meaning_run(tmp_path / "runs" / "y", study="y", items=3, paraphrases=4, checks={"shifts": {"judge:j": 1}})
    frame = meaning.read_verdicts_on_wordings(runs.open_runs(tmp_path / "runs"))
    assert frame.loc[frame["study"] == "x", "judge:j"].isna().all()
    assert frame.loc[frame["study"] == "x", "words"].notna().all()
    assert len(meaning.read_meaning_scores(runs.open_runs(tmp_path / "runs"))) == sum(
        len(meaning.read_meaning_scores(runs.open_runs(tmp_path / "runs" / name))) for name in "xy"
    )


@pytest.mark.slow
def test_originals_and_their_copies_mean_the_same_wherever_there_is_a_verdict(tmp_path):
    frame = draw_flips(items=3, paraphrases=4)
    first = frame.loc[(frame["item"] == "i00") & (frame["variant"] == "original"), "text"].iloc[0]
    frame.loc[(frame["item"] == "i00") & (frame["variant"] == "p01"), "text"] = f" {first}\n"
    run = write_run(tmp_path / "run", frame.drop(columns="same"))
    wordings = frame[~frame["variant"].isin(["original"]) & (frame["text"] != f" {first}\n")]
    rows = draw_meaning(wordings[["item", "variant", "text", "same"]])
    write_meaning(run, rows)
    table = waver.open(run).wordings().set_index(["item", "variant"])
    assert table.loc[("i00", "p01"), "meaning"] == "same" and np.isnan(table.loc[("i00", "p01"), "meaning_score"])
    assert (table.xs("original", level="variant")["meaning"] == "same").all()
    write_meaning(run, rows[~rows["check"].str.startswith(("people", "entailment", "similarity"))])
    assert waver.open(run).wordings()["meaning"].isna().all()
    with pytest.raises(InputError, match="keeps nothing"):
        waver.open(run).where("meaning = 'same'")


@pytest.mark.slow
def test_conditions_take_verdicts_and_scores(tmp_path):
    run = waver.open(write_meaning_run(tmp_path / "run", ["m", "n"], items=6, paraphrases=8))
    assert set(run.where("meaning = 'same'").wordings()["meaning"]) == {"same"}
    assert set(run.where("meaning <> 'same'").wordings()["meaning"]) == {"another", "unclear"}
    best = run.where("wordings.meaning_score >= 0.5 AND model = 'm'")
    assert best.wordings()["meaning_score"].min() >= 0.5
    assert run.columns("wordings")["meaning"].startswith("whether the wording means the same")


@pytest.mark.slow
def test_a_word_in_quotes_is_no_column(tmp_path):
    run = waver.open(write_run(tmp_path / "run", random_frame()))
    with pytest.raises(InputError, match="keeps nothing"):
        run.where("text LIKE '%meaning_score%'")
    with pytest.raises(InputError, match=r"meaning_score says .*waver meaning RUN"):
        run.where("meaning_score > 0.5")
