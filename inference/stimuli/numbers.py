"""Read numbers of files and ranges, and tell which texts continue a number (`ground.numerals.parse_first_number`)."""

from __future__ import annotations

import math
import re
from typing import Any

from ground.errors import InputError
from ground.numerals import DECIMAL

_CONTINUES = re.compile(r"[.\uff0e]?[0-9\uff10-\uff19]")  # full-width forms, too
_RANGE = re.compile(r"(-?[0-9]{1,9})-(-?[0-9]{1,9})")


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
