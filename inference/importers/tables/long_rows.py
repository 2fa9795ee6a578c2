"""Read the rows of a long table: of each its model, condition and stimulus, and the values that a measure reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ground.errors import InputError
from inference.importers.shared import saving
from inference.importers.tables.columns import CodedPairs, PackedTexts, RowPlaces
from inference.stimuli.items import require_correctly_spelt_pattern
from inference.stimuli.reading import records
from inference.stimuli.reading.files import is_missing_or_infinite_number_text
from inference.stimuli.scales import KEY, SCALE
from inference.stimuli.study import ORIGINAL, PARAPHRASE

PROPERTIES = {"text": "text", "pattern": "pattern", "right answer": "gold", SCALE: SCALE, KEY: KEY}
"""What a wording says once for all of its rows: in words -> field of `Stimulus`."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column has which role.

    Attributes
    ----------
    roles
        role (model, item, variant, pattern, text, gold, scale, key) -> column, for those that have one.
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
    def never_empty_columns_by_role(self) -> Mapping[str, str]:
        """The roles that must be filled in every row: all but the right answer, and the scale and key of an item."""
        return {role: column for role, column in self.roles.items() if role not in ("gold", SCALE, KEY)}


@dataclass(frozen=True, slots=True)
class Stimulus:
    """What the first row of an item's variant says of it, as all later ones must."""

    item: str
    variant: str
    pattern: str
    text: str
    gold: str
    row: int
    scale: str = ""
    key: str = ""


@dataclass(slots=True)
class LongTable:
    """Columns of equal length with one entry per row.

    Attributes
    ----------
    place
        File and row, for messages.
    model_conditions
        Model and condition.
    stimulus
        Item and variant.
    values
        The value columns.
    stimuli
        What is known of every item and variant, in order of appearance.
    conditions
        condition name -> fields, for `run.json`.
    """

    place: RowPlaces = field(default_factory=RowPlaces)
    model_conditions: CodedPairs = field(default_factory=CodedPairs)
    stimulus: CodedPairs = field(default_factory=CodedPairs)
    values: tuple[PackedTexts, ...] = ()
    stimuli: list[Stimulus] = field(default_factory=list)
    conditions: dict[str, dict[str, str]] = field(default_factory=dict)


def read_long_table(files: Sequence[tuple[str, Path]], layout: Layout) -> LongTable:
    """Read all rows of all files.

    Parameters
    ----------
    files
        (model name, path); the name counts where no column tells the model.
    layout
        Which column has which role.

    Returns
    -------
    All rows.

    Raises
    ------
    InputError
        A file or column that cannot be read, an empty id or text, two rows that contradict each other; with file and
        row.
    """
    columns = [*layout.roles.values(), *layout.conditions, *layout.values]
    table = LongTable(values=tuple(PackedTexts() for _ in layout.values))
    numbering, cell_cache, ids = _Numbering(), _CellCache(), layout.never_empty_columns_by_role
    conditions: dict[tuple[str, ...], str] = {}  # the values that name it -> its name
    for name, path in files:
        table.place.begin_rows_of_file(path)
        for place, record in records.Records(path, columns):
            cells = {
                role: cell_cache.check_and_strip_cell(path, place, column, record[column])
                for role, column in ids.items()
            }
            values = tuple(
                cell_cache.check_and_strip_cell(path, place, column, record[column]) for column in layout.conditions
            )
            condition = conditions.get(values)
            if condition is None:
                condition = conditions[values] = _name_and_record_table_condition(
                    f"{path}, {place}", table, layout, values
                )
            item, text, variant = cells["item"], cells.get("text"), cells.get("variant")
            if "pattern" in cells:
                pattern = require_correctly_spelt_pattern(f"{path}, {place}", cells["pattern"])
            else:
                pattern = ORIGINAL if (variant or "").casefold() == ORIGINAL else PARAPHRASE
            if text is not None:
                text = record[layout.roles["text"]]  # kept exactly, with the blanks around it
            if variant is None:
                variant = numbering.name_variant(item, pattern, text or "")
            gold = (record[layout.roles["gold"]] or "").strip() if "gold" in layout.roles else ""
            table.place.append(place)
            table.model_conditions.append((cells.get("model") or name, condition))
            scale, key = (
                (record[layout.roles[role]] or "").strip() if role in layout.roles else "" for role in (SCALE, KEY)
            )
            stimulus = Stimulus(
                item, variant, pattern, item if text is None else text, gold, len(table.stimulus), scale, key
            )
            _add_or_compare_stimulus(table, stimulus)
            for packed, column in zip(table.values, layout.values, strict=True):
                packed.append(record[column])
    table.model_conditions.drop_lookup_for_appending()
    table.stimulus.drop_lookup_for_appending()
    return table


def _add_or_compare_stimulus(table: LongTable, stimulus: Stimulus) -> None:
    """Add the stimulus of a row; one that is known must have the same text, pattern, right answer, scale and key."""
    number = table.stimulus.append((stimulus.item, stimulus.variant))
    if number == len(table.stimuli):
        table.stimuli.append(stimulus)
    before = table.stimuli[number]
    for property_name, field_name in PROPERTIES.items():
        if getattr(stimulus, field_name) != getattr(before, field_name):
            raise InputError(
                f"{table.place[stimulus.row]}: the {property_name} of item '{stimulus.item}', variant "
                f"'{stimulus.variant}' is not the one in {table.place[before.row]}"
            )


def _name_and_record_table_condition(where: str, table: LongTable, layout: Layout, values: tuple[str, ...]) -> str:
    """Name a condition by its values, and keep its fields; `where` is its first row."""
    name = "/".join(values) or layout.condition
    fields = {"form": saving.IMPORT_FORM, **dict(zip(layout.conditions, values, strict=True))}
    if table.conditions.setdefault(name, fields) != fields:
        raise InputError(f"{where}: two different conditions would both be called '{name}'; rename their values")
    return name


class _CellCache:
    """Cells that must be filled, without the blanks around them; each is checked once per column."""

    def __init__(self) -> None:
        self._texts_by_column: defaultdict[str, dict[str | None, str]] = defaultdict(dict)

    def check_and_strip_cell(self, path: Path, place: str, column: str, cell: str | None) -> str:
        """Strip a cell; refuse an empty one, and a missing number."""
        text_by_cell = self._texts_by_column[column]
        if cell not in text_by_cell:
            text, where = (cell or "").strip(), f"{path}, {place}: column '{column}'"
            if not text:
                raise InputError(f"{where} is empty; every response needs it")
            if is_missing_or_infinite_number_text(text):
                raise InputError(f"{where} holds '{text}', as a missing number is written; give a name")
            text_by_cell[cell] = text
        return text_by_cell[cell]


class _Numbering:
    """Names for variants without an id: the distinct texts of an item are numbered as they appear."""

    def __init__(self) -> None:
        self._name: dict[tuple[str, str, str], str] = {}
        self._count: Counter[tuple[str, str]] = Counter()

    def name_variant(self, item: str, pattern: str, text: str) -> str:
        """Name a text: `original` for the first original, otherwise for example `paraphrase-001`."""
        key = (item, pattern, text)
        if key not in self._name:
            self._count[item, pattern] += 1
            number = self._count[item, pattern]
            self._name[key] = ORIGINAL if pattern == ORIGINAL and number == 1 else f"{pattern}-{number:03d}"
        return self._name[key]
