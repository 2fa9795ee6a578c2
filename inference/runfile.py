"""Read a run file: several models, protocols and conditions in one TOML file, every study in its own folder.

    out = "results/study"          # the root of the run folders

    [defaults]                     # options of every study; a study may override them
    model = ["demo"]

    [[study]]
    protocol = "agreement"
    folder = "statements"          # below the root; default: the name of the study
    name = "opinions"              # this key and all others are options of `run agreement`, without their dashes
    items = "demo"
    option-order = ["yes-no", "no-yes"]

The options have one definition, the command line's: a table becomes the call that would run this study alone. Paths are
relative to the run file.
"""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace, _AppendAction
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from ground.errors import InputError, format_nearest_name_hint
from ground.parser import CommandParser
from inference.asking.execute import Task
from inference.protocols import list_protocols
from inference.runfolder.status import require_out_of_run_file
from inference.stimuli.reading.files import expand_user_path, read_toml, require_portable_file_name, shorten_value

TYPE_BY_KEY = {"out": str, "ray": str, "ray-workers": int, "defaults": dict, "study": list}
TYPE_NAMES = {str: "text", int: "a whole number", dict: "a table", list: "tables"}
NON_OPTION_KEYS = ("protocol", "folder")  # keys of a study that are no options of its protocol
_NO_FOLDER = re.compile(r'^$|^\.|[<>:"|?*\\]|[. ]$')  # hidden, or a name that Windows does not take
SECRETS = ("key", "token", "secret", "password")


