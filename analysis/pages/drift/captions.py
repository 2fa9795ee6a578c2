"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.drift.columns import CHANGED
from analysis.reporting.words import format_count_range, labels


def caption_drift_series(frame: pd.DataFrame) -> str:
    """Say what dots and lines are."""
    first, looks_by_label = frame.iloc[0], frame.groupby("label")
    ends = set(zip(looks_by_label["time"].first(), looks_by_label["time"].last(), strict=True))
    times = " to ".join(*ends) if len(ends) == 1 else "with each model at times of its own"
    lines = labels.describe_interval_lines(frame, ("value_lower", "value_upper"))
    has_change = frame["found"].eq(CHANGED).any()
    return (
        f"Mean {labels.shorten_middle(first['measure'], 40)} of {format_count_range(frame['n_items'], 'item')} at "
        f"{format_count_range(looks_by_label['look'].max(), 'look')}, {times}; wordings are "
        f"{' or '.join(frame['wordings'].unique())}. {lines}"
        + (" Dashed lines: the look that a change begins with, where one was found." if has_change else "")
        + labels.describe_shown_rows(len(looks_by_label), int(first["total"]), "models", "with the smallest p")
    )
