"""Write the captions of the figures; each function takes the frames of its namesake in `plots`."""

from __future__ import annotations

import pandas as pd

from analysis.pages.transcripts.narrative import ORDER_MEANINGS
from analysis.reporting.words import format_count_range, format_quantity


def caption_transcript_items(frame: pd.DataFrame) -> str:
    """Say what a dot is, and which dots are the examples."""
    units, order_text = frame["n_units"], ORDER_MEANINGS[frame["measure"].iloc[0]]
    mean_sentence = (
        f" That is a mean over {format_count_range(units, 'combination')} of model and condition."
        if units.max() > 1
        else ""
    )
    return (
        f"{format_quantity(len(frame), 'item')} of “{frame['study'].iloc[0]}”, one dot each: {order_text}."
        f"{mean_sentence} The named items are the examples."
    )
