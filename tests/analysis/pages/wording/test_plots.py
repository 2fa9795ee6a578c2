"""Figures on wording and benchmarks: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import tables
from analysis.pages.benchmarks.plots import square
from analysis.pages.stability import captions
from analysis.pages.wording import printed as published
from analysis.pages.wording import shifts
from analysis.pages.wording import tables as wording_tables
from analysis.reporting import all_plots
from helpers.figures import shown_texts
from helpers.wording_runs import PATTERNS, random_rows, write_wording

FIGURES = (*all_plots.CONSISTENCY, *all_plots.BENCHMARKS)
NAMES = [f"organisation/a-rather-long-model-name-{i}b{t}" for i in range(5) for t in ("", "-it")]


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    names = NAMES
    models = {
        name: {"series": name.removesuffix("-it"), "stage": "tuned" if name.endswith("-it") else "base",
               "parameters": 10 ** (5 + k % 5)}
        for k, name in enumerate(names)
    }  # fmt: skip
    rows = random_rows(names, items=10, conditions=["chat/0-shot", "chat/4-shot"])
    rows.loc[rows["model"] == names[0], "answer"] = None
    run = runs.open(write_wording(tmp_path_factory.mktemp("plots") / "run", rows, models=models))
    table = wording_tables.consistency(run, resamples=30)
    values = tables.measured(run)
    curve = shifts.curve(run, resamples=10)
    return {
        "consistency": table,
        "diff_yes": table,
        "overall_scores": wording_tables.overall(run, resamples=10),
        "stage_differences": wording_tables.stages(run, resamples=10).query("measure == 'consistency'"),
        "shift_curve": curve[curve["condition"] == "chat/0-shot"],
        "size_overall": values.query("measure == 'overall' and task == 'all'").dropna(subset=["value"]),
        "accuracy_consistency": values.dropna(subset=["value"]),
        "coefficients": published.matrix(),
    }


@pytest.mark.parametrize("width", [all_plots.PAGE, all_plots.COLUMN])
@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_overlaps_another(frames, name, width):
    figure = getattr(all_plots, name)(frames[name], width=width)
    page, boxes = figure.bbox, shown_texts(figure)
    assert boxes
    for text, box in boxes:
        inside = box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert inside, (text.get_text(), box, page)
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        overlap_x, overlap_y = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert overlap_x < 1.5 or overlap_y < 1.5, (one.get_text(), other.get_text())


@pytest.mark.parametrize("name", FIGURES)
def test_captions_can_be_read_alone(frames, name):
    caption = getattr(captions, name)(frames[name])
    assert re.search(r"\d", caption)
    assert caption.endswith(".") and "nan" not in caption
    assert 80 < len(caption) < 700


def test_files_are_deterministic(frames, tmp_path):
    first, second = (all_plots.save(all_plots.shift_curve(frames["shift_curve"]), tmp_path / side) for side in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_dots_stand_at_their_values(frames):
    figure = all_plots.diff_yes(frames["diff_yes"])
    table = frames["diff_yes"]
    axes = figure.axes[PATTERNS.index("agreement")]
    drawn = sorted(round(float(line.get_xdata()[0]), 9) for line in axes.lines if line.get_marker() not in ("None", ""))
    expected = table.loc[table["pattern"] == "agreement", "diff_yes"].dropna()
    assert drawn == sorted(expected.round(9))


def test_a_model_without_valid_answers_has_a_row_that_says_so(frames):
    figure = all_plots.consistency(frames["consistency"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["no valid answers"] * 2


def test_the_printed_matrix_is_drawn_cell_by_cell():
    table = published.matrix()
    figure = all_plots.coefficients(table)
    axes = figure.axes[0]
    order = [label.get_text() for label in axes.get_yticklabels()]
    assert order == list(dict.fromkeys(table["measure_a"])) == [label.get_text() for label in axes.get_xticklabels()]
    printed = table.pivot(index="measure_a", columns="measure_b", values="r").loc[order, order].to_numpy()
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), printed)
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(cells) == 121
    assert cells[(8, 6)] == "0.86" and cells[(10, 5)] == "−0.19"


def test_half_a_matrix_is_made_whole():
    frame = pd.DataFrame({"measure_a": ["a", "a", "b"], "measure_b": ["b", "c", "c"], "r": [0.5, np.nan, np.nan]})
    values, order = square(frame)
    assert order == ["a", "b", "c"]
    np.testing.assert_array_equal(values, [[1, 0.5, np.nan], [0.5, 1, np.nan], [np.nan] * 3])
