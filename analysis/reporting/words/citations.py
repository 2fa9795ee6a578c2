"""Cite Waver, and the studies that the pages repeat (results/published/studies.toml): in words and as BibTeX."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from analysis.reporting.catalogue.published_numbers import FOLDER


@dataclass(frozen=True, slots=True)
class PublishedStudy:
    """One published study; `links`: what a link is called -> its address."""

    authors: str
    year: str
    title: str
    venue: str = ""
    note: str = ""
    links: Mapping[str, str] = field(default_factory=dict)


TOOL = PublishedStudy(
    authors="The Waver team",
    year="2026",
    title="Waver: does a language model change its answer when you change the wording?",
    note="Software, version 0.2.0",
)
"""Waver itself, as CITATION.cff has it; that file is not in an installed package."""
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def read_published_studies() -> dict[str, PublishedStudy]:
    """Return every study by the name that the files of its printed tables begin with."""
    listed = tomllib.loads((FOLDER / "studies.toml").read_text(encoding="utf-8"))
    return {name: PublishedStudy(**entry) for name, entry in listed.items()}


def render_bibtex(cited_studies: Mapping[str, PublishedStudy]) -> str:
    """Write Waver and studies as BibTeX entries, each under its name and year.

    >>> print(render_bibtex({"tea": PublishedStudy("Ann Lee, 茶太郎", "[2024]", "Tea & cake", links={"code": "https://x.org/t_1"})}))
    @misc{waver2026,
      author = {{The Waver team}},
      title = {{Waver: does a language model change its answer when you change the wording?}},
      year = {2026},
      note = {Software, version 0.2.0}
    }
    <BLANKLINE>
    @misc{tea2024,
      author = {Ann Lee and {茶太郎}},
      title = {{Tea \\& cake}},
      year = {2024},
      url = {https://x.org/t_1},
      note = {The text names no year; it is inferred}
    }
    """
    return "\n\n".join(_render_bibtex_entry(name, study) for name, study in {"waver": TOOL, **cited_studies}.items())


def _render_bibtex_entry(name: str, study: PublishedStudy) -> str:
    """Write one study as a BibTeX entry."""
    year = re.sub(r"\D", "", study.year)
    inferred = "" if year == study.year else "The text names no year; it is inferred"
    links = {link_name.partition(":")[0]: link_name.partition(":")[2] for link_name in study.links}
    fields = {
        "author": " and ".join(_render_bibtex_author(study, name) for name in study.authors.split(", ")),
        "title": f"{{{_escape_bibtex(study.title)}}}",
        "year": year,
        "booktitle": _escape_bibtex(study.venue),
        "doi": links.get("doi", ""),
        "eprint": links.get("arXiv", ""),
        "archiveprefix": "arXiv" if "arXiv" in links else "",
        "url": next(iter(study.links.values()), ""),
        "note": ". ".join(filter(None, (_escape_bibtex(study.note), inferred))),
    }
    kind = "inproceedings" if study.venue else "misc"
    field_lines = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items() if value)
    return f"@{kind}{{{name}{year},\n{field_lines}\n}}"


def _render_bibtex_author(study: PublishedStudy, author_name: str) -> str:
    """Return a name; that of a group, and one without a blank, is not to be taken apart."""
    whole = study is TOOL or " " not in author_name
    return f"{{{_escape_bibtex(author_name)}}}" if whole else _escape_bibtex(author_name)


def _escape_bibtex(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def list_distinct_study_names_of_pages(study_names_of_pages: Iterable[Iterable[str]]) -> list[str]:
    """Join the studies of several pages, each once, in the order of the pages."""
    return list(dict.fromkeys(name for study_names in study_names_of_pages for name in study_names))
