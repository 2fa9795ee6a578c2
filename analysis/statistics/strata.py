"""Estimate a mean with equal weight for groups of items, such as the items of a scale keyed 1 and -1, with intervals.

The mean is that over strata of each stratum's mean over its items: items count 1 / (H n_h), of H strata, n_h items in
theirs. For these wordings, items are drawn anew within strata: the variance is the sum of s_h^2 / n_h, divided by H^2,
with the degrees of freedom of Welch and Satterthwaite. Where items share their wordings, these are drawn anew, too:
their part is the variance over wordings of the mean in each, of those that every stratum has. The interaction with the
items is in both parts, and is taken out of the one with more degrees of freedom. Limits of both parts are combined as
in `reliability.panel`. Where items have wordings of their own, these are drawn with the items, and both intervals are
one.

References
----------
Cochran, W. G. (1977). Sampling Techniques, sections 5.3 and 5.4 (stratified mean, its variance and degrees of freedom).
Brennan, R. L. (2001). Generalizability Theory, chapter 3 (error of a mean over random items and wordings).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.panel import (
    Parts,
    choose_part_that_loses_interaction,
    compute_p_norm_of_squared_limits,
    compute_squared_t_quantile,
)
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.significance import ROUNDING

_STEPS = 45  # of a bisection: more would change no digit


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """Hold a mean with equal weight for strata.

    Attributes
    ----------
    mean
        NaN where a stratum has no answer.
    n_items
        Items with an answer.
    items, both
        Parts of its variance and their degrees of freedom, with items drawn anew, and with items and wordings; NaN
        where a stratum has one item, `both` also where items share wordings, but strata fewer than two of them.
    """

    mean: float
    n_items: int
    items: Parts
    both: Parts

    def compute_interval(self, anew: Literal["items", "both"], level: float = LEVEL) -> tuple[float, float]:
        """Return the ends of the interval; NaN where its width is unknown or 0.

        Parameters
        ----------
        anew
            What another study draws anew. For "both", it is never narrower than for "items".
        level
            Coverage.
        """
        ends = self._compute_interval_from_variance_parts(self.items, level)
        if anew == "items" or self.both is self.items:
            return ends
        if np.isnan(self.both).any():
            return np.nan, np.nan
        both_ends = self._compute_interval_from_variance_parts(self.both, level)
        return float(np.fmin(ends[0], both_ends[0])), float(np.fmax(ends[1], both_ends[1]))

    def _compute_interval_from_variance_parts(self, parts: Parts, level: float) -> tuple[float, float]:
        """Compute the interval with these parts of the variance."""
        variances, freedom = np.array(parts).T
        if not variances.sum() > ROUNDING**2:
            return np.nan, np.nan
        half = float(
            np.sqrt(compute_p_norm_of_squared_limits(compute_squared_t_quantile(level, freedom) * variances, freedom))
        )
        return self.mean - half, self.mean + half

    def compute_p_against(self, tested_value: float) -> float:
        """Return the least p at which the interval with items and wordings drawn anew excludes a value."""
        if np.isnan(self.compute_interval("both")[0]):
            return np.nan
        low, high = 0.0, 1.0  # the p value lies between them
        for _ in range(_STEPS):
            p = (low + high) / 2
            lower, upper = self.compute_interval("both", 1 - p)
            low, high = (p, high) if lower < tested_value < upper else (low, p)
        return high


def estimate_stratified_mean(values: Array, stratum: npt.NDArray[np.int64], *, crossed: bool) -> StratifiedMean:
    """Estimate the mean over strata of each stratum's mean over items.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none.
    stratum
        Of every item, from 0 on.
    crossed
        Whether all items share the wordings.

    Returns
    -------
    StratifiedMean
        Items without an answer are left out.
    """
    has_answer = ~np.isnan(values)
    rows = has_answer.any(axis=1)
    n_strata = int(stratum.max(initial=-1)) + 1
    values, stratum, has_answer = values[rows], stratum[rows], has_answer[rows]
    sizes = np.bincount(stratum, minlength=n_strata)
    if not n_strata or not sizes.all():
        return StratifiedMean(np.nan, int(rows.sum()), ((np.nan, np.nan),), ((np.nan, np.nan),))
    means = np.where(has_answer, values, 0.0).sum(axis=1) / has_answer.sum(axis=1)
    stratum_means = np.bincount(stratum, means) / sizes
    squares = np.bincount(stratum, (means - stratum_means[stratum]) ** 2)
    of_strata = squares / np.where(sizes > 1, sizes - 1, np.nan) / sizes / n_strata**2
    variance = float(of_strata.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = float(variance**2 / (of_strata**2 / (sizes - 1)).sum()) if variance > 0 else float(sizes.sum() - 1)
    items: Parts = ((variance, freedom),)
    both = items
    if crossed:
        in_all_strata = np.all([has_answer[stratum == part].any(axis=0) for part in range(n_strata)], axis=0)
        wording_variance, noise, wording_freedom = np.nan, np.nan, in_all_strata.sum() - 1.0
        if wording_freedom > 0:
            wording_variance, noise = _compute_wording_variance_and_interaction(
                values[:, in_all_strata], stratum, n_strata
            )
        less, more = choose_part_that_loses_interaction(freedom, wording_freedom, noise)
        both = ((max(variance - less, 0.0), freedom), (max(wording_variance - more, 0.0), wording_freedom))
    return StratifiedMean(float(stratum_means.mean()), int(rows.sum()), items, both)


def _compute_wording_variance_and_interaction(
    values: Array, stratum: npt.NDArray[np.int64], n_strata: int
) -> tuple[float, float]:
    """Return the variance of the mean that wordings make, and the part of it that is their interaction with items.

    Every stratum has an answer to every wording.
    """
    rows = ~np.isnan(values).all(axis=1)
    values, stratum = values[rows], stratum[rows]
    by_stratum = np.stack([np.nanmean(values[stratum == part], axis=0) for part in range(n_strata)])
    in_wording = by_stratum.mean(axis=0)
    n_wordings = values.shape[1]
    deviation = values - np.nanmean(values, axis=1, keepdims=True) - by_stratum[stratum]
    deviation = deviation + by_stratum.mean(axis=1)[stratum][:, None]
    sizes = np.bincount(stratum, minlength=n_strata)
    squares = np.bincount(stratum, np.nansum(deviation**2, axis=1), minlength=n_strata)
    with np.errstate(invalid="ignore", divide="ignore"):
        interaction = np.where(sizes > 1, squares / ((sizes - 1) * (n_wordings - 1)), np.nan)
    noise = float((interaction / sizes).sum()) / n_strata**2 / n_wordings
    return float(np.var(in_wording, ddof=1)) / n_wordings, noise
