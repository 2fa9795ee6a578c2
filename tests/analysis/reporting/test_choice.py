"""Answers that are not “agree” and “disagree” are called by their names, wherever a page speaks of agreement."""

from __future__ import annotations

import doctest
import re

import pytest

from analysis import runs
from analysis.pages.stability.page import StabilityPage
from analysis.reporting import catalogue
from analysis.reporting.catalogue import selection, tables
from analysis.reporting.catalogue.selection import AnswerPair
from analysis.reporting.drawing.pictures import build_pictures
from helpers.figures import shown_texts
from helpers.page_runs import opinions
from helpers.synthetic import random_frame, write_run

AGREE = re.compile(r"\b(dis)?agree(s|d|ing|ment)?\b", re.IGNORECASE)
OTHERS = AnswerPair("left", "agree strongly")


def test_the_examples_are_right():
    assert doctest.testmod(selection).failed == 0


@pytest.mark.parametrize(
    ("said", "wanted"),
    [("SD of agreement", "SD of the share of “left”"), ("Agreement", "Share of “left”"),
     ("p(agree) / (p(agree) + p(disagree))", "p(left) / (p(left) + p(agree strongly))"),
     ("all disagreed, or all agreed", "all chose “agree strongly”, or all chose “left”"),
     ("it disagrees with every item", "it chooses “agree strongly” on every item"),
     ("column agreement_mean of source-agreement", "column agreement_mean of source-agreement")],
)  # fmt: skip
def test_words_are_rewritten_once_and_as_wholes(said, wanted):
    assert OTHERS.rewrite_agreement_text_for_answers(said) == wanted
    assert AnswerPair().rewrite_agreement_text_for_answers(said) == said


@pytest.mark.slow
def test_runs_with_one_choice_have_it_and_others_none(tmp_path):
    frame = random_frame(items=2, paraphrases=2)
    one, other = (
        write_run(tmp_path / name, frame, study=name, canonical=canonical)
        for name, canonical in (("one", ("left", "right")), ("other", ("agree", "disagree")))
    )
    assert selection.build_answer_pair_of_studies(runs.open_runs(one).info) == AnswerPair("left", "right")
    both = selection.build_answer_pair_of_studies(runs.open_runs(one, other).info)
    assert both.measure_phrase == "share of the first answer"
    assert not both.is_agree_disagree


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page on stability about two answers that nobody agrees with."""
    folder, options = opinions(tmp_path_factory.mktemp("choice") / "run", ("left", "right"))
    return StabilityPage([str(folder)], **options)


@pytest.mark.slow
def test_no_table_speaks_of_agreement(page):
    for name in catalogue.map_page_names_to_catalogues()["stability"].tables:
        shown = re.sub(r"<td.*?</td>", "", page.table(name).text, flags=re.DOTALL)  # the texts of the items may
        assert not AGREE.search(re.sub(r"<code>.*?</code>", "", shown)), (name, AGREE.search(shown))


@pytest.mark.slow
def test_no_printed_table_speaks_of_agreement(page):
    for name in catalogue.map_page_names_to_catalogues()["stability"].tables:
        markdown, latex = (
            tables.render_table_in_text_format(name, page.frame(name), form) for form in ("markdown", "latex")
        )
        printed = markdown.partition("\n")[0] + re.sub(
            r"\\label{.*?}|\\midrule.*?\\bottomrule", "", latex, flags=re.DOTALL
        )
        assert not AGREE.search(printed), (name, AGREE.search(printed))
    marked = tables.render_table_in_text_format("stability", page.frame("stability"), "latex", ["mark"])
    assert "the model chooses ``left'' on every item" in marked


@pytest.mark.slow
def test_a_table_in_python_can_be_saved_with_the_answers_that_it_is_about(page, tmp_path):
    frame = page.run.table("stability")
    frame.to_parquet(tmp_path / "stability.parquet")
    assert frame.attrs[selection.ATTRIBUTE] == ["left", "right"]


@pytest.mark.slow
def test_no_sentence_speaks_of_agreement(page):
    said = (
        page.answer().text
        + page.cautions().text
        + page.method().text
        + page.examples().text
        + page.describe_texts_against_probabilities()
    )
    said += "".join(page.pop_answer_sentences_as_html(name) for name in ("overview", "differences"))
    assert not AGREE.search(said), AGREE.search(said)
    assert "asked to choose between “left” and “right”" in said


@pytest.mark.parametrize("figure", catalogue.map_page_names_to_catalogues()["stability"].figures)
def test_no_figure_speaks_of_agreement(page, figure):
    picture = build_pictures(figure, page.frames)[0]
    drawn = " ".join(text.get_text() for text, _ in shown_texts(picture.draw()))
    assert not AGREE.search(picture.caption), picture.caption
    assert not AGREE.search(drawn), AGREE.search(drawn)
