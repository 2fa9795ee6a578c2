"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.wording.cells import UNIT, validity
from analysis.pages.wording.plots import curves
from analysis.reporting.frames import Frames
from analysis.reporting.thresholds import silent


def consistency(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `consistency` by language and task."""
    yield from _by_task(_marked(frames["consistency"]))


def diff_yes(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the same parts as for `consistency`."""
    yield from consistency(frames)


def shift_curve(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `curve` by language and task, where any bin holds enough pairs."""
    marked = _marked(frames["consistency"])[[*UNIT, "silent"]]
    for (part,) in _by_task(frames["curve"].merge(marked, on=UNIT)):
        if len(curves(part)):
            yield (part,)


def stage_differences(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield what tuning changes in Consistency, by language and task."""
    frame = frames["stages"]
    yield from _by_task(frame[frame["measure"] == "consistency"])


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the column `silent`: whether the model answers in the row's language and task."""
    return frame.assign(silent=silent(validity(frame)))


def _by_task(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame]]:
    """Split a frame by language and task."""
    for _, part in frame.groupby(["language", "task"], sort=False):
        if "n" not in part or part["n"].any():  # no valid answers: the cautions on top say so
            yield (part,)
