"""Say what a report is about: its title, what was asked of whom and when, and the files that lie beside its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from analysis.reporting import catalogue
from analysis.reporting.words import describe_size_of_part, format_quantity, join_names, phrase_run_dates
from analysis.runs import Runs
from analysis.runs.folder import Folder
from analysis.runs.unanswered import list_unasked_models

MOST_NAMES = 3  # of models or studies that are named; of more, the number stands there


def phrase_default_title(models: Collection[str], studies: Collection[str]) -> str:
    """Write the title of a report that was given none.

    Parameters
    ----------
    models
        Names of those that answered (`Runs.models_with_response_rows`).
    studies
        Their names.

    >>> phrase_default_title(["gpt2"], ["tea"])
    'How gpt2 answered in “tea”'
    >>> phrase_default_title("abcd", "stuvw")
    'How 4 models answered in 5 studies'
    """
    names = join_names(list(models)) if len(models) <= MOST_NAMES else format_quantity(len(models), "model")
    return f"How {names} answered in {_name_studies_or_count_them(studies)}"


def describe_report(runs: Runs, n_pages: int, question_over_time: str = "") -> list[str]:
    """Say what a report is about, for the top of its index.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`, or a part of them.
    n_pages
        How many questions have a page.
    question_over_time
        That of the page about all times; empty where there is none.

    Returns
    -------
    list of str
        Sentences: what was asked of whom and when, which part it is of, and which studies were asked several times.
    """
    info, names = runs.info, list(runs.models_with_response_rows)
    models = format_quantity(len(names), "model") + (f" ({join_names(names)})" if len(names) <= MOST_NAMES else "")
    verb = "was" if len(names) == 1 else "were"
    sentences = [f"{models} {verb} asked in {_name_studies_or_count_them(info['studies'])}{phrase_run_dates(info)}."]
    if len(info["studies"]) > MOST_NAMES:
        sentences.append(f"The studies: {', '.join(info['studies'])}.")
    if part := describe_size_of_part(runs.part):
        sentences.append(f"A part only: {part}.")
    if unasked := list_unasked_models(runs):
        sentences.append(f"{join_names(unasked)} could not be asked, or not yet.")
    sentences += _describe_studies_asked_several_times(runs, question_over_time)
    if n_pages:
        verb = "has" if n_pages == 1 else "have"
        sentences.append(f"{format_quantity(n_pages, 'question')} {verb} a page with figures, tables and method.")
    return sentences


def _name_studies_or_count_them(studies: Collection[str]) -> str:
    """Name few studies; of more, write the number."""
    names = [f"“{name}”" for name in studies]
    return join_names(names) if len(names) <= MOST_NAMES else format_quantity(len(names), "study", "studies")


def _describe_studies_asked_several_times(runs: Runs, question_over_time: str) -> Iterator[str]:
    """Say which studies were asked several times, how often and when, and which pages are about that."""
    repeated_studies = list(dict.fromkeys(folder.study for folder in runs.earlier))
    for study in repeated_studies:
        folders = [folder for folder in (*runs.earlier, *runs.folders) if folder.study == study]
        sessions = [session for folder in folders for session in folder.info["sessions"]]
        dates = phrase_run_dates({"models": runs.info["models"], "sessions": sessions})
        yield f"“{study}” was asked {_phrase_how_often_models_were_asked(folders)}{dates}."
        last_models = {model for folder in runs.folders if folder.study == study for model, _ in folder.units}
        left_out = sorted({model for folder in folders for model, _ in folder.units} - last_models)
        if left_out:
            yield f"Not asked the last time, so on no page about that: {join_names(left_out)}."
    if repeated_studies and question_over_time:
        yield f"Pages are about the last time; “{question_over_time}” is about all times."
    elif repeated_studies:
        yield "All pages are about the last time."


def _phrase_how_often_models_were_asked(folders: Sequence[Folder]) -> str:
    """Write how often the models of a study were asked: "6 times"; "up to 6 times" where some were asked less often."""
    counts = Counter(unit for folder in folders for unit in folder.units)
    most = max(counts.values())
    return f"{'up to ' if min(counts.values()) < most else ''}{most} times"


def map_tables_to_written_csv_files(out: Path) -> dict[str, Path]:
    """Map the tables of a report to their files: name -> CSV file, in the order of the pages."""
    return {name: path for name in catalogue.list_tables() if (path := out / "tables" / f"{name}.csv").is_file()}


def list_picture_names(out: Path) -> list[str]:
    """List the pictures of a report by the names of their files, in the order of the pages."""
    stems = [path.stem for path in (out / "figures").glob("*.pdf")]
    return sorted((stem for stem in stems if not stem.endswith("-column")), key=_build_picture_sort_key)


def find_figure_name_of_picture_file(picture_name: str) -> str:
    """Find the figure that a picture is of by the name of its file; empty where no page has such a figure.

    >>> [find_figure_name_of_picture_file(name) for name in ("agreement-2", "overview", "mine")]
    ['agreement', 'overview', '']
    """
    file_names = {name: entry.file_name or name for name, entry in catalogue.list_figures().items()}
    fitting = [name for name, stem in file_names.items() if f"{picture_name}-".startswith(f"{stem}-")]
    return max(fitting, key=lambda name: len(file_names[name]), default="")


def _build_picture_sort_key(picture_name: str) -> tuple[int, int, str]:
    """Return the sort key of a picture: the place of its figure in the catalogue, then the picture's number."""
    order, figure = list(catalogue.list_figures()), find_figure_name_of_picture_file(picture_name)
    number = picture_name.rpartition("-")[2]
    return order.index(figure) if figure else len(order), int(number) if number.isdigit() else 0, picture_name
