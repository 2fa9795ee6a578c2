"""Compute the measures of one unit, and their means over several units, with intervals over items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import TypeAlias

import numpy as np

from analysis.pages.wording.cells import SUMS, WordingItemSums
from analysis.statistics.interval import Interval, build_interval_without_values
from analysis.statistics.resampling import (
    Array,
    Columns,
    bootstrap_differences,
    bootstrap_intervals,
    divide_one_drawn_sum_by_another,
)
from analysis.statistics.shares import DerivedFigure, Share

UnitGroup: TypeAlias = Mapping[int, float]  # rows of `WordingItemSums.units` -> their weights; often only one
# Every measure but Overall is a share of answers, or a difference of two such shares: the sums that they are made of.
# Overall is the harmonic mean of three of them.
SHARES = {
    "valid": (("valid", "asked"),),
    "consistency": (("consistent", "pairs"),),
    "yes": (("yes", "pairs"),),
    "diff_yes": (("yes", "pairs"), ("yes_original", "pairs")),
    "excess_yes": (("yes", "pairs"), ("yes_expected", "pairs")),
    "accuracy_original": (("right_original", "gold"),),
    "accuracy": (("right", "gold"),),
    "diff_acc": (("right", "gold"), ("right_original", "gold")),
}
OVERALL = ("accuracy_original", "accuracy", "consistency")
MEASURES = (*SHARES, "overall")


def _compute_wording_measures_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the measures of Takayama et al., section 3.2, and the valid-answer rate of section 5.4.

    `diff_yes` is the share of "Yes" to the rewordings minus that to the originals, for antonyms too, as in the paper's
    equation: a perfectly consistent model that says "Yes" to 30 % of the questions says "Yes" to 70 % of the antonyms,
    which gives +0.40. `excess_yes`, ours, is the share of "Yes" minus the share that consistent answers would have: 0
    for that model. For all other patterns the two are equal.
    """
    pairs = {pair for parts in SHARES.values() for pair in parts}
    names = list(dict.fromkeys(chain.from_iterable(sorted(pairs))))
    # One product of matrices reads the counts once, and not once per sum.
    products = np.split(counts @ np.hstack([columns[name] for name in names]), len(names), axis=1)
    sums = dict(zip(names, products, strict=True))
    shares = {(part, whole): divide_one_drawn_sum_by_another(sums[part], sums[whole]) for part, whole in pairs}
    value_by_measure = {name: reduce(np.subtract, [shares[pair] for pair in parts]) for name, parts in SHARES.items()}
    return value_by_measure | {"overall": compute_harmonic_mean(*(value_by_measure[name] for name in OVERALL))}


def compute_harmonic_mean(*values: Array) -> Array:
    """Compute the harmonic mean; 0 if a part is 0 (the limit), NaN if a part is undefined."""
    stacked = np.stack(values)
    with np.errstate(divide="ignore"):
        return len(values) / (1 / stacked).sum(axis=0)


def estimate_unit_group_measures(
    item_sums: WordingItemSums, rows: Sequence[tuple[UnitGroup, ...]], *, resamples: int, seed: int
) -> dict[str, Interval]:
    """Compute every measure of groups with its 95 % interval over items, or the differences of pairs of groups.

    The bootstrap takes arrays, so all groups of one call need equally many units: a shorter group gets its first unit
    again, with the weight 0. Rows that need equally many units share one call.

    Parameters
    ----------
    item_sums
        From `cells.compute_wording_item_sums_of_all_studies`.
    rows
        All of one group of units, or all of two, the second subtracted from the first on common items. The measure of a
        group is the weighted mean of its units' measures, NaN if one of them is.
        Units that share items are resampled together.
    resamples, seed
        Draws of the bootstrap over items (0: no intervals) and its seed.

    Returns
    -------
    dict
        Interval of every measure: (rows,).
    """
    interval_by_measure = {name: build_interval_without_values(np.zeros(len(rows), np.int64)) for name in MEASURES}
    sizes = [max(map(len, unit_groups)) for unit_groups in rows]
    for size in sorted(set(sizes)):
        places = [place for place, group_size in enumerate(sizes) if group_size == size]
        groups_of_call = [group for place in places for group in rows[place]]
        columns = _build_item_sums_of_kth_units(item_sums, groups_of_call, size)
        statistic = partial(_average_unit_measures_in_each_draw, size=size)
        shares = partial(_build_hits_and_totals_by_measure, size=size)
        if len(rows[0]) == 1:
            part = bootstrap_intervals(columns, statistic, shares, draws=resamples, seed=seed)
        else:
            pairs = [(2 * i, 2 * i + 1) for i in range(len(places))]
            part = bootstrap_differences(columns, statistic, pairs, shares, draws=resamples, seed=seed)
        for name in MEASURES:
            for field in ("estimate", "lower", "upper", "n_items", "missing", "p", "p_least"):
                getattr(interval_by_measure[name], field)[places] = getattr(part[name], field)
    return interval_by_measure


