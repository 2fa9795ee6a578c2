"""Define the errors that end a command with one line instead of a traceback, and how it quotes what others wrote."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable


class InputError(Exception):
    """A wrong call or input: the line names the file, the row or field, and what to do (exit status 2)."""


class NoSuchModel(InputError):
    """There is neither a folder nor a hub model of this name, or the hub cannot be reached."""


class RunFailed(Exception):
    """A right call that could not ask everything: the line says what to do (exit status 1)."""


def cut(text: str, most: int = 80) -> str:
    """Shorten a text for a message to its first characters.

    >>> cut("Tea."), cut("x" * 5000, 6)
    ('Tea.', 'xxx...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def short(text: str, most: int = 60) -> str:
    """Write a text on one line, cut where it is long, so that a message stays one that can be read.

    >>> short("one  two\\nthree"), short("x" * 5000, 5)
    ('one two three', 'xxxx…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name that is most like an unknown one; empty where none is.

    >>> nearest("Patern", ("item", "pattern")), nearest("xyz", ("item",))
    (" (the nearest is 'pattern')", '')
    """
    names = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name[:100].casefold(), names, n=1, cutoff=0.6)
    return f" (the nearest is '{cut(names[near[0]])}')" if near else ""


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_WRONG_NAME = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT, errno.ELOOP, errno.EINVAL}


def system_failure(error: OSError) -> tuple[int, str]:
    """Say in one line what the operating system refused: the exit status, and file, reason and what to do.

    >>> system_failure(OSError(errno.ENOSPC, "", "run/run.json"))
    (1, 'run/run.json: No space left on device; make room, then give the same command again')
    """
    name = "standard output" if error.filename is None else str(error.filename)
    about = f"{cut(name, 200)}: {os.strerror(error.errno) if error.errno else error}"
    if error.errno in _NO_ROOM:
        return 1, f"{about}; make room, then give the same command again"
    if error.errno in _WRONG_NAME:
        return 2, f"{about}; give another file or folder"
    return 1, f"{about}; see to it that it can be written, or give another file or folder, then repeat the command"


def printable(text: str) -> str:
    r"""Write control characters as their escapes: one in a name could change what a terminal shows.

    >>> printable("gpt2\x1b[31m")
    'gpt2\\x1b[31m'
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def one_line(message: str) -> str:
    """Write a message on one line that can be read: of a very long one, its beginning and its end.

    >>> one_line("plan.toml:  no such\\nfile"), len(one_line("x" * 10**6))
    ('plan.toml: no such file', 905)
    """
    line = printable(" ".join(message.split()))
    return line if len(line) <= 900 else f"{line[:500]} ... {line[-400:]}"
