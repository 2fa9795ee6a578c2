"""Prepare the cells of an executed notebook for a page: frames as small tables, folded sections, and warnings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from analysis.reporting.output.html import render_template
from analysis.reporting.words import format_four_digits

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from nbformat import NotebookNode

FOLDED = "folded"  # tag of a heading whose section a page shows folded
_MARKS = [level * "#" for level in range(1, 7)]  # of headings in Markdown
# At the start of an output, comments aside: a whole figure is not parsed for that.
_HEADING_AT_START = re.compile(r"\s*(?:<!--.*?-->\s*)*<h([1-6])\b", re.DOTALL)
_DECIMALS = re.compile(r"-?\d+\.\d{4,}(e[+-]?\d+)?")
_NUMBERS = re.compile(r"[\s\d.,eE+\-\[\]]*\d[\s\d.,eE+\-\[\]]*|NaN|-?inf|<NA>|")


def read_level_and_text_of_heading(cell: NotebookNode) -> tuple[int, str]:
    """Return level and text of a cell that is one heading; 0 and nothing for any other."""
    marks, _, text = cell.source.strip().partition(" ")
    if cell.cell_type != "markdown" or "\n" in text or marks not in _MARKS:
        return 0, ""
    return len(marks), text.strip()


def read_heading_level_of_cell_or_its_output(cell: NotebookNode) -> int:
    """Return the level of the heading that a cell is, or that its output begins with, as the section of a table does.

    It is from 1 to 6; 0 where the cell begins with none.
    """
    first_html = next((data["text/html"] for data in list_mime_bundles_with_html_of_cell(cell)), "")
    heading = _HEADING_AT_START.match(first_html)
    return read_level_and_text_of_heading(cell)[0] or (int(heading[1]) if heading else 0)


def build_heading_anchor(heading: str) -> str:
    """Return the id of a heading on its page."""
    return re.sub(r"\W+", "-", heading.lower()).strip("-")


def rephrase_notebook_headings(node: NotebookNode, phrase: Callable[[str], str]) -> None:
    """Change the headings of a notebook.

    Parameters
    ----------
    node
        The notebook; its cells are changed.
    phrase
        From a heading to the one that takes its place.
    """
    for cell in node.cells:
        level, text = read_level_and_text_of_heading(cell)
        if level:
            cell.source = f"{_MARKS[level - 1]} {phrase(text)}"


def parse_html(html: str) -> BeautifulSoup:
    """Parse the HTML of a page or of a part of it."""
    from bs4 import BeautifulSoup

    return BeautifulSoup(html, "html.parser")


def render_frames_and_repeat_differences(node: NotebookNode) -> None:
    """Change what the cells of an executed notebook show.

    A DataFrame becomes a table with few digits in a box of its own. What a check calls a difference is told below the
    answer, too: a reader of the first screen must not miss it.
    """
    heading = ""
    sentences: dict[str, list[str]] = {}
    for cell in node.cells:
        heading = read_level_and_text_of_heading(cell)[1] or heading
        for data in list_mime_bundles_with_html_of_cell(cell):
            if 'class="dataframe"' in data["text/html"]:
                data["text/html"] = _render_data_frame_as_page_table(data["text/html"], cell.source)
            if 'class="difference"' in data["text/html"]:
                paragraphs = parse_html(data["text/html"]).find_all("p", class_="difference")
                sentences.setdefault(heading, []).extend(paragraph.get_text() for paragraph in paragraphs)
    answers = [
        data
        for cell in node.cells
        if "answer" in cell.metadata.get("tags", [])
        for data in list_mime_bundles_with_html_of_cell(cell)
    ]
    for data in answers[-1:]:
        data["text/html"] += "".join(
            render_template("difference", heading=heading, place=build_heading_anchor(heading), sentences=of_heading)
            for heading, of_heading in sentences.items()
        )


def list_mime_bundles_with_html_of_cell(cell: NotebookNode) -> list[dict[str, Any]]:
    """Return the data of a cell's outputs that are HTML."""
    return [output["data"] for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]


def _render_data_frame_as_page_table(html: str, source: str) -> str:
    """Render the HTML that pandas makes of a DataFrame as a table of the page; `source` says which frame it is."""
    soup = parse_html(html)
    note = soup.find("p")
    lines = [
        [_parse_and_round_html_table_cell(cell) for cell in row.find_all(["th", "td"])] for row in soup.find_all("tr")
    ]
    n_header = sum(len(head.find_all("tr")) for head in soup.find_all("thead"))
    # The numbers of rows say nothing to a reader; pandas marks them by an empty cell above them.
    first = 1 if all(not line[0]["text"] for line in lines[:n_header]) else 0
    lines = [line[first:] for line in lines]
    return render_template(
        "frame", label=source.strip().splitlines()[-1], header=lines[:n_header], rows=lines[n_header:],
        note=note.get_text() if note else "",
    )  # fmt: skip


def _parse_and_round_html_table_cell(cell: Tag) -> dict[str, Any]:
    """Read a cell of a table: its text, of numbers with few digits, and whether it is a number."""
    text = cell.get_text()
    is_number = _NUMBERS.fullmatch(text) is not None
    short = _DECIMALS.sub(lambda match: format_four_digits(float(match[0])), text) if is_number else text
    return {"text": short, "is_number": is_number}


def iterate_cells_folded_below_tagged_headings(cells: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield the cells with those below a heading that is tagged as folded in a box that opens on demand.

    The box is open where a check found a difference.
    """
    folded_level = 0
    for place, cell in enumerate(cells):
        level, _ = read_level_and_text_of_heading(cell)
        if folded_level and 0 < level <= folded_level:
            yield _make_markdown_cell(cell, "end", "</details>")  # of the section before, which this heading ends
            folded_level = 0
        yield cell
        if level and FOLDED in cell.metadata.get("tags", []):
            folded_level = level
            is_open = _has_check_found_difference(level, cells[place + 1 :])
            yield _make_markdown_cell(cell, "fold", render_template("fold", is_open=is_open))
    if folded_level:
        yield _make_markdown_cell(cells[-1], "end", "</details>")


def _has_check_found_difference(level: int, later_cells: Sequence[NotebookNode]) -> bool:
    """Tell whether a check found a difference before the next heading of a level or above."""
    for cell in later_cells:
        if 0 < read_level_and_text_of_heading(cell)[0] <= level:
            return False
        if any('class="difference"' in data["text/html"] for data in list_mime_bundles_with_html_of_cell(cell)):
            return True
    return False


def _make_markdown_cell(like: NotebookNode, what: str, html: str) -> NotebookNode:
    """Make a Markdown cell that holds HTML; its id is that of another cell, and what it does there."""
    return type(like)(cell_type="markdown", id=f"{like.id}-{what}", metadata=type(like)(), source=html)
