"""Read what the first screen of a page says from its executed notebook: for its card, the table of pages, and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reporting.output.cells import list_mime_bundles_with_html_of_cell, parse_html
from analysis.reporting.output.layout import ON_CARD

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from nbformat import NotebookNode

# As the templates write them. Pictures are not parsed: that would be slow, and write them longer.
_FIGURE = re.compile(r"<figure\b.*?</figure>", re.S)
_CAPTION = re.compile(r"<figcaption\b.*?</figcaption>", re.S)


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """Hold what a page says first; a text is empty where the page does not say it.

    Attributes
    ----------
    asked, verdict, support
        What was asked of whom, the answer, and whether it stands on wordings of the same meaning (`words.Answer`).
    varied
        That the number of examples varied, and not the wording.
    warning
        That another package computes other numbers.
    cautions
        What weakens the answer, one by one.
    details
        The paragraphs that stand with the first figure: what the words of the verdict mean, and its numbers.
    picture_html
        The first picture, without its caption.
    """

    asked: str = ""
    verdict: str = ""
    support: str = ""
    varied: str = ""
    warning: str = ""
    cautions: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    picture_html: str = ""


def read_first_screen_of_notebook(node: NotebookNode) -> FirstScreen:
    """Read the first screen of a page.

    `node`: its executed notebook, with what `cells.render_frames_and_repeat_differences` adds. An answer that is not
    made of the template of answers is a verdict as a whole.
    """
    answer_html, figure_html = (
        "".join(
            data["text/html"]
            for cell in node.cells
            if tag in cell.metadata.get("tags", [])
            for data in list_mime_bundles_with_html_of_cell(cell)
        )
        for tag in ON_CARD
    )
    answer, beside_figures = parse_html(answer_html), parse_html(_FIGURE.sub("", figure_html))
    picture = _FIGURE.search(figure_html)
    return FirstScreen(
        asked=_read_text_of_selector(answer, "p.asked"),
        verdict=_read_text_of_selector(answer, "p.verdict > strong") or _collapse_white_space(answer.get_text(" ")),
        support=_read_text_of_selector(answer, "p.support"),
        varied=_read_text_of_selector(answer, "p.asked .varied"),
        warning=_read_text_of_selector(answer, ".differences > p > strong"),
        cautions=tuple(_list_cautions(node)),
        details=tuple(_collapse_white_space(paragraph.get_text()) for paragraph in beside_figures.select("p.said")),
        picture_html=_CAPTION.sub("", picture[0]) if picture else "",
    )


def _list_cautions(node: NotebookNode) -> Iterator[str]:
    """List the cautions that a page shows below its answer."""
    for cell in node.cells:
        for data in list_mime_bundles_with_html_of_cell(cell):
            if '<section class="cautions">' in data["text/html"]:
                lines = parse_html(data["text/html"]).select(".cautions li")
                yield from (_collapse_white_space(line.get_text()) for line in lines)


def _read_text_of_selector(soup: BeautifulSoup, selector: str) -> str:
    """Read the text of the first part that a selector matches; empty without one."""
    part = soup.select_one(selector)
    return _collapse_white_space(part.get_text()) if part else ""


def _collapse_white_space(text: str) -> str:
    """Write a text with single blanks."""
    return " ".join(text.split())
