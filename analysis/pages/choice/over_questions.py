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
import numpy.typing as npt

from analysis.measures.choices import Choices
from analysis.pages.choice import measures
from analysis.statistics import interval
from analysis.statistics.interval import Interval, build_interval_without_values
from analysis.statistics.resampling import (
    LEVEL,
    Array,
    bootstrap_differences,
    bootstrap_intervals,
    compute_shares_or_differences_per_draw,
)
from analysis.statistics.shares import build_shares_by_figure, estimate_share, newcombe
from analysis.statistics.significance import compute_paired_permutation_p_and_least_p

ShareTerms = tuple[Array, Array]  # per question: what counts, of how much; twice (questions, units)
ACCURACY, XPARACON, PERFECT = "accuracy", "xparacon", "perfectly_correct"
MEASURES = (ACCURACY, XPARACON, PERFECT)


def compute_headline_numerators_and_denominators(choices: Choices) -> dict[str, ShareTerms]:
    """Return the parts of accuracy, of the mean standard deviation (under the name of XParaCon) and of perfect answers.

    The standard deviations are shares of the largest one that there can be; NaN with a single wording. So are perfect
    answers with a single order (`mark_perfect_wordings_over_several_orders`).
    """
    accuracy = measures.compute_accuracies_over_orders_by_wording(choices.chosen_letter, choices.gold)
    orders = choices.asked_mask.sum(axis=2)[..., None]
    widest = measures.compute_largest_possible_sd(len(choices.wordings)) or np.nan
    spread = measures.compute_accuracy_sds_over_wordings(accuracy)
    return {
        ACCURACY: ((accuracy * orders).sum(axis=1), (accuracy * 0 + orders).sum(axis=1)),
        XPARACON: (spread / widest, spread * 0 + 1),
        PERFECT: sum_and_count_over_middle_axis(mark_perfect_wordings_over_several_orders(accuracy, orders)),
    }


def mark_perfect_wordings_over_several_orders(accuracy: Array, n_orders: npt.NDArray[np.int_]) -> Array:
    """Tell whether a wording is perfectly correct; with one order that would only be a second name of accuracy.

    Parameters
    ----------
    accuracy
        From `measures.compute_accuracies_over_orders_by_wording`.
    n_orders
        How many orders each of these wordings was asked in.

    Returns
    -------
    array (questions, wordings, units)
        1 or 0; NaN everywhere where no wording was asked in two orders.
    """
    perfect = measures.mark_perfect_wordings(accuracy)
    return perfect if n_orders.max(initial=0) > 1 else np.full_like(perfect, np.nan)


def sum_and_count_over_middle_axis(values: Array) -> ShareTerms:
    """Return sum and number of values (questions, wordings or orders, units) over the middle axis; NaN of none.

    They are the parts of a mean over questions and that axis. A value that is NaN is not there.
    """
    has_value = ~np.isnan(values)
    n_values = has_value.sum(axis=1).astype(float)
    return np.where(n_values > 0, np.where(has_value, values, 0).sum(axis=1), np.nan), np.where(
        n_values > 0, n_values, np.nan
    )


