"""Run a command of either wing, and report in one line every failure that the user can mend."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from ground import progress
from ground.errors import InputError, RunFailed, describe_os_error_with_exit_status, format_message_on_one_line
from ground.extras import convert_import_errors_to_install_advice

HALF = re.compile("[\ud800-\udfff]")
"""What stands for a byte that is not UTF-8: it can be neither recorded nor printed."""


def run_command(
    call: Sequence[str],
    program: str,
    make_parser: Callable[[], ArgumentParser],
    run: Callable[[Namespace], int | None],
    *,
    stopped_message: str,
    preferred_extra: str = "",
) -> int:
    """Read a call, run its command, and return the exit status.

    Parameters
    ----------
    call
        The words after the program.
    program
        How the user called it; usage and messages repeat that.
    make_parser
        Makes the parser of the call.
    run
        Runs the command that the parser chose; None counts as status 0. One whose options have `prints` is refused
        where standard output is closed: it makes nothing else, unless its option `out` names a file. `loudness` is how
        much is said (`ground.progress`).
    stopped_message
        What is said when the user stops the command.
    preferred_extra
        The extra to name where several install a package that is not there
        (`extras.convert_import_errors_to_install_advice`).

    Returns
    -------
    int
        0 done, 1 it could not finish, 2 the call or an input is wrong; others are a command's own.
    """
    closed = sys.stdout is None  # by the caller: `>&-`
    open_null_device_for_closed_streams()
    if problem := describe_undecodable_argument(call):
        return print_failure_and_return_status(program, 2, problem)
    try:
        options = make_parser().parse_args(call)
        if closed and getattr(options, "prints", False) and not getattr(options, "out", None):
            return print_failure_and_return_status(
                program, 2, f"{call[0]}: standard output is closed, and all that it makes goes there; leave it open"
            )
        with convert_import_errors_to_install_advice(call[0], preferred_extra), _set_loudness_for_block(options):
            status = run(options)
        sys.stdout.flush()
    except InputError as error:
        return print_failure_and_return_status(program, 2, str(error))
    except RunFailed as error:
        return print_failure_and_return_status(program, 1, str(error))
    except KeyboardInterrupt:
        return print_failure_and_return_status(program, 1, stopped_message)
    except BrokenPipeError:  # the reader (`head`, a pager) has seen enough
        discard_remaining_output()
        return 0
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # as pathlib says it; all else is a fault of ours
            raise
        return print_failure_and_return_status(program, 2, f"{error}; give another file or folder")
    except OSError as error:
        if error.errno is None:  # not the operating system's: a fault of ours
            raise
        discard_remaining_output()
        return print_failure_and_return_status(program, *describe_os_error_with_exit_status(error))
    return status or 0


@contextmanager
def _set_loudness_for_block(options: Namespace) -> Iterator[None]:
    """Say as much as the options say while the block runs; of a quiet command, no result goes to standard output."""
    loudness = getattr(options, "loudness", progress.NORMAL)
    progress.set_loudness(loudness)
    progress.hide_library_bars_where_none_can_show()
    try:
        if loudness == progress.QUIET:
            with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
                yield
        else:
            yield
    finally:
        progress.set_loudness(progress.NORMAL)


def open_null_device_for_closed_streams() -> None:
    """Open the null device for every stream that the caller closed (`>&-`), for child processes, too.

    Else the next file that is opened gets the number of the stream, and what is printed goes into it.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere == number:
                os.set_inheritable(nowhere, True)
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115


def describe_undecodable_argument(call: Sequence[str]) -> str | None:
    """Say which word of a call holds a byte that is not UTF-8, and after which option; None where none does.

    >>> describe_undecodable_argument(["table", "--format", chr(0xDCFF)])
    "--format '\\\\udcff': not a name or text (half of a surrogate pair); give another"
    """
    for before, word in zip(["", *call], call, strict=False):
        if HALF.search(word):
            option = f"{before} " if before.startswith("--") else ""
            return f"{option}{word[:80]!a}: not a name or text (half of a surrogate pair); give another"
    return None


def discard_remaining_output() -> None:
    """Let Python's own flush at exit succeed where standard output takes nothing more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_failure_and_return_status(program: str, status: int, message: str) -> int:
    """Print on standard error, in one line, why a command ended.

    Parameters
    ----------
    program
        How the user called it: the line begins with that.
    status
        The exit status.
    message
        The reason, and what to do; line breaks in it are written as spaces.

    Returns
    -------
    The exit status, as it was given.
    """
    name, _, line = format_message_on_one_line(f"{program}: {message}").partition(": ")
    print(f"{progress.colour_text(f'{name}:', 'red', sys.stderr)} {line}", file=sys.stderr)
    return status
