"""Rank models by their means, and tell how the ranking would stand in another study.

The means of another study are drawn around those that were found: with their covariances over items and wordings, and
as far from each other as `replication.estimate_pair_difference_prior` says that true means are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.components import Array, estimate_covariance_of_models_over_wordings
from analysis.statistics.reliability.incidence import measure_which_items_have_which_wordings
from analysis.statistics.reliability.replication import estimate_pair_difference_prior
from analysis.statistics.resampling import LEVEL
from analysis.statistics.rounding import remove_rounding_noise

DRAWS = 10_000
_CHUNK = 2_000_000  # pairs of models in draws that are held at a time: 2 MB


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hold how several models rank by their means, the highest first.

    Attributes
    ----------
    mean, rank
        (models,); ranks from 1; equal means share the mean of their ranks.
    lower, upper
        Ends of the interval that holds a model's rank in 95 % of other studies.
    first
        Probability to be first in another study.
    tau
        Expected Kendall tau of this ranking with that of another study.
    same_order_probability
        Probability of every pair to have the same order in another study: (models, models); NaN for equal means.
    n_items, n_wordings
        Those that all models answered. Wordings as in `panel.Panel`.
    """

    mean: Array
    rank: Array
    lower: Array
    upper: Array
    first: Array
    tau: float
    same_order_probability: Array
    n_items: int
    n_wordings: float


def rank_models(values: Array, crossed: bool, *, seed: int = 0) -> Ranking | None:
    """Rank models by their answers to what all of them answered.

    The means of another study are drawn around these: jointly, with the covariances over items and, where crossed, over
    wordings, each with a t distribution. With three models or more, `estimate_pair_difference_prior` says how far true
    means differ, and the covariances are drawn towards their mean. For tau, which all models make together, the degrees
    of freedom are those of all models but one. Of one wording that all items share, means of other items in that
    wording are drawn: nothing is known of others.

    Parameters
    ----------
    values
        Answers (models, items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings.
    seed
        Of the draws.

    Returns
    -------
    Ranking or None
        None for fewer than two models or items.
    """
    has_answer: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = has_answer.any(axis=1), has_answer.any(axis=0)
    if len(values) < 2 or rows.sum() < 2:
        return None
    values, has_answer = values[:, rows][:, :, columns], has_answer[rows][:, columns]
    n_items, per_item = int(rows.sum()), has_answer.sum(axis=1)
    filled = np.where(has_answer, values, 0.0)
    of_items = filled.sum(axis=2) / per_item
    mean = of_items.mean(axis=1)
    prior = estimate_pair_difference_prior(np.where(has_answer, values, np.nan), crossed, "both")
    shrunk, more = np.ones(1), 0.0
    if prior is not None and prior.error > 0:
        shrunk, more = prior.true / (prior.true + prior.error), prior.freedom
    incidence = measure_which_items_have_which_wordings(has_answer, crossed)
    covariances = [(np.cov(of_items) / n_items, n_items - 1.0)]
    if crossed and has_answer.shape[1] > 1:
        wording_covariance = np.nan_to_num(
            estimate_covariance_of_models_over_wordings(np.where(has_answer, values, np.nan))
        )
        # The covariance over items holds what wordings do where items have different ones.
        wording_share = 1 / incidence.n_shared - incidence.unshared_variance / n_items
        covariances.append((wording_covariance * wording_share, has_answer.shape[1] - 1.0))
    return build_ranking_with_simulated_stability(
        mean, covariances, shrunk, n_items, incidence.n_wordings, prior_freedom=more, seed=seed
    )


