"""Tell which items flip: their answers are on one side in some wordings, and on the other side in the rest."""

from __future__ import annotations

import numpy as np

from analysis.statistics.resampling import Array

FLIPS = "flips"
FLIP = 0.05  # share of an item's wordings that may be with the minority without a flip


def mark_flipped_items_of_unit(answers: Array) -> Array:
    """Tell of every item whether more than `FLIP` of its wordings are on the other side of 0.5 than the rest.

    Parameters
    ----------
    answers
        (items, wordings) from 0 to 1, NaN where there is none.

    Returns
    -------
    (items,): 1 or 0; NaN for an item with fewer than two answers.

    >>> mark_flipped_items_of_unit(np.array([[0.2, 0.9], [0.8, 0.9], [0.8, np.nan]])).tolist()
    [1.0, 0.0, nan]
    """
    numbers = (~np.isnan(answers)).sum(axis=1)
    upper = (answers >= 0.5).sum(axis=1)
    is_flip = np.minimum(upper, numbers - upper) > FLIP * numbers
    return np.where(numbers > 1, is_flip.astype(float), np.nan)
