"""Read texts with human scores from a table; an error names the file and the row."""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError
from inference.stimuli import numbers
from inference.stimuli.reading import records
from inference.stimuli.reading.files import expand_user_path, shorten_value
from inference.stimuli.study import ORIGINAL, Item, Option, Variant

CANONICAL = ("lowest", "highest")
OPTIONS = tuple(Option(label, label) for label in CANONICAL)
DEMO = "demo"
DEMO_ITEMS = 30  # per group
GOLD_RANGE = "0-100"
_GOLD_RANGE = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]+)?)-(-?[0-9]{1,15}(?:\.[0-9]+)?)")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of the table holds what.

    Parameters
    ----------
    output, source, gold, group, item
        Names of the columns with the text to score, the text it was made from, the human score, and the group and the
        id of the item; only the first is needed. Without ids, items are called by their number in the table.
    source_language, target_language
        Names of the columns with the names of the languages, where rows differ in them.
    gold_range
        The scale of the human scores, as "0-100".
    fields
        Attributes that all items share.
    """

    output: str
    source: str | None = None
    gold: str | None = None
    group: str | None = None
    item: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    gold_range: str = GOLD_RANGE
    fields: tuple[tuple[str, str], ...] = ()


def read_scoring_items(path: str, columns: Columns) -> tuple[Item, ...]:
    """Read the items of a table (.csv, .tsv, .xlsx, .json, .jsonl, .yaml, .parquet).

    In a table whose cells are parted by tabs, quotation marks are text: so are the files of MLQE-PE written. Where
    commas or semicolons part them, quotation marks enclose cells.

    Parameters
    ----------
    path
        The table, in one of these formats.
    columns
        Which column holds what; one that is None is not read.

    Returns
    -------
    The items, each with one variant; without a column of ids, they are numbered from 1.

    Raises
    ------
    InputError
        Naming the file and the row: an unknown column, an empty text, a human score that is missing, no number, or
        outside its scale.
    """
    source_records = records.Records(expand_user_path(path), quotes_in_tabs=False)
    text_columns = {
        "group": columns.group,
        "source": columns.source,
        "source_language": columns.source_language,
        "target_language": columns.target_language,
    }
    needed_columns = (columns.output, columns.gold, columns.item, *text_columns.values())
    records.refuse_missing_or_repeated_columns(path, source_records.list_column_names(), needed_columns)
    low, high = _parse_gold_range(columns.gold_range)
    items, place_by_item = [], dict[str, str]()
    for number, (place, record) in enumerate(source_records, start=1):
        where = f"{path}, {place}"
        attributes = dict(columns.fields)
        for attribute, column in text_columns.items():
            if column is not None:
                attributes[attribute] = _require_filled_cell_as_text(where, record, column)
        score = None
        if columns.gold is not None:
            score = _parse_human_score(where, record, columns.gold)
            if not low <= score <= high:
                raise InputError(
                    f"{where}: human score {score:g} is not in {columns.gold_range}; give the scale with --gold-range"
                )
            attributes["gold_range"] = columns.gold_range
        name = (
            str(number) if columns.item is None else _require_filled_cell_as_text(where, record, columns.item).strip()
        )
        if place_by_item.setdefault(name, place) != place:
            raise InputError(
                f"{where}: item '{name}' is already in {place_by_item[name]}; give every text an id of its own"
            )
        items.append(
            _build_scoring_item(name, _require_filled_cell_as_text(where, record, columns.output), score, attributes)
        )
    return tuple(items)


def build_demo_scoring_items() -> tuple[Item, ...]:
    """Make retellings in the demo world, each scored 0-9 for what it keeps, in two groups by their wordings."""
    from inference.demo import SEED
    from inference.demo.exercises import make_rating_exercise
    from inference.demo.world import Wording, World

    world, items = World(), []
    groups: tuple[Wording, ...] = ("trained", "heldout")
    for group in groups:
        rng = random.Random(f"{SEED} retellings {group}")
        pairs: dict[tuple[str, str], str] = {}
        while len(pairs) < DEMO_ITEMS:
            exercise = make_rating_exercise(world, rng, group, "0-9")
            if exercise.kind == "rating_retelling":
                pairs[exercise.fields["source"], exercise.fields["output"]] = exercise.gold
        for number, ((source, output), gold) in enumerate(pairs.items(), start=1):
            attributes = {"group": "held out" if group == "heldout" else group, "source": source, "gold_range": "0-9"}
            items.append(_build_scoring_item(f"{group}-{number:03d}", output, float(gold), attributes))
    return tuple(items)


def _parse_gold_range(text: str) -> tuple[float, float]:
    """Read the two ends of the scale of human scores: two numbers, the lower one first."""
    match = _GOLD_RANGE.fullmatch(text)
    if match is None or float(match[1]) >= float(match[2]):
        raise InputError(f"--gold-range {text}: give two numbers, the lower one first, such as 0-100")
    return float(match[1]), float(match[2])


def _build_scoring_item(name: str, text: str, score: float | None, attributes: dict[str, str]) -> Item:
    """Make an item with one variant, the text to score."""
    return Item(name, (Variant(name, ORIGINAL, ORIGINAL, text, OPTIONS, gold_score=score, attributes=attributes),))


def _require_filled_cell_as_text(where: str, record: dict[str, Any], column: str) -> str:
    """Return a cell as text; refuse an empty one."""
    value = record.get(column)
    if value is None or not str(value).strip():
        raise InputError(f"{where}: column '{column}' is empty")
    if not isinstance(value, str | int | float) or value != value:
        raise InputError(f"{where}: column '{column}' must hold text, not {shorten_value(value)}")
    return str(value)


def _parse_human_score(where: str, record: dict[str, Any], column: str) -> float:
    """Return the human score of a row; refuse a row without one."""
    value = record.get(column)
    if value is None or not str(value).strip():
        raise InputError(f"{where}: there is no human score in column '{column}'; add it, or take the row out")
    score = numbers.parse_number_or_nan(value)
    if not math.isfinite(score):
        raise InputError(f"{where}: the human score in column '{column}' must be a number, not {shorten_value(value)}")
    return score
