"""Turn what matplotlib writes into the SVG of a page and a paper: small, with values on hover and classes of models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TARGETS = 1500  # marks of a picture that tell their values: of more, a mouse finds none, and the page grows
RADIUS = 4  # points around a mark where its value is told
_GROUP = re.compile(r'^( *)<g id="models-([\d_-]+)">\n(.*?)^\1</g>', re.M | re.S)
_ID = re.compile(r' id="([^"]+)"')
_PLACE = re.compile(r' (d|x|y|transform)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Target:
    """Hold a mark that tells its value: where it is in its panel, what it tells, and the class of its model.

    `size`: width and height of a cell, or of a bar, in the numbers of the panel's axes; None for a dot.
    """

    axes: Axes
    x: float
    y: float
    text: str
    model_class: str = ""
    size: tuple[float, float] | None = None


def encode_model_classes_as_svg_id(classes: Iterable[str | None]) -> str:
    """Return the id by which a collection of marks says the model of each; empty where one has none.

    A mark between two models has the classes of both: "model-1 model-2".

    >>> [encode_model_classes_as_svg_id(classes) for classes in (["model-1", "model-1 model-2"], ["model-1", None])]
    ['models-1-1_2', '']
    """
    numbers = [str(name or "").replace("model-", "").replace(" ", "_") for name in classes]
    return f"models-{'-'.join(numbers)}" if all(numbers) else ""


def convert_svg_for_pages(
    text: str, figure: Figure, name: str, targets: Iterable[Target], attributes: Mapping[str, str]
) -> str:
    """Return the `<svg>` element of a figure as pages hold it.

    Coordinates get two decimals of a point. Ids that nothing refers to go; the others begin with the figure's name,
    because a page holds many figures. The style that matplotlib writes for the whole document stands on the element.

    Parameters
    ----------
    text
        What matplotlib wrote.
    figure
        The figure, at 72 dots per inch.
    name
        Name of the figure, of no other on a page; empty keeps matplotlib's ids.
    targets
        Marks that tell their values.
    attributes
        Further attributes of the element.

    Returns
    -------
    The element.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r" *<defs>\s*<style.*?</style>\s*</defs>\n", "", text, count=1, flags=re.S)
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
    text = _GROUP.sub(_build_svg_group_with_class_per_mark, text)
    text = re.sub(r' id="(model-\d+(?:_model-\d+)?)"', lambda match: f' class="{match[1].replace("_", " ")}"', text)
    text = _PLACE.sub(lambda match: f' {match[1]}="{_round_numbers_in_svg(match[2])}"', text)
    text = _rename_or_remove_ids_in_svg(text, name)
    end = text.rindex("</svg>")
    head = "".join(f' {key}="{value}"' for key, value in attributes.items())
    style = ' style="stroke-linejoin:round;stroke-linecap:butt"'
    return f"<svg{head}{style}{text[4:end]}{_render_hover_shapes(figure, targets)}{text[end:]}"


def _build_svg_group_with_class_per_mark(match: re.Match[str]) -> str:
    """Give the marks of a collection the classes of their models; none where matplotlib left a mark out."""
    indent, numbers, inside = match[1], match[2].split("-"), match[3]
    starts = list(re.finditer(rf"^{indent} <(?:path|use|g)\b", inside, re.M))
    if len(starts) != len(numbers):
        return f"{indent}<g>\n{inside}{indent}</g>"
    parts, last = [], 0
    for start, number in zip(starts, numbers, strict=True):
        names = " ".join(f"model-{part}" for part in number.split("_"))
        parts += [inside[last : start.end()], f' class="{names}"']
        last = start.end()
    return f"{indent}<g>\n{''.join(parts)}{inside[last:]}{indent}</g>"


def _round_numbers_in_svg(text: str) -> str:
    """Round numbers of three and more decimals to two; small ones are factors, and stay."""
    return re.sub(r"-?\d*[1-9]\d*\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), text)


def _rename_or_remove_ids_in_svg(text: str, name: str) -> str:
    """Remove ids that nothing refers to, and name the others after the figure."""
    used = dict.fromkeys(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    names = {old: f"{name}-{number}" if name else old for number, old in enumerate(used)}
    text = _ID.sub(lambda match: f' id="{names[match[1]]}"' if match[1] in names else "", text)
    return re.sub(r'(url\(#|href="#)([^)"]+)', lambda match: match[1] + names[match[2]], text)


def _render_hover_shapes(figure: Figure, targets: Iterable[Target]) -> str:
    """Write invisible shapes over the marks, each with its value as title: browsers show it on hover."""
    drawn_targets = list(targets)
    if not 0 < len(drawn_targets) <= MOST_TARGETS:
        return ""
    tall = 72 * figure.get_size_inches()[1]
    titles_by_axes = {
        axes: [text.get_text() for text in axes.texts if text.get_label() == "title"] for axes in figure.axes
    }
    shapes = []
    for target in drawn_targets:
        change = target.axes.transData.transform
        across, down = target.size or (0.0, 0.0)
        (left, low), (right, high) = (
            change((target.x + side * across / 2, target.y + side * down / 2)) for side in (-1, 1)
        )
        place = (
            f'circle cx="{left:.1f}" cy="{tall - low:.1f}" r="{RADIUS}"' if target.size is None else
            f'rect x="{min(left, right):.1f}" y="{tall - max(low, high):.1f}" width="{abs(right - left):.1f}" '
            f'height="{abs(high - low):.1f}"'
        )  # fmt: skip
        model_class = f' class="{target.model_class}"' if target.model_class else ""
        shape = place.split(" ", 1)[0]
        title = _escape_svg_text(_insert_panel_titles_into_hover_text(target, titles_by_axes[target.axes]))
        shapes.append(f"<{place}{model_class}><title>{title}</title></{shape}>")
    return f'<g fill="none" stroke="none" pointer-events="all">{"".join(shapes)}</g>'


def _insert_panel_titles_into_hover_text(target: Target, titles: Sequence[str]) -> str:
    """Write what a mark tells, with the titles of its panel between its name and its value."""
    name, mark, value = target.text.rpartition(": ")
    return f"{name}, {' '.join(titles)}{mark}{value}" if titles and titles[0] not in name else target.text


def _escape_svg_text(text: str) -> str:
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    return escape(text, quote=False)


def format_value_with_interval(value: float, lower: float | None = None, upper: float | None = None) -> str:
    """Write a value with its interval as a mark tells it: two decimals, of large numbers none, of small ones more.

    >>> [format_value_with_interval(*ends) for ends in ((0.43, 0.31, 0.55), (-0.001,), (1234.5,), (3, 1, 5))]
    ['0.43 (0.31 to 0.55)', '−0.001', '1,234', '3 (1 to 5)']
    """
    numbers = [float(number) for number in (value, lower, upper) if number is not None and number == number]
    is_whole = all(number.is_integer() for number in numbers) and max(map(abs, numbers)) > 1
    texts = [_format_number(number, is_whole) for number in numbers]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if len(texts) == 3 else texts[0]


def _format_number(value: float, is_whole: bool) -> str:
    size = abs(value)
    form = ",.0f" if is_whole or size >= 1000 else ".2f" if size >= 0.01 or size == 0 else ".2g"
    return format(value, form).replace("-", "−").replace("inf", "∞")
