"""Draw the figures on what the measures of all studies correlate with: size, accuracy, benchmarks."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.pages.benchmarks.measures import MEASURE, name_measures_unambiguously
from analysis.reporting.catalogue.columns import SHARE
from analysis.reporting.drawing import marks, matrices, panels, plotting
from analysis.reporting.drawing.plotting import HIGHEST, PAGE, RULE, Drawing, Looks, run_in_report_style
from analysis.statistics.multiplicity import ALPHA

NAMED = 12  # models that a legend has room for
SIDE = 20  # measures that a triangle has room to name at both widths
PANELS = 6  # measures that a figure has room for, with whole titles
BETWEEN = 0.42  # inches between two panels, for the numbers of an axis


@run_in_report_style
def draw_size_measures(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw measures against size, a panel for each (Takayama et al., Figure 4, for Overall).

    Parameters
    ----------
    frame
        Rows of table `measures_by_model`: one per measure and model.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = select_drawn_measures(frame)
    looks = _choose_drawing_styles_of_models(frame, looks)
    low, high = frame["parameters"].min() / 2, frame["parameters"].max() * 2
    drawing, axes_and_rows = _lay_out_measure_panels(frame, width, looks, "Parameters")
    for axes, rows in axes_and_rows:
        axes.set_xscale("log")
        axes.set_xticks(_choose_size_ticks(low, high), minor=False)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_parameter_count(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(low, high)
        _draw_model_points(axes, rows, "parameters", looks)
    return drawing


@run_in_report_style
def draw_accuracy_measures(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw measures against the accuracy on the same items, a panel for each (Takayama et al., Figure 5).

    Parameters
    ----------
    frame
        Rows of table `measures_by_model` with an accuracy: one per measure and model.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = select_drawn_measures(frame)
    looks = _choose_drawing_styles_of_models(frame, looks)
    drawing, axes_and_rows = _lay_out_measure_panels(frame, width, looks, "Accuracy")
    for axes, rows in axes_and_rows:
        panels.set_axis_limits_and_ticks(axes, 0, 1)
        if (rows["unit"] == SHARE).all():
            axes.plot([0, 1], [0, 1], color=RULE, linewidth=0.7, zorder=0)
        _draw_model_points(axes, rows, "accuracy", looks)
    return drawing


@run_in_report_style
def draw_coefficients(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a matrix of correlations in its own order, without clustering (Takayama et al., Figure 8).

    Parameters
    ----------
    frame
        measure_a, measure_b, r, in the order of the matrix; every pair once or twice, the diagonal or not. Where there
        is p_holm, coefficients with p_holm below 0.05 are marked.
    width, looks
        In inches; not used: the colours mean correlations.

    Returns
    -------
    Drawing
        The figure.
    """
    values, order = build_symmetric_matrix_and_measure_order(frame)
    clear = np.zeros_like(values)
    if "p_holm" in frame:
        clear, _ = build_symmetric_matrix_and_measure_order(frame.assign(r=(frame["p_holm"] < ALPHA).astype(float)))
    matrix_rows = choose_matrix_rows(values)
    return matrices.draw_lower_triangle(
        values[np.ix_(matrix_rows, matrix_rows)], [str(order[place]).replace("_", " ") for place in matrix_rows],
        width, colour_limit=1,
        colour_bar_title="Correlation", is_marked=clear[np.ix_(matrix_rows, matrix_rows)] > 0,
    )  # fmt: skip


def choose_matrix_rows(values: np.ndarray) -> list[int]:
    """Return the rows of the matrix that are drawn: all, or those with the largest mean absolute coefficient."""
    off_diagonal = np.where(np.eye(len(values), dtype=bool), np.nan, np.abs(values))
    n_known = (~np.isnan(off_diagonal)).sum(axis=0)
    means = np.nansum(off_diagonal, axis=0) / np.maximum(n_known, 1)
    return sorted(np.argsort(-means, kind="stable")[:SIDE].tolist())


