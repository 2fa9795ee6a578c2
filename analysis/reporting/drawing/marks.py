"""Note what marks of a figure tell on hover, and which rows are of which model, for `svg`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from matplotlib.axes import Axes

from analysis.reporting.drawing.plotting import Drawing, Look
from analysis.reporting.drawing.svg import Target, format_value_with_interval


def set_hover_titles_of_marks(
    axes: Axes, x: Iterable[float], y: Iterable[float], names: str | Iterable[str], values: Iterable[float],
    lower: Iterable[float] | None = None, upper: Iterable[float] | None = None,
    classes: str | Iterable[str | None] | None = None, sizes: Iterable[tuple[float, float] | None] | None = None,
) -> None:  # fmt: skip
    """Let marks tell their names and values on hover, in pages and in the SVG files.

    Parameters
    ----------
    axes
        The panel; its title stands between name and value.
    x, y
        Where the marks are, in the numbers of the axes.
    names
        What each is called, or all are.
    values, lower, upper
        The value of each, and its interval where there is one.
    classes
        Class of each mark's model, or of all (`Look.svg_class_of_model`).
    sizes
        Width and height of each cell or bar; None for dots.
    """
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Drawing)
    texts = itertools.repeat(names) if isinstance(names, str) else names
    model_classes = itertools.repeat(classes) if classes is None or isinstance(classes, str) else classes
    lows, highs, spans = (itertools.repeat(None) if many is None else many for many in (lower, upper, sizes))
    for across, down, name, value, low, high, model_class, size in zip(
        x, y, texts, values, lows, highs, model_classes, spans, strict=False  # some are repeated without end
    ):  # fmt: skip
        if value == value:
            text = f"{' '.join(str(name).split())}: {format_value_with_interval(value, low, high)}"
            figure.targets.append(Target(axes, across, down, text, model_class or "", size))


def record_models_of_drawn_rows(axes: Axes, rows: Iterable[float], looks: Iterable[Look]) -> None:
    """Note which rows of a drawing are of which model, so that their names get the class of the model, too."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Drawing)
    figure.model_by_row |= {
        row: look.svg_class_of_model for row, look in zip(rows, looks, strict=True) if look.svg_class_of_model
    }
