"""Turn the rows of a condition into the numbers of one reading: exact ones, or those of every sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.measures.readings.kinds import ReadingKind
from analysis.runs import Runs
from analysis.statistics.resampling import Array
from ground.numerals import parse_first_number

AGREEMENT, ACCURACY, SCORE = "agreement", "accuracy", "score"


def read_response_rows_of_condition(
    runs: Runs, study: str, model: str, kind: ReadingKind, stimuli: pd.DataFrame
) -> pd.DataFrame:
    """Read the rows of one condition, with the wordings that they are about.

    Parameters
    ----------
    runs
        From `analysis.runs.open_runs`.
    study, model
        Whose rows.
    kind
        Of whose condition.
    stimuli
        item, variant, item_code, wording_code, place, options, and text and measure, which are left out.

    Returns
    -------
    DataFrame
        The columns that readings need, and those of the stimuli.
    """
    names = ["item", "variant", "probability", "mass", "mass_upper", "count", "invalid", "score", "answer", "output",
             "unclosed", "sample_probability", "sample_answer", "sample_answer_otherwise"]  # fmt: skip
    quoted = ", ".join(f'"{name}"' for name in names)
    # Not as a DataFrame: it makes masked scalars of the nulls in lists of lists.
    answers = runs.execute(
        f"SELECT {quoted} FROM responses WHERE study = ? AND model = ? AND condition = ?",
        [study, model, kind.condition],
    ).fetchall()
    rows = pd.DataFrame(answers, columns=names, dtype=object)
    rows = rows.astype({"mass": float, "mass_upper": float, "score": float, "unclosed": float, "invalid": float})
    return rows.merge(stimuli.drop(columns=["text", "measure"]), on=["item", "variant"])


def compute_exact_values_and_masses(rows: pd.DataFrame, measure: str, scale: Any) -> tuple[Array, Array]:
    """Return the number of every row with exact probabilities, and its mass.

    Parameters
    ----------
    rows
        From `read_response_rows_of_condition`.
    measure
        `AGREEMENT`, `ACCURACY` or `SCORE`.
    scale
        Of a score: its lowest and highest number.

    Returns
    -------
    tuple of arrays
        (rows,) each.
    """
    validity = rows["mass"].to_numpy(float)
    if measure == SCORE:
        low, high = scale
        return (rows["score"].to_numpy(float) - low) / (high - low), np.where(np.isnan(validity), 1.0, validity)
    pairs = [
        (values[place], sum(values)) if _is_present_list(values) and place >= 0 else (np.nan, np.nan)
        for values, place in zip(rows["probability"], rows["place"], strict=True)
    ]
    upper, lower = np.array(pairs, float).reshape(-1, 2).T
    share = np.divide(upper, lower, out=np.full(len(rows), np.nan), where=lower > 0)
    return share, np.where(np.isnan(validity), np.nan_to_num(lower), validity)


def average_upper_bound_of_validity(rows: pd.DataFrame, validity: Array) -> float:
    """Average the upper bounds of the validity of rows with exact probabilities; NaN where all of it is known.

    Parameters
    ----------
    rows
        From `read_response_rows_of_condition`.
    validity
        (rows,) From `compute_exact_values_and_masses`: the lower bounds; exact where a row has no other one.

    Returns
    -------
    float
        Between the mean of `validity` and 1.
    """
    at_most = rows["mass_upper"].to_numpy(float)
    if np.isnan(at_most).all():
        return np.nan
    return float(np.where(np.isnan(at_most), validity, at_most).mean())


def arrange_sample_numerators_and_denominators(
    rows: pd.DataFrame, kind: ReadingKind, measure: str, scale: Any
) -> tuple[Array, Array]:
    """Return numerators and denominators of the samples of every row, NaN beyond the last one.

    Parameters
    ----------
    rows
        From `read_response_rows_of_condition`.
    kind
        The reading.
    measure, scale
        As in `compute_exact_values_and_masses`.

    Returns
    -------
    tuple of arrays
        (rows, samples) each, as in `moments.average_samples_and_compute_influences`.
    """
    read = {"sample_probability": _list_sample_answer_and_total_probabilities}.get(
        kind.column, _list_hits_and_validity_of_samples
    )
    pairs = [read(row, kind.column, measure, scale) for row in rows.to_dict("records")]
    longest = max((len(lower) for _, lower in pairs), default=0)
    upper_array, lower_array = np.full((2, len(rows), max(longest, 1)), np.nan)
    for place, (upper, lower) in enumerate(pairs):
        upper_array[place, : len(upper)], lower_array[place, : len(lower)] = upper, lower
    return upper_array, lower_array


def _list_sample_answer_and_total_probabilities(
    row: dict[str, Any], column: str, measure: str, scale: Any
) -> tuple[list[float], list[float]]:
    """List, of every thought or judged text, the probability of the answer and that of all answers."""
    samples = row[column] if _is_present_list(row[column]) else ()
    upper, lower = [], []
    for sample in samples:
        if sample is None or (row["place"] < 0 and measure != SCORE):
            upper.append(0.0)
            lower.append(0.0)
            continue
        weights = np.linspace(0, 1, len(sample)) if measure == SCORE else np.eye(len(sample))[row["place"]]
        upper.append(float(np.dot(sample, weights)))
        lower.append(float(np.sum(sample)))
    return upper, lower


def _list_hits_and_validity_of_samples(
    row: dict[str, Any], column: str, measure: str, scale: Any
) -> tuple[list[float], list[float]]:
    """List, of every text, whether it gives the answer (or its place on the scale), and whether it gives any."""
    if _is_present_list(row[column]) and measure != SCORE:
        label = row["options"][row["place"]] if row["place"] >= 0 else ""
        return [float(said == label) for said in row[column]], [float(said is not None) for said in row[column]]
    if measure == SCORE:
        low, high = scale
        if _is_present_list(row[column]):
            numbers = [None if said is None else float(said) for said in row[column]]
        else:
            numbers = [
                parse_first_number(text) if text else None
                for text in (row["output"] if _is_present_list(row["output"]) else ())
            ]
        places = [0.0 if number is None else (min(max(number, low), high) - low) / (high - low) for number in numbers]
        return places, [float(number is not None) for number in numbers]
    if _is_present_list(row["count"]):  # an older run: which texts gave which answer is not recorded, how many is
        counts = [int(count) for count in row["count"]]
        invalid = 0 if pd.isna(row["invalid"]) else int(row["invalid"])
        is_answer = [float(place == row["place"]) for place, count in enumerate(counts) for _ in range(count)]
        return is_answer + [0.0] * invalid, [1.0] * sum(counts) + [0.0] * invalid
    if isinstance(row["answer"], str):
        is_answer = row["place"] >= 0 and row["answer"] == row["options"][row["place"]]
        return [float(is_answer)], [1.0]
    return [0.0], [0.0]


def _is_present_list(value: Any) -> bool:
    """Tell whether a value of a list column is there; a null is None."""
    return isinstance(value, list)


def place_samples_by_wording(part: Array, cells: np.ndarray, size: int) -> Array:
    """Put the samples of rows in the places of their wordings.

    Parameters
    ----------
    part
        (rows, samples).
    cells
        Place of each row's wording.
    size
        Number of places.

    Returns
    -------
    array (size, samples)
        NaN where a wording has no row.
    """
    spread = np.full((size, part.shape[1]), np.nan)
    spread[cells] = part
    return spread
