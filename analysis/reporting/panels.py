"""Lay figures out in inches: rows of panels, dots with intervals, heat maps, triangles, legends.

Every text has a place that is computed from its width, so that none is cut and none overlaps another, at any width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import MaxNLocator

from analysis.reporting import labels
from analysis.reporting.plotting import FAINT, INK, PAGE, RULE, SIZE, Drawing, Look, inches, safe, widest

LINE = 0.135  # inches between two lines of text
LABEL = 0.08  # inches between a label and what it names
_WRITTEN = 0.36  # inches of a cell with a number
ROWS = 24  # rows of dots that a figure has room for at both widths, in two lines of panels
DASHED: Any = (0, (4, 3))


def narrow(width: float) -> bool:
    """Return whether a figure is for one column rather than for the page."""
    return width < PAGE * 0.75


def panels(
    width: float, count: int, across: int, height: float, *,
    left: float = 0.1, right: float = 0.12, top: float = 0.03, bottom: float = 0.03,
    title: float = 0.19, below: float = 0.2, gap: float = 0.14,
) -> tuple[Drawing, list[Axes]]:  # fmt: skip
    """Make a drawing with `count` panels of equal size, `across` in a line.

    Parameters
    ----------
    width, height
        Inches of the drawing, and of one panel.
    left, right, top, bottom
        Inches beside, above and below all panels: names of rows, legends.
    title, below
        Inches above and below every line of panels: titles, numbers of the axis.
    gap
        Inches between two panels of a line.
    """
    down = -(-count // across)
    tall = top + bottom + down * (title + height + below)
    wide = (width - left - right - gap * (across - 1)) / across
    drawing = Drawing(figsize=(width, tall))
    made = []
    for number in range(count):
        line, column = divmod(number, across)
        y = tall - top - (line + 1) * (title + height) - line * below
        x = left + column * (wide + gap)
        made.append(drawing.add_axes((x / width, y / tall, wide / width, height / tall)))
    return drawing, made


def note(
    axes: Axes, place: tuple[float, float], text: str, by: tuple[float, float] = (0, 0), *, of: Any = "axes fraction",
    ha: str = "left", va: str = "center", **options: Any,
) -> None:  # fmt: skip
    """Write a text of one line `by` points from a place, given as parts of the axes unless `of` says otherwise."""
    axes.annotate(
        safe(text), place, xytext=by, xycoords=of, textcoords="offset points", ha=ha, va=va, annotation_clip=False,
        rotation_mode="anchor", **options,
    )  # fmt: skip


def title(axes: Axes, text: str) -> None:
    """Write a title above the left edge of a panel, shortened to the panel's width."""
    free, length = axes.get_position().width * axes.figure.get_size_inches()[0] + 0.08, len(text)
    while inches(text) > free and length > 4:
        length -= 1
        text = labels.shorten(text, length)
    note(axes, (0, 1), text, (0, 4), va="baseline")


def under(axes: Axes, text: str) -> None:
    """Name the horizontal axis, below its numbers."""
    note(axes, (0.5, 0), text, (0, -20), ha="center", va="baseline")


def beside(axes: Axes, text: str, points: float = 24) -> None:
    """Name the vertical axis, left of its numbers."""
    note(axes, (0, 0.5), text, (-points, 0), ha="center", va="baseline", rotation=90)


def row_labels(axes: Axes, names: Sequence[str], points: float = 5) -> None:
    """Write the names of the rows left of a panel."""
    for row, name in enumerate(names):
        note(axes, (0, row), name, (-points, 0), of=axes.get_yaxis_transform(), ha="right")


def room(names: Sequence[str]) -> float:
    """Return the inches that the names of rows need left of a panel."""
    return widest(names) + LABEL + 0.04


def pitch(count: int, most: float, largest: float = 0.19) -> float:
    """Return the inches from one of `count` rows to the next, so that all take at most `most` inches where they can."""
    return float(np.clip(most / max(1, count), 0.118, largest))


def letters(width: float, columns: int = 0) -> int:
    """Return how many letters the names of rows may have, next to so many columns of a heat map or next to panels."""
    free = width - 0.3 - 0.118 * columns if columns else 0.46 * width
    return int(np.clip(free / 0.057, 14, 50 if columns else 38))


