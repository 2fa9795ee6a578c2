"""The demo models' scores on benchmarks are those that their weights have, in the form that a report reads."""

from __future__ import annotations

import csv
import re

import pytest

from analysis.pages.benchmarks import leaderboards
from demo_training import benchmarks
from demo_training.evaluate import TABLE_IN_CARD
from inference.demo import FAMILY, MODELS

SMALLEST = next(iter(FAMILY))


def test_the_file_has_every_model_that_answers_all_kinds():
    scores = leaderboards.read_benchmark_scores(benchmarks.FILE, "all")
    causal = [name for name, about in FAMILY.items() if about.family == "causal"]
    assert list(scores.frame.index) == causal
    assert list(scores.frame) == list(benchmarks.BENCHMARKS)
    assert scores.parameters.tolist() == [FAMILY[name].parameters for name in causal]
    assert scores.frame.to_numpy().min() >= 0 and scores.frame.to_numpy().max() <= 100


@pytest.mark.slow
def test_the_model_is_asked_again_and_scores_the_same():
    """A score rests on 400 exercises, and its text has one decimal: 0.25 points are one exercise."""
    pytest.importorskip("torch")
    from demo_training.taught_world import TaughtWorld

    with benchmarks.FILE.open(encoding="utf-8", newline="") as file:
        kept = next(csv.DictReader(file))
    assert benchmarks.score_benchmarks(SMALLEST, TaughtWorld()) == kept


def test_the_scores_are_the_cards_held_out_wordings():
    """Both come from the same exercises; the card rounds to whole per cents."""
    text = re.search(TABLE_IN_CARD.format("accuracy"), (MODELS / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
    card = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    with benchmarks.FILE.open(encoding="utf-8", newline="") as file:
        for scores in csv.DictReader(file):
            for benchmark, kind in benchmarks.BENCHMARKS.items():
                held_out = card[scores["model"]][kind].split(" / ")[1]
                assert abs(float(scores[benchmark]) - float(held_out)) <= 0.51
