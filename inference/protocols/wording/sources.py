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
from inference.stimuli.languages import get_main_language
from inference.stimuli.reading.files import expand_user_path

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


def build_source_from_options(options: Namespace) -> Source:
    """Find the source that the command line names.

    Raises
    ------
    InputError
        An option is missing, or does not go with the source.
    """
    return _build_source_of_shipped_texts(options) if options.items in OURS else _build_source_of_user_file(options)


def _build_source_of_user_file(options: Namespace) -> Source:
    """Make the source of a file of the user's; refuse missing options."""
    for name in ("text_column", "language", "templates"):
        if getattr(options, name) is None:
            raise InputError(f"--items {options.items}: {_format_option_name(name)} is needed for a file")
    columns = Columns.parse(
        options.text_column,
        options.gold_column,
        options.item_column,
        options.yes_if,
        options.no_if,
        options.where,
    )
    path = expand_user_path(options.items)
    return Source(options.language, options.templates, partial(texts.read_pool_of_wording_texts, path, columns))


def _build_source_of_shipped_texts(options: Namespace) -> Source:
    """Make the source of texts that come with Waver; refuse options that only a file needs."""
    file_options = [name for name in ABOUT_FILES if getattr(options, name)]
    if file_options:
        raise InputError(
            f"{_format_option_name(file_options[0])} is for a file; the texts of --items {options.items} need none"
        )
    language = options.items.rpartition("-")[2] if options.items in SENTIMENT else "en"
    if options.language is not None and get_main_language(options.language) != language:
        raise InputError(f"--items {options.items} is in '{language}', not in '{options.language}'")
    if options.items == DEMO:
        return Source(language, options.templates or "facts", _build_pool_of_demo_world_facts)
    return Source(language, options.templates or "sentiment", partial(_read_sentiment_texts, options.items))


def _read_sentiment_texts(name: str) -> Pool:
    """Read a file of texts with a sentiment that comes with Waver: positive is yes, negative is no."""
    columns = Columns("text", "sentiment", "item", Comparison("=", ("positive",)), Comparison("=", ("negative",)))
    return texts.read_pool_of_wording_texts(Path(__file__).parent / f"{name}.csv", columns)


def _build_pool_of_demo_world_facts() -> Pool:
    """Make a pool of the demo world's facts, each with gold yes or no."""
    from inference.demo.facts import list_true_and_false_statements
    from inference.demo.world import World

    stated = tuple(
        Text(fact.item, fact.text, "yes" if fact.holds else "no") for fact in list_true_and_false_statements(World())
    )
    return Pool(stated, rows=len(stated), filtered=0, neutral=0, repeated=0)


def _format_option_name(name: str) -> str:
    """Write the name of an argument as its option: `text_column` as --text-column."""
    return "--" + name.replace("_", "-")
