"""Read a sheet of what people read in texts of the models, and lay it out beside the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.measures.readings import ReadingGroup
from analysis.measures.readings.rows import SCORE
from analysis.runs.reading import read_csv_file
from analysis.statistics.resampling import Array
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line
from ground.spreadsheet import unescape_formula

COLUMNS = ("study", "model", "condition", "item", "variant", "sample", "text", "option")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """Hold one row: where it stands, as messages name it, and its cells by column."""

    where: str
    cells: Mapping[str, str]

    @property
    def study_model_and_condition(self) -> tuple[str, str, str]:
        """Return study, model and condition of the text."""
        return self.cells["study"], self.cells["model"], self.cells["condition"]


def read_sheet_of_human_readings(file_name: str) -> list[SheetRow]:
    """Read a sheet: a CSV file with a row per text that people read.

    Parameters
    ----------
    file_name
        With the columns study, model, condition, item, variant, sample (1 for the first text of a wording), text, and
        option: what people read, by the name of the option; empty where they read none.

    Returns
    -------
    list of SheetRow

    Raises
    ------
    InputError
        For a file that cannot be read or has no row, a column that is missing, or a text that stands there twice.
    """
    file = Path(file_name)
    rows = [
        SheetRow(f"{file}: line {number}", {name: unescape_formula(cell) for name, cell in cells.items()})
        for number, cells in read_csv_file(file)
    ]
    if not rows:
        raise InputError(f"{file}: no row in it; a sheet has a row per text that people read")
    for name in COLUMNS:
        if name not in rows[0].cells:
            raise InputError(f"{file}: column {name!r} is missing; a sheet has the columns {', '.join(COLUMNS)}")
    first_by_text: dict[tuple[str, ...], str] = {}
    for row in rows:
        key = tuple(row.cells[name] for name in COLUMNS[:6])
        if key in first_by_text:
            raise InputError(f"{row.where}: the same text as in {first_by_text[key].rpartition(': ')[2]}; keep one row")
        first_by_text[key] = row.where
    return rows


def arrange_human_readings_and_read_mask(
    rows: Sequence[SheetRow], group: ReadingGroup, place: int, outputs: Mapping[tuple[str, str], Sequence[str]]
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Lay out what people read as an array beside the texts.

    Parameters
    ----------
    rows
        About the texts of one model and condition.
    group
        Whose reading `place` is of these texts.
    place
        Place of the reading.
    outputs
        Item and variant -> the texts; a text of the sheet has to be the one that the run has.

    Returns
    -------
    tuple of arrays
        (items, wordings, texts): 1 where people read the answer, 0 another one, NaN none; and whether they read it.

    Raises
    ------
    InputError
        For an item, wording, number of a text, text or option that the run does not have; names file, line and column.
    """
    shape = group.samples[place][1].shape
    people, has_people = np.full(shape, np.nan), np.zeros(shape, bool)
    wording_by_key = {(row["item"], row["variant"]): row for row in group.wordings.to_dict("records")}
    for row in rows:
        cells = row.cells
        wording = wording_by_key.get((cells["item"], cells["variant"]))
        if wording is None and (cells["item"], cells["variant"]) in outputs:
            continue  # a text that is not among those compared, such as one after an original
        if wording is None:
            items = {item for item, _ in outputs}
            name = "variant" if cells["item"] in items else "item"
            raise InputError(f"{row.where}: {name} {shorten_to_one_line(repr(cells[name]))} has no texts in the run")
        cell = wording["item_code"], wording["wording_code"]
        texts = outputs.get((cells["item"], cells["variant"]), ())
        number = _convert_sample_number_to_place(row, len(texts))
        if texts[number] is not None and not _does_text_end_with_shown_part(texts[number], cells["text"]):
            raise InputError(
                f"{row.where}: text {shorten_to_one_line(repr(cells['text']), 60)} is not text {number + 1} of this "
                f"wording, {shorten_to_one_line(repr(texts[number].strip()), 60)}; the sheet is of another run"
            )
        has_people[*cell, number] = True
        people[*cell, number] = _code_people_answer_as_binary(row, wording, group.measure)
    return people, has_people


def _does_text_end_with_shown_part(text: str, shown: str) -> bool:
    """Tell whether a text ends with what a sheet shows of it: `waver judge --sheet` leaves out the thinking before it.

    White space does not count, since spreadsheets change line breaks.

    >>> _does_text_end_with_shown_part("<think>hm</think>\\n\\nYes,\\r\\nI agree. ", "Yes,\\nI agree.")
    True
    """
    return " ".join(text.split()).endswith(" ".join(shown.split()))


def _convert_sample_number_to_place(row: SheetRow, n_texts: int) -> int:
    """Return the place of a text among those of its wording, from 0 on."""
    text = row.cells["sample"]
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= n_texts):
        raise InputError(
            f"{row.where}: sample {shorten_to_one_line(repr(text))} is no number of a text of this wording: 1 to "
            f"{n_texts}"
        )
    return int(text) - 1


def _code_people_answer_as_binary(row: SheetRow, wording: Mapping[str, Any], measure: str) -> float:
    """Return 1 for the answer that the measure is about, 0 for another one, NaN for none."""
    option = row.cells["option"]
    if not option:
        return float("nan")
    if measure == SCORE:
        raise InputError(f"{row.where}: scores are not read by people here; give a sheet for answers in options")
    options = [str(option) for option in wording["options"]]
    names = options if option in options else [str(label) for label in wording["canonical"]]
    if option not in names:
        nearest = format_nearest_name_hint(option, options)
        raise InputError(
            f"{row.where}: option {shorten_to_one_line(repr(option))} is none of {', '.join(options)}{nearest}; leave "
            "it empty where people read no answer"
        )
    return float(names.index(option) == wording["place"])
