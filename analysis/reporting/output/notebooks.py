"""Read notebooks and check their parameters, which are converted to their declared types before anything runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.reporting.catalogue.option_values import convert_to_type_of_default
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line
from ground.shipped import find_shipped_folder

FOLDER = find_shipped_folder("notebooks")
SET_BY_REPORT = ("runs", "out")  # the report sets these itself
_EXAMPLES = {"int": 0, "float": 0.0, "str": "", "bool": False}  # a value of each type that a parameter may have
_TYPE_WORDS = {"int": "a whole number below 2^63", "float": "a number", "str": "a text", "bool": "true or false"}


def resolve_path_here_or_in_notebooks(folder: str) -> Path:
    """Find a run folder: as given, or else relative to the folder of the notebooks.

    Raises
    ------
    InputError
        For an empty name.
    """
    if not str(folder):
        raise InputError("the name of a run folder is empty")
    path = Path(folder).expanduser()
    return path if path.exists() or not (FOLDER / path).exists() else FOLDER / path


def parse_run_folder_names(runs: Any) -> list[str]:
    """Return the run folders that a notebook is given: a list, or the name of one, as `papermill -p runs FOLDER` gives.

    Raises
    ------
    InputError
        For what is no name: papermill reads a folder called 2026 as a number.
    """
    folders = [runs] if isinstance(runs, str | int | float | os.PathLike) else list(runs or [])
    for folder in folders:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(
                f"runs: {shorten_to_one_line(repr(folder))} is no name of a folder; with papermill, give it with -r, "
                "not -p"
            )
    return [os.path.expanduser(str(folder)) for folder in folders]


def read_notebook_question(notebook: Path) -> str:
    """Return the question that a notebook answers, which is the heading of its first cell."""
    cell = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]
    return "".join(cell["source"]).splitlines()[0].removeprefix("# ").strip()


def read_notebook_parameters(notebook: Path) -> dict[str, dict[str, str]]:
    """Read the typed parameters of a notebook: name -> {inferred_type_name, default, help}."""
    import papermill

    parameters: dict[str, dict[str, str]] = papermill.inspect_notebook(str(notebook))
    return parameters


def convert_parameters_by_notebook(
    values: Mapping[str, Any], notebooks: Mapping[str, Path], left_out: Mapping[Path, str] | None = None
) -> dict[str, dict[str, Any]]:
    """Convert and check parameters for some notebooks; each notebook gets the parameters that it has.

    Parameters
    ----------
    values
        Name -> value; texts, as they come from a command line, are converted to the declared type.
    notebooks
        Name -> file.
    left_out
        File of a notebook that is not run -> why.

    Returns
    -------
    dict
        Notebook name -> its parameters.

    Raises
    ------
    InputError
        For a parameter that no notebook has, with the nearest and all names or why the notebook that has it is not
        run, or a value of another type.
    """
    parameters_by_notebook = {name: read_notebook_parameters(path) for name, path in notebooks.items()}
    known_parameters = {
        key: parameter
        for entries in parameters_by_notebook.values()
        for key, parameter in entries.items()
        if key not in SET_BY_REPORT
    }
    listed = f"known are {', '.join(known_parameters)}" if known_parameters else "the pages of these runs have none"
    for name in values:
        if name in SET_BY_REPORT:
            raise InputError(
                f"parameter {name!r} is not given with -p: the call itself says which runs and which folder"
            )
        if name not in known_parameters:
            _refuse_parameter_of_left_out_notebook(name, left_out or {})
            raise InputError(
                f"unknown parameter {shorten_to_one_line(repr(name))}{format_nearest_name_hint(name, known_parameters)}"
                f"; {listed}"
            )
    return {
        notebook: {
            key: convert_notebook_parameter(value, entries[key], key) for key, value in values.items() if key in entries
        }
        for notebook, entries in parameters_by_notebook.items()
    }


def _refuse_parameter_of_left_out_notebook(name: str, left_out: Mapping[Path, str]) -> None:
    """Raise an InputError if a notebook that is not run has the parameter."""
    for path, reason in left_out.items():
        if name in read_notebook_parameters(path):
            raise InputError(f"parameter {name!r}: its page {path.stem} is left out: {reason}; leave the parameter out")


def _describe_parameter(name: str, entry: Mapping[str, str]) -> str:
    """Return a parameter's name, type, default and help as one text."""
    declared_type, default = entry["inferred_type_name"], entry["default"]
    default = default.replace("_", "") if declared_type == "int" else default  # 10_000 is not taken from outside
    return f"{name} ({declared_type}, default {default}: {entry['help']})"


def convert_notebook_parameter(value: Any, entry: Mapping[str, str], name: str) -> Any:
    """Convert a value to the declared type of a parameter.

    Parameters
    ----------
    value
        A text of the command line, where a list is written with commas or as JSON; or a value of the type itself.
    entry
        What the notebook declares of the parameter (`read_notebook_parameters`).
    name
        The parameter, as messages name it.

    Returns
    -------
    The value in the declared type.

    Raises
    ------
    InputError
        The value is not of that type, or no value of that type can be given from outside.

    Examples
    --------
    >>> convert_notebook_parameter("0.05, 0.1", {"inferred_type_name": "list[float]"}, "thresholds")
    [0.05, 0.1]
    """
    declared_type = entry["inferred_type_name"]
    element = declared_type.removeprefix("list[").removesuffix("]")
    if element not in _EXAMPLES:
        raise InputError(f"parameter {name!r} has type {declared_type}, which cannot be given from outside")
    several = element != declared_type
    try:
        converted = convert_to_type_of_default([_EXAMPLES[element]] if several else _EXAMPLES[element], value)
    except ValueError as error:
        raise InputError(
            f"parameter {_describe_parameter(name, {'default': '', **entry})}: {shorten_to_one_line(repr(value))} "
            f"{'has a value that is not' if several else 'is not'} {_TYPE_WORDS[element]}"
        ) from error
    if several and not converted and entry.get("default") != "[]":
        raise InputError(
            f"parameter {_describe_parameter(name, {'default': '', **entry})}: the list is empty; give a value"
        )
    return list(converted) if several else converted
