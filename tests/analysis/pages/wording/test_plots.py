"""Figures on wording: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.wording import captions, figures, plots, shifts, tables
from analysis.pages.wording.catalogue import FIGURES
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing import plotting
from helpers.figures import check_caption, check_drawing, check_figure, marks, texts
from helpers.wording_runs import PATTERNS, said, write_family, write_wording

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    run = runs.open_runs(write_family(tmp_path_factory.mktemp("plots") / "run"))
    table = tables.tabulate_answer_consistency_by_wording_kind(run, resamples=30)
    curve = shifts.tabulate_shifts_in_probability_bins(run, resamples=10)
    return {
        "consistency": table,
        "diff_yes": table,
        "overall_scores": tables.tabulate_means_over_patterns_and_tasks(run, resamples=10),
        "stage_differences": tables.tabulate_stage_differences_by_series(run, resamples=10).query(
            "measure == 'consistency'"
        ),
        "shift_curve": curve.assign(n=20 * curve["n"], shift_lower=curve["shift"] - 0.1, shift_upper=curve["shift"]),
    }


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_overlaps_another(frames, name, width):
    check_figure(getattr(plots, f"draw_{name}")(frames[name], width=width))


@pytest.mark.parametrize("name", FIGURES)
def test_captions_can_be_read_alone(frames, name):
    check_caption(getattr(captions, f"caption_{name}")(frames[name]))


def test_antonyms_are_explained_where_there_are_some(frames):
    table = frames["diff_yes"]
    assert "Hollow, for antonyms" in captions.caption_diff_yes(table)
    assert "antonyms" not in captions.caption_diff_yes(table[table["pattern"] != "antonym"])


def test_a_drawing_is_small_and_deterministic(frames):
    check_drawing(lambda: plots.draw_shift_curve(frames["shift_curve"]))


def test_dots_stand_at_their_values(frames):
    figure = plots.draw_diff_yes(frames["diff_yes"])
    table = frames["diff_yes"]
    axes = figure.axes[PATTERNS.index("agreement")]
    expected = table.loc[table["pattern"] == "agreement", "diff_yes"].dropna()
    assert sorted(round(x, 9) for _, x in marks(axes)) == sorted(expected.round(9))


def test_the_excess_of_yes_is_inside_its_panel(frames):
    frame = frames["diff_yes"].assign(excess_yes=lambda table: 3 * table["diff_yes"] + 0.5)
    check_figure(plots.draw_diff_yes(frame))


def test_a_model_without_valid_answers_has_a_row_that_says_so(frames):
    figure = plots.draw_consistency(frames["consistency"])
    assert texts(figure.axes[0], "said") == ["no valid answers"] * 2


def test_originals_alone_have_no_figures_of_rewordings(tmp_path):
    opened = runs.open_runs(write_wording(tmp_path / "run", said({"original": "yn"})))
    assert list(figures.build_consistency_frames(Frames(opened, {}))) == []


def test_two_studies_with_one_task_have_a_picture_each():
    """The bins of both were one line, and the legend named one of them."""
    both = pd.concat([curve(20), curve(20).assign(study="u")], ignore_index=True)
    cells = both.drop_duplicates("study").assign(valid=1.0)
    parts = [part for (part,) in figures.build_shift_curve_frames({"consistency": cells, "curve": both})]
    assert [list(part["study"].unique()) for part in parts] == [["s"], ["u"]]
    stages = cells.assign(measure="consistency")
    assert len(list(figures.build_stage_differences_frames({"stages": stages}))) == 2


def curve(n, low=None):
    frame = pd.DataFrame({"bin_low": [0.0, 0.1, 0.4, 0.5], "n": n})
    frame = frame.assign(p_original=frame["bin_low"] + 0.05, p_yes=0.3, shift=0.1, shift_lower=0.0, shift_upper=0.2)
    frame = frame.assign(
        study="s", model="m", language="en", task="t", condition="plain/0-shot", pattern="synonym", silent=False
    )
    return frame if low is None else frame.assign(shift_lower=low)


def joined(figure):
    """The pairs of bins that a line joins."""
    lines = [line.get_xdata() for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    return {(round(a, 2), round(b, 2)) for x in lines for a, b in itertools.pairwise(x) if not np.isnan([a, b]).any()}


def test_bins_of_few_pairs_are_left_out_and_only_neighbours_are_joined():
    assert joined(plots.draw_shift_curve(curve(10))) == {(0.05, 0.15), (0.45, 0.55)}
    assert joined(plots.draw_shift_curve(curve([10, 9, 10, 10]))) == {(0.45, 0.55)}
    assert joined(plots.draw_shift_curve(curve(10, [0.0, np.nan, 0.0, 0.0]))) == {(0.45, 0.55)}
    assert "10 pairs or more and an interval (10 pairs each)." in captions.caption_shift_curve(curve([10, 9, 10, 10]))


def test_of_many_models_those_whose_answers_move_most_have_a_curve():
    frame = pd.concat([curve(20).assign(model=f"m{i}", shift=i / 100) for i in range(9)])
    assert set(plots.select_drawn_bins(frame)["model"]) == {f"m{i}" for i in range(3, 9)}
    assert "Shown: the 6 whose answers move most of 9 models" in captions.caption_shift_curve(frame)
    assert "not drawn" not in captions.caption_shift_curve(frame)
    few = frame.assign(n=frame["n"].where(frame["model"].isin(["m7", "m8"]), 9))
    caption = captions.caption_shift_curve(few)
    assert "of 2 models" in caption and caption.endswith("Without such a tenth, and not drawn: 4 models.")


def test_a_model_has_one_curve_where_it_answers_most_pairs():
    frame = pd.concat([curve(20), curve(30).assign(condition="chat/0-shot")])
    assert set(plots.select_drawn_bins(frame)["condition"]) == {"chat/0-shot"}


def test_of_many_rows_both_ends_are_drawn():
    rows = pd.DataFrame({"consistency": np.linspace(0, 1, 300)})
    frame = rows.assign(study="s", model="m", condition=[f"c{i}" for i in range(300)], language="en", task="t",
                        pattern="synonym", n=9, consistency_lower=0.0, consistency_upper=1.0)  # fmt: skip
    figure = plots.draw_consistency(frame)
    check_figure(figure)
    assert [text.rsplit(" ", 1)[-1] for text in texts(figure.axes[0], "row")] == [
        f"c{i}" for i in [*range(12), *range(288, 300)]
    ]
    assert "Shown: the 24 with the lowest and the highest Consistency of 300 rows" in captions.caption_consistency(
        frame
    )
