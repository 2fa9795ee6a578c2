"""Save a run as a baseline, and open one: a slim run folder that is signed by its own hash.

A baseline is a run folder like any other, so that tables and `waver compare` read it, too; its run.json has the field
`baseline` (results/schema.json). The hash tells damage, not forgery: whoever changes a file can sign it again.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.runs import Runs
from analysis.runs.folder import list_run_folders
from analysis.runs.hashed import BASELINE, compute_baseline_hash, is_baseline_folder, refuse_changed_baseline
from ground import run_json
from ground.errors import InputError, format_nearest_name_hint
from ground.extras import DISTRIBUTION
from ground.run_json import SCHEMA
from ground.version import find_installed_version
from ground.writing import finish_interrupted_folder_replacement, is_reserved_by_windows, write_folder_atomically

FOLDER = Path("baselines")  # where baselines are kept, and looked for by their names
FORMAT = 1
RUN_JSON, STIMULI = (SCHEMA[part]["file"] for part in ("run", "stimuli"))
FILES = {RUN_JSON, STIMULI, "responses"}  # of a baseline of one run folder
_NAME = re.compile(r"\w[\w.+-]{0,79}")


def save_baseline(runs: Runs, name: str, out: Path | None = None, *, replaces: bool = False) -> Path:
    """Save what checks need of some runs as a baseline.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    name
        Its name: letters, digits and `._+-`.
    out
        The folder to write; None: `baselines/NAME`.
    replaces
        Whether a baseline that is there already is replaced.

    Returns
    -------
    Path
        The folder. Of several run folders, it has a folder for each.

    Raises
    ------
    InputError
        For a name that is none, a folder that is there already, runs that are a baseline themselves, or an `out` that
        is a run, holds one, or lies in one.
    """
    from analysis.check.slim import write_slim_tables

    if not _NAME.fullmatch(name):
        raise InputError(f"--as {name!r}: a name has letters, digits, and . _ + - after the first of them, at most 80")
    if is_reserved_by_windows(name) or name.endswith("."):
        raise InputError(f"--as {name}: Windows cannot open a folder of this name; give another")
    out = FOLDER / name if out is None else out
    for folder in runs.folders:
        if is_baseline_folder(folder):
            raise InputError(f"{folder.path}: this is a baseline already; save the run that it was made of")
        if folder.path.resolve() == out.resolve():
            raise InputError(f"--to {out}: this is the run itself; give another folder")
        if folder.path.resolve() in out.resolve().parents or out.resolve() in folder.path.resolve().parents:
            raise InputError(f"--to {out}: the run {folder.path} is around it or in it; give another folder")
    _refuse_output_folder_unless_free_or_replaced(out, replaces=replaces)
    names = _name_run_folders([folder.path for folder in runs.folders])

    def write_baseline_folder(aside: Path) -> None:
        """Write the folder of every run, or the only one's files."""
        for folder, own_name in zip(runs.folders, names, strict=True):
            inner = aside / own_name if len(names) > 1 else aside
            inner.mkdir(exist_ok=True)
            write_slim_tables(runs, folder, inner)
            _write_run_json_that_holds_baseline_hash(inner, folder.info, name, names)
        # Another process may have saved one meanwhile.
        _refuse_output_folder_unless_free_or_replaced(out, replaces=replaces)

    write_folder_atomically(out, write_baseline_folder)
    return out


def open_baseline(name: str | Path) -> Runs:
    """Open a baseline by its name or its folder; or a run folder as it is.

    Parameters
    ----------
    name
        A folder, or the name of one in `baselines`.

    Returns
    -------
    Runs

    Raises
    ------
    InputError
        Where there is none; it was changed, is not whole, or was saved by a newer version.
    """
    from analysis import runs

    path = find_folder_of_baseline_or_run(name)
    read_fields_of_unchanged_baseline(path)
    return runs.open_runs(path)


def find_folder_of_baseline_or_run(name: str | Path) -> Path:
    """Find the folder of a baseline, or a run folder: as given, else by its name in `baselines`.

    Raises
    ------
    InputError
        There is none; the message names the nearest.
    """
    if not str(name):
        raise InputError("the name of a baseline is empty")
    path = Path(name).expanduser()
    for folder in (path, FOLDER / path):
        finish_interrupted_folder_replacement(folder)
        if folder.is_dir():
            return folder
    names = sorted(folder.name for folder in FOLDER.glob("[!.]*") if folder.is_dir())
    listed = f"; in {FOLDER} there is {', '.join(names)}" if names else ""
    raise InputError(
        f"{name}: no such baseline{format_nearest_name_hint(str(name), names)}{listed}; save one by `waver baseline "
        "save RUN --as NAME`"
    )


