"""Read items from a file or a data set; an error names the file and the row.

Three shapes are understood, whatever the file format:

long
    one row per variant: `item`, `text`, and if wanted `variant`, `pattern`, `language`, `gold`, `gold_score`,
    `attributes.NAME`. Without `pattern`, the variant called `original` is the original; without both, the first row
    of every item is.
nested
    one entry per item: `item`, `text`, `paraphrases` (a list of texts), and if wanted `language`, `gold`,
    `gold_score`, `attributes`.
published
    as Haller et al. (2024) published theirs: `id`, `original_statement` (or `statement`), `alternative_statements`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any

from inference.errors import InputError, cut
from inference.stimuli import numbers, records
from inference.stimuli.files import located, not_finite, shown
from inference.stimuli.records import Record
from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Variant

DEMO = "demo"
DEMO_FILE = Path(__file__).parents[1] / "demo" / "questionnaire.yaml"

NONE: dict[str, str] = {}  # one object for all variants without attributes, to save memory
COMMON = {"item", "text", "language", "gold", "gold_score", "attributes"}
LONG = COMMON | {"variant", "pattern"}
NESTED = COMMON | {"paraphrases"}
PUBLISHED = {"id": "item", "original_statement": "text", "statement": "text", "alternative_statements": "paraphrases"}
PUBLISHED_UNUSED = {"response", "statement_log_prob"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A variant without options, and its place in the source."""

    place: str
    variant: Variant


def load(source: str, options: tuple[Option, ...] = ()) -> tuple[Item, ...]:
    """Read the items of a source and check them.

    Parameters
    ----------
    source
        A file (.csv .tsv .json .jsonl .yaml .parquet); `demo` for the questionnaire that comes with Waver; a Hugging
        Face data set by id, or a folder that holds one. `SOURCE#SPLIT` chooses a split of a data set.
    options
        The options of every variant, if they are the same for all; else the protocol gives them to each.

    Raises
    ------
    InputError
        Naming the source and the row of the first thing that is wrong.
    """
    path = DEMO_FILE if source == DEMO else located(source)
    if path.is_file() or path.suffix.lower() in records.READERS:
        found: Iterable[Record] = records.Records(path)
        name = str(path)
    else:
        from inference.stimuli.hub import read_dataset

        found, name = read_dataset(source), source
    try:
        return _items(partial(_rows, found), options)
    except InputError as error:
        # A message about the file itself names the file already.
        raise InputError(str(error) if str(error).startswith(name) else f"{name}, {error}") from None


def default_name(source: str) -> str:
    """Name a study after its file or data set, for users who give no name."""
    path = Path(source.partition("#")[0])
    return path.stem if path.suffix.lower() in records.READERS else path.name or path.resolve().name


def _rows(found: Iterable[Record]) -> Iterator[_Row]:
    """Recognise the shape of the records by their fields; read one row per variant."""
    fields: set[str] = set()
    for _, record in found:
        fields.update(record)
    if fields & {"original_statement", "statement"}:
        return _published(found)
    if "paraphrases" in fields:
        return _nested(found)
    return _long(found)


def _long(found: Iterable[Record]) -> Iterator[_Row]:
    original_seen: set[str] = set()
    count: Counter[tuple[str, str]] = Counter()
    for place, record in found:
        _refuse_unknown(place, record, LONG)
        item = _id(place, record)
        variant, pattern = _optional(place, record, "variant"), _optional(place, record, "pattern")
        if pattern is None:
            pattern = ORIGINAL if variant == ORIGINAL or (variant is None and item not in original_seen) else PARAPHRASE
        if pattern == ORIGINAL:
            if item in original_seen:
                raise InputError(f"{place}: item '{item}' has a second original; set its pattern")
            original_seen.add(item)
        count[item, pattern] += 1
        name = variant or (ORIGINAL if pattern == ORIGINAL else f"{pattern}-{count[item, pattern]:03d}")
        yield _row(place, item, name, pattern, record.get("text"), _shared(place, record))


def _nested(found: Iterable[Record]) -> Iterator[_Row]:
    seen: dict[str, str] = {}
    for place, record in found:
        _refuse_unknown(place, record, NESTED)
        item, shared, texts = _id(place, record), _shared(place, record), record.get("paraphrases") or []
        if seen.setdefault(item, place) != place:
            raise InputError(f"{place}: item '{item}' is already in {seen[item]}")
        if not isinstance(texts, list):
            raise InputError(f"{place}: paraphrases must be a list of texts, not {shown(texts)}")
        yield _row(place, item, ORIGINAL, ORIGINAL, record.get("text"), shared)
        for number, text in enumerate(texts, start=1):
            yield _row(f"{place}, paraphrase {number}", item, f"{PARAPHRASE}-{number:03d}", PARAPHRASE, text, shared)


