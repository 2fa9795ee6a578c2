"""Test whether answers to the same items changed over time, by tests that are repeated at every look.

A *look* is one asking of the items: in the same wordings as before, or in fresh ones. Without a change, the looks of an
item could stand in any order: rewording and sampling move each of them alike. So every look is compared with all before
it.

- Where rewording moves items apart from each other (wordings of their own, or the same wordings at every look), the
  look is compared within every item, as a permutation test stratified by item (`permuted_sums`): given its answers, an
  item's last look is any of its looks with the same probability. Means of more wordings vary less: they are scaled by
  the square root of their number.
- Where all items share fresh wordings (templates), these move all items at once, and are the units: the ranks of their
  means over items are compared by the exact test of Wilcoxon, Mann and Whitney. Ranks of each look among all before are
  independent, too (Parent). A t test would not do: where one template in ten is answered otherwise by all items, such
  a look stands apart from few before it, and t alarmed in .69 of years without a change.

Without a change, these z values are independent and standard normal, so those of several looks add up: a change from
look c on moves that of look s by an amount in proportion to 1 / sqrt(s (s - 1)). Each look is tested in windows of the
last 1, 2, 4, 8 ... looks, against all before. That no item changed is not all that could be without a change of the
mean: with other hardware, a model may answer some items a little higher and others lower. So p of a window is at least
that of a t test over items.

The level is spent evenly over all windows of all planned looks (Bonferroni). `tests/benchmarks/bench_drift.py` decided
that: 50 looks without a change have an alarm in .03 of the years. Changes are found earlier than by e-values that mix
over change points (.01 of the years); by windows of one look (.05), only those that are large are found a look earlier.

References
----------
Armitage, P., McPherson, C. K. and Rowe, B. C. (1969). Repeated significance tests on accumulating data. JRSS A 132,
235-244.
Brown, R. L., Durbin, J. and Evans, J. M. (1975). Techniques for testing the constancy of regression relationships over
time. JRSS B 37, 149-192 (each observation against all before: independent residuals).
Parent, E. A. (1965). Sequential ranking procedures. Technical report 80, Department of Statistics, Stanford.
Smith, A. F. M. (1975). A Bayesian approach to inference about a change-point in a sequence of random variables.
Biometrika 62, 407-416.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from analysis.statistics.multiplicity import SMALLEST
from analysis.statistics.permuted_sums import compute_z_of_sum_permuted_within_items
from analysis.statistics.resampling import LEVEL, Array
from analysis.statistics.significance import ROUNDING

LOOKS = 50  # that the level is spent over: a year of weekly looks
_LIKELY = 0.95
_MOST_RANKED = 20_000  # pairs of wordings up to which the test of ranks is exact; beyond, the normal tail is no lighter


@dataclass(frozen=True, slots=True)
class Drift:
    """Hold what repeated looks say of a change.

    Attributes
    ----------
    z
        Of every look against all before it: (looks,); NaN for the first, and where there is nothing to compare.
    p
        After every look, of a change up to then, corrected for all looks that are planned: (looks,). It never rises;
        NaN before there is a test, and its last value beyond the planned looks.
    first_changed
        The look, from 0 on, that the strongest change begins with; -1 without a test.
    likely_first, likely_last
        Between which looks it begins in 95 of 100 changes, if there is one.
    """

    z: Array
    p: Array
    first_changed: int
    likely_first: int
    likely_last: int


def detect_change_over_looks(
    answers: Sequence[Array], has_shared_fresh_wordings: bool = False, looks: int = LOOKS
) -> Drift:
    """Test after every look whether the answers changed.

    Parameters
    ----------
    answers
        Of every look (items, wordings): the same items in the same rows, NaN where there is no answer. Looks may have
        different numbers of wordings.
    has_shared_fresh_wordings
        Whether all items share the wordings of a look, and other looks have others.
    looks
        Looks that are planned at most, over which the level is spent. Those beyond are not tested.

    Returns
    -------
    Drift

    >>> rng = np.random.default_rng(0)
    >>> drift = detect_change_over_looks([rng.normal(0.1 * (look > 3), 0.1, (30, 4)) for look in range(6)])
    >>> bool(drift.p[3] > 0.05), bool(drift.p[5] < 0.001), drift.first_changed
    (True, True, 4)
    """
    from scipy.special import ndtr

    z = compute_z_values_of_looks(answers, has_shared_fresh_wordings)
    sums, numbers = _sum_and_count_answers_over_wordings(answers)
    n_tests = count_windows_of_planned_looks(looks)
    p, least = np.full(len(z), np.nan), np.nan
    for last in range(1, len(z)):
        for first in _list_window_starts(last) if last < looks else ():
            of_window = 2 * float(ndtr(-abs(_compute_z_of_window(z, first, last))))
            of_items = _compute_p_of_change_over_items(sums[: last + 1], numbers[: last + 1], first)
            least = np.fmin(least, min(n_tests * max(of_window, of_items, SMALLEST), 1.0))
        p[last] = least
    return Drift(z, p, *_locate_start_of_change_with_likely_range(z))


def compute_least_p_of_change(
    answers: Sequence[Array], has_shared_fresh_wordings: bool = False, looks: int = LOOKS
) -> float:
    """Compute the p value that the largest change of so many items, looks and shared wordings would have.

    That of items is least where all that have answers at two looks change alike; that of shared wordings where those of
    every look lie above all before.

    Parameters
    ----------
    answers, has_shared_fresh_wordings, looks
        As in `detect_change_over_looks`.

    Returns
    -------
    float
        At most 1; no p of these looks is smaller.

    >>> [round(compute_least_p_of_change([np.zeros((30, n))] * 2, has_shared_fresh_wordings=True), 3) for n in (7, 8)]
    [0.138, 0.037]
    """
    has_answer = [~np.isnan(look) for look in answers]
    n_looks_answered = np.sum([present.any(axis=1) for present in has_answer], axis=0)
    least = 2.0 ** (1 - int((n_looks_answered > 1).sum()))
    if has_shared_fresh_wordings:
        wording_counts = [int(present.any(axis=0).sum()) for present in has_answer]
        least = max(least, _compute_least_p_of_shared_wordings(wording_counts, looks))
    return min(count_windows_of_planned_looks(looks) * max(least, SMALLEST), 1.0)


def _compute_least_p_of_shared_wordings(wording_counts: Sequence[int], looks: int) -> float:
    """Return the p of the window that tells most, had the wordings of every look lain above all before."""
    from scipy.special import ndtr, ndtri

    totals, z = np.cumsum(wording_counts), np.full(len(wording_counts), np.nan)
    for look in range(1, len(z)):
        if wording_counts[look] and totals[look - 1] and totals[look] > 2:
            z[look] = -ndtri(max(1 / comb(int(totals[look]), wording_counts[look]), SMALLEST))
    sizes = [
        _compute_z_of_window(z, first, last)
        for last in range(1, min(len(z), looks))
        for first in _list_window_starts(last)
    ]
    return 2 * float(ndtr(-np.max(np.nan_to_num(sizes), initial=0.0)))


def compute_z_values_of_looks(answers: Sequence[Array], has_shared_fresh_wordings: bool = False) -> Array:
    """Compare every look with all before it.

    Parameters
    ----------
    answers, has_shared_fresh_wordings
        As in `detect_change_over_looks`.

    Returns
    -------
    (looks,): standard normal and independent without a change; above 0 where the look is higher. NaN for the first look
    and where there is nothing to compare; 0 where nothing differs.
    """
    z = np.full(len(answers), np.nan)
    if has_shared_fresh_wordings:
        for look in range(1, len(answers)):
            z[look] = _compute_last_look_mann_whitney_z(answers[: look + 1])
        return z
    sums, numbers = _sum_and_count_answers_over_wordings(answers)
    with np.errstate(invalid="ignore"):
        means = sums / numbers
    for look in range(1, len(answers)):
        z[look] = _compute_permutation_z_of_last_look(means[: look + 1], numbers[: look + 1])
    return z


def count_windows_of_planned_looks(looks: int = LOOKS) -> int:
    """Count the windows of all planned looks: the smallest p is multiplied by so many."""
    return sum(len(_list_window_starts(last)) for last in range(1, looks))


def compute_confidence_level_for_all_looks(n_looks: int) -> float:
    """Compute the level that each look's interval needs, for those of all looks that could begin a change to hold.

    The data choose the look with the strongest change. An interval as of a look that was chosen in advance held the
    difference there in .66 to .76 of series of 20 looks without a change
    (`tests/benchmarks/bench_drift_intervals.py`). Of all looks but the first, one may begin the change (Bonferroni).

    Parameters
    ----------
    n_looks
        How many there are, from 2 on.

    Returns
    -------
    float

    >>> [round(compute_confidence_level_for_all_looks(n_looks), 3) for n_looks in (2, 6)]
    [0.95, 0.99]
    """
    return 1 - (1 - LEVEL) / (n_looks - 1)


def _list_window_starts(last: int) -> list[int]:
    """List the first looks of the windows of 1, 2, 4 ... looks that end with a look and have others before."""
    return [last + 1 - 2**power for power in range(last.bit_length()) if 2**power <= last]


def _compute_z_weight_of_each_look(n_looks: int) -> Array:
    """Return in what proportion a change before a look moves its z: of the first look, which has none, 0."""
    number = np.arange(1, n_looks + 1)
    return np.where(number > 1, 1 / np.sqrt(np.maximum(number * (number - 1), 1)), 0.0)


def _compute_z_of_window(z: Array, first: int, last: int) -> float:
    """Return the z value of a change from a look on, up to another; NaN without a z value in the window."""
    part, weights = z[first : last + 1], _compute_z_weight_of_each_look(len(z))[first : last + 1]
    has_z = ~np.isnan(part)
    if not has_z.any():
        return np.nan
    return float(part[has_z] @ weights[has_z] / np.sqrt(weights[has_z] @ weights[has_z]))


def _sum_and_count_answers_over_wordings(answers: Sequence[Array]) -> tuple[Array, Array]:
    """Sum the answers of every look and item, and count them: (looks, items) each."""
    sums = np.stack([np.nansum(look, axis=1) for look in answers])
    return sums, np.stack([(~np.isnan(look)).sum(axis=1) for look in answers]).astype(float)


def _compute_p_of_change_over_items(sums: Array, numbers: Array, first: int) -> float:
    """Test by t over items whether looks from one on differ from earlier; at least the sign test's least p."""
    from scipy.special import stdtr

    with np.errstate(invalid="ignore"):
        differences = sums[first:].sum(axis=0) / numbers[first:].sum(axis=0)
        differences -= sums[:first].sum(axis=0) / numbers[:first].sum(axis=0)
    differences = differences[~np.isnan(differences)]
    n_differing = int((np.abs(differences) > ROUNDING).sum())
    if len(differences) < 2 or not n_differing:
        return 1.0
    spread = float(differences.std(ddof=1))
    of_signs = min(2.0 ** (1 - n_differing), 1.0)
    if spread <= ROUNDING:
        return of_signs
    t = abs(float(differences.mean())) / spread * np.sqrt(len(differences))
    return max(2 * float(stdtr(len(differences) - 1, -t)), of_signs)


