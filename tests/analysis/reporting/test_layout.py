"""Pages around executed notebooks: what shows nothing goes, what stays can be linked to, and one file holds it all."""

from __future__ import annotations

import base64
import io
import re
import zipfile

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from analysis.reporting.catalogue import grid
from analysis.reporting.catalogue.columns import Column
from analysis.reporting.output import layout, report
from analysis.reporting.output.first_screen import FirstScreen
from analysis.reporting.output.html import TEMPLATES, render_missing_content_note, render_template
from analysis.reporting.output.page import label_svg_for_page
from helpers.chromium import CHROMIUM, open_page
from helpers.html_pages import Page


def shows(html: str, *tags: str) -> object:
    """A cell that shows this."""
    outputs = [new_output("execute_result", {"text/html": html}, execution_count=1)]
    return new_code_cell("page.part()", outputs=outputs, metadata={"tags": list(tags)})


def drawn(name: str) -> str:
    """A drawing as matplotlib and `svg` make it."""
    return f'<svg viewBox="0 0 9 9"><use xlink:href="#{name}-0" clip-path="url(#{name}-1)"/>\n<path id="{name}-0"/>' + (
        f'<clipPath id="{name}-1"><rect/></clipPath></svg>'
    )


@pytest.fixture
def chapter():
    """A page with two figures, cautions, a part without data, a repeated heading, and a table."""
    figure = render_template(
        "figure", wide=label_svg_for_page(drawn("one"), "A <figure>."), caption="What.", saved="one",
        narrow=label_svg_for_page(drawn("one-column"), "A <figure>.", is_narrow=True),
    )  # fmt: skip
    other = figure.replace("one", "two")
    cells = [
        new_markdown_cell("# Is it <so>?"), new_code_cell("import x"),
        shows('<p class="verdict">Yes. <a href="#cautions">1 caution</a></p>', "answer"),
        shows(figure, "figure"),
        shows('<section class="cautions"><h2 id="cautions">Before you believe it</h2></section>'),
        new_markdown_cell("## Empty"), new_markdown_cell("### Empty, too"),
        shows(render_missing_content_note("Scores: none.").text),
        new_markdown_cell("## Empty before a section"), shows(render_missing_content_note("Pairs: none.").text),
        shows('<!-- Scores --><h2 id="scores">A section</h2><p>rows</p>'),
        new_markdown_cell("## Parts"), shows("<h3>One part</h3><p>rows</p>"),
        new_markdown_cell("## Models & co"), shows('<p><a href="tables/t.csv">tables/t.csv</a></p>'),
        new_markdown_cell("## Tables"), new_markdown_cell("### Models & co"), shows("<p>rows</p>"),
        shows(other),
    ]  # fmt: skip
    return layout.build_chapter_from_notebook("first", "Is it <so>?", new_notebook(cells=cells), "waver report run")


def test_headings_of_which_nothing_is_shown_go_and_the_page_says_what_is_missing(chapter):
    assert "Empty" not in chapter.card_html + chapter.body_html
    assert re.search(
        r"Parts left out <span>2</span>.*<li>Scores: none.</li>\s*<li>Pairs: none.</li>", chapter.body_html, re.S
    )
    assert "import x" in chapter.card_html
    assert {"scores", "parts"} <= {place for place, _ in chapter.headings}  # what has a smaller heading is content


def test_every_heading_has_an_anchor_of_its_own_and_the_contents_lead_there(chapter, tmp_path):
    path = tmp_path / "first.html"
    path.write_text(layout.render_page(chapter, "Title & more", [chapter, layout.Chapter("next", "What else?", "")]))
    page = Page(path)
    assert {"cautions", "models-co", "tables", "models-co-2"} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    linked = [place for tag, place in page.addresses if tag == "a"]
    assert linked.count("#models-co") == 2  # in the contents and at the heading
    assert linked.count("#models-co-2") == 1
    assert {"index.html", "next.html"} <= set(linked)
    assert "first.html" not in linked
    assert "Is it <so>? · Title & more" in page.words
    assert page.tags.index("figure") < page.tags.index("nav")


