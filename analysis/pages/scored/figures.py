"""Pick the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing import panels
from analysis.reporting.words import labels

MEASURE = ["study", "measure"]


def build_scored_means_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `scored_means`, a frame per measure: models by their means, the best first."""
    yield from _sort_and_limit_rows_by_measure(frames["scored_means"], "mean", frames)


def build_scored_passes_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scored_spread` by the measure that sentences are about, a frame per study."""
    table = frames["scored_spread"]
    yield from _sort_and_limit_rows_by_measure(table[table["headline"].astype(bool)], "passed_some", frames)


def build_scored_passes_other_measure_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scored_spread` by the other measures, a frame each."""
    table = frames["scored_spread"]
    yield from _sort_and_limit_rows_by_measure(table[~table["headline"].astype(bool)], "passed_some", frames)


def _sort_and_limit_rows_by_measure(table: pd.DataFrame, column: str, frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of every measure with labels, in order; of too many models, the first and the last."""
    if table.empty:
        return
    for _, part in table[table[column].notna()].groupby(MEASURE, sort=False):
        rows = part.assign(
            silent=is_validity_below_half(part["validity"]),
            total=len(part),
            at_most=_is_lower_score_better(part, frames),
        )
        rows = rows.assign(label=labels.build_row_labels(rows))
        rows = rows.sort_values(
            [column, "label"], ascending=["mean" in rows and rows["at_most"].iloc[0], True], kind="stable"
        )
        labels_shown = labels.keep_ends_of_long_sequence(list(rows["label"]), panels.ROWS)
        yield (rows[rows["label"].isin(labels_shown)],)


def _is_lower_score_better(rows: pd.DataFrame, frames: Frames) -> bool:
    """Tell whether lower scores are better by the measure of some rows."""
    means = frames["scored_means"].merge(rows[MEASURE].drop_duplicates(), on=MEASURE)
    return bool((means["direction"] == "lower").any())
