"""Draw tables of numbers as coloured cells: heat maps, and triangles of what holds between two things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from analysis.reporting.drawing import marks, panels
from analysis.reporting.drawing.plotting import (
    DIVERGING,
    HIGHEST,
    INK,
    RULE,
    Drawing,
    count_lines_of_tallest_text,
    insert_line_breaks_into_name,
    measure_text_width,
    measure_widest_text,
)
from analysis.reporting.drawing.svg import MOST_TARGETS, encode_model_classes_as_svg_id

NUMBER_ROOM = 0.36  # inches of a cell that has room for a number
MOST_LINES = 2  # of a name on the diagonal


def draw_colour_bar(drawing: Drawing, cmap: str, low_label: str, high_label: str, title: str, top: float = 0.0) -> None:
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
    top
        Inches above it, which a legend takes.
    """
    width, tall = drawing.get_size_inches()
    start, length = 0.05 + measure_text_width(low_label) + 0.05, 0.8
    axes = drawing.add_axes((start / width, (tall - top - 0.14) / tall, length / width, 0.08 / tall))
    axes.imshow(np.linspace(0, 1, 128)[None], cmap=cmap, aspect="auto", extent=(0, 1, 0, 1))
    axes.axis("off")
    panels.draw_text(axes, (0, 0.5), low_label, (-3, 0), ha="right")
    panels.draw_text(axes, (1, 0.5), f"{high_label}   {title}", (3, 0))


