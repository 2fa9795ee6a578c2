"""Measure how well a check's scores part wordings that passed from decoys: ROC curve, AUC and threshold.

The AUC is the probability that a wording that passed scores higher than a decoy; ties count half. Its variance is that
of DeLong: every score's *component* is the share of scores on the other side that it beats, and the AUC is the mean of
both sides' components. Wordings and decoys of one item are alike, so where items are named, the components are first
summed over each item (Obuchowski). With one score an item this is DeLong's variance.

The interval is made on the logit scale, so that it stays within 0 and 1; where items are named, with the quantile of t
with one degree of freedom less than there are items on the side that has fewer. Where all wordings that passed are
above all decoys (or all below), or where the variance is 0, it would have no width; then it is Newcombe's score
interval (his method 5), which needs no variance of the scores at hand, with as many scores as there are items.

In 1,000 simulated studies each (`tests/benchmarks/bench_meaning_correction.py`) of 4 to 100 items, 20 to 500 decoys and
scores that are alike within an item, this covers .93 or more up to an AUC of .95, and .91 or more of one of .99 (.905
where they are not alike); DeLong's interval, which takes the scores for independent, covers .77 to .82 up to an AUC of
.95 where an item has five decoys. A check of AUC .7 has a lower end above .7 in .015 to .031 of the studies; by
DeLong's interval, in .10 to .115 where an item has five decoys.

References
----------
DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845.
Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53, 567-578.
Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2.
Statistics in Medicine 25, 559-573.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Items: TypeAlias = Sequence[Any] | npt.NDArray[Any]

ALLOWED = 0.05  # share of decoys that may pass
LEVEL = 0.95
LEAST_SCORES = 2  # on either side, for an interval; where items are named: items
_NO_VARIANCE = 1e-15  # a smaller one is rounding


@dataclass(frozen=True, slots=True)
class AucEstimate:
    """Hold an AUC with its 95 % interval.

    Attributes
    ----------
    auc
        NaN without a score on either side.
    lower, upper
        NaN where there are fewer than `LEAST_SCORES` scores (items) on a side.
    n_passed, n_decoys
        Numbers of scores.
    """

    auc: float
    lower: float
    upper: float
    n_passed: int
    n_decoys: int


def compute_auc(
    passed: npt.ArrayLike, decoys: npt.ArrayLike, passed_items: Items | None = None, decoy_items: Items | None = None
) -> AucEstimate:
    """Compute the AUC and its interval, see the module's docstring.

    Parameters
    ----------
    passed, decoys
        Scores; NaN ones are left out.
    passed_items, decoy_items
        The item of every score. None: all scores are independent of each other.

    Returns
    -------
    AucEstimate
    """
    high, low = np.asarray(passed, float), np.asarray(decoys, float)
    has_high, has_low = ~np.isnan(high), ~np.isnan(low)
    high, low = high[has_high], low[has_low]
    if not len(high) or not len(low):
        return AucEstimate(np.nan, np.nan, np.nan, len(high), len(low))
    of_high, of_low = _compute_auc_placement_values(high, low)
    auc = float(of_high.mean())
    if passed_items is None or decoy_items is None:
        high_items, low_items = np.arange(len(high)), len(high) + np.arange(len(low))
    else:
        codes = np.unique([*map(str, passed_items), *map(str, decoy_items)], return_inverse=True)[1]
        high_items, low_items = codes[: len(has_high)][has_high], codes[len(has_high) :][has_low]
    sizes = len(np.unique(high_items)), len(np.unique(low_items))
    if min(sizes) < LEAST_SCORES:
        return AucEstimate(auc, np.nan, np.nan, len(high), len(low))
    variance = _compute_auc_variance(of_high - auc, of_low - auc, high_items, low_items)
    if 0 < auc < 1 and variance > _NO_VARIANCE:
        ends = _compute_logit_interval_of_auc(auc, variance, np.inf if passed_items is None else min(sizes) - 1)
    else:
        ends = _compute_newcombe_interval_of_auc(auc, *sizes)
    return AucEstimate(auc, *ends, len(high), len(low))


def _compute_auc_placement_values(high: Array, low: Array) -> tuple[Array, Array]:
    """Compute the share of low scores below every high one, and of high scores above every low one; ties count half."""
    # Of low scores, those below a high one and those not above it: half the sum counts ties as half. scipy.stats has
    # ranks, but takes a second to import.
    of_high, of_low = (
        (np.searchsorted(np.sort(scores), part) + np.searchsorted(np.sort(scores), part, side="right"))
        / (2 * len(scores))
        for part, scores in ((high, low), (low, high))
    )
    return of_high, 1 - of_low


def _compute_auc_variance(
    of_high: Array, of_low: Array, high_items: npt.NDArray[np.intp], low_items: npt.NDArray[np.intp]
) -> float:
    """Compute Obuchowski's variance from components less the AUC, and the items that these are of."""
    size = 1 + int(max(high_items.max(), low_items.max()))
    sums = [np.bincount(items, part, size) / len(part) for part, items in ((of_high, high_items), (of_low, low_items))]
    numbers = [len(np.unique(items)) for items in (high_items, low_items)]
    n_items = len(np.union1d(high_items, low_items))
    own = sum(float(part @ part) * n / (n - 1) for part, n in zip(sums, numbers, strict=True))
    return own + 2 * float(sums[0] @ sums[1]) * n_items / (n_items - 1)


