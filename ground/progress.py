"""How much a command says while it works, and how: `--quiet`, `--verbose`, bars, and colour.

Results go to standard output, all else to standard error. Bars and colour are for terminals: a file or a pipe gets
lines. A terminal that cannot move its cursor says TERM=dumb, and NO_COLOR (no-color.org) asks for no colour.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import Any, TextIO

QUIET, NORMAL, VERBOSE = -1, 0, 1
COLOURS = {"red": "31", "green": "32", "yellow": "33"}
_loudness = NORMAL


def add_loudness_options(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Define `--quiet`, and `--verbose` where a command has more to say.

    Parameters
    ----------
    parser
        That of a command.
    more
        What `--verbose` adds, for the help; empty: there is no such option.
    """
    group = parser.add_argument_group("how much is said").add_mutually_exclusive_group()
    group.add_argument(
        "--quiet", dest="loudness", action="store_const", const=QUIET, default=NORMAL,
        help="print warnings and failures only",
    )  # fmt: skip
    if more:
        group.add_argument(
            "--verbose", dest="loudness", action="store_const", const=VERBOSE, default=NORMAL, help=f"print {more}"
        )


def set_loudness(loudness: int) -> None:
    """Set how much the commands of this process say from now on: QUIET, NORMAL or VERBOSE."""
    global _loudness
    _loudness = loudness


def is_quiet() -> bool:
    """Tell whether only warnings and failures are to be printed."""
    return _loudness == QUIET


def is_verbose() -> bool:
    """Tell whether details are to be printed."""
    return _loudness == VERBOSE


def is_in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def can_show_progress_bars() -> bool:
    """Tell whether a bar can be drawn: in a notebook or a terminal, but not in a file, and not where it is unwanted."""
    return not is_quiet() and (is_in_notebook() or _is_terminal(sys.stderr))


def hide_library_bars_where_none_can_show() -> None:
    """Let libraries that are imported later draw no bars where none can be drawn; what the user has set stays."""
    if not can_show_progress_bars():
        for variable in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
            os.environ.setdefault(variable, "1")


def import_progress_bar_class() -> Any:
    """Import tqdm's bar for this place without its warning: a notebook without ipywidgets gets a bar of characters.

    Transformers imports it, too: whoever comes first prevents the warning.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm


def print_progress(line: str) -> None:
    """Print on standard error how far a command is, unless it is to be quiet; above a bar that is drawn there."""
    if not is_quiet():
        _print_above_bars(line)


def print_warning(line: str) -> None:
    """Print on standard error what a user should know, also of a quiet command; in colour where there is any."""
    _print_above_bars(colour_text(line, "yellow", sys.stderr))


def print_result_line_even_if_quiet(line: str) -> None:
    """Print a line of the result that a user should know also of a quiet command: there, as a warning."""
    if is_quiet():
        print_warning(line)
    else:
        print(line)


def colour_text(text: str, colour: str, stream: TextIO) -> str:
    """Colour a text where the stream has colour.

    Parameters
    ----------
    text
        A word or a line.
    colour
        "red", "green" or "yellow".
    stream
        Where the text is going to be printed.

    Returns
    -------
    The text, between the two sequences of a terminal; as it is in a file, with NO_COLOR, with TERM=dumb, and in the
    older console of Windows.
    """
    # Windows Terminal sets WT_SESSION; the older console shows the sequences as they are.
    has_colour = _is_terminal(stream) and not os.environ.get("NO_COLOR")
    if not has_colour or (sys.platform == "win32" and "WT_SESSION" not in os.environ):
        return text
    return f"\033[{COLOURS[colour]}m{text}\033[0m"


def _is_terminal(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _print_above_bars(line: str) -> None:
    """Print a line on standard error; a bar that is drawn there comes again below it."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None and can_show_progress_bars() and not is_in_notebook():
        tqdm.tqdm.write(line, file=sys.stderr)
    else:
        print(line, file=sys.stderr, flush=True)