def test_one_file_has_anchors_for_pages_first_figures_for_a_phone_and_tables_that_hold_their_data(chapter, tmp_path):
    table = tmp_path / "t.csv"
    table.write_bytes('a,"b ""c"" #1 & 100 %"\r\n0.5,é\r\n'.encode())
    path = tmp_path / "report.html"
    card = report.NotebookResult(
        "first", "Is it?", screen=FirstScreen(verdict="Yes.", cautions=("Few.",)), chapter=chapter
    )
    path.write_text(layout.render_single_file([chapter, layout.Chapter("next", "Else?", '<h2 id="tables">T</h2>')],
                                              {"t": table},
                                  title="T", about=["A."], results=[card], foot="<p>Cite.</p>",
                                  command="waver report run"))  # fmt: skip
    page = Page(path)
    assert len(set(page.ids)) == len(page.ids)
    places = [place for tag, place in page.addresses if tag == "a"]
    assert {place[1:] for place in places if place.startswith("#")} <= set(page.ids)
    (data,) = [place for place in places if not place.startswith("#")]
    kind, _, held = data.partition(",")
    assert kind == "data:application/zip;base64"
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(held, validate=True))) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {"t.csv": table.read_bytes()}
    assert "#file-t" in places
    # For a phone: of the first figure only; the other one can be scrolled with the keyboard.
    first, second = path.read_text().split("<figure", 1)[1].split("<figure", 1)
    assert '<svg class="narrow"' in first
    assert '<svg class="narrow"' not in second
    assert second.startswith(' tabindex="0">')
    # Names of one page, and what refers to them, are those of no other; links to files beside a mailed file are none.
    assert 'xlink:href="#first--two-0" clip-path="url(#first--two-1)"/> <path id="first--two-0"/>' in second
    assert "figures/" not in path.read_text()
    assert 'viewBox="0 0 9 9"' in second


def test_columns_that_are_the_same_in_all_rows_are_told_apart_from_the_others():
    cell, columns = grid.Cell, (Column("", header="Model"), Column("", header="Items"), Column("", header="Empty"))
    rows = ((cell("a"), cell("34", "[1, 2]"), cell("")), (cell("b"), cell("34", "[1, 2]"), cell("")))
    table = grid.Grid(("model", "n", "e"), columns, rows, (False, True, False), (False, False, False))
    left, same = grid.drop_uniform_grid_columns(table)
    assert (left.names, left.rows) == (("model",), ((cell("a"),), (cell("b"),)))
    assert same == [(columns[1], cell("34", "[1, 2]"))]
    alone = grid.Grid(table.names, columns, rows[:1], table.numeric, table.wordy)
    assert grid.drop_uniform_grid_columns(alone) == (alone, [])
    wider = (rows[0], (cell("a"), cell("34", "[1, 3]"), cell("")))
    wide_table = grid.Grid(table.names, columns, wider, table.numeric, table.wordy)
    assert grid.drop_uniform_grid_columns(wide_table)[0].names == ("n",)


def test_a_picture_in_a_page_has_a_name_and_is_not_escaped_again():
    svg = '<svg width="1"><path d="M 1 -2" style="stroke: #000"/>\n<text>it\'s 5 &lt; 6</text></svg>'
    made = label_svg_for_page(svg, 'a "b" <c>')
    shown = render_template("figure", wide=made, narrow="", caption="", saved="")
    (picture,) = BeautifulSoup(shown, "html.parser").find_all("svg")
    assert (picture["role"], picture["aria-label"]) == ("img", 'a "b" <c>')
    assert picture.decode_contents() == '<path d="M 1 -2" style="stroke: #000"></path> <text>it\'s 5 &lt; 6</text>'


def test_what_one_file_holds_is_escaped_as_on_its_page():
    """It is parsed and written again: texts of items stay texts, and pictures do not grow."""
    body = '<pre>&lt;b&gt; &amp;amp;</pre><svg aria-label="&quot;&amp;lt;&quot; \'y\'"><path a="1"/>&amp;</svg>'
    assert layout._render_chapter_for_single_file(layout.Chapter("first", "Is it?", body)) == body
    hostile = """<p title="&lt;b&gt; 'a' &quot;b&quot;">&lt;script&gt;alert(1)&lt;/script&gt;</p>"""
    assert layout._render_chapter_for_single_file(layout.Chapter("first", "Is it?", hostile)) == (
        """<p title="<b> 'a' &quot;b&quot;">&lt;script&gt;alert(1)&lt;/script&gt;</p>"""
    )


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)")
def test_a_table_sorts_infinite_numbers_beyond_all_others(tmp_path):
    texts = ["2.5", "−∞", "", "∞", "−1,234.0", "<0.01", ">−0.01"]
    rows = "".join(f"<tr><td>{text}</td></tr>" for text in texts)
    table = f'<table><thead><tr><th class="number">x</th></tr></thead><tbody>{rows}</tbody></table>'
    script = (TEMPLATES / "tables.js").read_text(encoding="utf-8")
    html = f'<meta charset="utf-8"><details class="table"><summary></summary>{table}</details><script>{script}</script>'
    (tmp_path / "table.html").write_text(html, encoding="utf-8")
    with open_page((tmp_path / "table.html").as_uri(), tmp_path) as page:
        page.wait_for("document.querySelector('th button') !== null", 30)
        page.evaluate("document.querySelector('th button').click()")
        order = page.evaluate("[...document.querySelectorAll('td')].map(cell => cell.textContent)")
    assert order == ["∞", "2.5", "<0.01", ">−0.01", "−1,234.0", "−∞", ""]
