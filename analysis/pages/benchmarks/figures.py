"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.benchmarks.measures import MEASURE
from analysis.pages.benchmarks.printed import read_printed_correlations
from analysis.reporting.catalogue.frames import Frames
from analysis.statistics.correlation import LEAST


def build_measures_against_size_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the values that stand for their tables, of the models whose size is known."""
    frame = _select_compared_finite_measure_values(frames)
    yield (_select_and_order_drawable_measures(frame[frame["lead"].astype(bool)], "parameters"),)


def build_measures_against_item_accuracy_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the headline measures that are compared with the accuracy on the same items."""
    frame = _select_compared_finite_measure_values(frames)
    yield (_select_and_order_drawable_measures(frame[frame["headline"].astype(bool)], "accuracy"),)


def build_pairwise_coefficients_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Spearman part of table `benchmark_matrix`, if it has a coefficient."""
    frame = frames["benchmark_matrix"]
    if len(frame) and frame["r"].notna().any():
        yield (frame[frame["method"] == "spearman"],)


def build_printed_coefficients_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the printed matrix; without rows where Consistency is not among our measures."""
    ours = frames["measures_by_model"]["measure"].astype(str)
    yield (
        read_printed_correlations()
        if ours.str.startswith("Consistency").any()
        else read_printed_correlations().iloc[:0],
    )


def build_score_coefficients_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the Spearman part of table `score_matrix`."""
    frame = frames["score_matrix"]
    yield (frame[frame["method"] == "spearman"],)


def _select_compared_finite_measure_values(frames: Frames) -> pd.DataFrame:
    """Return the rows that are correlated, and those of models that do not answer; without infinite values."""
    frame = frames["measures_by_model"]
    frame = frame[frame["compared"].astype(bool)]
    return frame[frame["value"].astype(float).abs() < float("inf")]


def _select_and_order_drawable_measures(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Select the measures that may go with a column; the first of every page, then the second of every page, and so on.

    A measure needs as many models as a coefficient, and models that differ in the column.
    """
    rows = frame.dropna(subset=[column])
    groups = rows.groupby(MEASURE)
    rows = rows[(groups["model"].transform("nunique") >= LEAST) & (groups[column].transform("nunique") > 1)]
    measures = rows[MEASURE].drop_duplicates()
    turns = measures.assign(turn=measures.groupby("page").cumcount()).sort_values("turn", kind="stable")
    return turns[MEASURE].merge(rows, on=MEASURE, how="left", validate="one_to_many")
