"""Foresee how far fresh wordings, and a change, move the estimated changes of items, and the power of their test.

An item counts by its change d (`analysis.check.same_answers`): with shares p of its options at both times, its variance
over K wordings at each time is

    T / (K (K - 1)) + T / K^2,    T = sum p^2 - 2 sum p^3 + (sum p^2)^2,

the trace of the squared covariance matrix of an answer: what is linear in the shares cancels out. The pilot estimates
each sum without bias, by pairs, triples and pairs of pairs of its wordings. An item that changes exchanges its options,
each for any other: with m options, its d is D = sum p^2 - (1 - sum p^2) / (m - 1). Its variance is the one above plus
2 F / K, with F the variance of what one answer moves d by: if the shares before and now do not overlap, sum p^3 -
(sum p^2)^2, and of two options, which always do, 4 v (1 - 4 v) with v = (1 - sum p^2) / 2.

d is skewed: most items hardly move, and few do by much. So the mean of d is more often low than high, and where it is
low, so is its standard error. Skewness and kurtosis are those of changes that are drawn from the pilot's shares as they
are: few wordings tell no moments that high without bias. From five wordings these ratios are most often up to a sixth
and a third too high, and up to twice where items that change have nearly even shares; that moved no power by more than
.003. The test is by t and by the binomial distribution: the power is the mean over equally likely places of the
estimate, and of its standard error there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, gammaincinv, ndtri, stdtr

from analysis.check.planning.powers import PLACES
from analysis.statistics.resampling import Array

LEAST_WORDINGS = 4  # of an item, for two pairs that share none
DRAWN = 30_000  # items, to foresee how skewed their changes are
ERROR_PLACES = 8  # at which a standard error is equally likely to turn out
LEAST_VARIANCE = 0.05  # of an estimate that is low by chance, as a part of the true one


@dataclass(frozen=True, slots=True)
class ChangeForecast:
    """Describe the estimated changes of items: mean, variance, skewness and kurtosis (3 if normal)."""

    mean: float
    variance: float
    skewness: float
    kurtosis: float


def count_item_answers_by_option(codes: Array) -> Array:
    """Count how often every option was the answer to an item, of items with at least `LEAST_WORDINGS` answers.

    Parameters
    ----------
    codes
        Numbers of options (items, wordings), NaN where there is no valid answer.

    Returns
    -------
    (items, options)
        At least two options.
    """
    options = np.unique(codes[~np.isnan(codes)])
    counts = np.zeros((len(codes), max(len(options), 2)))
    for place, option in enumerate(options):
        counts[:, place] = (codes == option).sum(axis=1)
    return counts[counts.sum(axis=1) >= LEAST_WORDINGS]


def forecast_item_changes_for_share_apart(counts: Array, differs: float, wordings: int) -> ChangeForecast:
    """Foresee the changes of items if a share of the answers is another one now.

    Parameters
    ----------
    counts
        From `count_item_answers_by_option`.
    differs
        How far the shares of answers are apart on average: below what it is if all items change.
    wordings
        Of each item, at each time.

    Returns
    -------
    ChangeForecast
    """
    sums, n_options = estimate_mean_power_sums_of_option_shares(counts), counts.shape[1]
    distance_of_one, _ = compute_mean_and_variance_of_item_changes(sums, n_options, 1.0, wordings)
    changed = differs / distance_of_one if differs else 0.0
    _, variance = compute_mean_and_variance_of_item_changes(sums, n_options, changed, wordings)
    deviations = _simulate_item_changes(counts, changed, wordings)
    deviations -= deviations.mean()
    squares = deviations * deviations
    second, third, fourth = (float(product.mean()) for product in (squares, squares * deviations, squares * squares))
    shape = (third / second**1.5, fourth / second**2) if second > 0 else (0.0, 3.0)
    return ChangeForecast(differs, max(variance, 0.0), *shape)


def _simulate_item_changes(counts: Array, changed: float, wordings: int) -> Array:
    """Draw changes of items, of which some exchange their options: the same draws at every call."""
    draw, n_options = np.random.default_rng(0), counts.shape[1]
    shares = np.tile(counts / counts.sum(axis=1, keepdims=True), (-(-DRAWN // len(counts)), 1))
    moves = np.where(draw.random(len(shares)) < changed, draw.integers(1, n_options, len(shares)), 0)
    places = (np.arange(n_options) + moves[:, None]) % n_options
    before = draw.multinomial(wordings, shares)
    now = draw.multinomial(wordings, np.take_along_axis(shares, places, axis=1))
    pairs = (now**2 + before**2).sum(axis=1) / 2 - wordings
    return np.asarray(pairs / (wordings * (wordings - 1)) - (now * before).sum(axis=1) / wordings**2)


def estimate_mean_power_sums_of_option_shares(counts: Array) -> tuple[float, float, float]:
    """Estimate sum p^2, sum p^3 and (sum p^2)^2 of the options of an item, as means over items, without bias.

    Parameters
    ----------
    counts
        From `count_item_answers_by_option`.

    Returns
    -------
    tuple of three floats
    """
    n = counts.sum(axis=1)
    pairs = counts * (counts - 1)
    triples, quadruples = pairs * (counts - 2), pairs * (counts - 2) * (counts - 3)
    two = pairs.sum(axis=1)
    two_pairs = two**2 - (pairs**2).sum(axis=1) + quadruples.sum(axis=1)
    squares = two / (n * (n - 1))
    cubes = triples.sum(axis=1) / (n * (n - 1) * (n - 2))
    return (
        float(squares.mean()), float(cubes.mean()), float((two_pairs / (n * (n - 1) * (n - 2) * (n - 3))).mean())
    )  # fmt: skip


def compute_mean_and_variance_of_item_changes(
    sums: tuple[float, float, float], n_options: int, changed: float, wordings: int
) -> tuple[float, float]:
    """Describe the estimated changes of items, of which a share changes, as the module's docstring derives.

    Parameters
    ----------
    sums
        From `estimate_mean_power_sums_of_option_shares`.
    n_options
        Of an item.
    changed
        Share of the items that change.
    wordings
        Of each item, at each time.

    Returns
    -------
    tuple of two floats
        Mean and variance over items.
    """
    squares, cubes, squared = sums
    trace = max(squares - 2 * cubes + squared, 0.0)
    noise = trace / (wordings * (wordings - 1)) + trace / wordings**2
    n_others = n_options - 1
    # D = a S - b, with S = sum p^2: its mean, and the mean of its square.
    a, b = 1 + 1 / n_others, 1 / n_others
    distance, square = a * squares - b, a**2 * squared - 2 * a * b * squares + b**2
    # Of two options 4 v (1 - 4 v), with 2 v = 1 - S.
    linear = 2 * (1 - squares) - 4 * (1 - 2 * squares + squared) if n_options == 2 else cubes - squared
    mean = changed * distance
    return mean, noise + changed * (square + 2 * max(linear, 0.0) / wordings) - mean**2


def compute_change_test_power(forecast: ChangeForecast, limit: float, n_items: int, level: float) -> float:
    """Return the probability that the test of changes tells a share from a limit, on the side on which it is.

    Parameters
    ----------
    forecast
        Of the changes; the share is 1 less their mean.
    limit
        What the share of the same answers is compared with.
    n_items
        How many items.
    level
        One-sided.

    Returns
    -------
    float
    """
    places = ndtri((np.arange(PLACES) + 0.5) / PLACES)
    of_skewness = forecast.skewness / np.sqrt(n_items)
    deviations = places + of_skewness * (places**2 - 1) / 6  # Cornish and Fisher
    # The variance in the sample goes with its mean as far as changes are skewed, and varies as far as tails are long.
    relative = (forecast.kurtosis - 1 + 2 / max(n_items - 1, 1) - forecast.skewness**2) / n_items
    shape = 1 / max(relative, 1e-9)
    spreads = gammaincinv(shape, (np.arange(ERROR_PLACES) + 0.5) / ERROR_PLACES) / shape
    spreads = np.maximum(1 + of_skewness * deviations, LEAST_VARIANCE)[:, None] * spreads
    variance = forecast.variance / n_items * spreads
    share = 1 - forecast.mean - np.sqrt(forecast.variance / n_items) * deviations[:, None]
    if 1 - forecast.mean < limit:  # that more are other ones is tested as the same from the other side
        share, limit = 1 - share, 1 - limit
    inside = share * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where((inside > 0) & (variance > 0), np.minimum(inside / variance, n_items), n_items)
        number = effective * np.clip(share, 0.0, 1.0)
        p = np.where(number > 0, betainc(number, effective - number + 1, limit), 1.0)
        of_items = stdtr(n_items - 1, (limit - share) / np.sqrt(variance))
    return float((np.where(variance > 0, np.maximum(p, of_items), p) < level).mean())