def guide(axes: Axes, count: int) -> None:
    """Prepare a panel for rows, the first on top: a faint line for each, no axis at the left."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.hlines(range(count), 0, 1, colors=RULE, linewidth=0.5, zorder=0, transform=axes.get_yaxis_transform())
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def scale(axes: Axes, low: float, high: float, steps: int = 2, mark: float | None = None, axis: str = "x") -> None:
    """Set the limits of an axis with a margin for marks at its ends, about `steps` + 1 numbers and a dashed line."""
    size = axes.get_position().bounds[2 if axis == "x" else 3] * axes.figure.get_size_inches()[int(axis == "y")]
    margin = (high - low) * 0.05 / max(0.2, size - 0.1)  # so that a mark of 3 points radius is whole
    values = MaxNLocator(nbins=steps, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    values = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
    while axis == "x" and len(values) > 2 and size * (values[1] - values[0]) / (high - low) < widest(
        [f"{value:.3g}0" for value in values]
    ):
        values = values[::2]
    axes.set(**{f"{axis}lim": (low - margin, high + margin), f"{axis}ticks": values})
    if mark is not None:
        line = axes.axvline if axis == "x" else axes.axhline
        line(mark, color=INK, linewidth=0.7, linestyle=DASHED, zorder=1)


def symmetric(frame: pd.DataFrame) -> float:
    """Return the largest absolute value of a frame, at least 0.02: half the width of an axis around 0."""
    values = frame.abs().to_numpy(float)
    return max(0.02, float(np.nanmax(values)) if np.isfinite(values).any() else 0.0)


def dots(
    axes: Axes, frame: pd.DataFrame, measure: str, looks: Mapping[str, Look], *, hollow: pd.Series | None = None,
    undefined: str = "undefined", intervals: bool = True,
) -> None:  # fmt: skip
    """Draw one dot per row of a frame, with its interval (columns `X_lower`, `X_upper` of the measure X).

    Parameters
    ----------
    frame
        Has columns `row` (its place), `model` and the measure. A missing value is said, not drawn.
    hollow
        Which dots are hollow.
    undefined
        What is said where the value is missing.
    """
    known = frame[frame[measure].notna()]
    for row in frame.loc[frame[measure].isna(), "row"] if undefined else ():
        note(axes, (0, row), undefined, (2, 0), of=axes.get_yaxis_transform(), color=FAINT, zorder=4,
             bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    colours = [looks[model].colour for model in known["model"]]
    if intervals:
        axes.hlines(known["row"], known[f"{measure}_lower"], known[f"{measure}_upper"], colors=colours, linewidth=1.2)
    open_ = np.zeros(len(known), bool) if hollow is None else hollow[known.index].to_numpy(bool)
    marks = np.array([looks[model].marker for model in known["model"]])
    faces = np.where(open_, "white", colours)
    for mark in dict.fromkeys(marks):
        at = marks == mark
        axes.scatter(known[measure][at], known["row"][at], s=17, marker=mark, c=list(faces[at]),
                     edgecolors=[colours[i] for i in np.flatnonzero(at)], linewidths=1, zorder=3)  # fmt: skip


def legend_lines(names: Sequence[str], width: float) -> int:
    """Return how many lines a legend with these names takes."""
    return -(-len(names) // _columns(names, width)) if names else 0


def _columns(names: Sequence[str], width: float) -> int:
    return max(1, min(len(names), int((width - 0.1) / (widest(names) + 0.36))))


def legend(drawing: Drawing, names: Sequence[str], looks: Sequence[Look], hollow: Sequence[bool] = ()) -> None:
    """Draw the legend at the top of a drawing, line by line in the order given."""
    width, tall = drawing.get_size_inches()
    columns = _columns(names, width)
    place = drawing.add_axes((0, 0, 1, 1), zorder=-1)
    place.set(xlim=(0, width), ylim=(0, tall))
    place.axis("off")
    for number, (name, look) in enumerate(zip(names, looks, strict=True)):
        line, column = divmod(number, columns)
        x, y = 0.12 + column * (widest(names) + 0.36), tall - 0.1 - line * LINE
        face = "white" if hollow and hollow[number] else look.colour
        place.plot(x, y, look.marker, ms=4, mfc=face, mec=look.colour, mew=1)
        place.text(x + 0.09, y, safe(name), va="center_baseline")


def bar(drawing: Drawing, cmap: str, low: str, high: str, name: str) -> None:
    """Draw a colour bar in one line at the top of a drawing: its ends, then its name."""
    width, tall = drawing.get_size_inches()
    start, length = 0.05 + inches(low) + 0.05, 0.8
    axes = drawing.add_axes((start / width, (tall - 0.14) / tall, length / width, 0.08 / tall))
    axes.imshow(np.linspace(0, 1, 128)[None], cmap=cmap, aspect="auto", extent=(0, 1, 0, 1))
    axes.axis("off")
    note(axes, (0, 0.5), low, (-3, 0), ha="right")
    note(axes, (1, 0.5), f"{high}   {name}", (3, 0))


def heat_map(
    table: pd.DataFrame, width: float, *, cmap: str, low: float, high: float, name: str,
    rows: Sequence[str], columns: Sequence[str], marked: np.ndarray | None = None,
) -> Drawing:  # fmt: skip
    """Draw a table as coloured cells, its first row on top; hatched where there is no number.

    Parameters
    ----------
    table
        The numbers.
    cmap, low, high, name
        Colour map, the values at its ends, and what it shows.
    rows, columns
        Names as they are written.
    marked
        Cells that get a dot.
    """
    left, head = room(rows), widest(columns) + 0.1
    cell = min(0.5, (width - left - 0.1) / table.shape[1])
    tall = len(table) * pitch(len(table), 9.0 - 0.3 - head)
    right = width - left - cell * table.shape[1]
    drawing, (axes,) = panels(width, 1, 1, tall, left=left, right=right, title=head, top=0.22, below=0.03)
    _cells(axes, table.to_numpy(float), cmap, low, high)
    if marked is not None:
        _marks(axes, marked, table.to_numpy(float), low, high)
    row_labels(axes, rows)
    for column, label in enumerate(columns):
        note(axes, (column, 1), label, (0, 3), of=axes.get_xaxis_transform(), rotation=90)
    bar(drawing, cmap, f"{low:g}", f"{high:g}", name)
    return drawing


def triangle(
    values: np.ndarray, names: Sequence[str], width: float, *, edge: float, name: str, marked: np.ndarray,
    lines: np.ndarray | None = None,
) -> Drawing:  # fmt: skip
    """Draw the lower half of a square table, each name once, beside its cell of the diagonal.

    A name stands at the end of its row and on top of its column. Cells without a number are hatched. Where there is
    room, cells hold their number, bold where it is `marked`; elsewhere a dot stands for the mark.

    Parameters
    ----------
    values
        Row by column; the colours go from -`edge` to `edge`.
    lines
        A second line of a cell, such as its n.
    """
    count, names, cell = len(names), *_diagonal(names, width)
    written = cell >= _WRITTEN
    tall = count * pitch(count, 8.5, 0.28 if lines is not None and written else 0.2)
    drawing, (axes,) = panels(
        width, 1, 1, tall, left=0.1, right=width - 0.1 - cell * count, title=0.03, top=0.22, below=0.03
    )
    lower = np.tril(np.ones_like(values, bool), -1)
    shown = np.where(lower, values, np.nan)
    _cells(axes, shown, "PuOr", -edge, edge, lower)
    if written:
        _numbers(axes, shown, marked, edge, lines)
    else:
        _marks(axes, marked & lower, shown, -edge, edge)
    for place, text in enumerate(names):
        note(axes, (place - 0.5, place), text, (3, 0), of="data")
    bar(drawing, "PuOr", f"−{edge:.2g}", f"{edge:.2g}", name)
    return drawing


def _diagonal(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """Shorten the names on the diagonal until cells are wide enough for numbers, or else for dots."""
    for least, shortest in ((_WRITTEN, 16), (0.12, 8)):
        for length in range(40, shortest, -2):
            short = labels.fitted(names, length)
            cell = min(0.55, *((width - 0.2 - inches(text)) / max(1, place) for place, text in enumerate(short)))
            if cell >= least:
                return short, cell
    return short, cell


def _cells(
    axes: Axes, values: np.ndarray, cmap: str, low: float, high: float, drawn: np.ndarray | None = None
) -> None:
    """Draw cells with white lines between them, hatched where a cell that is `drawn` has no number."""
    down, across = values.shape
    axes.imshow(values, aspect="auto", cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    axes.hlines(np.arange(1, down) - 0.5, -0.5, across - 0.5, colors="white", linewidth=0.5)
    axes.vlines(np.arange(1, across) - 0.5, -0.5, down - 0.5, colors="white", linewidth=0.5)
    rows, columns = np.nonzero(np.isnan(values) & (True if drawn is None else drawn))
    if len(rows):
        path = bars(columns.astype(float), rows - 0.5, rows + 0.5, 1.0)
        axes.add_patch(PathPatch(path, facecolor="white", edgecolor=RULE, linewidth=0, hatch="/////", zorder=3))
    axes.set(xticks=[], yticks=[], xlim=(-0.5, across - 0.5), ylim=(down - 0.5, -0.5))
    axes.spines[:].set_visible(False)


def _marks(axes: Axes, marked: np.ndarray, values: np.ndarray, low: float, high: float) -> None:
    """Draw a dot in every marked cell, white on dark colours."""
    rows, columns = np.nonzero(marked & ~np.isnan(values))
    dark = np.abs((values[rows, columns] - low) / (high - low) - 0.5) > 0.3
    axes.scatter(columns, rows, s=4, c=np.where(dark, "white", INK), linewidths=0, zorder=4)


def _numbers(axes: Axes, values: np.ndarray, bold: np.ndarray, edge: float, lines: np.ndarray | None) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        style: dict[str, Any] = {"fontweight": "bold" if bold[row, column] else "normal",
                                 "color": "white" if abs(value) > 0.6 * edge else INK}  # fmt: skip
        text = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
        up = 0 if lines is None else 4
        note(axes, (column, row), text, (0, up), of="data", ha="center", **style)
        if lines is not None:
            note(axes, (column, row), lines[row, column], (0, -up), of="data", ha="center", color=style["color"])


def bars(positions: np.ndarray, low: np.ndarray, high: np.ndarray, width: float) -> Outline:
    """Return rectangles from `low` to `high` as one path."""
    left, right = positions - width / 2, positions + width / 2
    corners = np.column_stack([left, low, left, high, right, high, right, low, left, low]).reshape(-1, 2)
    codes = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
    return Outline(corners, np.tile(codes, len(positions)).astype(np.uint8))
