"""The index of a report: what it is about, a table of pages with their answers, then a card for each."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from analysis.reporting.output import index, layout
from analysis.reporting.output.first_screen import FirstScreen, read_first_screen_of_notebook
from analysis.reporting.output.html import render_template
from analysis.reporting.output.results import NotebookResult
from analysis.reporting.words import Answer
from analysis.reporting.words.doubts import LEFT_OUT, READING, WIDE, WRONG, Caution, sort_cautions_by_gravity
from helpers.chromium import CHROMIUM, open_page

SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='{0}pt' height='{1}pt' viewBox='0 0 {0} {1}'></svg>"
PICTURE = f'<img src="data:image/svg+xml,{SVG.format(504, 300)}" alt="Shares: shares of 2 models.">'
ANSWER = Answer(
    "2 models were asked.", "Yes with 5 % of <items>.", ("Few items.", "Few wordings."), support="It stands."
)


def shows(html, *tags):
    """A cell that shows this."""
    outputs = [new_output("execute_result", {"text/html": html}, execution_count=1)]
    return new_code_cell("page.part()", outputs=outputs, metadata={"tags": list(tags)})


def executed(*more_answers):
    """A page of which two pictures and two paragraphs stand with the first figure."""
    figure = f"<figure>{PICTURE}<figcaption>Shares of 2 models.</figcaption></figure>"
    return new_notebook(
        cells=[
            new_markdown_cell("# Is it?"),
            shows(render_template("answer", answer=ANSWER) + "".join(more_answers), "answer"),
            shows(figure + figure + render_template("said", sentences=("“Yes” means 5 %.", "So.")), "figure"),
            shows(render_template("cautions", cautions=ANSWER.cautions)),
        ]
    )


def test_the_first_screen_is_read_from_an_executed_notebook():
    screen = read_first_screen_of_notebook(executed())
    assert (screen.asked, screen.verdict, screen.support) == (ANSWER.setup, ANSWER.verdict, ANSWER.support)
    assert (screen.warning, screen.cautions, screen.details) == ("", ANSWER.cautions, ("“Yes” means 5 %. So.",))
    assert screen.picture_html.count("<img") == 1
    assert "figcaption" not in screen.picture_html and SVG.format(504, 300) in screen.picture_html


def test_a_page_opens_with_what_makes_a_number_wrong_whatever_the_order_in_which_it_is_found():
    """Prompts without a response came first on all pages, before numbers that chance may have made."""
    told = [Caution("Not asked.", LEFT_OUT), Caution("Few items.", WIDE), Caution("How to read.", READING),
            Caution("Bounds.", WRONG), Caution("Few models.", WIDE), Caution("Chance.", WRONG)]  # fmt: skip
    assert sort_cautions_by_gravity(told) == (
        "Bounds.", "Chance.", "Few items.", "Few models.", "Not asked.", "How to read."
    )  # fmt: skip


def test_a_page_opens_with_three_cautions_and_folds_the_others():
    cautions = [f"Few {what}." for what in ("items", "wordings", "models", "samples", "people")]
    html = render_template("cautions", cautions=cautions)
    folded = BeautifulSoup(html, "html.parser").details
    assert folded.summary.get_text() == "2 more"
    assert [line.get_text() for line in folded.select("li")] == cautions[3:]
    assert read_first_screen_of_notebook(new_notebook(cells=[shows(html)])).cautions == tuple(cautions)
    assert "<details>" not in render_template("cautions", cautions=cautions[:3])


def test_that_the_number_of_examples_varied_is_read_apart():
    html = render_template("answer", answer=replace(ANSWER, varied="The number of examples varied."))
    screen = read_first_screen_of_notebook(new_notebook(cells=[shows(html, "answer")]))
    assert screen.varied == "The number of examples varied."
    assert screen.asked == f"{ANSWER.setup} {screen.varied}"


def test_a_difference_to_another_package_is_on_the_first_screen():
    difference = render_template("difference", heading="Steps", place="steps", sentences=["Ours is 1, theirs 2."])
    screen = read_first_screen_of_notebook(executed(difference))
    assert screen.warning == "Another package computes other numbers."
    assert screen.cautions == ANSWER.cautions


def test_an_answer_of_another_form_is_the_verdict_as_a_whole_and_a_page_may_have_none():
    notebook = new_notebook(cells=[shows("<p>All</p><p>well.</p>", "answer")])
    assert read_first_screen_of_notebook(notebook).verdict == "All well."
    assert read_first_screen_of_notebook(new_notebook(cells=[new_code_cell("1 + 1")])) == FirstScreen()


def render(results):
    html = layout.render_index(
        title="How it went", about=["2 models were asked."], results=results, tables={}, figures=[], foot="",
        command="waver report run",
    )  # fmt: skip
    return BeautifulSoup(html, "html.parser")


def test_the_table_of_pages_comes_before_the_cards_and_says_what_failed():
    made = NotebookResult("first", "Is it?", screen=read_first_screen_of_notebook(executed()))
    made = replace(made, screen=replace(made.screen, varied="The number of examples varied."))
    warned = NotebookResult("second", "Is it so?", screen=FirstScreen(verdict="No.", warning="Other numbers."))
    failed = NotebookResult("third", "Why?", error="ValueError: <no>")
    page = render([made, warned, failed, NotebookResult("fourth", "When?", left_out="it needs moon")])
    rows = [[" ".join(cell.get_text().split()) for cell in row.find_all(["th", "td"])]
            for row in page.select("table.answers tr")]  # fmt: skip
    assert rows == [
        ["Question", "Answer"],
        ["Is it?", "Yes with 5 % of <items>. The number of examples varied. 2 cautions"],
        ["Is it so?", "Other numbers. No."],
        ["Why?", "The notebook third failed: ValueError: <no> The executed notebook with the full error: "
         "notebooks/third.ipynb."],
    ]  # fmt: skip
    assert [link["href"] for link in page.select(".answers a")] == ["first.html", "first.html#cautions", "second.html"]
    assert [card.h2.get_text() for card in page.select(".card")] == ["Is it?", "Is it so?"]
    assert len(page.select(".card img")) == 1
    assert "Not in this report: “When?”, because it needs moon." in page.get_text()
    assert page.find("table").sourceline < page.select_one(".card").sourceline


def folder(study, *units):
    info = {
        "sessions": [{"started": "2026-11-2" + study[-1]}],
        "expected": {name: {condition: 2} for name, condition in units},
    }
    return SimpleNamespace(study=study, units=frozenset(units), info=info)


def opened(folders, earlier=(), part=None):
    names = dict.fromkeys(entry.study for entry in folders)
    info = {"models": {"a": {}, "b": {}}, "studies": names, "sessions": [{"started": "2026-11-26"}]}
    return SimpleNamespace(
        info=info, models_with_response_rows=info["models"], part=part, folders=folders, earlier=earlier
    )


def test_the_index_names_the_models_that_could_not_be_asked():
    asked = folder("s1", ("a", "plain"))
    asked.info["expected"]["org/typo"] = {}
    assert index.describe_report(opened([asked]), 1)[1] == "org/typo could not be asked, or not yet."


def test_the_index_says_what_was_asked_of_whom_and_when():
    unit = ("a", "plain")
    assert index.describe_report(opened([folder("s1", unit)]), 1) == [
        "2 models (a and b) were asked in “s1”, on 26 November 2026.",
        "1 question has a page with figures, tables and method.",
    ]
    many = opened([folder(f"s{number}", unit) for number in range(4)])
    many.part = SimpleNamespace(count_kept_and_all_by_kind=lambda: {"items": (3, 12)})
    assert index.describe_report(many, 9) == [
        "2 models (a and b) were asked in 4 studies, on 26 November 2026.",
        "The studies: s0, s1, s2, s3.",
        "A part only: 3 of 12 items.",
        "9 questions have a page with figures, tables and method.",
    ]


def test_the_index_speaks_of_no_page_where_all_failed():
    assert len(index.describe_report(opened([folder("s1", ("a", "plain"))]), 0)) == 1


def test_a_model_without_rows_is_not_counted_as_asked():
    runs = opened([folder("s1", ("a", "plain"))])
    runs.models_with_response_rows = {"a": {}}
    assert index.describe_report(runs, 1)[0] == "1 model (a) was asked in “s1”, on 26 November 2026."


def test_the_index_says_which_studies_were_asked_several_times():
    first, second = ("a", "plain"), ("b", "plain")
    runs = opened([folder("s3", first, second), folder("t4", first)], [folder("s3", first), folder("t4", first)])
    said = index.describe_report(runs, 2, "Did it change?")
    assert said[1:4] == [
        "“s3” was asked up to 2 times, on 23 November 2026.",
        "“t4” was asked 2 times, on 24 November 2026.",
        "Pages are about the last time; “Did it change?” is about all times.",
    ]
    assert "All pages are about the last time." in index.describe_report(runs, 2)


def test_the_index_names_models_that_the_last_time_lacks():
    runs = opened([folder("s3", ("a", "plain"))], [folder("s3", ("a", "plain"), ("b", "plain"))])
    assert "Not asked the last time, so on no page about that: b." in index.describe_report(runs, 2, "Did it change?")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (make test installs it)")
def test_an_index_of_nine_pages_is_short_and_its_table_is_on_the_first_screen(tmp_path):
    screen = FirstScreen(asked="word " * 25, verdict="Answer " * 25, cautions=("Few.",),
                         picture_html=f"<figure>{PICTURE}</figure>")  # fmt: skip
    results = [NotebookResult(f"n{number}", "Does a model change its choice in other words?", screen=screen)
               for number in range(9)]  # fmt: skip
    (tmp_path / "index.html").write_text(str(render(results)), encoding="utf-8")
    with open_page((tmp_path / "index.html").as_uri(), tmp_path) as page:
        page.wait_for("document.querySelectorAll('.card img').length == 9", 30)
        for width, most in ((1280, 3000), (390, 9000)):
            page.send("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            root = "document.documentElement"
            assert page.evaluate(f"{root}.scrollWidth - {root}.clientWidth") == 0
            assert page.evaluate(f"{root}.scrollHeight") < most
            if width == 1280:
                assert page.evaluate("document.querySelector('.answers').getBoundingClientRect().bottom") < 800
