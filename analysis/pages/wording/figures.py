"""Picks the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting import labels
from analysis.reporting.frames import Frames

ROWS = 24  # models x conditions that one picture has room for


def consistency(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Table `consistency` by language and task, some models at a time."""
    yield from _by_task(frames["consistency"])


def diff_yes(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """The same parts as for `consistency`."""
    yield from _by_task(frames["consistency"])


def shift_curve(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Table `curve` by language, task and condition, some models at a time."""
    yield from _by_task(frames["curve"], "condition")


def stage_differences(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """What tuning changes in Consistency, by language and task."""
    frame = frames["stages"]
    yield from _by_task(frame[frame["measure"] == "consistency"])


def _by_task(frame: pd.DataFrame, *by: str) -> Iterator[tuple[pd.DataFrame]]:
    """Parts of one language and task (and one value of further columns) that a picture has room for."""
    for _, part in frame.groupby(["language", "task", *by], sort=False):
        if "n" in part and not part["n"].any():
            continue  # no valid answers: the answer on top says so
        if "model" in part:
            for some in labels.split(part, ROWS):
                yield (some,)
        else:
            yield (part,)
