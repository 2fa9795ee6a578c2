"""Give every figure one style (palette, font, sizes) and write the same file each time; `panels` lays figures out.

Figures are made without pyplot, which keeps a global list of them; ours are freed like any other object. A layout in
inches, from the widths of the texts, replaces matplotlib's constrained layout, which draws a figure several times.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

import matplotlib
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from analysis.reporting.drawing.svg import Target, convert_svg_for_pages
from ground.writing import write_atomically

if TYPE_CHECKING:
    import pandas as pd

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
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h", "<", ">", "p", "*")
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
    """A figure that shows itself in a notebook without pyplot.

    `targets` are its marks that tell their values; `model_by_row` the classes of the models whose rows it has.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.targets: list[Target] = []
        self.model_by_row: dict[float, str] = {}

    def _repr_svg_(self) -> str:
        """Return the drawing as SVG, by which notebooks show it."""
        return render_svg(self)


@dataclass(frozen=True, slots=True)
class Look:
    """Hold the colour, the marker and the number of one model, the same on a whole page; 0 is no model."""

    colour: str
    marker: str
    number: int = 0

    @property
    def svg_class_of_model(self) -> str | None:
        """Return the class of the model's marks in an SVG and of its rows in a table: the id of matplotlib's artist."""
        return f"model-{self.number}" if self.number else None


Looks: TypeAlias = Mapping[str, Look]  # by model