class TableParser(CommandParser):
    """The options of a study's table in a run file, or of a call from Python; a wrong one raises `InputError`."""

    def error(self, message: str) -> NoReturn:
        """Raise an error, where a command line would end the program."""
        raise InputError(message)


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """One study of a run file.

    Attributes
    ----------
    where
        The table, as messages name it.
    call
        The call that would run this study alone, protocol first, without `--out`.
    folder
        The name of its run folder; None: that of the study.
    """

    where: str
    call: tuple[str, ...]
    folder: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A run file, checked as far as possible without reading the files that it names.

    Attributes
    ----------
    path
        The file.
    out
        The root, relative to the file.
    ray, ray_workers
        As the options of `run`; None where the file does not say.
    studies
        In the order of the file.
    """

    path: Path
    out: str
    ray: str | None
    ray_workers: int | None
    studies: tuple[PlannedStudy, ...]

    def load_tasks_of_run_file(
        self,
        build_parser: Callable[[str], ArgumentParser],
        build_task: Callable[[Namespace], Task],
        program: Iterable[str],
    ) -> list[Task]:
        """Load everything that the studies name: items, prompts, models by name. Call it in the file's folder.

        Parameters
        ----------
        build_parser
            Makes the parser of a protocol's options.
        build_task
            Makes a task from parsed options.
        program
            The words of a call before the protocol.

        Returns
        -------
        A task per study, in the order of the file, each with its own run folder.

        Raises
        ------
        InputError
            Naming the run file, the study and, where the message is about one, the key.
        """
        if (expand_user_path(self.out) / "run.json").exists():
            raise InputError(
                f"{self.path}, out: {self.out} is itself a run folder; move that run away, or choose another root"
            )
        tasks: dict[str, Task] = {}
        for study in self.studies:
            where, call = study.where, study.call
            out = None if study.folder is None else str(Path(self.out) / study.folder)
            options = build_parser(call[0]).parse_args(call[1:], Namespace(out=out, call=()))
            try:
                task = build_task(options)
            except InputError as error:
                raise InputError(f"{where}{_format_toml_key_named_in_message(str(error), call)}: {error}") from None
            folder = task.study.name if study.folder is None else study.folder
            if folder != Path(folder).name or _NO_FOLDER.search(folder):
                raise InputError(f"{where}: '{folder}' cannot be the name of a folder; give the study a `folder`")
            require_portable_file_name(f"{where}, folder", folder)
            if folder.casefold() in map(str.casefold, tasks):  # some file systems take "A" and "a" for one name
                raise InputError(f"{where}: there is a study in the folder '{folder}' already; give this one another")
            out = str(Path(self.out) / folder)
            options.out = out
            if study.folder is None and (Path(out) / "run.json").exists():  # what is there decides seed and prompts
                task = build_task(options)
            command = [*program, *call, f"--out={out}"]
            run_file_folder = None if self.path.parent == Path() else str(self.path.parent)
            tasks[folder] = replace(task, out=out, command=command, folder=run_file_folder)
        return list(tasks.values())


def read_run_file(path: str | Path, build_parser: Callable[[str], ArgumentParser]) -> Plan:
    """Read a run file and check every table and key of it.

    Parameters
    ----------
    path
        The TOML file.
    build_parser
        Makes the parser of a protocol's options.

    Returns
    -------
    The plan; the files that it names are not read yet.

    Raises
    ------
    InputError
        Naming the file, the table and the key.
    """
    file = Path(path)
    content = read_toml(file)
    _refuse_keys_of_secrets(str(file), content)
    for key, value in content.items():
        if key not in TYPE_BY_KEY:
            raise InputError(
                f"{file}: unknown key {shorten_value(key)}; there are {', '.join(TYPE_BY_KEY)}; options go below "
                "[[study]]"
            )
        if not isinstance(value, TYPE_BY_KEY[key]) or isinstance(value, bool):
            raise InputError(f"{file}, {key}: expected {TYPE_NAMES[TYPE_BY_KEY[key]]}, not {shorten_value(value)}")
    out = require_out_of_run_file(file, content)
    if not content.get("ray", "local").strip():
        raise InputError(f"{file}, ray: is empty; give the address of a cluster, or leave it out")
    if content.get("ray-workers", 1) < 1:
        raise InputError(f"{file}, ray-workers: {content['ray-workers']} is not a positive number")
    tables = content.get("study", [])
    if not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{file}: there is no study; begin each with a line [[study]]")
    defaults = content.get("defaults", {})
    if "folder" in defaults:
        raise InputError(f"{file}, [defaults], folder: every study has its own; give it in the tables [[study]]")
    studies = tuple(
        _convert_toml_table_to_planned_study(file, number, {**defaults, **table}, build_parser)
        for number, table in enumerate(tables, 1)
    )
    return Plan(file, out, content.get("ray"), content.get("ray-workers"), studies)


def _convert_toml_table_to_planned_study(
    run_file: Path, study_number: int, table: Mapping[str, Any], build_parser: Callable[[str], ArgumentParser]
) -> PlannedStudy:
    """Turn a table into the call that would run its study alone."""
    where = f"{run_file}, [[study]] {study_number}" + (
        f" ({table['name']})" if isinstance(table.get("name"), str) else ""
    )
    protocol = table.get("protocol")
    if not isinstance(protocol, str) or protocol not in list_protocols():
        trouble = "is missing" if protocol is None else f"is {shorten_value(protocol)}"
        raise InputError(f"{where}, protocol: {trouble}; there are {', '.join(list_protocols())}")
    folder = table.get("folder")
    if not (folder is None or isinstance(folder, str)):
        raise InputError(f"{where}, folder: expected text, not {shorten_value(folder)}")
    parser = build_parser(protocol)
    actions = map_option_names_to_actions(parser)
    call = [protocol]
    for key, value in table.items():
        if key in NON_OPTION_KEYS:
            continue
        if key not in actions:
            hint = format_nearest_name_hint(key, actions) or f"; there are {', '.join(sorted(actions))}"
            raise InputError(f"{where}: {protocol} has no option '{key}'{hint}")
        call += convert_toml_key_to_arguments(f"{where}, {key}", key, value, actions[key])
    try:
        parser.parse_args(call[1:])
    except InputError as error:
        raise InputError(f"{where}{_format_toml_key_named_in_message(str(error), call)}: {error}") from None
    return PlannedStudy(where, tuple(call), folder)


def map_option_names_to_actions(parser: ArgumentParser) -> dict[str, Action]:
    """List the options of a parser: name without dashes -> its definition."""
    return {
        option.removeprefix("--"): action
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }


def convert_toml_key_to_arguments(where: str, key: str, value: Any, action: Action) -> list[str]:
    """Write a key and its value as arguments of the command line.

    Parameters
    ----------
    where
        File, table and key, as messages name them.
    key
        The option without its dashes.
    value
        As TOML gives it: text, number, true or false, or a list.
    action
        The option's definition in the parser: whether it takes no value, one or several.

    Returns
    -------
    The arguments, such as ["--limit=5"] or ["--model", "a", "b"]; none for false.

    Raises
    ------
    InputError
        The value is of another kind than the option takes.
    """
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise InputError(f"{where}: expected true or false, not {shorten_value(value)}")
        return [f"--{key}"] if value else []
    several = isinstance(value, list)
    repeatable = isinstance(action, _AppendAction) and action.nargs is None
    if several and action.nargs is None and not repeatable:
        raise InputError(f"{where}: expected one value, not a list")
    values = value if several else [value]
    if not values or not all(type(member) in (str, int, float) for member in values):
        raise InputError(f"{where}: expected text or numbers, not {shorten_value(value)}")
    if repeatable:
        return [f"--{key}={member}" for member in values]
    return [f"--{key}", *map(str, values)] if several else [f"--{key}={value}"]


def _format_toml_key_named_in_message(error_message: str, call_arguments: Iterable[str]) -> str:
    """Return `, KEY` for the key that a message is about, to stand in an error; empty where it is about none."""
    key = ""
    for argument in call_arguments:
        option, equals, value = argument.partition("=")
        if argument.startswith("--"):
            key = option.removeprefix("--")
        value = value if equals and argument.startswith("--") else argument
        about_it = (f"--{key} ", f"--{key}:", f"argument --{key}:", f"{value}:", f"{value},")
        if key and error_message.startswith(about_it):
            return f", {key}"
    return ""


def _refuse_keys_of_secrets(where: str, content: Mapping[str, Any]) -> None:
    """Refuse keys that look like passwords, in tables within tables, too."""
    for key, value in content.items():
        if key.lower().endswith(SECRETS):
            raise InputError(
                f"{where}, {key}: keys and passwords do not belong in a file; set the engine's environment variable"
            )
        for number, table in enumerate(value if isinstance(value, list) else [value], start=1):
            if isinstance(table, dict):
                _refuse_keys_of_secrets(
                    f"{where}, {f'[[{key}]] {number}' if isinstance(value, list) else f'[{key}]'}", table
                )
