"""Say which interval a figure gets that percentiles of draws do not suit, and how many items its interval needs.

Expanded percentiles (`analysis.statistics.resampling`) hold the true value of means, ratios, correlations, and
differences often enough from `LEAST` items on: drawn from fewer, the lowest and the highest draw are not far enough
apart. They do not suit

- *variances of scores*, which are skewed and, in draws of few items, too small: Bonett's interval, with t in place of
  the normal quantile. Variances of 30 skewed scores still covered .88, so that they have one from 60 items on;
- *SDs over items of a range or an SD*, which a few unstable items decide. Where items' SDs are lognormal (.5 or 1.0 on
  the log scale) or 5 % of the items are unstable, Bonett's interval of 62 items covered .86, .71 and .89, one of log
  SDs by the jackknife no more, and a test of their difference by draws rejected .07 to .12. With 1,000 items it covered
  .84 where SDs are lognormal (1.0). So there is neither interval nor test, whatever the number of items;
- *entropies*, which are too small in few items, and in draws of these once more: the jackknife's interval, around the
  value that it corrects, from 30 items on;
- *kurtosis*, which a few items far out decide, and which draws without these never see. No method that was tried covers
  90 % below 1,000 items where scores are skewed, so there is no interval. A test of no difference needs none.

`tests/benchmarks/bench_coverage.py` has the coverage of all of them, before and after.

References
----------
Bonett, D. G. (2006). Approximate confidence interval for standard deviation of nonnormal distributions. Computational
Statistics and Data Analysis 50, 775-782.
Zahl, S. (1977). Jackknifing an index of diversity. Ecology 58, 907-913.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from analysis.statistics.shares import Array

Ends: TypeAlias = Callable[[Array, float], tuple[Array, Array]]  # from values (items, units) and a level to both ends

LEAST = 5  # items


@dataclass(frozen=True, slots=True)
class Form:
    """Say how the interval of a figure is made.

    Attributes
    ----------
    least
        With fewer items it has none; infinite: never, and no test either.
    column, ends
        The column of values that it is computed from in closed form, and the formula. None: by draws, as are all
        differences.
    """

    least: float = LEAST
    column: str = ""
    ends: Ends | None = None


DRAWN = Form()
KURTOSIS = Form(least=1_000)
DEVIATION = Form(least=np.inf)  # of a spread over items


def build_variance_interval_form(column: str) -> Form:
    """Choose the interval of the variance of scores."""
    return Form(least=60, column=column, ends=_compute_bonett_variance_interval)


def build_entropy_interval_form(column: str, n_classes: float = np.inf) -> Form:
    """Choose the interval of the entropy, in bits, of values of which equal ones are one class.

    Parameters
    ----------
    column
        Name of the column of values (items, units).
    n_classes
        How many classes there may be, so that no entropy is above log2 of it.

    Returns
    -------
    Form
        The jackknife's interval, from 30 items on.
    """
    return Form(
        least=30, column=column, ends=partial(_compute_jackknife_entropy_interval, most=float(np.log2(n_classes)))
    )


def _compute_bonett_variance_interval(values: Array, level: float) -> tuple[Array, Array]:
    """Compute Bonett's interval: that of log variance, with its variance from the kurtosis about a trimmed mean."""
    from scipy.special import stdtrit

    n = len(values)
    n_trimmed = int(n / (2 * np.sqrt(n - 4)))
    ordered = np.sort(values, axis=0)
    squares = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = ordered[n_trimmed : n - n_trimmed].mean(axis=0)
        tails = np.where(squares > 0, n * ((values - middle) ** 4).sum(axis=0) / squares**2, 1.0)
        error = np.sqrt((tails - (n - 3) / n) / (n - 1))
        quantile = float(stdtrit(n - 1, (1 + level) / 2))
        small = n / (n - quantile)
        centre = small * squares / (n - 1)
        return centre * np.exp(-quantile * small * error), centre * np.exp(quantile * small * error)


def _compute_jackknife_entropy_interval(values: Array, level: float, most: float) -> tuple[Array, Array]:
    """Compute the jackknife's interval: items of one class have equal influence, so one of every class is left out."""
    from scipy.special import stdtrit

    n, ends = len(values), []
    half = float(stdtrit(n - 1, (1 + level) / 2))
    for column in values.T:
        sizes = np.unique(column, return_counts=True)[1].astype(float)
        without = _compute_entropy_bits((sizes - np.eye(len(sizes))) / (n - 1))
        mean = sizes @ without / n
        error = float(np.sqrt((n - 1) / n * (sizes @ (without - mean) ** 2)))
        centre = min(float(n * _compute_entropy_bits(sizes / n) - (n - 1) * mean), most)
        ends.append((max(0.0, centre - half * error), min(centre + half * error, most)))
    lower, upper = np.array(ends).T
    return lower, upper


def _compute_entropy_bits(shares: Array) -> Array:
    """Compute the entropy, in bits, of shares over their last axis."""
    return np.asarray(0.0 - (shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1))
