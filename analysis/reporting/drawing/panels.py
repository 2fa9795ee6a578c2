"""Lay figures out in inches: rows of panels, dots with intervals, legends.

Every text has a place that is computed from its width, so that none is cut and none overlaps another, at any width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.reporting.drawing.plotting import (
    FAINT,
    INK,
    PAGE,
    RULE,
    Drawing,
    Look,
    measure_text,
    measure_widest,
    replace_missing_glyphs,
)
from analysis.reporting.words import labels

LINE = 0.135  # inches between two lines of text
LABEL = 0.08  # inches between a label and what it names
ROWS = 24  # rows of dots that a figure has room for at both widths, in two lines of panels
DASHED: Any = (0, (4, 3))


def is_narrow(width: float) -> bool:
    """Return whether a figure is for one column rather than for the page."""
    return width < PAGE * 0.75


def lay_out_panels(
    width: float, n_panels: int, n_across: int, height: float, *,
    left: float = 0.1, right: float = 0.12, top: float = 0.03, bottom: float = 0.03,
    title: float = 0.19, below: float = 0.2, gap: float = 0.14,
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

    Returns
    -------
    The drawing, and its panels line by line.
    """
    down = -(-n_panels // n_across)
    tall = top + bottom + down * (title + height + below)
    wide = (width - left - right - gap * (n_across - 1)) / n_across
    drawing = Drawing(figsize=(width, tall))
    axes_list = []
    for number in range(n_panels):
        line, column = divmod(number, n_across)  # of three in a line, panel 4 is the second of the second line
        y = tall - top - (line + 1) * (title + height) - line * below
        x = left + column * (wide + gap)
        axes_list.append(drawing.add_axes((x / width, y / tall, wide / width, height / tall)))
    return drawing, axes_list


def draw_text(
    axes: Axes, place: tuple[float, float], text: str, offset_points: tuple[float, float] = (0, 0), *,
    coordinates: Any = "axes fraction",
    ha: str = "left", va: str = "center", **options: Any,
) -> None:  # fmt: skip
    """Write a text of one line.

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
        replace_missing_glyphs(text), place, xytext=offset_points, xycoords=coordinates, textcoords="offset "
                                                                                                    "points", ha=ha,
                                                                                                    va=va,
        annotation_clip=False,
        rotation_mode="anchor", **options,
    )  # fmt: skip


def measure_panel(axes: Axes) -> tuple[float, float]:
    """Return the width and the height of a panel in inches."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = axes.get_position().size * figure.get_size_inches()
    return float(width), float(height)


def draw_title(axes: Axes, text: str, left: float = 0.0) -> None:
    """Write a title above the left edge of a panel, shortened to the panel's width.

    Parameters
    ----------
    axes
        The panel.
    text
        The title.
    left
        Inches that it begins left of the panel's edge.
    """
    free, length = measure_panel(axes)[0] + left + 0.08, len(text)
    while measure_text(text) > free and length > 4:
        length -= 1
        text = labels.shorten_middle(text, length)
    draw_text(axes, (0, 1), text, (-72 * left, 4), va="baseline", label="title")


def label_x_axis(axes: Axes, text: str) -> None:
    """Name the horizontal axis, below its numbers.

    Parameters
    ----------
    axes
        The panel.
    text
        The name.
    """
    draw_text(axes, (0.5, 0), text, (0, -20), ha="center", va="baseline")


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


def draw_row_labels(axes: Axes, names: Sequence[str], points: float = 5) -> None:
    """Write the names of the rows left of a panel.

    Parameters
    ----------
    axes
        The panel.
    names
        A name for each row, from 0 on.
    points
        Points left of the panel.
    """
    for row, name in enumerate(names):
        draw_text(axes, (0, row), name, (-points, 0), coordinates=axes.get_yaxis_transform(), ha="right", label="row")


def measure_row_labels(names: Sequence[str]) -> float:
    """Return the inches that the names of rows need left of a panel."""
    return measure_widest(names) + LABEL + 0.04


def choose_row_pitch(n_rows: int, max_total: float, max_pitch: float = 0.19) -> float:
    """Compute how far apart rows are.

    Parameters
    ----------
    n_rows
        Number of rows.
    max_total
        Inches that all rows may take; more where they are too many.
    max_pitch
        Most inches from one row to the next.

    Returns
    -------
    Inches from one row to the next, at least 0.118.
    """
    return float(np.clip(max_total / max(1, n_rows), 0.118, max_pitch))


def compute_max_label_letters(width: float, n_columns: int = 0) -> int:
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
    free = width - 0.3 - 0.118 * n_columns if n_columns else 0.46 * width
    return int(np.clip(free / 0.057, 14, 50 if n_columns else 38))


def draw_row_guides(axes: Axes, n_rows: int) -> None:
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


def scale_axis(
    axes: Axes, low: float, high: float, n_steps: int = 2, reference_line: float | None = None, axis: str = "x"
) -> None:
    """Set the limits of an axis, with a margin for marks at its ends, and its numbers.

    Parameters
    ----------
    axes
        The panel.
    low, high
        The ends.
    n_steps
        About this many steps from one number to the next.
    reference_line
        Where a dashed line stands; None for no line.
    axis
        "x" or "y".
    """
    long = measure_panel(axes)[int(axis == "y")]
    margin = (high - low) * 0.05 / max(0.2, long - 0.1)  # so that a mark of 3 points radius is whole
    values = MaxNLocator(nbins=n_steps, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    values = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
    while (
        axis == "x"
        and len(values) > 2
        and long * (values[1] - values[0]) / (high - low) < measure_widest([f"{value:.3g}0" for value in values])
    ):
        values = values[::2]
    axes.set(**{f"{axis}lim": (low - margin, high + margin), f"{axis}ticks": values})
    if reference_line is not None:
        line = axes.axvline if axis == "x" else axes.axhline
        line(reference_line, color=INK, linewidth=0.7, linestyle=DASHED, zorder=1)


def compute_symmetric_limit(frame: pd.DataFrame) -> float:
    """Return the largest absolute value of a frame, at least 0.02: half the width of an axis around 0."""
    values = frame.abs().to_numpy(float)
    return max(0.02, float(np.nanmax(values)) if np.isfinite(values).any() else 0.0)


def draw_dots(
    axes: Axes, frame: pd.DataFrame, measure: str, looks: Mapping[str, Look], *, is_hollow: pd.Series | None = None,
    undefined_text: str = "undefined", with_intervals: bool = True,
) -> None:  # fmt: skip
    """Draw one dot per row of a frame, with its interval (columns `X_lower`, `X_upper` of the measure X).

    Parameters
    ----------
    frame
        Has columns `row` (its place), `model` and the measure. A missing value is said, not drawn.
    is_hollow
        Which dots are hollow, row by row of the frame.
    undefined_text
        What is said where the value is missing.
    """
    known_rows = frame[frame[measure].notna()]
    for row in frame.loc[frame[measure].isna(), "row"] if undefined_text else ():
        draw_text(axes, (0, row), undefined_text, (2, 0), coordinates=axes.get_yaxis_transform(), color=FAINT,
                  zorder=4, label="said",
             bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    colours = [looks[model].colour for model in known_rows["model"]]
    if with_intervals:
        axes.hlines(
            known_rows["row"],
            known_rows[f"{measure}_lower"],
            known_rows[f"{measure}_upper"],
            colors=colours,
            linewidth=1.2,
        )
    empty = np.zeros(len(frame), bool) if is_hollow is None else is_hollow.to_numpy(bool)
    shapes = np.array([looks[model].marker for model in known_rows["model"]])
    faces = np.where(empty[frame[measure].notna()], "white", colours)
    for shape in dict.fromkeys(shapes):
        at = shapes == shape
        axes.scatter(known_rows[measure][at], known_rows["row"][at], s=17, marker=shape, c=list(faces[at]),
                     edgecolors=[colours[i] for i in np.flatnonzero(at)], linewidths=1, zorder=3)  # fmt: skip


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
    return -(-len(names) // _count_legend_columns(names, width)) if names else 0


def _count_legend_columns(names: Sequence[str], width: float) -> int:
    """Count the names that fit side by side in a legend."""
    return max(1, min(len(names), int((width - 0.1) / (measure_widest(names) + 0.36))))


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
    columns = _count_legend_columns(names, width)
    place = drawing.add_axes((0, 0, 1, 1), zorder=-1)
    place.set(xlim=(0, width), ylim=(0, tall))
    place.axis("off")
    for number, (name, look) in enumerate(zip(names, looks, strict=True)):
        line, column = divmod(number, columns)
        x, y = 0.12 + column * (measure_widest(names) + 0.36), tall - 0.1 - line * LINE
        face = "white" if is_hollow and is_hollow[number] else look.colour
        place.plot(x, y, look.marker, ms=4, mfc=face, mec=look.colour, mew=1)
        place.text(x + 0.09, y, replace_missing_glyphs(name), va="center_baseline")
