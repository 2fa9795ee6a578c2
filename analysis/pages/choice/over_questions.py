"""Compute figures that are shares over questions, XParaCon among them, with their intervals and their differences.

Accuracy is the share of right answers, perfectly correct the share of wordings that are it. XParaCon is -log2 of a mean
over questions, too: the standard deviation of three accuracies lies between 0 and 0.471, so that its mean is a share of
that maximum. It gets Wilson's interval for as many questions as vary that much (`analysis.statistics.shares`), and
-log2 of both ends are the ends for XParaCon. Where few questions vary, the bootstrap is no choice: with 1 in 100
questions varying, its interval held the true value in 26 % of simulated studies of 30 questions and in 83 % of those of
300; Wilson's in 98 % and more (`tests/analysis/pages/choice/test_coverage.py`). Where no question varies, XParaCon
is infinite, and only its lower end is a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.measures.choices import Choices
from analysis.pages.choice import measures
from analysis.statistics import interval
from analysis.statistics.interval import Interval, build_empty_interval
from analysis.statistics.resampling import (
    LEVEL,
    Array,
    Columns,
    bootstrap_differences,
    bootstrap_intervals,
    compute_drawn_ratio,
)
from analysis.statistics.shares import Share, estimate_share, newcombe
from analysis.statistics.significance import compute_permutation_p_values

Parts = tuple[Array, Array]  # per question: what counts, of how much; twice (questions, units)
ACCURACY, XPARACON, PERFECT = "accuracy", "xparacon", "perfectly_correct"
MEASURES = (ACCURACY, XPARACON, PERFECT)


def compute_headline_parts(part: Choices) -> dict[str, Parts]:
    """Return the parts of accuracy, of the mean standard deviation (under the name of XParaCon) and of perfect answers.

    The standard deviations are shares of the largest one that there can be; NaN with a single wording.
    """
    accuracy, orders = (
        measures.compute_choice_accuracies(part.chosen_letter, part.gold),
        part.asked_mask.sum(axis=2)[..., None],
    )
    widest = measures.compute_largest_spread(len(part.wordings)) or np.nan
    spread = measures.compute_accuracy_spreads(accuracy)
    return {
        ACCURACY: ((accuracy * orders).sum(axis=1), (accuracy * 0 + orders).sum(axis=1)),
        XPARACON: (spread / widest, spread * 0 + 1),
        PERFECT: compute_mean_parts(measures.mark_perfect_wordings(accuracy)),
    }


def compute_mean_parts(values: Array, axis: int = 1) -> Parts:
    """Return the parts of a mean over questions and another axis, such as wordings.

    Parameters
    ----------
    values
        (questions, wordings or orders, units); NaN is not there.
    axis
        The other axis.

    Returns
    -------
    Parts
        Sum and number of the known values; NaN where there is none.
    """
    has_value = ~np.isnan(values)
    n_values = has_value.sum(axis=axis).astype(float)
    return np.where(n_values > 0, np.where(has_value, values, 0).sum(axis=axis), np.nan), np.where(
        n_values > 0, n_values, np.nan
    )


def measure_shares(
    figures: Mapping[str, Parts], resamples: int, seed: int, differences: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, Interval]:
    """Compute shares over questions, with Wilson's intervals.

    Parameters
    ----------
    figures
        Name -> parts.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.
    differences
        Name -> two of the figures, the first minus the second: with Newcombe's intervals.

    Returns
    -------
    dict
        Interval of every figure and difference: (units,).
    """
    shares = {name: (name,) for name in figures} | dict(differences or {})
    defined_figures, intervals = _drop_undefined_figures(figures), {}
    if defined_figures:
        defined_shares = {name: parts for name, parts in shares.items() if set(parts) <= defined_figures.keys()}
        intervals = bootstrap_intervals(_flatten_parts(defined_figures),
            partial(_compute_ratios_of_parts, shares=defined_shares),
            partial(_select_share_parts, shares=defined_shares),
                         draws=resamples, seed=seed)  # fmt: skip
    units = next(iter(figures.values()))[0].shape[1]
    n_items = next(iter(intervals.values())).n_items if intervals else np.zeros(units, np.int64)
    return {name: intervals.get(name, build_empty_interval(n_items)) for name in shares}


def _drop_undefined_figures(figures: Mapping[str, Parts]) -> dict[str, Parts]:
    """Leave out what no unit has: with one wording, nothing is known about other ones, and the rest is measured."""
    return {name: parts for name, parts in figures.items() if not np.isnan(parts[0]).all()}


def compare_shares(
    figures: Mapping[str, Parts], pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> dict[str, Interval]:
    """Compute differences of shares, a minus b, with Newcombe's intervals and p values of
    `compute_permutation_p_values`.

    Parameters
    ----------
    figures
        As in `measure_shares`.
    pairs
        Numbers of the units a and b.
    resamples, seed
        As in `comparisons.tabulate_choice_differences`.

    Returns
    -------
    dict
        Interval of every figure: (pairs,).
    """
    defined_figures = _drop_undefined_figures(figures)
    shares = {name: (name,) for name in defined_figures}
    # The intervals are in closed form and the p values are those below: the draws of the bootstrap are not used.
    intervals = bootstrap_differences(_flatten_parts(defined_figures),
        partial(_compute_ratios_of_parts, shares=shares), pairs, partial(_select_share_parts, shares=shares),
                   draws=min(resamples, 1), seed=seed)  # fmt: skip
    for name, parts in defined_figures.items():
        intervals[name].p[:], intervals[name].p_least[:] = compute_permutation_p_values(
            _compute_question_differences(parts, pairs), resamples, seed
        )
    return {name: intervals.get(name, build_empty_interval(intervals[ACCURACY].n_items)) for name in figures}


def _compute_question_differences(parts: Parts, pairs: Sequence[tuple[int, int]]) -> Array:
    """Return what every question adds to the difference of two shares: (questions, pairs), NaN where it is not in both.

    Both units answered each of these questions as often (`answers.studies`), so that exchanging them changes no total.
    """
    (a, of_a), (b, of_b) = ([values[:, [pair[side] for pair in pairs]] for values in parts] for side in (0, 1))
    return (a - b) / np.nansum(np.where(np.isnan(a + b + of_b), np.nan, of_a), axis=0)


def build_headline_columns(intervals: Mapping[str, Interval], wordings: int) -> dict[str, Any]:
    """Make the columns of a table from the intervals of `compute_headline_parts`.

    Parameters
    ----------
    intervals
        From `measure_shares`, of the figures of `compute_headline_parts`.
    wordings
        How many a question has.

    Returns
    -------
    dict
        Figures, intervals and n_questions, mean_sd beside XParaCon: (units,).
    """
    share, widest = intervals[XPARACON], measures.compute_largest_spread(wordings)
    value, low, high = (measures.compute_xparacon(end * widest) for end in (share.estimate, share.upper, share.lower))
    missing = np.where(np.isnan(share.estimate), "", share.missing)
    converted = {**intervals, XPARACON: replace(share, estimate=value, lower=low, upper=high, missing=missing)}
    n = intervals[ACCURACY].n_items
    return {"n_questions": n, "mean_sd": share.estimate * widest, **interval.build_interval_columns(converted)}


def compute_xparacon_ends(
    figures: Mapping[str, Parts], pairs: Sequence[tuple[int, int]], wordings: int, level: float = LEVEL
) -> tuple[Array, Array]:
    """Compute the interval of XParaCon of a minus that of b: Newcombe's, from the intervals of both.

    It takes the distances on the scale of XParaCon, and the correlation of the standard deviations over questions. A
    pair without a number on either side has none: where nothing varies, XParaCon is no number to subtract.

    Parameters
    ----------
    figures, pairs
        As in `compare_shares`.
    wordings
        How many a question has.
    level
        Coverage, 0 to 1.

    Returns
    -------
    tuple
        Lower and upper end: (pairs,).
    """
    part, whole = figures[XPARACON]
    ends = np.full((2, len(pairs)), np.nan)
    widest = measures.compute_largest_spread(wordings)
    for number, pair in enumerate(pairs):
        has_both = ~np.isnan(part[:, pair]).any(axis=1)
        if has_both.sum() < 2:
            continue
        share = estimate_share([(part[has_both][:, pair], whole[has_both][:, pair])], level)
        if not (share.estimate > 0).all():
            continue
        value, low, high = (
            measures.compute_xparacon(end * widest) for end in (share.estimate, share.upper, share.lower)
        )
        converted = replace(share, estimate=value, lower=low, upper=high)
        share_a, share_b = (converted.take(np.array([side])) for side in (0, 1))
        ends[:, number] = np.ravel(newcombe(share_a, share_b))
    return ends[0], ends[1]


def _flatten_parts(figures: Mapping[str, Parts]) -> dict[str, Array]:
    """Return numerators and denominators as columns `X_part` and `X_whole`, for the bootstrap."""
    return {f"{name}_{side}": values for name, parts in figures.items()
            for side, values in zip(("part", "whole"), parts, strict=True)}  # fmt: skip


def _compute_ratios_of_parts(columns: Columns, counts: Array, shares: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """Compute every share, or difference of two, for every draw of questions."""
    ratios_by_name = {}
    for name, parts in shares.items():
        ratios = [compute_drawn_ratio(counts, columns[f"{part}_part"], columns[f"{part}_whole"]) for part in parts]
        ratios_by_name[name] = ratios[0] if len(ratios) == 1 else ratios[0] - ratios[1]
    return ratios_by_name


def _select_share_parts(columns: Columns, shares: Mapping[str, Sequence[str]]) -> dict[str, list[Share]]:
    """Return numerator and denominator of every share, or of both sides of a difference."""
    return {name: [[(columns[f"{part}_part"], columns[f"{part}_whole"])] for part in parts]
            for name, parts in shares.items()}  # fmt: skip
