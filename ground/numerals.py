"""Say what a number looks like, and read those of options within bounds: none asks for more than a machine can do."""

from __future__ import annotations

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ground.errors import shorten_text

LARGEST_EXACT = 2**53  # a floating-point number beyond it may stand for several whole ones
# `int` and `float` also take 1_000, digits of other scripts, nan and inf, which nobody means.
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
COMMA = re.compile(r"[+-]?[0-9]{0,30},[0-9]{1,30}")  # a decimal comma, or thousands: nobody can tell
DECIMAL = re.compile(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,4})?")
# Digits, point and minus as Japanese and Chinese texts write them, and the minus of mathematics.
_COMMON = str.maketrans("０１２３４５６７８９．－\u2212", "0123456789.--")
_NUMBER = re.compile(r"(?:(?<!\w)-)?(?:[0-9]+(?:\.[0-9]+)?|(?<![.\w])\.[0-9]+)")

Number = TypeVar("Number", int, float)


def _quote_argument(text: str) -> str:
    """Write an argument as a message quotes it: not too long, and one of blanks so that it is seen."""
    return shorten_text(text, 40) if text.strip() else repr(text[:40])


def parse_plain_number(text: str, kind: type[Number]) -> Number:
    """Read a number that is written in the digits 0-9.

    Parameters
    ----------
    text
        Any text.
    kind
        int for whole numbers only, else float.

    Returns
    -------
    The number, which is finite.

    Raises
    ------
    ValueError
        The text is no such number.

    Examples
    --------
    >>> parse_plain_number("2.5e-1", float), parse_plain_number("-3", int)
    (0.25, -3)
    """
    if (WHOLE if kind is int else DECIMAL).fullmatch(text) and math.isfinite(number := kind(text)):
        return number
    raise ValueError(f"{_quote_argument(text)} is not a {'whole ' * (kind is int)}number")


def parse_finite_number(text: str) -> float:
    """Convert an argument to a number; ArgumentTypeError for anything else."""
    try:
        return parse_plain_number(text, float)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def build_bounded_whole_number_type(low: int, high: int) -> Callable[[str], int]:
    """Make the type of an option that takes a whole number within bounds.

    Parameters
    ----------
    low, high
        The smallest and the largest number.

    Returns
    -------
    The function that converts an argument; ArgumentTypeError for anything else.

    Examples
    --------
    >>> build_bounded_whole_number_type(1, 5)("3")
    3
    """

    return _build_bounded_type(low, high, int)


def build_bounded_number_argument_type(low: float, high: float) -> Callable[[str], float]:
    """Make the type of an option that takes a number within bounds.

    Parameters
    ----------
    low, high
        The smallest and the largest number.

    Returns
    -------
    The function that converts an argument; ArgumentTypeError for anything else.

    Examples
    --------
    >>> build_bounded_number_argument_type(0, 1)("2.5e-1")
    0.25
    """

    return _build_bounded_type(low, high, float)


def _build_bounded_type(low: Number, high: Number, kind: type[Number]) -> Callable[[str], Number]:
    """Make the type of an option whose numbers are of a kind; the message names the bounds."""
    whole, form = ("whole ", ",") if kind is int else ("", ",g")

    def parse_within_bounds(text: str) -> Number:
        with suppress(ValueError):
            if low <= (number := parse_plain_number(text, kind)) <= high:
                return number
        raise ArgumentTypeError(f"{_quote_argument(text)} is not a {whole}number from {low:{form}} to {high:{form}}")

    return parse_within_bounds


def parse_positive_share(text: str) -> float:
    """Convert an argument to a number above 0 and at most 1.

    Raises
    ------
    ArgumentTypeError
        It is no such number.
    """
    number = float(text) if DECIMAL.fullmatch(text) else 0.0
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"{_quote_argument(text)} is not a share above 0, at most 1")
    return number


def parse_first_number(text: str) -> float | None:
    """Return the first number of a text, which is its answer; None if there is none.

    A number is a run of the digits 0-9, perhaps with a point and digits (".5" is 0.5; in "8." the point ends a
    sentence). Full-width forms count as their common ones. A minus sign directly before it counts, unless a word or
    another number ends there: "0-9" states 0. A comma ends a number: "8,5" states 8, and "1,000" states 1.

    >>> parse_first_number("Score: 8.5 of 10."), parse_first_number("I give it -3"), parse_first_number("none")
    (8.5, -3.0, None)
    >>> parse_first_number("点数：７．５")
    7.5
    """
    match = _NUMBER.search(text.translate(_COMMON))
    return None if match is None else float(match.group())
