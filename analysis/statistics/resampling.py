"""Compute intervals over items: by resampling, for any statistic made of weighted sums; of some in closed form.

The items are the clusters: a draw takes n items with replacement, each with all its wordings. A draw is stored as a row
of *counts*, how often each item was taken: of items a, b, c the draw "a, c, c" is the row 1, 0, 2. A mean over the
drawn items is then a matrix product, and the drawn rows are never copied.

A *statistic* is a function ``(columns, counts) -> {name: array (draws, units)}``. ``columns`` maps names to arrays
(items, units); a unit is anything with an interval of its own, such as a model under a condition. ``counts`` is an
array (draws, items). A row of ones gives the estimate itself, so one formula serves the estimate and the draws::

    def figures(columns, counts):
        return {"range_mean": compute_mean_per_draw(counts, columns["range"]),
                "range_sd": compute_item_sd_in_each_draw(counts, columns["range"])}

    bootstrap_intervals({"range": ranges}, figures)["range_mean"].lower

The ends are percentiles of the draws, *expanded* (`significance.compute_tail_share_matching_t_interval`): plain 95 %
percentiles of a mean of 10 items cover 90 %, since draws vary less than the items do; expanded ones cover 95 %, as the
t interval does. Two kinds of figures have other intervals: shares, and differences of two
(`analysis.statistics.shares`), are named by `shares`; variances and entropies, and figures that need more items than
others or never have an interval (`analysis.statistics.forms`), are named by `forms`. Of the methods that were simulated
(plain, basic, BCa, jackknife, studentised), this one covers best without more draws.

An interval without a width is never returned. It would say that the figure is known exactly, when only the items at
hand do not differ: it is missing, with the reason.

References
----------
Hesterberg, T. (2015). What teachers should know about the bootstrap. The American Statistician 69, 371-386 (expanded
percentiles).
Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 13 (percentile intervals) and section
15.4 (their relation to hypothesis tests).
Field, C. and Welsh, A. (2007). Bootstrapping clustered data. JRSS B 69, 369-390 (drawing whole clusters).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.statistics.forms import DRAWN, Form
from analysis.statistics.interval import (
    DECIDED,
    FEW,
    Interval,
    build_interval_without_values,
    write_ends_or_reason_into_open_intervals,
)
from analysis.statistics.shares import Array, Shares, estimate_share, newcombe
from analysis.statistics.significance import (
    ROUNDING,
    compute_mcnemar_p_of_share_differences,
    compute_smallest_bootstrap_p,
    compute_tail_share_matching_t_interval,
    compute_two_sided_bootstrap_p,
)
from ground.errors import InputError

Columns: TypeAlias = Mapping[str, Array]
Statistic: TypeAlias = Callable[[Columns, Array], Mapping[str, Array]]
Forms: TypeAlias = Mapping[str, Form]  # by the name of the figure

DRAWS = 10_000
MOST_DRAWS = 100_000  # more would change no digit that is shown, and would not fit into memory
LEVEL = 0.95
_CHUNK = 2_000_000  # counts held at a time: 16 MB
_UNITS = 64  # units whose draws are held at a time: 5 MB per figure at 10,000 draws


def iterate_drawn_item_counts(n_items: int, draws: int = DRAWS, seed: int = 0) -> Iterator[Array]:
    """Draw items and count how often each one was taken, in chunks of rows.

    Rows are multinomial (n_items; 1/n_items, ...). The same arguments always give the same counts. That makes
    differences paired: both sides use the same draws.

    Parameters
    ----------
    n_items, draws, seed
        How many items there are, how many rows there are in all chunks, and the seed of the generator.

    Yields
    ------
    array (draws in this chunk, n_items)
        Whole numbers as float64, every row summing to `n_items`.

    Raises
    ------
    InputError
        For fewer than 0 draws or more than `MOST_DRAWS`, and for a seed below 0.
    """
    _refuse_invalid_draws_or_seed(draws, seed)
    size = max(1, _CHUNK // n_items)
    if draws <= size:
        yield from [_draw_cached_counts(n_items, draws, seed)] if draws else []
        return
    rng = np.random.default_rng(seed)
    for start in range(0, draws, size):
        yield _draw_count_rows(rng, n_items, min(size, draws - start))


def _refuse_invalid_draws_or_seed(draws: int, seed: int) -> None:
    """Raise InputError for a number of draws or a seed that is out of range."""
    if not 0 <= draws <= MOST_DRAWS:
        raise InputError(
            f"resamples = {draws}: give a number of bootstrap samples, at most {MOST_DRAWS:,}, or 0 for no intervals"
        )
    if seed < 0:
        raise InputError(f"seed = {seed}: give a whole number from 0 on")


@functools.lru_cache(maxsize=4)  # the tables of a page are resampled with the same draws again and again
def _draw_cached_counts(n_items: int, draws: int, seed: int) -> Array:
    """Draw all rows of counts at once and keep them for the next call with the same arguments."""
    item_counts = _draw_count_rows(np.random.default_rng(seed), n_items, draws)
    item_counts.flags.writeable = False
    return item_counts


def _draw_count_rows(rng: np.random.Generator, n_items: int, n_rows: int) -> Array:
    """Draw rows of counts: how often each item is taken in a draw of n_items with replacement."""
    # Counting drawn indices is ten times as fast as Generator.multinomial. Every row has its own indices: of 3 items,
    # the draws "0, 2, 2" and "1, 1, 0" are 0, 2, 2 and 4, 4, 3, counted as 1, 0, 2 and 1, 2, 0.
    indices = rng.integers(0, n_items, (n_rows, n_items)) + n_items * np.arange(n_rows)[:, None]
    return np.bincount(indices.ravel(), minlength=n_rows * n_items).reshape(n_rows, n_items).astype(np.float64)


def compute_mean_per_draw(counts: Array, values: Array) -> Array:
    """Compute the mean over the drawn items.

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).

    Returns
    -------
    array (draws, units)
    """
    return np.asarray(counts @ values / counts.sum(axis=1, keepdims=True))


def average_columns_in_each_draw(columns: Columns, counts: Array) -> dict[str, Array]:
    """Compute the mean of every column over the drawn items: a statistic.

    Parameters
    ----------
    columns, counts
        See the module's docstring.

    Returns
    -------
    dict
        Name of the column -> array (draws, units).
    """
    return {name: compute_mean_per_draw(counts, values) for name, values in columns.items()}


def compute_item_sd_in_each_draw(counts: Array, values: Array) -> Array:
    """Compute the standard deviation (n - 1) over the drawn items.

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).

    Returns
    -------
    array (draws, units)
        NaN with a single item.
    """
    n = counts.sum(axis=1, keepdims=True)
    centred = values - values.mean(axis=0)  # without it, two large sums are subtracted below and digits are lost
    squares = counts @ centred**2
    spread = squares - (counts @ centred) ** 2 / n
    # If all drawn values are equal, rounding leaves a tiny number whose root would look like a spread.
    spread = np.where(spread > 1e-13 * squares, spread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, np.sqrt(spread / (n - 1)), np.nan)


def compute_ratio_of_sums_per_draw(counts: Array, numerator: Array, denominator: Array) -> Array:
    """Divide two sums over the drawn items, as in a mean over rows.

    Parameters
    ----------
    counts, numerator, denominator
        (draws, items), and twice (items, units).

    Returns
    -------
    array (draws, units)
        NaN where the lower sum is 0.
    """
    return divide_one_drawn_sum_by_another(counts @ numerator, counts @ denominator)


def compute_shares_or_differences_per_draw(
    columns: Columns, counts: Array, parts_by_figure: Mapping[str, Sequence[tuple[str, str]]]
) -> dict[str, Array]:
    """Compute shares, and differences of two, over the drawn items: a statistic where the figures are bound.

    Parameters
    ----------
    columns, counts
        See the module's docstring.
    parts_by_figure
        As in `shares.build_shares_by_figure`, which names them to `bootstrap_intervals`; of two shares, the figure is
        the first minus the second.

    Returns
    -------
    dict
        Figure -> array (draws, units).
    """
    return {
        name: functools.reduce(
            np.subtract,
            [compute_ratio_of_sums_per_draw(counts, columns[hits], columns[totals]) for hits, totals in parts],
        )
        for name, parts in parts_by_figure.items()
    }


def divide_one_drawn_sum_by_another(numerator: Array, denominator: Array) -> Array:
    """Divide two sums over the drawn items that are there already.

    Parameters
    ----------
    numerator, denominator
        Twice (draws, units).

    Returns
    -------
    array (draws, units)
        NaN where the lower sum is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator != 0, numerator / denominator, np.nan)


