"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.stability.measures import headline
from analysis.reporting import labels
from analysis.reporting.frames import Frames


def agreement(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield table `distribution`, with the mark of the models that do not answer, and table `items`."""
    yield labels.mark_silent(frames["distribution"], frames["stability"]), frames["items"]


def differences(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the paired differences in the share of flips that the sentences count: between models that answer."""
    frame = frames["differences"]
    for side in ("a_", "b_"):
        frame = labels.mark_silent(frame, frames["stability"], side)
    answering = ~(frame["a_silent"] | frame["b_silent"])
    shown = frame[answering & (frame["measure"] == headline(frames["stability"]))]
    if len(shown):
        yield (shown,)


def validity(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `items`, with the mark of the models that do not answer."""
    yield (labels.mark_silent(frames["items"], frames["stability"]),)
