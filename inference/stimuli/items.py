"""Read items from a file or a data set; an error names the file and the row.

The shapes that tables may have stand in `inference.stimuli.shapes`. In the long one, the variant called `original` is
the original where there is no `pattern`; without both, the first row of every item is.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any

from ground.errors import InputError, cut, nearest
from inference.numerals import COMMA
from inference.stimuli import numbers, records
from inference.stimuli.files import located, not_finite, refuse_unprintable, shown, shows_nothing
from inference.stimuli.records import Record
from inference.stimuli.shapes import ATTRIBUTE, Columns, Shape, recognised
from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Variant

DEMO = "demo"
DEMO_FILE = Path(__file__).parents[1] / "demo" / "questionnaire.yaml"

NONE: dict[str, str] = {}  # one object for all variants without attributes, to save memory
CALLED = Columns()  # the columns are called as their fields are
PATTERNS = (ORIGINAL, PARAPHRASE)
LISTED = 20  # items that are named one by one


@dataclass(frozen=True, slots=True)
class _Row:
    """A variant without options, and its place in the source."""

    place: str
    variant: Variant


def load(source: str, options: tuple[Option, ...] = (), columns: Columns = CALLED) -> tuple[Item, ...]:
    """Read the items of a source, check them, and tell what a reader of the table might not expect.

    Parameters
    ----------
    source
        A file (.csv .tsv .json .jsonl .yaml .parquet); `demo` for the questionnaire that comes with Waver; a Hugging
        Face data set by id, or a folder that holds one. `SOURCE#SPLIT` chooses a split of a data set.
    options
        The options of every variant, if they are the same for all; else the protocol gives them to each.
    columns
        What the columns are, where they are not called so.

    Returns
    -------
    The items.

    Raises
    ------
    InputError
        Naming the source and the row of the first thing that is wrong.
    """
    path = DEMO_FILE if source == DEMO else located(source)
    if path.is_file() or records.kind(path) in {*records.READERS, *records.UNREAD}:
        file = records.Records(path)
        found: Iterable[Record] = file
        name, there = str(path), file.fields()
    else:
        from inference.stimuli.hub import read_dataset

        found, name = read_dataset(source), source
        there = list(dict.fromkeys(field for _, record in found for field in record))
    shape = recognised(name, there, columns)
    try:
        loaded = _items(partial(_rows, shape, found), options)
    except InputError as error:
        # A message about the file itself names the file already.
        raise InputError(str(error) if str(error).startswith(name) else f"{name}, {error}") from None
    for line in _told(shape, loaded):
        print(f"{source}: {line}", file=sys.stderr)
    return loaded


def _told(shape: Shape, loaded: tuple[Item, ...]) -> Iterator[str]:
    """Say what the table was taken for, where that is not plain."""
    if shape.kept:
        yield f"columns kept as attributes: {cut(', '.join(shape.kept), 400)}"
    for pattern in sorted({variant.pattern for item in loaded for variant in item.variants} - set(PATTERNS)):
        yield f"pattern '{cut(pattern)}' is not one of {', '.join(PATTERNS)}; its wordings count as paraphrases"
    lacking = [item.item for item in loaded if item.original is None]
    if lacking:
        names = ", ".join(lacking[:LISTED]) + (" ..." if len(lacking) > LISTED else "")
        yield (
            f"{len(lacking):,} of {len(loaded):,} items have no original, so all their wordings count as paraphrases, "
            f"and the first stands for the item in tables: {names}"
        )


def default_name(source: str) -> str:
    """Name a study after its file or data set, for users who give no name."""
    path = Path(source.partition("#")[0])
    return path.stem if records.kind(path) in records.READERS else path.name or path.resolve().name


def _rows(shape: Shape, found: Iterable[Record]) -> Iterator[_Row]:
    """Read one row per variant."""
    return _by_item(shape, shape.read(found)) if shape.by_item else _long(shape.read(found))


def _long(found: Iterable[Record]) -> Iterator[_Row]:
    original_seen: set[str] = set()
    count: Counter[tuple[str, str]] = Counter()
    for place, record in found:
        item = _id(place, record)
        variant, pattern = _optional(place, record, "variant"), _pattern(place, record)
        if pattern is None:
            pattern = ORIGINAL if variant == ORIGINAL or (variant is None and item not in original_seen) else PARAPHRASE
        if pattern == ORIGINAL:
            if item in original_seen:
                raise InputError(f"{place}: item '{item}' has a second original; set its pattern")
            original_seen.add(item)
        count[item, pattern] += 1
        name = variant or (ORIGINAL if pattern == ORIGINAL else f"{pattern}-{count[item, pattern]:03d}")
        yield _row(place, item, name, pattern, record.get("text"), _shared(place, record))


def _by_item(shape: Shape, found: Iterable[Record]) -> Iterator[_Row]:
    """Read nested entries and wide rows; in a wide row, an empty cell is a wording that there is not."""
    seen: dict[str, str] = {}
    for place, record in found:
        item, shared, texts = _id(place, record), _shared(place, record), record.get("paraphrases") or []
        if seen.setdefault(item, place) != place:
            advice = "; in a table with a column per wording, an item has one row" if shape.wordings else ""
            raise InputError(f"{place}: item '{item}' is already in {seen[item]}{advice}")
        if isinstance(texts, list) and any(isinstance(text, dict) for text in texts):
            raise InputError(f"{place}: these are responses, not items; read them with `import haller`")
        if not isinstance(texts, list):
            raise InputError(
                f"{place}: paraphrases must be a list of texts, not {shown(texts)}; in a table, give each a column: "
                "paraphrase_1, paraphrase_2 ..."
            )
        wide = bool(shape.wordings)
        if wide and all(map(_blank, (record.get("text"), *texts))):
            raise InputError(f"{place}: item '{item}' has no wording; write one, or take the row out")
        if not (wide and _blank(record.get("text"))):
            yield _row(place, item, ORIGINAL, ORIGINAL, record.get("text"), shared)
        for number, text in enumerate(texts, start=1):
            if not (wide and _blank(text)):
                where = f"{place}, column '{shape.wordings[number - 1]}'" if wide else f"{place}, paraphrase {number}"
                yield _row(where, item, f"{PARAPHRASE}-{number:03d}", PARAPHRASE, text, shared)


def _blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _pattern(place: str, record: Mapping[str, Any]) -> str | None:
    """Read a pattern: any name, but no slip of the pen in those that mean something to all protocols."""
    given = _optional(place, record, "pattern")
    if given is None or given in PATTERNS:
        return given
    if given.casefold() in PATTERNS:
        return given.casefold()
    near = nearest(given, PATTERNS)
    if near:
        raise InputError(f"{place}: unknown pattern '{cut(given)}'{near}; correct it, or choose a name unlike it")
    return given


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


def _id(place: str, record: Mapping[str, Any]) -> str:
    value = record.get("item")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or not_finite(value):
        merged = "; write it in every row, also where cells were merged" if value is None else ""
        raise InputError(f"{place}: every item needs an id (text or a whole number), not {shown(value)}{merged}")
    refuse_unprintable(f"{place}: item", value.strip())
    return value.strip()


def _text(place: str, value: Any) -> str:
    if value is None or (isinstance(value, str) and shows_nothing(value)):
        raise InputError(f"{place}: the text is empty, or shows nothing" if value else f"{place}: the text is empty")
    if not isinstance(value, str):
        raise InputError(f"{place}: the text must be text, not {shown(value)} (in YAML, put it into quotes)")
    return value


def _shared(place: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Read language, gold, gold score and attributes of a record."""
    return {
        "language": _optional(place, record, "language"),
        "gold": _gold(place, record),
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
    refuse_unprintable(f"{place}: {field}", value.strip())
    return intern(value.strip())


def _gold(place: str, record: Mapping[str, Any]) -> str | None:
    """Read the right answer; a number with a comma that is no option was meant as a score."""
    gold = _optional(place, record, "gold")
    if gold and COMMA.fullmatch(gold) and gold not in str(record.get("options") or ""):
        raise InputError(
            f"{place}: gold is the right answer, and '{gold}' looks like a score: name the column gold_score, and "
            "write the number with a point"
        )
    return gold


def _score(place: str, value: Any) -> float | None:
    if value is None:
        return None
    score = numbers.number(value)
    if not math.isfinite(score):
        point = "; write it with a point, not a comma" if isinstance(value, str) and "," in value else ""
        raise InputError(f"{place}: gold_score must be a number, not {shown(value)}{point}")
    return score


def _attributes(place: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Join the field `attributes` and the columns `attributes.NAME`; numbers and dates become text."""
    given = record.get("attributes") or NONE
    pairs = list(given.items()) if isinstance(given, dict) else given  # Parquet gives a map as pairs
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InputError(f"{place}: attributes must be names with values, not {shown(given)}")
    flat = [(field[len(ATTRIBUTE) :], value) for field, value in record.items() if field.startswith(ATTRIBUTE)]
    attributes: dict[str, str] = {}
    for name, value in (*pairs, *((name, value) for name, value in flat if not _blank(value))):
        if value is None or value != value:  # pandas writes what is missing as NaN
            continue
        if not name or not isinstance(name, str) or not isinstance(value, str | int | float | date):
            raise InputError(
                f"{place}: attribute {shown(name)} must be a name with a text or number, not {shown(value)}"
            )
        if name in attributes:
            raise InputError(f"{place}: attribute '{name}' is there twice")
        attributes[name] = intern(str(value))
    return attributes or NONE
