"""Sum up several readings of the same wordings per item, net of what sampling adds to them.

A reading turns what a model did with a wording into a number: the probability of an answer, or the share of texts that
a rule reads as it. Reading A of wording w is mu_A(w) + noise, where the noise comes from sampling texts or thoughts.
Its variance is known from the samples of one wording. So are, of two readings of the same texts, the covariances: what
the texts happen to say moves both. Within an item of K wordings, the sum of cross products of two readings has the
expected value (K - 1) (cov(mu_A, mu_B) + mean noise covariance); the latter is subtracted here. What is left is linear
in items, so that a bootstrap over items only weighs it (`analysis.statistics.resampling`).

Reference
---------
Cronbach, L. J., Gleser, G. C., Nanda, H. and Rajaratnam, N. (1972). The Dependability of Behavioral Measurements (cross
products within items; several measurements of the same objects).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.resampling import Array
from analysis.statistics.significance import ROUNDING

SIDE = 0.5  # from here on, a number is on the side of the answer; a tie counts as on it, as on the other pages


@dataclass(frozen=True, slots=True)
class ItemMoments:
    """Hold what the items say about R readings; only wordings that all readings answered count.

    Attributes
    ----------
    cross
        (R, R, items): sums of cross products of two readings within an item, net of sampling; NaN where it is not known
        what sampling adds.
    freedom
        (items,): wordings minus one, which `cross` is divided by.
    n_wordings
        (items,): wordings that count.
    mean, mean_error
        (R, items): mean over the wordings, and the variance that these wordings and their samples give it.
    minority
        (R, items): share of the wordings on the item's smaller side of `SIDE`; NaN below two wordings.
    upper, same_upper
        (R, items) and (R, R, items): wordings that a reading, or that two of them, put on the side of the answer.
    """

    cross: Array
    freedom: Array
    n_wordings: Array
    mean: Array
    mean_error: Array
    minority: Array
    upper: Array
    same_upper: Array

    def build_sum_with_other_model(self, moments: ItemMoments) -> ItemMoments:
        """Add the sums of another model with the same readings and items; its means and `minority` are left out."""
        return ItemMoments(
            self.cross + moments.cross, self.freedom + moments.freedom, self.n_wordings + moments.n_wordings,
            self.mean, self.mean_error, self.minority, self.upper + moments.upper,
            self.same_upper + moments.same_upper,
        )  # fmt: skip


def mark_wordings_common_to_readings(values: Array) -> np.ndarray:
    """Tell of every wording (items, wordings) whether all readings (R, items, wordings) have a number for it."""
    return np.asarray(~np.isnan(values).any(axis=0))


def compute_moment_sums_by_item(values: Array, noise: Array) -> ItemMoments:
    """Compute the sums of every item.

    Parameters
    ----------
    values
        (R, items, wordings): numbers from 0 to 1; NaN where there is none.
    noise
        (R, R, items, wordings): covariances of what sampling adds to two readings, the variances on the diagonal. 0
        where nothing was sampled, or the samples are others; NaN where it is unknown.

    Returns
    -------
    ItemMoments

    >>> moments = compute_moment_sums_by_item(np.array([[[0.2, 0.6]], [[0.1, 0.3]]]), np.zeros((2, 2, 1, 2)))
    >>> moments.cross[:, :, 0].round(3).tolist(), moments.freedom.tolist()
    ([[0.08, 0.04], [0.04, 0.02]], [1.0])
    """
    is_common = mark_wordings_common_to_readings(values)
    n_wordings = is_common.sum(axis=1).astype(float)
    weights = is_common / np.maximum(n_wordings, 1)[:, None]
    filled = np.where(is_common, values, 0.0)
    mean = (filled * weights).sum(axis=2)
    centred = np.where(is_common, filled - mean[:, :, None], 0.0)
    centred[np.abs(centred) <= ROUNDING] = 0.0  # else shares of a variance that is rounding would be told
    freedom = np.maximum(n_wordings - 1, 0)
    cross = np.einsum("aik,bik->abi", centred, centred) - freedom * _average_noise_covariances_over_wordings(
        noise, is_common
    )
    cross = np.where(freedom > 0, cross, 0.0)
    squares = (centred**2).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_error = np.where(freedom > 0, squares / (freedom * n_wordings), np.nan)
        is_upper = ((filled >= SIDE) & is_common).astype(float)
        share = is_upper.sum(axis=2) / n_wordings
    return ItemMoments(
        cross, freedom, n_wordings, np.where(n_wordings > 0, mean, np.nan), mean_error,
        np.where(freedom > 0, np.minimum(share, 1 - share), np.nan), is_upper.sum(axis=2),
        np.einsum("aik,bik->abi", is_upper, is_upper),
    )  # fmt: skip


def _average_noise_covariances_over_wordings(noise: Array, is_common: np.ndarray) -> Array:
    """Average the covariances over an item's wordings; over all items where the item has no known one."""
    is_known = ~np.isnan(noise) & is_common
    total, n = np.where(is_known, noise, 0.0).sum(axis=3), is_known.sum(axis=3)
    with np.errstate(invalid="ignore"):
        overall = total.sum(axis=2) / n.sum(axis=2)
    # One text tells nothing of its own noise: where only a few wordings have one, the others stand for them.
    return np.where(n > 0, total / np.maximum(n, 1), overall[:, :, None])