def build_symmetric_matrix_and_measure_order(frame: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Return the symmetric matrix of a long frame (1 on the diagonal where a row has a number), and its order."""
    order = list(dict.fromkeys([*frame["measure_a"], *frame["measure_b"]]))
    place = {name: i for i, name in enumerate(order)}
    values = np.full((len(order), len(order)), np.nan)
    for a, b, r in frame[["measure_a", "measure_b", "r"]].itertuples(index=False, name=None):
        values[place[a], place[b]] = values[place[b], place[a]] = r
    has_number = ~np.isnan(values).all(axis=0)
    values[has_number, has_number] = 1.0
    return values, order


def format_parameter_count(number: float) -> str:
    """Write a number of parameters with K, M, B or T.

    >>> (format_parameter_count(193_600), format_parameter_count(7e9), format_parameter_count(1.5e6),
    ...  format_parameter_count(900))
    ('194K', '7B', '1.5M', '900')
    """
    rounded = float(f"{number:.3g}")
    for unit, name in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if rounded >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def _choose_size_ticks(low: float, high: float) -> list[float]:
    """Return at most three round numbers (1, 2 or 5 times a power of ten) between two sizes."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5) if low <= digit * 10.0**power <= high]
    return ticks[:: -(-len(ticks) // 3)]


def _lay_out_measure_panels(
    frame: pd.DataFrame, width: float, looks: Looks, x_label: str
) -> tuple[Drawing, list[tuple[Axes, pd.DataFrame]]]:
    """Make a panel for each measure, with its title, its scale and its rows; a legend where it fits."""
    parts = [part for _, part in frame.groupby(MEASURE, sort=False)]
    names = sorted(frame["model"].unique())
    legend_names = names if len(names) <= NAMED else []
    across = max(1, min(2 if panels.is_one_column_wide(width) else 3, len(parts)))
    down = -(-len(parts) // across)
    top = 0.06 + panels.LINE * panels.count_legend_lines(legend_names, width)
    panel_width = (width - 0.5 - 0.1 - BETWEEN * (across - 1)) / across
    title_lines = [_wrap_title(part["title"].iloc[0], panel_width + 0.08) for part in parts]
    title = 0.06 + panels.LINE * max(lines.count("\n") + 1 for lines in title_lines)
    panel_height = min(panel_width, 1.6, (HIGHEST - top - 0.3) / down - 0.22 - title)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(parts), across, panel_height, left=0.5, right=0.1, bottom=0.2, top=top, title=title, below=0.22,
        gap=BETWEEN,
    )  # fmt: skip
    for i, (axes, part, lines) in enumerate(zip(panel_axes, parts, title_lines, strict=True)):
        panels.draw_text(axes, (0, 1), lines, (0, 3), va="bottom", label="title")
        values, share = part["value"].astype(float), (part["unit"] == SHARE).all()
        low, high = (0.0, 1.0) if share else (values.min(), max(values.max(), values.min() + 1e-6))
        panels.set_axis_limits_and_ticks(axes, low, high, axis="y")
        if i >= len(parts) - across:
            panels.label_x_axis(axes, x_label)
    panels.draw_legend(drawing, legend_names, [looks[name] for name in names[: len(legend_names)]])
    return drawing, list(zip(panel_axes, parts, strict=True))


def _wrap_title(title: str, free: float) -> str:
    """Break a title into lines that fit into some inches; nothing of it is cut."""
    lines = [title]
    for letters in range(len(title), 0, -1):
        if plotting.measure_widest_text(lines) <= free:
            break
        lines = textwrap.wrap(title, letters)
    return "\n".join(lines)


def select_drawn_measures(frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of the first measures, that a figure has room for, with the `title` of each."""
    titled = frame.assign(title=name_measures_unambiguously(frame))
    return titled[titled.groupby(MEASURE, sort=False).ngroup() < PANELS]


def _choose_drawing_styles_of_models(frame: pd.DataFrame, looks: Looks | None) -> Looks:
    """Return how each model is drawn: all alike where a legend has no room for them, so that no colour is unsaid."""
    models = sorted(frame["model"].unique())
    looks = looks or plotting.assign_look_to_each_model(models)
    if len(models) <= NAMED:
        return plotting.assign_looks_of_distinct_colours(looks, models)
    return plotting.assign_one_look_to_all_models(looks)


def _draw_model_points(axes: Axes, rows: pd.DataFrame, x_column: str, looks: Looks) -> None:
    """Draw a mark per row, hollow where the model does not answer."""
    for (model, hollow), part in rows.groupby(["model", "silent"], sort=False):
        look = looks[str(model)]
        face, edge, line = ("white", look.colour, 1.0) if hollow else (look.colour, "white", 0.4)
        axes.plot(part[x_column], part["value"], look.marker, ms=4, mfc=face, mec=edge, mew=line, zorder=3,
                  gid=look.svg_class_of_model)  # fmt: skip
        marks.set_hover_titles_of_marks(
            axes, part[x_column], part["value"], str(model), part["value"], classes=look.svg_class_of_model
        )
