"""Read items from a file or a data set; an error names the file and the row.

The shapes that tables may have stand in `inference.stimuli.reading.shapes`. In the long one, the variant called
`original` is the original where there is no `pattern`; without both, the first row of every item is.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from shlex import quote
from sys import intern
from typing import Any

from ground.errors import InputError, format_nearest_name_hint, format_part_with_verb, join_first_names, shorten_text
from ground.numerals import COMMA, LARGEST_EXACT
from inference.stimuli import languages, numbers
from inference.stimuli.reading import records
from inference.stimuli.reading.files import (
    expand_user_path,
    is_invisible_text,
    is_missing_or_infinite_number_text,
    refuse_unprintable_name,
    shorten_value,
)
from inference.stimuli.reading.in_memory import find_table_in_memory
from inference.stimuli.reading.records import Record
from inference.stimuli.reading.shapes import ATTRIBUTE, Columns, Shape, recognise_table_shape
from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Variant

DEMO, DEMO_MEANING = "demo", "demo-meaning"
DEMO_FILE = Path(__file__).parents[1] / "demo" / "questionnaire.yaml"
DEMO_MEANING_FILE = DEMO_FILE.with_name("meaning.csv")

NO_ATTRIBUTES: dict[str, str] = {}  # one object for all variants without attributes, to save memory
DEFAULT_COLUMNS = Columns()  # the columns are called as their fields are
PATTERNS = (ORIGINAL, PARAPHRASE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A variant without options, and its place in the source."""

    place: str
    variant: Variant


def read_and_check_items(
    source: str,
    options: tuple[Option, ...] = (),
    columns: Columns = DEFAULT_COLUMNS,
    protocol_columns: tuple[str, ...] = (),
) -> tuple[Item, ...]:
    """Read the items of a source, check them, and tell what a reader of the table might not expect.

    Parameters
    ----------
    source
        A file (.csv .tsv .json .jsonl .yaml .parquet .xlsx); `demo` for the questionnaire that comes with Waver, and
        `demo-meaning` for the same with ten paraphrases that mean something else; a Hugging Face data set by id, or a
        folder that holds one; `SOURCE#SPLIT` chooses a split of a data set. Or the name of a table in memory
        (`in_memory.register_table_during_block`).
    options
        The options of every variant, if they are the same for all; else the protocol gives them to each.
    columns
        What the columns are, where they are not called so.
    protocol_columns
        Columns that the protocol reads beside these: attributes, whatever the case of their names in the table.

    Returns
    -------
    The items.

    Raises
    ------
    InputError
        Naming the source and the row of the first thing that is wrong.
    """
    demo_files = {DEMO: DEMO_FILE, DEMO_MEANING: DEMO_MEANING_FILE}
    path = demo_files[source] if source in demo_files else expand_user_path(source)
    readable = path.is_file() or find_table_in_memory(path) is not None
    if readable or records.find_file_suffix(path) in {*records.READERS, *records.UNREAD}:
        file = records.Records(path)
        source_records: Iterable[Record] = file
        name, column_names = str(path), file.list_column_names()
    else:
        from inference.stimuli.reading.hub import read_hugging_face_dataset

        source_records, name = read_hugging_face_dataset(source), source
        column_names = list(dict.fromkeys(field for _, record in source_records for field in record))
    shape = recognise_table_shape(name, column_names, columns, protocol_columns)
    try:
        items = _group_rows_into_items(partial(_read_variant_rows, shape, source_records), options)
    except InputError as error:
        # A message about the file itself names the file already.
        raise InputError(str(error) if str(error).startswith(name) else f"{name}, {error}") from None
    for line in _iterate_notes_on_recognised_table(shape, items):
        print(f"{source}: {line}", file=sys.stderr)
    return items


