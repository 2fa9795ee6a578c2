"""Read how hard a model is to think: the option of the command line."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, _ArgumentGroup

from ground.errors import shorten_text

_LEVEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")  # stands in names of conditions, which stand in many places


def add_effort_argument(group: _ArgumentGroup) -> None:
    """Add the argument that says how hard models think."""
    group.add_argument(
        "--effort",
        nargs="+",
        type=parse_effort,
        metavar="LEVEL",
        help="reasoning effort, passed on to thinking models, each a condition (none: thinking is off)",
    )


def parse_effort(text: str) -> str:
    """Take a level as it is.

    Raises
    ------
    ArgumentTypeError
        It is no word.

    Examples
    --------
    >>> parse_effort("low")
    'low'
    """
    if not _LEVEL.fullmatch(text):
        raise ArgumentTypeError(f"{shorten_text(text, 40)!r} is not a level like low, medium or high")
    return text
