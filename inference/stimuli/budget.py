"""Bound what the rendering of a template may take, and foresee how large the result of an operation will be."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import GeneratorType
from typing import Any

import jinja2

SIZE = 5_000_000
"""Passes, calls, characters and entries of one rendering: more characters than any model's window holds."""
SECONDS = 1.0
"""Processor time of one rendering; a usual one takes 20 microseconds."""
BITS = 100_000
"""Size of a whole number."""
UNCHECKED = 50_000  # characters between two looks at the clock; a step, whatever it does, counts as `STEP` of them
STEP = 1_000

CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset, dict, type({}.keys()), type({}.values()), type({}.items()))
SIZED: tuple[Any, ...] = (str, bytes, *CONTAINERS)
# Filters that give entries as they are, whatever these contain.
LAZY = frozenset({"map", "select", "reject", "selectattr", "rejectattr", "list", "first", "unique"})
PADDED = frozenset({"center", "ljust", "rjust", "zfill", "to_bytes", "batch", "slice", "round"})
MULTIPLIED = frozenset({"indent", "expandtabs", "translate", "tojson", "sum"})
_NUMBERS = re.compile(r"[0-9]+")


class TooMuch(jinja2.TemplateRuntimeError):
    """A template would take more than its budget."""


class Budget:
    """What a rendering may still take: `SIZE` steps, characters and entries, and `SECONDS` of processor time."""

    __slots__ = ("_end", "_left", "_unchecked")

    def __init__(self) -> None:
        self._left = SIZE
        self._unchecked = 0
        self._end = math.inf  # the clock starts with the first look at it: most renderings need none

    def spend(self, size: int = 1) -> None:
        """Take `size` steps, characters or entries.

        Raises
        ------
        TooMuch
            There are not as many left, or the time is over.
        """
        self.foresee(size)
        self._left -= size

    def foresee(self, size: int) -> None:
        """Refuse what would take more than is left; errors as in `spend`."""
        if size > self._left:
            raise TooMuch(f"it makes more than {SIZE:,} characters or passes of loops")
        self._unchecked += STEP + size
        if self._unchecked > UNCHECKED:
            self._unchecked = 0
            now = time.thread_time()
            self._end = min(self._end, now + SECONDS)
            if now > self._end:
                raise TooMuch(f"it computes for more than {SECONDS:g} s")

    def made(self, value: Any) -> Any:
        """Take the size of a value that was made, and give the value back."""
        if isinstance(value, SIZED):
            self.spend(len(value))
        return value

    def size(self, value: Any) -> int:
        """Count the characters that a value has as text, about; every entry of a container is a step."""
        size, rest = 0, [value]
        while rest:
            one = rest.pop()
            if isinstance(one, str | bytes):
                size += len(one)
            elif isinstance(one, int):
                size += one.bit_length() // 3
            elif isinstance(one, CONTAINERS):
                self.spend(len(one))
                size += 2 * len(one)
                rest.extend(one)
                rest.extend(one.values() if isinstance(one, dict) else ())
        return size


_shared: ContextVar[Budget | None] = ContextVar("budget", default=None)


class budget:
    """Let all renderings in a `with` block share one budget; without a block, every rendering has its own."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = None if _shared.get() else _shared.set(Budget())

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            _shared.reset(self._token)


def current() -> Budget:
    """Find the budget of this rendering; what happens outside one has its own."""
    return _shared.get() or Budget()


def foresee_operator(operator: str, left: Any, right: Any) -> None:
    """Refuse an operator whose result is too large."""
    spent = current()
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        if bits > BITS:
            raise TooMuch(f"it computes a number of more than {BITS:,} bits")
        return
    if operator == "%" and isinstance(left, str | bytes):
        spent.foresee(_formatted(spent, left, [right]))
        return
    sequences = [len(side) for side in (left, right) if isinstance(side, (str, bytes, list, tuple))]
    times = next((side for side in (left, right) if isinstance(side, int)), 1)
    spent.foresee(sum(sequences) * (times if operator == "*" else 1))


def foresee_text(name: str, value: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Sequence[Any]]:
    """Refuse a filter or method whose result is too large; give value and arguments back, generators as lists."""
    spent = current()
    if name in LAZY or (type(value) is str and not args and not kwargs):  # trim, upper, length ...
        spent.foresee(len(value) if type(value) is str else 0)
        return value, args
    value, *args = (list(each) if isinstance(each, GeneratorType) else each for each in (value, *args))
    spent.foresee(_expected(spent, name, value, args, kwargs))
    return value, args


def _expected(spent: Budget, name: str, value: Any, args: list[Any], kwargs: Mapping[str, Any]) -> int:
    given = [*args, *kwargs.values()]
    size = spent.size(value)
    numbers = [each for each in given if isinstance(each, int)]
    if name in PADDED:
        return max([size, *numbers])
    if name in MULTIPLIED:
        return (1 + size) * max([8, *numbers, *map(spent.size, given)])
    if name in ("format", "format_map"):
        return _formatted(spent, value, given)
    if name == "replace":
        texts = [each for each in given if isinstance(each, str | bytes)]
        old, new = kwargs.get("old", texts[0] if texts else ""), kwargs.get("new", texts[-1] if texts else "")
        found = value.count(old) if isinstance(value, str) and isinstance(old, str) else size
        return size + found * spent.size(new)
    if name == "join":
        one, other = value, next(iter(given), "")
        parts, between = (other, one) if isinstance(value, str | bytes) and args else (one, other)
        return spent.size(parts) + spent.size(between) * (len(parts) if hasattr(parts, "__len__") else 0)
    return size


def _formatted(spent: Budget, pattern: Any, given: list[Any]) -> int:
    """Say how long a formatted text may be: every mark may show the largest value, with the largest width."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)
    widths = [int(digits[:12]) for digits in _NUMBERS.findall(text)]
    if "*" in text or text.count("{") > 1:
        widths += [each for each in _entries(given) if isinstance(each, int)]
    marks = max(text.count("%"), text.count("{"))
    return len(text) + marks * max([spent.size(given), *widths])


def _entries(given: Iterable[Any]) -> Iterator[Any]:
    for each in given:
        yield from each if isinstance(each, list | tuple) else each.values() if isinstance(each, dict) else (each,)