def _iterate_notes_on_recognised_table(shape: Shape, items: tuple[Item, ...]) -> Iterator[str]:
    """Yield lines on what a user might not expect: attribute columns, unknown patterns, items without an original."""
    if shape.attribute_columns:
        columns_line = f"columns kept as attributes: {shorten_text(', '.join(shape.attribute_columns), 400)}"
        # Only a table in which every item has one wording can hold the others in columns that are not read as such.
        lacks_paraphrases = not shape.has_row_per_item and all(len(item.variants) == 1 for item in items)
        yield f"{columns_line}{_advise_how_to_name_wording_columns(shape)}" if lacks_paraphrases else columns_line
    for pattern in sorted({variant.pattern for item in items for variant in item.variants} - set(PATTERNS)):
        yield (
            f"pattern '{shorten_text(pattern)}' is not one of {', '.join(PATTERNS)}; its wordings count as paraphrases"
        )
    lacking = [item.item for item in items if item.original is None]
    if lacking:
        yield (
            f"{format_part_with_verb(len(lacking), len(items), 'item')} no original, so all their wordings count as "
            f"paraphrases, and the first stands for the item in tables: {join_first_names(lacking)}"
        )


def _advise_how_to_name_wording_columns(shape: Shape) -> str:
    """Say how the columns of other wordings are named, after the one that is read as the text."""
    text = next(column for column, field in shape.fields.items() if field == "text")
    return (
        "; if they hold other wordings, call these paraphrase_1, paraphrase_2 ..., or name all columns of wordings: "
        f"--text-column {quote(text)} OTHER ..."
    )


def name_study_after_source(source: str) -> str:
    """Name a study after its file or data set, for users who give no name."""
    path = Path(source.partition("#")[0])
    return path.stem if records.find_file_suffix(path) in records.READERS else path.name or path.resolve().name


def _read_variant_rows(shape: Shape, source_records: Iterable[Record]) -> Iterator[_Row]:
    """Read one row per variant."""
    return (
        _read_nested_and_wide_item_rows(shape, shape.rename_fields_of_records(source_records))
        if shape.has_row_per_item
        else _read_long_rows(shape.rename_fields_of_records(source_records))
    )


def _read_long_rows(source_records: Iterable[Record]) -> Iterator[_Row]:
    """Read one row per wording; the first of an item is its original, unless the table says otherwise."""
    original_seen: set[str] = set()
    count: Counter[tuple[str, str]] = Counter()
    for place, record in source_records:
        item = _require_item_id_as_text(place, record)
        variant = _parse_optional_text(place, record, "variant")
        pattern = _parse_correctly_spelt_pattern(place, record)
        if pattern is None:
            pattern = (
                ORIGINAL
                if (variant or "").casefold() == ORIGINAL or (variant is None and item not in original_seen)
                else PARAPHRASE
            )
        if pattern == ORIGINAL:
            if item in original_seen:
                raise InputError(f"{place}: item '{item}' has a second original; set its pattern")
            original_seen.add(item)
        count[item, pattern] += 1
        name = variant or (ORIGINAL if pattern == ORIGINAL else f"{pattern}-{count[item, pattern]:03d}")
        yield _build_variant_row(
            place, item, name, pattern, record.get("text"), _parse_language_gold_and_attributes(place, record)
        )


def _read_nested_and_wide_item_rows(shape: Shape, source_records: Iterable[Record]) -> Iterator[_Row]:
    """Read nested entries and wide rows; in a wide row, an empty cell is a wording that there is not."""
    place_by_item: dict[str, str] = {}
    for place, record in source_records:
        item, shared, texts = (
            _require_item_id_as_text(place, record),
            _parse_language_gold_and_attributes(place, record),
            record.get("paraphrases") or [],
        )
        if place_by_item.setdefault(item, place) != place:
            advice = "; in a table with a column per wording, an item has one row" if shape.wordings else ""
            raise InputError(f"{place}: item '{item}' is already in {place_by_item[item]}{advice}")
        if isinstance(texts, list) and any(isinstance(text, dict) for text in texts):
            raise InputError(f"{place}: these are responses, not items; read them with `import haller`")
        if not isinstance(texts, list):
            raise InputError(
                f"{place}: paraphrases must be a list of texts, not {shorten_value(texts)}; in a table, give each a "
                "column: paraphrase_1, paraphrase_2 ..."
            )
        wide = bool(shape.wordings)
        if wide and all(map(_is_blank_cell, (record.get("text"), *texts))):
            raise InputError(f"{place}: item '{item}' has no wording; write one, or take the row out")
        if not (wide and _is_blank_cell(record.get("text"))):
            yield _build_variant_row(place, item, ORIGINAL, ORIGINAL, record.get("text"), shared)
        for number, text in enumerate(texts, start=1):
            if not (wide and _is_blank_cell(text)):
                where = f"{place}, column '{shape.wordings[number - 1]}'" if wide else f"{place}, paraphrase {number}"
                yield _build_variant_row(where, item, f"{PARAPHRASE}-{number:03d}", PARAPHRASE, text, shared)