def _locate_start_of_change_with_likely_range(z: Array) -> tuple[int, int, int]:
    """Find the look that a change most likely begins with, and between which looks it lies.

    With any change and any look equally likely beforehand, a look has a weight of exp(Z^2 / 2) / sqrt(n), with Z of the
    looks from there on and n the looks that its comparison is worth (Smith).
    """
    n_looks = len(z)
    starts = np.arange(1, n_looks)
    if not (~np.isnan(z[1:])).any():
        return -1, -1, -1
    totals = np.array([_compute_z_of_window(z, int(start), n_looks - 1) for start in starts])
    worth = starts * (n_looks - starts) / n_looks
    log_weights = np.where(np.isnan(totals), -np.inf, totals**2 / 2 - np.log(worth) / 2)
    weights = np.exp(log_weights - log_weights.max())
    order = np.argsort(-weights, kind="stable")
    within = np.searchsorted(np.cumsum(weights[order]) / weights.sum(), _LIKELY - ROUNDING) + 1
    likely = starts[order[:within]]
    return int(starts[order[0]]), int(likely.min()), int(likely.max())


def _compute_permutation_z_of_last_look(means: Array, numbers: Array) -> float:
    """Compare the last look with those before within every item: means (looks, items), and of how many answers."""
    has_answer = numbers > 0
    is_compared = has_answer[-1] & has_answer[:-1].any(axis=0)
    if not is_compared.any():
        return np.nan
    means, numbers, has_answer = means[:, is_compared], numbers[:, is_compared], has_answer[:, is_compared]
    of_item = np.nansum(means * numbers, axis=0) / numbers.sum(axis=0)
    # Means of more answers vary less: as many as make all looks vary alike.
    values = np.where(has_answer, (means - of_item) * np.sqrt(numbers), 0.0)
    values = np.where(has_answer, values - values.sum(axis=0) / has_answer.sum(axis=0), 0.0)
    differs = (np.abs(values) > ROUNDING).any(axis=0)
    if not differs.any():
        return 0.0
    values, has_answer = values[:, differs], has_answer[:, differs]
    total = float(values[-1].sum())
    sign = -1.0 if total < 0 else 1.0
    return sign * compute_z_of_sum_permuted_within_items(sign * values, has_answer, abs(total))


