"""Foresee from a pilot how far a figure will be off with other numbers of items, wordings and sampled texts.

A forecast splits the variance of a figure that is a mean over I items into a part that more items do not average out,
and one that every item has: V = shared + own / I.

- *Mean*: with components s_i, s_w, s_e of item, wording and interaction and K wordings, shared = s_w / K and own =
  s_i + s_e / K; where each item has its own wordings, shared = 0 and own = s_i + s_w / K. Where an answer is the mean
  of S samples, what sampling adds (`sampling`) changes with S. A pilot with one wording of each item foresees studies
  with that wording only.
- *SD over wordings*: the same, of the jackknife's pseudo-values n T - (n - 1) T_j, where T_j leaves out answer j. Their
  mean is the item's SD without most of its bias, and their spread within an item tells how far the SD would move with
  other wordings. With fewer wordings than the pilot's, see `Deviations`.
- *Flips*: a share m of items, with variance m (1 - m) / I if items are drawn anew with wordings of their own. m depends
  on K. It follows from how items' shares of agreeing wordings are distributed, which is fitted to the pilot by maximum
  likelihood on a grid. Near 0 and 1, a few items decide: of 62 items of which 59 flip with 408 wordings, even one who
  knew the distribution exactly would foresee the error within 10 % from only half of all pilots of 45 wordings. So the
  error has bounds (`Flips.doubt`).

References
----------
Brennan, R. L. (2001). Generalizability Theory, section 1.1.2 (decision studies).
Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, section 11.5 (pseudo-values).
Laird, N. (1978). Nonparametric maximum likelihood estimation of a mixing distribution. JASA 73, 805-811.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.stats import binom

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.panel import panel
from analysis.statistics.reliability.sampling import Sampled
from analysis.statistics.resampling import LEVEL
from analysis.statistics.shares import wilson

GRID = np.linspace(0, 1, 201)  # shares of wordings that agree
SUBSETS = 50  # draws of some wordings of a pilot
STEPS = 500  # of the expectation-maximization algorithm


@dataclass(frozen=True, slots=True)
class Components:
    """Hold what the error of a mean rests on; a negative component counts as 0.

    Attributes
    ----------
    item, shared, inner
        Components of items, of wordings that all items share (else 0), and of a wording within an item.
    noise, sample
        What sampling adds to an answer of the pilot, and would add to one that is read from a single sample; 0 where
        answers are probabilities.
    least, most
        Wordings of each item that the figure needs, and that the pilot tells of.
    """

    item: float
    shared: float
    inner: float
    noise: float = 0.0
    sample: float = 0.0
    least: int = 1
    most: float = np.inf

    def parts(self, wordings: float, samples: float | None = None) -> tuple[float, float]:
        """Return the variance that items share, and that of every item; without `samples`, as many as in the pilot."""
        return max(self.shared, 0.0) / wordings, max(self.item, 0.0) + self.within(wordings, samples)

    def within(self, wordings: float, samples: float | None = None) -> float:
        """Return the part of the variance of every item that more wordings average out."""
        inner = self.inner if samples is None else max(self.inner - self.noise, 0.0) + self.sample / samples
        return inner / wordings


def of_mean(values: Array, crossed: bool, sampled: Sampled | None = None, *, least: int = 1) -> Components:
    """Foresee the error of a mean of answers, or of their `pseudo_deviations`, or of differences of either.

    Of sampled answers to one wording of each item: with other items and samples in that wording.

    Parameters
    ----------
    values
        (items, wordings), NaN where there is none.
    sampled
        From `sampling.sampled`; of a difference, of both together.
    """
    found = panel(values, crossed, sampled)
    one = np.isnan(found.wording)
    shared = found.wording if crossed and not one else 0.0
    noise, sample = (sampled.noise, sampled.sample) if sampled else (0.0, 0.0)
    return Components(found.item, shared, found.inner, noise, sample, least, 1 if one else np.inf)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Hold what the error of a mean SD over wordings of the items' own rests on.

    With few wordings an SD is on average smaller, and its spread larger than pseudo-values say. But the mean square of
    an item's SD is its variance, however many wordings there are: so the variance over items with K of the pilot's n
    wordings is that with n, plus what the square of the mean SD has lost.

    Attributes
    ----------
    many
        From the pseudo-values: the error with n wordings and more.
    means
        Mean SD with 2 ... n of the pilot's wordings.
    """

    many: Components
    means: tuple[float, ...]
    least: int = 2
    most: float = np.inf

    def parts(self, wordings: float, samples: float | None = None) -> tuple[float, float]:
        """Return the variance that items share, and that of every item."""
        n = len(self.means) + 1
        lost = self.means[-1] ** 2 - self.means[round(wordings) - 2] ** 2 if wordings < n else 0.0
        return 0.0, self.many.parts(max(wordings, n))[1] + max(lost, 0.0)


