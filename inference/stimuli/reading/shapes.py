"""Recognise what the columns of people's tables hold, and in which of three shapes they hold it.

long
    one row per variant: `item`, `text`, and if wanted `variant`, `pattern`, `language`, `gold`, `gold_score`.
wide
    one row per item and one column per wording: `item`, `original` (or `text`), `paraphrase_1`, `paraphrase_2` ... An
    empty cell is a wording that this item does not have. Several text columns named by the user are this shape, too:
    the first holds the originals.
nested
    one entry per item: `item`, `text`, `paraphrases` (a list of texts), and what a long row has.

Names of columns count without their case and the blanks around them. Any other column becomes an attribute of its
wording, or in the wide and the nested shape of all wordings of its item. `id`, `statement` (or `original_statement`)
and `alternative_statements` are read as Haller et al. (2024) published them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from typing import Any

from ground.errors import InputError, shorten_text
from inference.stimuli.reading.records import Record, refuse_column_of_two_roles, refuse_missing_or_repeated_columns

ATTRIBUTE = "attributes."
SHARED = ("item", "text", "language", "gold", "gold_score", "attributes")
OF_ROWS = ("variant", "pattern")  # fields of the long shape only
PUBLISHED = {"id": "item", "original_statement": "text", "statement": "text", "alternative_statements": "paraphrases"}
PUBLISHED_UNUSED = {"response", "statement_log_prob"}
ATTRIBUTES_READ = ("source", "match_proportion", "match_n", "match_seed")
"""Attributes that mean something to Waver: a column is taken for one only where it says so, as `attributes.source`."""
WORDING = re.compile(r"paraphrase[ _.-]*[0-9]*")
TEXTS = ("statement", "sentence", "question", "wording", "prompt", "claim", "original_statement")
IDS = ("id", "number", "nr", "no", "question_id", "item_id", "key")
SIMILAR = 0.7  # from which a name may be meant: `itemid` is .8 similar to `item`, `Thema` .67
MIN_SIMILARITY = 0.85  # from which a name is taken for a misspelling: `patern` .92, `Variante_A` .82 of `variant`


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the ids, the wordings and the patterns; None or empty: those called so.

    Several columns of `text` are the wide shape.
    """

    item: str | None = None
    text: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """What the columns of a table are.

    Attributes
    ----------
    fields
        Column -> field; attributes are called `attributes.NAME`. A column that is neither here nor in `wordings` is not
        read.
    wordings
        The columns of paraphrases of the wide shape, in the order of the table.
    attribute_columns
        The columns that become attributes without being called so.
    """

    fields: Mapping[str, str]
    wordings: tuple[str, ...] = ()
    attribute_columns: tuple[str, ...] = ()

    @property
    def has_row_per_item(self) -> bool:
        """Whether an entry is an item with all its wordings (wide, nested), not one wording (long)."""
        return bool(self.wordings) or "paraphrases" in self.fields.values()

    def rename_fields_of_records(self, source_records: Iterable[Record]) -> Iterable[Record]:
        """Rename the fields of records to Waver's names; the wordings of a wide row become its list of paraphrases."""
        if not self.wordings and all(column == field for column, field in self.fields.items()):
            return source_records
        return ((place, self._rename_fields_of_record(record)) for place, record in source_records)

    def _rename_fields_of_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Rename the fields of one record to Waver's names."""
        fields = {self.fields[column]: value for column, value in record.items() if column in self.fields}
        if self.wordings:
            fields["paraphrases"] = [record.get(column) for column in self.wordings]
        return fields


def recognise_table_shape(
    source: str, column_names: Sequence[str], columns: Columns, protocol_columns: Sequence[str] = ()
) -> Shape:
    """Recognise the shape of a table by the names of its columns.

    Parameters
    ----------
    source
        The file or data set, for messages.
    column_names
        The names of its columns.
    columns
        Those that the user names.
    protocol_columns
        Names of attributes that a protocol reads: a column of such a name, in any case, is that attribute.

    Returns
    -------
    Which column is read as which field.

    Raises
    ------
    InputError
        A column is missing, is there twice, or may mean two things.
    """
    fields = _find_columns_of_known_fields(source, column_names, columns)
    wordings = columns.text[1:] or tuple(
        c for c in column_names if c not in fields and WORDING.fullmatch(_fold_column_name(c))
    )
    originals = [
        column
        for column in column_names
        if _fold_column_name(column) == "original" and column not in (*fields, *wordings)
    ]
    if originals and "text" not in fields.values():
        if not wordings:
            raise InputError(
                f"{source}: there is a column '{originals[0]}' and none for other wordings; call these paraphrase_1, "
                f"paraphrase_2 ..., or name all of them: --text-column {originals[0]} OTHER ..."
            )
        fields[originals[0]] = "text"
    elif originals and wordings and not columns.text:
        raise InputError(
            f"{source}: column '{originals[0]}' or column 'text' may hold the originals; say which: --text-column NAME"
        )
    _refuse_missing_id_or_wording_column(source, column_names, fields)
    _refuse_mixed_table_layouts(source, fields, wordings)
    unused = PUBLISHED_UNUSED if _has_columns_of_haller_data(column_names, columns) else ()
    other_columns = [
        c for c in column_names if c not in fields and c not in wordings and _fold_column_name(c) not in unused
    ]
    protocol_names = {
        column: folded for column in other_columns if (folded := _fold_column_name(column)) in protocol_columns
    }
    attribute_columns = tuple(
        column
        for column in other_columns
        if not _fold_column_name(column).startswith(ATTRIBUTE) and column not in protocol_names
    )
    possible_fields = (*SHARED, "paraphrases") if wordings or "paraphrases" in fields.values() else (*SHARED, *OF_ROWS)
    absent = set(possible_fields) - set(fields.values())
    for column in attribute_columns:
        _refuse_ambiguous_attribute_column(source, column, absent)
    holding = {field: column for column, field in fields.items()}
    for column in other_columns:
        name = protocol_names.get(column, column.strip())
        field = ATTRIBUTE + (name[len(ATTRIBUTE) :] if _fold_column_name(name).startswith(ATTRIBUTE) else name)
        _refuse_two_columns_of_field(source, column, holding.setdefault(field, column), field)
        fields[column] = field
    return Shape(fields, wordings, attribute_columns)


