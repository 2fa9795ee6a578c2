"""Give every figure one style (palette, font, sizes) and write the same file each time; `panels` lays figures out.

Figures are made without pyplot, which keeps a global list of them; ours are freed like any other object. A layout in
inches, from the widths of the texts, replaces matplotlib's constrained layout, which draws a figure several times.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from ground.writing import write_atomically

# Widths in inches: the text block of an A4 or letter page, and a column of a two-column `article`, 229.5 pt, which is
# also what a phone shows.
PAGE, COLUMN = 7.0, 3.17
# Every figure is written in both: NAME for the page, NAME-column for one column.
WIDTHS = {"": PAGE, "-column": COLUMN}
# A figure and its caption fit on a page.
HIGHEST = 9.0
# Points of every text but a title, which is no smaller: the least that journals take.
SIZE = 7.0
FONT = "DejaVu Sans"  # matplotlib's own, so that a figure is the same everywhere
# Fonts of a browser. The widths of DejaVu Sans decide the layout; Verdana has nearly the same, the others are narrower.
FONTS = "'DejaVu Sans', Verdana, Geneva, 'Segoe UI', Arial, sans-serif"
# Okabe and Ito's palette without its yellow, which vanishes on white.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")
INK, FAINT, RULE = "#1f2328", "#6e7781", "#d5d9de"
DIVERGING, SEQUENTIAL = "PuOr", "viridis"  # orange is low or negative, purple high or positive, white the middle
STYLE: Any = {
    "font.family": FONT,
    "font.size": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.color": INK,
    # A dollar sign in somebody's item is a dollar sign.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "waver",
    # TrueType, embedded: conferences refuse PDFs with fonts of type 3, matplotlib's default.
    "pdf.fonttype": 42,
    "figure.dpi": 200,
    "hatch.linewidth": 0.6,
}

P = ParamSpec("P")
R = TypeVar("R")


class Drawing(Figure):
    """A figure that shows itself in a notebook without pyplot."""

    def _repr_svg_(self) -> str:
        """Return the drawing as SVG, by which notebooks show it."""
        return render_svg(self)


@dataclass(frozen=True, slots=True)
class Look:
    """Hold the colour and marker of one model, the same everywhere in a report."""

    colour: str
    marker: str


def assign_colours_and_markers(models: Iterable[str]) -> dict[str, Look]:
    """Give every model a look, in the order of the names; beyond seven models, colours return with a new marker."""
    names = sorted(set(models))
    size = len(OKABE_ITO)
    return {name: Look(OKABE_ITO[i % size], MARKERS[i // size % len(MARKERS)]) for i, name in enumerate(names)}


def apply_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function in the style of the report, and leave the user's matplotlib settings as they are."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapper


@apply_style
def write_figure(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Write a figure as SVG and PDF, each whole or not at all; the same figure gives the same bytes.

    The canvases are called directly: `savefig` would draw the figure once more for a crop that is not asked for.

    Parameters
    ----------
    figure
        The figure.
    path
        Where, without the ending.

    Returns
    -------
    tuple of Path
        The SVG and the PDF.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    vector, document = path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.pdf")
    text, pdf_metadata = render_svg(figure), {"CreationDate": None, "Creator": "Waver", "Producer": None}
    write_atomically(vector, lambda aside: aside.write_text(text, encoding="utf-8"))
    figure.dpi = STYLE["figure.dpi"]
    write_atomically(document, lambda aside: FigureCanvasPdf(figure).print_pdf(aside, metadata=pdf_metadata))
    return vector, document


@apply_style
def render_svg(figure: Figure) -> str:
    """Return the figure as one `<svg>` element that names no outside address except the SVG namespace.

    Text stays text, so that it can be searched and read aloud; its fonts are named once.
    """
    buffer = io.StringIO()
    figure.dpi = STYLE["figure.dpi"]  # writing a file leaves 72, too few for the pictures in the next one
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace("<svg ", f'<svg font-family="{FONTS}" ', 1)
    return text.replace(f"; font-family: '{FONT}'", "")


def _find_font_file(bold: bool = False) -> str:
    """Return the file of the font."""
    return findfont(FontProperties(family=[FONT], weight="bold" if bold else "normal"))


@functools.cache
def _read_font_code_points() -> frozenset[int]:
    """Return the code points that the font of the figures has."""
    return frozenset(get_font(_find_font_file()).get_charmap())


def is_drawable(text: str) -> bool:
    """Return whether the font of the figures has every character (it has no Chinese or Japanese, for instance)."""
    return all(ord(character) in _read_font_code_points() for character in text)


def replace_missing_glyphs(text: str) -> str:
    """Replace characters that the font of the figures does not have by "?", so that no box or warning appears."""
    return "".join(character if ord(character) in _read_font_code_points() else "?" for character in text)


@functools.cache
def _measure_character_width(character: str, bold: bool) -> float:
    """Return the width of a character, as a part of the font's size."""
    font = get_font(_find_font_file(bold))
    return float(font.load_char(ord(character), LoadFlags.NO_SCALE).horiAdvance) / font.units_per_EM


def measure_text(text: str, size: float = SIZE, bold: bool = False) -> float:
    """Compute how wide a text of one line is.

    Parameters
    ----------
    text
        The text.
    size
        Size of its letters, in points.
    bold
        Whether they are bold.

    Returns
    -------
    Inches.
    """
    return sum(_measure_character_width(character, bold) for character in replace_missing_glyphs(text)) * size / 72


def measure_widest(texts: Iterable[str], size: float = SIZE) -> float:
    """Compute how wide the widest of some texts is.

    Parameters
    ----------
    texts
        The texts.
    size
        Size of their letters, in points.

    Returns
    -------
    Inches; 0 where there is no text.
    """
    return max((measure_text(text, size) for text in texts), default=0.0)
