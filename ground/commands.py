"""Find the commands of a wing by scanning its folders; no module is imported, so `waver --help` answers at once.

A command stands in a file `command.py` or `command_WHAT.py`. It has

- `COMMAND`, the words after `waver`: `"select"`, or `"tune choice"` for a verb of a word that several files share,
- `HELP`, one line that says what it does,
- `add_arguments(parser)` and `main(options)`.

Where one file holds all verbs of a word, `COMMAND` is the word, `VERBS` says for each verb what it does, and
`COMMANDS` has for each a pair, `main` and `add_arguments`. Where several files do, `COMMAND` and `HELP` of the word
stand in the `__init__.py` of a package, perhaps with `LISTED`, the title and the placeholder of its verbs in `--help`.
The constants are literals: they are read from the text of the file. The commands of the wing as a whole are named in
`ABOUT` of its `__main__.py`.

Another installed package may add verbs (`ground.outside_rooms`): modules that are written in the same way.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ground.outside_rooms import (
    OutsideRoom,
    find_module_file,
    import_module_of_room,
    map_names_to_outside_rooms,
    note_room_in_use,
    refuse_room_if_fault_is_given,
    warn_that_room_is_left_out,
    wrap_room_function_with_clear_errors,
)

FILES = ("command*.py", "__init__.py")
LISTED = ("what to do", "VERB")


class Command(NamedTuple):
    """A command: the module that has it, what `--help` says about it, its verbs, and the room of another package."""

    module: str
    about: str = ""
    listed: tuple[str, str] = LISTED
    verbs: dict[str, Command] = {}  # noqa: RUF012
    room: OutsideRoom | None = None


@functools.cache
def find_commands(wing_folder: Path) -> dict[str, Command]:
    """Find the commands of a wing by their first word: first those of its `__main__.py`, then in alphabetical order.

    Once per process, which may make many calls; nobody changes what is returned. A command with verbs has one entry for
    each in `verbs`.
    """
    about_by_word = read_literal_constants_of_module(wing_folder / "__main__.py").get("ABOUT", {})
    commands = {word: Command(f"{wing_folder.name}.__main__", about) for word, about in about_by_word.items()}
    declared: dict[str, Command] = {}
    for file in _list_command_files(wing_folder):
        constants = read_literal_constants_of_module(file)
        if "COMMAND" in constants:
            _add_command_or_verb(declared, constants, _get_dotted_module_name(wing_folder, file))
    for word in sorted(declared):
        command = declared[word]
        commands[word] = command._replace(verbs=dict(sorted(command.verbs.items())))
    return commands


def _list_command_files(wing_folder: Path) -> Iterator[Path]:
    """List the files that may have a command; folders that are no packages hold what another version left."""
    for pattern in FILES:
        for file in sorted(wing_folder.rglob(pattern)):
            if (file.parent / "__init__.py").exists() and b"\nCOMMAND = " in file.read_bytes():
                yield file


def _get_dotted_module_name(wing_folder: Path, file: Path) -> str:
    """Return the dotted name of the module in a file; of an `__init__.py`, that of its package."""
    parts = file.relative_to(wing_folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _add_command_or_verb(commands: dict[str, Command], constants: dict[str, Any], module: str) -> None:
    """Add a command, or a verb of one, to the commands, as the constants of its file declare it."""
    word, _, verb = constants["COMMAND"].partition(" ")
    command = commands.get(word) or Command(module)
    if verb:
        verbs = {verb: Command(module, constants["HELP"])}
    else:
        verbs = {name: Command(module, about) for name, about in constants.get("VERBS", {}).items()}
        command = command._replace(
            module=module, about=constants["HELP"], listed=constants.get("LISTED", command.listed)
        )
    commands[word] = command._replace(verbs={**command.verbs, **verbs})


def build_command_with_outside_verbs(command: Command, word: str, kind: str) -> Command:
    """Add to a command the verbs that other installed packages have for it; one without a right file is left out.

    Parameters
    ----------
    command
        The command with Waver's own verbs.
    word
        Its word.
    kind
        What its verbs are, as `outside_rooms.map_names_to_outside_rooms` knows them.

    Returns
    -------
    The command with all verbs; what `--help` says of an outside one ends with its package and version.
    """
    verbs = dict(command.verbs)
    for name, room in map_names_to_outside_rooms(kind, command.verbs).items():
        file = find_module_file(room.module)
        if file is None:
            warn_that_room_is_left_out(room, f"there is no file of module {room.module}")
            continue
        try:
            constants = read_literal_constants_of_module(file)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            warn_that_room_is_left_out(room, f"{file} is not Python ({type(error).__name__})")
            continue
        about = constants.get("HELP")
        if constants.get("COMMAND") != f"{word} {name}":
            warn_that_room_is_left_out(room, f'{file} does not say COMMAND = "{word} {name}"')
        elif not isinstance(about, str) or not about:
            warn_that_room_is_left_out(room, f"{file} does not say HELP, one line in quotation marks")
        else:
            verbs[name] = Command(room.module, f"{about} ({room.package_and_version})", room=room)
    return command._replace(verbs=verbs)


def import_functions_of_outside_verb(room: OutsideRoom) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Import the verb of another package: its `main` and its `add_arguments`.

    Raises
    ------
    InputError
        It cannot be imported, or lacks one of them.
    """
    module = import_module_of_room(room)
    for name in ("main", "add_arguments"):
        if not callable(getattr(module, name, None)):
            refuse_room_if_fault_is_given(room, f"module {room.module} has no function {name}")
    note_room_in_use(room)
    return wrap_room_function_with_clear_errors(room, module.main), wrap_room_function_with_clear_errors(
        room, module.add_arguments
    )


def read_literal_constants_of_module(file: Path) -> dict[str, Any]:
    """Read the constants in capitals that a module defines by literals; the module is not imported."""
    return dict(_parse_docstring_and_constants(file.read_bytes())[1])


def read_module_docstring(file: Path) -> str:
    """Read the docstring of a module, empty where it has none; the module is not imported.

    Raises
    ------
    OSError, SyntaxError, ValueError, RecursionError
        The file cannot be read, or is not Python.
    """
    return _parse_docstring_and_constants(file.read_bytes())[0]


@functools.cache
def _parse_docstring_and_constants(source: bytes) -> tuple[str, dict[str, Any]]:
    """Parse the docstring and the constants of a module; once per text, as a process may call many commands."""
    tree = ast.parse(source)
    constants = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            try:
                constants[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:  # not a literal
                continue
    return ast.get_docstring(tree) or "", constants
