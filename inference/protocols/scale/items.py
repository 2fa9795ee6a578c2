"""Give the items of a battery their options, scales and keys; an error names the file and the item."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ground.errors import InputError, shorten_text
from inference.asking.text_answers import parse_answer
from inference.protocols.scale.shown import MOST_OPTIONS, are_options_whole_numbers
from inference.stimuli.scales import KEY, SCALE, parse_scoring_key_of_item, refuse_scales_with_only_one_item
from inference.stimuli.study import ORIGINAL, Item, Option, Study

NAME = "scale"
OPTIONS, QUESTION = "options", "question"
COLUMNS = (SCALE, KEY, OPTIONS, QUESTION)
"""Columns of an items table that are this protocol's, beside those of all; they reach it as attributes."""
DECISION_RULE = (
    "the option that the likeliest next token begins, of numbers of two digits or more the likeliest number; text: the "
    "option that most texts give; null: no valid answer. Pages take the probabilities of all options, given that one "
    "of them is answered"
)
_SEPARATOR = re.compile("[;\uff1b]")


def build_scale_study(
    study_items: Iterable[Item], name: str, options: tuple[str, ...] | None = None, source: str = ""
) -> Study:
    """Make a study that asks about every variant of every item for one of its ordered options.

    Parameters
    ----------
    study_items
        The items, with `scale`, `key`, `options` and `question` among their attributes where the table has them. What
        only some wordings of an item say holds for all of them.
    name
        The name of the study.
    options
        Options of the items that bring none, from the lowest to the highest; None: all have to bring theirs.
    source
        Where the items came from, as the user gave it.

    Returns
    -------
    The study.

    Raises
    ------
    InputError
        Naming the item and the field that is wrong.
    """
    where = source or name
    scale_items = tuple(_build_scale_item(where, item, options) for item in study_items)
    refuse_scales_with_only_one_item(where, scale_items)
    ranks = tuple(map(str, range(1, 1 + max(len(item.variants[0].options) for item in scale_items))))
    has_rewordings = any(variant.pattern != ORIGINAL for item in scale_items for variant in item.variants)
    return Study(NAME, name, scale_items, ranks, DECISION_RULE, source, paraphrased=has_rewordings)


def split_list_of_options(where: str, text: str) -> tuple[str, ...]:
    """Split a list of options, the lowest first, at its semicolons.

    Parameters
    ----------
    where
        The option of the call or the item, for messages.
    text
        The options.

    Returns
    -------
    The options, without the blanks around them.

    Raises
    ------
    InputError
        There is only one, too many, an empty one, or two that are alike but for case and blanks.

    Examples
    --------
    >>> split_list_of_options("--options", "Disagree; Neither; Agree")
    ('Disagree', 'Neither', 'Agree')
    """
    parts = tuple(" ".join(part.split()) for part in _SEPARATOR.split(text.strip().rstrip(";\uff1b")))
    if len(parts) < 2:
        raise InputError(
            f"{where}: '{shorten_text(text)}' is one option; give two or more with a semicolon between them, the "
            "lowest first"
        )
    if not all(parts):
        raise InputError(f"{where}: '{shorten_text(text)}' has an empty option; write it, or take a semicolon out")
    if len(parts) > MOST_OPTIONS:
        raise InputError(f"{where}: {len(parts):,} options; give at most {MOST_OPTIONS:,}")
    first_by_fold: dict[str, str] = {}
    for part in parts:
        before = first_by_fold.setdefault(unicodedata.normalize("NFKC", part).casefold(), part)
        if before is not part:
            raise InputError(
                f"{where}: the options '{shorten_text(before)}' and '{shorten_text(part)}' are alike; a model cannot "
                "tell them apart"
            )
    if not are_options_whole_numbers(parts):
        try:
            parse_answer("", {part: [part] for part in parts})  # as written texts are read: "non-smoker", "non smoker"
        except ValueError as error:
            raise InputError(f"{where}: {error}; choose other words") from None
    return parts


def _build_scale_item(source: str, item: Item, options: tuple[str, ...] | None) -> Item:
    """Give all variants of an item their options, and the scale and key of the item."""
    where = f"{source}, item '{shorten_text(item.item)}'"
    scale = _find_attribute_value_shared_by_wordings(where, item, SCALE)
    key = parse_scoring_key_of_item(where, _find_attribute_value_shared_by_wordings(where, item, KEY))
    default_question = _find_first_attribute_value(item, QUESTION)
    default_options = _find_first_attribute_value(item, OPTIONS)
    shared = {KEY: key} | ({} if scale is None else {SCALE: scale})
    variants = []
    attributes_by_content: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}  # one object, to save memory
    for variant in item.variants:
        if variant.gold is not None or variant.gold_score is not None:
            raise InputError(
                f"{where}: an item of a scale has no right answer: take column gold or gold_score out, or call it "
                "attributes.NAME"
            )
        written = variant.attributes.get(OPTIONS, default_options)
        words = options if written is None else split_list_of_options(f"{where}, options", written)
        if words is None:
            raise InputError(f"{where}: there are no options; give them with --options, or in a column 'options'")
        question = variant.attributes.get(QUESTION, default_question)
        others = {name: value for name, value in variant.attributes.items() if name not in COLUMNS}
        content = {**others, **shared, **({} if question is None else {QUESTION: question})}
        attributes = attributes_by_content.setdefault(tuple(content.items()), content)
        ranked = tuple(Option(word, str(rank)) for rank, word in enumerate(words, start=1))
        variants.append(replace(variant, options=ranked, attributes=attributes))
    lengths = {len(variant.options) for variant in variants}
    if len(lengths) > 1:
        raise InputError(
            f"{where}: its wordings have {' and '.join(map(str, sorted(lengths)))} options; all wordings of an item "
            "need equally many"
        )
    return Item(item.item, tuple(variants))


def _find_first_attribute_value(item: Item, name: str) -> str | None:
    """Return the first value that a wording of an item has of an attribute; None where none has."""
    return next((v.attributes[name] for v in item.variants if name in v.attributes), None)


def _find_attribute_value_shared_by_wordings(where: str, item: Item, name: str) -> str | None:
    """Return the value of an attribute that all wordings of an item have; those that say nothing count with them."""
    values = list(dict.fromkeys(v.attributes[name].strip() for v in item.variants if name in v.attributes))
    if len(values) > 1:
        raise InputError(
            f"{where}: its wordings have the {name} '{shorten_text(values[0])}' and '{shorten_text(values[1])}'; an "
            "item has one"
        )
    return values[0] if values and values[0] else None
