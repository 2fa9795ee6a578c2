"""Make a report from runs: papermill runs the notebooks, nbconvert turns them into self-contained pages."""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import runs
from analysis.reporting import catalogue, citations, execution, files, layout, notebooks, provenance
from analysis.reporting.catalogue import Catalogue
from analysis.reporting.html import render
from analysis.reporting.layout import Chapter
from ground.errors import InputError, system_failure
from ground.extras import require

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from analysis.runs import Runs


@dataclass(frozen=True, slots=True)
class Notebook:
    """Hold one notebook of the report and the catalogue of its page."""

    path: Path
    page: Catalogue

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def missing(self) -> str:
        """Say in one line which needed packages are not installed; empty where all are."""
        absent = [name for name in self.page.needs if importlib.util.find_spec(name) is None]
        return ", ".join(f"it needs {name}: {self.page.needs[name]}" for name in absent)


@dataclass(frozen=True, slots=True)
class Result:
    """Hold what one notebook made: its page and what its card on the index shows, or why it failed.

    `wrong_input`: the call or the runs are to blame, not the notebook. `left_out`: why the notebook was not run.
    `said`: the line about it on standard error.
    """

    name: str
    question: str
    parts: tuple[str, ...] = ()
    error: str | None = None
    wrong_input: bool = False
    left_out: str = ""
    said: str = ""
    chapter: Chapter | None = None


def found() -> list[Notebook]:
    """Return the notebooks of all pages, in the order of the report."""
    return [Notebook(notebooks.FOLDER / f"{name}.ipynb", page) for name, page in catalogue.pages().items()]


def report(
    folders: Sequence[str],
    out: Path,
    given: Mapping[str, Any] | None = None,
    registry: Sequence[Notebook] | None = None,
    title: str = "",
    single_file: bool = False,
) -> list[Result]:
    """Write the report about some runs.

    Parameters
    ----------
    folders
        Run folders, or folders that hold run folders.
    out
        Folder for the pages, `tables/`, `figures/` and the executed `notebooks/`; made where it is missing.
    given
        Notebook parameters: name -> value, or -> text as typed.
    registry
        The notebooks to choose from; those of all pages unless given.
    title
        What the report is about, in the reader's words; the names of the studies unless given.
    single_file
        Write everything as one file, too: `OUT.html` beside the folder.

    Returns
    -------
    list of Result
        One per notebook about such runs. A failed notebook has an `error` and no page; one that the runs have no data
        for, or that needs a missing package, is left out. The other pages are written all the same.

    Raises
    ------
    InputError
        For a package of the extra `notebooks` that is not installed, a folder that is no run, runs that no notebook is
        about, or an unknown or mistyped parameter. Nothing is written in these cases.
    """
    require("a report", "papermill", "nbconvert", "ipykernel")
    known = found() if registry is None else registry
    opened = runs.open(*(notebooks.locate(folder) for folder in folders))
    seen = {notebook.name: _folders(notebook.page, opened) for notebook in known}
    reasons = {n.name: n.page.unwanted(_only(seen[n.name], opened), given or {}) for n in known if seen[n.name]}
    about = [notebook for notebook in known if notebook.name in reasons]
    chosen = [notebook for notebook in about if not reasons[notebook.name]]
    if not chosen:
        raise InputError(_nothing(folders, known, opened, reasons))
    if out.suffix.lower() in (".html", ".htm"):
        raise InputError(
            f"{out}: --out names a folder; give --out {out.with_suffix('')}, and --single-file for "
            f"{out.with_suffix('')}.html"
        )
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; --out needs a folder")
    if single_file and single(out).is_dir():
        raise InputError(f"{single(out)} is a folder; --single-file writes a file of that name: give another --out")
    values = notebooks.check(given or {}, {notebook.name: notebook.path for notebook in chosen})
    files.clear(out)
    for name in ("index", *(notebook.name for notebook in known)):  # one that stayed would lead to what is removed
        (out / f"{name}.html").unlink(missing_ok=True)
    again = provenance.command(folders, out, given or {}, title, single_file)
    everything = [str(folder.path) for folder in opened.folders]  # a page opens its own, and knows all models
    title = title or ", ".join(opened.info["studies"])
    left_out = {notebook.name: reasons[notebook.name] or notebook.missing for notebook in about}
    tasks = [
        functools.partial(_left_out, notebook, left_out[notebook.name])
        if left_out[notebook.name]
        else functools.partial(_make, notebook, {"runs": everything, **values[notebook.name]}, out, again)
        for notebook in about
    ]
    results = execution.execute_at_once(tasks, lambda result: _say(result.said))
    files.write_dictionary(out)
    results = _write_pages(results, out, title)
    repeated = citations.names(notebook.page.studies for notebook in about)
    told = provenance.entries(opened, folders, given or {})
    foot = provenance.foot(repeated, told) + render("again", command=again)
    shown = {"title": title, "results": results, "foot": foot}
    made = {name: path for name in catalogue.tables() if (path := out / "tables" / f"{name}.csv").is_file()}
    stems = [path.stem for path in (out / "figures").glob("*.pdf")]
    figures = sorted((stem for stem in stems if not stem.endswith("-column")), key=_figure_order)
    files.write(out / "index.html", layout.index(tables=made, figures=figures, **shown))
    if single_file:
        every = made | {"dictionary": out / "tables" / files.DICTIONARY} if made else made
        files.write(single(out), layout.single(_chapters(results), every, **shown))
    return results


