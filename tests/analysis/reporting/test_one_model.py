"""Headings of runs of one model: none speaks of several."""

from __future__ import annotations

import re

import nbformat
import pytest

from analysis.pages.stability.page import StabilityPage
from analysis.reporting import catalogue
from analysis.reporting.output import cells
from analysis.reporting.output.notebooks import FOLDER
from analysis.reporting.words.one_model import rephrase_heading_for_one_model
from helpers.synthetic import random_frame, write_run

PLURAL = re.compile(r"\b([Mm]odels|every model|Do they|did they|their (answer|probabilities))\b")
# Below these there is nothing where there is one model, or the models are none that were asked.
OF_SEVERAL = re.compile(
    r"ranking|[Pp]airs of models|[Bb]enchmark|over models|over all models|these models|mixed models|base models|"
    r"models match|models of every study|tuned models|ranks the models"
)


def list_headings():
    for path in sorted(FOLDER.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            level, heading = cells.read_level_and_text_of_heading(cell)
            if level:
                yield heading
            elif cell.cell_type == "code":
                yield from re.findall(r'_?section\("\w+", "([^"]+)"', cell.source)
    for entries in (catalogue.list_tables, catalogue.list_figures):
        look_up = catalogue.look_up_table if entries is catalogue.list_tables else catalogue.look_up_figure
        yield from (look_up(name).title for name in entries())


def test_no_heading_of_one_model_speaks_of_several():
    headings = [heading for heading in list_headings() if PLURAL.search(heading) and not OF_SEVERAL.search(heading)]
    assert len(headings) > 40
    rephrased = {heading: rephrase_heading_for_one_model(heading) for heading in headings}
    assert [pair for pair in rephrased.items() if PLURAL.search(pair[1])] == []


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("Every item under every model", "Every item"),
        ("Effects of the text features under every model", "Effects of the text features"),
        ("Quartiles of agreement for every model and item", "Quartiles of agreement for every item"),
    ],
)
def test_a_model_beside_which_there_is_none_is_left_out(heading, said):
    assert rephrase_heading_for_one_model(heading) == said


@pytest.mark.parametrize("heading", ["Is it the model or the reading?", "Letters", "Were these wordings enough?"])
def test_headings_that_name_no_models_stay(heading):
    assert rephrase_heading_for_one_model(heading) == heading


def test_headings_of_a_notebook_are_rephrased_and_other_text_is_not():
    node = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell("## What the models were asked"),
        nbformat.v4.new_markdown_cell("Do the models agree?"),
    ])  # fmt: skip
    cells.rephrase_notebook_headings(node, rephrase_heading_for_one_model)
    assert [cell.source for cell in node.cells] == ["## What the model was asked", "Do the models agree?"]


@pytest.mark.parametrize(("models", "said"), [(["a"], "Does the model write what its"), (["a", "b"], "Do the models")])
def test_a_page_phrases_its_titles_by_the_number_of_models(models, said, tmp_path):
    page = StabilityPage([str(write_run(tmp_path / "run", random_frame(models, items=3, paraphrases=3)))], resamples=20)
    assert said in page.section("answers", "Do the models write what their probabilities say?").text