def assign_look_to_each_model(models: Iterable[str], of_page: Iterable[str] = ()) -> dict[str, Look]:
    """Give every model a look, in the order of the names; beyond seven models, colours return with a new marker.

    A report of up to seven models has one look of each on all pages. In a larger one, the models of a page, `of_page`,
    come first, so that up to seven have a colour each there. The number is that of the report.
    """
    names, size = sorted(set(models)), len(OKABE_ITO)
    first = set(of_page) if len(names) > size else set()
    places = enumerate(sorted(names, key=lambda name: (name not in first, name)))
    shapes = {name: (OKABE_ITO[i % size], MARKERS[i // size % len(MARKERS)]) for i, name in places}
    return {name: Look(*shapes[name], number) for number, name in enumerate(names, start=1)}


def assign_one_look_to_all_models(looks: Looks) -> dict[str, Look]:
    """Give all models one colour and marker: for figures in which a row, a panel or a label names every model.

    A colour that says once more what stands beside it makes a reader look for what else it may mean. `looks`: from
    `assign_look_to_each_model`.
    """
    return {model: replace(look, colour=OKABE_ITO[0], marker=MARKERS[0]) for model, look in looks.items()}


def list_model_css_class_of_each_label(frame: pd.DataFrame, names: Iterable[str], looks: Looks | None) -> list[str]:
    """List the classes of the models that names in a figure are of, by which a page hides what is theirs.

    Parameters
    ----------
    frame
        label: the names; model: of which model each is.
    names
        The names, in the order wanted.
    looks
        As a page gives them; None outside of one.

    Returns
    -------
    list of str
        A class per name; none without looks.
    """
    model_by_name = dict(zip(frame["label"], frame["model"], strict=True))
    return [str(looks[model_by_name[name]].svg_class_of_model or "") for name in names] if looks else []


def assign_looks_of_distinct_colours(looks: Looks, models: Iterable[str]) -> dict[str, Look]:
    """Give the models of one figure, which a legend tells apart, a colour and marker each.

    A model has one colour on all figures of a page; no two of up to seven models share one. Of those that would share
    colour and marker here, as one model under several prompts, the first keeps its marker, and others take the next.

    Parameters
    ----------
    looks
        From `assign_look_to_each_model`.
    models
        Those of the figure, in the order of its legend.

    Returns
    -------
    dict
        Model -> its look.
    """
    look_by_model: dict[str, Look] = {}
    shapes: set[tuple[str, str]] = set()
    for model in models:
        look, start = looks[model], MARKERS.index(looks[model].marker)
        free_markers = (m for m in MARKERS[start:] + MARKERS[:start] if (look.colour, m) not in shapes)
        look_by_model[model] = replace(look, marker=next(free_markers, look.marker))
        shapes.add((look.colour, look_by_model[model].marker))
    return look_by_model


def run_in_report_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function in the style of the report, and leave the user's matplotlib settings as they are."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return wrapper


@run_in_report_style
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
    text, pdf_metadata = render_svg(figure, path.name), {"CreationDate": None, "Creator": "Waver", "Producer": None}
    write_atomically(vector, lambda aside: aside.write_text(text, encoding="utf-8"))
    figure.dpi = STYLE["figure.dpi"]
    write_atomically(document, lambda aside: FigureCanvasPdf(figure).print_pdf(aside, metadata=pdf_metadata))
    return vector, document


@run_in_report_style
def render_svg(figure: Figure, name: str = "") -> str:
    """Return the figure as one `<svg>` element that names no outside address except the SVG namespace.

    Text stays text, so that it can be searched and read aloud; its fonts are named once.

    Parameters
    ----------
    figure
        The figure.
    name
        Its name, which its ids begin with: another than those of the figures on the same page.

    Returns
    -------
    The element.
    """
    model_by_row = getattr(figure, "model_by_row", {})
    for text in (text for axes in figure.axes for text in axes.texts if text.get_label() == "row"):
        text.set_gid(model_by_row.get(getattr(text, "xy", (0, None))[1]))
    buffer = io.StringIO()
    figure.dpi = STYLE["figure.dpi"]  # writing a file leaves 72, too few for the pictures in the next one
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = convert_svg_for_pages(buffer.getvalue(), figure, name, getattr(figure, "targets", ()), {"font-family": FONTS})
    return svg.replace(f"; font-family: '{FONT}'", "")


def _read_font() -> Any:
    """Return the font of the figures."""
    return get_font(findfont(FontProperties(family=[FONT], weight="normal")))


@functools.cache
def _read_font_code_points() -> frozenset[int]:
    """Return the code points that the font of the figures has."""
    return frozenset(_read_font().get_charmap())


def can_font_draw_text(text: str) -> bool:
    """Return whether the font of the figures has every character (it has no Chinese or Japanese, for instance)."""
    return all(ord(character) in _read_font_code_points() for character in text)


def replace_missing_glyphs(text: str) -> str:
    """Replace characters that the font of the figures does not have by "?", so that no box or warning appears.

    Line breaks that `insert_line_breaks_into_name` set stay.
    """
    missing = {code for code in map(ord, set(text)) if code not in _read_font_code_points()} - {ord("\n")}
    return text.translate(dict.fromkeys(missing, "?")) if missing else text


@functools.cache
def _measure_character_width(character: str) -> float:
    """Return the width of a character, or of what replaces it, as a part of the font's size."""
    font = _read_font()
    code_point = ord(replace_missing_glyphs(character))
    return float(font.load_char(code_point, LoadFlags.NO_SCALE).horiAdvance) / font.units_per_EM


def measure_text_width(text: str, size: float = SIZE) -> float:
    """Compute how wide a text is, of several lines the widest.

    Parameters
    ----------
    text
        The text.
    size
        Size of its letters, in points.

    Returns
    -------
    Inches.
    """
    return max(sum(map(_measure_character_width, line)) for line in text.split("\n")) * size / 72


def measure_widest_text(texts: Iterable[str]) -> float:
    """Compute how wide the widest of some texts is, in inches; 0 where there is no text."""
    return max(map(measure_text_width, texts), default=0.0)


def insert_line_breaks_into_name(name: str, width: float) -> str:
    """Break a name into lines, behind a blank or a mark such as "/", "-" or "_"; nothing of it is left out.

    Parameters
    ----------
    name
        The name, such as "meta-llama/Llama-3.1-8B-Instruct".
    width
        Inches of a line; a part without such marks that is longer is broken inside.

    Returns
    -------
    The lines, joined by line breaks.

    >>> insert_line_breaks_into_name("meta-llama/Llama-3.1-8B-Instruct", 1.0).splitlines()
    ['meta-llama/Llama-', '3.1-8B-Instruct']
    """
    lines: list[str] = []
    for phrase in name.split(" · "):  # a model and its condition stay apart, where each fits into a line
        joined = f"{lines[-1]} · {phrase}" if lines else phrase
        if lines and measure_text_width(joined) <= width:
            lines[-1] = joined
        else:
            lines[-1:] = [f"{line} ·" for line in lines[-1:]]
            lines += _wrap_phrase_into_lines(phrase, width)
    return "\n".join(lines)


def _wrap_phrase_into_lines(phrase: str, width: float) -> list[str]:
    """Break a phrase into lines behind a blank or a mark, or inside a part that is longer than a line."""
    lines = [""]
    for part in re.findall(r"[^\s/_:-]*[\s/_:-]+|[^\s/_:-]+", phrase):
        if lines[-1] and measure_text_width((lines[-1] + part).rstrip()) > width:
            lines.append("")
        if measure_text_width((lines[-1] + part).rstrip()) <= width:
            lines[-1] += part
            continue
        for character in part:
            if lines[-1] and measure_text_width(lines[-1] + character) > width and not character.isspace():
                lines.append("")
            lines[-1] += character
    return [line.strip() for line in lines]


def count_lines_of_tallest_text(texts: Iterable[str]) -> int:
    """Count the lines of the text that has most of them, at least 1."""
    return max((text.count("\n") + 1 for text in texts), default=1)
