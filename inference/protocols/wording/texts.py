"""Read the texts that are asked about, with the right answer to the original question."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import InputError, format_quantity
from inference.protocols.wording.comparisons import Comparison, convert_cell_to_stripped_text, parse_column_comparison
from inference.protocols.wording.templates import NO, YES
from inference.stimuli.random_order import compute_sort_key_for_random_order
from inference.stimuli.reading import records
from inference.stimuli.reading.files import is_missing_or_infinite_number_text, shorten_value


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its id; `gold` is the right answer to the original question, yes or no, None if unknown."""

    item: str
    text: str
    gold: str | None


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what, and which gold values mean yes and no; rows with others are neutral and dropped.

    Without `item`, the text identifies an item. Without `yes` and `no`, the gold column says yes or no itself. Only
    rows that fulfil every condition of `where` are read.
    """

    text: str
    gold: str | None = None
    item: str | None = None
    yes: Comparison | None = None
    no: Comparison | None = None
    where: tuple[tuple[str, Comparison], ...] = ()

    @classmethod
    def parse(
        cls,
        text: str,
        gold: str | None,
        item: str | None,
        yes_if: str | None,
        no_if: str | None,
        where: Iterable[str] = (),
    ) -> Columns:
        """Read the columns from the command line.

        Parameters
        ----------
        text
            Column of the texts.
        gold
            Column of the right answers; None: they are not known.
        item
            Column of the ids; None: a text is its own.
        yes_if, no_if
            Comparisons for right answers; None: the column says yes and no.
        where
            Comparisons with their columns; rows that fail one are left out.

        Returns
        -------
        The columns.

        Raises
        ------
        InputError
            For a comparison that cannot be read, for only one of `--yes-if` and `--no-if`, for both without a gold
            column, and for a column of two roles.
        """
        if (yes_if is None) != (no_if is None):
            raise InputError("--yes-if and --no-if go together: say which values mean yes and which mean no")
        if yes_if is not None and gold is None:
            raise InputError("--yes-if and --no-if are about the gold column: name it with --gold-column")
        records.refuse_column_of_two_roles({"--text-column": text, "--gold-column": gold, "--item-column": item})
        return cls(
            text,
            gold,
            item,
            None if yes_if is None else Comparison.parse(yes_if, "--yes-if"),
            None if no_if is None else Comparison.parse(no_if, "--no-if"),
            tuple(parse_column_comparison(condition_text, "--where") for condition_text in where),
        )


@dataclass(frozen=True, slots=True)
class Pool:
    """The texts of a source, and why its other rows give none: `filtered` by `where`, `neutral`, `repeated`."""

    texts: tuple[Text, ...]
    rows: int
    filtered: int
    neutral: int
    repeated: int

    def describe_rows_read_and_kept(self) -> str:
        """Say in words how many rows were read, left out and kept."""
        left_out = {"left out by --where": self.filtered, "neutral, dropped": self.neutral, "repeated": self.repeated}
        parts = [
            format_quantity(self.rows, "row"),
            *(f"{count:,} {reason}" for reason, count in left_out.items() if count),
        ]
        return f"{', '.join(parts)}: {describe_gold_counts(self.texts)}"


def describe_gold_counts(texts: Iterable[Text]) -> str:
    """Say in words how many texts there are of each gold answer."""
    golds = [text.gold for text in texts]
    gold_counts = f" ({golds.count(YES):,} yes, {golds.count(NO):,} no)" if any(golds) else ""
    return f"{format_quantity(len(golds), 'item')}{gold_counts}"


def read_pool_of_wording_texts(path: Path, columns: Columns) -> Pool:
    """Read the texts of a CSV, TSV, Excel (.xlsx), JSON, JSON-lines, YAML or Parquet file.

    Parameters
    ----------
    path
        The file.
    columns
        Which column holds what.

    Returns
    -------
    The texts, and how many rows give none.

    Raises
    ------
    InputError
        Naming the file and the row of the first thing that is wrong.
    """
    source_records = records.Records(path)
    needed_columns = (columns.text, columns.gold, columns.item, *(column for column, _ in columns.where))
    records.refuse_missing_or_repeated_columns(path, source_records.list_column_names(), needed_columns)
    return build_pool_from_records(str(path), source_records, columns)


def build_pool_from_records(source: str, source_records: Iterable[records.Record], columns: Columns) -> Pool:
    """Turn records into texts.

    Parameters
    ----------
    source
        Name of the file, for messages.
    source_records
        Rows.
    columns
        Which column holds what.

    Returns
    -------
    The texts, and how many rows give none.

    Raises
    ------
    InputError
        A row cannot be read, an item is there twice, a text is there with two right answers, or no text is left.
    """
    texts: dict[str, tuple[str, Text]] = {}
    rows = filtered = neutral = repeated = 0
    for row, record in source_records:
        rows += 1
        try:
            if not all(
                _does_cell_fulfil_comparison(record, column, comparison) for column, comparison in columns.where
            ):
                filtered += 1
                continue
            text = _build_text_from_record(record, columns)
            if columns.gold is not None and text.gold is None:
                neutral += 1
                continue
            first_row, first = texts.setdefault(text.item, (row, text))
            if first_row != row:
                if columns.item is not None:
                    raise InputError(f"item '{text.item}' is already in {first_row}")
                if first.gold != text.gold:
                    raise InputError(f"the same text is in {first_row} with another gold answer")
                repeated += 1
        except InputError as error:
            raise InputError(f"{source}, {row}: {error}") from None
    unique_texts = tuple(text for _, text in texts.values())
    if not unique_texts:
        raise InputError(
            f"{source}: of {format_quantity(rows, 'row')} none is left ({filtered} filtered out, {neutral} neutral)"
        )
    return Pool(unique_texts, rows, filtered, neutral, repeated)


def _build_text_from_record(record: Mapping[str, Any], columns: Columns) -> Text:
    """Make a text of a record; without a column of ids, its id is a hash of the text."""
    value = record.get(columns.text)
    if value is not None and not isinstance(value, str):
        raise InputError(f"column '{columns.text}' must be text, not {shorten_value(value)}")
    text = convert_cell_to_stripped_text(value)
    if text is None:
        raise InputError(f"column '{columns.text}' is empty")
    item = (
        hashlib.sha256(text.encode()).hexdigest()[:12]
        if columns.item is None
        else _require_filled_cell(record, columns.item)
    )
    if is_missing_or_infinite_number_text(item):
        raise InputError(f"column '{columns.item}' holds '{item}', as a missing number is written; give it a name")
    return Text(
        item,
        text,
        None
        if columns.gold is None
        else _classify_gold_as_yes_or_no(_require_filled_cell(record, columns.gold), columns),
    )


def _classify_gold_as_yes_or_no(value: str, columns: Columns) -> str | None:
    """Decide whether a gold value means yes, no, or None for neutral (Takayama et al., section 4.1)."""
    if columns.yes is None or columns.no is None:
        if value.casefold() not in (YES, NO):
            raise InputError(f"gold is '{value}', neither yes nor no; say what means which with --yes-if and --no-if")
        return value.casefold()
    is_yes, is_no = columns.yes.holds(value), columns.no.holds(value)
    if is_yes and is_no:
        raise InputError(f"gold '{value}' means both yes ({columns.yes}) and no ({columns.no})")
    return YES if is_yes else NO if is_no else None


def _does_cell_fulfil_comparison(record: Mapping[str, Any], column: str, comparison: Comparison) -> bool:
    """Tell whether the cell of a column is filled and fulfils a comparison."""
    value = convert_cell_to_stripped_text(record.get(column))
    return value is not None and comparison.holds(value)


def _require_filled_cell(record: Mapping[str, Any], column: str) -> str:
    """Return a cell as text; refuse an empty one."""
    value = convert_cell_to_stripped_text(record.get(column))
    if value is None:
        raise InputError(f"column '{column}' is empty")
    return value


def sample_texts_by_seed(texts: tuple[Text, ...], size: int | None, balanced: bool, seed: int) -> tuple[Text, ...]:
    """Choose texts and keep their order: all, or the first `size` in the seed's order of items.

    Parameters
    ----------
    texts
        The texts.
    size
        How many; None: all.
    balanced
        As many of gold yes as of gold no; without a size, as many as there are of the rarer one.
    seed
        Another seed gives other texts.

    Returns
    -------
    The chosen texts.

    Raises
    ------
    InputError
        There are not as many texts; or of balanced ones, too few with one gold answer, or an odd number is wanted.
    """
    if not balanced:
        if size is not None and size > len(texts):
            raise InputError(f"--sample {size}: there is no more to ask than {format_quantity(len(texts), 'item')}")
        chosen = set(sort_texts_by_seed(texts, seed)[:size])
        return tuple(text for text in texts if text in chosen)
    sides = [[text for text in texts if text.gold == gold] for gold in (YES, NO)]
    fewest = min(map(len, sides))
    half = fewest if size is None else size // 2
    if size is not None and size % 2:
        raise InputError(f"--sample {size} --balanced: give an even number, one half for each gold answer")
    if not fewest or half > fewest:
        counts = " and ".join(f"{len(side)} with gold {gold}" for side, gold in zip(sides, (YES, NO), strict=True))
        raise InputError(f"--balanced: there are {counts} to ask; at most {2 * fewest} can be balanced")
    chosen = {text for side in sides for text in sort_texts_by_seed(side, seed)[:half]}
    return tuple(text for text in texts if text in chosen)


def sort_texts_by_seed(texts: Iterable[Text], seed: int) -> list[Text]:
    """Sort texts into the seed's order: samples are taken from its front, exemplars from its back.

    Parameters
    ----------
    texts
        The texts.
    seed
        Another seed gives another order.

    Returns
    -------
    All texts.
    """
    return sorted(texts, key=lambda text: compute_sort_key_for_random_order(seed, "item", text.item))
