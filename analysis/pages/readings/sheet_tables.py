"""Compare readings of texts with what people read, and correct them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.readings import ReadingGroup, read_reading_groups
from analysis.pages.readings.sheet import SheetRow, arrange_human_readings_and_read_mask, read_sheet_of_human_readings
from analysis.runs import Runs
from analysis.statistics.interval import build_interval_columns
from analysis.statistics.readings.people import (
    are_read_texts_a_random_sample,
    compute_agreement_and_errors_against_people,
    correct_reading_by_people,
)
from analysis.statistics.resampling import DRAWS, Array
from ground.errors import InputError, format_nearest_name_hint, shorten_to_one_line

EMPTY = ["study", "model", "setting", "reading"]
_ERRORS = ("missed", "invented", "unread", "overread")
_OF_PEOPLE = ("corrected_mean", "corrected_sd", "own")
_FIGURES = ("mean", "corrected_mean", "wording_sd", "corrected_sd", "own")


def tabulate_readings_corrected_by_people(
    runs: Runs, *, sheet: str = "", resamples: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Correct every reading of texts of which people read some.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    sheet
        The file (`sheet.read_sheet_of_human_readings`); empty: none, and no rows.
    resamples, seed
        Bootstrap samples of the items, and their seed.

    Returns
    -------
    DataFrame
        A row per study, model, setting and reading of these texts.
    """
    if not sheet:
        return pd.DataFrame(columns=EMPTY)
    key = ("corrections by people", sheet, resamples, seed)
    return runs.compute_once(key, lambda: _build_table_of_corrected_readings(runs, sheet, resamples, seed))


def _build_table_of_corrected_readings(runs: Runs, sheet: str, draws: int, seed: int) -> pd.DataFrame:
    """Correct the readings of all units in a sheet."""
    rows_by_unit: dict[tuple[str, str, str], list[SheetRow]] = {}
    for row in read_sheet_of_human_readings(sheet):
        rows_by_unit.setdefault(row.study_model_and_condition, []).append(row)
    parts = []
    for unit, rows in rows_by_unit.items():
        group, place = _find_reading_group_and_place_of_unit(runs, unit, rows[0].where)
        people, has_people = arrange_human_readings_and_read_mask(rows, group, place, read_texts_of_model(runs, *unit))
        parts += list(_iterate_corrected_rows_of_readings(group, place, people, has_people, draws, seed))
    return pd.DataFrame(parts)


def _find_reading_group_and_place_of_unit(
    runs: Runs, unit: tuple[str, str, str], where: str
) -> tuple[ReadingGroup, int]:
    """Find the readings of a model's texts, and the place of one of them."""
    study, model, condition = unit
    places = {
        (group.study, group.model, kind.condition): (group, place)
        for group in read_reading_groups(runs) for place, kind in enumerate(group.kinds)
        if kind.is_sampled and kind.source == kind.condition and place in group.samples
    }  # fmt: skip
    if unit not in places:
        names = [name for _, _, name in places]
        raise InputError(
            f"{where}: study {shorten_to_one_line(repr(study))}, model {shorten_to_one_line(repr(model))}, condition "
            f"{shorten_to_one_line(repr(condition))} has no texts that are read in two "
            f"ways{format_nearest_name_hint(condition, names)}"
        )
    return places[unit]


def read_texts_of_model(runs: Runs, study: str, model: str, condition: str) -> dict[tuple[str, str], Sequence[str]]:
    """Read the texts of a model: item and variant -> texts."""
    rows = runs.execute(
        "SELECT item, variant, output FROM responses WHERE study = ? AND model = ? AND condition = ? "
        "AND output IS NOT NULL",
        [study, model, condition],
    ).fetchall()
    return {(item, variant): texts for item, variant, texts in rows}


def _iterate_corrected_rows_of_readings(
    group: ReadingGroup, place: int, people: Array, has_people: Any, draws: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every reading of these texts."""
    n_texts = people.shape[2]
    for other, kind in enumerate(group.kinds):
        if kind.source != group.kinds[place].source or other not in group.samples:
            continue
        upper, lower = (part[:, :, :n_texts] for part in group.samples[other])
        if upper.shape != people.shape:
            continue
        read = upper / lower.clip(1e-12)
        read[~(lower > 0)] = float("nan")
        is_text = ~np.isnan(lower)
        rates = compute_agreement_and_errors_against_people(read, people, has_people, is_text)
        corrected = correct_reading_by_people(upper, lower, people, has_people, draws=draws, seed=seed)
        columns = build_interval_columns({name: corrected.figures[name] for name in _FIGURES})
        p = corrected.p
        if not are_read_texts_a_random_sample(read, has_people, is_text):
            # Means over the texts of a wording that were drawn by what they were read as are no means of all of them.
            p, names = np.nan, [f"{name}{end}" for name in _OF_PEOPLE for end in ("", "_lower", "_upper")]
            columns |= {name: np.full(1, np.nan) for name in names}
            columns["no_interval"] = np.array(["corrected_mean, corrected_sd, own: texts not drawn at random"], object)
        yield {
            "study": group.study, "model": group.model, "setting": group.setting, "reading": kind.name,
            "read_condition": kind.condition, "n_texts": int(rates["n"]), "texts_alike": rates["same"],
            "text_kappa": rates["kappa"], **{name: rates[name] for name in _ERRORS},
            "n_wordings": corrected.n_wordings, "p": p, **{name: part[0] for name, part in columns.items()},
        }  # fmt: skip
