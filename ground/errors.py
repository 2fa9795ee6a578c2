"""Define the errors that end a command with one line instead of a traceback, and how it quotes what others wrote."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable, Sequence


class UserError(Exception):
    """An error that a user can mend: its message says all, and a notebook shows that line instead of a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the line alone, as a command does. IPython calls this instead of its own."""
        return [f"{type(self).__name__}: {format_message_on_one_line(str(self))}"]


class InputError(UserError):
    """A wrong call or input: the line names the file, the row or field, and what to do (exit status 2)."""


class NoSuchModel(InputError):
    """There is neither a folder nor a hub model of this name, or the hub cannot be reached."""


class MalformedPage(InputError):
    """A page of the report is not whole, such as one under way: the line names the file to edit, and how."""


class RunFailed(UserError):
    """A right call that could not ask everything: the line says what to do (exit status 1)."""


class RoomFailed(RunFailed):
    """A fault in the code of another package that adds to Waver: the line names the package."""


def shorten_text(text: str, most: int = 80) -> str:
    """Shorten a text for a message to its first characters.

    Parameters
    ----------
    text
        Any text.
    most
        Characters that are left at most; of a longer text, the last three are dots.

    Returns
    -------
    The text as it is, or shortened.

    Examples
    --------
    >>> shorten_text("Tea."), shorten_text("x" * 5000, 6)
    ('Tea.', 'xxx...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shorten_to_one_line(text: str, most: int = 60) -> str:
    """Write a text on one line, cut where it is long, so that a message stays readable.

    Parameters
    ----------
    text
        Any text; white space of any length becomes one space.
    most
        Characters of the line at most; of a longer text, the last one is an ellipsis.

    Returns
    -------
    The line.

    Examples
    --------
    >>> shorten_to_one_line("one  two\\nthree"), shorten_to_one_line("x" * 5000, 5)
    ('one two three', 'xxxx…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def format_nearest_name_hint(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name that is most like an unknown one.

    Parameters
    ----------
    name
        The unknown name.
    known
        The names that there are; upper and lower case count as the same, and the dashes before an option do not count.

    Returns
    -------
    The hint, with a space before it, to be put behind a message; empty where no name is alike.

    Examples
    --------
    >>> format_nearest_name_hint("Patern", ("item", "pattern")), format_nearest_name_hint("xyz", ("item",))
    (" (the nearest is 'pattern')", '')
    >>> format_nearest_name_hint("--out", ("--quiet",)), format_nearest_name_hint("--sed", ("--seed",))
    ('', " (the nearest is '--seed')")
    """
    names = {known_name.casefold().lstrip("-"): known_name for known_name in known}
    near = difflib.get_close_matches(name[:100].casefold().lstrip("-"), names, n=1, cutoff=0.6)
    return f" (the nearest is '{shorten_text(names[near[0]])}')" if near else ""


def format_quantity(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number
        The number.
    noun
        The noun for one.
    plural
        The noun for several; None adds an s.

    Returns
    -------
    "1 item", "2 items".

    >>> format_quantity(1, "item"), format_quantity(1200, "item"), format_quantity(2, "reply", "replies")
    ('1 item', '1,200 items', '2 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_part_with_verb(
    part: int, total: int, noun: str, verb: str = "has", plural_verb: str = "have", plural: str | None = None
) -> str:
    """Write how many of a total do something: "1 of 3 items has", "2 of 3 items have".

    Parameters
    ----------
    part, total
        The numbers.
    noun, plural
        The noun for a total of one, and of several; None adds an s.
    verb, plural_verb
        The verb for one, and for several.

    >>> format_part_with_verb(1, 1, "item"), format_part_with_verb(0, 3, "pair", "differs", "differ")
    ('1 of 1 item has', '0 of 3 pairs differ')
    """
    return f"{part:,} of {format_quantity(total, noun, plural)} {verb if part == 1 else plural_verb}"


def join_first_names(names: Sequence[str], most: int = 20) -> str:
    """Write the first names of a list that may be long.

    Parameters
    ----------
    names
        All names.
    most
        How many are written.

    Returns
    -------
    The names with commas between them; dots behind them where there are more.

    >>> join_first_names(["tea", "dog"]), join_first_names(["tea", "dog", "cat"], 2)
    ('tea, dog', 'tea, dog ...')
    """
    return ", ".join(names[:most]) + " ..." * (len(names) > most)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_WRONG_NAME = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT, errno.ELOOP, errno.EINVAL}


def describe_os_error_with_exit_status(error: OSError) -> tuple[int, str]:
    """Say in one line what the operating system refused: the exit status, and file, reason and what to do.

    >>> describe_os_error_with_exit_status(OSError(errno.ENOSPC, "", "run/run.json"))
    (1, 'run/run.json: No space left on device; make room, then give the same command again')
    """
    name = "standard output" if error.filename is None else str(error.filename)
    reason = f"{shorten_text(name, 200)}: {os.strerror(error.errno) if error.errno else error}"
    if error.errno in _NO_ROOM:
        return 1, f"{reason}; make room, then give the same command again"
    if error.errno in _WRONG_NAME:
        return 2, f"{reason}; give another file or folder"
    return 1, f"{reason}; see to it that it can be written, or give another file or folder, then repeat the command"


def explain_why_file_cannot_be_read(error: Exception) -> str:
    """Say what keeps a file that may be whole from being read, and what to do; empty where the file is damaged.

    What is in it was perhaps paid for: nobody may be told to delete a file because it is out of reach.

    >>> [explain_why_file_cannot_be_read(error) for error in (PermissionError(), ValueError())]
    ['permission denied; make it readable', '']
    """
    if isinstance(error, MemoryError):
        return "memory has run out; end other programs, then try again"
    if isinstance(error, FileNotFoundError):
        return "it is not there; bring it back"
    if isinstance(error, PermissionError):
        return "permission denied; make it readable"
    if isinstance(error, OSError) and error.errno is not None:  # a network disk that is away, for example
        return f"{os.strerror(error.errno)}; see to it that it can be read, then try again"
    return ""


def escape_control_characters(text: str) -> str:
    r"""Write control characters as their escapes: one in a name could change what a terminal shows.

    >>> escape_control_characters("gpt2\x1b[31m")
    'gpt2\\x1b[31m'
    """
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def format_message_on_one_line(message: str) -> str:
    """Write a message on one line that can be read: of a very long one, its beginning and its end.

    >>> format_message_on_one_line("plan.toml:  no such\\nfile"), len(format_message_on_one_line("x" * 10**6))
    ('plan.toml: no such file', 905)
    """
    line = escape_control_characters(" ".join(message.split()))
    return line if len(line) <= 900 else f"{line[:500]} ... {line[-400:]}"
