"""Explain the words of the report in plain English; `glossary.toml` holds them, the only place.

::

    python -m analysis.reporting.words.glossary > docs/glossary.md
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

TERMS_FILE = Path(__file__).with_name("glossary.toml")
HEAD = """# Glossary

The words of the report in plain English. Every page of a report shows those that it uses, folded, at its foot.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """One word, the other words that stand for the same, and what it means."""

    word: str
    also: tuple[str, ...]
    means: str


@functools.cache
def read_glossary_terms() -> tuple[Term, ...]:
    """Return all terms, in the order of the alphabet."""
    entries = tomllib.loads(TERMS_FILE.read_text(encoding="utf-8"))
    return tuple(Term(word, tuple(entry.get("also", ())), entry["means"]) for word, entry in entries.items())


def find_terms_in_page(page_html: str) -> list[Term]:
    """Return the terms that some HTML shows, in the order of the alphabet; those in texts of items do not count.

    >>> [term.word for term in find_terms_in_page('<p title="kurtosis">All <b>Items</b> flip; p(agree).</p>')]
    ['flip', 'item']
    >>> find_terms_in_page('<blockquote>A military base</blockquote><table><td class="words">It is a tie.</td></table>')
    []
    """
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(page_html, "html.parser")
    for other in _list_elements_without_report_prose(soup):
        other.decompose()
    text = soup.get_text("\n")
    return [
        term for term in read_glossary_terms() if any(_is_word_in_text(word, text) for word in (term.word, *term.also))
    ]


def _list_elements_without_report_prose(soup: BeautifulSoup) -> list[Tag]:
    """List what is no text of the report: style, script, code, and the texts of items, in examples and in cells.

    Not by a selector: the first one of a process takes 0.1 s to compile.
    """
    code, texts = soup.find_all("pre", class_="code"), soup.find_all("td", class_="words")
    return [*soup.find_all(["style", "script", "blockquote"]), *code, *texts]


def _is_word_in_text(word: str, text: str) -> bool:
    """Tell whether a text has a whole word; its first letter may be a capital at the beginning of a sentence."""
    if word[1:] not in text:  # most are not: this is much faster than the search
        return False
    first = word[0] if word[0].isupper() else f"[{word[0]}{word[0].upper()}]"
    return re.search(rf"(?<![\w-]){first}{re.escape(word[1:])}(?![\w-])", text) is not None


def render_glossary_markdown() -> str:
    """Write the whole glossary as a page of Markdown."""
    return HEAD + "".join(
        f"\n**{term.word}**{_format_synonyms(term)}  \n{term.means}\n" for term in read_glossary_terms()
    )


def _format_synonyms(term: Term) -> str:
    """Name the other words for a term, but not its plural."""
    synonyms = [word for word in term.also if not word.startswith(term.word)]
    return f" ({', '.join(synonyms)})" if synonyms else ""


if __name__ == "__main__":
    print(render_glossary_markdown(), end="")