def compute_expanded_percentiles(samples: Array, n_items: int) -> tuple[Array, Array]:
    """Compute the expanded percentiles of draws, with linear interpolation.

    Expanded: `significance.compute_tail_share_matching_t_interval`.

    Parameters
    ----------
    samples
        Draws of a figure along the first axis: (draws, ...).
    n_items
        How many items were drawn from.

    Returns
    -------
    tuple of two arrays (...)
        Lower and upper ends; NaN where a draw is, and everywhere for fewer than two items.
    """
    if n_items < 2:
        nothing = np.full(samples.shape[1:], np.nan)
        return nothing, nothing
    tail = compute_tail_share_matching_t_interval(LEVEL, n_items)
    lower, upper = np.quantile(samples, [tail, 1 - tail], axis=0)
    return lower, upper


def bootstrap_intervals(
    columns: Columns,
    statistic: Statistic,
    shares: Shares | None = None,
    forms: Forms | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Interval]:
    """Compute intervals for every unit, over the items that the unit has.

    Parameters
    ----------
    columns
        Name -> array (items, units). A unit *has* the items for which none of its columns is NaN; these are resampled.
    statistic
        See the module's docstring.
    shares
        The figures of the statistic that are shares, or differences of two. For a unit without an answer in them, the
        figure is resampled.
    forms
        The figures that have another interval than percentiles of at least `forms.LEAST` items.
    draws, seed
        Number of draws (0: estimates only, intervals NaN), and seed of the generator.

    Returns
    -------
    dict
        Name of the figure -> `Interval` over units.

    Raises
    ------
    InputError
        As `iterate_drawn_item_counts`.
    """
    units = next(iter(columns.values())).shape[1]
    targets = [(unit,) for unit in range(units)]
    return _bootstrap_units_or_differences(columns, statistic, shares, forms or {}, targets, draws, seed)


