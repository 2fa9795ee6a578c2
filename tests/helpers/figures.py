"""Reads what a figure shows, and checks what holds for every figure of every page."""

from __future__ import annotations

import itertools
import re

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from analysis.reporting.drawing import plotting
from analysis.reporting.drawing.plotting import COLUMN, HIGHEST, PAGE, STYLE
from analysis.reporting.words.labels import SEPARATOR, SILENT

# Of models, 30 characters and longer, with their organisation; a number follows.
NAMES = ("organisation/instruct-model-of-seven-billion-v0.3-", "organisation/Instruct-Model-of-seventy-billion-",
         "an-organisation/with-a-very-long-name-")  # fmt: skip
_TOUCH = 1.5 * STYLE["figure.dpi"] / 100  # pixels by which boxes of texts may touch


def shown_texts(figure):
    """Every visible text of a figure with its box in pixels."""
    renderer = figure.canvas.get_renderer() if hasattr(figure.canvas, "get_renderer") else figure._get_renderer()
    return [(text, text.get_window_extent(renderer)) for text in visible_texts(figure)]


def visible_texts(figure):
    """Every visible text of a figure."""
    texts = [t for t in _texts_below(figure) if t.get_visible() and t.get_text().strip()]
    axis_texts = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    axis_texts |= {tick.label1, tick.label2}
    return [text for text in texts if text not in axis_texts]


def _texts_below(artist):
    """The texts that an artist holds, as `findobj(Text)` finds them, in a third of its time."""
    for child in artist.get_children():
        if isinstance(child, Text):
            yield child
        yield from _texts_below(child)


def texts(axes, label):
    """The texts of a panel that are of one kind: "title", "row", "column", "cell", "n", or "said" inside the panel."""
    return [text.get_text() for text in axes.texts if text.get_label() == label]


def cells(axes, label="cell"):
    """The texts in the cells of a matrix, by (row, column)."""
    return {text.xy[::-1]: text.get_text() for text in axes.texts if text.get_label() == label}


def marks(axes):
    """The dots of a panel: (row, x) -> its fill."""
    return {
        (float(y), float(x)): tuple(fill)
        for dots in axes.collections if isinstance(dots, PathCollection)
        for (x, y), fill in zip(dots.get_offsets(), itertools.cycle(dots.get_facecolors()))
    }  # fmt: skip


def check_figure(figure):
    """Every text is whole, apart from others and large enough; no mark leaves its panel; the figure fits a page.

    Returns
    -------
    list of Text
        The visible ones.
    """
    boxes, page = shown_texts(figure), figure.bbox
    assert boxes
    for text, box in boxes:
        inside = box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        assert inside, (text.get_text(), box, page)
        assert text.get_fontsize() >= 7, (text.get_text(), text.get_fontsize())
    assert overlapping(boxes) == []
    check_marks(figure)
    width, height = figure.get_size_inches()
    assert width in (PAGE, COLUMN)
    assert height <= HIGHEST, height
    return [text for text, _ in boxes]


def rename_models(frame, names):
    """A frame in which models have other names, also where a column labels rows by model and condition."""

    def rename(value):
        model, mark, rest = str(value).partition(SEPARATOR)
        bare = model.removesuffix(SILENT)
        return names[bare] + model[len(bare) :] + mark + rest if bare in names else value

    columns = [name for name in ("model", "a_model", "b_model", "label", "after", "before", "series") if name in frame]
    return frame.assign(**{name: frame[name].astype(object).map(rename) for name in columns})


def check_names(texts_of_figure, names):
    """Every name that is drawn is whole, in one line or several."""
    text = "".join("".join(text.get_text().split()) for text in texts_of_figure)
    assert text.count(NAMES[0][:12]) == sum(map(text.count, names)), text


def overlapping(boxes):
    """The pairs of texts whose boxes overlap in both directions by more than they may touch."""
    low, high = (np.array([getattr(box, corner) for _, box in boxes]) for corner in ("min", "max"))
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    pairs = np.argwhere(np.triu((shared >= _TOUCH).all(axis=2), k=1))
    return [(boxes[one][0].get_text(), boxes[other][0].get_text()) for one, other in pairs]


def check_marks(figure):
    """No mark is drawn, or would have to be cut, outside its panel."""
    for axes in figure.axes:
        panel = axes.bbox
        for artist in [*axes.lines, *axes.collections]:
            assert artist.get_clip_on() or _inside(
                axes.transData.transform(artist.get_datalim(axes.transData).get_points()), panel
            ), artist
        for line in axes.lines:
            if line.get_marker() not in ("None", "", None):
                points = line.get_transform().transform(line.get_xydata())
                assert _inside(points, panel), (line, points)
        for dots in axes.collections:
            if isinstance(dots, PathCollection):
                assert _inside(dots.get_offset_transform().transform(dots.get_offsets()), panel), dots


def _inside(points, panel):
    known = points[~np.isnan(np.ma.filled(points, np.nan)).any(axis=1)]
    low, high = (panel.x0 - 1, panel.y0 - 1), (panel.x1 + 1, panel.y1 + 1)
    return bool(((known >= low) & (known <= high)).all())


def check_drawing(draw):
    """A figure as SVG is small, and the same when it is drawn again; `stability/test_plots.py` has the PDF."""
    drawing = plotting.render_svg(draw(), "a")
    assert plotting.render_svg(draw(), "a") == drawing
    assert len(drawing) < 1_000_000


def check_caption(caption):
    """A caption is a text of some sentences with numbers in it."""
    assert re.search(r"\d", caption)
    assert caption.endswith(".")
    assert "nan" not in caption
    assert 80 < len(caption) < 1000
