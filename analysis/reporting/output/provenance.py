"""Say how to cite a report and where it comes from: runs, models, versions, and the command that makes it again."""

from __future__ import annotations

import datetime
import inspect
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from analysis.reporting import words
from analysis.reporting.catalogue.outside import find_outside_room_of_page
from analysis.reporting.output.html import render_template
from analysis.reporting.words import citations
from analysis.runs import Runs
from analysis.runs.unanswered import count_unanswered_prompts, list_unasked_models
from ground.extras import DISTRIBUTION
from ground.version import find_installed_version, read_waver_version

Entries: TypeAlias = "list[tuple[str, list[str]]]"
PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "scipy", "statsmodels")


def render_footer(
    study_names: Sequence[str], entries: Entries, unshown_details: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the foot of a page or of the index: what to cite, where it comes from, and BibTeX to copy.

    Parameters
    ----------
    study_names
        The published studies that it repeats (`citations.read_published_studies`); Waver itself is cited before them.
    entries
        From `list_provenance_entries`.
    unshown_details
        Figure or table -> what the answer says about it, where no cell shows it.

    Returns
    -------
    The HTML.
    """
    studies_by_name = citations.read_published_studies()
    cited_studies = {name: studies_by_name[name] for name in study_names}
    return render_template("provenance", studies=[citations.TOOL, *cited_studies.values()],
                           bibtex=citations.render_bibtex(cited_studies), entries=entries,
                  unshown=unshown_details or {})  # fmt: skip


def list_provenance_entries(runs: Runs, folders: Sequence[str], options: Mapping[str, Any]) -> Entries:
    """List what stands at the foot of a page.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    folders
        The run folders as they were given.
    options
        Parameters of the page that are not the defaults.

    Returns
    -------
    Name and lines of every entry.
    """
    info = runs.info
    return [
        ("Run", [*folders]),
        *([("Part", [f"where {runs.part.condition}", words.describe_size_of_part(runs.part)])] if runs.part else []),
        ("Study", [_describe_study_protocol_source_and_hash(name, fields) for name, fields in info["studies"].items()]),
        ("Models", [_describe_model_revision_and_engine(name, fields) for name, fields in info["models"].items()]),
        ("Conditions", _list_lines_about_conditions(info["conditions"])),
        *([("Wordings", lines)] if (lines := words.list_wording_subsample_notes(runs.info)) else []),
        ("No response", _list_lines_about_prompts_without_response(runs)),
        ("Asked with", _list_lines_about_sessions(info["sessions"])),
        ("Analysed with", [format_package_versions()]),
        ("Parameters", [_format_parameters(options)]),
        ("Date", [format_current_time()]),
    ]


def list_outside_page_entries(pages: Sequence[str]) -> Entries:
    """List the pages that are other packages', for the foot; no entry where none is."""
    rooms = [room for page in pages if (room := find_outside_room_of_page(page))]
    return [("From other packages", [room.title for room in rooms])] if rooms else []


def build_report_command(
    folders: Sequence[str], out: Path, parameters: Mapping[str, Any], title: str, single_file: bool,
    over_time: bool = False,
) -> str:  # fmt: skip
    """Write the command that makes a report again.

    Parameters
    ----------
    folders
        The run folders.
    out
        Folder of the report.
    parameters
        Parameters of the pages that were given.
    title
        Title of the report; empty for none.
    single_file, over_time
        Whether the report is one file, and whether it is about several times.

    Returns
    -------
    The command as typed into a shell.
    """
    options = [
        part
        for name, value in parameters.items()
        for part in (("--where", str(value)) if name == "where" else ("-p", f"{name}={_format_option_value(value)}"))
        if name != "where" or value
    ]
    title_options = ["--title", title] if title else []
    return shlex.join(["waver", "report", *folders, "--out", str(out), *title_options, *options]) + (
        " --single-file" * single_file + " --over-time" * over_time
    )


def format_package_versions() -> str:
    """Return the versions of Python and of the packages that the numbers depend on."""
    return ", ".join(
        [
            f"Python {platform.python_version()}",
            f"{DISTRIBUTION} {read_waver_version() or 'not installed'}",
            *(f"{name} {find_installed_version(name) or 'not installed'}" for name in PACKAGES),
        ]
    )


def format_current_time() -> str:
    """Return date and time in UTC, to the minute."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _format_option_value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _format_parameters(options: Mapping[str, Any]) -> str:
    """Write the parameters that say something; an empty one is the default."""
    return ", ".join(_format_parameter(name, value) for name, value in options.items() if value != "") or "defaults"


def _format_parameter(name: str, value: Any) -> str:
    """Write a parameter: functions by name with where they are defined, anything else as it is."""
    if not isinstance(value, Mapping):
        return f"{name} = {value}"
    sources = [f"{key} ({_describe_where_function_is_defined(function)})" for key, function in value.items()]
    return f"{name} = {'; '.join(sources)}"


def _describe_where_function_is_defined(function: Any) -> str:
    """Say where a function is defined: file and line, or the notebook, or the module of one that has no code here."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return f"{getattr(function, '__module__', None) or type(function).__module__}.{name}"
    # The code of a cell has a name like that of a file, but there is no such file.
    has_file = os.path.isfile(code.co_filename)
    return f"{name}, {code.co_filename} line {code.co_firstlineno}" if has_file else f"{name}, defined in the notebook"


def _describe_study_protocol_source_and_hash(name: str, fields: Mapping[str, Any]) -> str:
    """Write a study's name, protocol, source of the items and hash."""
    source = f", items from {fields['source']}" if fields.get("source") else ""
    return f"{name} ({fields['protocol']}{source}), hash {fields['hash']}"


def _describe_model_revision_and_engine(name: str, fields: Mapping[str, Any]) -> str:
    """Write a model's name with its revision, engine and what else run.json records of it."""
    field_names = ("revision", "engine", "dtype", "device", "parameters", "series", "stage")
    field_texts = [
        f"{key} {format(fields[key], ',') if isinstance(fields[key], int) else fields[key]}"
        for key in field_names
        if fields.get(key) not in (None, "")
    ]
    return f"{name}: {', '.join(field_texts) or 'nothing recorded'}"


def _list_lines_about_prompts_without_response(runs: Runs) -> list[str]:
    """Write which prompts have no response, and which models were never asked."""
    unasked = [f"{name}: not asked" for name in list_unasked_models(runs)]
    missing = words.describe_unanswered_prompts_by_unit(count_unanswered_prompts(runs))
    return [*missing, *unasked] or ["none: every prompt has one"]


def _list_lines_about_conditions(conditions: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Write for each condition its name and its settings; the study where another has other settings of that name."""
    lines = []
    for study, fields in conditions.items():
        for name, settings in fields.items():
            field_texts = [
                f"{key} {_format_setting(value)}" for key, value in settings.items() if value not in (None, "", [], {})
            ]
            is_shared = all(other.get(name, settings) == settings for other in conditions.values())
            lines.append(f"{name if is_shared else f'{name} in “{study}”'}: {', '.join(field_texts)}")
    return list(dict.fromkeys(lines))


def _format_setting(value: Any) -> str:
    """Write a setting in words: of records, such as examples of a prompt, their number; of a mapping, its fields."""
    if isinstance(value, Mapping):
        return " and ".join(f"{key} {_format_setting(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        is_of_records = any(isinstance(part, Mapping) for part in value)
        is_range = len(value) == 2 and all(isinstance(part, int | float) for part in value)
        return f"{len(value):,}" if is_of_records else (" to " if is_range else " and ").join(map(str, value))
    return str(value)


def _list_lines_about_sessions(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write for each session its command, its start and the versions of its libraries."""
    lines = []
    for session in sessions:
        call = shlex.join(map(str, session.get("command") or []))
        if call and session.get("folder"):
            call = f"cd {shlex.quote(str(session['folder']))} && {call}"
        library_versions = ", ".join(f"{name} {version}" for name, version in (session.get("versions") or {}).items())
        rooms = ", ".join(f"{room} of {source}" for room, source in (session.get("rooms") or {}).items())
        lines.append(" | ".join(filter(None, (call, session.get("started") or "", rooms, library_versions))))
    return list(dict.fromkeys(filter(None, lines))) or ["not recorded"]
