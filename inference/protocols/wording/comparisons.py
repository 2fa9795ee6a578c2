"""Read comparisons from the command line, such as `>=1`, `<=-1`, `=positive`, `=a,b`, and apply them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError
from ground.numerals import COMMA
from inference.stimuli.numbers import parse_number_or_nan

_ORDERED: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_SHAPE = re.compile(r"\s*(>=|<=|>|<|=)(?!=)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A sign with one number, or `=` with values, any of which may match."""

    sign: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, option: str) -> Comparison:
        """Read a comparison from the command line.

        Parameters
        ----------
        text
            `>=`, `<=`, `>` or `<` with a number, or `=` with one value or several between commas.
        option
            The option it was given with, for the error message.

        Returns
        -------
        The comparison.

        Raises
        ------
        InputError
            For anything else.
        """
        match = _SHAPE.fullmatch(text)
        if not match:
            raise InputError(f"{option} {text!r}: give a comparison such as '>=1', '<=-1', '=positive' or '=a,b'")
        sign, value_text = match.groups()
        values = tuple(value.strip() for value in value_text.split(","))
        if not all(values):
            raise InputError(f"{option} {text!r}: there is no value after {sign}")
        if sign != "=" and (len(values) > 1 or not is_decimal_number(values[0])):
            raise InputError(f"{option} {text!r}: {sign} compares with one number")
        return cls(sign, values)

    def holds(self, value: str) -> bool:
        """Tell whether a value fulfils the comparison. Equal are equal numbers, and texts that differ only in case.

        Raises
        ------
        InputError
            An order is asked of something that is no number, or a number is asked for and has a decimal comma.
        """
        if COMMA.fullmatch(value) and any(map(is_decimal_number, self.values)):
            raise InputError(f"'{value}' cannot be compared with {self}; write the number with a point, not a comma")
        if self.sign == "=":
            return any(_is_equal_number_or_text(value, target) for target in self.values)
        if not is_decimal_number(value):
            raise InputError(f"'{value}' is not a number, so it cannot be compared with {self}")
        return _ORDERED[self.sign](float(value), float(self.values[0]))

    def __str__(self) -> str:
        return self.sign + ",".join(self.values)


def parse_column_comparison(text: str, option: str) -> tuple[str, Comparison]:
    """Read a column and its comparison from the command line.

    Parameters
    ----------
    text
        Such as `is_short=True` or `words<=20`.
    option
        The option it was given with, for messages.

    Returns
    -------
    Name of the column, and the comparison.

    Raises
    ------
    InputError
        For anything else.
    """
    match = re.fullmatch(r"([^<>=]+)([<>=].*)", text, re.DOTALL)
    if not match:
        raise InputError(f"{option} {text!r}: give a column and a comparison, such as 'length<=100' or 'kind=a,b'")
    return match[1].strip(), Comparison.parse(match[2], f"{option} {match[1].strip()}")


def convert_cell_to_stripped_text(value: Any) -> str | None:
    """Turn a cell of any file into text; None if it is empty."""
    if value is None or isinstance(value, list | dict):
        return None
    if value != value:  # pandas writes what is missing as NaN
        return None
    return str(value).strip() or None


def is_decimal_number(text: str) -> bool:
    """Tell whether a text is a finite decimal number."""
    return math.isfinite(parse_number_or_nan(text))


def _is_equal_number_or_text(value: str, target: str) -> bool:
    """Tell whether two values are equal as numbers, or as texts without regard to case."""
    if is_decimal_number(value) and is_decimal_number(target):
        return float(value) == float(target)
    return value.casefold() == target.casefold()
