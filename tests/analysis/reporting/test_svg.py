"""Figures as SVG: values on hover, classes of models, ids of no other figure, and no more digits than are seen."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from analysis.reporting.drawing import marks, matrices, panels, plotting
from analysis.reporting.drawing.svg import MOST_TARGETS

HOSTILE = "org/<script>&\u0007\"'"
SVG = "{http://www.w3.org/2000/svg}"


@plotting.run_in_report_style
def draw_two_models(with_intervals=True):
    looks = plotting.assign_look_to_each_model(["gpt2", HOSTILE])
    drawing, (axes,) = panels.lay_out_panels(3.17, 1, 1, 0.4, left=1.5, whole_titles=["Range"])
    frame = pd.DataFrame({"row": [0, 1, 2], "model": ["gpt2", HOSTILE, "gpt2"], "range": [0.43, 0.5, None],
                          "range_lower": [0.31, 0.4, None], "range_upper": [0.55, 0.6, None]})  # fmt: skip
    panels.set_up_panel_of_rows(axes, 3)
    panels.draw_row_labels(axes, ["gpt2", HOSTILE, "gpt2"])
    panels.draw_dots(axes, frame, "range", looks, with_intervals=with_intervals)
    panels.set_axis_limits_and_ticks(axes, 0, 1)
    return drawing


def titles(svg):
    return [title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


@pytest.mark.slow
def test_a_mark_tells_model_panel_value_and_interval_and_every_text_is_escaped():
    svg = plotting.render_svg(draw_two_models(), "two")
    assert titles(svg) == ["gpt2, Range: 0.43 (0.31 to 0.55)", "org/<script>& \"', Range: 0.50 (0.40 to 0.60)"]
    assert "<script" not in svg
    assert titles(plotting.render_svg(draw_two_models(False)))[0] == "gpt2, Range: 0.43"


def test_a_title_stands_where_its_mark_is():
    svg = ElementTree.fromstring(plotting.render_svg(draw_two_models(), "two"))
    dots = [(float(use.get("x")), float(use.get("y"))) for group in svg.iter(f"{SVG}g")
            if (group.get("class") or "").startswith("model-") for use in group.findall(f"{SVG}use")]  # fmt: skip
    places = [(float(circle.get("cx")), float(circle.get("cy"))) for circle in svg.iter(f"{SVG}circle")]
    assert places[0] == pytest.approx(dots[0], abs=0.06)  # both are rounded, to a tenth and to a hundredth of a point


def test_marks_intervals_and_names_of_rows_have_the_class_of_their_model():
    svg = plotting.render_svg(draw_two_models(), "two")
    # gpt2 is model 1 by its name: an interval, a dot, the names of two rows and what tells its value.
    assert svg.count('class="model-1"') == 5
    assert svg.count('class="model-2"') == 4
    assert "models-" not in svg


def test_cells_of_a_map_have_the_class_of_their_model_or_of_both():
    frame = pd.DataFrame([[0.1, 0.9], [0.4, None]])
    draw = plotting.run_in_report_style(matrices.draw_heat_map)
    options = {"cmap": "PuOr", "low": 0, "high": 1, "colour_bar_title": "Share"}
    figure = draw(frame, 3.17, **options, row_labels=["a", "b"], column_labels=["x", "y"],
                  row_classes=["model-4", "model-7"], is_marked=np.array([[True, False], [True, False]]))  # fmt: skip
    svg = plotting.render_svg(figure, "map")
    # Name, cells, dots and what tells the values: of a, two cells and one dot; of b, one cell and one dot.
    assert (svg.count('class="model-4"'), svg.count('class="model-7"')) == (6, 4)
    pairs = np.array([[0, 0.1, 0.2], [-0.1, 0, 0.3], [-0.2, -0.3, 0]])
    draw = plotting.run_in_report_style(matrices.draw_lower_triangle)
    svg = plotting.render_svg(draw(
        pairs, ["a", "b", "c"], 3.17, colour_limit=1, colour_bar_title="Row minus column", is_marked=pairs > 1,
        model_classes=["model-1", "model-2", "model-3"],
    ))  # fmt: skip
    assert svg.count('class="model-3 model-2"') == 3  # the cell, its number, and what tells it
    assert svg.count('class="model-2"') == 1 and "models-" not in svg


def test_ids_are_the_figures_own_all_references_resolve_and_coordinates_are_short():
    svg = plotting.render_svg(draw_two_models(), "two")
    ids = re.findall(r' id="([^"]+)"', svg)
    assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg)) == set(ids)
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("two-") for name in ids)
    assert not re.search(r' (?:d|x|y)="[^"]*[1-9]\d*\.\d{3}', svg)
    assert "<style" not in svg  # it would be one of the whole page


def test_cells_of_a_matrix_tell_column_row_and_value():
    table = pd.DataFrame([[0.25, None], [0.5, 1.0]])
    draw = plotting.run_in_report_style(matrices.draw_heat_map)
    drawing = draw(table, 7.0, cmap="viridis", low=0, high=1, colour_bar_title="Validity", row_labels=["one", "two"],
                   column_labels=["a", "b"])  # fmt: skip
    svg = plotting.render_svg(drawing)
    assert titles(svg) == ["a, one: 0.25", "a, two: 0.50", "b, two: 1.00"]
    assert len(re.findall(r"<rect [^>]*><title>", svg)) == 3


def test_a_figure_of_very_many_marks_stays_small():
    drawing = draw_two_models()
    many = [0.5] * MOST_TARGETS
    marks.set_hover_titles_of_marks(drawing.axes[0], many, many, "x", many)
    assert titles(plotting.render_svg(drawing)) == []


@pytest.mark.parametrize(
    "name", ["a" * 90, "org/model-of-a-name-that-is-long · chat/0-shot", "", "one two", "a--b//c · "]
)
def test_a_name_in_lines_loses_nothing_and_no_line_is_too_wide(name):
    lines = plotting.insert_line_breaks_into_name(name, 1.0).split("\n")
    assert "".join("".join(lines).split()) == "".join(name.split())
    assert all(plotting.measure_text_width(line) <= 1.12 for line in lines)  # the mark " ·" may stand behind the end
