"""Lay executed notebooks out as pages: contents, anchors, links between the pages; or all of them as one file.

A notebook's cells come as HTML from templates that escape what items and models say. Here they get what stands around
them. Headings of which the cells show nothing are left out, and the parts that the runs have no data for are named.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.reporting.output.cells import (
    build_heading_anchor,
    iterate_cells_folded_below_tagged_headings,
    parse_html,
    read_heading_level_of_cell_or_its_output,
    read_level_and_text_of_heading,
)
from analysis.reporting.output.html import TEMPLATES, render_template
from analysis.reporting.words import glossary

if TYPE_CHECKING:
    from bs4.formatter import HTMLFormatter
    from nbformat import NotebookNode

_SVG = re.compile(r"<svg\b.*?</svg>", re.S)
_ASIDE = re.compile(r'<svg class="\w+" data-aside="(\d+)"></svg>')
_LINKS_TO_FILES = re.compile(r' <span class="saved">.*?</span>', re.S)
ON_CARD = ("answer", "figure")  # cells with these tags stand first on a page, and are shown on the index, too


@dataclass(frozen=True, slots=True)
class Chapter:
    """One page without what stands around it.

    Attributes
    ----------
    name, question
        The notebook's name, and the heading of its first cell.
    card_html, body_html
        The HTML of its cells: the question with what is on the card, and all others.
    headings
        Place and text of every heading that the contents list.
    """

    name: str
    question: str
    card_html: str
    body_html: str = ""
    headings: tuple[tuple[str, str], ...] = ()


def build_chapter_from_notebook(name: str, question: str, node: NotebookNode, command: str) -> Chapter:
    """Turn an executed notebook into the inner part of a page.

    Parameters
    ----------
    name
        Name of the page.
    question
        What the page asks.
    node
        The executed notebook.
    command
        The command that makes the page again, shown at its foot.

    Returns
    -------
    The page without what stands around it.
    """
    from nbconvert.exporters import TemplateExporter

    exporter = TemplateExporter(
        template_name="page", template_file="index.html.j2", extra_template_basedirs=[str(TEMPLATES)]
    )
    cells, missing = _prepare_shown_cells_and_list_missing(node)
    on_card = [place for place, cell in enumerate(cells) if {*ON_CARD} & {*cell.metadata.get("tags", [])}]
    place = max(on_card, default=0) + 1
    card_html, body_html = (
        exporter.from_notebook_node(type(node)({**node, "cells": part}))[0] for part in (cells[:place], cells[place:])
    )
    left_out = render_template("missing", missing=missing) if missing else ""
    foot = (
        render_template("again", command=command)
        + left_out
        + render_template("glossary", terms=glossary.find_terms_in_page(card_html + body_html))
    )
    headings = tuple(_iterate_anchor_and_text_of_h2_headings(card_html + body_html))
    return Chapter(name, question, card_html, body_html + foot, headings)


def render_page(chapter: Chapter, title: str, chapters: Sequence[Chapter] = ()) -> str:
    """Lay out a page of its own, with links to the other pages beside it.

    Parameters
    ----------
    chapter
        The page.
    title
        Title of the report, or what stands above a page that belongs to none.
    chapters
        All pages of the report; empty where the page belongs to none.

    Returns
    -------
    The HTML.
    """
    other_pages = [(f"{other.name}.html", other.question) for other in chapters if other.name != chapter.name]
    template = "chapter" if chapters else "lone"
    return render_template(
        template, chapter=chapter, title=title, others=other_pages, **_read_page_styles_and_scripts()
    )


def render_index(**index_values: Any) -> str:
    """Return the page that leads to the pages beside it."""
    return render_template(
        "index", address=lambda name: f"{name}.html", **index_values, **_read_page_styles_and_scripts()
    )


def render_single_file(chapters: Sequence[Chapter], tables: Mapping[str, Path], **index_values: Any) -> str:
    """Return everything as one file: links between pages become anchors, and tables become links that hold them.

    Parameters
    ----------
    chapters
        The pages.
    tables
        Name -> CSV file.
    **index_values
        What the index shows: title, about, results, foot (how to cite it), command (which makes it again).

    Returns
    -------
    The HTML.
    """
    data = [(name, _encode_file_as_zip_uri(path)) for name, path in tables.items()]
    bodies = [(chapter.name, _render_chapter_for_single_file(chapter)) for chapter in chapters]
    listed = [(chapter.name, chapter.question) for chapter in chapters]
    text = render_template("single", address=lambda name: f"#{name}", chapters=listed, bodies=bodies, tables=data,
                           **index_values,
                  **_read_page_styles_and_scripts())  # fmt: skip
    text = _LINKS_TO_FILES.sub("", text)  # of figures: the file is mailed alone
    for chapter in chapters:
        text = text.replace(f'href="{chapter.name}.html#', f'href="#{chapter.name}--')  # in the table of answers
    return text


def _encode_file_as_zip_uri(path: Path) -> str:
    """Return a file as the address of a ZIP file that holds it: a third of its size as text, so that it can be mailed.

    Windows, macOS, pandas and R open it. The same table makes the same bytes: the time in the ZIP file is always 1980.
    """
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as packed:
        packed.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return f"data:application/zip;base64,{_encode_base64(memory.getvalue())}"


def _render_chapter_for_single_file(chapter: Chapter) -> str:
    """Return the HTML of a page with ids that no other page has, and links to the tables.

    A phone gets its own drawing of the page's first figure; of the others there is one drawing, so that the file is
    small enough for a mail.
    """
    pictures: list[str] = []
    soup = parse_html(
        _SVG.sub(
            lambda match: _set_picture_aside_and_return_placeholder(match[0], pictures),
            chapter.card_html + chapter.body_html,
        )
    )
    for figure in soup.find_all("figure")[1:]:
        figure["tabindex"] = "0"
        for narrow in figure.find_all("svg", class_="narrow"):
            narrow.decompose()
    for links in soup.find_all(class_="saved"):  # the one file is mailed alone
        links.decompose()
    for key in ("id", "for"):
        for tag in soup.select(f"[{key}]"):
            tag[key] = f"{chapter.name}--{tag[key]}"
    for link in soup.find_all("a", href=True):
        address = str(link["href"])
        if address.startswith("#"):
            link["href"] = f"#{chapter.name}--{address[1:]}"
        elif Path(address).parent == Path("tables"):
            link["href"] = f"#file-{Path(address).stem}"
    html = soup.decode(formatter=_build_beautifulsoup_formatter())
    return _ASIDE.sub(lambda match: _prefix_svg_ids(pictures[int(match[1])], f"{chapter.name}--"), html)


def _set_picture_aside_and_return_placeholder(svg: str, pictures: list[str]) -> str:
    """Keep a picture, and return what stands for it while the page is parsed: parsed, it would be slow and longer."""
    pictures.append(svg)
    is_narrow = svg.startswith('<svg class="narrow"')
    return f'<svg class="{"narrow" if is_narrow else "wide"}" data-aside="{len(pictures) - 1}"></svg>'


def _prefix_svg_ids(svg: str, prefix: str) -> str:
    """Begin the ids of a picture, and what refers to them, with a prefix."""
    return re.sub(r'( id="|url\(#|href="#)', lambda match: match[1] + prefix, svg)


@functools.cache
def _build_beautifulsoup_formatter() -> HTMLFormatter:
    """Return what writes HTML as templates do: `<` in an attribute, as in the address of a picture, stands as it is."""
    from bs4.formatter import HTMLFormatter

    class Formatter(HTMLFormatter):
        def attribute_value(self, value: str) -> str:
            return value.replace("&", "&amp;")

    return Formatter(HTMLFormatter.REGISTRY["minimal"].entity_substitution, void_element_close_prefix="")


def _read_page_styles_and_scripts() -> dict[str, str]:
    """Return the style sheet and the script of every page, and the script's hash, which the page's policy allows."""
    script = (TEMPLATES / "tables.js").read_text(encoding="utf-8")
    digest = _encode_base64(hashlib.sha256(script.encode()).digest())
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return {"style": style, "script": script, "script_hash": f"sha256-{digest}"}


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _iterate_anchor_and_text_of_h2_headings(html: str) -> Iterator[tuple[str, str]]:
    """Yield place and text of all headings of the second level that can be linked to."""
    from bs4 import BeautifulSoup, SoupStrainer

    for heading in BeautifulSoup(html, "html.parser", parse_only=SoupStrainer("h2", id=True)).find_all("h2"):
        for link in heading.find_all("a", class_="anchor"):
            link.decompose()
        yield str(heading["id"]), heading.get_text().strip()


def _prepare_shown_cells_and_list_missing(node: NotebookNode) -> tuple[list[NotebookNode], list[str]]:
    """Leave out cells that show nothing, and headings without anything below them; return what is missing, too."""
    shown_cells, missing = [], []
    for cell in node.cells:
        notes = _find_notes_if_cell_shows_nothing(cell)
        missing += notes or []
        if notes is None:
            shown_cells.append(cell)
    places: Counter[str] = Counter()
    cells = [cell for place, cell in enumerate(shown_cells) if not _is_bare_heading(cell, shown_cells[place + 1 :])]
    return [_add_heading_anchor(cell, places) for cell in iterate_cells_folded_below_tagged_headings(cells)], missing


def _find_notes_if_cell_shows_nothing(cell: NotebookNode) -> list[str] | None:
    """Return what a cell without anything to show says instead; None for a cell that shows something, or only code."""
    html_outputs = [output.get("data", {}).get("text/html") for output in cell.get("outputs", [])]
    texts = [text for text in html_outputs if text is not None]
    if not texts or len(texts) < len(html_outputs):
        return None
    from bs4 import Comment

    soup = parse_html("".join(texts))
    notes = [note.extract() for note in soup.find_all("p", class_="nothing")]
    something = soup.find(True) or soup.find(string=lambda text: not isinstance(text, Comment) and text.strip())
    return None if something else [note.decode_contents() for note in notes if note.contents]


def _is_bare_heading(cell: NotebookNode, later_cells: Sequence[NotebookNode]) -> bool:
    """Tell whether a cell is a heading and nothing is shown between it and the next one of its level or above."""
    level, _ = read_level_and_text_of_heading(cell)
    if level < 2:
        return False
    for later_cell in later_cells:
        # A cell that shows a table under a heading of its own shows nothing for the heading before it.
        if 0 < read_heading_level_of_cell_or_its_output(later_cell) <= level:
            return True
        if not read_level_and_text_of_heading(later_cell)[0] and (
            later_cell.cell_type == "markdown" or later_cell.outputs
        ):
            return False
    return True


def _add_heading_anchor(cell: NotebookNode, anchor_counts: Counter[str]) -> NotebookNode:
    """Give a heading a link to itself, and an id that none before has; the page's title needs none."""
    level, text = read_level_and_text_of_heading(cell)
    if not level:
        return cell
    place = build_heading_anchor(text)
    anchor_counts[place] += 1
    place = place if anchor_counts[place] == 1 else f"{place}-{anchor_counts[place]}"
    render_heading = (
        f"<h1>{escape(text)}</h1>" if level == 1 else render_template("heading", level=level, place=place, text=text)
    )
    return type(cell)({**cell, "source": render_heading.strip()})
