"""Give every figure one style (palette, fonts, labels that never overlap) and write the same file each time.

Figures are made without pyplot, which keeps a global list of them; ours are freed like any other object.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.image import AxesImage
from matplotlib.path import Path as Outline
from matplotlib.ticker import MaxNLocator

from analysis.runs.writing import write_atomically

# Widths in inches: the text block of an A4 or letter page, and one column (also what a phone shows).
PAGE, COLUMN = 7.0, 3.5
# Okabe and Ito's palette without its yellow, which vanishes on white.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")
INK, FAINT, RULE = "#1f2328", "#8b949e", "#d5d9de"
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.color": INK,
    # A dollar sign in somebody's item is a dollar sign.
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "waver",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}

P = ParamSpec("P")
R = TypeVar("R")


class Drawing(Figure):
    """A figure that shows itself in a notebook without pyplot."""

    def _repr_svg_(self) -> str:
        return svg(self)


@dataclass(frozen=True, slots=True)
class Look:
    """Hold the colour and marker of one model, the same everywhere in a report."""

    colour: str
    marker: str


def looks(models: Iterable[str]) -> dict[str, Look]:
    """Give every model a look, in the order of the names; beyond seven models, colours return with a new marker."""
    names = sorted(set(models))
    size = len(OKABE_ITO)
    return {name: Look(OKABE_ITO[i % size], MARKERS[i // size % len(MARKERS)]) for i, name in enumerate(names)}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function in the style of the report, and leave the user's matplotlib settings as they are.

    The layout is computed once, here. Otherwise every file that the figure is saved to would compute it twice again.
    """

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(STYLE):
            drawn = draw(*args, **kwargs)
            if isinstance(drawn, Drawing):
                drawn.draw_without_rendering()
                drawn.set_layout_engine("none")
            return drawn

    return wrapper


@styled
def save(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Write `path`.svg and `path`.pdf with their fonts, each whole or not at all; the same figure gives the same bytes.

    Returns
    -------
    tuple of Path
        The SVG and the PDF.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    vector, document = path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.pdf")
    text, made = svg(figure), {"CreationDate": None, "Creator": "Waver", "Producer": None}
    write_atomically(vector, lambda aside: aside.write_text(text, encoding="utf-8"))
    write_atomically(document, lambda aside: figure.savefig(aside, format="pdf", metadata=made))
    return vector, document


@styled
def svg(figure: Figure) -> str:
    """Return the figure as one `<svg>` element that names no outside address except the SVG namespace."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)


@functools.cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=[STYLE["font.family"]]))).get_charmap())


def drawable(text: str) -> bool:
    """Return whether the font of the figures has every character (it has no Chinese or Japanese, for instance)."""
    return all(ord(character) in _glyphs() for character in text)


def safe(text: str) -> str:
    """Replace characters that the font of the figures does not have by "?", so that no box or warning appears."""
    return "".join(character if ord(character) in _glyphs() else "?" for character in text)


def every(count: int, inches: float, points: float = 7.0) -> int:
    """Return the step n with which labelling every n-th of `count` positions fits `inches`; a label takes `points`."""
    room = max(1, int(inches * 72 / (points * 1.15)))
    return max(1, int(np.ceil(count / room)))


def whiskers(positions: np.ndarray, low: np.ndarray, high: np.ndarray) -> Outline:
    """Return vertical strokes as one path, so that an SVG with 62 boxes of 18 models stays small."""
    points = np.column_stack([positions, low, positions, high]).reshape(-1, 2)
    return Outline(points, np.tile([Outline.MOVETO, Outline.LINETO], len(positions)).astype(np.uint8))


def bars(positions: np.ndarray, low: np.ndarray, high: np.ndarray, width: float) -> Outline:
    """Return rectangles from `low` to `high` as one path."""
    left, right = positions - width / 2, positions + width / 2
    corners = np.column_stack([left, low, left, high, right, high, right, low, left, low]).reshape(-1, 2)
    codes = [Outline.MOVETO, Outline.LINETO, Outline.LINETO, Outline.LINETO, Outline.CLOSEPOLY]
    return Outline(corners, np.tile(codes, len(positions)).astype(np.uint8))


def ticks(positions: np.ndarray, height: np.ndarray, width: float) -> Outline:
    """Return horizontal strokes of one width as one path."""
    points = np.column_stack([positions - width / 2, height, positions + width / 2, height]).reshape(-1, 2)
    return Outline(points, np.tile([Outline.MOVETO, Outline.LINETO], len(positions)).astype(np.uint8))


def guide(axes: Axes, count: int) -> None:
    """Draw a faint horizontal line per row of a dot plot, the first row on top."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.hlines(range(count), 0, 1, colors=RULE, linewidth=0.5, zorder=0, transform=axes.get_yaxis_transform())
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def row_labels(axes: Axes, names: Sequence[str], shown: bool = True) -> None:
    """Write the names of the rows of a dot plot, or no names where they are not `shown`."""
    axes.set_yticks(range(len(names)), [safe(name) for name in names] if shown else [""] * len(names))


def colour_bar(figure: Figure, axes: Axes, image: AxesImage, name: str) -> None:
    """Draw a small colour bar above the axes, at their left edge."""
    ticks = MaxNLocator(nbins=3 if figure.get_figwidth() < PAGE else 5)
    bar = figure.colorbar(
        image, ax=axes, location="top", shrink=0.45, aspect=30, anchor=(0, 0), pad=0.02, ticks=ticks
    )  # fmt: skip
    bar.set_label(name, loc="left")
    bar.outline.set_visible(False)