def _published(found: Iterable[Record]) -> Iterator[_Row]:
    """Read the published shape as the nested one, after renaming its fields."""
    return _nested(map(_renamed, found))


def _renamed(found: Record) -> Record:
    place, record = found
    _refuse_unknown(place, record, {*PUBLISHED, *PUBLISHED_UNUSED})
    texts = record.get("alternative_statements") or []
    if isinstance(texts, list) and any(isinstance(text, dict) for text in texts):
        raise InputError(f"{place}: these are responses, not items; read them with `import haller`")
    return place, {PUBLISHED[field]: value for field, value in record.items() if field in PUBLISHED}


def _row(place: str, item: str, name: str, pattern: str, text: Any, shared: Mapping[str, Any]) -> _Row:
    # Millions of variants share their names: each is kept once.
    return _Row(place, Variant(intern(item), intern(name), intern(pattern), _text(place, text), (), **shared))


def _items(rows: Callable[[], Iterable[_Row]], options: tuple[Option, ...]) -> tuple[Item, ...]:
    """Gather rows by item, in order of appearance; refuse a variant or a wording that an item has twice."""
    gathered: dict[str, list[Variant]] = {}
    for row in rows():
        gathered.setdefault(row.variant.item, []).append(replace(row.variant, options=options))
    for variants in gathered.values():
        if len({v.variant for v in variants} | {v.text.strip() for v in variants}) < 2 * len(variants):
            _refuse_repeated(rows(), variants[0].item)
    return tuple(Item(item, tuple(variants)) for item, variants in gathered.items())


def _refuse_repeated(rows: Iterable[_Row], item: str) -> None:
    """Name the places of a repeated variant or wording of an item, if there is one."""
    names: dict[str, str] = {}
    wordings: dict[str, str] = {}
    for place, variant in ((row.place, row.variant) for row in rows if row.variant.item == item):
        if variant.variant in names:
            raise InputError(
                f"{place}: variant '{variant.variant}' of item '{item}' is already in {names[variant.variant]}"
            )
        # Blanks at the ends do not make another wording; the text itself is asked exactly as it was given.
        wording = variant.text.strip()
        if wording in wordings:
            raise InputError(f"{place}: the same text as {wordings[wording]}; an item has every wording once")
        names[variant.variant] = wordings[wording] = place


def _refuse_unknown(place: str, record: Mapping[str, Any], known: set[str]) -> None:
    for field in record:
        if field not in known and not (field.startswith("attributes.") and "attributes" in known):
            raise InputError(f"{place}: unknown column '{cut(field)}'; there are {', '.join(sorted(known))}")


def _id(place: str, record: Mapping[str, Any]) -> str:
    value = record.get("item")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or not_finite(value):
        raise InputError(f"{place}: every item needs an id (text or a whole number), not {shown(value)}")
    return value.strip()


def _text(place: str, value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise InputError(f"{place}: the text is empty")
    if not isinstance(value, str):
        raise InputError(f"{place}: the text must be text, not {shown(value)} (in YAML, put it into quotes)")
    return value


def _shared(place: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Read language, gold, gold score and attributes of a record."""
    return {
        "language": _optional(place, record, "language"),
        "gold": _optional(place, record, "gold"),
        "gold_score": _score(place, record.get("gold_score")),
        "attributes": _attributes(place, record),
    }


def _optional(place: str, record: Mapping[str, Any], field: str) -> str | None:
    value = record.get(field)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place}: {field} must be text, not {shown(value)} (in YAML, put it into quotes)")
    if not_finite(value):
        raise InputError(f"{place}: {field} is '{value}', as a missing number is written; leave it out, or name it")
    return intern(value.strip())


def _score(place: str, value: Any) -> float | None:
    if value is None:
        return None
    score = numbers.number(value)
    if not math.isfinite(score):
        raise InputError(f"{place}: gold_score must be a number, not {shown(value)}")
    return score


def _attributes(place: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Join the field `attributes` and the columns `attributes.NAME`; numbers become text."""
    given = record.get("attributes") or NONE
    pairs = list(given.items()) if isinstance(given, dict) else given  # Parquet gives a map as pairs
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InputError(f"{place}: attributes must be names with values, not {shown(given)}")
    flat = [(field.partition(".")[2], value) for field, value in record.items() if field.startswith("attributes.")]
    attributes: dict[str, str] = {}
    for name, value in (*pairs, *flat):
        if value is None:
            continue
        if not name or not isinstance(name, str) or not isinstance(value, str | int | float):
            raise InputError(
                f"{place}: attribute {shown(name)} must be a name with a text or number, not {shown(value)}"
            )
        if name in attributes:
            raise InputError(f"{place}: attribute '{name}' is there twice")
        attributes[name] = intern(str(value))
    return attributes or NONE