def single(out: Path) -> Path:
    """Return the file that holds everything of the report in a folder: beside it, with its name."""
    folder = out.resolve()
    return folder.with_name(f"{folder.name}.html")


def _chapters(results: Sequence[Result]) -> list[Chapter]:
    return [result.chapter for result in results if result.chapter]


def _write_pages(results: Sequence[Result], out: Path, title: str) -> list[Result]:
    """Write all pages when it is known which there are; one that cannot be written has failed."""
    chapters = _chapters(results)
    written = []
    for result in results:
        try:
            if result.chapter:
                files.write(out / f"{result.name}.html", layout.page(result.chapter, chapters, title))
            written.append(result)
        except OSError as error:
            written.append(_failed(result.name, result.question, system_failure(error)[1]))
            _say(written[-1].said)
    return written


def _folders(page: Catalogue, opened: Runs) -> list[str]:
    """Return the run folders that a page is about."""
    return [str(folder.path) for folder in opened.folders if folder.info["study"]["protocol"] in page.protocols]


def _only(chosen: Sequence[str], opened: Runs) -> Runs:
    return opened if len(chosen) == len(opened.folders) else runs.open(*chosen)


def _nothing(folders: Sequence[str], known: Sequence[Notebook], opened: Runs, reasons: Mapping[str, str]) -> str:
    """Say in one line why there is nothing to report."""
    held = {folder.info["study"]["protocol"] for folder in opened.folders}
    if not any(held & notebook.page.protocols for notebook in known):
        return f"{', '.join(folders)}: {catalogue.no_page(held)}"
    return f"{', '.join(folders)}: nothing to report: {'; '.join(f'{name}: {why}' for name, why in reasons.items())}"


def _left_out(notebook: Notebook, why: str) -> Result:
    """Say why a notebook is not run."""
    question = notebooks.question(notebook.path)
    return Result(notebook.name, question, left_out=why, said=f"{notebook.name}: left out: {why}")


def _make(notebook: Notebook, values: Mapping[str, Any], out: Path, again: str) -> Result:
    """Execute one notebook; `again` is the command that makes the report again."""
    page, executed = out / f"{notebook.name}.html", out / "notebooks" / f"{notebook.name}.ipynb"
    question = notebooks.question(notebook.path)
    started = time.monotonic()
    try:
        executed.parent.mkdir(parents=True, exist_ok=True)
        node = execution.execute_notebook(notebook.path, executed, {"out": str(out), **values})
        chapter = layout.chapter(notebook.name, question, node, again)
    except execution.NotebookFailed as error:
        return _failed(notebook.name, question, str(error), error.wrong_input)
    except OSError as error:
        return _failed(notebook.name, question, system_failure(error)[1])
    took = f"{notebook.name}: {page} ({time.monotonic() - started:.0f} s)"
    return Result(notebook.name, question, parts=_card(notebook.name, node), said=took, chapter=chapter)


def _failed(name: str, question: str, reason: str, wrong_input: bool = False) -> Result:
    return Result(name, question, error=reason, wrong_input=wrong_input, said=f"{name}: failed: {reason}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _card(name: str, node: NotebookNode) -> tuple[str, ...]:
    """Return what the tagged cells show, in the order of `layout.ON_CARD`; their links lead to the page."""
    shown = {tag: cell for cell in node.cells for tag in cell.metadata.get("tags", []) if tag in layout.ON_CARD}
    return tuple(
        output["data"]["text/html"].replace('href="#', f'href="{name}.html#')
        for tag in layout.ON_CARD
        if tag in shown
        for output in shown[tag].outputs
        if "text/html" in output.get("data", {})
    )


def _figure_order(name: str) -> tuple[int, int]:
    """Return the sort key of a figure's file: the place of the figure in the catalogue, then the picture's number."""
    stem, number = re.fullmatch(r"(.*?)(?:-(\d+))?", name).groups()  # type: ignore[union-attr]
    order = list(catalogue.figures())
    return order.index(stem) if stem in order else len(order), int(number or 0)
