"""Correct a reading of texts by what people read in a sample of them.

People read m of the n texts of a wording, drawn at random. Their reading is taken for the truth. Of wording w, let x be
the share that the rule reads as the answer in all n texts, and d the mean over the m texts of what people read minus
what the rule reads. Then h = x + d is unbiased for what people would read in all texts, whatever the rule's errors are,
and however unequal over wordings: no matrix of errors has to hold everywhere. With s the variances and covariances of
single texts,

- var(noise of h) = s_xx / n + s_dd / m + 2 s_xd / n, cov(noise of x, noise of h) = s_xx / n + s_xd / n,

because the m texts are among the n. With these, the wording variances V_x and V_h and their covariance C are estimated
net of sampling (`moments`). The share of V_x that is due to the reading is 1 - C^2 / (V_x V_h), exactly, and the SD
over wordings as people read is the root of V_h.

Reference
---------
Cochran, W. G. (1977). Sampling Techniques, section 12.3 (two-phase sampling, difference estimator). Buonaccorsi, J. P.
(2010). Measurement Error, chapter 2 (misclassification).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics.interval import Interval
from analysis.statistics.readings.moments import compute_item_moments, compute_share_and_noise
from analysis.statistics.readings.sharing import LEAST_OWN
from analysis.statistics.resampling import (
    DRAWS,
    Array,
    Columns,
    bootstrap_intervals,
    compute_drawn_mean,
    divide_drawn_sums,
    draw_item_counts,
)
from analysis.statistics.significance import compute_two_sided_bootstrap_p

LEAST_TEXTS = 2  # that people read of a wording: one says nothing of how far texts of a wording differ


@dataclass(frozen=True, slots=True)
class CorrectedReading:
    """Hold a reading and its correction.

    Attributes
    ----------
    figures
        mean, corrected_mean, wording_sd, corrected_sd, own: an interval of one unit each.
    p
        That more than `sharing.LEAST_OWN` of the wording variance is due to the reading.
    n_wordings, n_texts
        Wordings with `LEAST_TEXTS` or more that people read, in items with two such wordings; and texts.
    """

    figures: dict[str, Interval]
    p: float
    n_wordings: int
    n_texts: int


def compute_misreading_rates(read: Array, people: Array, has_people: np.ndarray) -> dict[str, float]:
    """Count how the reading of single texts differs from that of people.

    Parameters
    ----------
    read, people
        Of any one shape: 1 where a text is read as the answer, 0 as another one, NaN as none; probabilities are counted
        by their side of one half.
    has_people
        Whether people read the text.

    Returns
    -------
    dict
        n; same: share of texts that both read alike; kappa: Cohen's, over answer, another one, none; missed: of texts
        that people read as the answer, the share that is read as another; invented: of those that they read as another,
        the share that is read as the answer; unread: of those with an answer to people, the share read as none;
        overread: of those without one to people, the share read as some.

    >>> read, people = np.array([1, 1, 0, np.nan]), np.array([1.0, 0, 0, 1])
    >>> rates = compute_misreading_rates(read, people, np.ones(4, bool))
    >>> [round(rates[name], 2) for name in ("same", "missed", "invented", "unread")]
    [0.5, 0.0, 0.5, 0.25]
    """
    codes = [np.where(np.isnan(part), 2, (part < 0.5).astype(int))[has_people] for part in (read, people)]
    table = np.zeros((3, 3))
    np.add.at(table, (codes[1], codes[0]), 1)  # rows: people; columns: the reading
    n = table.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = table / n
        by_chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
        same = float(np.trace(shares))
        return {
            "n": float(n), "same": same,
            "kappa": float(np.float64(same - by_chance) / (1 - by_chance)),
            "missed": float(table[0, 1] / table[0, :2].sum()), "invented": float(table[1, 0] / table[1, :2].sum()),
            "unread": float(table[:2, 2].sum() / table[:2].sum()),
            "overread": float(table[2, :2].sum() / table[2].sum()),
        }  # fmt: skip


def correct_reading(
    numerators: Array, denominators: Array, people: Array, has_people: np.ndarray, *, draws: int = DRAWS, seed: int = 0
) -> CorrectedReading:
    """Correct a reading of texts for its errors, with intervals over items.

    Parameters
    ----------
    numerators, denominators
        (items, wordings, texts), as in `moments.compute_share_and_noise`.
    people
        (items, wordings, texts): 1 where people read the answer, 0 another one, NaN none.
    has_people
        (items, wordings, texts): whether people read the text.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    CorrectedReading
    """
    shape = numerators.shape[:2]
    flat = [part.reshape(-1, part.shape[2]) for part in (numerators, denominators, people, has_people)]
    values, noise = correct_wordings(*flat)
    values = values.reshape(2, *shape)
    moments = compute_item_moments(values, noise.reshape(2, 2, *shape))
    is_used = (~np.isnan(values).any(axis=0)) & (moments.freedom > 0)[:, None]
    with_wordings = moments.freedom > 0
    columns = {
        name: np.where(with_wordings, part, np.nan)[:, None]
        for name, part in {
            "freedom": moments.freedom, "variance": moments.cross[0, 0], "cross": moments.cross[0, 1],
            "people": moments.cross[1, 1], "mean": moments.mean[0], "corrected": moments.mean[1],
        }.items()
    }  # fmt: skip
    figures = bootstrap_intervals(columns, _compute_corrected_figures, draws=draws, seed=seed)
    _remove_jackknife_bias(figures["own"], {name: column[with_wordings] for name, column in columns.items()})
    p = _test_corrected_share({name: column[with_wordings] for name, column in columns.items()}, draws, seed)
    return CorrectedReading(figures, p, int(is_used.sum()), int((has_people & is_used[:, :, None]).sum()))


def correct_wordings(
    numerators: Array, denominators: Array, people: Array, has_people: np.ndarray
) -> tuple[Array, Array]:
    """Compute x and h of every wording, and what sampling adds to them (see the module's docstring).

    Parameters
    ----------
    numerators, denominators, people, has_people
        As in `correct_reading`, one row per wording.

    Returns
    -------
    tuple of arrays
        (2, wordings): x and h, NaN where fewer than `LEAST_TEXTS` texts have people's reading; and (2, 2, wordings).
    """
    share, influence = compute_share_and_noise(numerators, denominators)
    share_there, influence_there = compute_share_and_noise(numerators, np.where(has_people, denominators, 0.0))
    is_valid = has_people & ~np.isnan(people)
    people_share, people_influence = compute_share_and_noise(np.nan_to_num(people), is_valid.astype(float))
    n, m = (~np.isnan(influence)).sum(axis=1).astype(float), has_people.sum(axis=1).astype(float)
    rule, difference = _scale_influence(influence_there, has_people), _scale_influence(people_influence, has_people)
    difference = difference - rule
    all_n = np.maximum((~np.isnan(denominators)).sum(axis=1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_rule = (np.nan_to_num(influence) ** 2).sum(axis=1) / (n - 1) / n
        of_difference = (difference**2).sum(axis=1) / (m - 1) / m
        between = (difference * rule).sum(axis=1) / (m - 1) / all_n
    corrected = share + people_share - share_there
    values = np.where(m >= LEAST_TEXTS, np.stack([share, corrected]), np.nan)
    values = np.where(np.isnan(values).any(axis=0), np.nan, values)
    noise = np.stack([
        np.stack([of_rule, of_rule + between]), np.stack([of_rule + between, of_rule + of_difference + 2 * between])
    ])  # fmt: skip
    return values, noise


def _scale_influence(influence: Array, has_people: np.ndarray) -> Array:
    """Return the influence of the texts that people read on a mean over those with an answer; 0 of one without."""
    has_answer = ~np.isnan(influence)
    n, m = has_answer.sum(axis=1, keepdims=True), has_people.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.where(has_answer, influence, 0.0) * (m / n))


def _compute_corrected_figures(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the figures of `CorrectedReading` in every draw."""
    freedom = counts @ columns["freedom"]
    variance, cross, people = (
        divide_drawn_sums(counts @ columns[name], freedom) for name in ("variance", "cross", "people")
    )
    scale = np.where((variance > 0) & (people > 0), variance * people, 0.0)
    return {
        "mean": compute_drawn_mean(counts, columns["mean"]),
        "corrected_mean": compute_drawn_mean(counts, columns["corrected"]),
        "wording_sd": np.sqrt(np.maximum(variance, 0)), "corrected_sd": np.sqrt(np.maximum(people, 0)),
        "own": 1 - divide_drawn_sums(cross**2, scale),
    }  # fmt: skip


def _remove_jackknife_bias(own: Interval, columns: Columns) -> None:
    """Move the share by the bias that leaving out each item shows: a square of a noisy covariance is too large.

    The bias is (n - 1) (mean of the estimates without one item - estimate): Quenouille, M. H. (1956). Notes on bias in
    estimation. Biometrika 43, 353-360.
    """
    n_items = len(columns["freedom"])
    if n_items < 2 or np.isnan(own.estimate[0]):
        return
    without_one = _compute_corrected_figures(columns, np.ones((n_items, n_items)) - np.eye(n_items))["own"]
    bias = (n_items - 1) * (float(without_one.mean()) - own.estimate[0])
    if not np.isnan(bias):
        for part in (own.estimate, own.lower, own.upper):
            part -= bias


def _test_corrected_share(columns: Columns, draws: int, seed: int) -> float:
    """Test that more than `LEAST_OWN` of the variance is due to the reading; 1 where the estimate is not above it."""
    n_items = len(columns["freedom"])
    if draws == 0 or n_items < 2 or np.isnan(columns["people"]).any():
        return np.nan

    def compute_excess(counts: Array) -> Array:
        """Compute what the product of variances has beyond the square of the covariance."""
        sums = {name: counts @ column for name, column in columns.items()}
        return (1 - LEAST_OWN) * sums["variance"] * sums["people"] - sums["cross"] ** 2

    excess = np.concatenate([compute_excess(counts) for counts in draw_item_counts(n_items, draws, seed)])
    p = float(compute_two_sided_bootstrap_p(excess, n_items)[0])
    return p if compute_excess(np.ones((1, n_items)))[0, 0] > 0 else 1.0
