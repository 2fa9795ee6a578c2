"""What stands on pages whatever the runs are: captions of tables, methods and the text of notebooks."""

from __future__ import annotations

import json
import re

import pytest

from analysis.reporting import catalogue
from analysis.reporting.output.html import TEMPLATES
from analysis.reporting.output.provenance import _list_lines_about_conditions

ROOT = TEMPLATES.parents[3]
MOST_WORDS = 30


def list_long_sentences(text):
    """A formula is one word; a word has a letter or a digit."""
    plain = re.sub(r"\*[^*]*[=(][^*]*\*|<i>.*?</i>", "X", text)
    plain = re.sub(r"<[^>]*>", "", plain)
    parts = re.split(r"(?<=[.?!])[)”]?\s+(?=[A-Z“(*\d])", plain)
    return [part for part in parts if len(re.findall(r"\S*\w\S*", part)) > MOST_WORDS]


@pytest.mark.parametrize("name", catalogue.list_tables())
def test_captions_of_tables_are_short_sentences_without_marks_of_code(name):
    table = catalogue.look_up_table(name)
    for caption in (table.caption, table.caption_without_repeats):
        assert list_long_sentences(caption) == []
        assert "`" not in caption  # they are printed in LaTeX and Markdown, too, and nothing turns marks into code


@pytest.mark.parametrize("path", sorted((ROOT / "analysis").rglob("method.html.j2")), ids=lambda path: path.parent.name)
def test_methods_are_short_sentences(path):
    text = re.sub(r"{%.*?%}", " ", path.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"{{.*?}}", "1", text, flags=re.S)
    assert [part for line in text.split("</li>") for part in list_long_sentences(line)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_texts_of_notebooks_are_short_sentences(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert [part for text in texts for line in text.split("\n") for part in list_long_sentences(line)] == []


def test_settings_of_conditions_are_told_in_words():
    shots = {"form": "chat", "shots": 2, "exemplars": [{"question": "Q?", "answer": "yes"}] * 2, "labels": ["A", "B"]}
    conditions = {"study": {"chat/2-shot": shots, "plain": {"exemplars": [], "range": [0, 1], "why": {"a": 1}}}}
    assert _list_lines_about_conditions(conditions) == [
        "chat/2-shot: form chat, shots 2, exemplars 2, labels A and B",
        "plain: range 0 to 1, why a 1",
    ]


def test_a_condition_that_two_studies_set_differently_is_told_with_its_study():
    conditions = {
        "s": {"chat": {"shots": 1}, "plain": {"shots": 0}},
        "t": {"chat": {"shots": 2}, "plain": {"shots": 0}},
    }
    assert _list_lines_about_conditions(conditions) == [
        "chat in “s”: shots 1",
        "plain: shots 0",
        "chat in “t”: shots 2",
    ]
