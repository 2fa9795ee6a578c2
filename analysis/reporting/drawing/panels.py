"""Lay figures out in inches: rows of panels, dots with intervals, legends.

Every text has a place that is computed from its width, so that none is cut and none overlaps another, at any width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.reporting.drawing import marks
from analysis.reporting.drawing.plotting import (
    FAINT,
    HIGHEST,
    INK,
    PAGE,
    RULE,
    Drawing,
    Look,
    Looks,
    count_lines_of_tallest_text,
    insert_line_breaks_into_name,
    measure_text_width,
    measure_widest_text,
    replace_missing_glyphs,
)
from analysis.reporting.drawing.svg import encode_model_classes_as_svg_id

LINE = 0.135  # inches between two lines of text
ROW = 0.118  # inches that a line of a row's label needs
GAPS = (0.03, 0.045)  # inches, least and most, between two labels of several lines
LETTER = 0.057  # inches of a letter, on average
LABEL = 0.08  # inches between a label and what it names
ROWS = 24  # rows of dots that a figure has room for at both widths, in two lines of panels
DASHED: Any = (0, (4, 3))


def is_one_column_wide(width: float) -> bool:
    """Return whether a figure is for one column rather than for the page."""
    return width < PAGE * 0.75


def lay_out_panels(
    width: float, n_panels: int, n_across: int, height: float, *,
    left: float = 0.1, right: float = 0.12, top: float = 0.03, bottom: float = 0.03,
    title: float = 0.19, below: float = 0.2, gap: float = 0.14,
    whole_titles: Sequence[str] = (), titles_left: float = 0.0,
) -> tuple[Drawing, list[Axes]]:  # fmt: skip
    """Make a drawing with panels of equal size.

    Parameters
    ----------
    width, height
        Inches of the drawing, and of one panel.
    n_panels, n_across
        Number of panels, and of those in a line.
    left, right, top, bottom
        Inches beside, above and below all panels: names of rows, legends.
    title, below
        Inches above and below every line of panels: titles, numbers of the axis.
    gap
        Inches between two panels of a line.
    whole_titles
        Titles that stand above the panels, whole: long ones in several lines.
    titles_left
        Inches that these begin left of their panels.

    Returns
    -------
    The drawing, and its panels line by line.
    """
    down = -(-n_panels // n_across)
    wide = (width - left - right - gap * (n_across - 1)) / n_across
    # From the beginning of a title to that of the next, or to the edge of the drawing.
    free = wide + min(titles_left + right, gap - 0.04 if n_across > 1 else titles_left + right)
    wrapped_titles = [insert_line_breaks_into_name(name, free) for name in whole_titles]
    title += LINE * (count_lines_of_tallest_text(wrapped_titles) - 1)
    tall = top + bottom + down * (title + height + below)
    if whole_titles and tall > HIGHEST:  # titles of several lines take the room of their panels
        height = max(0.4, height - (tall - HIGHEST + 0.01) / down)
        tall = top + bottom + down * (title + height + below)
    drawing = Drawing(figsize=(width, tall))
    axes_list = []
    for number in range(n_panels):
        line, column = divmod(number, n_across)  # of three in a line, panel 4 is the second of the second line
        y = tall - top - (line + 1) * (title + height) - line * below
        x = left + column * (wide + gap)
        axes_list.append(drawing.add_axes((x / width, y / tall, wide / width, height / tall)))
    for axes, text in zip(axes_list, wrapped_titles, strict=False):
        draw_text(axes, (0, 1), text, (-72 * titles_left, 4), va="baseline", label="title")
    return drawing, axes_list


def draw_text(
    axes: Axes, place: tuple[float, float], text: str, offset_points: tuple[float, float] = (0, 0), *,
    coordinates: Any = "axes fraction",
    ha: str = "left", va: str = "center", **options: Any,
) -> None:  # fmt: skip
    """Write a text.

    Parameters
    ----------
    axes
        The panel.
    place
        Where, in `coordinates`.
    text
        The text.
    offset_points
        Points right of and above the place.
    coordinates
        What the place is given in: shares of the panel, "data", or a transform of matplotlib.
    ha, va
        Which side of the text stands there.
    **options
        Further options of `Axes.annotate`.
    """
    axes.annotate(
        replace_missing_glyphs(text), place, xytext=offset_points, xycoords=coordinates, textcoords="offset points",
        ha=ha, va=va, annotation_clip=False, rotation_mode="anchor", **options,
    )  # fmt: skip


def measure_panel_size(axes: Axes) -> tuple[float, float]:
    """Return the width and the height of a panel in inches."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = axes.get_position().size * figure.get_size_inches()
    return float(width), float(height)


