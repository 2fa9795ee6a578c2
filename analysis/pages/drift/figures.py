"""Pick the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.drift.columns import SERIES
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels

PANELS = 12  # of one picture


def build_drift_series_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the measures that sentences are about, of every study with labels and whether a change was found."""
    yield from _split_rows_by_study_and_measure(frames, True)


def build_drift_other_measure_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the other measures likewise."""
    yield from _split_rows_by_study_and_measure(frames, False)


def _split_rows_by_study_and_measure(frames: Frames, headline: bool) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of every study and measure; of too many models those with the smallest p values."""
    table, changes = frames["drift_measures"], frames["drift_changes"]
    if table.empty:
        return
    of_changes = changes[[*SERIES, "found", "changed_time", "p_holm", "wordings"]]
    rows = table[table["headline"].astype(bool) == headline].merge(of_changes, on=SERIES)
    for _, part in rows.groupby(["study", "measure"], sort=False):
        labelled = part.assign(label=labels.build_row_labels(part))
        names = labelled.drop_duplicates("label").sort_values("p_holm", kind="stable")["label"]
        panel_rows = labelled[labelled["label"].isin(names.head(PANELS))]
        yield (panel_rows.assign(total=len(names)),)
