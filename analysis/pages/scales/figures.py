"""Pick the frames that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.drawing import panels
from analysis.reporting.words import labels

MOST_PANELS = 6  # scales or styles in one figure
MOST_ITEMS = 40  # rows of a panel of answers
MOST_MODELS = 24  # panels of answers, over all pictures of a scale
PANEL_ROWS = 60  # rows of a picture of answers, of all lines of its panels at the width of a column


def build_scales_scores_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `scales_scores`, a frame per study: models by their mean score, scales as panels."""
    yield from _sort_and_limit_rows_by_study(frames["scales_scores"], "scale", "score")


def build_scales_styles_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scales_styles` that have a difference, a frame per study: styles as panels."""
    table = frames["scales_styles"]
    if len(table):
        table = table[table["difference"].notna()].assign(
            difference_lower=table["lower"], difference_upper=table["upper"]
        )
    yield from _sort_and_limit_rows_by_study(table, "style", "difference")


def build_scales_moves_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scales_moves`, a frame per study."""
    for _, part in frames["scales_moves"].groupby("study", sort=False):
        rows = part[part["apart"].notna()]
        if len(rows):
            yield (rows.sort_values("apart", ascending=False, kind="stable").reset_index(drop=True),)


def build_scales_items_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scales_items`, a frame per picture: items of one scale with the same options.

    Models stand in the order of their mean score, as many in a picture as there is room for.
    """
    table = frames["scales_items"]
    if table.empty:
        return
    table = table.assign(silent=is_validity_below_half(table["validity"]), scale=table["scale"].fillna("").astype(str))
    table = table.assign(label=labels.build_row_labels(table))
    for _, part in table[table["score"].notna()].groupby(["study", "scale", "options"], sort=False):
        rows = part.assign(turned=np.where(part["key"] < 0, 1 - part["score"], part["score"]))
        models = list(rows.groupby("label", sort=False)["turned"].mean().sort_values(ascending=False).index)
        items = list(rows.groupby("item", sort=False)["score"].mean().sort_values(ascending=False).index)
        items_shown = labels.keep_ends_of_long_sequence(items, MOST_ITEMS)
        models_shown = labels.keep_ends_of_long_sequence(models, MOST_MODELS)
        rows = rows[rows["item"].isin(items_shown) & rows["label"].isin(models_shown)]
        rows = rows.assign(total_items=len(items), total_models=len(models))
        size = 2 * max(1, PANEL_ROWS // (len(items_shown) + 3))
        for start in range(0, len(models_shown), size):
            models_of_picture = models_shown[start : start + size]
            picture = rows[rows["label"].isin(models_of_picture)].copy()
            picture["item_row"] = picture["item"].map(items_shown.index)
            picture["panel"] = picture["label"].map(models_of_picture.index)
            yield (picture.sort_values(["panel", "item_row"], kind="stable"),)


def _sort_and_limit_rows_by_study(table: pd.DataFrame, panel: str, column: str) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of every study with labels, in the order of the models' means; of too many, first and last."""
    if table.empty:
        return
    for _, part in table[table[column].notna()].groupby("study", sort=False):
        rows = part.assign(silent=is_validity_below_half(part["validity"]))
        rows = rows.assign(label=labels.build_row_labels(rows))
        names = list(dict.fromkeys(rows[panel]))[:MOST_PANELS]
        first = rows[rows[panel] == names[0]] if column == "difference" else rows
        in_order = list(first.groupby("label", sort=False)[column].mean().sort_values(ascending=False).index)
        in_order += [label for label in dict.fromkeys(rows["label"]) if label not in in_order]
        shown = labels.keep_ends_of_long_sequence(in_order, panels.ROWS)
        rows = rows[rows["label"].isin(shown) & rows[panel].isin(names)]
        place = {label: row for row, label in enumerate(shown)}
        yield (rows.assign(row=rows["label"].map(place), total=len(in_order), panels=part[panel].nunique()),)
