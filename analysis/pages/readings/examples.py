"""Find the texts that readings take most differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.readings import ReadingGroup, read_reading_groups
from analysis.measures.readings.rows import AGREEMENT, SCORE
from analysis.pages.readings.sheet_tables import read_texts_of_model
from analysis.reporting.words import format_percent
from analysis.runs import Runs

MOST_TEXTS = 3  # of every model and setting
NO_ANSWER = 0.5  # how far an answer is from none
COLUMNS = ["study", "model", "setting", "item", "variant", "sample", "text", "output", "readings_of_text", "distance"]


def tabulate_divergent_texts(runs: Runs) -> pd.DataFrame:
    """List the texts on which readings are furthest apart.

    Returns
    -------
    DataFrame
        A row per text, at most `MOST_TEXTS` of every model and setting; those from one condition are of different
        wordings.
    """
    rows = [row for group in read_reading_groups(runs) for row in _list_divergent_texts_of_group(runs, group)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _list_divergent_texts_of_group(runs: Runs, group: ReadingGroup) -> list[dict[str, Any]]:
    """List the most divergent texts of one group."""
    by_source: dict[str, list[int]] = {}
    for place in group.samples:
        by_source.setdefault(group.kinds[place].source, []).append(place)
    rows: list[dict[str, Any]] = []
    for source, places in by_source.items():
        if len(places) > 1:
            rows += _list_divergent_texts_of_condition(runs, group, source, places)
    return sorted(rows, key=lambda row: -row["distance"])[:MOST_TEXTS]


def _list_divergent_texts_of_condition(
    runs: Runs, group: ReadingGroup, source: str, places: list[int]
) -> list[dict[str, Any]]:
    """List the most divergent texts of one condition."""
    n_texts = min(group.samples[place][1].shape[2] for place in places)
    read = np.stack(
        [_compute_reading_of_each_sample(*(part[:, :, :n_texts] for part in group.samples[place])) for place in places]
    )
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(read, axis=0), np.fmax.reduce(read, axis=0)
    is_any, is_some_missing = ~np.isnan(read).all(axis=0), np.isnan(read).any(axis=0)
    distance = np.where(is_any, np.fmax(high - low, np.where(is_some_missing, NO_ANSWER, 0.0)), 0.0)
    # One text of a wording: the furthest apart.
    best = distance.argmax(axis=2)
    of_wording = np.take_along_axis(distance, best[:, :, None], 2)[:, :, 0]
    order = np.argsort(-of_wording, axis=None, kind="stable")[:MOST_TEXTS]
    outputs = read_texts_of_model(runs, group.study, group.model, source)
    keyed = {(row["item_code"], row["wording_code"]): row for row in group.wordings.to_dict("records")}
    rows = []
    for item_code, wording_code in zip(*np.unravel_index(order, of_wording.shape), strict=True):
        wording, sample = keyed.get((item_code, wording_code)), int(best[item_code, wording_code])
        if wording is None or not of_wording[item_code, wording_code] > 0:
            continue
        texts = outputs.get((wording["item"], wording["variant"]), ())
        readings = [
            f"{group.kinds[place].name}: {_name_answer_of_text(value, wording, group.measure)}"
            for place, value in zip(places, read[:, item_code, wording_code, sample], strict=True)
        ]
        rows.append({
            "study": group.study, "model": group.model, "setting": group.setting, "item": wording["item"],
            "variant": wording["variant"], "sample": sample + 1, "text": wording["text"],
            "output": texts[sample] if sample < len(texts) else "", "readings_of_text": "; ".join(readings),
            "distance": float(of_wording[item_code, wording_code]),
        })  # fmt: skip
    return rows


def _compute_reading_of_each_sample(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Return what every sample is read as, from 0 to 1; NaN for none."""
    return np.divide(upper, lower, out=np.full(upper.shape, np.nan), where=lower > 0)


def _name_answer_of_text(value: float, wording: dict[str, Any], measure: str) -> str:
    """Name the answer that a text is read as."""
    if np.isnan(value):
        return "none"
    if measure == SCORE:
        return f"{value:.2f} of the scale"
    options = [str(option) for option in wording["options"]]
    first = options[wording["place"]] if 0 <= wording["place"] < len(options) else "the answer"
    other = next(option for option in options if option != first) if measure == AGREEMENT else "another one"
    if value in (0.0, 1.0):
        return first if value else other
    return f"{first} ({format_percent(value)})" if value >= 0.5 else f"{other} ({format_percent(1 - value)})"
