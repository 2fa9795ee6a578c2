"""The plain steps of rating scales give the numbers of the tables."""

from __future__ import annotations

import pytest

from analysis.reporting.catalogue.tables import build_table
from analysis.steps.scales import compute_scale_scores, derive_option_shares_and_mean_answers
from helpers.scale_runs import AGREEMENT, Respondent, draw_answers, write_scale
from waver import open as open_run


@pytest.mark.slow
def test_an_answer_is_one_of_the_options_that_were_shown(tmp_path):
    """Without the middle, the second highest of five is 2 of 3 steps up; the step had said 3 of 4."""
    rows = draw_answers([Respondent("a")], items=2, wordings=3, balanced=False, without_middle=(False, True))
    rows = rows.assign(answer=AGREEMENT[3], probability=None, mass=None)
    run = open_run(write_scale(tmp_path / "run", rows))
    scores = compute_scale_scores(
        derive_option_shares_and_mean_answers(run.responses(), run.wordings(), run.conditions())
    )
    table = build_table("scales_scores", run.open_runs_of_protocols())
    assert scores["score"].tolist() == pytest.approx([(3 / 4 + 2 / 3) / 2] * 2, abs=1e-12)
    assert table["score"].tolist() == pytest.approx(scores["score"].tolist(), abs=1e-12)
