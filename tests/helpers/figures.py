"""Reads what a figure shows, and checks what holds for every figure of every page."""

from __future__ import annotations

import itertools
import re

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


def check_texts(figure):
    """No text is cut by the edge of the figure, and none overlaps another."""
    boxes, page = shown_texts(figure), figure.bbox
    assert boxes
    for text, box in boxes:
        inside = box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert inside, (text.get_text(), box, page)
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        overlap_x, overlap_y = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert overlap_x < 1.5 or overlap_y < 1.5, (one.get_text(), other.get_text())


def check_caption(caption):
    """A caption is a text of some sentences with numbers in it."""
    assert re.search(r"\d", caption)
    assert caption.endswith(".")
    assert "nan" not in caption
    assert 80 < len(caption) < 700