def average_samples_and_compute_influences(numerators: Array, denominators: Array) -> tuple[Array, Array]:
    """Turn samples into a share per wording, and say how far each sample is from it.

    Parameters
    ----------
    numerators, denominators
        (wordings, samples): of a text that is read as an answer 1 or 0, and 1; of a text that a judge read, or of a
        thought, the probability of the answer, and that of all. A denominator of 0 or NaN is a sample without an
        answer.

    Returns
    -------
    tuple of arrays
        The share (wordings,), NaN without any answer; and (wordings, samples) the influence of every sample on it: its
        deviation, in units of the share. NaN for a sample without an answer.

    >>> n_answers = np.array([[1.0, 1.0, 1.0, 0.0]])
    >>> share, influence = average_samples_and_compute_influences(np.array([[1.0, 0.0, 1.0, 0.0]]), n_answers)
    >>> share.round(3).tolist(), influence.round(3).tolist()
    ([0.667], [[0.333, -0.667, 0.333, nan]])
    """
    has_answer = denominators > 0
    upper, lower = np.where(has_answer, numerators, 0.0), np.where(has_answer, denominators, 0.0)
    n = has_answer.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = upper.sum(axis=1) / np.where(n[:, 0] > 0, lower.sum(axis=1), np.nan)
        influence = (upper - share[:, None] * lower) * n / lower.sum(axis=1, keepdims=True)
    return share, np.where(has_answer, influence, np.nan)


def compute_noise_covariance(influence_a: Array, influence_b: Array) -> Array:
    """Compute the covariance of what the same samples add to two readings of them; of one with itself, its variance.

    With n_A and n_B samples that have an answer, and m that have both, it is the covariance of these m (m - 1 in the
    denominator), times m / (n_A n_B): only common samples move both. For one reading of texts that give an answer in a
    share p, it is p (1 - p) / (n - 1). A single common sample has no covariance, but moves its wording most: it takes
    that of single samples of the other wordings of its item, else of all items, so that a rule that few texts satisfy
    does not seem to vary by itself.

    Parameters
    ----------
    influence_a, influence_b
        (items, wordings, samples), from `average_samples_and_compute_influences`; or (wordings, samples), as of
        one item.

    Returns
    -------
    array (items, wordings) or (wordings,)
        NaN without a common sample, or where no wording has two; 0 where no sample is common but both have some.

    >>> influence = np.array([[0.5, -0.5, 0.5, -0.5], [0.0, np.nan, np.nan, np.nan]])
    >>> compute_noise_covariance(influence, influence).round(4).tolist() == [round(0.25 / 3, 4), round(1 / 3, 4)]
    True
    """
    has_a, has_b = ~np.isnan(influence_a), ~np.isnan(influence_b)
    has_samples = has_a & has_b
    n_a, n_b, n = (mask.sum(axis=-1).astype(float) for mask in (has_a, has_b, has_samples))
    a, b = np.where(has_samples, influence_a, 0.0), np.where(has_samples, influence_b, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        products = np.where(n > 1, (a * b).sum(axis=-1) - a.sum(axis=-1) * b.sum(axis=-1) / n, 0.0)
        freedom = np.maximum(n - 1, 0)
        of_item = products.sum(axis=-1, keepdims=True) / freedom.sum(axis=-1, keepdims=True)
        of_others = np.where(np.isnan(of_item), products.sum() / freedom.sum(), of_item)
        covariance = np.where(n > 1, products / freedom, of_others) * n / (n_a * n_b)
    return np.where(n > 0, covariance, np.where((n_a > 0) & (n_b > 0), 0.0, np.nan))
