"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting.catalogue.frames import Frames


def build_reading_effects_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the compared readings of every study and setting, those of the verdict first."""
    rows = frames["readings"]
    rows = rows[rows["compared"].astype(bool) & rows["wording_sd"].notna()] if len(rows) else rows
    first = list(zip(frames["reading_kept"]["study"], frames["reading_kept"]["setting"], strict=True))
    for study, setting in first if len(rows) else ():
        part = rows[(rows["study"] == study) & (rows["setting"] == setting)]
        if len(part):
            yield (part.reset_index(drop=True),)


def build_reading_agreement_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the pairs of readings of every study and setting."""
    rows = frames["reading_pairs"]
    for _, part in rows.groupby(["study", "setting"], sort=False) if len(rows) else ():
        yield (part.reset_index(drop=True),)
