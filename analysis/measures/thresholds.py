"""Define the thresholds of warnings that several pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FEW_MODELS, FEW_ITEMS = 3, 30  # below them a page says that they are few
LOW_MASS = 0.5  # below this mass, an answer is not even what the model would say most of the time


def is_silent(validity: pd.Series) -> pd.Series:
    """Tell which models do not answer: less than half of their probability, texts or samples is a valid answer.

    The rule of every page: such a model is not ranked, is named in no verdict, counts in no sentence that compares
    models, and carries `labels.SILENT` in figures. Its range, flips and SD are small because few answers are left.
    """
    return validity < LOW_MASS