def bootstrap_differences(
    columns: Columns,
    statistic: Statistic,
    pairs: Sequence[tuple[int, int]],
    shares: Shares | None = None,
    forms: Forms | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Interval]:
    """Compute intervals of differences between units, a minus b, on the items that both have.

    Both units of a pair are computed from the same draws, so what an item adds to both of them cancels.

    Parameters
    ----------
    columns, statistic, shares, forms, draws, seed
        As in `bootstrap_intervals`; a difference has no interval of `forms` in closed form, but needs as many items.
    pairs
        Indices (a, b) of units.

    Returns
    -------
    dict
        Name of the figure -> `Interval` over pairs.

    Raises
    ------
    InputError
        As `iterate_drawn_item_counts`.
    """
    return _bootstrap_units_or_differences(columns, statistic, shares, forms or {}, list(pairs), draws, seed)


def _bootstrap_units_or_differences(
    columns: Columns, statistic: Statistic, shares: Shares | None, forms: Forms, targets: Sequence[tuple[int, ...]],
    draws: int, seed: int,
) -> dict[str, Interval]:  # fmt: skip
    """Compute intervals of targets: single units (a,) or differences (a, b)."""
    _refuse_invalid_draws_or_seed(draws, seed)  # also where all figures are shares, which need no draws
    complete = ~np.any([np.isnan(values) for values in columns.values()], axis=0)
    has = np.array([complete[:, target].all(axis=1) for target in targets], bool).reshape(len(targets), len(complete))
    names = statistic({name: np.zeros((1, 1)) for name in columns}, np.ones((1, 1)))
    intervals = {name: build_interval_without_values(has.sum(axis=1)) for name in names}
    for items, block in _yield_items_and_targets_having_them(has):
        unit_columns, sides = _select_unit_columns_and_locate_sides(columns, items, [targets[index] for index in block])
        whole = statistic(unit_columns, np.ones((1, len(items))))
        for name in names:
            intervals[name].estimate[block] = _convert_unit_draws_to_target_draws(whole[name], sides)[0]
        tests = compute_mcnemar_p_of_share_differences(shares, unit_columns, *sides) if len(sides) == 2 else {}
        for name, (p, least) in tests.items():
            intervals[name].p[block], intervals[name].p_least[block] = p, least
        if draws == 0:
            continue
        share_ends = _compute_interval_ends_by_share_figure(shares, unit_columns, sides)
        for name, (lower, upper) in share_ends.items():
            intervals[name].lower[block], intervals[name].upper[block] = lower, upper
        # The draws give the p value of a difference also where it has another interval.
        resampled_names = [
            name for name in names if len(sides) == 2 or name not in share_ends or np.isnan(share_ends[name]).any()
        ]
        drawn = (
            [statistic(unit_columns, chunk) for chunk in iterate_drawn_item_counts(len(items), draws, seed)]
            if resampled_names
            else []
        )
        for name in resampled_names:
            samples = _convert_unit_draws_to_target_draws(np.concatenate([part[name] for part in drawn]), sides)
            size = np.max([np.abs(whole[name][0, side]) for side in sides], axis=0)
            form = forms.get(name, DRAWN)
            if form.ends is not None and len(sides) == 1 and len(items) >= form.least:
                ends = tuple(end[sides[0]] for end in form.ends(unit_columns[form.column], LEVEL))
            else:
                ends = compute_expanded_percentiles(samples, len(items))
            write_ends_or_reason_into_open_intervals(intervals[name], block, ends, size, form.least)
            # Without an interval, nothing is known but that equal items do not differ; few items allow a test, though.
            bare = np.isnan(intervals[name].lower[block]) & (intervals[name].missing[block] != FEW)
            bare &= (len(items) < 2) | (np.abs(samples[0]) > ROUNDING)
            bare |= intervals[name].missing[block] == DECIDED
            drawn_p = np.where(bare, np.nan, compute_two_sided_bootstrap_p(samples, len(items)))
            is_open = np.isnan(intervals[name].p[block]) & ~np.isnan(drawn_p)
            intervals[name].p[block[is_open]], intervals[name].p_least[block[is_open]] = (
                drawn_p[is_open],
                compute_smallest_bootstrap_p(draws, len(items)),
            )
    return intervals


