"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.transcripts.narrative import ORDERED
from analysis.reporting.words import count, low_to_high


def transcript_items(frame: pd.DataFrame) -> str:
    """Say what a dot is, and which dots are the examples."""
    units, ordered = frame["n_units"], ORDERED[frame["measure"].iloc[0]]
    return (
        f"{count(len(frame), 'item')} of “{frame['study'].iloc[0]}”, one dot each: {ordered}, "
        f"as a mean over {low_to_high(units)} combinations of model and condition. The named items are the examples."
    )