def _build_item_sums_of_kth_units(
    item_sums: WordingItemSums, unit_groups: Sequence[UnitGroup], size: int
) -> dict[str, Array]:
    """Build columns "<sum>:<k>" (items, groups): that sum of each group's k-th unit, k counted from 0.

    NaN for items that none of the group's units was asked; 0 for items that only its other units were asked. In
    "weight:<k>", all items have the weight of the k-th unit.
    """
    index = np.array([[*group, *[next(iter(group))] * (size - len(group))] for group in unit_groups], int)
    weights = np.array([[*group.values(), *[0.0] * (size - len(group))] for group in unit_groups])
    is_asked = item_sums.has[:, index].any(axis=2)
    return {
        f"{name}:{k}": np.where(is_asked, item_sums.sums[name][:, index[:, k]], np.nan)
        for k in range(size)
        for name in SUMS
    } | {f"weight:{k}": np.broadcast_to(weights[:, k], is_asked.shape) for k in range(size)}


def _average_unit_measures_in_each_draw(columns: Columns, counts: Array, size: int) -> dict[str, Array]:
    """Compute the measures of each of a group's `size` units, and average them by weight."""
    totals, sum_of_weights = dict.fromkeys(MEASURES, np.zeros(())), np.zeros(())
    for k in range(size):  # summed one by one: the draws of hundreds of units would take gigabytes
        weight = columns[f"weight:{k}"][0]
        measures = _compute_wording_measures_in_each_draw({name: columns[f"{name}:{k}"] for name in SUMS}, counts)
        totals = {name: totals[name] + weight * measures[name] for name in MEASURES}
        sum_of_weights = sum_of_weights + weight
    return {name: divide_one_drawn_sum_by_another(total, sum_of_weights) for name, total in totals.items()}


def _build_hits_and_totals_by_measure(columns: Columns, size: int) -> dict[str, list[Share | DerivedFigure]]:
    """Give, for every measure, the hits and totals of the shares that its closed interval is made of."""

    weights = np.stack([columns[f"weight:{k}"][0] for k in range(size)])

    def pair_hits_with_totals(part: str, whole: str, units: Sequence[int]) -> Share:
        """Give the column of hits, that of totals and the weight, for some of a group's units."""
        return [(columns[f"{part}:{k}"], columns[f"{whole}:{k}"], weights[k]) for k in units]

    shares_by_measure: dict[str, list[Share | DerivedFigure]] = {
        name: [pair_hits_with_totals(*sums, range(size)) for sums in parts] for name, parts in SHARES.items()
    }
    of_units: list[Share] = [
        [(columns[f"{part}:{k}"], columns[f"{whole}:{k}"])]
        for k in range(size)
        for part, whole in (SHARES[name][0] for name in OVERALL)
    ]
    compute_figure = partial(_compute_mean_harmonic_mean_and_gradient, weights=weights)
    overall = DerivedFigure(of_units, compute_figure, weights.repeat(len(OVERALL), axis=0))
    return shares_by_measure | {"overall": [overall]}


def _compute_mean_harmonic_mean_and_gradient(share_values: Array, weights: Array) -> tuple[Array, Array]:
    """Return Overall (the mean over units of the harmonic means of their shares) and its derivative by each share."""
    of_units = share_values.reshape(-1, len(OVERALL), share_values.shape[-1])
    means, parts = compute_harmonic_mean(*of_units.swapaxes(0, 1)), weights / weights.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (means[:, None] / of_units) ** 2 / len(OVERALL) * parts[:, None]
    mean = (means * weights).sum(axis=0) / weights.sum(axis=0)
    return mean, np.where(share_values > 0, slopes.reshape(share_values.shape), 0.0)
