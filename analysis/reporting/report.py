"""From runs to a shareable report: papermill runs the notebooks, nbconvert makes self-contained pages of them."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from analysis.errors import InputError
from analysis.pages.scoring import items as scoring
from analysis.pages.text_features.family import answerable
from analysis.pages.wording import cells
from analysis.reporting import all_plots, files, notebooks, provenance, tables
from analysis.reporting.page import NOTEBOOKS, TEMPLATES, locate, render
from analysis.runs import open as open_runs

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from analysis.runs import Runs

ROOT = Path(__file__).resolve().parents[2]
ON_CARD = ("answer", "figure")  # cells with these tags are shown on the index, too


@dataclass(frozen=True, slots=True)
class Notebook:
    """One notebook of the report: its file's stem, the question it answers, and whether runs have data for it.

    `needs` names what it imports beyond the report's own packages: package -> how to install it. `protocols` are those
    that it is about; empty: all that no other notebook is about. It sees no other runs.
    """

    name: str
    question: str
    wanted: Callable[[Runs], bool]
    needs: Mapping[str, str] = field(default_factory=dict)
    protocols: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def lacks(self) -> str:
        """What is not installed of its needs, as one line; empty where nothing is."""
        absent = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return ", ".join(f"needs {name}: {self.needs[name]}" for name in absent)


@dataclass(frozen=True, slots=True)
class Result:
    """How one notebook ended: what its card on the index shows, or why it failed.

    `wrong_input` tells a call or a run that cannot be analysed from a notebook that broke; `left_out` says why a
    notebook was not run at all.
    """

    name: str
    question: str
    parts: tuple[str, ...] = ()
    error: str | None = None
    wrong_input: bool = False
    left_out: str = ""


def _has_paraphrases(runs: Runs) -> bool:
    found = runs.sql(
        "SELECT count(*) AS n FROM (SELECT study, item FROM stimuli WHERE pattern <> 'original' "
        "GROUP BY study, item HAVING count(*) > 1)"
    )
    return bool(found["n"].iloc[0])


REGISTRY = (
    Notebook("stability", "Do the models change their answer when the wording changes?", _has_paraphrases),
    Notebook(
        "text_features", "What in a wording moves the answer?", answerable,
        needs={"statsmodels": "pip install 'waver[statistics]'"},
    ),
    Notebook(
        "wording", "Do the models give the same answer to a question in other words?", lambda runs: True,
        protocols=frozenset({cells.PROTOCOL}),
    ),
    Notebook(
        "benchmarks", "What goes with consistency: size, accuracy, benchmarks?", lambda runs: True,
        protocols=frozenset({cells.PROTOCOL}),
    ),
    Notebook(
        "scoring", "Does the judge give everything the same score?", lambda runs: True,
        protocols=frozenset({scoring.PROTOCOL}),
    ),
)  # fmt: skip


def report(
    folders: Sequence[str],
    out: Path,
    given: Mapping[str, Any] | None = None,
    registry: Sequence[Notebook] | None = None,
) -> list[Result]:
    """Write a report on some runs.

    Parameters
    ----------
    folders
        Run folders.
    out
        Folder for the pages, `tables/`, `figures/` and the executed `notebooks/`; made where it is missing.
    given
        Notebook parameters: name -> value, or -> text as typed.
    registry
        The notebooks to choose from; `REGISTRY` unless given.

    Returns
    -------
    list of Result
        One per notebook that the runs have data for. A failed one has an `error` and no page, one that lacks a package
        is left out; the others stand.

    Raises
    ------
    InputError
        For a folder that is no run, runs no notebook has a use for, or an unknown or mistyped parameter; nothing has
        been written then.
    """
    opened = open_runs(*(locate(folder) for folder in folders))
    seen = {
        notebook.name: _folders(notebook, registry or REGISTRY, folders, opened) for notebook in registry or REGISTRY
    }
    chosen = [n for n in registry or REGISTRY if seen[n.name] and n.wanted(_only(seen[n.name], folders, opened))]
    if not chosen:
        raise InputError(
            f"{', '.join(folders)}: no item has two variants beside its original, or a score; there is nothing to "
            "report"
        )
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out needs a folder")
    values = notebooks.check(given or {}, {notebook.name: notebook.path for notebook in chosen})
    files.clear(out)
    results = [
        _make(notebook, {"runs": seen[notebook.name], "out": str(out), **values[notebook.name]}, out)
        for notebook in chosen
    ]
    title = ", ".join(opened.info["studies"])
    files.write(out / "index.html", _index(results, out, title, folders))
    return results


def _folders(notebook: Notebook, registry: Sequence[Notebook], folders: Sequence[str], opened: Runs) -> list[str]:
    """The run folders whose protocol the notebook is about."""
    elsewhere = frozenset[str]().union(*(other.protocols for other in registry))
    protocols = [folder.info["study"]["protocol"] for folder in opened.folders]
    return [
        folder
        for folder, protocol in zip(folders, protocols, strict=True)
        if (protocol in notebook.protocols if notebook.protocols else protocol not in elsewhere)
    ]


def _only(chosen: Sequence[str], folders: Sequence[str], opened: Runs) -> Runs:
    return opened if len(chosen) == len(folders) else open_runs(*(locate(folder) for folder in chosen))


def _make(notebook: Notebook, values: Mapping[str, Any], out: Path) -> Result:
    """Execute one notebook and write its page; an earlier page of that name never outlives a failure."""
    page, executed = out / f"{notebook.name}.html", out / "notebooks" / f"{notebook.name}.ipynb"
    page.unlink(missing_ok=True)
    if notebook.lacks:
        _say(f"{notebook.name}: left out: {notebook.lacks}")
        return Result(notebook.name, notebook.question, left_out=notebook.lacks)
    executed.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    _say(f"{notebook.name}: running")
    try:
        node = _execute(notebook.path, executed, values)
    except _failures() as error:
        reason = _reason(error)
        _say(f"{notebook.name}: failed: {reason}")
        wrong = getattr(error, "ename", None) == InputError.__name__
        return Result(notebook.name, notebook.question, error=reason, wrong_input=wrong)
    files.write(page, _html(node, notebook.question))
    _say(f"{notebook.name}: {page} ({time.monotonic() - started:.0f} s)")
    return Result(notebook.name, notebook.question, parts=_card(node))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _execute(source: Path, target: Path, values: Mapping[str, Any]) -> NotebookNode:
    """Run a notebook in a kernel of this interpreter, in the working directory of the call."""
    import papermill

    bar = {"desc": source.stem, "file": sys.stderr, "leave": False, "disable": None}
    log = target.with_suffix(".log")
    with tempfile.TemporaryDirectory(prefix="waver-") as sockets, log.open("wb") as stderr:
        node = papermill.execute_notebook(
            source, target, dict(values), progress_bar=bar, kernel_name="python3", language="python",
            kernel_manager_class=_kernel_manager(sockets, stderr),
        )  # fmt: skip
    log.unlink()
    return node


def _kernel_manager(sockets: str, stderr: IO[bytes]) -> type:
    """A kernel manager for sys.executable: a kernel registered as "python3" may be another environment's.

    Where the system has them, manager and kernel talk over sockets in a private folder: no port that another user of
    the machine could listen on. What the process itself says (a crash, say) goes to a log that outlives only a failure.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python",
        display_name="Python 3", env={"PYTHONPATH": paths, "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "agg"},
    )  # fmt: skip

    class ThisInterpreter(AsyncKernelManager):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            if os.name == "posix":
                self.transport, self.ip = "ipc", str(Path(sockets) / "kernel")

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        async def _async_start_kernel(self, **settings: Any) -> None:
            await super()._async_start_kernel(stderr=stderr, **settings)

        start_kernel = _async_start_kernel

    return ThisInterpreter


