"""Ranges of a measure under several conditions."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import runs
from analysis.measures.reworded.scored import list_scored_per_study_and_measure
from ground.errors import InputError
from helpers.scored_runs import draw_scores, write_scored


@pytest.mark.parametrize(("other", "is_same"), [([0.0, 1.0], True), ([0, 10], False), (None, False)])
def test_a_range_is_the_same_however_its_numbers_are_written(tmp_path, other, is_same):
    """0 and 0.0 were two ranges."""
    rows = draw_scores(["m"], 6, 2)
    both = pd.concat([rows, rows.assign(condition="other/F1")], ignore_index=True)
    fields = {"F1": {"range": [0, 1]}, "other/F1": {"range": other}}
    opened = runs.open_runs(write_scored(tmp_path / "run", both, fields))
    if is_same:
        (scored,) = list_scored_per_study_and_measure(opened)
        assert scored.study.range_text == "0-1"
    else:
        with pytest.raises(InputError, match="measure 'F1' has another range or direction under some conditions"):
            list_scored_per_study_and_measure(opened)
