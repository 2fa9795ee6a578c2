"""Foresee from a pilot how far the mean SD over wordings will be off with other numbers of items and wordings.

The mean over I items of each item's SD over K wordings, T(K), has two parts of variance: own / I + shared.

- *Own*: how far the items' SDs differ. The mean square of an item's SD is its variance, however many wordings there
  are. So own(K) = own(n) + T(n)^2 - T(K)^2, from a pilot with n wordings. T(K) with fewer wordings than n comes from
  draws of them; with more, it grows as the mean SD of normal answers does: T(n) c(K) / c(n). own(K) is never less than
  what K wordings leave if all items had the same SD.
- *Shared*: of wordings that all items have, by the jackknife's pseudo-values n T - (n - 1) T_j, where T_j leaves out
  wording j. Their component of wordings, over n, is the variance with n; with K it is h(K) / h(n) times that, where
  h(k) = 1 - c(k)^2 is the variance of a normal sample's SD.

Over simulated studies of 62 items, normal and bounded ones with equal and different SDs, the mean of foreseen errors is
within 11 % of the actual one, from 3 own wordings or 5 shared ones (tests/benchmarks/bench_planning.py). With fewer
shared ones nothing is foreseen. Nothing is foreseen for more than twice the pilot's wordings, either, where these are
fewer than 7, or where items' SDs do not differ beyond chance: how far they differ is then not known well enough.

References
----------
Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, section 11.5 (pseudo-values).
Holtzman, W. H. (1950). The unbiased estimate of the population variance and standard deviation. American Journal of
Psychology 63, 615-617 (c).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from analysis.statistics.reliability.components import Array
from analysis.statistics.reliability.panel import estimate_panel_mean

SUBSETS = 50  # draws of some wordings of a pilot
SHARED, OWN = 5, 3  # least number of wordings of a pilot
FAR = 7  # least number of wordings that tell of more than twice as many
CHANCE = 2.0  # standard errors beyond which items' SDs differ


@dataclass(frozen=True, slots=True)
class Deviations:
    """Hold what the error of a mean SD over wordings rests on.

    Attributes
    ----------
    means
        Mean SD with 2 ... n of the pilot's wordings.
    item_variance, shared
        Variances with n wordings: of an item's SD, and of the mean SD by wordings that items share.
    least, most
        Wordings of each item that the figure needs, and that the pilot tells of.
    """

    means: tuple[float, ...]
    item_variance: float
    shared: float
    least: int = 2
    most: float = np.inf

    def predict_mean_sd(self, n_wordings: float) -> float:
        """Return the mean SD with so many wordings."""
        n = len(self.means) + 1
        if n_wordings <= n:
            return self.means[round(n_wordings) - 2]
        return self.means[-1] * compute_expected_normal_sample_sd(n_wordings) / compute_expected_normal_sample_sd(n)

    def split_shared_and_item_variance(self, n_wordings: float, n_samples: float | None = None) -> tuple[float, float]:
        """Split the variance of the mean SD.

        Parameters
        ----------
        n_wordings
            Of each item.
        n_samples
            Not used: an SD of sampled answers is foreseen with as many samples as the pilot has.

        Returns
        -------
        tuple of float
            The variance that items share, and that of every item; NaN beyond `most`.
        """
        if n_wordings > self.most:
            return np.nan, np.nan
        n, mean = len(self.means) + 1, self.predict_mean_sd(n_wordings)
        least = (self.means[-1] / compute_expected_normal_sample_sd(n)) ** 2 * (
            1 - compute_expected_normal_sample_sd(n_wordings) ** 2
        )
        item_variance = max(self.item_variance + self.means[-1] ** 2 - mean**2, least)
        return self.shared * (1 - compute_expected_normal_sample_sd(n_wordings) ** 2) / (
            1 - compute_expected_normal_sample_sd(n) ** 2
        ), item_variance


def forecast_error_of_mean_wording_sd(values: Array, crossed: bool) -> Deviations | None:
    """Foresee the error of the mean SD over wordings from a pilot.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings.

    Returns
    -------
    Deviations or None
        None where fewer than two items have `OWN` answers, or `SHARED` where they share the wordings, or where no
        answer differs.
    """
    has_answer = ~np.isnan(values)
    values = values[has_answer.sum(axis=1) >= (SHARED if crossed else OWN)]
    if len(values) < 2:
        return None
    item_sds = np.nanstd(values, axis=1, ddof=1)
    item_variance, means = float(item_sds.var(ddof=1)), _compute_mean_sds_by_n_wordings(values)
    if not means[-1] > 0:
        return None
    shared = 0.0
    if crossed:
        of_wordings = estimate_panel_mean(compute_sd_pseudo_values(values), True)
        shared = max(of_wordings.wording, 0.0) / of_wordings.incidence.n_shared
    n, doubt = len(means) + 1, float(((item_sds - item_sds.mean()) ** 2).std(ddof=1)) / np.sqrt(len(item_sds))
    differ = item_variance - (means[-1] / compute_expected_normal_sample_sd(n)) ** 2 * (
        1 - compute_expected_normal_sample_sd(n) ** 2
    )
    return Deviations(means, item_variance, shared, most=np.inf if n >= FAR and differ > CHANCE * doubt else 2 * n)


def _compute_mean_sds_by_n_wordings(values: Array) -> tuple[float, ...]:
    """Compute the mean SD with 2 ... n wordings of every item, drawn from those it has; n: the fewest of an item."""
    fewest = int((~np.isnan(values)).sum(axis=1).min())
    k = np.arange(2, fewest + 1)
    centred = values - np.nanmean(values, axis=1, keepdims=True)
    rng, means = np.random.default_rng(0), np.zeros(len(k))
    for _ in range(SUBSETS):
        order = np.argsort(np.where(np.isnan(values), np.inf, rng.random(values.shape)), axis=1)[:, :fewest]
        drawn = np.take_along_axis(centred, order, axis=1)
        # Of running sums, those of the first 2 ... n answers, as `k` has them.
        sums, squares = np.cumsum(drawn, axis=1)[:, 1:], np.cumsum(drawn**2, axis=1)[:, 1:]
        means += np.sqrt(np.maximum(squares - sums**2 / k, 0.0) / (k - 1)).mean(axis=0) / SUBSETS
    return tuple(map(float, means))


def compute_expected_normal_sample_sd(n_answers: float) -> float:
    """Return c: the mean SD (n - 1 below) of so many normal answers with an SD of 1.

    >>> round(compute_expected_normal_sample_sd(2) ** 2 * np.pi / 2, 12)
    1.0
    """
    half = n_answers / 2
    return float(np.sqrt(2 / (n_answers - 1)) * np.exp(gammaln(half) - gammaln(half - 0.5)))


def compute_sd_pseudo_values(values: Array) -> Array:
    """Compute the pseudo-values (items, wordings) of the SD (n - 1 below) of every item; NaN below three answers."""
    has_answer = ~np.isnan(values)
    n = has_answer.sum(axis=1, keepdims=True)
    n = np.where(n > 2, n, np.nan)
    with np.errstate(invalid="ignore"):
        centred = np.where(has_answer, values - np.where(has_answer, values, 0).sum(axis=1, keepdims=True) / n, 0.0)
        squares = (centred**2).sum(axis=1, keepdims=True)
        without = np.maximum(squares - centred**2 * n / (n - 1), 0.0)
        pseudo_values = n * np.sqrt(squares / (n - 1)) - (n - 1) * np.sqrt(without / (n - 2))
    return np.where(has_answer, pseudo_values, np.nan)
