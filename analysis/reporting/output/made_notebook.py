"""Make a notebook for a page that has none of its own: answer, figures, cautions, tables, and where it comes from.

The page's `CATALOGUE` has its `question`, and names the function that gives its `answer` from its tables.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.reporting.catalogue import map_page_names_to_catalogues

PARAMETERS = (
    "runs: list[str] = []  # run folders\n"
    'out: str = ""  # folder for tables (CSV, LaTeX) and figures (SVG, PDF); empty: write none\n'
    'where: str = ""  # condition on wordings, items, models or conditions; empty: everything'
)


@functools.cache
def make_notebook_of_page(name: str) -> Path:
    """Write the notebook of a page that has none; it is removed when this process ends.

    The `CATALOGUE` of the page names an answer. Returns the file.
    """
    page = map_page_names_to_catalogues()[name]
    # The figure that stands with the answer on the index is the first one.
    figures = [(f"page.figure({figure!r})", "" if place else "figure") for place, figure in enumerate(page.figures)]
    sources = [
        (PARAMETERS, "parameters"),
        (
            "import waver\nfrom analysis.reporting.output.plain_page import PlainPage\n\n"
            f"page = PlainPage({name!r}, waver.open(runs).where(where), out)",
            "",
        ),
        ("page.answer()", "answer"),
        *figures[:1],
        ("page.cautions()", ""),
        *figures[1:],
        *((f"page.table({table!r})", "") for table in page.tables),
        ("page.prompts()", ""),
        ("page.provenance()", ""),
    ]
    cells = [
        {"cell_type": "markdown", "id": "question", "metadata": {}, "source": f"# {page.question}"},
        *(_build_code_cell(f"cell-{number}", *source) for number, source in enumerate(sources, start=1)),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    path = Path(_make_temporary_notebook_folder().name, f"{name}.ipynb")
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return path


def _build_code_cell(cell_id: str, source: str, tag: str) -> dict[str, Any]:
    """Build a cell of code with a tag; empty for none."""
    metadata = {"tags": [tag]} if tag else {}
    return {"cell_type": "code", "id": cell_id, "metadata": metadata, "outputs": [], "execution_count": None,
            "source": source}  # fmt: skip


@functools.cache
def _make_temporary_notebook_folder() -> TemporaryDirectory[str]:
    """Make the folder for the notebooks of this process."""
    return TemporaryDirectory(prefix="waver-notebooks-")
