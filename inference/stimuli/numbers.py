"""Find the number that a text states: one rule for generated texts and for exact probabilities of numbers.

The first number of a text is its answer. A number is a run of the digits 0-9, perhaps with a point and further digits
("8.5" is 8.5, ".5" is 0.5, and in "8." the point ends a sentence). Full-width forms count as their common ones
("７．５" is 7.5). A minus sign directly before it counts, unless a word or another number ends there: "0-9" states 0.
A comma ends a number: "8,5" states 8, and "1,000" states 1.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ground.errors import InputError
from ground.numerals import DECIMAL

# Digits, point and minus as Japanese and Chinese texts write them, and the minus of mathematics.
_COMMON = str.maketrans("０１２３４５６７８９．－\u2212", "0123456789.--")
_NUMBER = re.compile(r"(?:(?<!\w)-)?(?:[0-9]+(?:\.[0-9]+)?|(?<![.\w])\.[0-9]+)")
_CONTINUES = re.compile(r"[.\uff0e]?[0-9\uff10-\uff19]")  # the same, before they are made common
_RANGE = re.compile(r"(-?[0-9]{1,9})-(-?[0-9]{1,9})")


def parse_first_number(text: str) -> float | None:
    """Return the first number of a text, None if there is none.

    >>> parse_first_number("Score: 8.5 of 10."), parse_first_number("I give it -3"), parse_first_number("none")
    (8.5, -3.0, None)
    >>> parse_first_number("点数：７．５")
    7.5
    """
    match = _NUMBER.search(text.translate(_COMMON))
    return None if match is None else float(match.group())


def parse_number_or_nan(value: Any) -> float:
    """Read a number of a file or a call; NaN for anything else, and for what is easily misread (`1_000`, other digits).

    >>> [parse_number_or_nan(value) for value in ("1.5e3", 2, "1_000", "\uff12", True, 10**400)]
    [1500.0, 2.0, nan, nan, nan, inf]
    """
    if isinstance(value, str):
        return float(value) if DECIMAL.fullmatch(value.strip()) else math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def does_text_continue_number(text: str) -> bool:
    """Tell whether text directly after the digits of a number makes it another number.

    >>> [does_text_continue_number(text) for text in ("0", ".5", ".", " 5", "/10")]
    [True, True, False, False, False]
    """
    return _CONTINUES.match(text) is not None


def parse_scale_range(text: str) -> range:
    """Read a scale given as `LOWEST-HIGHEST`: its whole numbers, both ends included.

    >>> parse_scale_range("1-5"), parse_scale_range("-5-5")
    (range(1, 6), range(-5, 6))

    Raises
    ------
    InputError
        For anything but two whole numbers, the lower one first.
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--range {text}: give two whole numbers with a hyphen between them, such as 0-9")
    low, high = int(match[1]), int(match[2])
    if low > high:
        raise InputError(f"--range {text}: the lower number comes first, {high}-{low}")
    if low == high:
        raise InputError(f"--range {text}: one number is no scale; give two different ones, such as 0-9")
    return range(low, high + 1)
