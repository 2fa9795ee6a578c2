"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.wording.cells import UNIT, validity
from analysis.reporting import labels
from analysis.reporting.frames import Frames
from analysis.reporting.thresholds import silent

ROWS = 24  # models x conditions that one picture has room for


def consistency(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `consistency` by language and task, some models at a time."""
    yield from _by_task(_marked(frames["consistency"]))


def diff_yes(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the same parts as for `consistency`."""
    yield from consistency(frames)


def shift_curve(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `curve` by language, task and condition, some models at a time."""
    marked = _marked(frames["consistency"])[[*UNIT, "silent"]]
    yield from _by_task(frames["curve"].merge(marked, on=UNIT), "condition")


def stage_differences(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield what tuning changes in Consistency, by language and task."""
    frame = frames["stages"]
    yield from _by_task(frame[frame["measure"] == "consistency"])


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the column `silent`: whether the model answers in the row's language and task."""
    return frame.assign(silent=silent(validity(frame)))


def _by_task(frame: pd.DataFrame, *by: str) -> Iterator[tuple[pd.DataFrame]]:
    """Split a frame by language, task and the columns `by`, and into as many models as a picture has room for."""
    for _, part in frame.groupby(["language", "task", *by], sort=False):
        if "n" in part and not part["n"].any():
            continue  # no valid answers: the cautions on top say so
        if "model" in part:
            for some in labels.split(part, ROWS):
                yield (some,)
        else:
            yield (part,)
