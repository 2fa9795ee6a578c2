"""Estimate how far the answers to items changed: the change d of every item, its error, and what single wordings add.

`analysis.check.same_answers` says what d is, and tests its mean.

References
----------
Hoeffding, W. (1948). A class of statistics with asymptotically normal distribution. Annals of Mathematical Statistics
19, 293-325 (means over pairs).
Miller, R. G. (1974). The jackknife: a review. Biometrika 61, 1-15.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.panel import Parts
from analysis.statistics.resampling import Array

Counts: TypeAlias = npt.NDArray[np.int64]
_MOST_COUNTS = 2_000_000  # held at a time: 16 MB


def estimate_change_of_each_item(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int] = (1, 1)
) -> Array:
    """Estimate the change d of every item, see `analysis.check.same_answers`.

    Parameters
    ----------
    now, before
        Answers as numbers of options (items, wordings), NaN where there is no valid one.
    same_wordings
        Whether a place is the same wording on both sides.
    orders
        In how many orders of the options each wording was asked, now and before; they stand side by side.

    Returns
    -------
    array (items,)
        From -1 to 1; NaN where either side has answers to fewer than two wordings. With the same wordings, only those
        count that have an answer on both sides.
    """
    counted = _count_answers_and_pairs_per_wording(now, before, same_wordings=same_wordings, orders=orders)
    return _compute_changes_from_option_counts(*(counts.sum(axis=1) for counts in counted))


def _count_answers_and_pairs_per_wording(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int]
) -> tuple[Counts, ...]:
    """Count what the answers to every wording, (items, wordings, ...), add to the pairs of
    `_compute_changes_from_option_counts`.

    Returns
    -------
    tuple
        Answers by option now and before; of the answers to one wording, which are no pair of different wordings, the
        pairs that are alike now, before and across, and all pairs now, before and across.
    """
    if same_wordings:
        is_common = ~np.isnan(now) & ~np.isnan(before)
        now, before = np.where(is_common, now, np.nan), np.where(is_common, before, np.nan)
    options = np.unique(np.concatenate([now[~np.isnan(now)], before[~np.isnan(before)]]))
    dtype = np.int16 if max(orders) < 128 else np.int64  # squares fit; sums are larger by themselves
    by_option = [
        (side[:, :, None] == options).reshape(len(side), side.shape[1] // n, n, len(options)).sum(axis=2, dtype=dtype)
        for side, n in zip((now, before), orders, strict=True)
    ]
    sizes = [counts.sum(axis=-1) for counts in by_option]
    none = np.zeros((len(now), 1), int)
    alike_across, all_across = (
        ((by_option[0] * by_option[1]).sum(axis=-1), sizes[0] * sizes[1]) if same_wordings else (none, none)
    )
    alike = [(counts**2).sum(axis=-1) for counts in by_option]
    return (*by_option, *alike, alike_across, *(size**2 for size in sizes), all_across)


def _compute_changes_from_option_counts(
    counts_now: Counts, counts_before: Counts, alike_now: Counts, alike_before: Counts, alike_across: Counts,
    all_now: Counts, all_before: Counts, all_across: Counts,
) -> Array:  # fmt: skip
    """Compute changes from counts of options (..., options), less the pairs of answers to one wording."""
    n, m = counts_now.sum(axis=-1), counts_before.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share_now = ((counts_now**2).sum(axis=-1) - alike_now) / (n**2 - all_now)
        share_before = ((counts_before**2).sum(axis=-1) - alike_before) / (m**2 - all_before)
        share_across = ((counts_now * counts_before).sum(axis=-1) - alike_across) / (n * m - all_across)
        changes = (share_now + share_before) / 2 - share_across
    return np.where((n**2 > all_now) & (m**2 > all_before), changes, np.nan)


def compute_mean_change_jackknife_variance(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int] = (1, 1)
) -> Parts:  # fmt: skip
    """Compute the variance of the mean change by leaving out one wording after the other, of each side's own.

    Parameters
    ----------
    now, before, same_wordings, orders
        As in `estimate_change_of_each_item`.

    Returns
    -------
    tuple of (variance, degrees of freedom)
        One, or one for each side where both have wordings of their own; NaN with fewer than three wordings.
    """
    counted = _count_answers_and_pairs_per_wording(now, before, same_wordings=same_wordings, orders=orders)
    totals = [counts.sum(axis=1) for counts in counted]
    # What goes with a wording of both: its answers on both sides; else its answers on its own side.
    groups = [tuple(range(len(counted)))] if same_wordings else [(0, 2, 5), (1, 3, 6)]
    parts = []
    for group in groups:
        has_answers = np.any([counted[place].any(axis=(0, 2)) for place in group if place < 2], axis=0)
        n_wordings = int(has_answers.sum())
        if n_wordings < 3:
            return ((np.nan, np.nan),)
        step = max(1, _MOST_COUNTS // counted[group[0]][:, 0].size)
        means: list[float] = []
        for start in range(0, len(has_answers), step):
            left = [
                total - np.moveaxis(counts[:, start : start + step], 1, 0) if place in group else total
                for place, (total, counts) in enumerate(zip(totals, counted, strict=True))
            ]
            changes = _compute_changes_from_option_counts(*left)
            n_known = (~np.isnan(changes)).sum(axis=-1)
            means.extend(np.nansum(changes, axis=-1) / np.where(n_known > 0, n_known, np.nan))
        spread = np.array(means)[has_answers]
        variance = (n_wordings - 1) / n_wordings * float(((spread - spread.mean()) ** 2).sum())
        parts.append((variance, n_wordings - 1.0))
    return tuple(parts)


def compute_wording_shifts_on_principal_axis(
    now: Array, before: Array, *, same_wordings: bool, orders: tuple[int, int] = (1, 1)
) -> Array:
    """Tell how far every wording that all items share changes the answers, along the axis that holds most change.

    Parameters
    ----------
    now, before, same_wordings, orders
        As in `estimate_change_of_each_item`. Where both sides have wordings of their own, the first ones go together,
        the second ones, and so on.

    Returns
    -------
    array (wordings,)
        From -1 to 1, with a mean from 0 on: along the first principal axis of the wordings' changes, not centred. 1 is
        all items, each with one answer that is another one now; 0 throughout where nothing changed.

    >>> before = np.zeros((50, 6))
    >>> now = before.copy()
    >>> now[:, 2] = 1
    >>> abs(compute_wording_shifts_on_principal_axis(now, before, same_wordings=True)).round(9).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    counted = _count_answers_and_pairs_per_wording(now, before, same_wordings=same_wordings, orders=orders)[:2]
    counted_wordings = [counts[:, counts.any(axis=(0, 2))] for counts in counted]
    n_wordings = min(counts.shape[1] for counts in counted_wordings)
    sides = [counts[:, :n_wordings] for counts in counted_wordings]
    n_answers = [counts.sum(axis=2) for counts in sides]
    has_both = (n_answers[0] > 0) & (n_answers[1] > 0)
    n_items = has_both.T.astype(float) @ has_both
    products = np.zeros((n_wordings, n_wordings))
    for option in range(sides[0].shape[2]):  # one at a time: of many, all would not fit into memory
        now_share, before_share = (
            counts[:, :, option] / np.maximum(n, 1) for counts, n in zip(sides, n_answers, strict=True)
        )
        change = np.where(has_both, now_share - before_share, 0.0)
        products += change.T @ change / 2
    products = np.divide(products, n_items, out=np.zeros_like(products), where=n_items > 0)
    strengths, axes = np.linalg.eigh(products)
    projected = np.sqrt(max(float(strengths[-1]), 0.0)) * axes[:, -1]
    return np.clip(projected if projected.mean() >= 0 else -projected, -1.0, 1.0)