def read_fields_of_unchanged_baseline(path: Path) -> list[dict[str, Any]]:
    """Refuse a baseline that was changed, is not whole, or is newer than this version.

    Parameters
    ----------
    path
        Its folder; run folders that are no baseline pass.

    Returns
    -------
    list of dict
        The field `baseline` of each of its folders that has one.

    Raises
    ------
    InputError
        It was changed, is not whole, was saved by a newer version, or is no run folder; or there are several baselines.
    """
    details = []
    for folder in list_run_folders(path):
        file = folder / RUN_JSON
        if not file.is_file():
            raise InputError(f"{path}: this is no baseline and no run folder: {file.name} is missing")
        info = run_json.read_run_json(folder)
        if BASELINE not in info:
            continue
        signed = info[BASELINE]
        if signed["format"] > FORMAT:
            raise InputError(
                f"{folder}: a baseline of format {signed['format']}, saved by Waver {signed['version']}; this version "
                f"reads {FORMAT}: update Waver, or save the baseline again"
            )
        refuse_changed_baseline(folder, info)
        details.append(signed)
    baselines = {(signed["name"], signed["saved"], *signed["folders"]): signed for signed in details}
    if len(baselines) > 1:
        listed = ", ".join(sorted({signed["name"] for signed in details})[:5])
        raise InputError(f"{path}: there are several baselines in it: {listed}; give one of them")
    if details and not (path / RUN_JSON).is_file() and len(details[0]["folders"]) > 1:
        for name in details[0]["folders"]:
            if not (path / name / RUN_JSON).is_file():
                raise InputError(f"{path}: the baseline lacks the folder {name}, or {RUN_JSON} in it; restore it")
    return details


def verify_baseline_is_unchanged(baseline: Runs) -> None:
    """Refuse what was read of a baseline whose files were replaced meanwhile: it may be of both.

    Parameters
    ----------
    baseline
        From `open_baseline`, after it was read.

    Raises
    ------
    InputError
        Naming the folder.
    """
    for folder in baseline.folders:
        if is_baseline_folder(folder) and folder.info[BASELINE]["sha256"] != compute_baseline_hash(
            folder.path, folder.info
        ):
            raise InputError(f"{folder.path}: the baseline was changed while it was read; give the same command again")


def _refuse_output_folder_unless_free_or_replaced(out: Path, *, replaces: bool) -> None:
    """Refuse a place that is taken, unless by a baseline that is to be replaced, and by nothing else."""
    if not out.name or out.name == "..":
        raise InputError(f"--to {out}: give a folder that has a name, such as {FOLDER / 'released'}")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    infos = [run_json.read_run_json(folder) for folder in list_run_folders(out) if (folder / RUN_JSON).is_file()]
    if not infos or BASELINE not in infos[0]:
        raise InputError(f"{out}: this is there already, and no baseline; give another folder after --to")
    if not replaces:
        raise InputError(f"{out}: there is a baseline already; add --replace, or give another name")
    own_names = FILES if (out / RUN_JSON).is_file() else {*infos[0][BASELINE]["folders"]}
    for file in sorted(out.iterdir()):
        if file.name not in own_names:
            raise InputError(
                f"{file}: is no part of the baseline that --replace removes; move it, or give another --to"
            )


def _name_run_folders(paths: Sequence[Path]) -> list[str]:
    """Name the run folders by their last parts, numbered where two are the same."""
    names: list[str] = []
    for path in paths:
        name = path.resolve().name
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        names.append(name if name not in names else next(other for other in numbered if other not in names))
    return names


def _write_run_json_that_holds_baseline_hash(folder: Path, info: Any, name: str, names: Sequence[str]) -> None:
    """Write run.json with the field `baseline`, whose hash is over all that is written before."""
    from analysis.check.slim import build_slim_run_json
    from analysis.reporting.output.provenance import format_current_time

    content = build_slim_run_json(info)
    version = find_installed_version(DISTRIBUTION) or "unknown"  # a checkout that is run without being installed
    content[BASELINE] = {
        "format": FORMAT, "name": name, "saved": format_current_time(), "version": version, "folders": list(names),
        "sha256": "",
    }  # fmt: skip
    content[BASELINE]["sha256"] = compute_baseline_hash(folder, content)
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (folder / RUN_JSON).write_text(text, encoding="utf-8", newline="")