def build_ranking_with_simulated_stability(
    means: Array, covariances: Sequence[tuple[Array, float]], true_share: npt.ArrayLike, n_items: int,
    n_wordings: float, *,
    prior_freedom: float, seed: int,
) -> Ranking:  # fmt: skip
    """Rank models by their means, and tell how the ranking would stand in another study (see `rank_models`).

    Parameters
    ----------
    means
        Of every model.
    covariances
        What moves the means in another study: covariances (models, models) with their degrees of freedom.
    true_share
        Share of the variance of the means that is true, r of `replication`; or several that are as likely.
    n_items, n_wordings
        As in `Ranking`.
    prior_freedom
        Degrees of freedom with which the covariances are drawn towards their mean.
    seed
        Of the draws.

    Returns
    -------
    Ranking
        `tau` is NaN where all means are equal.
    """
    true_share = np.resize(np.asarray(true_share, float), (DRAWS, 1))
    scale, model_freedom = np.sqrt(1 + true_share), len(means) - 1
    drawn = pooled = means.mean() + true_share * (means - means.mean())
    for number, (covariance, free) in enumerate(covariances):
        shrunk_covariance = (free * covariance + prior_freedom * _average_covariance_over_models(covariance)) / (
            free + prior_freedom
        )
        drawn = drawn + scale * _draw_from_multivariate_t(shrunk_covariance, free + prior_freedom, [seed, number])
        pooled = pooled + scale * _draw_from_multivariate_t(shrunk_covariance, free * model_freedom, [seed, number])
    # Equal means of sums in another order differ in their last digits.
    means_without_noise = remove_rounding_noise(means)
    ranks, above = _compute_ranks_in_draws(drawn), _compute_net_shares_of_wins(drawn)
    ours = np.sign(means_without_noise[:, None] - means_without_noise)
    low, high = np.quantile(ranks, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="nearest")
    upper = np.triu_indices(len(means), 1)
    is_ordered = ours[upper] != 0
    above_in_pooled = _compute_net_shares_of_wins(pooled)
    tau = float((ours * above_in_pooled)[upper][is_ordered].mean()) if is_ordered.any() else np.nan
    same_order_probability = np.where(ours != 0, (1 + ours * above) / 2, np.nan)
    model_ranks = _compute_ranks_in_draws(means_without_noise[None])[0]
    return Ranking(
        means, model_ranks, low, high, (ranks == 1).mean(axis=0), tau, same_order_probability, n_items, n_wordings
    )


def _compute_ranks_in_draws(drawn_means: Array) -> Array:
    """Rank the means of every draw (draws, models), the highest first; equal means share the mean of their ranks."""
    # Of the means 5, 5, 2, the first is above 1 model (`more`) and below none (`fewer`): rank (3 + 1 + 0 - 1) / 2 =
    # 1.5, as has the second; the third is below 2: (3 + 1 + 2 - 0) / 2 = 3.
    ranks = []
    for part in _yield_masks_of_pairwise_wins(drawn_means):
        more, fewer = (np.count_nonzero(part, axis=axis) for axis in (2, 1))
        ranks.append((drawn_means.shape[1] + 1 + fewer - more) / 2)
    return np.concatenate(ranks)


def _compute_net_shares_of_wins(drawn_means: Array) -> Array:
    """Return the share of the draws in which a model is above another, less that in which it is below, -1 to 1."""
    number = drawn_means.shape[1]
    above: npt.NDArray[np.int64] = np.zeros((number, number), np.int64)
    for part in _yield_masks_of_pairwise_wins(drawn_means):
        above += np.count_nonzero(part, axis=0)
    return np.asarray((above - above.T) / len(drawn_means))


def _yield_masks_of_pairwise_wins(drawn_means: Array) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which models are above which (draws, models, models), some draws at a time."""
    step = max(1, _CHUNK // drawn_means.shape[1] ** 2)
    for start in range(0, len(drawn_means), step):
        part = drawn_means[start : start + step]
        yield part[:, :, None] > part[:, None, :]


def _average_covariance_over_models(covariance: Array) -> Array:
    """Return the covariance (models, models) of models that are all alike, with the same mean variances."""
    size = len(covariance)
    mean_covariance = (covariance.sum() - np.trace(covariance)) / (size * (size - 1))
    return np.asarray(
        np.full((size, size), mean_covariance) + np.eye(size) * (np.trace(covariance) / size - mean_covariance)
    )


def _draw_from_multivariate_t(covariance: Array, freedom: float, seed: Sequence[int]) -> Array:
    """Draw (draws, models) from a t distribution with a covariance, less what of it is negative."""
    rng = np.random.default_rng(seed)
    scales, axes = np.linalg.eigh(covariance)
    normal = rng.standard_normal((DRAWS, len(scales))) * np.sqrt(np.maximum(scales, 0))
    return np.asarray(normal @ axes.T * np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, 1))))
