"""Read a long table of responses, make its study, and group its rows by response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from inference.errors import InputError
from inference.importers import saving
from inference.importers.columns import Coded, Packed, Places, grouped
from inference.stimuli import records
from inference.stimuli.files import not_finite
from inference.stimuli.study import ORIGINAL, PARAPHRASE, Item, Option, Study, Variant

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from inference.importers.measures import Measure

TOGETHER = 50_000  # responses of one table


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

    @property
    def ids(self) -> Mapping[str, str]:
        """The roles that must be filled in every row: all but the right answer."""
        return {role: column for role, column in self.roles.items() if role != "gold"}


@dataclass(slots=True)
class LongTable:
    """Columns of equal length with one entry per row; `values` are the value columns.

    Attributes
    ----------
    place
        File and row, for messages.
    conditions
        condition name -> fields, for `run.json`.
    """

    place: Places = field(default_factory=Places)
    model: Coded = field(default_factory=Coded)
    condition: Coded = field(default_factory=Coded)
    item: Coded = field(default_factory=Coded)
    variant: Coded = field(default_factory=Coded)
    pattern: Coded = field(default_factory=Coded)
    text: Coded = field(default_factory=Coded)
    gold: Coded = field(default_factory=Coded)
    values: tuple[Packed, ...] = ()
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
    table = LongTable(values=tuple(Packed() for _ in layout.values))
    numbering, filled, ids = _Numbering(), _Filled(), layout.ids
    for name, path in files:
        table.place.begin(path)
        for place, record in records.Records(path, wanted):
            given = {role: filled.read(path, place, column, record[column]) for role, column in ids.items()}
            item, text, variant = given["item"], given.get("text"), given.get("variant")
            pattern = given.get("pattern") or (ORIGINAL if variant == ORIGINAL else PARAPHRASE)
            if text is not None:
                text = record[layout.roles["text"]]  # kept exactly, with the blanks around it
            if variant is None:
                variant = numbering.name(item, pattern, text or "")
            table.place.append(place)
            table.model.append(given.get("model") or name)
            table.condition.append(_condition(path, place, table, layout, filled, record))
            table.item.append(item)
            table.variant.append(variant)
            table.pattern.append(pattern)
            table.text.append(f"{item} {variant}" if text is None else text)
            table.gold.append((record[layout.roles["gold"]] or "").strip() if "gold" in layout.roles else "")
            for values, column in zip(table.values, layout.values, strict=True):
                values.append(record[column])
    return table


class _Filled:
    """Cells that must be filled, without the blanks around them; each is checked once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], str] = {}

    def read(self, path: Path, place: str, column: str, cell: str | None) -> str:
        """Check a cell and strip it."""
        found = self._known.get((column, cell))
        if found is None:
            found = self._known[column, cell] = _filled(f"{path}, {place}", column, cell)
        return found


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
    originals: dict[str, int] = {}
    items: dict[str, list[Variant]] = {}
    of, first = grouped([table.item, table.variant])
    contradiction = _contradiction(table, first[of])
    for row in first.tolist():
        if contradiction is not None and contradiction < row:
            break
        item, variant, pattern = table.item[row], table.variant[row], table.pattern[row]
        if pattern == ORIGINAL and originals.setdefault(item, row) != row:
            raise InputError(
                f"{table.place[row]}: item '{item}' has a second original, '{variant}'; the first is in "
                f"{table.place[originals[item]]}"
            )
        gold = _gold(table, row, measure)
        asked = Variant(item, variant, pattern, table.text[row], options, language=language, gold=gold)
        items.setdefault(item, []).append(asked)
    if contradiction is not None:
        _refuse_contradiction(table, int(first[of[contradiction]]), contradiction)
    return Study(
        protocol="agreement",
        name=name,
        items=tuple(Item(item, tuple(variants)) for item, variants in items.items()),
        canonical=measure.labels,
        decision_rule=measure.decision_rule,
        source=source,
    )


def responses(table: LongTable, measure: Measure, *, samples: bool) -> Iterator[pa.Table]:
    """Make one row per response, in order of appearance, without `study`: some at a time.

    Parameters
    ----------
    samples
        Whether several rows of one key in one file are samples of one response.

    Raises
    ------
    InputError
        A key repeats in another file, or without `samples` in the same one; a value that the measure refuses.
    """
    import numpy as np
    import pyarrow as pa

    from inference.importers.measures import Rows

    of, first = grouped([table.model, table.condition, table.item, table.variant])
    _refuse_repeated(table, of, first, samples=samples)
    order = np.argsort(of, kind="stable")  # the rows of the first response, those of the second ...
    ends = np.cumsum(np.bincount(of, minlength=len(first)))
    names = {"model": table.model, "condition": table.condition, "item": table.item, "variant": table.variant}
    values = [column.array() for column in table.values]
    for start in range(0, len(first), TOGETHER):
        some = first[start : start + TOGETHER]
        begin, end = (ends[start - 1] if start else 0), ends[start + len(some) - 1]
        rows = order[begin:end]
        made = measure.responses(
            [column.take(pa.array(rows)) for column in values], Rows(table.place, rows, of[rows] - start, len(some))
        )
        for name, column in names.items():
            coded = pa.DictionaryArray.from_arrays(column.codes[some], pa.array(column.names, pa.string()))
            made[name] = coded.cast(pa.string())
        yield pa.table(made)


def _refuse_repeated(table: LongTable, of: np.ndarray, first: np.ndarray, *, samples: bool) -> None:
    """Refuse a second row of one response: in another file always, in the same one unless it is a sample."""
    import numpy as np

    file = table.place.file
    first = first[of]  # of every row, the first with its key
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


def _condition(
    path: Path, place: str, table: LongTable, layout: Layout, filled: _Filled, record: Mapping[str, str | None]
) -> str:
    values = [filled.read(path, place, column, record[column]) for column in layout.conditions]
    name = "/".join(values) or layout.condition
    fields = {"form": saving.FORM, **dict(zip(layout.conditions, values, strict=True))}
    if table.conditions.setdefault(name, fields) != fields:
        raise InputError(
            f"{path}, {place}: two different conditions would both be called '{name}'; rename their values"
        )
    return name


def _filled(where: str, column: str, cell: str | None) -> str:
    stripped = (cell or "").strip()
    if not stripped:
        raise InputError(f"{where}: column '{column}' is empty; every response needs it")
    if not_finite(stripped):
        raise InputError(f"{where}: column '{column}' holds '{stripped}', as a missing number is written; give a name")
    return stripped


def _contradiction(table: LongTable, first: np.ndarray) -> int | None:
    """Find the first row that tells another text, pattern or right answer than `first`, the first of its variant."""
    import numpy as np

    codes = [column.codes for column in (table.text, table.pattern, table.gold)]
    wrong = np.flatnonzero(np.any([code != code[first] for code in codes], axis=0))
    return int(wrong[0]) if len(wrong) else None


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
