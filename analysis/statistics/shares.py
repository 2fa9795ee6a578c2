"""Compute 95 % intervals of shares, and of differences of two shares on the same items.

The rule of all pages is:

- A *share* (of items that flip, of valid texts, of right answers) has Wilson's score interval. It has a width for 0 of
  n and n of n, too, where resampling n equal items always gives the same share.
- A *difference of two shares* on the same items (two models, two conditions, before and after) has Newcombe's interval
  for paired shares, his method 10, made from the two Wilson intervals and the correlation over the items.
- A figure from 0 to 1 that is *made of shares* (a harmonic mean of them) has Wilson's interval, too, with the effective
  number of items that the same formula gives: by the chain rule, its influences are sums of those of its shares.
- Every other figure (a mean of agreement, a correlation, a difference of differences) has an interval of the bootstrap
  or one in closed form, or none and a reason, see `analysis.statistics.resampling`.

Wilson's n is the number of items where each item gives one answer. Where an item gives several (wordings, samples,
models that are averaged), they are not independent, and n is the *effective* number of items: that of single answers
that would vary as much as the share does. With x_i the influence of item i on the share p, that is
p (1 - p) / sum x_i^2 (Korn and Graubard). A few items that happen to be alike would make it too large, and for p = 0 or
1 it is 0 / 0. So the variance is computed with two items more, one that is all "yes" and one that is all "no" (the idea
of Agresti and Coull), and 2 is subtracted from n again. With p = 0 or 1, n is then the number of items; with one answer
per item it always is. Wordings and models are those that were asked: only the items stand for others.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions based on paired
data. Statistics in Medicine 17, 2635-2650.
Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
counts estimated from survey data. Survey Methodology 24, 193-201.
Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
binomial. Biometrika 26, 404-413.
Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation of binomial proportions.
The American Statistician 52, 119-126.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
# The answers of every item that are in the share, and all its answers: twice (items, units). Several such pairs, as of
# several models, stand for the mean of their shares: the plain one, or by weight, a third array (units,) of each pair.
Share: TypeAlias = Sequence[tuple[Array, Array] | tuple[Array, Array, Array]]

_RESIDUE = 1e-12  # a smaller sum of products is rounding, relative to what it could be


def build_shares_counting_items_once(columns: Mapping[str, Array], names: Sequence[str]) -> dict[str, list[Share]]:
    """Give the shares of items whose columns are 1: every item counts once.

    Parameters
    ----------
    columns
        Name -> array (items, units), 0 to 1.
    names
        Columns that are shares.

    Returns
    -------
    dict
        Name -> its one share.
    """
    return {name: [[(columns[name], np.ones_like(columns[name]))]] for name in names}


def build_shares_by_figure(
    columns: Mapping[str, Array], parts_by_figure: Mapping[str, Sequence[tuple[str, str]]]
) -> dict[str, list[Share]]:
    """Give the one or two shares that every figure of `resampling.compute_shares_or_differences_per_draw` is made of.

    Parameters
    ----------
    columns
        Name -> array (items, units).
    parts_by_figure
        Figure -> columns with the hits and the totals of its share, or of two.

    Returns
    -------
    dict
        Figure -> its shares.
    """
    return {
        name: [[(columns[hits], columns[totals])] for hits, totals in parts] for name, parts in parts_by_figure.items()
    }


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """Name a figure from 0 to 1 that is made of shares.

    Attributes
    ----------
    shares
        What it is made of.
    compute_figure
        From the values of these (shares, units) to the figure (units,) and its derivatives (shares, units).
    weights
        Array (shares, units), where the figure is a weighted mean of figures; None: all weigh alike.
    """

    shares: Sequence[Share]
    compute_figure: Callable[[Array], tuple[Array, Array]]
    weights: Array | None = None


# From columns (items, units) to the shares that figures are: one, or two whose difference the figure is.
Shares: TypeAlias = Callable[[Mapping[str, Array]], Mapping[str, Sequence[Share | DerivedFigure]]]


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """Hold a share with its Wilson interval, and what its difference from another one needs.

    Attributes
    ----------
    estimate, lower, upper
        (units,); NaN where there is no answer.
    influence
        How far every item moves the share away from its mean: (items, units).
    size
        What one item weighs in the share, 1 / n for n equal items: (units,).
    n
        Effective number of items: (units,).
    """

    estimate: Array
    lower: Array
    upper: Array
    influence: Array
    size: Array
    n: Array

    def select_units(self, units: npt.NDArray[np.intp]) -> ShareEstimate:
        """Select units, in the given order."""
        estimate, lower, upper = (part[units] for part in (self.estimate, self.lower, self.upper))
        return ShareEstimate(estimate, lower, upper, self.influence[:, units], self.size[units], self.n[units])


def estimate_share(share: Share | DerivedFigure, level: float) -> ShareEstimate:
    """Compute a share with its Wilson interval, see the module's docstring.

    Parameters
    ----------
    share
        Pairs (part, whole), each twice (items, units), with or without weights; or a figure made of such shares.
    level
        Coverage, such as 0.95.

    Returns
    -------
    ShareEstimate
        Of every unit.
    """
    figure = (
        share
        if isinstance(share, DerivedFigure)
        else DerivedFigure([share], lambda values: (values[0], np.ones_like(values)))
    )
    parts = [_linearize_share(component_share) for component_share in figure.shares]
    size = np.average([part.size for part in parts], axis=0, weights=figure.weights)
    estimate, slopes = figure.compute_figure(np.stack([part.share for part in parts]))
    influence = sum((slope * part.influence for slope, part in zip(slopes, parts, strict=True)), np.zeros(()))
    # The same with two items more, of this size: one all "yes", one all "no".
    middles = [(part.share + part.size) / (1 + 2 * part.size) for part in parts]
    q, slopes = figure.compute_figure(np.stack(middles))
    shifted, yes, no = (np.zeros(()) for _ in range(3))
    for slope, part, middle in zip(slopes, parts, middles, strict=True):
        scale = slope / (1 + 2 * part.size)
        shifted = shifted + scale * (part.influence - part.size / (1 + 2 * part.size) * part.pull)
        yes, no = yes + scale * part.size * (1 - middle), no + scale * part.size * middle
    n = q * (1 - q) / ((shifted**2).sum(axis=0) + yes**2 + no**2) - 2
    return ShareEstimate(estimate, *wilson(estimate, n, level), influence, size, n)


@dataclass(frozen=True, slots=True)
class _LinearizedShare:
    """Hold a share (units,), each item's influence, how this falls when the share moves towards 1/2, and the size."""

    share: Array
    influence: Array
    pull: Array
    size: Array


