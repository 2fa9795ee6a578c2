"""Cite the studies that the pages repeat, from results/published/studies.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.reporting.printed import FOLDER


@dataclass(frozen=True, slots=True)
class Study:
    """One published study; `links`: what a link is called -> its address."""

    authors: str
    year: str
    title: str
    venue: str = ""
    note: str = ""
    links: Mapping[str, str] = field(default_factory=dict)


def studies() -> dict[str, Study]:
    """Return every study by the name that the files of its printed tables begin with."""
    listed = tomllib.loads((FOLDER / "studies.toml").read_text(encoding="utf-8"))
    return {name: Study(**entry) for name, entry in listed.items()}
