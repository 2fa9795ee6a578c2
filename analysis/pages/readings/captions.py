"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.readings.plots import select_rows_of_first_models
from analysis.reporting.words import explain_missing_interval_lines, format_count_range, format_quantity, labels


def caption_reading_effects(frame: pd.DataFrame) -> str:
    """Write the caption of the SDs over wordings by reading."""
    rows = select_rows_of_first_models(frame)
    return (
        f"Left: SD of the answer over wordings within items, net of what sampling adds, by reading: "
        f"{format_quantity(rows['model'].nunique(), 'model')}, {format_count_range(rows['n_items'], 'item')}, "
        f"{format_count_range(rows['n_wordings'], 'wording')} that all readings answered. Right: of the reading’s "
        "variance over wordings, the least part that another reading moves along with (covariance by variance, at most "
        "1). Lines: 95 % bootstrap intervals over items."
        f"{explain_missing_interval_lines(rows, 'wording_sd', 'kept')} Setting: {rows['setting'].iloc[0]}."
        f"{_describe_which_models_are_drawn(frame, rows)}"
    )


def caption_reading_agreement(frame: pd.DataFrame) -> str:
    """Write the caption of the agreement of readings."""
    rows = select_rows_of_first_models(frame)
    return (
        f"Left: share of {format_count_range(rows['n_wordings'], 'wording')} that two readings put on the same side of "
        "one half. Right: their correlation over wordings within items, net of what sampling adds. "
        f"{format_quantity(rows['model'].nunique(), 'model')}, {format_count_range(rows['n_items'], 'item')}. Lines: "
        f"95 % bootstrap intervals over items.{explain_missing_interval_lines(rows, 'same_side', 'correlation')} "
        f"Setting: {rows['setting'].iloc[0]}.{_describe_which_models_are_drawn(frame, rows)}"
    )


def _describe_which_models_are_drawn(frame: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Say which models are drawn, where not all are."""
    return labels.describe_shown_rows(rows["model"].nunique(), frame["model"].nunique(), "models", "first")
