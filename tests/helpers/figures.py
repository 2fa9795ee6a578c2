"""Reads what a figure shows."""

from __future__ import annotations

from matplotlib.text import Text


def shown_texts(figure):
    """Every visible text of a figure with its box in pixels."""
    renderer = figure.canvas.get_renderer() if hasattr(figure.canvas, "get_renderer") else figure._get_renderer()
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    axis_texts = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    axis_texts |= {tick.label1, tick.label2}
    return [(t, t.get_window_extent(renderer)) for t in texts if t not in axis_texts]