def _compute_last_look_mann_whitney_z(answers: Sequence[Array]) -> float:
    """Compare the means of the last look's wordings over items with those of all looks before, by their ranks."""
    from scipy.special import ndtri

    common = np.logical_and.reduce([(~np.isnan(look)).any(axis=1) for look in answers])
    if not common.any():
        return np.nan
    means = [_compute_wording_means_over_items(look[common]) for look in answers]
    last, before = means[-1], np.concatenate(means[:-1])
    if not len(last) or not len(before) or len(last) + len(before) < 3:
        return np.nan
    # A tie counts for neither side: whichever is looked for, the last look's wordings are moved to the other one. The
    # side with more pairs has the smaller p.
    apart = last[:, None] - before
    n_higher, n_lower = int((apart > ROUNDING).sum()), int((apart < -ROUNDING).sum())
    sign = 1 if n_higher > n_lower else -1
    if apart.size <= _MOST_RANKED:
        p = _compute_p_of_mann_whitney_pairs(len(last), len(before), max(n_higher, n_lower))
    else:
        from scipy.stats import mannwhitneyu

        sides = sign * last - ROUNDING, sign * before
        p = float(mannwhitneyu(*sides, alternative="greater", method="asymptotic").pvalue)
    return sign * max(-float(ndtri(max(p, SMALLEST))), 0.0)


