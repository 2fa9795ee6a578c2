"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.pages.stability.one_row import SIDES, pool_differences_over_option_orders
from analysis.pages.stability.plots import MIDDLE
from analysis.reporting.catalogue import orders
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels


def build_agreement_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield of every study table `distribution`, with the mark of the models that are not judged, and table `items`.

    A study of which no model is judged has no map.

    A column stands for both orders of the options where no cell would look different. Studies have items of their own:
    in one map, the cells of a study's items would be empty below the models of another.
    """
    boxes = labels.add_nonanswering_unit_column(frames["distribution"], frames["stability"])
    cells = frames["items"].merge(boxes, on=[*labels.UNIT, "item"], how="left")
    split = (cells["q25"] < MIDDLE) & (cells["q75"] > MIDDLE)  # a dot of the figure; a truth value must be the same
    shown_columns = ["median", "agreement_mean"]
    cells = frames.build_table_with_joined_option_orders(
        "distribution", cells.assign(split=split), shown_columns=shown_columns, least_difference=orders.SHADE
    )
    for _, study_cells in cells.groupby("study", sort=False):
        study_boxes = study_cells.loc[study_cells["median"].notna(), list(boxes)]
        study_boxes = study_boxes.astype({"silent": bool})  # items without a box had made it a column of objects
        if not study_boxes["silent"].all():
            yield study_boxes, study_cells[list(frames["items"])]


def build_item_stability_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `item_stability` of every study that has a figure: the least stable of its items are compared."""
    for _, study_rows in frames.build_table_with_joined_option_orders("item_stability").groupby("study", sort=False):
        if study_rows["normalised_sd_mean"].notna().any():
            yield (study_rows,)


def build_stability_differences_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the paired differences in the share of flips that the sentences count: between models that answer.

    A pair without common items has no difference; where no pair has one, there is nothing to draw.
    """
    frame = pool_differences_over_option_orders(frames)
    for side in SIDES:
        frame = labels.add_nonanswering_unit_column(
            frame, frames.build_table_with_joined_option_orders("stability"), side
        )
    answering = ~(frame["a_silent"] | frame["b_silent"])
    answering_pairs = frame[answering & (frame["measure"] == choose_headline_flip_column(frames["stability"]))]
    if answering_pairs["difference"].notna().any():
        yield (answering_pairs,)


def build_validity_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `items` of every study with responses to paraphrases, with the mark of models that do not answer."""
    rows = labels.add_nonanswering_unit_column(frames["items"], frames["stability"])
    cells = frames.build_table_with_joined_option_orders(
        "items", rows, shown_columns=["validity_mean"], least_difference=orders.SHADE
    )
    for _, study_cells in cells.groupby("study", sort=False):
        if study_cells["validity_mean"].notna().any():
            yield (study_cells,)
