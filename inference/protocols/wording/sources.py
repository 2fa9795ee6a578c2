"""Find the texts that the command line names: a file of the user's, or a set that comes with Waver."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ground.errors import InputError
from inference.protocols.wording import texts
from inference.protocols.wording.comparisons import Comparison
from inference.protocols.wording.texts import Columns, Pool, Text
from inference.stimuli.files import located

DEMO = "demo"
SENTIMENT = ("sentiment-en", "sentiment-ja")
OURS = (DEMO, *SENTIMENT)
ABOUT_FILES = ("text_column", "gold_column", "item_column", "yes_if", "no_if", "where")


@dataclass(frozen=True, slots=True)
class Source:
    """Texts that are not read yet, with their language and the template bank to ask about them."""

    language: str
    templates: str
    read: Callable[[], Pool]


def find(options: Namespace) -> Source:
    """Find the source that the command line names.

    Raises
    ------
    InputError
        An option is missing, or does not go with the source.
    """
    return _ours(options) if options.items in OURS else _file(options)


def _file(options: Namespace) -> Source:
    for name in ("text_column", "language", "templates"):
        if getattr(options, name) is None:
            raise InputError(f"--items {options.items}: {_flag(name)} is needed for a file")
    columns = Columns.parse(
        options.text_column,
        options.gold_column,
        options.item_column,
        options.yes_if,
        options.no_if,
        options.where,
    )
    path = located(options.items)
    return Source(options.language, options.templates, partial(texts.read, path, columns))


def _ours(options: Namespace) -> Source:
    given = [name for name in ABOUT_FILES if getattr(options, name)]
    if given:
        raise InputError(f"{_flag(given[0])} is for a file; the texts of --items {options.items} need none")
    language = options.items.rpartition("-")[2] if options.items in SENTIMENT else "en"
    if options.language not in (None, language):
        raise InputError(f"--items {options.items} is in '{language}', not in '{options.language}'")
    if options.items == DEMO:
        return Source(language, options.templates or "facts", _demo_facts)
    return Source(language, options.templates or "sentiment", partial(_sentiment, options.items))


def _sentiment(name: str) -> Pool:
    columns = Columns("text", "sentiment", "item", Comparison("=", ("positive",)), Comparison("=", ("negative",)))
    return texts.read(Path(__file__).parent / f"{name}.csv", columns)


def _demo_facts() -> Pool:
    from inference.demo.facts import facts
    from inference.demo.world import World

    stated = tuple(Text(fact.item, fact.text, "yes" if fact.holds else "no") for fact in facts(World()))
    return Pool(stated, rows=len(stated), filtered=0, neutral=0, repeated=0)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
