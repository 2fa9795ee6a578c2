"""Read the numbers of the steps that built a study, from the table that `choice build` writes beside it."""

from __future__ import annotations

from typing import Any

from ground.errors import InputError
from ground.numerals import WHOLE
from inference.protocols.choice.building.steps import COLUMNS, SUFFIX
from inference.stimuli.reading import records
from inference.stimuli.reading.files import expand_user_path, shorten_value


def read_question_counts_by_building_step(items_file: str) -> list[dict[str, Any]]:
    """Read the table beside a study, STUDY.building.csv for STUDY.jsonl; nothing where there is none.

    Returns
    -------
    list of dict
        step, source and reason (texts, null where the cell is empty) and count.

    Raises
    ------
    InputError
        Naming the file and the row: a missing column, no step, or a count that is no whole number from 0 on.
    """
    file = expand_user_path(items_file).with_suffix(SUFFIX)
    return (
        [
            _parse_row_of_building_steps(f"{file}, {place}", record)
            for place, record in records.read_records(file, COLUMNS)
        ]
        if file.exists()
        else []
    )


def _parse_row_of_building_steps(where: str, record: dict[str, Any]) -> dict[str, Any]:
    """Check a row of the table of steps; make empty cells None and the count a number."""
    count = record["count"].strip()
    if WHOLE.fullmatch(count) is None or int(count) < 0:
        raise InputError(f"{where}: count must be a whole number, not {shorten_value(count)}; restore the file")
    if not record["step"].strip():
        raise InputError(f"{where}: there is no step; restore the file")
    texts: dict[str, Any] = {name: record[name].strip() or None for name in COLUMNS if name != "count"}
    return texts | {"count": int(count)}