def _compute_p_of_mann_whitney_pairs(n_here: int, n_there: int, n_pairs: int) -> float:
    """Compute the probability that so many pairs or more have the first higher, if all orders are equally likely.

    The orders with so many pairs are the coefficients of a Gaussian binomial, a product of (1 - q^(many + i)) /
    (1 - q^i); those of few pairs, to which only few factors matter, are those of as many pairs less than all.

    >>> [round(_compute_p_of_mann_whitney_pairs(2, 2, n_pairs), 3) for n_pairs in (4, 1)]
    [0.167, 0.833]
    """
    few, many = sorted((n_here, n_there))
    n_all = few * many
    if 2 * n_pairs < n_all:
        return 1 - _compute_p_of_mann_whitney_pairs(n_here, n_there, n_all - n_pairs + 1) if n_pairs else 1.0
    shares = np.zeros(n_all - n_pairs + 1)
    shares[0] = 1.0
    for number in range(1, few + 1):
        shares[many + number :] -= shares[: -many - number].copy()
        in_steps = np.concatenate([shares, np.zeros(-len(shares) % number)]).reshape(-1, number)
        shares = in_steps.cumsum(axis=0).ravel()[: len(shares)] * (number / (many + number))
    return float(shares.sum())


def _compute_wording_means_over_items(answers: Array) -> Array:
    """Average the answers (items, wordings) in every wording that has any."""
    numbers = (~np.isnan(answers)).sum(axis=0)
    return np.asarray(np.nansum(answers, axis=0)[numbers > 0] / numbers[numbers > 0])
