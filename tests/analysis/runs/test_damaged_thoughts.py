"""Damaged thoughts and their probabilities are found; whole ones, unclosed and judged ones too, are read."""

from __future__ import annotations

import random
import shutil

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from ground.errors import InputError
from helpers import scoring_runs
from helpers.damaged_rows import RESPONSES, damage
from helpers.synthetic import paraphrases, write_run
from helpers.thinking_runs import think, write_thinking_run

OF_THOUGHTS = [chosen for chosen in RESPONSES if chosen.column.startswith(("thought", "sample", "unclosed"))]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    share = np.random.default_rng(0).uniform(0.1, 0.9, (2, 2, 4))
    return write_thinking_run(tmp_path_factory.mktemp("whole") / "run", share)


@pytest.mark.parametrize("chosen", OF_THOUGHTS, ids=lambda chosen: chosen.name)
def test_damaged_thoughts_are_refused(chosen, whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    assert damage(folder, chosen, random.Random(1))
    problem = "has an entry that is not a number; " if "nan" in chosen.name else ""
    with pytest.raises(InputError, match=rf"part-000001\.parquet, row [1-4] .*{problem}restore the file"):
        runs.open_runs(folder)


def test_thoughts_without_an_end_are_whole(tmp_path):
    closed = np.array([[[True, False, True], [False, False, False]]])
    folder = write_thinking_run(tmp_path / "run", np.full((1, 2, 3), 0.7), closed=closed)
    rows = runs.open_runs(folder).sql("SELECT unclosed, probability, answer FROM responses ORDER BY variant")
    assert rows["unclosed"].tolist() == [1, 3] and rows["answer"].isna().tolist() == [False, True]


def test_thoughts_closed_by_force_may_all_have_an_answer(tmp_path):
    rows = think(pd.DataFrame({"item": ["x"], "variant": ["p1"]}), np.full((1, 2, 2), 0.4)).assign(unclosed=2)
    assert len(runs.open_runs(write_run(tmp_path / "run", rows)).sql("FROM responses")) == 1


def test_judged_texts_have_probabilities_without_thoughts(tmp_path):
    rows = paraphrases({"x": [0.4]}).assign(sample_probability=[[[0.3, 0.7], [0.5, 0.5]]])
    assert len(runs.open_runs(write_run(tmp_path / "run", rows)).sql("FROM responses")) == 1


@pytest.mark.slow
def test_thoughts_about_a_scale_have_a_probability_for_each_number(tmp_path):
    name = "plain/1-5/thought"
    rows = think(scoring_runs.stimuli({"g": [10.0, 50.0]}).assign(model="m"), np.full((2, 3, 5), 0.15),
                 numbers=range(1, 6), condition=name)  # fmt: skip
    fields = {"form": "plain", "range": [1, 5], "temperature": None, "answer": "thought", "thoughts": 3}
    folder = scoring_runs.write_scores(tmp_path / "run", rows, {name: fields})
    assert len(runs.open_runs(folder).sql("FROM responses")) == 2
    four = rows.assign(sample_probability=[[[0.15] * 4] * 3] * 2)
    with pytest.raises(InputError, match=r"sample_probability .* more or fewer numbers"):
        runs.open_runs(scoring_runs.write_scores(tmp_path / "four", four, {name: fields}))
    wrong = rows.assign(sample_answer=[["1", "six", None]] * 2)
    with pytest.raises(InputError, match=r"sample_answer .* none of the options"):
        runs.open_runs(scoring_runs.write_scores(tmp_path / "wrong", wrong, {name: fields}))
