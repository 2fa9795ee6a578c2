"""Draw tables of numbers as coloured cells: heat maps, and triangles of what holds between two things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from analysis.reporting.drawing import panels
from analysis.reporting.drawing.plotting import DIVERGING, HIGHEST, INK, RULE, Drawing, measure_text, measure_widest
from analysis.reporting.words import labels

NUMBER_ROOM = 0.36  # inches of a cell that has room for a number


def draw_colour_bar(drawing: Drawing, cmap: str, low_label: str, high_label: str, title: str) -> None:
    """Draw a colour bar in one line at the top of a drawing: its ends, then its name.

    Parameters
    ----------
    drawing
        The drawing.
    cmap
        Name of a colour map.
    low_label, high_label
        What stands at the ends.
    title
        What the colours show.
    """
    width, tall = drawing.get_size_inches()
    start, length = 0.05 + measure_text(low_label) + 0.05, 0.8
    axes = drawing.add_axes((start / width, (tall - 0.14) / tall, length / width, 0.08 / tall))
    axes.imshow(np.linspace(0, 1, 128)[None], cmap=cmap, aspect="auto", extent=(0, 1, 0, 1))
    axes.axis("off")
    panels.draw_text(axes, (0, 0.5), low_label, (-3, 0), ha="right")
    panels.draw_text(axes, (1, 0.5), f"{high_label}   {title}", (3, 0))


def draw_heat_map(
    table: pd.DataFrame, width: float, *, cmap: str, low: float, high: float, colour_bar_title: str,
    row_labels: Sequence[str], column_labels: Sequence[str], is_marked: np.ndarray | None = None,
) -> Drawing:  # fmt: skip
    """Draw a table as coloured cells, its first row on top; hatched where there is no number.

    Parameters
    ----------
    table
        The numbers.
    width
        Inches of the drawing.
    cmap, low, high, colour_bar_title
        Colour map, the values at its ends, and what it shows.
    row_labels, column_labels
        Names as they are written.
    is_marked
        Cells that get a dot.

    Returns
    -------
    The drawing.
    """
    left, head = panels.measure_row_labels(row_labels), measure_widest(column_labels) + 0.1
    cell = min(0.5, (width - left - 0.1) / table.shape[1])
    tall = len(table) * panels.choose_row_pitch(len(table), HIGHEST - 0.3 - head)
    right = width - left - cell * table.shape[1]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, tall, left=left, right=right, title=head, top=0.22, below=0.03
    )
    _draw_cells(axes, table.to_numpy(float), cmap, low, high)
    if is_marked is not None:
        _draw_marks(axes, is_marked, table.to_numpy(float), low, high)
    panels.draw_row_labels(axes, row_labels)
    for column, label in enumerate(column_labels):
        panels.draw_text(
            axes, (column, 1), label, (0, 3), coordinates=axes.get_xaxis_transform(), rotation=90, label="column"
        )
    draw_colour_bar(drawing, cmap, f"{low:g}", f"{high:g}", colour_bar_title)
    return drawing


def draw_lower_triangle(
    values: np.ndarray, names: Sequence[str], width: float, *, colour_limit: float, colour_bar_title: str,
    is_marked: np.ndarray,
    second_lines: np.ndarray | None = None,
) -> Drawing:  # fmt: skip
    """Draw the lower half of a square table, each name once, beside its cell of the diagonal.

    A name stands at the end of its row and on top of its column. Cells without a number are hatched. Where there is
    room, cells hold their number, bold where it is `is_marked`; elsewhere a dot stands for the mark.

    Parameters
    ----------
    values
        Row by column, NaN where there is no number; the colours go from -`colour_limit` to `colour_limit`.
    names
        Names of the rows, which are those of the columns.
    width
        Inches of the drawing.
    colour_limit
        Value at the ends of the colours.
    colour_bar_title
        What the colours show.
    is_marked
        Cells that are marked, laid out as `values`.
    second_lines
        A second line of every cell, such as its n, laid out as `values`; None for none.

    Returns
    -------
    The drawing.
    """
    count, names, cell = len(names), *_fit_diagonal_names(names, width)
    has_numbers = cell >= NUMBER_ROOM
    tall = count * panels.choose_row_pitch(count, 8.5, 0.28 if second_lines is not None and has_numbers else 0.2)
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, tall, left=0.1, right=width - 0.1 - cell * count, title=0.03, top=0.22, below=0.03
    )
    lower = np.tril(np.ones_like(values, bool), -1)
    lower_values = np.where(lower, values, np.nan)
    _draw_cells(axes, lower_values, DIVERGING, -colour_limit, colour_limit, lower)
    if has_numbers:
        _draw_cell_numbers(axes, lower_values, is_marked, colour_limit, second_lines)
    else:
        _draw_marks(axes, is_marked & lower, lower_values, -colour_limit, colour_limit)
    for place, text in enumerate(names):
        panels.draw_text(axes, (place - 0.5, place), text, (3, 0), coordinates="data", label="row")
    draw_colour_bar(drawing, DIVERGING, f"−{colour_limit:.2g}", f"{colour_limit:.2g}", colour_bar_title)
    return drawing


def _fit_diagonal_names(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """Shorten the names on the diagonal until cells are wide enough for numbers, or else for dots."""
    for least, shortest in ((NUMBER_ROOM, 16), (0.12, 8)):
        for length in range(40, shortest, -2):
            short = labels.drop_prefix_and_shorten_names(names, length)
            cell = min(0.55, *((width - 0.2 - measure_text(text)) / max(1, place) for place, text in enumerate(short)))
            if cell >= least:
                return short, cell
    return short, cell


def _draw_cells(
    axes: Axes, values: np.ndarray, cmap: str, low: float, high: float, is_drawn: np.ndarray | None = None
) -> None:
    """Draw cells with white lines between them, hatched where a cell that is `is_drawn` has no number."""
    down, across = values.shape
    axes.imshow(values, aspect="auto", cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    axes.hlines(np.arange(1, down) - 0.5, -0.5, across - 0.5, colors="white", linewidth=0.5)
    axes.vlines(np.arange(1, across) - 0.5, -0.5, down - 0.5, colors="white", linewidth=0.5)
    rows, columns = np.nonzero(np.isnan(values) & (True if is_drawn is None else is_drawn))
    if len(rows):
        path = build_rectangles_path(columns.astype(float), rows - 0.5, rows + 0.5, 1.0)
        axes.add_patch(PathPatch(path, facecolor="white", edgecolor=RULE, linewidth=0, hatch="/////", zorder=3))
    axes.set(xticks=[], yticks=[], xlim=(-0.5, across - 0.5), ylim=(down - 0.5, -0.5))
    axes.spines[:].set_visible(False)


def _draw_marks(axes: Axes, is_marked: np.ndarray, values: np.ndarray, low: float, high: float) -> None:
    """Draw a dot in every marked cell, white on dark colours."""
    rows, columns = np.nonzero(is_marked & ~np.isnan(values))
    dark = np.abs((values[rows, columns] - low) / (high - low) - 0.5) > 0.3
    axes.scatter(columns, rows, s=4, c=np.where(dark, "white", INK), linewidths=0, zorder=4)


def _draw_cell_numbers(
    axes: Axes, values: np.ndarray, is_bold: np.ndarray, colour_limit: float, second_lines: np.ndarray | None
) -> None:
    """Write the number of every cell, and under it its second line."""
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        style: dict[str, Any] = {"fontweight": "bold" if is_bold[row, column] else "normal",
                                 "color": "white" if abs(value) > 0.6 * colour_limit else INK}  # fmt: skip
        text = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
        up = 0 if second_lines is None else 4
        panels.draw_text(axes, (column, row), text, (0, up), coordinates="data", ha="center", label="cell", **style)
        if second_lines is not None:
            panels.draw_text(
                axes,
                (column, row),
                str(second_lines[row, column]),
                (0, -up),
                coordinates="data",
                ha="center",
                label="n",
                color=style["color"],
            )


def build_rectangles_path(positions: np.ndarray, low: np.ndarray, high: np.ndarray, width: float) -> Outline:
    """Make rectangles as one path.

    Parameters
    ----------
    positions
        Middle of each along the other axis (rectangles,).
    low, high
        Ends of each (rectangles,).
    width
        Width of all.

    Returns
    -------
    The path: five corners for each rectangle, the last of which closes it.
    """
    left, right = positions - width / 2, positions + width / 2
    # Each rectangle is a row of five (x, y), which reshape sets one below the other: (1, 10) becomes (5, 2).
    corners = np.column_stack([left, low, left, high, right, high, right, low, left, low]).reshape(-1, 2)
    codes = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
    return Outline(corners, np.tile(codes, len(positions)).astype(np.uint8))