def _is_blank_cell(cell: Any) -> bool:
    """Tell whether a cell is None, empty or white space."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _parse_correctly_spelt_pattern(place: str, record: Mapping[str, Any]) -> str | None:
    """Read a pattern: any name, but no misspelling of those that mean something to all protocols."""
    pattern = _parse_optional_text(place, record, "pattern")
    return pattern and require_correctly_spelt_pattern(place, pattern)


def require_correctly_spelt_pattern(place: str, pattern: str) -> str:
    """Return the name of a pattern: any, but no misspelling of those that mean something to all protocols.

    Parameters
    ----------
    place
        File and row, for messages.
    pattern
        What stands there. One that has the word "paraphrase", such as `paraphrase_1`, is a name of its own.

    Returns
    -------
    The same; one of those in lower case.

    Raises
    ------
    InputError
        It is nearly one of those.
    """
    if pattern.casefold() in PATTERNS:
        return pattern.casefold()
    near = _format_hint_for_misspelt_pattern(pattern)
    if near:
        raise InputError(
            f"{place}: unknown pattern '{shorten_text(pattern)}'{near}; correct it, or choose a name unlike it"
        )
    return pattern


@lru_cache(maxsize=1000)  # a million rows have few patterns
def _format_hint_for_misspelt_pattern(pattern: str) -> str:
    """Name the pattern that another one may misspell; empty where it is a name of its own."""
    is_own_name = re.search(rf"(?<![^\W\d_]){PARAPHRASE}(?![^\W\d_])", pattern.casefold()) is not None
    return "" if is_own_name else format_nearest_name_hint(pattern, PATTERNS)


def _build_variant_row(place: str, item: str, name: str, pattern: str, text: Any, shared: Mapping[str, Any]) -> _Row:
    """Make a variant without options, with its place in the file."""
    # Millions of variants share their names: each is kept once.
    return _Row(
        place, Variant(intern(item), intern(name), intern(pattern), _parse_variant_text(place, text), (), **shared)
    )


def _group_rows_into_items(read_rows: Callable[[], Iterable[_Row]], options: tuple[Option, ...]) -> tuple[Item, ...]:
    """Gather rows by item, in order of appearance; refuse a variant or a wording that an item has twice."""
    gathered: dict[str, list[Variant]] = {}
    for row in read_rows():
        gathered.setdefault(row.variant.item, []).append(replace(row.variant, options=options))
    for variants in gathered.values():
        if len({v.variant for v in variants} | {v.text.strip() for v in variants}) < 2 * len(variants):
            _refuse_repeated_variants(read_rows(), variants[0].item)
    return tuple(Item(item, tuple(variants)) for item, variants in gathered.items())


def _refuse_repeated_variants(rows: Iterable[_Row], item: str) -> None:
    """Refuse an item that has a variant's name or a wording twice; the error names both places."""
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
            earlier = wordings[wording]
            if place.startswith(f"{earlier}, "):  # of an item with all its wordings in one place
                earlier = "its original"
            raise InputError(f"{place}: the same text as {earlier}; an item has every wording once")
        names[variant.variant] = wordings[wording] = place


def _require_item_id_as_text(place: str, record: Mapping[str, Any]) -> str:
    """Return the id of a record's item as text; refuse what is neither text nor a whole number."""
    value = record.get("item")
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        value = int(value)  # tables with gaps turn whole numbers into floats
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or is_missing_or_infinite_number_text(value):
        merged = "; write it in every row, also where cells were merged" if value is None else ""
        raise InputError(
            f"{place}: every item needs an id (text or a whole number), not {shorten_value(value)}{merged}"
        )
    refuse_unprintable_name(f"{place}: item", value.strip())
    return value.strip()