def draw_heat_map(
    table: pd.DataFrame, width: float, *, cmap: str, low: float, high: float, colour_bar_title: str,
    row_labels: Sequence[str], column_labels: Sequence[str], is_marked: np.ndarray | None = None,
    row_classes: Sequence[str] = (), column_classes: Sequence[str] = (),
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
    row_classes, column_classes
        Classes of the models whose rows or columns these are, by which a page hides them (`Look.svg_class_of_model`);
        none where they are of no models.

    Returns
    -------
    The drawing.
    """
    left = panels.measure_row_labels_width(row_labels)
    cell = min(0.5, (width - left - 0.1) / table.shape[1])
    column_names, column_labels = column_labels, _wrap_column_labels(column_labels, cell)
    head = measure_widest_text(column_labels) + 0.1
    tall = len(table) * panels.choose_distance_between_rows(row_labels, HIGHEST - 0.3 - head, panels.LINE)
    right = width - left - cell * table.shape[1]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, tall, left=left, right=right, title=head, top=0.22, below=0.03
    )
    classes = np.array([list(column_classes) or [name] * table.shape[1] for name in row_classes or [""] * len(table)])
    _draw_cells(axes, table.to_numpy(float), cmap, low, high, classes)
    _set_hover_titles_of_cells(axes, table.to_numpy(float), row_labels, column_names, classes)
    if is_marked is not None:
        _draw_dots_in_marked_cells(axes, is_marked, table.to_numpy(float), low, high, classes)
    panels.draw_row_labels(axes, row_labels)
    drawing.model_by_row |= dict(enumerate(row_classes))
    for column, label in enumerate(column_labels):
        panels.draw_text(
            axes, (column, 1), label, (0, 3), coordinates=axes.get_xaxis_transform(), rotation=90, label="column",
            gid=column_classes[column] if column_classes else None,
        )  # fmt: skip
    draw_colour_bar(drawing, cmap, f"{low:g}".replace("-", "−"), f"{high:g}", colour_bar_title)
    return drawing


def _wrap_column_labels(names: Sequence[str], cell: float) -> list[str]:
    """Break names above columns into as many lines as a column of a width has room for, each as long as it must be."""
    lines, long = max(1, int(cell / panels.ROW)), 1.3
    wrapped = [insert_line_breaks_into_name(name, long) for name in names]
    while count_lines_of_tallest_text(wrapped) > lines:
        long += 0.1
        wrapped = [insert_line_breaks_into_name(name, long) for name in names]
    return wrapped


def draw_lower_triangle(
    values: np.ndarray, names: Sequence[str], width: float, *, colour_limit: float, colour_bar_title: str,
    is_marked: np.ndarray,
    second_lines: np.ndarray | None = None, model_classes: Sequence[str] = (),
) -> Drawing:  # fmt: skip
    """Draw the lower half of a square table, each name once, beside its cell of the diagonal.

    A name stands at the end of its row and on top of its column; where names would take too many lines, a number
    stands for each, and a legend has the names. Cells without a number are hatched. Where there is
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
    model_classes
        Classes of the models that the names are of (`Look.svg_class_of_model`), none where they are of none: a page
        hides the cells of both.

    Returns
    -------
    The drawing.
    """
    count, (fitted_names, cell), legend_names = len(names), _wrap_diagonal_names_and_choose_cell_width(names, width), []
    if count_lines_of_tallest_text(fitted_names) > MOST_LINES:
        legend_names = panels.prefix_names_with_numbers(names)
        fitted_names, cell = _wrap_diagonal_names_and_choose_cell_width(
            [str(number) for number in range(1, count + 1)], width
        )
    legend_height = panels.LINE * panels.count_legend_lines(legend_names, width) + 0.05 * bool(legend_names)
    has_numbers = cell >= NUMBER_ROOM
    tall = count * panels.choose_distance_between_rows(
        fitted_names, 8.5 - legend_height, 0.28 if second_lines is not None and has_numbers else 0.2
    )
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, tall, left=0.1, right=width - 0.1 - cell * count, title=0.03, top=0.22 + legend_height, below=0.03
    )
    if legend_names:
        panels.draw_numbered_legend(drawing, names, model_classes)
    lower = np.tril(np.ones_like(values, bool), -1)
    lower_values = np.where(lower, values, np.nan)
    pairs = [[" ".join(dict.fromkeys((row, column))) for column in model_classes] for row in model_classes]
    classes = np.array(pairs) if pairs else np.full(values.shape, "")
    _draw_cells(axes, lower_values, DIVERGING, -colour_limit, colour_limit, classes, lower)
    _set_hover_titles_of_cells(axes, lower_values, names, names, classes)
    drawing.model_by_row |= dict(enumerate(model_classes))
    if has_numbers:
        _draw_cell_numbers(axes, lower_values, is_marked, colour_limit, second_lines, classes)
    else:
        _draw_dots_in_marked_cells(axes, is_marked & lower, lower_values, -colour_limit, colour_limit, classes)
    for place, text in enumerate(fitted_names):
        panels.draw_text(axes, (place - 0.5, place), text, (3, 0), coordinates="data", label="row")
    draw_colour_bar(drawing, DIVERGING, f"−{colour_limit:.2g}", f"{colour_limit:.2g}", colour_bar_title, legend_height)
    return drawing


def _wrap_diagonal_names_and_choose_cell_width(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """Break the names on the diagonal into lines until cells are wide enough for numbers, or else for dots.

    Rows of all of them have the height of a page.
    """
    most_lines = max(1, int(8.5 / len(names) / panels.ROW))
    for least, shortest in ((NUMBER_ROOM, 0.9), (0.12, 0.4), (0.06, 0.4)):
        for long in np.arange(2.4, shortest, -0.1):
            wrapped = [insert_line_breaks_into_name(name, long) for name in names]
            cell = min(
                0.55, *((width - 0.2 - measure_text_width(text)) / max(1, place) for place, text in enumerate(wrapped))
            )
            if cell >= least and count_lines_of_tallest_text(wrapped) <= most_lines:
                return wrapped, cell
    return wrapped, cell


def _draw_cells(
    axes: Axes, values: np.ndarray, cmap: str, low: float, high: float, classes: np.ndarray,
    is_drawn: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Draw cells with white lines between them, hatched where a cell that is `is_drawn` has no number.

    They are one picture; where they are of models, shapes, so that a page can hide those of a model.
    """
    down, across = values.shape
    drawn_rows, drawn_columns = np.nonzero(~np.isnan(values))
    svg_id = encode_model_classes_as_svg_id(classes[drawn_rows, drawn_columns])
    if svg_id and 0 < len(drawn_rows) <= MOST_TARGETS:
        middles = np.column_stack([drawn_columns, drawn_rows])
        corners = np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)])
        shapes = PolyCollection(
            middles[:, None] + corners, cmap=cmap, edgecolors="white", linewidths=0.5, gid=svg_id, clip_on=False
        )
        shapes.set(array=values[drawn_rows, drawn_columns], clim=(low, high))
        axes.add_collection(shapes)
    else:
        axes.imshow(values, aspect="auto", cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
        axes.hlines(np.arange(1, down) - 0.5, -0.5, across - 0.5, colors="white", linewidth=0.5)
        axes.vlines(np.arange(1, across) - 0.5, -0.5, down - 0.5, colors="white", linewidth=0.5)
    rows, columns = np.nonzero(np.isnan(values) & (True if is_drawn is None else is_drawn))
    if len(rows):
        path = build_rectangles_path(columns.astype(float), rows - 0.5, rows + 0.5)
        axes.add_patch(PathPatch(path, facecolor="white", edgecolor=RULE, linewidth=0, hatch="/////", zorder=3))
    axes.set(xticks=[], yticks=[], xlim=(-0.5, across - 0.5), ylim=(down - 0.5, -0.5))
    axes.spines[:].set_visible(False)


def _set_hover_titles_of_cells(
    axes: Axes, values: np.ndarray, row_names: Sequence[str], column_names: Sequence[str], classes: np.ndarray
) -> None:
    """Let every cell tell its column, its row and its value on hover."""
    rows, columns = np.nonzero(~np.isnan(values))
    rows_of, columns_of = list(row_names), list(column_names)
    names = [f"{columns_of[column]}, {rows_of[row]}" for row, column in zip(rows, columns, strict=True)]
    marks.set_hover_titles_of_marks(
        axes, columns, rows, names, values[rows, columns], classes=list(classes[rows, columns]),
        sizes=[(1.0, 1.0)] * len(rows),
    )  # fmt: skip


def _draw_dots_in_marked_cells(
    axes: Axes, is_marked: np.ndarray, values: np.ndarray, low: float, high: float, classes: np.ndarray
) -> None:
    """Draw a dot in every marked cell, white on dark colours."""
    rows, columns = np.nonzero(is_marked & ~np.isnan(values))
    dark = np.abs((values[rows, columns] - low) / (high - low) - 0.5) > 0.3
    colours = np.where(dark, "white", INK)
    svg_id = encode_model_classes_as_svg_id(classes[rows, columns]) or None
    axes.scatter(columns, rows, s=4, c=colours, linewidths=0, zorder=4, gid=svg_id)


def _draw_cell_numbers(
    axes: Axes, values: np.ndarray, is_bold: np.ndarray, colour_limit: float, second_lines: np.ndarray | None,
    classes: np.ndarray,
) -> None:  # fmt: skip
    """Write the number of every cell, and under it its second line."""
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        style: dict[str, Any] = {"gid": str(classes[row, column]).replace(" ", "_") or None,
                                 "fontweight": "bold" if is_bold[row, column] else "normal",
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
                gid=style["gid"],
            )


def build_rectangles_path(positions: np.ndarray, low: np.ndarray, high: np.ndarray) -> Outline:
    """Make rectangles of width 1 as one path.

    Parameters
    ----------
    positions
        Middle of each along the other axis (rectangles,).
    low, high
        Ends of each (rectangles,).

    Returns
    -------
    The path: five corners for each rectangle, the last of which closes it.
    """
    left, right = positions - 0.5, positions + 0.5
    # Each rectangle is a row of five (x, y), which reshape sets one below the other: (1, 10) becomes (5, 2).
    corners = np.column_stack([left, low, left, high, right, high, right, low, left, low]).reshape(-1, 2)
    codes = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
    return Outline(corners, np.tile(codes, len(positions)).astype(np.uint8))
