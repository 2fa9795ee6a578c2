"""Read folders of many logs: find them, show how far reading is, and leave out those that cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ground.errors import InputError, format_quantity
from ground.progress import can_show_progress_bars, import_progress_bar_class, is_verbose

SHOWN = 10  # lines about logs that were left out
Log = TypeVar("Log")
Response = TypeVar("Response")


def list_files_below(folder: Path, errors: list[InputError]) -> list[Path]:
    """List what is in a folder at any depth and is no folder, in the order of the paths.

    Parameters
    ----------
    folder
        The folder; links to others are not followed.
    errors
        Errors so far; those of folders that cannot be read are added here.

    Returns
    -------
    The files.
    """

    def note_unreadable_folder(error: OSError) -> None:
        errors.append(InputError(f"{Path(error.filename)}: the folder cannot be read ({error.strerror or error})"))

    return sorted(
        Path(inside, name) for inside, _, names in os.walk(folder, onerror=note_unreadable_folder) for name in names
    )


def find_log_files(
    names: Sequence[str], suffixes: Sequence[str], errors: list[InputError]
) -> tuple[list[Path], set[Path]]:
    """Find the logs that a call names, those of folders at any depth.

    Parameters
    ----------
    names
        Files and folders.
    suffixes
        Of the logs in folders: ".eval".
    errors
        Errors so far; those of folders that cannot be read are added here.

    Returns
    -------
    list of Path
        The logs, those of a folder in the order of their paths; one that is found twice, or named, too, stands once.
    set of Path
        Those that were found in folders, not named themselves.

    Raises
    ------
    InputError
        A folder cannot be read or holds no log, or a log is named twice.
    """
    logs: dict[Path, Path] = {}
    named: set[Path] = set()
    for path in map(Path, names):
        if not path.is_dir():
            full_path = path.resolve()
            if full_path in named:
                raise InputError(f"{path}: this log is given twice; leave one out")
            named.add(full_path)
            logs[full_path] = path
            continue
        n_before = len(errors)
        files = [file for file in list_files_below(path, errors) if file.suffix.lower() in suffixes and file.is_file()]
        if not files and len(errors) > n_before:
            raise errors[n_before]
        if not files:
            listed = " and no ".join(suffixes)
            raise InputError(f"{path}: the folder holds no {listed} log")
        for file in files:
            logs.setdefault(file.resolve(), file)
    return list(logs.values()), {file for full_path, file in logs.items() if full_path not in named}


def iterate_logs_with_progress_bar(logs: Sequence[Log]) -> Iterable[Log]:
    """Read logs with a progress bar, where one can be drawn and there are several.

    Parameters
    ----------
    logs
        The logs.

    Returns
    -------
    The logs.
    """
    if len(logs) < 2 or not can_show_progress_bars():
        return logs
    bar: Iterable[Log] = import_progress_bar_class()(logs, desc="reading", unit="log", leave=False, disable=False)
    return bar


def describe_left_out_logs(errors: Sequence[InputError]) -> list[str]:
    """Name the logs that were left out, each with the reason; of many, the first ones, unless all are asked for.

    >>> describe_left_out_logs([InputError("a.eval: damaged")])
    ['left out: a.eval: damaged']
    """
    if is_verbose():
        return [f"left out: {error}" for error in errors]
    lines = [f"left out: {error}" for error in errors[:SHOWN]]
    if len(errors) > SHOWN:
        lines.append(f"left out: {format_quantity(len(errors) - SHOWN, 'more log')}")
    return lines


class LineAboutLog(NamedTuple):
    """A line on a log for the user, and how much speaks against the log: it states other means, samples failed ..."""

    text: str
    weight: int


def keep_most_telling_lines_about_logs(lines: Sequence[LineAboutLog]) -> list[str]:
    """Choose of the lines on many logs those that tell most against their logs; the other lines are counted.

    >>> keep_most_telling_lines_about_logs([LineAboutLog("a.eval: 3 samples, accuracy 1.000", 0)])
    ['a.eval: 3 samples, accuracy 1.000']
    """
    if is_verbose() or len(lines) <= 2 * SHOWN:
        return [line.text for line in lines]
    places = sorted(range(len(lines)), key=lambda place: (-lines[place].weight, place))[:SHOWN]
    return [
        *(lines[place].text for place in sorted(places)),
        f"and {len(lines) - SHOWN:,} more lines, which say no more against their logs; --verbose shows all",
    ]


def refuse_if_all_logs_are_left_out(errors: Sequence[InputError], n_logs: int) -> None:
    """Refuse to go on where no log can be imported.

    Parameters
    ----------
    errors
        Of the logs that were left out.
    n_logs
        How many logs there were.

    Raises
    ------
    InputError
        No log is left: the log's own error where there is only one.
    """
    if len(errors) < n_logs or not errors:
        return
    if n_logs == 1:
        raise errors[0]
    raise InputError(f"none of {n_logs:,} logs can be imported; the first: {errors[0]}")


def read_responses_of_undamaged_logs(
    readers: list[Any], can_be_left_out: Callable[[Any], bool], errors: list[InputError]
) -> Iterator[Any]:
    """Go through the responses of many logs; a damaged log of a folder gives none, also not those before the damage.

    Parameters
    ----------
    readers
        Of the logs, each to be gone through once; those of logs that are left out are taken out of the list.
    can_be_left_out
        Whether a log may be left out: it was not named itself, and others are there.
    errors
        Of the logs that were left out before; those of more are added here.

    Yields
    ------
    The responses.

    Raises
    ------
    InputError
        A log is damaged that cannot be left out, or no log is left.
    """
    n_logs = len(readers) + len(errors)
    for reader in iterate_logs_with_progress_bar(list(readers)):
        if not can_be_left_out(reader):
            yield from reader
            continue
        try:
            responses = list(reader)
        except InputError as error:
            errors.append(error)
            readers.remove(reader)
            continue
        yield from responses
    refuse_if_all_logs_are_left_out(errors, n_logs)
