"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.pages.text_features.family import Family, family
from analysis.reporting import labels
from analysis.reporting.frames import Frames
from analysis.statistics.mixed.design import INTERCEPT

ROWS = 20  # models that one forest has room for
PANELS = 16  # models that one picture of diagnostics has room for


def effects(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `mixed` without its intercepts, some models at a time; nothing where no effect is left."""
    table = frames["mixed"]
    slopes = table[table["term"] != INTERCEPT]
    if len(slopes):
        yield from _each(frames, slopes, ROWS)


def correlations(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `correlations`, one part per study."""
    for _, part in frames["correlations"].groupby("study", sort=False):
        yield (part,)


def residuals(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the residuals of the fits, some models at a time."""
    yield from _each(frames, family_of(frames).result.residuals, PANELS)


def intercepts(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the random intercepts of the fits, some models at a time."""
    yield from _each(frames, family_of(frames).result.random_effects, PANELS)


def family_of(frames: Frames) -> Family:
    """Return the fits that the tables are made of."""
    options = {
        name: frames.options[name] for name in ("engine", "scale", "predictors", "invalid") if name in frames.options
    }
    return family(frames.runs, **options)


def _each(frames: Frames, frame: pd.DataFrame, size: int) -> Iterator[tuple[pd.DataFrame]]:
    """Split rows about fits, with the models marked that do not answer."""
    for part in labels.split(labels.mark_silent(frame, frames["mixed_diagnostics"]), size):
        yield (part,)
