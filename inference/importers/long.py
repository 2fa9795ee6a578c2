"""Read a long table of responses, make its study, and group its rows by response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from inference.errors import InputError
from inference.importers import saving
from inference.stimuli import records
from inference.stimuli.files import not_finite
from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Study, Variant

if TYPE_CHECKING:
    import pyarrow as pa

    from inference.importers.measures import Keys, Measure


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column has which role.

    Attributes
    ----------
    roles
        role (model, item, variant, pattern, text, gold) -> column, for those that have one.
    conditions
        Columns whose values together name the condition; without any, all rows have `condition`.
    values
        Columns that a measure reads.
    """

    roles: Mapping[str, str]
    conditions: tuple[str, ...]
    condition: str
    values: tuple[str, ...]


@dataclass(slots=True)
class LongTable:
    """Columns of equal length with one entry per row; `values` has one list per value column.

    Attributes
    ----------
    place
        File and row, for messages.
    file
        Number of the file that the row stands in.
    conditions
        condition name -> fields, for `run.json`.
    """

    place: list[str] = field(default_factory=list)
    file: list[int] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    condition: list[str] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    variant: list[str] = field(default_factory=list)
    pattern: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    gold: list[str] = field(default_factory=list)
    values: tuple[list[str | None], ...] = ()
    conditions: dict[str, dict[str, str]] = field(default_factory=dict)


def read(files: Sequence[tuple[str, Path]], layout: Layout) -> LongTable:
    """Read all rows of all files.

    Parameters
    ----------
    files
        (model name, path); the name counts where no column tells the model.

    Raises
    ------
    InputError
        A file or column that cannot be read, an empty id or text; with file and row.
    """
    wanted = [*layout.roles.values(), *layout.conditions, *layout.values]
    table = LongTable(values=tuple([] for _ in layout.values))
    numbering = _Numbering()
    for number, (name, path) in enumerate(files):
        for place, record in records.Records(path, wanted):
            where = f"{path}, {place}"
            given = _given(where, layout, record)
            item, text, variant = given["item"], given.get("text"), given.get("variant")
            pattern = given.get("pattern") or (ORIGINAL if variant == ORIGINAL else PARAPHRASE)
            if variant is None:
                variant = numbering.name(item, pattern, text or "")
            table.place.append(where)
            table.file.append(number)
            table.model.append(given.get("model") or name)
            table.condition.append(_condition(where, table, layout, record))
            table.item.append(item)
            table.variant.append(variant)
            table.pattern.append(pattern)
            table.text.append(f"{item} {variant}" if text is None else text)
            table.gold.append(given.get("gold", ""))
            for values, column in zip(table.values, layout.values, strict=True):
                values.append(record[column])
    return table


class _Numbering:
    """Names for variants without an id: the distinct texts of an item are numbered as they appear."""

    def __init__(self) -> None:
        self._name: dict[tuple[str, str, str], str] = {}
        self._count: Counter[tuple[str, str]] = Counter()

    def name(self, item: str, pattern: str, text: str) -> str:
        """Name a text: `original` for the first original, otherwise for example `paraphrase-001`."""
        key = (item, pattern, text)
        if key not in self._name:
            self._count[item, pattern] += 1
            number = self._count[item, pattern]
            self._name[key] = ORIGINAL if pattern == ORIGINAL and number == 1 else f"{pattern}-{number:03d}"
        return self._name[key]


def study(table: LongTable, name: str, measure: Measure, *, language: str | None, source: str) -> Study:
    """Make the study: items and variants in order of appearance, each variant with one text, pattern and gold.

    Raises
    ------
    InputError
        Two rows contradict each other, an item has two originals, or a right answer is no option.
    """
    options = tuple(Option(label, label) for label in measure.labels)
    first: dict[tuple[str, str], int] = {}
    originals: dict[str, int] = {}
    items: dict[str, list[Variant]] = {}
    for row, key in enumerate(zip(table.item, table.variant, strict=True)):
        before = first.setdefault(key, row)
        item, variant = key
        if before != row:
            _refuse_contradiction(table, before, row)
            continue
        pattern = table.pattern[row]
        if pattern == ORIGINAL and originals.setdefault(item, row) != row:
            raise InputError(
                f"{table.place[row]}: item '{item}' has a second original, '{variant}'; the first is in "
                f"{table.place[originals[item]]}"
            )
        gold = _gold(table, row, measure)
        asked = Variant(item, variant, pattern, table.text[row], options, language=language, gold=gold)
        items.setdefault(item, []).append(asked)
    return Study(
        protocol="agreement",
        name=name,
        items=tuple(Item(item, tuple(variants)) for item, variants in items.items()),
        canonical=measure.labels,
        decision_rule=measure.decision_rule,
        source=source,
    )


