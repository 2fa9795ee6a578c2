"""Say how to cite a report and where it comes from: runs, models, versions, and the command that makes it again."""

from __future__ import annotations

import datetime
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeAlias

from analysis.reporting import citations, words
from analysis.reporting.html import render
from analysis.runs.unanswered import unanswered

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.runs import Runs

Entries: TypeAlias = "list[tuple[str, list[str]]]"
PACKAGES = ("waver-lm", "duckdb", "matplotlib", "numpy", "pandas", "scipy", "statsmodels")


def foot(names: Sequence[str], told: Entries, unshown: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the foot of a page or of the index: what to cite, where it comes from, and BibTeX to copy.

    Parameters
    ----------
    names
        The published studies that it repeats (`citations.studies`); Waver itself is cited before them.
    told
        From `entries`.
    unshown
        Figure or table -> what the answer says about it, where no cell shows it.

    Returns
    -------
    The HTML.
    """
    known = citations.studies()
    cited = {name: known[name] for name in names}
    return render("provenance", studies=[citations.TOOL, *cited.values()], bibtex=citations.bibtex(cited), entries=told,
                  unshown=unshown or {})  # fmt: skip


def entries(runs: Runs, folders: Sequence[str], options: Mapping[str, Any]) -> Entries:
    """List what stands at the foot of a page.

    Parameters
    ----------
    runs
        From `analysis.runs.open`.
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
        ("Study", [_study(name, fields) for name, fields in info["studies"].items()]),
        ("Models", [_model(name, fields) for name, fields in info["models"].items()]),
        ("Conditions", _conditions(info["conditions"])),
        *([("Wordings", lines)] if (lines := words.drawn(runs.info)) else []),
        ("No response", words.unanswered_by_unit(unanswered(runs)) or ["none: every prompt has one"]),
        ("Asked with", _sessions(info["sessions"])),
        ("Analysed with", [versions()]),
        ("Parameters", [", ".join(f"{name} = {value}" for name, value in options.items()) or "defaults"]),
        ("Date", [now()]),
    ]


def command(folders: Sequence[str], out: Path, given: Mapping[str, Any], title: str, single_file: bool) -> str:
    """Write the command that makes a report again.

    Parameters
    ----------
    folders
        The run folders.
    out
        Folder of the report.
    given
        Parameters of the pages that were given.
    title
        Title of the report; empty for none.
    single_file
        Whether the report is one file.

    Returns
    -------
    The command as typed into a shell.
    """
    options = [part for name, value in given.items() for part in ("-p", f"{name}={_plain(value)}")]
    named = ["--title", title] if title else []
    return shlex.join(["waver", "report", *folders, "--out", str(out), *named, *options]) + (
        " --single-file" if single_file else ""
    )


def versions() -> str:
    """Return the versions of Python and of the packages that the numbers depend on."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in PACKAGES)])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # a checkout that is run without being installed
        return "not installed"


def now() -> str:
    """Return date and time in UTC, to the minute."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _study(name: str, fields: Mapping[str, Any]) -> str:
    source = f", items from {fields['source']}" if fields.get("source") else ""
    return f"{name} ({fields['protocol']}{source}), hash {fields['hash']}"


def _model(name: str, fields: Mapping[str, Any]) -> str:
    shown = ("revision", "engine", "dtype", "device", "parameters", "series", "stage")
    known = [f"{key} {_number(fields[key])}" for key in shown if fields.get(key) not in (None, "")]
    return f"{name}: {', '.join(known) or 'nothing recorded'}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _conditions(conditions: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    lines = []
    for fields in conditions.values():
        for name, settings in fields.items():
            known = ", ".join(f"{key} {value}" for key, value in settings.items() if value not in (None, ""))
            lines.append(f"{name}: {known}")
    return list(dict.fromkeys(lines))


def _sessions(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for session in sessions:
        call = shlex.join(map(str, session.get("command") or []))
        if call and session.get("folder"):
            call = f"cd {shlex.quote(str(session['folder']))} && {call}"
        used = ", ".join(f"{name} {version}" for name, version in (session.get("versions") or {}).items())
        lines.append(" | ".join(filter(None, (call, session.get("started") or "", used))))
    return list(dict.fromkeys(filter(None, lines))) or ["not recorded"]
