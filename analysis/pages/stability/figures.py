"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.stability.measures import headline
from analysis.pages.stability.one_row import SIDES, pairs
from analysis.pages.stability.plots import MIDDLE
from analysis.reporting import labels, orders
from analysis.reporting.frames import Frames


def agreement(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield table `distribution`, with the mark of the models that do not answer, and table `items`.

    A column stands for both orders of the options where no cell would look different.
    """
    boxes = labels.mark_silent(frames["distribution"], frames["stability"])
    cells = frames["items"].merge(boxes, on=[*labels.UNIT, "item"], how="left")
    split = (cells["q25"] < MIDDLE) & (cells["q75"] > MIDDLE)  # a dot of the figure; a truth value must be the same
    shown = ["median", "agreement_mean"]
    cells = frames.joined("distribution", cells.assign(split=split), shown=shown, seen=orders.SHADE)
    yield cells.loc[cells["median"].notna(), list(boxes)], cells[list(frames["items"])]


def differences(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the paired differences in the share of flips that the sentences count: between models that answer."""
    frame = pairs(frames)
    for side in SIDES:
        frame = labels.mark_silent(frame, frames.joined("stability"), side)
    answering = ~(frame["a_silent"] | frame["b_silent"])
    shown = frame[answering & (frame["measure"] == headline(frames["stability"]))]
    if len(shown):
        yield (shown,)


def validity(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `items`, with the mark of the models that do not answer."""
    rows = labels.mark_silent(frames["items"], frames["stability"])
    yield (frames.joined("items", rows, shown=["validity_mean"], seen=orders.SHADE),)
