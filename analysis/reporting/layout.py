"""Lay executed notebooks out as pages: contents, anchors, links between the pages; or all of them as one file.

A notebook's cells come as HTML from templates that escape what items and models say. Here they get what stands around
them. Headings of which the cells show nothing are left out, and the parts that the runs have no data for are named.
"""

from __future__ import annotations

import base64
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

from markupsafe import Markup

from analysis.reporting import glossary
from analysis.reporting.html import TEMPLATES, render

if TYPE_CHECKING:
    from nbformat import NotebookNode

_HEADING = re.compile(r"^(#{1,6}) (.*)$", re.M)
_NOTHING = re.compile(r'<!--.*?-->|<p class="note nothing">(.*?)</p>', re.S)
_CONTENTS = re.compile(r'<h2 id="([^"]+)">(.*?)(?: <a class="anchor".*?)?</h2>', re.S)
_AFTER_THE_ANSWER = re.compile(r'<section class="cautions">|<h2 ')
_CODE = re.compile(r'<pre class="code".*?</pre>', re.S)
_PLACE = re.compile(r'(?<=\s)(id|for|href)="(#?)([^":/.]+)"')


@dataclass(frozen=True, slots=True)
class Chapter:
    """One page without what stands around it: its name, its question, and the HTML of its cells."""

    name: str
    question: str
    body: str


def chapter(name: str, question: str, node: NotebookNode, command: str) -> Chapter:
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
    shown, missing = _with_something_to_show(node)
    body, _ = exporter.from_notebook_node(shown)
    left_out = render("missing", missing=missing) if missing else ""
    foot = render("again", command=command) + left_out + render("glossary", terms=glossary.used(_CODE.sub("", body)))
    return Chapter(name, question, body + foot)


def page(made: Chapter, chapters: Sequence[Chapter], title: str) -> str:
    """Lay out a page of its own, with links to the other pages beside it.

    Parameters
    ----------
    made
        The page.
    chapters
        All pages.
    title
        Title of the report.

    Returns
    -------
    The HTML.
    """
    headings = [(place, Markup(text)) for place, text in _CONTENTS.findall(made.body)]
    others = [(f"{other.name}.html", other.question) for other in chapters if other.name != made.name]
    # A small screen shows the contents where they stand: below the question, the answer and its figure.
    place = found.start() if (found := _AFTER_THE_ANSWER.search(made.body)) else len(made.body)
    return render("chapter", chapter=made, title=title, headings=headings, others=others, first=made.body[:place],
                  rest=made.body[place:], **_frame())  # fmt: skip


def index(**shown: Any) -> str:
    """Return the page that leads to the pages beside it."""
    return render("index", address=lambda name: f"{name}.html", **shown, **_frame())


def single(chapters: Sequence[Chapter], tables: Mapping[str, Path], **shown: Any) -> str:
    """Return everything as one file: links between pages become anchors, and tables become links that hold them.

    Parameters
    ----------
    chapters
        The pages.
    tables
        Name -> CSV file.
    **shown
        What the index shows: title, results, foot (how to cite and make it again).

    Returns
    -------
    The HTML.
    """
    data = [(name, _zipped(path)) for name, path in tables.items()]
    bodies = [(each.name, _inside(each)) for each in chapters]
    listed = [(each.name, each.question) for each in chapters]
    text = render("single", address=lambda name: f"#{name}", chapters=listed, bodies=bodies, tables=data, **shown,
                  **_frame())  # fmt: skip
    for each in chapters:
        text = text.replace(f'href="{each.name}.html#', f'href="#{each.name}--')  # on the cards
    return text


def _zipped(path: Path) -> str:
    """Return a file as the address of a ZIP file that holds it: a third of its size as text, so that it can be mailed.

    Windows, macOS, pandas and R open it. The same table makes the same bytes: the time in the ZIP file is always 1980.
    """
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as packed:
        packed.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return f"data:application/zip;base64,{_base64(memory.getvalue())}"


def _inside(each: Chapter) -> str:
    """Return the HTML of a page with ids that no other page has, and links to the tables.

    A phone gets its own drawing of the page's first figure; of the others there is one drawing, so that the file is
    small enough for a mail.
    """
    head, first, rest = each.body.partition("</figure>")
    rest = re.sub(r'<source media="[^"]*" srcset="[^"]*">', "", rest).replace("<figure>", '<figure tabindex="0">')
    body = f"{head}{first}{rest}"
    body = re.sub(r'href="tables/([^".]+)\.csv"', r'href="#file-\1"', body)
    return _PLACE.sub(lambda found: _prefixed(found, each.name), body)


def _prefixed(found: re.Match[str], name: str) -> str:
    key, hash_sign, place = found.groups()
    own = (key != "href" or hash_sign) and not place.startswith("file-")
    return f'{key}="{hash_sign}{name}--{place}"' if own else found.group()


def _frame() -> dict[str, str]:
    """Return the style sheet and the script of every page, and the script's hash, which the page's policy allows."""
    script = (TEMPLATES / "tables.js").read_text(encoding="utf-8")
    digest = _base64(hashlib.sha256(script.encode()).digest())
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return {"style": style, "script": script, "script_hash": f"sha256-{digest}"}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _with_something_to_show(node: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Leave out cells that show nothing, and headings without anything below them; return what is missing, too."""
    kept, missing = [], []
    for cell in node.cells:
        said = _nothing(cell)
        missing += said or []
        if said is None:
            kept.append(cell)
    places: Counter[str] = Counter()
    cells = [_with_anchor(cell, places) for place, cell in enumerate(kept) if not _is_bare(cell, kept[place + 1 :])]
    return type(node)({**node, "cells": cells}), missing


def _nothing(cell: NotebookNode) -> list[str] | None:
    """Return what a cell without anything to show says instead; None for a cell that shows something, or only code."""
    shown = [output.get("data", {}).get("text/html") for output in cell.get("outputs", [])]
    texts = [text for text in shown if text is not None]
    if not texts or len(texts) < len(shown) or any(_NOTHING.sub("", text).strip() for text in texts):
        return None
    return [said for text in texts for said in _NOTHING.findall(text) if said]


def _level(cell: NotebookNode) -> int:
    """Return the level of a cell that is one heading; 0 for any other."""
    found = _HEADING.fullmatch(cell.source.strip()) if cell.cell_type == "markdown" else None
    return len(found.group(1)) if found else 0


def _is_bare(cell: NotebookNode, rest: Sequence[NotebookNode]) -> bool:
    """Tell whether a cell is a heading and nothing is shown between it and the next one of its level or above."""
    level = _level(cell)
    return level > 1 and not any(True for _ in _shown_below(level, rest))


def _shown_below(level: int, rest: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    for cell in rest:
        if 0 < _level(cell) <= level:
            return
        if not _level(cell) and (cell.cell_type == "markdown" or cell.outputs):
            yield cell


def _with_anchor(cell: NotebookNode, places: Counter[str]) -> NotebookNode:
    """Give the headings of a cell links to themselves, and ids that none before has; the page's title needs none."""
    if cell.cell_type != "markdown":
        return cell

    def heading(found: re.Match[str]) -> str:
        level, text = len(found.group(1)), escape(found.group(2).strip())
        place = re.sub(r"\W+", "-", found.group(2).lower()).strip("-")
        places[place] += 1
        place = place if places[place] == 1 else f"{place}-{places[place]}"
        return f"<h1>{text}</h1>" if level == 1 else render("heading", level=level, place=place, text=text).strip()

    return type(cell)({**cell, "source": _HEADING.sub(heading, cell.source)})
