"""What a page makes of the cells of a notebook: frames, folded sections, and differences that a check found."""

from __future__ import annotations

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from analysis.reporting.output import cells, layout
from analysis.reporting.output.html import render_template
from analysis.steps.checking import compare_tables

FOLDED = {"tags": ["folded"]}
TABLE = pd.DataFrame({"model": ["a", "b"], "flips": [0.25, 0.5]})


def shows(html: str, *tags: str, source: str = "x") -> object:
    """A cell that shows this."""
    outputs = [new_output("display_data", {"text/html": html})]
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def check(theirs: pd.DataFrame) -> object:
    """A cell that compares a table with the true one."""
    comparison = compare_tables(TABLE, theirs, ["model"])
    return shows(render_template("check", comparison=comparison, left_out=0))


def build_page(*later_cells: object) -> BeautifulSoup:
    """A page of a question, an answer, a figure and some cells."""
    node = new_notebook(cells=[
        new_markdown_cell("# Is it so?"), shows('<p class="verdict">Yes.</p>', "answer"),
        shows("<figure></figure>", "figure"), *later_cells,
    ])  # fmt: skip
    cells.render_frames_and_repeat_differences(node)
    chapter = layout.build_chapter_from_notebook("first", "Is it so?", node, "waver report run")
    return BeautifulSoup(f"<div id='card'>{chapter.card_html}</div>{chapter.body_html}", "html.parser")


@pytest.mark.slow
def test_a_number_that_another_package_computes_otherwise_is_told_on_the_first_screen():
    page = build_page(
        new_markdown_cell("## Check it <now>", metadata=FOLDED), check(TABLE.assign(flips=[0.25, 0.6])),
        check(TABLE.iloc[:1]),
    )  # fmt: skip
    (warning,) = page.select("#card .differences")
    assert "Another package computes other numbers." in warning.get_text()
    assert [line.get_text() for line in warning.find_all("li")] == [
        "Numbers differ by more than 1e-09: flips (1 of 2, by up to 0.1).",
        "1 row is in one table only.",
    ]
    assert warning.a.get_text() == "Check it <now>"
    assert page.find(id=warning.a["href"][1:]).name == "h2"
    assert page.find("details", class_="folded").has_attr("open")


@pytest.mark.slow
def test_numbers_that_agree_are_no_warning_and_stay_folded():
    page = build_page(new_markdown_cell("## Check it", metadata=FOLDED), check(TABLE))
    assert not page.select(".differences")
    box = page.find("details", class_="folded")
    assert not box.has_attr("open")
    assert "All 2 numbers agree" in box.get_text()


@pytest.mark.slow
def test_a_folded_section_holds_its_cells_and_smaller_headings_and_ends_before_the_next_one():
    page = build_page(
        new_markdown_cell("## Steps", metadata=FOLDED), new_markdown_cell("### Data"), shows("<p>rows</p>"),
        new_markdown_cell("## Tables"), shows("<p>table</p>"),
    )  # fmt: skip
    (box,) = page.find_all("details", class_="folded")
    assert "rows" in box.get_text() and box.h3.get_text().startswith("Data")
    assert box.find_previous_sibling("h2").get_text().startswith("Steps")
    assert box.find("h2") is None and "table" not in box.get_text()


def test_cells_around_folded_sections_have_ids_of_their_own():
    """Where a page has no tables, one folded section follows another, and nbconvert warned of the same id twice."""
    sections = [new_markdown_cell("## Steps", metadata=FOLDED), new_markdown_cell("## Check", metadata=FOLDED)]
    folded = list(cells.iterate_cells_folded_below_tagged_headings([*sections, shows("<p>numbers</p>")]))
    assert [cell.source for cell in folded].count("</details>") == 2
    assert len({cell.id for cell in folded}) == len(folded) == 7


def test_a_frame_is_a_table_with_few_digits_in_a_box_that_scrolls():
    frame = pd.DataFrame({
        "text": ["<b>bold</b>", "3.14159 is pi"], "share": [0.123456789, float("nan")],
        "ms": [12345.678901, 2.0], "n": [12345, 1], "probability": [[0.123456789, 0.5], None],
    })  # fmt: skip
    page = build_page(new_markdown_cell("## Rows"), shows(frame._repr_html_(), source="rows = f()\nrows.head(2)"))
    (box,) = page.select(".frame")
    assert (box["tabindex"], box["role"], box["aria-label"]) == ("0", "group", "rows.head(2)")
    assert [cell.get_text() for cell in box.select("thead th")] == ["text", "share", "ms", "n", "probability"]
    assert [[cell.get_text() for cell in row.find_all("td")] for row in box.select("tbody tr")] == [
        ["<b>bold</b>", "0.1235", "12346", "12345", "[0.1235, 0.5]"], ["3.14159 is pi", "NaN", "2", "1", "None"],
    ]  # fmt: skip
    assert box.find("b") is None and page.find("style") is None
    assert page.select("td.name")[0].get_text() == "<b>bold</b>"


def test_a_long_frame_says_how_many_rows_it_has_and_an_index_with_a_name_stays():
    page = build_page(new_markdown_cell("## Rows"), shows(pd.DataFrame({"n": range(100)})._repr_html_()))
    assert "100 rows × 1 columns" in page.find("p", class_="note").get_text()
    named = pd.DataFrame({"n": [1]}, pd.Index(["a"], name="model"))
    page = build_page(new_markdown_cell("## Rows"), shows(named._repr_html_()))
    assert page.select_one(".frame tbody td").get_text() == "a"


@pytest.mark.parametrize("text", ["", "NaN", "-0.5", "1e-05", "[1, 2]"])
def test_numbers_are_recognised(text):
    assert cells._NUMBERS.fullmatch(text)