def _failures() -> tuple[type[Exception], ...]:
    """What a notebook can die of: an error in a cell, a kernel that is killed or does not start."""
    from nbclient.exceptions import CellControlSignal, DeadKernelError
    from papermill.exceptions import PapermillException

    return (PapermillException, DeadKernelError, CellControlSignal, RuntimeError)


def _reason(error: Exception) -> str:
    """One line: the error of the cell that failed."""
    from papermill.exceptions import PapermillExecutionError

    if isinstance(error, PapermillExecutionError):
        return " ".join(f"{error.ename}: {error.evalue} (cell {error.exec_count})".split())
    return " ".join(f"{type(error).__name__}: {error}".split())


def _html(node: NotebookNode, title: str) -> str:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="page", extra_template_basedirs=[str(TEMPLATES)], exclude_anchor_links=True)
    html, _ = exporter.from_notebook_node(node, resources={"waver": {"title": title, "style": style()}})
    return str(html)


def style() -> str:
    """The style sheet of every page."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def _card(node: NotebookNode) -> tuple[str, ...]:
    """The shown outputs of the tagged cells, in the order of `ON_CARD`."""
    shown = {tag: cell for cell in node.cells for tag in cell.metadata.get("tags", []) if tag in ON_CARD}
    return tuple(
        output["data"]["text/html"]
        for tag in ON_CARD
        if tag in shown
        for output in shown[tag].outputs
        if "text/html" in output.get("data", {})
    )


def _index(results: Sequence[Result], out: Path, title: str, folders: Sequence[str]) -> str:
    made = [name for name in tables.TABLES if (out / "tables" / f"{name}.csv").is_file()]
    figures = sorted((path.stem for path in (out / "figures").glob("*.pdf")), key=_figure_order)
    return render(
        "index", results=results, title=title, tables=made, figures=figures, style=style(), folders=folders,
        made=provenance.now(), versions=provenance.versions(),
    )  # fmt: skip


def _figure_order(name: str) -> tuple[int, int]:
    stem, number = re.fullmatch(r"(.*?)(?:-(\d+))?", name).groups()  # type: ignore[union-attr]
    return all_plots.FIGURES.index(stem) if stem in all_plots.FIGURES else len(all_plots.FIGURES), int(number or 0)
