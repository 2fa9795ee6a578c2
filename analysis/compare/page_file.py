"""Write the page about a comparison: its notebook is run, and becomes one file that holds all it shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.reporting.output import cells, execution, layout, notebooks
from analysis.reporting.output.files import write_text_file
from ground.errors import InputError, RunFailed

NOTEBOOK = notebooks.FOLDER / "compare.ipynb"


def write_page(path: Path, parameters: Mapping[str, Any], title: str, command: str) -> None:
    """Write the page about a comparison.

    Parameters
    ----------
    path
        The file.
    parameters
        Of the notebook.
    title
        What stands above the page.
    command
        The command that makes it again, shown at its foot.

    Raises
    ------
    InputError, RunFailed
        A cell of the notebook failed: for what it was given, or for another reason.
    """
    with TemporaryDirectory(prefix="waver-compare-page-") as folder:
        try:
            node = execution.execute_notebook(NOTEBOOK, Path(folder) / NOTEBOOK.name, parameters)
        except execution.NotebookFailed as error:
            raise (InputError if error.wrong_input else RunFailed)(f"page: {error}") from error
    cells.render_frames_and_repeat_differences(node)
    chapter = layout.build_chapter_from_notebook(
        NOTEBOOK.stem, notebooks.read_notebook_question(NOTEBOOK), node, command
    )
    write_text_file(path, layout.render_page(chapter, title))