def _parse_variant_text(place: str, value: Any) -> str:
    """Return the text of a variant as it is; refuse one that is empty, shows nothing or is no text."""
    if value is None or (isinstance(value, str) and is_invisible_text(value)):
        raise InputError(f"{place}: the text is empty, or shows nothing" if value else f"{place}: the text is empty")
    if not isinstance(value, str):
        raise InputError(f"{place}: the text must be text, not {shorten_value(value)} (in YAML, put it into quotes)")
    return value


def _parse_language_gold_and_attributes(place: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Read language, gold, gold score and attributes of a record."""
    return {
        "language": _parse_language(place, record),
        "gold": _parse_gold(place, record),
        "gold_score": _parse_gold_score(place, record.get("gold_score")),
        "attributes": _merge_attribute_field_and_columns(place, record),
    }


def _parse_optional_text(place: str, record: Mapping[str, Any], field: str) -> str | None:
    value = record.get(field)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place}: {field} must be text, not {shorten_value(value)} (in YAML, put it into quotes)")
    if is_missing_or_infinite_number_text(value):
        raise InputError(f"{place}: {field} is '{value}', as a missing number is written; leave it out, or name it")
    refuse_unprintable_name(f"{place}: {field}", value.strip())
    return intern(value.strip())


def _parse_language(place: str, record: Mapping[str, Any]) -> str | None:
    """Read the code of a language as `--language` does; refuse what is no code of ISO 639-1."""
    language = _parse_optional_text(place, record, "language")
    if language is None:
        return None
    code = languages.lowercase_language_part_of_code(language)
    if trouble := languages.explain_invalid_language_code(code):
        raise InputError(f"{place}: language {trouble}")
    return intern(code)


def _parse_gold(place: str, record: Mapping[str, Any]) -> str | None:
    """Read the right answer; a number with a comma that is no option was meant as a score."""
    gold = _parse_optional_text(place, record, "gold")
    if gold and COMMA.fullmatch(gold) and gold not in str(record.get("options") or ""):
        raise InputError(
            f"{place}: gold is the right answer, and '{gold}' looks like a score: name the column gold_score, and "
            "write the number with a point"
        )
    return gold


def _parse_gold_score(place: str, value: Any) -> float | None:
    """Return the gold score as a number; None where there is none."""
    if value is None:
        return None
    score = numbers.parse_number_or_nan(value)
    if not math.isfinite(score):
        point = "; write it with a point, not a comma" if isinstance(value, str) and "," in value else ""
        raise InputError(f"{place}: gold_score must be a number, not {shorten_value(value)}{point}")
    return score


def _merge_attribute_field_and_columns(place: str, record: Mapping[str, Any]) -> dict[str, str]:
    """Join the field `attributes` and the columns `attributes.NAME`; numbers and dates become text."""
    attribute_field = record.get("attributes") or NO_ATTRIBUTES
    pairs = (
        list(attribute_field.items()) if isinstance(attribute_field, dict) else attribute_field
    )  # Parquet gives a map as pairs
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InputError(f"{place}: attributes must be names with values, not {shorten_value(attribute_field)}")
    flat = [(field[len(ATTRIBUTE) :], value) for field, value in record.items() if field.startswith(ATTRIBUTE)]
    attributes: dict[str, str] = {}
    for name, value in (*pairs, *((name, value) for name, value in flat if not _is_blank_cell(value))):
        if value is None or value != value:  # pandas writes what is missing as NaN
            continue
        if not name or not isinstance(name, str) or not isinstance(value, str | int | float | date):
            raise InputError(
                f"{place}: attribute {shorten_value(name)} must be a name with a text or number, not "
                f"{shorten_value(value)}"
            )
        if name in attributes:
            raise InputError(f"{place}: attribute '{name}' is there twice")
        attributes[name] = intern(str(value))
    return attributes or NO_ATTRIBUTES
