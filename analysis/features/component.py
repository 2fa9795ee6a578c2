"""What computes some columns: the contract between the modules that measure and `compute`, which keeps the books."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata

Measure = Callable[[Sequence[str]], dict[str, list[float]]]
"""Texts -> one value per text for every column; NaN where a feature is undefined for a text."""


@dataclass(frozen=True)
class Component:
    """Something at hand that can compute columns.

    Attributes
    ----------
    identity
        What the numbers depend on (names, versions, hashes): columns are computed again when it changes.
    load
        Makes the measure. Called only when there is something to compute, since it may take seconds.
    named
        The user asked for it by name: that it cannot be loaded is then an error and not a reason to go without.
    note
        Said beside the columns, for example why a better component was not used.
    """

    columns: tuple[str, ...]
    identity: Mapping[str, str]
    load: Callable[[], Measure] = field(compare=False)
    named: bool = False
    note: str = ""


@dataclass(frozen=True)
class Missing:
    """Columns that cannot be computed here, and the one line that says why and what to do."""

    columns: tuple[str, ...]
    reason: str


def version(distribution: str) -> str | None:
    """Version of an installed distribution without importing it, None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def describe(identity: Mapping[str, str]) -> str:
    """An identity in words.

    >>> describe({"name": "wordfreq", "version": "3.1.1", "hash": "0123456789abcdef"})
    'wordfreq 3.1.1 (hash 01234567)'
    """
    head = " ".join(filter(None, (identity.get("name"), identity.get("version"))))
    short = {**identity, "hash": identity.get("hash", "")[:8]}
    rest = [f"{key} {value}" for key, value in short.items() if value and key not in ("name", "version")]
    return f"{head} ({', '.join(rest)})" if rest else head
