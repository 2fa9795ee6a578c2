"""Define the error for everything that a user can put right, and how its line quotes what others wrote."""

from __future__ import annotations


class InputError(Exception):
    """Report a wrong call or input in one line: the file, the row or field, and what to do (exit status 2)."""


def short(text: str, most: int = 60) -> str:
    """Write a text on one line, cut where it is long, so that a message stays one that can be read.

    >>> short("one  two\\nthree"), short("x" * 5000, 5)
    ('one two three', 'xxxx…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