def _linearize_share(share: Share) -> _LinearizedShare:
    """Compute a share, and how far every item moves it."""
    p, of_items, influence, pull, sum_of_weights = (np.zeros(()) for _ in range(5))
    for part, whole, *weights in share:
        weight = weights[0] if weights else np.ones(())
        with np.errstate(divide="ignore", invalid="ignore"):
            total = whole.sum(axis=0)
            ratio, of_item = part.sum(axis=0) / total, whole / total
            p, of_items = p + weight * ratio, of_items + weight * of_item
            influence = influence + weight * (part / total - ratio * of_item)
            pull = pull + weight * (1 - 2 * ratio) * of_item
            sum_of_weights = sum_of_weights + weight
    p, of_items, influence, pull = (summed / sum_of_weights for summed in (p, of_items, influence, pull))
    return _LinearizedShare(p, influence, pull, (of_items**2).sum(axis=0))


def wilson(share: Array, n: Array, level: float) -> tuple[Array, Array]:
    """Compute Wilson's interval of a share of independent answers.

    The ends are the shares P with `|share - P| = z sqrt(P (1 - P) / n)`.

    Parameters
    ----------
    share, n
        Shares, and the numbers of answers, which need not be whole; of shapes that go together.
    level
        Coverage.

    Returns
    -------
    tuple of two arrays
        Lower and upper ends; NaN where the share is.
    """
    return compute_wilson_score_interval(share, n, NormalDist().inv_cdf((1 + level) / 2))


def compute_wilson_score_interval(share: Array, n: Array, z: npt.ArrayLike) -> tuple[Array, Array]:
    """Compute Wilson's interval for any quantile.

    Parameters
    ----------
    share, n
        As in `wilson`.
    z
        Of the normal distribution, or of t where the variance is estimated.

    Returns
    -------
    tuple of two arrays
        As of `wilson`.
    """
    z = np.asarray(z, float)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # statsmodels has no other quantile than the normal one, and no exact ends: 1e-18 would be printed as "<0.01".
    return np.where(share <= 0, 0.0, centre - half), np.where(share >= 1, 1.0, centre + half)


def clopper_pearson(share: Array, n: npt.ArrayLike, level: float) -> tuple[Array, Array]:
    """Compute the exact interval of a share of independent answers.

    Wilson's leaves out shares near 0 and 1 too often far out in the tails, where the best of many shares is looked for:
    of the highest of 60 shares of .03, from 62 answers each, it would hold .62 with Bonferroni's correction.

    Parameters
    ----------
    share, n, level
        As in `wilson`.

    Returns
    -------
    tuple of two arrays
        As of `wilson`.
    """
    from scipy.special import betainccinv, betaincinv  # statsmodels has the same, and takes 0.7 s to import

    n = np.asarray(n, float)
    hits, alpha = share * n, (1 - level) / 2
    lower, upper = betaincinv(hits, n - hits + 1, alpha), betainccinv(hits + 1, n - hits, alpha)
    return np.where(share <= 0, 0.0, lower), np.where(share >= 1, 1.0, upper)


def newcombe(a: ShareEstimate, b: ShareEstimate) -> tuple[Array, Array]:
    """Compute Newcombe's interval (method 10) of the difference of two shares of the same items.

    Each end lies sqrt(d^2 - 2 phi d e + e^2) from the difference; d and e are the distances from the shares to the ends
    of their intervals. phi, the correlation of both over the items, is lowered by a continuity correction where it is
    positive, so that two shares that are equal in every item still have an interval.

    Parameters
    ----------
    a, b
        Shares of the same units; b is subtracted.

    Returns
    -------
    tuple of two arrays (units,)
        Lower and upper ends of a - b; NaN where a share is.
    """
    cross_product = (a.influence * b.influence).sum(axis=0)
    largest = np.sqrt((a.influence**2).sum(axis=0) * (b.influence**2).sum(axis=0))
    corrected = np.where(cross_product > 0, np.maximum(cross_product - a.size * b.size / 2, 0), cross_product)
    varies = largest > _RESIDUE * a.size * b.size
    phi = np.divide(corrected, largest, out=np.zeros_like(largest), where=varies)
    difference = a.estimate - b.estimate
    below = combine_newcombe_distances(a.estimate - a.lower, b.upper - b.estimate, phi)
    above = combine_newcombe_distances(a.upper - a.estimate, b.estimate - b.lower, phi)
    return difference - below, difference + above


def combine_newcombe_distances(first: Array, second: Array, correlation: Array) -> Array:
    """Combine the distances from two figures to the ends of their intervals into that of their difference.

    Parameters
    ----------
    first, second, correlation
        Both distances, and the correlation of the figures; of one shape.

    Returns
    -------
    array
    """
    return np.asarray(np.sqrt(np.maximum(first**2 - 2 * correlation * first * second + second**2, 0)))
