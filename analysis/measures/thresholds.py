"""Define the thresholds of warnings that several pages share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ground.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FEW_MODELS, FEW_ITEMS = 3, 30  # below them a page says that they are few
KEPT = 0.8  # part of the changes that wordings of the same meaning must keep, for a result to stand on them
LOW_MASS = 0.5  # below this mass, an answer is not even what the model would say most of the time


def has_mostly_invalid_answers(validity: pd.Series) -> pd.Series:
    """Tell which models do not answer: less than half of their probability, texts or samples is a valid answer.

    The rule of every page: such a model is not ranked, is named in no verdict, counts in no sentence that compares
    models, and carries `labels.SILENT` in figures. Its range, flips and SD are small because few answers are left.
    """
    return validity < LOW_MASS


def build_thresholds_by_flip_column(thresholds: Sequence[float]) -> dict[str, float]:
    """Name the flip columns: two digits of per cent, then decimals (0.05 -> flip_05, 0.125 -> flip_125)."""
    thresholds_by_name = {}
    for threshold in thresholds:
        if not 0 <= threshold < 1:
            raise InputError(f"threshold {threshold} is not a share of paraphrases: 0 <= threshold < 1, as in 0.05")
        whole, _, decimals = f"{100 * threshold:.6f}".rstrip("0").partition(".")
        thresholds_by_name[f"flip_{whole:0>2}{decimals}"] = threshold
    return thresholds_by_name
