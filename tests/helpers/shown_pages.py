"""Pages whose cells are executed in this process: kernels, papermill and nbconvert have tests of their own."""

from __future__ import annotations

import ast
import io
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import nbformat
import pytest

from analysis.reporting.output import execution, page
from analysis.reporting.output.notebooks import FOLDER

# Warnings that a kernel does not show.
UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def show_page(name: str, runs: Sequence[Path], out: Path, **options: Any) -> Path:
    """Execute all cells of a page's notebook, and write what they show, print and warn of; of a figure, its caption.

    Figures take most of a page's time, and are drawn in `tests/analysis/reporting/test_pages.py`.

    Parameters
    ----------
    name
        The page.
    runs
        Its run folders.
    out
        A folder for `NAME.html` and the tables.
    options
        Parameters of the notebook.

    Returns
    -------
    The written file.
    """
    shown: list[Any] = []
    scope: dict[str, Any] = {"__name__": "__main__", "display": shown.append}
    printed = io.StringIO()
    with (
        captions_only(),
        redirect_stdout(printed),
        redirect_stderr(printed),
        warnings.catch_warnings(record=True) as warned,
    ):
        for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            block = ast.parse("".join(cell["source"]))
            last = block.body.pop() if isinstance(block.body[-1], ast.Expr) else None
            exec(compile(block, name, "exec"), scope)
            if last:
                shown.append(eval(compile(ast.Expression(last.value), name, "eval"), scope))
            if "parameters" in cell["metadata"].get("tags", []):
                assert set(options) < set(scope), options
                scope |= {"runs": [str(run) for run in runs], "out": str(out), **options}
    out.mkdir(exist_ok=True)
    written = out / f"{name}.html"
    parts = [
        one._repr_html_() if hasattr(one, "_repr_html_") else page.escape(repr(one)) for one in shown if one is not None
    ]
    said = [f"{one.category.__name__}: {one.message}" for one in warned if not issubclass(one.category, UNSEEN)]
    parts += [page.escape(text) for text in (printed.getvalue(), *said)]
    written.write_text("\n".join(parts), encoding="utf-8")
    return written


@contextmanager
def captions_only() -> Iterator[None]:
    """Let pages show the captions of their figures, and draw none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page.Page, "_render_picture", _show_caption)
        yield


def _show_caption(self: page.Page, title: str, picture: page.Picture) -> str:
    caption = self._note_joined_orders_and_return_caption(picture.caption)
    return f'<figure id="{picture.name}">{page.escape(title)}<figcaption>{caption}</figcaption></figure>'


def leave_unexecuted(patch: pytest.MonkeyPatch) -> dict[str, Mapping[str, Any]]:
    """Let reports have notebooks as they stand, without outputs; return the parameters that each one was given."""
    given: dict[str, Mapping[str, Any]] = {}

    def read(source: Path, target: Path, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
        given[source.stem] = parameters
        return nbformat.read(source, as_version=4)

    patch.setattr(execution, "execute_notebook", read)
    return given
