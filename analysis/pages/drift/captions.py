"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.drift.columns import CHANGED
from analysis.reporting.words import format_count_range, format_quantity, labels


def caption_drift_series(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    first, n_models_shown = frame.iloc[0], frame["label"].nunique()
    lines = labels.describe_interval_lines(frame, ("value_lower", "value_upper"))
    has_change = frame["found"].eq(CHANGED).any()
    return (
        f"Mean {labels.shorten_middle(first['measure'], 40)} of {format_count_range(frame['n_items'], 'item')} at "
        f"{format_quantity(int(frame['look'].max()), 'look')}, {first['time']} to {frame['time'].iloc[-1]}; wordings "
        f"are {first['wordings']}. {lines}"
        + (" Dashed lines: the look that a change begins with, where one was found." if has_change else "")
        + labels.describe_shown_rows(n_models_shown, int(first["total"]), "models", "with the smallest p")
    )
