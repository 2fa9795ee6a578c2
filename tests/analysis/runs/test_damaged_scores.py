"""Scores outside a range of fractions, and samples that are not the score's: no run can have written them."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from ground.errors import InputError
from helpers.scored_runs import write_scored

pytestmark = pytest.mark.slow
NAN, INF = float("nan"), float("inf")


def write(path, scores, ends, samples=None):
    rows = pd.DataFrame({"item": "1", "variant": [f"w{n}" for n in range(len(scores))], "score": scores})
    rows = rows.assign(condition="F1", sample_score=samples or [None] * len(rows))
    return write_scored(path / "run", rows, {"F1": {"range": ends, "direction": "higher"}})


@pytest.mark.parametrize(
    ("scores", "ends", "samples"),
    [
        ([0.0, 0.25, 0.5], [0, 0.5], None),
        ([-1.5, 1.5, 0.0], [-1.5, 1.5], None),
        ([-1e9, 1e9, 0.0], None, None),  # without a range, any number is one
        ([0.5, 0.25, 0.0], [0, 1], [[0.0, 1.0], [0.25, 0.25], None]),
        ([1e9, 2e9, 0.0], None, [[0.5e9, 1.5e9], None, [0.0]]),
    ],
)
def test_right_scores_are_read(tmp_path, scores, ends, samples):
    opened = runs.open_runs(write(tmp_path, scores, ends, samples))
    assert opened.sql("SELECT score FROM responses ORDER BY variant")["score"].tolist() == scores


@pytest.mark.parametrize(
    ("scores", "ends", "samples", "words"),
    [
        ([0.0, 0.6], [0, 0.5], None, "score '0.6' is outside the range"),
        ([0.0, -1.6], [-1.5, 1.5], None, "score '-1.6' is outside the range"),
        ([0.0, INF], None, None, "score 'inf' is not a number"),
        ([0.0, 0.5], [0, 1], [None, []], "sample_score '\\[\\]' holds no samples"),
        ([0.0, 0.5], [0, 1], [None, [0.0, NAN]], "sample_score .* is not a number"),
        ([0.0, 0.5], [0, 1], [None, [-0.5, 1.5]], "sample_score .* outside the range"),
        ([0.0, 0.5], [0, 1], [None, [0.5, 0.6]], "sample_score .* does not have the score as its mean"),
        ([0.0, NAN], [0, 1], [None, [0.5, 0.6]], "sample_score .* does not have the score as its mean"),
    ],
)
def test_damaged_scores_are_named(tmp_path, scores, ends, samples, words):
    with pytest.raises(InputError, match=words):
        runs.open_runs(write(tmp_path, scores, ends, samples))
