"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.benchmarks.printed import matrix
from analysis.reporting.frames import Frames
from analysis.statistics.correlation import LEAST


def size_measures(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the values that stand for their tables, of the models whose size is known."""
    frame = _compared(frames)
    yield (_enough(frame[frame["lead"].astype(bool)].dropna(subset=["parameters"])),)


def accuracy_measures(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the headline measures that are compared with the accuracy on the same items."""
    frame = _compared(frames)
    yield (_enough(frame[frame["headline"].astype(bool)].dropna(subset=["accuracy"])),)


def coefficients(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Spearman part of table `benchmark_matrix`, if it has a coefficient."""
    frame = frames["benchmark_matrix"]
    if len(frame) and frame["r"].notna().any():
        yield (frame[frame["method"] == "spearman"],)


def printed(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the printed matrix, where one of its measures is among ours."""
    ours = frames["measures_by_model"]["measure"].astype(str)
    yield (matrix() if ours.str.startswith("Consistency").any() else matrix().iloc[:0],)


def scores(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Spearman part of table `score_matrix`."""
    frame = frames["score_matrix"]
    yield (frame[frame["method"] == "spearman"],)


def _compared(frames: Frames) -> pd.DataFrame:
    """Return the rows that are correlated, and those of models that do not answer; without infinite values."""
    frame = frames["measures_by_model"]
    frame = frame[frame["compared"].astype(bool)]
    return frame[frame["value"].astype(float).abs() < float("inf")]


def _enough(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out measures of fewer models than a coefficient needs."""
    return frame[frame.groupby(["page", "study", "measure"])["model"].transform("nunique") >= LEAST]