def label_x_axis(axes: Axes, text: str) -> None:
    """Name the horizontal axis, below its numbers: under the middle of the panel, or as near as the drawing ends.

    Parameters
    ----------
    axes
        The panel.
    text
        The name.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    wide, box, half = figure.get_size_inches()[0], axes.get_position(), measure_text_width(text) / 2
    middle = (box.x0 + box.x1) / 2 * wide
    aside = min(0.0, wide - 0.02 - middle - half) or max(0.0, half + 0.02 - middle)
    draw_text(axes, (0.5, 0), text, (72 * aside, -20), ha="center", va="baseline")


def label_y_axis(axes: Axes, text: str, points: float = 24) -> None:
    """Name the vertical axis, left of its numbers.

    Parameters
    ----------
    axes
        The panel.
    text
        The name.
    points
        Points left of the panel.
    """
    draw_text(axes, (0, 0.5), text, (-points, 0), ha="center", va="baseline", rotation=90)


def draw_row_labels(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of the rows left of a panel.

    Parameters
    ----------
    axes
        The panel.
    names
        A name for each row, from 0 on.
    """
    for row, name in enumerate(names):
        draw_text(axes, (0, row), name, (-5, 0), coordinates=axes.get_yaxis_transform(), ha="right", label="row")


def lay_out_panel_with_named_rows(
    names: Sequence[str], width: float, height: float, legend_names: Sequence[str] = ()
) -> tuple[Drawing, Axes]:
    """Lay out one panel with a row per name, and write the names.

    Parameters
    ----------
    names
        A name for each row, from 0 on, in lines that fit (`wrap_row_labels`).
    width, height
        Inches of the drawing, and of the panel.
    legend_names
        What a legend above is to say; empty: there is none.

    Returns
    -------
    tuple
        The drawing and its panel.
    """
    top = 0.06 + LINE * count_legend_lines(legend_names, width) if legend_names else 0.03
    drawing, (axes,) = lay_out_panels(
        width, 1, 1, height, left=measure_row_labels_width(names), title=0.05, below=0.4, top=top
    )
    set_up_panel_of_rows(axes, len(names))
    draw_row_labels(axes, names)
    return drawing, axes


def measure_row_labels_width(names: Sequence[str]) -> float:
    """Return the inches that the names of rows need left of a panel."""
    return measure_widest_text(names) + LABEL + 0.04


def choose_distance_between_rows(row_labels: Sequence[str], max_total: float, max_pitch: float = 0.19) -> float:
    """Compute how far apart rows are.

    Parameters
    ----------
    row_labels
        What stands beside the rows.
    max_total
        Inches that all rows may take; more where they are too many.
    max_pitch
        Most inches from one row to the next.

    Returns
    -------
    Inches from one row to the next, at least 0.118 for each line of a label; where labels have several lines, so much
    more that two labels do not look like one, unless the rows alone would fill the highest figure.
    """
    lines, count = count_lines_of_tallest_text(row_labels), max(1, len(row_labels))
    least = ROW * lines
    if lines > 1:
        gap = float(np.clip(min(max_total + 0.4, HIGHEST - 0.5) / count - least, *GAPS))
        least += max(0.0, min(gap, (HIGHEST - 0.5) / count - least))
    return float(np.clip(max_total / count, least, max(least, max_pitch)))


def wrap_row_labels(names: Sequence[str], width: float, max_total: float = 3.6, n_columns: int = 0) -> list[str]:
    """Break names of models that stand beside rows into lines; nothing of them is left out.

    Parameters
    ----------
    names
        The names.
    width
        Inches of the drawing.
    max_total
        Inches that all rows may take: names get more room at the left where their lines need more.
    n_columns
        As in `compute_letter_limit_of_labels`.

    Returns
    -------
    The names in lines, in their order.
    """
    free = LETTER * compute_letter_limit_of_labels(width, n_columns)
    most = 0.6 * width
    wrapped = [insert_line_breaks_into_name(name, free) for name in names]
    while ROW * count_lines_of_tallest_text(wrapped) * len(names) > max_total and free < most:
        free += 0.1
        wrapped = [insert_line_breaks_into_name(name, free) for name in names]
    return wrapped


def prefix_names_with_numbers(names: Sequence[str]) -> list[str]:
    """Write names for a legend behind numbers, which stand for them where panels below have no room for names."""
    return [f"{number}   {name}" for number, name in enumerate(names, start=1)]


def choose_row_labels_and_legend_names(names: Sequence[str], width: float, down: int) -> tuple[list[str], list[str]]:
    """Choose what stands beside rows: the names in lines, or numbers where a page has no room for all those lines.

    Parameters
    ----------
    names
        Names of models.
    width
        As in `wrap_row_labels`.
    down
        Lines of panels.

    Returns
    -------
    The labels, and the names behind their numbers for a legend; no names where the labels are names.
    """
    wrapped = wrap_row_labels(names, width)
    if (choose_distance_between_rows(wrapped, 3.6) * len(names) + 0.4) * down < HIGHEST:
        return wrapped, []
    return [str(number) for number in range(1, len(names) + 1)], prefix_names_with_numbers(names)


