"""The figures of the page on meaning: their groups of wordings, and what their captions say is drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.measures.meaning import read_meaning_checks_of_studies
from analysis.pages.meaning import captions, figures, plots
from analysis.reporting.catalogue import look_up_column
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.output.exploring import Run
from helpers.figures import check_figure
from helpers.meaning_runs import write_meaning_run
from helpers.sentences import too_long

CHECKS = [f"similarity:model {number}" for number in range(8)]


@pytest.fixture
def opened(tmp_path):
    folder = write_meaning_run(tmp_path / "run", items=5, paraphrases=8, checks={"annotators": ["ann", "ben"]})
    return Frames(runs.open_runs(folder), {})


def test_wordings_about_which_people_are_divided_are_not_called_unread(opened, monkeypatch):
    (study,) = read_meaning_checks_of_studies(opened.runs)
    votes = {name: np.full(len(study.wordings), np.nan) for name in ("ann", "ben")}
    votes["ann"][:9], votes["ben"][:9] = 1.0, [1.0] * 6 + [0.0] * 3
    monkeypatch.setattr(figures, "read_meaning_checks_of_studies", lambda runs: [replace(study, votes=votes)])
    ((frame,),) = figures.build_meaning_scores_frames(opened)
    n = frame[frame["check"] == frame["check"].iloc[0]].set_index("group")["n"]
    assert n[[figures.READ_SAME, figures.DIVIDED, figures.NOT_READ]].tolist() == [6, 3, len(study.wordings) - 9]
    check_figure(plots.draw_meaning_scores(frame))


def test_captions_say_that_only_the_best_checks_are_drawn():
    roc = pd.DataFrame({"check": CHECKS, "passed_by": "all", "n_passed": 9, "n_decoys": 9})
    scores = pd.DataFrame({"check": CHECKS, "n": 9})
    for caption, frame in ((captions.caption_meaning_roc, roc), (captions.caption_meaning_scores, scores)):
        assert " Shown: the 6 with the largest AUC of 8 checks; the table has all." in caption(frame)
        assert "Shown" not in caption(frame[:6])
    assert captions.caption_meaning_scores(scores).startswith("Scores of 6 checks: ")
    one = roc.assign(passed_by="people", n_passed=1)
    assert "share of 1 wording that most people called the same that pass" in captions.caption_meaning_roc(one)


def test_the_caption_of_flips_has_short_sentences(opened):
    frame = pd.DataFrame({
        "model": ["a", "b"], "label": ["a", "b"], "n_items": [4, 14], "wordings": "corrected", "total": 2,
    })  # fmt: skip
    assert too_long(captions.caption_meaning_flips_by_model(frame)) == []


def test_the_family_of_the_effects_is_all_rows():
    assert look_up_column("meaning_effect", "p_holm").meaning == "the same after Holm for all rows"


@pytest.mark.slow
def test_without_answers_beside_originals_there_is_no_figure_of_flips(opened):
    part = Frames(Run([str(opened.runs.folders[0].path)]).where("pattern <> 'original'").open_runs_of_protocols(
        frozenset({"agreement"})), {})  # fmt: skip
    assert list(figures.build_meaning_flips_by_model_frames(part)) == []
