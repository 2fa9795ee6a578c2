"""Make a report from runs: papermill runs the notebooks, nbconvert turns them into self-contained pages."""

from __future__ import annotations

import functools
import importlib.util
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis import runs
from analysis.reporting import catalogue
from analysis.reporting.catalogue import Catalogue
from analysis.reporting.catalogue.outside import build_own_or_outside_notebook_path, find_outside_room_of_page
from analysis.reporting.output import cells, execution, files, index, layout, made_notebook, notebooks, provenance
from analysis.reporting.output.first_screen import read_first_screen_of_notebook
from analysis.reporting.output.layout import Chapter
from analysis.reporting.output.results import NotebookResult, Report
from analysis.reporting.tidy.selection import select_part_of_runs
from analysis.reporting.tidy.tables import open_tidy_connection
from analysis.reporting.words import citations
from analysis.reporting.words.one_model import rephrase_heading_for_one_model
from analysis.runs import Runs
from ground.errors import InputError, describe_os_error_with_exit_status
from ground.extras import refuse_missing_packages
from ground.progress import print_progress, print_warning


@dataclass(frozen=True, slots=True)
class Notebook:
    """Hold one notebook of the report and the catalogue of its page."""

    path: Path
    page: Catalogue

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def missing_packages_note(self) -> str:
        """Say in one line which needed packages are not installed; empty where all are."""
        absent = [name for name in self.page.needed_packages if importlib.util.find_spec(name) is None]
        return ", ".join(f"it needs {name}: {self.page.needed_packages[name]}" for name in absent)


def list_notebooks_of_all_pages() -> list[Notebook]:
    """Return the notebooks of all pages, in the order of the report."""
    return [
        Notebook(_find_or_make_notebook(name, page), page)
        for name, page in catalogue.map_page_names_to_catalogues().items()
    ]


def _find_or_make_notebook(name: str, page: Catalogue) -> Path:
    """Find the notebook of a page, or make one if it has none."""
    path = build_own_or_outside_notebook_path(name, notebooks.FOLDER)
    return made_notebook.make_notebook_of_page(name) if page.answer and not path.exists() else path