def _compute_interval_ends_by_share_figure(
    shares: Shares | None, columns: Columns, side_units: Sequence[npt.NDArray[np.intp]]
) -> dict[str, tuple[Array, Array]]:
    """Compute the intervals of those figures that are one share, or a difference of two, in the targets."""
    ends = {}
    for name, parts in (shares(columns) if shares else {}).items():
        terms = [
            estimate.select_units(side)
            for estimate in (estimate_share(part, LEVEL) for part in parts)
            for side in side_units
        ]
        if len(terms) == 1:
            ends[name] = terms[0].lower, terms[0].upper
        elif len(terms) == 2:
            ends[name] = newcombe(*terms)
    return ends


def _yield_items_and_targets_having_them(
    has_item: npt.NDArray[np.bool_],
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield sets of items, each with a few of the targets that have exactly these; skip targets without items."""
    if not len(has_item):
        return
    sets, which = np.unique(has_item, axis=0, return_inverse=True)
    for number, items in enumerate(sets):
        members = np.flatnonzero(which.ravel() == number)
        if items.any():
            for start in range(0, len(members), _UNITS):
                yield np.flatnonzero(items), members[start : start + _UNITS]


def _select_unit_columns_and_locate_sides(
    columns: Columns, items: npt.NDArray[np.intp], targets: Sequence[tuple[int, ...]]
) -> tuple[Columns, list[npt.NDArray[np.intp]]]:
    """Select the units that the targets need; return their columns, and where in them each side of a target is."""
    # Of the pairs (4, 7) and (4, 9), the units are 4, 7, 9, and the sides are at 0, 0 and at 1, 2 of these.
    units, place = np.unique(targets, return_inverse=True)
    sides = list(place.reshape(np.shape(targets)).T)
    return {name: values[items][:, units] for name, values in columns.items()}, sides


def _convert_unit_draws_to_target_draws(unit_figures: Array, side_units: Sequence[npt.NDArray[np.intp]]) -> Array:
    """Turn figures of units (draws, units) into those of targets: the figure, or the first side minus the second."""
    return (
        unit_figures[:, side_units[0]]
        if len(side_units) == 1
        else unit_figures[:, side_units[0]] - unit_figures[:, side_units[1]]
    )
