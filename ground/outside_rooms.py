"""Find the rooms that other installed packages add to Waver, by their entry points.

A room is a page, a protocol, an importer or an engine. A package names its rooms in the groups `waver.pages`,
`waver.protocols`, `waver.importers` and `waver.engines`. To list them, only what the package says about itself is read,
and nothing of it is imported; to use one runs its code, which is what installing a package allows. Data never names a
module. Of a room that cannot be used, one line says why, and the others stay.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Collection
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ground.errors import InputError, RoomFailed, UserError, format_message_on_one_line, shorten_to_one_line

GROUP_BY_KIND = {
    "page": "waver.pages",
    "protocol": "waver.protocols",
    "importer": "waver.importers",
    "engine": "waver.engines",
}
NAME = re.compile(r"[a-z][a-z0-9_-]*")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
TAKEN = {"page": {"index"}, "engine": {"auto"}}
"""Names that mean something else: the first page of a report, and the engine that Waver chooses."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_ROOMS_IN_USE: dict[str, str] = {}
_PRINTED_LINES: set[str] = set()


class OutsideRoom(NamedTuple):
    """Hold what a package says about one of its rooms.

    Attributes
    ----------
    kind
        Of `GROUP_BY_KIND`.
    name
        What users call it.
    module
        Where it is: dotted, and imported only when the room is used.
    package, version
        The distribution that has it.
    """

    kind: str
    name: str
    module: str
    package: str
    version: str

    @property
    def package_and_version(self) -> str:
        """Return package and version, as help and records show them."""
        return f"{self.package} {self.version}"

    @property
    def title(self) -> str:
        """Return what messages call the room."""
        return f"{self.kind} {shorten_to_one_line(self.name)} of {self.package_and_version}"

    @property
    def removal_command(self) -> str:
        """Return the command that removes it."""
        return f"pip uninstall {self.package}"


def map_names_to_outside_rooms(kind: str, own_names: Collection[str] = ()) -> dict[str, OutsideRoom]:
    """Map names to rooms of a kind; a line on standard error says why any other is left out.

    Parameters
    ----------
    kind
        Of `GROUP_BY_KIND`.
    own_names
        Names that Waver's own rooms have: an outside room never takes the place of one.

    Returns
    -------
    dict
        Name -> room, in alphabetical order. Of two packages with one name, the first in the alphabet has it.
    """
    room_by_name: dict[str, OutsideRoom] = {}
    for room in read_rooms_from_entry_points():
        if room.kind != kind:
            continue
        first = room_by_name.get(room.name)
        if not NAME.fullmatch(room.name):
            warn_that_room_is_left_out(room, "its name has more than small letters, digits, - and _")
        elif not MODULE.fullmatch(room.module):
            warn_that_room_is_left_out(room, f"{shorten_to_one_line(repr(room.module))} is no name of a module")
        elif room.name in own_names or room.name in TAKEN.get(kind, ()):
            warn_that_room_is_left_out(room, f"Waver's own {kind} has this name, and stays")
        elif first:
            warn_that_room_is_left_out(room, f"{first.package_and_version} has one of this name, too")
        else:
            room_by_name[room.name] = room
    return room_by_name


@functools.cache
def read_rooms_from_entry_points() -> tuple[OutsideRoom, ...]:
    """Read which rooms the installed packages name; nothing of them is imported."""
    rooms: dict[tuple[str, str, str], OutsideRoom] = {}
    for distribution in metadata.distributions():
        text = _read_entry_points_text(distribution)
        if "waver." not in text:  # most packages: their names would be slow to read
            continue
        package, version = _read_name_and_version_of_distribution(distribution)
        try:
            entries = list(distribution.entry_points)
        except Exception as error:
            room = OutsideRoom("package", package, "", package, version)
            warn_that_room_is_left_out(room, f"its entry_points.txt cannot be read ({type(error).__name__})")
            continue
        for entry in entries:
            for kind, group in GROUP_BY_KIND.items():
                if entry.group == group:
                    room = OutsideRoom(kind, entry.name, entry.value, package, version)
                    rooms.setdefault((kind, entry.name, package), room)  # the first on the path is what is imported
    return tuple(rooms[key] for key in sorted(rooms))


def _read_entry_points_text(distribution: metadata.Distribution) -> str:
    """Read the entry points of a distribution; empty where it has none that can be read."""
    try:
        return distribution.read_text("entry_points.txt") or ""
    except (OSError, UnicodeDecodeError):
        return ""


def _read_name_and_version_of_distribution(distribution: metadata.Distribution) -> tuple[str, str]:
    """Read what a distribution is called, and its version; a broken one may say neither."""
    try:
        about = distribution.metadata
        return str(about["Name"] or "a package without a name"), str(about["Version"] or "without a version")
    except Exception:
        return "a package without a name", "without a version"


