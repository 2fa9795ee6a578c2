"""Titles of panels and names of rows: whole, in lines that break between words, apart from each other."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.reporting.drawing import matrices, panels, plotting
from analysis.reporting.drawing.plotting import COLUMN, HIGHEST, PAGE
from helpers.figures import check_figure, texts

TITLES = ["Synonym", "Antonym", "Agreement", "Strong agreement"]
LONG = [f"organisation/instruct-model-{number} · chat/yes-no" for number in range(19)]


@plotting.run_in_report_style
def draw_panels(width):
    names = panels.wrap_row_labels(LONG, width)
    drawing, all_axes = panels.lay_out_panels(
        width, 4, 2, 1.0, left=panels.measure_row_labels_width(names), whole_titles=TITLES
    )
    return drawing, all_axes


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_titles_of_panels_are_whole_and_break_between_words(width):
    drawing, all_axes = draw_panels(width)
    assert [" ".join(texts(axes, "title")[0].split("\n")) for axes in all_axes] == TITLES
    check_figure(drawing)


def test_names_in_several_lines_stand_apart_unless_the_figure_is_full():
    distance = panels.choose_distance_between_rows
    assert distance(["one"] * 3, 3.6) == pytest.approx(0.19)
    assert distance(["one\ntwo"] * 14, 3.6) == pytest.approx(2 * panels.ROW + 0.045)
    assert distance(["one\ntwo"] * 24, 3.6) == pytest.approx(2 * panels.ROW + 0.03)
    assert distance(["one\ntwo"] * 40, 3.6) == pytest.approx(2 * panels.ROW)


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_a_triangle_of_long_names_fits_a_page_and_numbers_them_where_it_must(width):
    values, marked = np.full((19, 19), 0.1), np.zeros((19, 19), bool)
    drawing = plotting.run_in_report_style(matrices.draw_lower_triangle)(
        values, LONG, width, colour_limit=0.2, colour_bar_title="Row minus column", is_marked=marked
    )
    check_figure(drawing)
    assert drawing.get_size_inches()[1] <= HIGHEST
    rows = [text for axes in drawing.axes for text in texts(axes, "row")]
    numbers = [str(number) for number in range(1, 20)]
    assert rows == numbers if width == COLUMN else [row.replace("\n", "") for row in rows] == LONG


def test_an_axis_of_one_number_is_one_unit_long(recwarn):
    """Where no mean has an error, all of them are 0: matplotlib warned of an axis without length."""
    _, (axes,) = panels.lay_out_panels(PAGE, 1, 1, 1.0)
    panels.set_axis_limits_and_ticks(axes, 0.0, 0.0, 4, axis="y")
    low, high = axes.get_ylim()
    assert low < 0 < 1 < high and list(axes.get_yticks()) == [0, 0.25, 0.5, 0.75, 1]
    assert not recwarn.list


def test_numbers_of_panels_side_by_side_do_not_touch():
    """The last number of one and the first of the next read "0.100.00"; the last panel keeps its own."""
    _, all_axes = panels.lay_out_panels(PAGE, 4, 4, 1.0, left=1.9)
    for axes in all_axes:
        panels.set_axis_limits_and_ticks(axes, 0, 0.1)
    assert [list(axes.get_xticks()) for axes in all_axes] == [[0, 0.05]] * 3 + [[0, 0.05, 0.1]]