def _find_columns_of_known_fields(source: str, column_names: Sequence[str], columns: Columns) -> dict[str, str]:
    """Find the columns of the known fields: those that the user names, else those that are called so."""
    options = {"--item-column": columns.item, "--pattern-column": columns.pattern}
    texts = {f"--text-column (name {number})": column for number, column in enumerate(columns.text, start=1)}
    refuse_column_of_two_roles({**options, **texts})
    refuse_missing_or_repeated_columns(source, column_names, (*options.values(), *texts.values()))
    first = columns.text[0] if columns.text else None
    field_by_column = {columns.item: "item", first: "text", columns.pattern: "pattern"}
    fields = {column: field for column, field in field_by_column.items() if column is not None}
    taken = {*columns.text, *fields, *fields.values()}
    holding = {field: column for column, field in fields.items()}
    called = PUBLISHED if _has_columns_of_haller_data(column_names, columns) else {}
    for column in column_names:
        field = called.get(_fold_column_name(column), _fold_column_name(column))
        if field not in (*SHARED, *OF_ROWS, "paraphrases") or taken & {column, field}:
            continue
        _refuse_two_columns_of_field(source, column, holding.setdefault(field, column), field)
        fields[column] = field
    return fields


def _refuse_two_columns_of_field(source: str, column: str, before: str, field: str) -> None:
    """Refuse two columns that are both read as one field."""
    if before != column:
        raise InputError(f"{source}: columns '{before}' and '{column}' are both read as '{field}'; rename one")


@functools.cache
def _fold_column_name(column: str) -> str:
    """Return the name of a column in small letters, without white space around it."""
    return column.strip().casefold()


def _has_columns_of_haller_data(column_names: Sequence[str], columns: Columns) -> bool:
    """Tell whether the columns are those of the data that Haller et al. published."""
    names = set(map(_fold_column_name, column_names))
    return (
        columns == Columns()
        and {"item", "text"}.isdisjoint(names)
        and "id" in names
        and not names.isdisjoint(("statement", "original_statement"))
    )


def _refuse_missing_id_or_wording_column(source: str, column_names: Sequence[str], fields: Mapping[str, str]) -> None:
    """Refuse a table without ids or wordings, and guess which columns may hold them."""
    usual = {"item": IDS, "text": TEXTS}
    missing = {
        field: _guess_column_of_field(field, usual[field], column_names, fields)
        for field in usual
        if field not in fields.values()
    }
    if not missing:
        return
    options = " ".join(f"--{field}-column {quote(guess or 'NAME')}" for field, guess in missing.items())
    if len(missing) == 2:
        trouble = f"there are no columns 'item' and 'text'; begin the table with its header, or name them: {options}"
    else:
        ((field, guess),) = missing.items()
        content = "ids of the items" if field == "item" else "wordings"
        which = f"is it '{guess}'? Then say" if guess else "say which one holds them:"
        other = ", or add one with a number per item" if field == "item" else ""
        trouble = f"there is no column '{field}' for the {content}; {which} {options}{other}"
    raise InputError(f"{source}: {trouble} (the columns are {shorten_text(', '.join(column_names), 500)})")


def _guess_column_of_field(
    field: str, usual: Sequence[str], column_names: Sequence[str], fields: Mapping[str, str]
) -> str | None:
    """Find the column that may be meant: one of the usual names, else the most similar one."""
    free = {_fold_column_name(column): column for column in column_names if column not in fields}
    names = [name for name in free if name in usual] or get_close_matches(field, free, 1, SIMILAR)
    return free[names[0]] if names else None


def _refuse_mixed_table_layouts(source: str, fields: Mapping[str, str], wordings: Sequence[str]) -> None:
    """Refuse a table that mixes the shapes: paraphrases in one column and in several, or by item and by wording."""
    nested = "paraphrases" in fields.values()
    if wordings and nested:
        raise InputError(f"{source}: there are both 'paraphrases' and '{wordings[0]}'; leave one out")
    wrong = next((column for column, field in fields.items() if field in OF_ROWS and (wordings or nested)), None)
    if wrong is not None:
        raise InputError(
            f"{source}: column '{wrong}' belongs to a table with one row per wording, but here a row is an item with "
            f"all its wordings ({', '.join(wordings[:3]) or 'paraphrases'}); take the column out"
        )


def _refuse_ambiguous_attribute_column(source: str, column: str, absent_fields: Iterable[str]) -> None:
    """Refuse a column kept as an attribute that is called like one Waver reads, or nearly like a missing field."""
    if _fold_column_name(column) in ATTRIBUTES_READ:
        raise InputError(
            f"{source}: column '{column}': by this name, Waver compares how paraphrases were made; call it "
            f"{ATTRIBUTE}{_fold_column_name(column)} if it says that, else rename it"
        )
    near = get_close_matches(_fold_column_name(column), absent_fields, 1, MIN_SIMILARITY)
    if near:
        raise InputError(
            f"{source}: unknown column '{shorten_text(column)}' (the nearest is '{near[0]}'); rename it, or call it "
            f"{ATTRIBUTE}{shorten_text(column)} if it says something else about the wordings"
        )
