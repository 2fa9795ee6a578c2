"""The words of the report: short sentences, one file for pages and documentation, none that no page uses."""

from __future__ import annotations

import ast
import doctest
import json
import re
from pathlib import Path

import pytest

from analysis.reporting.output.html import render_template
from analysis.reporting.words import glossary

ROOT = Path(glossary.__file__).parents[3]


def test_the_examples_are_right():
    assert doctest.testmod(glossary).failed == 0


def test_the_documentation_has_what_the_pages_show():
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == glossary.render_glossary_markdown(), (
        "write it again: python -m analysis.reporting.words.glossary > docs/glossary.md"
    )


def test_terms_are_in_the_order_of_the_alphabet_and_each_has_one_meaning():
    words = [term.word for term in glossary.read_glossary_terms()]
    assert words == sorted(words, key=str.casefold)
    every = [name for term in glossary.read_glossary_terms() for name in (term.word, *term.also)]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("term", glossary.read_glossary_terms(), ids=lambda term: term.word)
def test_a_meaning_is_sentences_of_at_most_thirty_words(term):
    for sentence in re.split(r"(?<=[.;:])\s", term.means):
        assert len(sentence.split()) <= 30, sentence
    assert term.means[0].isupper()
    assert term.means.endswith(".")


def said_on_pages() -> str:
    """Every string that pages are written from, docstrings left out, and the headings of the notebooks."""
    files = [*(ROOT / "analysis" / "pages").rglob("*.py"), ROOT / "analysis" / "reporting" / "catalogue" / "columns.py"]
    texts = []
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts += [
            node.value for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
        ]  # fmt: skip
    texts += [file.read_text(encoding="utf-8") for file in (ROOT / "analysis" / "pages").rglob("*.j2")]
    for file in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return " ".join(texts)


@pytest.mark.slow
def test_every_term_is_used_on_some_page():
    used = {term.word for term in glossary.find_terms_in_page(said_on_pages())}
    assert [term.word for term in glossary.read_glossary_terms() if term.word not in used] == []


def test_a_box_has_the_terms_of_its_page_only():
    page = "<style>p.kurtosis {}</style><h2>Flips</h2><img alt='tau'><p>Overall, a conditional &lt;mass&gt;</p>"
    box = render_template("glossary", terms=glossary.find_terms_in_page(page))
    assert re.findall("<dt>(.*?)</dt>", box) == ["flip", "mass", "Overall"]
    assert "Glossary: 3 words" in box
    assert render_template("glossary", terms=glossary.find_terms_in_page("<p>Nothing here.</p>")).strip() == ""
