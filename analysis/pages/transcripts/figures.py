"""Pick the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting.catalogue.frames import Frames


def build_transcript_items_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the items of every study that have a value, one picture per study."""
    ordered_items = frames["transcript_items"].dropna(subset=["transcript_value"])
    for _, part in ordered_items.groupby("study", sort=False):
        yield (part.reset_index(drop=True),)
