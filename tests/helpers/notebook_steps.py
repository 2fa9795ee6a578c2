"""Executes the cells of a notebook that compute the numbers of its tables another way."""

from __future__ import annotations

import ast
import json
from typing import Any

import waver
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.output.html import Html
from analysis.reporting.output.notebooks import FOLDER

NOTEBOOKS_WITH_STEPS = [
    path.stem
    for path in sorted(FOLDER.glob("*.ipynb"))
    if path.stem != "compare"  # about two sides: tests/analysis/compare/test_page.py executes it
    and "page.check_against_package(" in path.read_text(encoding="utf-8")
]
_NEEDED = ("open", "page", "steps", "check")  # beginnings of the ids of the cells that the checks need


def execute_steps(name: str, run: waver.Run, options: dict[str, Any], frames: Frames | None = None) -> list[str]:
    """Execute the cells of a notebook that its checks need, and return what the checks say.

    Parameters
    ----------
    name
        Of the notebook.
    run
        What it opens.
    options
        Values of its parameters.
    frames
        The tables of its page on this run, where they were computed already.
    """
    said: list[str] = []
    scope: dict[str, Any] = {
        "__name__": "__main__",
        "display": lambda shown: said.append(shown.text if isinstance(shown, Html) else ""),
    }
    opens = waver.open
    waver.open = lambda *_, **__: run
    try:
        for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
            source = ast.parse("".join(cell["source"])) if cell["cell_type"] == "code" else ast.Module([], [])
            if "parameters" in cell["metadata"].get("tags", []):
                exec(compile(source, name, "exec"), scope)
                scope |= {"runs": run.folders, "resamples": 20} | options
            elif cell["id"].startswith(_NEEDED) and source.body:
                last = source.body.pop() if isinstance(source.body[-1], ast.Expr) else None
                exec(compile(source, name, "exec"), scope)
                if frames and "page" in scope:
                    scope["page"].frames = frames
                shown = eval(compile(ast.Expression(last.value), name, "eval"), scope) if last else None
                said += [shown.text] if isinstance(shown, Html) else []
    finally:
        waver.open = opens
    return said
