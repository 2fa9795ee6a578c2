"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting.frames import Frames
from analysis.reporting.thresholds import silent
from analysis.runs.folder import UNIT


def slopes(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `minimal_pairs` by study, with the column `silent`."""
    yield from _by_study(frames)


def changes(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the same parts as for the slopes."""
    yield from _by_study(frames)


def answered(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the share of valid answers of every unit over all its pairs of sentences, in the column `valid`."""
    given = accuracy.assign(given=accuracy["valid"] * accuracy["n"])
    units = given.groupby(list(UNIT), sort=False)[["given", "n"]].sum()
    return (units["given"] / units["n"]).rename("valid").reset_index()


def _by_study(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    valid = answered(frames["negation_accuracy"])
    marked = frames["minimal_pairs"].merge(valid.assign(silent=silent(valid["valid"])), on=list(UNIT))
    for _, part in marked.groupby("study", sort=False):
        yield (part,)