def of_sd(values: Array, crossed: bool) -> Components | Deviations:
    """Foresee the error of the mean SD over wordings, from answers (items, wordings)."""
    many = of_mean(pseudo_deviations(values), crossed, least=3)
    known = ~np.isnan(values)
    values = values[known.sum(axis=1) > 2]
    if crossed or not len(values):
        return many
    fewest = int((~np.isnan(values)).sum(axis=1).min())
    k = np.arange(2, fewest + 1)
    centred = values - np.nanmean(values, axis=1, keepdims=True)
    rng, means = np.random.default_rng(0), np.zeros(len(k))
    for _ in range(SUBSETS):
        order = np.argsort(np.where(np.isnan(values), np.inf, rng.random(values.shape)), axis=1)[:, :fewest]
        drawn = np.take_along_axis(centred, order, axis=1)
        sums, squares = np.cumsum(drawn, axis=1)[:, 1:], np.cumsum(drawn**2, axis=1)[:, 1:]
        means += np.sqrt(np.maximum(squares - sums**2 / k, 0.0) / (k - 1)).mean(axis=0) / SUBSETS
    return Deviations(many, tuple(map(float, means)))


def pseudo_deviations(values: Array) -> Array:
    """Compute the pseudo-values (items, wordings) of the SD (n - 1 below) of every item; NaN below three answers."""
    known = ~np.isnan(values)
    n = known.sum(axis=1, keepdims=True)
    n = np.where(n > 2, n, np.nan)
    with np.errstate(invalid="ignore"):
        centred = np.where(known, values - np.where(known, values, 0).sum(axis=1, keepdims=True) / n, 0.0)
        squares = (centred**2).sum(axis=1, keepdims=True)
        without = np.maximum(squares - centred**2 * n / (n - 1), 0.0)
        found = n * np.sqrt(squares / (n - 1)) - (n - 1) * np.sqrt(without / (n - 2))
    return np.where(known, found, np.nan)


@dataclass(frozen=True, slots=True)
class Flips:
    """Hold how the share of wordings that agree is distributed over items: weights on `GRID`.

    Attributes
    ----------
    threshold
        Share of the wordings that may be with the minority without a flip.
    items
        Of the pilot.
    """

    weights: Array
    threshold: float
    items: int
    least: int = 2
    most: float = np.inf

    def share(self, wordings: int) -> float:
        """Return the share of items that flip with so many wordings."""
        drawn = np.arange(wordings + 1)
        flipped = drawn[np.minimum(drawn, wordings - drawn) / wordings > self.threshold]
        return float(self.weights @ binom.pmf(flipped, wordings, GRID[:, None]).sum(axis=1))

    def parts(self, wordings: float, samples: float | None = None) -> tuple[float, float]:
        """Return the variance that items share, and that of every item."""
        share = self.share(round(wordings))
        return 0.0, share * (1 - share)

    def doubt(self, items: float, wordings: int, level: float = LEVEL) -> tuple[float, float]:
        """Return the standard errors between which the pilot's items leave it: those within Wilson's interval."""
        low, high = wilson(np.asarray(self.share(wordings)), np.asarray(float(self.items)), level)
        ends = [float(np.sqrt(end * (1 - end) / items)) for end in (low, high)]
        return min(ends), float(np.sqrt(0.25 / items)) if low <= 0.5 <= high else max(ends)


def of_flips(values: Array, threshold: float, middle: float = 0.5) -> Flips | None:
    """Foresee the error of the share of items that flip, of answers (items, wordings) to wordings of their own.

    Returns None where no item of the pilot flips, or all do: then it does not tell how far the share would move.
    """
    n = (~np.isnan(values)).sum(axis=1)
    agree = (values >= middle).sum(axis=1)[n > 1]
    n = n[n > 1]
    flipped = np.minimum(agree, n - agree) / n > threshold
    if not len(n) or flipped.all() or not flipped.any():
        return None
    pairs, times = np.unique(np.stack([n, agree]), axis=1, return_counts=True)
    chances = binom.pmf(pairs[1][:, None], pairs[0][:, None], GRID)
    weights = np.full(len(GRID), 1 / len(GRID))
    for _ in range(STEPS):
        joint = chances * weights
        weights = times @ (joint / joint.sum(axis=1, keepdims=True)) / len(n)
    return Flips(weights, threshold, len(n))


Forecast: TypeAlias = Components | Deviations | Flips


def error(forecast: Forecast, items: float, wordings: float, samples: float | None = None) -> float:
    """Return the standard error with so many items, wordings of each, and texts sampled with each."""
    shared, own = forecast.parts(wordings, samples)
    return float(np.sqrt(shared + own / items))


def largest(forecasts: Sequence[Forecast], items: int, wordings: int, samples: int | None = None) -> float:
    """Return the largest error that one of several forecasts has."""
    return max(error(each, items, wordings, samples) for each in forecasts)