def list_help_lines_of_packages_with_rooms() -> list[str]:
    """List the packages with rooms, each in a line with all that it adds, for `waver --help`."""
    titles_by_source: dict[str, list[str]] = {}
    for room in read_rooms_from_entry_points():
        titles_by_source.setdefault(room.package_and_version, []).append(
            f"{room.kind} {shorten_to_one_line(room.name)}"
        )
    return [
        format_message_on_one_line(f"{source}: {', '.join(titles)}")
        for source, titles in sorted(titles_by_source.items())
    ]


def warn_that_room_is_left_out(room: OutsideRoom, reason: str) -> None:
    """Say on standard error, once, that a room is left out.

    Parameters
    ----------
    room
        The room.
    reason
        Why, in words that follow a colon.
    """
    line = format_message_on_one_line(
        f"waver: {room.title} is left out: {reason}; to remove the package: {room.removal_command}"
    )
    if line not in _PRINTED_LINES and sys.stderr is not None:
        print(line, file=sys.stderr)
    _PRINTED_LINES.add(line)


def find_module_file(module: str) -> Path | None:
    """Find the file of a module without running any of it, the packages around it neither.

    Of a package, it is its `__init__.py`; None where there is none.
    """
    top, *rest = module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and Path(spec.origin).is_file() else None
    for folder in spec.submodule_search_locations or ():
        base = Path(folder, *rest)
        for file in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if file.is_file():
                return file
    return None


def import_module_of_room(room: OutsideRoom) -> Any:
    """Import the module of a room that a call names, which runs the code of its package.

    Raises
    ------
    InputError
        It cannot be imported; the line names the package, what failed, and how to remove it.
    """
    try:
        return import_module(room.module)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{room.title} cannot be imported: {_describe_exception(error)}; to remove the package: "
            f"{room.removal_command}"
        ) from error


def import_module_of_room_or_warn(room: OutsideRoom, submodule: str = "") -> Any | None:
    """Import the module of a room that is listed with others; where it cannot be imported, a line says so.

    Parameters
    ----------
    room
        The room.
    submodule
        A module inside it.

    Returns
    -------
    The module; None where it cannot be imported.
    """
    try:
        return import_module(f"{room.module}.{submodule}" if submodule else room.module)
    except (Exception, SystemExit) as error:
        warn_that_room_is_left_out(room, f"it cannot be imported: {_describe_exception(error)}")
        return None


def refuse_room_if_fault_is_given(room: OutsideRoom, fault: str) -> None:
    """Raise an InputError if there is a fault.

    Parameters
    ----------
    room
        The room.
    fault
        What it lacks, or has wrong; empty: nothing.

    Raises
    ------
    InputError
        There is a fault; the line names the package, and how to remove it.
    """
    if fault:
        raise InputError(f"{room.title} is not whole: {fault}; to remove the package: {room.removal_command}")


def wrap_room_function_with_clear_errors(
    room: OutsideRoom, function: Callable[Arguments, Result]
) -> Callable[Arguments, Result]:
    """Wrap a function of a room, so that an error in its code is one line that names the package.

    Parameters
    ----------
    room
        The room that it is of.
    function
        The function; what it says to users in its own errors stays as it is.

    Returns
    -------
    The function, which raises a `RoomFailed` instead of an error that is neither a `UserError` nor an `OSError`.
    """

    @functools.wraps(function)
    def call_function_of_room(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        try:
            return function(*arguments, **options)
        except (UserError, OSError):
            raise
        except Exception as error:
            raise RoomFailed(
                f"{room.title} failed: {_describe_exception(error)}; tell its authors, or remove it: "
                f"{room.removal_command}"
            ) from error

    return call_function_of_room


def _describe_exception(error: BaseException) -> str:
    """Say in one line what was raised, and in which line of which file."""
    from traceback import extract_tb  # here, because `waver --help` needs none

    frames = extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {shorten_to_one_line(str(error), 200)}{place}"


def note_room_in_use(room: OutsideRoom) -> None:
    """Note that this command uses a room, for the record of its session."""
    _ROOMS_IN_USE[f"{room.kind} {room.name}"] = room.package_and_version


def map_rooms_used_for_protocol_to_versions(protocol: str) -> dict[str, str]:
    """List what this command uses for a study of a protocol: kind and name of a room -> package and version.

    A run file has studies of several protocols; each study has one.
    """
    return {
        room: source
        for room, source in _ROOMS_IN_USE.items()
        if not room.startswith("protocol ") or room == f"protocol {protocol}"
    }


def clear_rooms_in_use() -> None:
    """Begin a command: nothing is in use yet."""
    _ROOMS_IN_USE.clear()
