"""Figures on wording: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

import pytest

from analysis import runs
from analysis.pages.wording import captions, plots, shifts, tables
from analysis.pages.wording.catalogue import FIGURES
from analysis.reporting import plotting
from helpers.figures import check_caption, check_texts
from helpers.wording_runs import PATTERNS, write_family


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    run = runs.open(write_family(tmp_path_factory.mktemp("plots") / "run"))
    table = tables.consistency(run, resamples=30)
    curve = shifts.curve(run, resamples=10)
    return {
        "consistency": table,
        "diff_yes": table,
        "overall_scores": tables.overall(run, resamples=10),
        "stage_differences": tables.stages(run, resamples=10).query("measure == 'consistency'"),
        "shift_curve": curve[curve["condition"] == "chat/0-shot"],
    }


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_overlaps_another(frames, name, width):
    check_texts(getattr(plots, name)(frames[name], width=width))


@pytest.mark.parametrize("name", FIGURES)
def test_captions_can_be_read_alone(frames, name):
    check_caption(getattr(captions, name)(frames[name]))


def test_files_are_deterministic(frames, tmp_path):
    first, second = (plotting.save(plots.shift_curve(frames["shift_curve"]), tmp_path / side) for side in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_dots_stand_at_their_values(frames):
    figure = plots.diff_yes(frames["diff_yes"])
    table = frames["diff_yes"]
    axes = figure.axes[PATTERNS.index("agreement")]
    drawn = sorted(round(float(line.get_xdata()[0]), 9) for line in axes.lines if line.get_marker() not in ("None", ""))
    expected = table.loc[table["pattern"] == "agreement", "diff_yes"].dropna()
    assert drawn == sorted(expected.round(9))


def test_a_model_without_valid_answers_has_a_row_that_says_so(frames):
    figure = plots.consistency(frames["consistency"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["no valid answers"] * 2