def compute_letter_limit_of_labels(width: float, n_columns: int = 0) -> int:
    """Compute how long names of rows may be.

    Parameters
    ----------
    width
        Inches of the drawing.
    n_columns
        Columns of the heat map beside them; 0 where panels are beside them.

    Returns
    -------
    Letters of a name, 14 to 50, beside panels to 38.
    """
    free = width - 0.3 - ROW * n_columns if n_columns else 0.46 * width
    return int(np.clip(free / LETTER, 14, 50 if n_columns else 38))


def set_up_panel_of_rows(axes: Axes, n_rows: int) -> None:
    """Prepare a panel for rows, the first on top: a faint line for each, no axis at the left.

    Parameters
    ----------
    axes
        The panel.
    n_rows
        Number of rows.
    """
    axes.set_ylim(max(1, n_rows) - 0.5, -0.5)
    axes.hlines(range(n_rows), 0, 1, colors=RULE, linewidth=0.5, zorder=0, transform=axes.get_yaxis_transform())
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def set_axis_limits_and_ticks(
    axes: Axes, low: float, high: float, n_steps: int = 2, reference_line: float | None = None, axis: str = "x"
) -> None:
    """Set the limits of an axis, with a margin for marks at its ends, and its numbers.

    Parameters
    ----------
    axes
        The panel.
    low, high
        The ends; where they are the same number, the axis is one unit long.
    n_steps
        About this many steps from one number to the next.
    reference_line
        Where a dashed line stands; None for no line.
    axis
        "x" or "y".
    """
    high = high if high > low else low + 1
    long = measure_panel_size(axes)[int(axis == "y")]
    margin = (high - low) * 0.05 / max(0.2, long - 0.1)  # so that a mark of 3 points radius is whole
    values = MaxNLocator(nbins=n_steps, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    values = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
    while (
        axis == "x"
        and len(values) > 1
        and long * (values[1] - values[0]) / (high - low) < measure_widest_text([f"{value:.3g}0" for value in values])
    ):
        values = values[::2] if len(values) > 2 else values[-1:]
    axes.set(**{f"{axis}lim": (low - margin, high + margin), f"{axis}ticks": values})
    if axis == "x" and len(values) > 2 and _touches_next_panel(axes, values):
        axes.set_xticks(values[:-1])
    if reference_line is not None:
        line = axes.axvline if axis == "x" else axes.axhline
        line(reference_line, color=INK, linewidth=0.7, linestyle=DASHED, zorder=1)


def _touches_next_panel(axes: Axes, values: Sequence[float]) -> bool:
    """Tell whether the last number of a panel would touch the first one of the panel beside it, if that is as wide."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    box = axes.get_position()
    beside = [other.get_position() for other in figure.axes if abs(other.get_position().y0 - box.y0) < 1e-6]
    starts = [place.x0 for place in beside if place.x0 > box.x1]
    if not starts:
        return False
    (left, right), inch = axes.get_xlim(), measure_panel_size(axes)[0]
    free = (values[0] - left + right - values[-1]) / (right - left) * inch
    gap = (min(starts) - box.x1) * figure.get_size_inches()[0]
    return measure_widest_text(axes.xaxis.get_major_formatter().format_ticks(list(values))) + 0.04 > free + gap


def compute_symmetric_limit(frame: pd.DataFrame) -> float:
    """Return the largest absolute value of a frame, at least 0.02: half the width of an axis around 0."""
    values = frame.abs().to_numpy(float)
    return max(0.02, float(np.nanmax(values)) if np.isfinite(values).any() else 0.0)


def draw_dots(
    axes: Axes, frame: pd.DataFrame, measure: str, looks: Looks, *, is_hollow: pd.Series | None = None,
    undefined_text: str = "undefined", with_intervals: bool = True, label_column: str = "label",
) -> None:  # fmt: skip
    """Draw one dot per row of a frame, with its interval (columns `X_lower`, `X_upper` of the measure X).

    Parameters
    ----------
    axes
        The panel.
    frame
        Has columns `row` (its place), `model` and the measure. Where a value is missing, a text stands in its row.
    measure
        Column with the values.
    looks
        Colour and marker of every model.
    is_hollow
        Which dots are hollow, row by row of the frame.
    undefined_text
        What stands where the value is missing; empty: nothing.
    with_intervals
        Whether the intervals are drawn.
    label_column
        What a dot is called when a mouse is over it; without such a column, as its model.
    """
    known_rows = frame[frame[measure].notna()]
    if measure_text_width(undefined_text) > measure_panel_size(axes)[0]:
        undefined_text = "none"
    for row in frame.loc[frame[measure].isna(), "row"] if undefined_text else ():
        draw_text(axes, (0, row), undefined_text, (2, 0), coordinates=axes.get_yaxis_transform(), color=FAINT,
                  zorder=4, label="said",
             bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    colours = [looks[model].colour for model in known_rows["model"]]
    classes = np.array([looks[model].svg_class_of_model or "" for model in known_rows["model"]], object)
    lower: Any = known_rows.get(f"{measure}_lower") if with_intervals else None
    upper: Any = known_rows.get(f"{measure}_upper") if with_intervals else None
    if with_intervals:
        axes.hlines(
            known_rows["row"],
            lower,
            upper,
            colors=colours,
            linewidth=1.2,
            gid=encode_model_classes_as_svg_id(classes),
        )
    marks.set_hover_titles_of_marks(axes, known_rows[measure], known_rows["row"], known_rows.get(label_column,
    known_rows["model"]),
               known_rows[measure], lower, upper, classes)  # fmt: skip
    marks.record_models_of_drawn_rows(axes, frame["row"], [looks[model] for model in frame["model"]])
    empty = np.zeros(len(frame), bool) if is_hollow is None else is_hollow.to_numpy(bool)
    shapes = np.array([looks[model].marker for model in known_rows["model"]])
    faces = np.where(empty[frame[measure].notna()], "white", colours)
    for shape in dict.fromkeys(shapes):
        at = shapes == shape
        axes.scatter(known_rows[measure][at], known_rows["row"][at], s=17, marker=shape, c=list(faces[at]),
                     edgecolors=[colours[i] for i in np.flatnonzero(at)], linewidths=1, zorder=3,
                     gid=encode_model_classes_as_svg_id(classes[at]))  # fmt: skip


def count_legend_lines(names: Sequence[str], width: float) -> int:
    """Count the lines that a legend takes.

    Parameters
    ----------
    names
        Names in the legend.
    width
        Inches of the drawing.

    Returns
    -------
    Number of lines, 0 without names.
    """
    return sum(count_lines_of_tallest_text(line) for line in _wrap_legend_names_into_lines(names, width))


def _wrap_legend_names_into_lines(names: Sequence[str], width: float) -> list[list[str]]:
    """Arrange names side by side in lines; one that is wider than the drawing is broken into several."""
    wrapped = [insert_line_breaks_into_name(name, width - 0.36) for name in names]
    columns = max(1, min(len(names), int((width - 0.1) / (measure_widest_text(wrapped) + 0.36))))
    return [wrapped[place : place + columns] for place in range(0, len(wrapped), columns)]


def draw_legend(drawing: Drawing, names: Sequence[str], looks: Sequence[Look], is_hollow: Sequence[bool] = ()) -> None:
    """Draw the legend at the top of a drawing, line by line in the order given.

    Parameters
    ----------
    drawing
        The drawing.
    names
        Names in the legend.
    looks
        Colour and marker of each.
    is_hollow
        Whether each marker is hollow; empty: none is.
    """
    width, tall = drawing.get_size_inches()
    lines = _wrap_legend_names_into_lines(names, width)
    place = drawing.add_axes((0, 0, 1, 1), zorder=-1)
    place.set(xlim=(0, width), ylim=(0, tall))
    place.axis("off")
    pitch, number, y = max(map(measure_widest_text, lines), default=0.0) + 0.36, 0, tall - 0.1
    for line in lines:
        for column, name in enumerate(line):
            x, look = 0.12 + column * pitch, looks[number]
            face = "white" if is_hollow and is_hollow[number] else look.colour
            place.plot(x, y, look.marker, ms=4, mfc=face, mec=look.colour, mew=1, gid=look.svg_class_of_model)
            for part, text in enumerate(replace_missing_glyphs(name).split("\n")):
                place.text(x + 0.09, y - part * LINE, text, va="center_baseline", gid=look.svg_class_of_model)
            number += 1
        y -= LINE * count_lines_of_tallest_text(line)


def draw_numbered_legend(drawing: Drawing, names: Sequence[str], model_classes: Sequence[str]) -> None:
    """Draw a legend of names behind the numbers that stand for them, without marks.

    Parameters
    ----------
    drawing
        The drawing.
    names
        The names, the first of which has the number 1.
    model_classes
        Classes of their models (`plotting.list_model_css_class_of_each_label`); none where they are of none.
    """
    model_numbers = [int(name.removeprefix("model-") or 0) for name in model_classes] or [0] * len(names)
    draw_legend(drawing, prefix_names_with_numbers(names), [Look(INK, " ", number) for number in model_numbers])
