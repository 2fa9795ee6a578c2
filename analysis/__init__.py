"""Read run folders; make tables, figures and reports of them.

::

    import analysis

    run = analysis.open("results/demo")
    run.tables()                # the tables of these runs, one line each
    run.table("stability")      # one of them as a DataFrame
    run.figure("overview")      # a matplotlib figure
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.reporting.output.exploring import Run


def open(*folders: str | os.PathLike[str]) -> Run:
    """Open run folders to explore their tables and figures.

    Parameters
    ----------
    *folders
        Run folders, or folders that hold run folders. A relative path is looked up from the working directory, then
        from the folder of the notebooks.

    Returns
    -------
    Run
        See `analysis.reporting.output.exploring.Run`.

    Raises
    ------
    InputError
        For a folder that is no run folder, or run folders that contradict each other.
    """
    # Pandas and DuckDB take most of a second: `import analysis` alone must not.
    from analysis.reporting.output.exploring import Run
    from ground.errors import InputError

    for folder in folders:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(f"{folder!r} is no folder; name the folders one by one: analysis.open('runs/a', 'runs/b')")
    return Run(folders)
