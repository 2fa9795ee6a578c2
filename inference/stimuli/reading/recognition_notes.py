"""Keep what was recognised of the files that a command reads, until it is known whether the command ends well.

Of a wrong input, one line is printed and no other. So what was recognised (semicolons, UTF-16, the first sheet) is said
when a command has done its work: once per file, however often that is read.
"""

from __future__ import annotations

import sys

_lines: dict[str, None] = {}


def add_note_on_recognised_input(line: str) -> None:
    """Keep a line on how an input was recognised, to be printed later."""
    _lines[line] = None


def drop_notes_on_recognised_inputs() -> None:
    """Drop all lines, as a command begins."""
    _lines.clear()


def print_notes_on_recognised_inputs() -> None:
    """Say all lines on standard error, and drop them."""
    for line in _lines:
        print(line, file=sys.stderr)
    _lines.clear()