def estimate_share_intervals(
    terms_by_measure: Mapping[str, ShareTerms],
    resamples: int,
    seed: int,
    differences: Mapping[str, tuple[str, str]] | None = None,
) -> dict[str, Interval]:
    """Compute shares over questions, with Wilson's intervals.

    Parameters
    ----------
    terms_by_measure
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
    shares = {name: (name,) for name in terms_by_measure} | dict(differences or {})
    defined_terms, intervals = _drop_measures_without_any_value(terms_by_measure), {}
    if defined_terms:
        columns, parts_by_measure = _build_share_term_columns_and_names(defined_terms)
        parts = {
            name: [part for measure in measures_of_share for part in parts_by_measure[measure]]
            for name, measures_of_share in shares.items()
            if set(measures_of_share) <= defined_terms.keys()
        }
        intervals = bootstrap_intervals(columns, partial(compute_shares_or_differences_per_draw, parts_by_figure=parts),
            partial(build_shares_by_figure, parts_by_figure=parts), draws=resamples, seed=seed)  # fmt: skip
    units = next(iter(terms_by_measure.values()))[0].shape[1]
    n_items = next(iter(intervals.values())).n_items if intervals else np.zeros(units, np.int64)
    return {name: intervals.get(name, build_interval_without_values(n_items)) for name in shares}


def _drop_measures_without_any_value(terms_by_measure: Mapping[str, ShareTerms]) -> dict[str, ShareTerms]:
    """Leave out what no unit has: with one wording, nothing is known about other ones, and the rest is measured."""
    return {name: terms for name, terms in terms_by_measure.items() if not np.isnan(terms[0]).all()}


def estimate_share_differences(
    terms_by_measure: Mapping[str, ShareTerms], unit_pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> dict[str, Interval]:
    """Compute differences of shares, a minus b, with Newcombe's intervals and p values of
    `compute_paired_permutation_p_and_least_p`.

    Parameters
    ----------
    terms_by_measure
        As in `estimate_share_intervals`.
    unit_pairs
        Numbers of the units a and b.
    resamples, seed
        As in `comparisons.tabulate_choice_differences`.

    Returns
    -------
    dict
        Interval of every figure: (pairs,).
    """
    defined_terms = _drop_measures_without_any_value(terms_by_measure)
    if not defined_terms:  # no unit has a response
        return {name: build_interval_without_values(np.zeros(len(unit_pairs), np.int64)) for name in terms_by_measure}
    columns, parts = _build_share_term_columns_and_names(defined_terms)
    # The intervals are in closed form and the p values are those below: the draws of the bootstrap are not used.
    compute_shares = partial(compute_shares_or_differences_per_draw, parts_by_figure=parts)
    intervals = bootstrap_differences(columns, compute_shares, unit_pairs,
        partial(build_shares_by_figure, parts_by_figure=parts), draws=min(resamples, 1), seed=seed)  # fmt: skip
    for name, terms in defined_terms.items():
        intervals[name].p[:], intervals[name].p_least[:] = compute_paired_permutation_p_and_least_p(
            _compute_difference_contributions(terms, unit_pairs), resamples, seed
        )
    return {
        name: intervals.get(name, build_interval_without_values(intervals[ACCURACY].n_items))
        for name in terms_by_measure
    }


def _compute_difference_contributions(terms: ShareTerms, unit_pairs: Sequence[tuple[int, int]]) -> Array:
    """Return what every question adds to the difference of two shares: (questions, pairs), NaN where it is not in both.

    Both units answered each of these questions as often (`measures.choices.read_choice_studies` refuses others), so
    that exchanging them changes no total.
    """
    (a, of_a), (b, of_b) = (
        [values[:, [unit_pair[side] for unit_pair in unit_pairs]] for values in terms] for side in (0, 1)
    )
    return (a - b) / np.nansum(np.where(np.isnan(a + b + of_b), np.nan, of_a), axis=0)


def build_headline_estimate_and_interval_columns(
    share_intervals: Mapping[str, Interval], n_wordings: int
) -> dict[str, Any]:
    """Make the columns of a table from the intervals of `compute_headline_numerators_and_denominators`.

    Parameters
    ----------
    share_intervals
        From `estimate_share_intervals`, of the figures of `compute_headline_numerators_and_denominators`.
    n_wordings
        How many a question has.

    Returns
    -------
    dict
        Figures, intervals and n_questions, mean_sd beside XParaCon: (units,).
    """
    share, widest = share_intervals[XPARACON], measures.compute_largest_possible_sd(n_wordings)
    value, low, high = (measures.compute_xparacon(end * widest) for end in (share.estimate, share.upper, share.lower))
    missing = np.where(np.isnan(share.estimate), "", share.missing)
    converted = {**share_intervals, XPARACON: replace(share, estimate=value, lower=low, upper=high, missing=missing)}
    n = share_intervals[ACCURACY].n_items
    return {"n_questions": n, "mean_sd": share.estimate * widest, **interval.build_interval_columns(converted)}


def compute_xparacon_difference_ends(
    terms_by_measure: Mapping[str, ShareTerms], unit_pairs: Sequence[tuple[int, int]], n_wordings: int
) -> tuple[Array, Array]:
    """Compute the interval of XParaCon of a minus that of b: Newcombe's, from the intervals of both.

    It takes the distances on the scale of XParaCon, and the correlation of the standard deviations over questions. A
    pair without a number on either side has none: where nothing varies, XParaCon is no number to subtract.

    Parameters
    ----------
    terms_by_measure, unit_pairs
        As in `estimate_share_differences`.
    n_wordings
        How many a question has.

    Returns
    -------
    tuple
        Lower and upper end: (pairs,).
    """
    part, whole = terms_by_measure[XPARACON]
    ends = np.full((2, len(unit_pairs)), np.nan)
    widest = measures.compute_largest_possible_sd(n_wordings)
    for number, unit_pair in enumerate(unit_pairs):
        has_both = ~np.isnan(part[:, unit_pair]).any(axis=1)
        if has_both.sum() < 2:
            continue
        share = estimate_share([(part[has_both][:, unit_pair], whole[has_both][:, unit_pair])], LEVEL)
        if not (share.estimate > 0).all():
            continue
        value, low, high = (
            measures.compute_xparacon(end * widest) for end in (share.estimate, share.upper, share.lower)
        )
        converted = replace(share, estimate=value, lower=low, upper=high)
        share_a, share_b = (converted.select_units(np.array([side])) for side in (0, 1))
        ends[:, number] = np.ravel(newcombe(share_a, share_b))
    return ends[0], ends[1]


def _build_share_term_columns_and_names(
    terms_by_measure: Mapping[str, ShareTerms],
) -> tuple[dict[str, Array], dict[str, list[tuple[str, str]]]]:
    """Return numerators and denominators as columns for the bootstrap, and the two columns of every measure."""
    parts_by_measure = {name: [(f"{name}_part", f"{name}_whole")] for name in terms_by_measure}
    columns: dict[str, Array] = {}
    for name, (pair,) in parts_by_measure.items():
        columns |= zip(pair, terms_by_measure[name], strict=True)
    return columns, parts_by_measure