def write_report(
    folders: Sequence[str],
    out: Path,
    parameters: Mapping[str, Any] | None = None,
    registry: Sequence[Notebook] | None = None,
    title: str = "",
    single_file: bool = False,
    over_time: bool = False,
) -> Report:
    """Write the report about some runs.

    Parameters
    ----------
    folders
        Run folders, or folders that hold run folders.
    out
        Folder for the pages, `tables/`, `figures/` and the executed `notebooks/`; made where it is missing.
    parameters
        Notebook parameters: name -> value, or -> text as typed.
    registry
        The notebooks to choose from; those of all pages unless given.
    title
        What the report is about, in the reader's words; unless given, how many models answered in which studies.
    single_file
        Write everything as one file, too: `OUT.html` beside the folder.
    over_time
        Whether the folders may hold the same models, asked several times: pages are about the last time, and those
        about all times are made, too.

    Returns
    -------
    Report
        With a result per notebook about such runs. A failed notebook has an `error` and no page; one that the runs have
        no data for, or that needs a missing package, is left out. The other pages are written all the same.

    Raises
    ------
    InputError
        For a package of the extra `notebooks` that is not installed, a folder that is no run, runs that no notebook is
        about, or an unknown or mistyped parameter. Nothing is written in these cases.
    """
    refuse_missing_packages("a report", "papermill", "nbconvert", "ipykernel")
    registered = list_notebooks_of_all_pages() if registry is None else registry
    candidates = [notebook for notebook in registered if over_time or not notebook.page.over_time]
    whole = runs.open_runs(
        *(notebooks.resolve_path_here_or_in_notebooks(folder) for folder in folders), over_time=over_time
    )
    opened, where = whole, str((parameters or {}).get("where", ""))
    if where.strip():
        opened = whole.restrict_to_part(select_part_of_runs(whole, open_tidy_connection(whole), where))
    runs_by_page = {n.name: page_runs for n in candidates if (page_runs := opened.select_protocols(n.page.protocols))}
    reasons = {
        n.name: n.page.explain_no_data(runs_by_page[n.name], parameters or {})
        for n in candidates
        if n.name in runs_by_page
    }
    relevant_notebooks = [notebook for notebook in candidates if notebook.name in reasons]
    chosen_notebooks = [notebook for notebook in relevant_notebooks if not reasons[notebook.name]]
    if not chosen_notebooks:
        raise InputError(_explain_empty_report(folders, candidates, opened, reasons))
    if out.suffix.lower() in (".html", ".htm"):
        raise InputError(
            f"{out}: --out names a folder; give --out {out.with_suffix('')}, and --single-file for "
            f"{out.with_suffix('')}.html"
        )
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; --out needs a folder")
    if single_file and build_single_file_path(out).is_dir():
        raise InputError(
            f"{build_single_file_path(out)} is a folder; --single-file writes a file of that name: give another --out"
        )
    values = notebooks.convert_parameters_by_notebook(
        parameters or {},
        {notebook.name: notebook.path for notebook in chosen_notebooks},
        {notebook.path: reasons[notebook.name] for notebook in relevant_notebooks if reasons[notebook.name]},
    )
    files.remove_report_tables_and_figures(out)
    for name in ("index", *(notebook.name for notebook in registered)):  # one that stayed would lead to what is removed
        (out / f"{name}.html").unlink(missing_ok=True)
    command = provenance.build_report_command(folders, out, parameters or {}, title, single_file, over_time)
    # A page opens its own, and knows all models, and how much of all there is in a part.
    run_paths = [str(folder.path) for folder in whole.folders]
    all_paths = [*(str(folder.path) for folder in whole.earlier), *run_paths]
    title = title or index.phrase_default_title(opened.models_with_response_rows, opened.info["studies"])
    left_out = {
        notebook.name: reasons[notebook.name] or notebook.missing_packages_note for notebook in relevant_notebooks
    }
    tasks = [
        functools.partial(_build_left_out_result, notebook, left_out[notebook.name])
        if left_out[notebook.name]
        else functools.partial(
            _execute_page,
            notebook,
            {"runs": all_paths if notebook.page.over_time else run_paths, **values[notebook.name]},
            out,
            command,
            len(runs_by_page[notebook.name].models_with_response_rows),
        )
        for notebook in relevant_notebooks
    ]
    entries = provenance.list_provenance_entries(opened, folders, parameters or {})
    for opened_runs in (whole, opened, *runs_by_page.values()):
        opened_runs.close()  # the kernels open their own, and share the memory with this process
    results = execution.run_notebook_tasks_in_threads(tasks, _print_progress_line)
    files.write_dictionary_of_written_tables(out)
    results = _write_pages_and_update_results(results, out, title)
    study_names = citations.list_distinct_study_names_of_pages(notebook.page.studies for notebook in relevant_notebooks)
    entries += provenance.list_outside_page_entries([notebook.name for notebook in relevant_notebooks])
    foot = provenance.render_footer(study_names, entries)
    over_time_names = {notebook.name for notebook in relevant_notebooks if notebook.page.over_time}
    over_time_questions = [result.question for result in _list_chapters(results) if result.name in over_time_names]
    about = index.describe_report(opened, len(_list_chapters(results)), *over_time_questions[:1])
    index_values = {"title": title, "about": about, "results": results, "foot": foot, "command": command}
    table_files = index.map_tables_to_written_csv_files(out)
    pictures = index.list_picture_names(out)
    files.write_text_file(out / "index.html", layout.render_index(tables=table_files, figures=pictures, **index_values))
    if single_file:
        single_file_tables = (
            table_files | {"dictionary": out / "tables" / files.DICTIONARY} if table_files else table_files
        )
        files.write_text_file(
            build_single_file_path(out),
            layout.render_single_file(_list_chapters(results), single_file_tables, **index_values),
        )
    return Report(
        out, title, tuple(about), command, tuple(results), build_single_file_path(out) if single_file else None
    )


def build_single_file_path(out: Path) -> Path:
    """Return the file that holds everything of the report in a folder: beside it, with its name."""
    folder = out.resolve() if out.name in ("", "..") else out
    return folder.with_name(f"{folder.name}.html")


