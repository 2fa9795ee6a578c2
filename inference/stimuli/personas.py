"""Read personas, as whom models are asked, from a table of names and texts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from ground.errors import InputError, shorten_text
from inference.stimuli.reading import records
from inference.stimuli.reading.files import expand_user_path, is_invisible_text, refuse_unprintable_name, shorten_value

COLUMNS = NAME, TEXT = "name", "text"
SEPARATOR = "/"  # between the parts of a condition's name


@dataclass(frozen=True, slots=True)
class Persona:
    """Somebody as whom models are asked: a name for tables, and what the model is told."""

    name: str
    text: str

    @property
    def condition_fields(self) -> dict[str, Any]:
        """The fields of run.json that say in a condition who the persona is."""
        return {"persona": self.name, "persona_text": self.text}


def read_personas(source: str) -> tuple[Persona, ...]:
    """Read the personas of a table with the columns `name` and `text`, in any format of `reading.records`.

    Parameters
    ----------
    source
        The file.

    Returns
    -------
    The personas, in the order of the file.

    Raises
    ------
    InputError
        Naming the file and the row: a column that is not there, a name or text that is empty, a name that comes twice.
    """
    table = records.Records(expand_user_path(source))
    column_names = table.list_column_names()
    folded_names = [column.strip().casefold() for column in column_names]
    records.refuse_missing_or_repeated_columns(source, folded_names, COLUMNS)
    columns = dict(zip(folded_names, column_names, strict=True))
    unread = [column for name, column in columns.items() if name not in COLUMNS]
    if unread:
        print(f"{source}: columns not read: {shorten_text(', '.join(unread), 400)}", file=sys.stderr)
    place_by_name: dict[str, str] = {}
    personas = []
    for place, record in table:
        where = f"{source}, {place}"
        name, text = (record.get(columns[column]) for column in COLUMNS)
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or is_invisible_text(name):
            raise InputError(f"{where}: every persona needs a name, not {shorten_value(name)}")
        if not isinstance(text, str) or is_invisible_text(text):
            raise InputError(
                f"{where}: persona '{shorten_text(name.strip())}' needs a text, which the model is told, not "
                f"{shorten_value(text)}; write it, or take the row out"
            )
        name = name.strip()
        refuse_unprintable_name(f"{where}: name", name)
        if SEPARATOR in name:
            raise InputError(f"{where}: a persona's name holds no {SEPARATOR}: '{shorten_text(name)}'; write another")
        before = place_by_name.setdefault(name.casefold(), place)
        if before != place:
            raise InputError(f"{where}: persona '{shorten_text(name)}' is already in {before}; give it another name")
        personas.append(Persona(name, text.strip()))
    return tuple(personas)
