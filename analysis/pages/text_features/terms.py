"""How the text-features report names fits, predictors and counts."""

from __future__ import annotations

import pandas as pd

from analysis.pages.stability.narrative import spread
from analysis.pages.text_features.plots import title
from analysis.reporting import labels


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with `label`, what its fits are called."""
    return frame.assign(label=labels.series(frame) if len(frame) else "")


def name(term: object) -> str:
    """A predictor in the middle of a sentence."""
    return title(str(term)).lower()


def spanned(counts: pd.Series) -> str:
    """The counts of a column in words: "62", or "55 to 62"."""
    return spread(int(counts.min()), int(counts.max()))
