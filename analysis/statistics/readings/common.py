"""Estimate how much of a reading's wording variance is sure to be that of another reading.

What a reading keeps of another one (`sharing`) is a covariance over a variance: it grows where the other reading shows
the same thing on a larger scale, as greedy texts do, which are 0 or 1. Then a part of a reading's variance can be its
own, and the covariance is still as large as the variance. The squared correlation has no scale. In the model of
`sharing`, r^2 is the share of A that T explains times that of B, so that none of the two is below it: the largest r^2
with a reading of other responses is a share that A has in common for sure.

Reference
---------
Lord, F. M. and Novick, M. R. (1968). Statistical Theories of Mental Test Scores, section 3.9 (a correlation is at most
the root of the product of the reliabilities).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.statistics import forms
from analysis.statistics.interval import EQUAL, Interval
from analysis.statistics.readings.moments import ItemMoments
from analysis.statistics.resampling import DRAWS, Array, Columns, bootstrap_intervals, divide_one_drawn_sum_by_another


def estimate_largest_r2_of_reading_with_others(
    moments: ItemMoments, reading: int, sources: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """Estimate the largest squared correlation of a reading with one of other responses, with an interval over items.

    Parameters
    ----------
    moments
        Of one model, or summed over several.
    reading
        Place of the reading.
    sources
        Of every reading, what it reads: another one of the same texts does not count, since both may misread them.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    Interval
        Of one unit, from 0 to 1; NaN without such a reading, or where a variance is not above 0. Another reading of
        unknown noise does not count, and takes nothing from the others.

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    is_known = ~np.isnan(moments.cross.sum(axis=2))
    others = [
        place
        for place, source in enumerate(sources)
        if source != sources[reading] and is_known[[place, reading], place].all()
    ]
    columns = {"square": moments.cross[reading, reading][:, None]}
    columns |= {f"square_{place}": moments.cross[other, other][:, None] for place, other in enumerate(others)}
    columns |= {f"cross_{place}": moments.cross[reading, other][:, None] for place, other in enumerate(others)}
    columns = {name: np.where(moments.freedom[:, None] > 0, column, np.nan) for name, column in columns.items()}
    common = bootstrap_intervals(columns, _compute_largest_r2_in_each_draw, draws=draws, seed=seed)["common"]
    # Of readings that are alike in every item, all resamples say the same; of few items, that says nothing of others.
    is_surely_equal = (common.missing == EQUAL) & (common.n_items >= forms.LEAST)
    ends = (np.where(is_surely_equal, common.estimate, end) for end in (common.lower, common.upper))
    # Net of sampling, r^2 may be above 1. Were it cut in each draw, it would seem equal in all.
    estimate, lower, upper = (np.minimum(values, 1.0) for values in (common.estimate, *ends))
    return replace(common, estimate=estimate, lower=lower, upper=upper)


def _compute_largest_r2_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the largest r^2 in every draw, also above 1; another reading without variance does not count."""
    sums = {name: counts @ column for name, column in columns.items()}
    largest = np.full_like(sums["square"], np.nan)
    for place in range(len(sums) // 2):
        square, cross = sums[f"square_{place}"], sums[f"cross_{place}"]
        scale = np.where((sums["square"] > 0) & (square > 0), sums["square"] * square, 0.0)
        largest = np.fmax(largest, divide_one_drawn_sum_by_another(np.maximum(cross, 0.0) ** 2, scale))
    return {"common": largest}
