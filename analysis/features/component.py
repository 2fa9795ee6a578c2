"""Define what a module that measures texts hands to `compute_features`: a component, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Measure = Callable[[Sequence[str]], dict[str, list[float]]]
"""Texts -> for every column, one value per text; NaN if a feature is undefined for a text."""


@dataclass(frozen=True)
class Component:
    """Describe installed software that computes some columns.

    Attributes
    ----------
    identity
        Names, versions and hashes that the numbers depend on. If one changes, the columns are computed again.
    load
        Function that loads the measure. Called only if there is something to compute, because it may take seconds.
    named
        True if the user asked for it by name. Then a failed load is an error; else the columns are left empty.
    note
        Shown with the columns, for example why a better component was not used.
    """

    columns: tuple[str, ...]
    identity: Mapping[str, str]
    load: Callable[[], Measure] = field(compare=False)
    named: bool = False
    note: str = ""


@dataclass(frozen=True)
class MissingComponent:
    """Name columns that cannot be computed here, with one line that says why and what to do.

    Attributes
    ----------
    drops_earlier
        Whether values that the folder holds already are wrong, too: else they stay.
    """

    columns: tuple[str, ...]
    reason: str
    drops_earlier: bool = False


def describe_component_name_and_version(identity: Mapping[str, str]) -> str:
    """Write an identity in words.

    >>> describe_component_name_and_version({"name": "wordfreq", "version": "3.1.1", "hash": "0123456789abcdef"})
    'wordfreq 3.1.1 (hash 01234567)'
    """
    head = " ".join(filter(None, (identity.get("name"), identity.get("version"))))
    shown_fields = {**identity, "hash": identity.get("hash", "")[:8]}
    details = [f"{key} {value}" for key, value in shown_fields.items() if value and key not in ("name", "version")]
    return f"{head} ({', '.join(details)})" if details else head