def responses(table: LongTable, measure: Measure, *, samples: bool) -> pa.Table:
    """Make one row per response, in order of appearance, without `study`.

    Parameters
    ----------
    samples
        Whether several rows of one key in one file are samples of one response.

    Raises
    ------
    InputError
        A key repeats in another file, or without `samples` in the same one; a value that the measure refuses.
    """
    import pyarrow as pa

    keys = group(table)
    _refuse_repeated(table, keys, samples=samples)
    first = keys.first.tolist()
    names = {
        name: pa.array([column[row] for row in first], pa.string())
        for name, column in (
            ("model", table.model),
            ("condition", table.condition),
            ("item", table.item),
            ("variant", table.variant),
        )
    }
    return pa.table({**names, **measure.responses(table.values, keys)})


def group(table: LongTable) -> Keys:
    """Group rows by model, condition, item and variant."""
    import numpy as np

    from inference.importers.measures import Keys

    number: dict[tuple[str, str, str, str], int] = {}
    of: list[int] = []
    first: list[int] = []
    for row, key in enumerate(zip(table.model, table.condition, table.item, table.variant, strict=True)):
        response = number.setdefault(key, len(number))
        if response == len(first):
            first.append(row)
        of.append(response)
    return Keys(table.place, np.array(of), np.array(first))


def _refuse_repeated(table: LongTable, keys: Keys, *, samples: bool) -> None:
    """Refuse a second row of one response: in another file always, in the same one unless it is a sample."""
    import numpy as np

    file = np.array(table.file)
    first = keys.first[keys.of]  # of every row, the first with its key
    elsewhere = file[first] != file
    wrong = np.flatnonzero(elsewhere if samples else first != np.arange(len(first)))
    if not len(wrong):
        return
    row = int(wrong[0])
    same = (
        f"{table.place[row]}: the same model, condition, item and variant as in {table.place[first[row]]} "
        f"('{table.model[row]}', '{table.condition[row]}', '{table.item[row]}', '{table.variant[row]}')"
    )
    if elsewhere[row]:
        raise InputError(
            f"{same}; leave one file out, tell their models apart by NAME=FILE or --model-column, or put the samples "
            "of one response into one file"
        )
    raise InputError(
        f"{same}; tell the rows apart by --variant-column or --condition-column, or, if they are sampled answers to "
        "one prompt, add --repeated samples"
    )


def _given(where: str, layout: Layout, record: Mapping[str, str | None]) -> dict[str, str]:
    """Read the cells of the roles. Ids lose the blanks around them; a text is kept exactly."""
    given = {}
    for role, column in layout.roles.items():
        cell = record[column]
        given[role] = _filled(where, column, cell) if role != "gold" else (cell or "").strip()
        if role == "text" and cell is not None:
            given[role] = cell
    return given


def _condition(where: str, table: LongTable, layout: Layout, record: Mapping[str, str | None]) -> str:
    values = [_filled(where, column, record[column]) for column in layout.conditions]
    name = "/".join(values) or layout.condition
    fields = {"form": saving.FORM, **dict(zip(layout.conditions, values, strict=True))}
    if table.conditions.setdefault(name, fields) != fields:
        raise InputError(f"{where}: two different conditions would both be called '{name}'; rename their values")
    return name


def _filled(where: str, column: str, cell: str | None) -> str:
    stripped = (cell or "").strip()
    if not stripped:
        raise InputError(f"{where}: column '{column}' is empty; every response needs it")
    if not_finite(stripped):
        raise InputError(f"{where}: column '{column}' holds '{stripped}', as a missing number is written; give a name")
    return stripped


def _refuse_contradiction(table: LongTable, before: int, row: int) -> None:
    for what, column in (("text", table.text), ("pattern", table.pattern), ("right answer", table.gold)):
        if column[row] != column[before]:
            raise InputError(
                f"{table.place[row]}: the {what} of item '{table.item[row]}', variant '{table.variant[row]}' is not "
                f"the one in {table.place[before]}"
            )


def _gold(table: LongTable, row: int, measure: Measure) -> str | None:
    given = table.gold[row]
    if given and measure.label(given) is None:
        raise InputError(f"{table.place[row]}: the right answer '{given:.40}' is none of {', '.join(measure.labels)}")
    return measure.label(given) if given else None
