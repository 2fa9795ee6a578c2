"""Figures on benchmarks: what is drawn is what the tables say, and nothing is cut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import runs
from analysis.pages.benchmarks import captions, figures, measures, plots, tables
from analysis.pages.benchmarks.catalogue import FIGURES
from analysis.pages.benchmarks.plots import build_symmetric_matrix_and_measure_order
from analysis.pages.benchmarks.printed import read_printed_correlations
from analysis.reporting.drawing import plotting
from helpers.figures import cells, check_caption, check_figure, texts
from helpers.wording_runs import write_family

pytestmark = pytest.mark.slow

DRAWN = sorted({entry.plot_name or name for name, entry in FIGURES.items()})


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    run = runs.open_runs(write_family(tmp_path_factory.mktemp("plots") / "run"))
    values = {"measures_by_model": tables.tabulate_measures_by_model_and_condition(run)}
    drawn = {
        "size_measures": next(figures.build_measures_against_size_frames(values))[0],
        "accuracy_measures": next(figures.build_measures_against_item_accuracy_frames(values))[0],
    }
    return {**drawn, "coefficients": read_printed_correlations()}


@pytest.mark.parametrize("width", [plotting.PAGE, plotting.COLUMN])
@pytest.mark.parametrize("name", DRAWN)
def test_no_text_is_cut_or_overlaps_another(frames, name, width):
    check_figure(getattr(plots, f"draw_{name}")(frames[name], width=width))


@pytest.mark.parametrize("name", DRAWN)
def test_captions_can_be_read_alone(frames, name):
    check_caption(getattr(captions, f"caption_{name}")(frames[name]))


def test_the_printed_matrix_is_drawn_cell_by_cell():
    table = read_printed_correlations()
    axes = plots.draw_coefficients(table).axes[0]
    order = texts(axes, "row")
    assert order == list(dict.fromkeys(table["measure_a"]))
    printed = table.pivot(index="measure_a", columns="measure_b", values="r").loc[order, order].to_numpy()
    lower = np.tril(np.ones((11, 11), bool), -1)
    np.testing.assert_array_equal(np.ma.filled(axes.images[0].get_array(), np.nan)[lower], printed[lower])
    written = cells(axes)
    assert len(written) == 55
    assert written[8, 6] == "0.86" and written[10, 5] == "−0.19"


def test_of_many_measures_the_first_are_drawn_each_on_its_own_scale():
    rows = [
        {"page": "p", "study": "s", "measure": f"A measure of a rather long name ({k})", "model": f"m{i}",
         "parameters": 10.0 ** (5 + i), "value": 10.0 ** k * i, "unit": "", "accuracy": i / 9, "silent": i == 0}
        for k in range(-6, 9) for i in range(8)
    ]  # fmt: skip
    for draw in (plots.draw_size_measures, plots.draw_accuracy_measures):
        for width in (plotting.PAGE, plotting.COLUMN):
            figure = draw(pd.DataFrame(rows), width=width)
            check_figure(figure)
            titles = [text for axes in figure.axes for text in texts(axes, "title")]
            assert [title.replace("\n", " ") for title in titles] == [row["measure"] for row in rows[:48:8]]
    caption = captions.caption_size_measures(pd.DataFrame(rows))
    assert "Shown: the 6 first of 15 measures, by turns from every page; the table has all." in caption
    assert "Hollow" in caption


def test_titles_that_are_alike_at_both_ends_are_whole_on_a_narrow_figure():
    names = [f"Change by a negation ({kind})" for kind in ("important", "unimportant")]
    rows = [
        {"page": "p", "study": "s", "measure": name, "model": f"m{i}", "parameters": 10.0 ** (5 + i), "value": i / 5,
         "unit": "", "accuracy": np.nan, "silent": False}
        for name in names for i in range(5)
    ]  # fmt: skip
    figure = plots.draw_size_measures(pd.DataFrame(rows), width=plotting.COLUMN)
    check_figure(figure)
    assert [text.replace("\n", " ") for axes in figure.axes for text in texts(axes, "title")] == names


def test_colours_that_no_legend_names_are_one_colour():
    rows = [
        {"page": "p", "study": "s", "measure": "Range", "model": f"m{i}", "parameters": 10.0 ** (3 + i / 3),
         "value": i / 20, "unit": "", "accuracy": np.nan, "silent": False}
        for i in range(plots.NAMED + 1)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    shapes = {(line.get_markerfacecolor(), line.get_marker()) for line in plots.draw_size_measures(frame).axes[0].lines}
    assert len(shapes) == 1 and "One colour for all 13 models" in captions.caption_size_measures(frame)
    few = plots.draw_size_measures(frame[: plots.NAMED])
    assert len({(line.get_markerfacecolor(), line.get_marker()) for line in few.axes[0].lines}) == plots.NAMED


def test_a_legend_tells_the_models_of_the_drawn_measures_apart():
    """Models that only a measure beyond the last panel has are none of the figure."""
    rows = [
        {"page": "p", "study": "s", "measure": f"M{number}", "model": f"m{number // plots.PANELS}-{i:02d}",
         "parameters": 10.0 ** (3 + i / 3), "value": i / 20, "unit": "", "accuracy": np.nan, "silent": False}
        for number in range(plots.PANELS + 1) for i in range(plots.NAMED)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    legend, *_ = sorted(plots.draw_size_measures(frame).axes, key=lambda axes: -len(axes.texts))
    assert len({(line.get_markerfacecolor(), line.get_marker()) for line in legend.lines}) == plots.NAMED
    caption = captions.caption_size_measures(frame)
    assert "the size of 12 models" in caption and "One colour" not in caption


def test_measures_come_by_turns_from_every_page_and_only_where_models_differ():
    rows = [
        {"page": page, "study": "s", "measure": measure, "model": f"m{i}", "parameters": 10.0 ** (size * i),
         "value": i / 5, "unit": "", "accuracy": np.nan, "silent": False, "compared": True, "lead": True}
        for page, measure, size in (("p", "A", 1), ("p", "B", 1), ("q", "C", 1), ("q", "same size", 0))
        for i in range(5)
    ]  # fmt: skip
    ((drawn,),) = figures.build_measures_against_size_frames({"measures_by_model": pd.DataFrame(rows)})
    assert list(drawn["measure"].unique()) == ["A", "C", "B"] and len(drawn) == 15


def test_one_name_of_two_studies_is_told_apart():
    rows = [
        {"page": "p", "study": study, "measure": "ICC", "model": f"m{i}", "parameters": 10.0 ** (5 + i), "value": i / 5,
         "unit": "", "accuracy": np.nan, "silent": False}
        for study in ("one", "two") for i in range(5)
    ]  # fmt: skip
    figure = plots.draw_size_measures(pd.DataFrame(rows))
    assert [text for axes in figure.axes for text in texts(axes, "title")] == ["ICC, one", "ICC, two"]


def test_one_name_of_two_pages_is_told_apart():
    rows = pd.DataFrame({"page": ["a", "b", "a", "b"], "study": ["s", "s", "s", "t"],
                         "measure": ["SD", "SD", "ICC", "ICC"]})  # fmt: skip
    assert measures.name_measures_unambiguously(rows).tolist() == ["SD (a)", "SD (b)", "ICC, s", "ICC, t"]


def test_of_many_measures_those_that_correlate_most_are_drawn():
    names = [f"m{i}" for i in range(50)]
    frame = pd.DataFrame([(a, b, 0.9 if "m7" in (a, b) else 0.1) for a in names for b in names if a < b],
                         columns=["measure_a", "measure_b", "r"])  # fmt: skip
    figure = plots.draw_coefficients(frame, width=plotting.COLUMN)
    check_figure(figure)
    assert len(texts(figure.axes[0], "row")) == plots.SIDE and "m7" in texts(figure.axes[0], "row")
    assert "Shown: the 20 with the largest mean coefficients of 50 measures" in captions.caption_coefficients(frame)


def test_half_a_matrix_is_made_whole():
    frame = pd.DataFrame({"measure_a": ["a", "a", "b"], "measure_b": ["b", "c", "c"], "r": [0.5, np.nan, np.nan]})
    values, order = build_symmetric_matrix_and_measure_order(frame)
    assert order == ["a", "b", "c"]
    np.testing.assert_array_equal(values, [[1, 0.5, np.nan], [0.5, 1, np.nan], [np.nan] * 3])


@pytest.mark.parametrize(
    ("number", "text"),
    [(900, "900"), (193_600, "194K"), (999_999, "1M"), (1.5e6, "1.5M"), (5e11, "500B"), (1e12, "1T"), (2e12, "2T")],
)
def test_a_size_is_written_with_the_unit_that_it_has_when_rounded(number, text):
    assert plots.format_parameter_count(number) == text