def _compute_logit_interval_of_auc(auc: float, variance: float, freedom: float) -> tuple[float, float]:
    """Compute the interval of t on the logit scale."""
    from scipy.special import expit, logit, stdtrit

    half = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance) / (auc * (1 - auc))
    return float(expit(logit(auc) - half)), float(expit(logit(auc) + half))


def _compute_newcombe_interval_of_auc(auc: float, n_high: int, n_low: int) -> tuple[float, float]:
    """Compute Newcombe's interval: the values that lie z of their own standard errors from the AUC."""
    from scipy.optimize import brentq

    more, quantile = (n_high + n_low) / 2 - 1, NormalDist().inv_cdf((1 + LEVEL) / 2)

    def compute_newcombe_root_function(value: float) -> float:
        spread = value * (1 - value) * (1 + more * ((1 - value) / (2 - value) + value / (1 + value)))
        return float((auc - value) ** 2 - quantile**2 * spread / (n_high * n_low))

    near = 1e-12
    lower = brentq(compute_newcombe_root_function, near, auc - near) if auc > 2 * near else 0.0
    upper = brentq(compute_newcombe_root_function, auc + near, 1 - near) if auc < 1 - 2 * near else 1.0
    return float(lower), float(upper)


def compute_roc(passed: npt.ArrayLike, decoys: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Compute the ROC curve: which share of either side scores at least so much.

    Parameters
    ----------
    passed, decoys
        Scores; NaN ones are left out.

    Returns
    -------
    tuple of three arrays
        Thresholds, falling, the first infinite; share of wordings that passed at or above each; share of decoys. The
        shares are NaN where there is no score. The thresholds are all different scores: those of
        `sklearn.metrics.roc_curve` with ``drop_intermediate=False``.
    """
    high, low = (np.asarray(part, float) for part in (passed, decoys))
    high, low = (np.sort(part[~np.isnan(part)]) for part in (high, low))
    thresholds = np.concatenate([[np.inf], np.unique(np.concatenate([high, low]))[::-1]])
    with np.errstate(invalid="ignore"):
        of_high, of_low = (
            (len(part) - np.searchsorted(part, thresholds)) / np.float64(len(part)) for part in (high, low)
        )
    return thresholds, of_high, of_low


def find_threshold_passing_few_decoys(decoys: npt.ArrayLike, allowed: float = ALLOWED) -> float:
    """Find the smallest number such that at most a share of the decoys scores at least so much.

    Parameters
    ----------
    decoys
        Scores, those of all kinds of decoys together; NaN ones are left out.
    allowed
        Share of decoys that may pass.

    Returns
    -------
    float
        The next number above the score of the best decoy that must not pass; NaN without decoys.

    >>> round(find_threshold_passing_few_decoys([0.1, 0.2, 0.9], allowed=0.4), 6)
    0.2
    """
    scores = np.asarray(decoys, float)
    scores = np.sort(scores[~np.isnan(scores)])[::-1]
    if not len(scores):
        return np.nan
    most = int(np.floor(allowed * len(scores) + 1e-9))
    return float(np.nextafter(scores[most], np.inf)) if most < len(scores) else -np.inf