def _list_chapters(results: Sequence[NotebookResult]) -> list[Chapter]:
    """List the chapters of the notebooks that have one."""
    return [result.chapter for result in results if result.chapter]


def _write_pages_and_update_results(results: Sequence[NotebookResult], out: Path, title: str) -> list[NotebookResult]:
    """Write all pages when it is known which there are; one that cannot be written has failed."""
    chapters = _list_chapters(results)
    written = []
    for result in results:
        try:
            if result.chapter:
                files.write_text_file(out / f"{result.name}.html", layout.render_page(result.chapter, title, chapters))
            written.append(result)
        except OSError as error:
            written.append(
                _build_failed_result(result.name, result.question, describe_os_error_with_exit_status(error)[1])
            )
            _print_progress_line(written[-1])
    return written


def _explain_empty_report(
    folders: Sequence[str], candidates: Sequence[Notebook], opened_runs: Runs, reasons: Mapping[str, str]
) -> str:
    """Say in one line why there is nothing to report."""
    protocols = {folder.info["study"]["protocol"] for folder in opened_runs.folders}
    if not any(protocols & notebook.page.protocols for notebook in candidates):
        return (
            f"{', '.join(folders)}: {catalogue.explain_no_page_for_protocols(protocols)}"
            f"{_suggest_outside_packages_of_sessions(opened_runs)}"
        )
    return f"{', '.join(folders)}: nothing to report: {'; '.join(f'{name}: {why}' for name, why in reasons.items())}"


def _suggest_outside_packages_of_sessions(opened_runs: Runs) -> str:
    """Say which packages the sessions of some runs used, to go behind a line; empty where they used none."""
    rooms = [session.get("rooms") or {} for session in opened_runs.info["sessions"]]
    sources = sorted({source for room_sources in rooms for source in room_sources.values()})
    return f"; the runs were made with {', '.join(sources)}, which may have one: install it" if sources else ""


def _build_left_out_result(notebook: Notebook, why: str) -> NotebookResult:
    """Say why a notebook is not run."""
    question = notebooks.read_notebook_question(notebook.path)
    return NotebookResult(notebook.name, question, left_out=why, progress_line=f"{notebook.name}: left out: {why}")


def _execute_page(
    notebook: Notebook, values: Mapping[str, Any], out: Path, command: str, n_models: int
) -> NotebookResult:
    """Execute one notebook; `command` is the command that makes the report again."""
    page, executed = out / f"{notebook.name}.html", out / "notebooks" / f"{notebook.name}.ipynb"
    question = notebooks.read_notebook_question(notebook.path)
    if n_models == 1:
        question = rephrase_heading_for_one_model(question)
    started = time.monotonic()
    try:
        executed.parent.mkdir(parents=True, exist_ok=True)
        node = execution.execute_notebook(notebook.path, executed, {"out": str(out), **values})
        if n_models == 1:
            cells.rephrase_notebook_headings(node, rephrase_heading_for_one_model)
        cells.render_frames_and_repeat_differences(node)
        chapter = layout.build_chapter_from_notebook(notebook.name, question, node, command)
    except execution.NotebookFailed as error:
        room = find_outside_room_of_page(notebook.name)
        source = f"page of {room.package_and_version}: " if room and room.package_and_version not in str(error) else ""
        return _build_failed_result(notebook.name, question, f"{source}{error}", error.wrong_input)
    except OSError as error:
        return _build_failed_result(notebook.name, question, describe_os_error_with_exit_status(error)[1])
    progress_line = f"{notebook.name}: {page} ({time.monotonic() - started:.0f} s)"
    screen = read_first_screen_of_notebook(node)
    return NotebookResult(notebook.name, question, screen=screen, progress_line=progress_line, chapter=chapter)


def _build_failed_result(name: str, question: str, reason: str, wrong_input: bool = False) -> NotebookResult:
    """Build the result of a page that failed, with the reason."""
    return NotebookResult(
        name, question, error=reason, wrong_input=wrong_input, progress_line=f"{name}: failed: {reason}"
    )


def _print_progress_line(result: NotebookResult) -> None:
    (print_warning if result.error else print_progress)(result.progress_line)
