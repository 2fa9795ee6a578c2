"""Correct a reading of texts by what people read in a sample of them.

People read m of the n texts of a wording, drawn at random. Their reading is taken for the truth. Of wording w, let x be
the share that the rule reads as the answer in all n texts, and d the mean over the m texts of what people read minus
what the rule reads. Then h = x + d is unbiased for what people would read in all texts, whatever the rule's errors are,
and however unequal over wordings: no matrix of errors has to hold everywhere. With s the variances and covariances of
single texts,

- var(noise of h) = s_xx / n + s_dd / m + 2 s_xd / n, cov(noise of x, noise of h) = s_xx / n + s_xd / n,

because the m texts are among the n. Texts without an answer, to the rule or to people, are in no mean: then d is a
difference of means of partly other texts, and every covariance is that of single texts by how many two means share
(`moments.compute_noise_covariance`). With these, the wording variances V_x and V_h and their covariance C are estimated
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
from scipy.special import chdtrc

from analysis.statistics.interval import Interval
from analysis.statistics.readings.moments import (
    average_samples_and_compute_influences,
    compute_moment_sums_by_item,
    compute_noise_covariance,
)
from analysis.statistics.readings.sharing import LEAST_OWN
from analysis.statistics.resampling import (
    DRAWS,
    Array,
    Columns,
    bootstrap_intervals,
    compute_mean_per_draw,
    divide_one_drawn_sum_by_another,
    iterate_drawn_item_counts,
)
from analysis.statistics.significance import compute_two_sided_bootstrap_p

LEAST_P = 0.001  # that a sheet is drawn at random
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


def compute_agreement_and_errors_against_people(
    read: Array, people: Array, has_people: np.ndarray, is_text: np.ndarray
) -> dict[str, float]:
    """Estimate how the reading of single texts differs from that of people.

    A sheet may hold more texts that are read as a rare answer than the run has (`waver judge --sheet` draws so). So the
    texts read alike count as many as there are in the run: post-stratification, Cochran (1977), section 5A.9.

    Parameters
    ----------
    read, people
        Of any one shape: 1 where a text is read as the answer, 0 as another one, NaN as none; probabilities are counted
        by their side of one half.
    has_people, is_text
        Whether people read the text; and whether there is one.

    Returns
    -------
    dict
        n: texts that people read; same: share of texts that both read alike; kappa: Cohen's, over answer, another one,
        none; missed: of texts that people read as the answer, the share that is read as another; invented: of those
        that they read as another, the share that is read as the answer; unread: of those with an answer to people, the
        share read as none; overread: of those without one to people, the share read as some.

    >>> read, people = np.array([1, 1, 0, np.nan]), np.array([1.0, 0, 0, 1])
    >>> rates = compute_agreement_and_errors_against_people(read, people, *np.ones((2, 4), bool))
    >>> [round(rates[name], 2) for name in ("same", "missed", "invented", "unread")]
    [0.5, 0.0, 0.5, 0.25]
    """
    of_read, of_people = (np.where(np.isnan(part), 2, (part < 0.5).astype(int)) for part in (read, people))
    table = np.zeros((3, 3))
    np.add.at(table, (of_people[has_people], of_read[has_people]), 1)  # rows: people; columns: the reading
    n = table.sum()
    in_sheet, in_all = table.sum(axis=0), np.bincount(of_read[is_text], minlength=3)
    table = table * np.divide(in_all, in_sheet, out=np.zeros(3), where=in_sheet > 0)
    table = table * (n / table.sum()) if n else table
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = table / n
        by_chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
        same = float(np.trace(shares))
        return {
            "n": float(n), "same": same if n else np.nan,
            "kappa": float(np.float64(same - by_chance) / (1 - by_chance)),
            "missed": float(table[0, 1] / table[0, :2].sum()), "invented": float(table[1, 0] / table[1, :2].sum()),
            "unread": float(table[:2, 2].sum() / table[:2].sum()),
            "overread": float(table[2, :2].sum() / table[2].sum()),
        }  # fmt: skip


def are_read_texts_a_random_sample(read: Array, has_people: np.ndarray, is_text: np.ndarray) -> bool:
    """Tell whether the texts that people read are read as the answer, another one and none as often as all texts are.

    Parameters
    ----------
    read, has_people, is_text
        As in `compute_agreement_and_errors_against_people`.

    Returns
    -------
    bool
        False where a chi-square test finds a difference with p below .001: then a sheet was drawn by what texts were
        read as, and the mean over its texts of a wording is not that of all.
    """
    codes = np.where(np.isnan(read), 2, (read < 0.5).astype(int))
    counts = np.stack([np.bincount(codes[part], minlength=3) for part in (has_people, is_text & ~has_people)])
    counts = counts[:, counts.sum(axis=0) > 0].astype(float)
    if counts.shape[1] < 2 or (counts.sum(axis=1) == 0).any():
        return True
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    return bool(chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()) >= LEAST_P)


def correct_reading_by_people(
    numerators: Array, denominators: Array, people: Array, has_people: np.ndarray, *, draws: int = DRAWS, seed: int = 0
) -> CorrectedReading:
    """Correct a reading of texts for its errors, with intervals over items.

    Parameters
    ----------
    numerators, denominators
        (items, wordings, texts), as in `moments.average_samples_and_compute_influences`.
    people
        (items, wordings, texts): 1 where people read the answer, 0 another one, NaN none.
    has_people
        (items, wordings, texts): whether people read the text.
    draws, seed
        As in `resampling.bootstrap_intervals`.

    Returns
    -------
    CorrectedReading

    Raises
    ------
    InputError
        As `resampling.bootstrap_intervals`.
    """
    values, noise = correct_answer_shares_by_people(numerators, denominators, people, has_people)
    moments = compute_moment_sums_by_item(values, noise)
    is_used = (~np.isnan(values).any(axis=0)) & (moments.freedom > 0)[:, None]
    with_wordings = moments.freedom > 0
    columns = {
        name: np.where(with_wordings, part, np.nan)[:, None]
        for name, part in {
            "freedom": moments.freedom, "variance": moments.cross[0, 0], "cross": moments.cross[0, 1],
            "people": moments.cross[1, 1], "mean": moments.mean[0], "corrected": moments.mean[1],
        }.items()
    }  # fmt: skip
    figures = bootstrap_intervals(columns, _compute_raw_and_corrected_figures_per_draw, draws=draws, seed=seed)
    _shift_interval_in_place_by_jackknife_bias(
        figures["own"], {name: column[with_wordings] for name, column in columns.items()}
    )
    p = _test_variance_share_due_to_reading(
        {name: column[with_wordings] for name, column in columns.items()}, draws, seed
    )
    return CorrectedReading(figures, p, int(is_used.sum()), int((has_people & is_used[:, :, None]).sum()))


def correct_answer_shares_by_people(
    numerators: Array, denominators: Array, people: Array, has_people: np.ndarray
) -> tuple[Array, Array]:
    """Compute x and h of every wording, and what sampling adds to them (see the module's docstring).

    Parameters
    ----------
    numerators, denominators, people, has_people
        As in `correct_reading_by_people`.

    Returns
    -------
    tuple of arrays
        (2, items, wordings): x and h, NaN where fewer than `LEAST_TEXTS` texts have people's reading, or one of both
        reads no answer in them; and (2, 2, items, wordings).
    """
    by_text = numerators.shape
    there = np.where(has_people, denominators, 0.0)
    is_valid = has_people & ~np.isnan(people)
    pairs = ((numerators, denominators), (numerators, there), (np.nan_to_num(people), is_valid.astype(float)))
    (share, of_all), (share_there, of_there), (people_share, of_people) = (
        [part.reshape(*by_text[:2], *part.shape[1:]) for part in average_samples_and_compute_influences(*flat)]
        for flat in ([part.reshape(-1, by_text[2]) for part in pair] for pair in pairs)
    )
    rule = compute_noise_covariance(of_all, of_all)
    between = compute_noise_covariance(of_all, of_people)
    # Of x + people's mean - the rule's mean in the same texts; the texts that people read are among all.
    corrected_noise = (
        compute_noise_covariance(of_people, of_people) + compute_noise_covariance(of_there, of_there) - rule
        + 2 * (between - compute_noise_covariance(of_people, of_there))
    )  # fmt: skip
    corrected = share + people_share - share_there
    values = np.where(has_people.sum(axis=2) >= LEAST_TEXTS, np.stack([share, corrected]), np.nan)
    values = np.where(np.isnan(values).any(axis=0), np.nan, values)
    return values, np.stack([np.stack([rule, between]), np.stack([between, corrected_noise])])


def _compute_raw_and_corrected_figures_per_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the figures of `CorrectedReading` in every draw."""
    freedom = counts @ columns["freedom"]
    variance, cross, people = (
        divide_one_drawn_sum_by_another(counts @ columns[name], freedom) for name in ("variance", "cross", "people")
    )
    scale = np.where((variance > 0) & (people > 0), variance * people, 0.0)
    return {
        "mean": compute_mean_per_draw(counts, columns["mean"]),
        "corrected_mean": compute_mean_per_draw(counts, columns["corrected"]),
        "wording_sd": np.sqrt(np.maximum(variance, 0)), "corrected_sd": np.sqrt(np.maximum(people, 0)),
        "own": 1 - divide_one_drawn_sum_by_another(cross**2, scale),
    }  # fmt: skip


def _shift_interval_in_place_by_jackknife_bias(own: Interval, columns: Columns) -> None:
    """Move the share by the bias that leaving out each item shows: a square of a noisy covariance is too large.

    The bias is (n - 1) (mean of the estimates without one item - estimate): Quenouille, M. H. (1956). Notes on bias in
    estimation. Biometrika 43, 353-360.
    """
    n_items = len(columns["freedom"])
    if n_items < 2 or np.isnan(own.estimate[0]):
        return
    leaving_one_out = np.ones((n_items, n_items)) - np.eye(n_items)
    without_one = _compute_raw_and_corrected_figures_per_draw(columns, leaving_one_out)["own"]
    bias = (n_items - 1) * (float(without_one.mean()) - own.estimate[0])
    if not np.isnan(bias):
        for part in (own.estimate, own.lower, own.upper):
            part -= bias


def _test_variance_share_due_to_reading(columns: Columns, draws: int, seed: int) -> float:
    """Test that more than `LEAST_OWN` of the variance is due to the reading; 1 where the estimate is not above it."""
    n_items = len(columns["freedom"])
    if draws == 0 or n_items < 2 or np.isnan(columns["people"]).any():
        return np.nan

    def subtract_squared_covariance_from_variance_product(counts: Array) -> Array:
        """Compute what the product of variances has beyond the square of the covariance."""
        sums = {name: counts @ column for name, column in columns.items()}
        return (1 - LEAST_OWN) * sums["variance"] * sums["people"] - sums["cross"] ** 2

    excess = np.concatenate(
        [
            subtract_squared_covariance_from_variance_product(counts)
            for counts in iterate_drawn_item_counts(n_items, draws, seed)
        ]
    )
    p = float(compute_two_sided_bootstrap_p(excess, n_items)[0])
    return p if subtract_squared_covariance_from_variance_product(np.ones((1, n_items)))[0, 0] > 0 else 1.0
