"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording.cells import UNIT, average_validity_over_patterns_per_row
from analysis.pages.wording.plots import select_drawn_bins
from analysis.reporting.catalogue.frames import Frames
from analysis.runs.folder import ORIGINAL


def build_consistency_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `consistency` by study, language and task, where questions were reworded."""
    for (part,) in _split_by_language_and_task(_add_silent_column_by_task(frames["consistency"])):
        if (part["pattern"] != ORIGINAL).any():
            yield (part,)


def build_shift_curve_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `curve` by study, language and task, where any bin holds enough pairs."""
    silence_by_unit = _add_silent_column_by_task(frames["consistency"])[[*UNIT, "silent"]]
    for (part,) in _split_by_language_and_task(frames["curve"].merge(silence_by_unit, on=UNIT)):
        if len(select_drawn_bins(part)):
            yield (part,)


def build_stage_differences_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield what tuning changes in Consistency, by study, language and task."""
    frame = frames["stages"]
    yield from _split_by_language_and_task(frame[frame["measure"] == "consistency"])


def _add_silent_column_by_task(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the column `silent`: whether the model does not answer in the row's language and task."""
    return frame.assign(silent=is_validity_below_half(average_validity_over_patterns_per_row(frame)))


def _split_by_language_and_task(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame]]:
    """Split a frame by study, language and task: a model has one row or line in a picture."""
    for _, part in frame.groupby(["study", "language", "task"], sort=False):
        if "n" not in part or part["n"].any():  # no valid answers: the cautions on top say so
            yield (part,)
