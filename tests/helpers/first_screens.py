"""Check that a first screen is short, and its cautions ranked: see `tests/analysis/reporting/test_first_screens.py`."""

from __future__ import annotations

import re

from analysis.reporting.output import notebooks
from analysis.reporting.words.doubts import Caution, sort_cautions_by_gravity

# A number that stands alone; those in the names of models and conditions do not.
NUMBER = re.compile(r"(?<![\w/.“-])[−+]?\d[\d,.]*(?![\w-]*[a-z])")


def sentences(text):
    return [part for part in re.split(r"(?<=[.?!])\s+(?=[A-Z“\d])", text) if part]


def check_first_screen(page, said):
    """Count the words of the answer of a page."""
    title = notebooks.read_notebook_question(notebooks.FOLDER / f"{page}.ipynb")
    first = f"{title} {said.setup} {said.verdict}"
    assert len(first.split()) <= 60, f"{len(first.split())} words: {first}"
    assert len(sentences(said.support)) <= 1, said.support
    assert len(said.explanation.split()) <= 30, said.explanation
    assert len(sentences(said.explanation)) <= 2, said.explanation
    assert len(sentences(said.setup)) == 1, said.setup
    assert len(sentences(said.verdict)) <= 2, said.verdict
    assert len(NUMBER.findall(said.verdict)) <= 3, said.verdict
    assert all(isinstance(caution, Caution) for caution in said.cautions), said.cautions
    assert list(said.cautions) == list(sort_cautions_by_gravity(said.cautions)), "the gravest caution is not first"
    texts = [
        said.setup,
        said.verdict,
        said.support,
        said.explanation,
        *said.cautions,
        *(text for several in said.details.values() for text in several),
    ]
    long = [part for text in texts for part in sentences(text) if len(part.split()) > 30]
    assert long == []
