"""Read the values of -p NAME=VALUE: one rule for the options of tables and figures and the parameters of notebooks."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ground.errors import shorten_to_one_line
from ground.numerals import parse_plain_number

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def convert_to_type_of_default(default: Any, value: Any) -> Any:
    """Convert a text to the type of a default; of another value, check its type, and whether it is one or several.

    Parameters
    ----------
    default
        The default of an option; one of several values has at least one.
    value
        A text of the command line, where several values are written with commas or as JSON; or a value of the type
        itself, or a path.

    Returns
    -------
    The value; several as a tuple.

    Raises
    ------
    ValueError
        The value is not of that type, or a number that is not finite or beyond 64 bits.

    Examples
    --------
    >>> convert_to_type_of_default((0.05,), "0.1, 0.25"), convert_to_type_of_default(True, "false")
    ((0.1, 0.25), False)
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(default, tuple | list):
        return tuple(convert_to_type_of_default(default[0], part) for part in _split_several_values(default, value))
    if isinstance(value, tuple | list):
        raise ValueError(f"give one value, as in the default {default!r}")
    if default is None or isinstance(default, str) or not isinstance(value, str):
        return _require_type_of_default(default, value)
    if isinstance(default, bool):
        if value.lower() not in _FLAGS:
            raise ValueError(f"{shorten_to_one_line(repr(value))} is neither true nor false")
        return _FLAGS[value.lower()]
    with suppress(ValueError):
        value = parse_plain_number(value, type(default))
    return _require_type_of_default(default, value)


def _split_several_values(default: Sequence[Any], value: Any) -> Sequence[Any]:
    """Return the entries of a list, or of a text that writes one as JSON or with commas."""
    if isinstance(value, tuple | list):
        return value
    if not isinstance(value, str):
        raise ValueError(f"give several values, as in the default {default}")
    if value.strip().startswith("["):
        try:
            return list(json.loads(value))
        except (ValueError, RecursionError):
            raise ValueError(f"{shorten_to_one_line(repr(value))} is no list in JSON, such as [0.05, 0.1]") from None
    return [part.strip() for part in value.split(",")]


def _require_type_of_default(default: Any, value: Any) -> Any:
    """Refuse a value of another type than its default, and a number that is not finite or beyond 64 bits."""
    if default is None or isinstance(default, str | bool):
        if default is not None and not isinstance(value, type(default)):
            raise ValueError(f"{shorten_to_one_line(repr(value))} is not of the kind of the default {default!r}")
        return value
    whole = isinstance(default, int)
    is_of_kind = isinstance(value, numbers.Integral if whole else numbers.Real) and not isinstance(value, bool)
    if not (is_of_kind and abs(value) < 2**63):  # NaN, too
        kind = "whole number" if whole else "number"
        raise ValueError(
            f"{shorten_to_one_line(repr(value))} is not a {kind} that can be used here, as in the default {default}"
        )
    return type(default)(value)
