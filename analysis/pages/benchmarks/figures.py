"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.wording.printed import matrix
from analysis.pages.wording.tables import ALL
from analysis.reporting.frames import Frames

PRINTED = "Takayama et al., Figure 8"


def size_overall(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield Overall over patterns and tasks of every model whose size is known."""
    frame = frames["measures_by_model"]
    frame = frame[(frame["measure"] == "overall") & (frame["task"] == ALL)]
    yield (frame.dropna(subset=["value", "parameters"]),)


def accuracy_consistency(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the values of Accuracy and Consistency; nothing where one of the two is missing."""
    frame = frames["measures_by_model"].dropna(subset=["value"])
    yield (frame if {"accuracy", "consistency"} <= set(frame["measure"]) else frame.iloc[:0],)


def coefficients(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Pearson part of table `benchmark_matrix`, each matrix that has a coefficient of Consistency."""
    frame = frames["benchmark_matrix"]
    for _, part in frame[frame["method"] == "pearson"].groupby(["study", "language", "task", "condition"], sort=False):
        if part.loc[part["measure_b"].str.startswith("consistency"), "r"].notna().any():
            yield (part,)


def printed(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the printed matrix."""
    yield (matrix().assign(source=PRINTED),)


def scores(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Spearman part of table `score_matrix`."""
    frame = frames["score_matrix"]
    yield (frame[frame["method"] == "spearman"],)
