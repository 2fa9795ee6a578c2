"""Compute bootstrap intervals by resampling items, for any statistic that is made of weighted sums.

The items are the clusters: a draw takes n items with replacement, each with all its wordings. A draw is stored as a row
of *counts*, how often each item was taken: of items a, b, c the draw "a, c, c" is the row 1, 0, 2. A mean over the
drawn items is then a matrix product, and the drawn rows are never copied.

A *statistic* is a function ``(columns, counts) -> {name: array (draws, units)}``. ``columns`` maps names to arrays
(items, units); a unit is anything with an interval of its own, such as a model under a condition. ``counts`` is an
array (draws, items). A row of ones gives the estimate itself, so one formula serves the estimate and the draws::

    def figures(columns, counts):
        return {"range_mean": mean(counts, columns["range"]), "range_sd": sd(counts, columns["range"])}

    bootstrap({"range": ranges}, figures)["range_mean"].lower

References
----------
Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 13 (percentile intervals).
Field, C. and Welsh, A. (2007). Bootstrapping clustered data. JRSS B 69, 369-390 (drawing whole clusters).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from analysis.errors import InputError

Array: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = Mapping[str, Array]
Statistic: TypeAlias = Callable[[Columns, Array], Mapping[str, Array]]

DRAWS = 10_000
MOST_DRAWS = 100_000  # more would change no digit that is shown, and would not fit into memory
LEVEL = 0.95
_CHUNK = 2_000_000  # counts held at a time: 16 MB
_UNITS = 64  # units whose draws are held at a time: 5 MB per figure at 10,000 draws


@dataclass(frozen=True, slots=True)
class Interval:
    """Hold one figure for every unit (or pair of units): arrays of one length.

    Attributes
    ----------
    estimate
        The statistic on all items.
    lower, upper
        Percentile interval; NaN with fewer than two items, or if the statistic is undefined in some draw.
    n_items
        Number of items (clusters) that the figure is computed from.
    """

    estimate: Array
    lower: Array
    upper: Array
    n_items: npt.NDArray[np.int64]


def counts(n_items: int, draws: int = DRAWS, seed: int = 0) -> Iterator[Array]:
    """Draw items and count how often each one was taken, in chunks of rows, `draws` rows in all.

    Rows are multinomial (n_items; 1/n_items, ...). The same arguments always give the same counts. That makes
    differences paired: both sides use the same draws.

    Yields
    ------
    array (draws in this chunk, n_items)
        Whole numbers as float64, every row summing to `n_items`.

    Raises
    ------
    InputError
        For fewer than 0 draws or more than `MOST_DRAWS`, and for a seed below 0.
    """
    if not 0 <= draws <= MOST_DRAWS:
        raise InputError(
            f"resamples = {draws}: give a number of bootstrap samples, at most {MOST_DRAWS:,}, or 0 for no intervals"
        )
    if seed < 0:
        raise InputError(f"seed = {seed}: give a whole number from 0 on")
    rng = np.random.default_rng(seed)
    size = max(1, _CHUNK // n_items)
    for start in range(0, draws, size):
        rows = min(size, draws - start)
        # Counting drawn indices is ten times as fast as Generator.multinomial.
        taken = rng.integers(0, n_items, (rows, n_items)) + n_items * np.arange(rows)[:, None]
        yield np.bincount(taken.ravel(), minlength=rows * n_items).reshape(rows, n_items).astype(np.float64)


def mean(counts: Array, values: Array) -> Array:
    """Compute the mean over the drawn items: (draws, items) x (items, units) -> (draws, units)."""
    return np.asarray(counts @ values / counts.sum(axis=1, keepdims=True))


def sd(counts: Array, values: Array) -> Array:
    """Compute the standard deviation over the drawn items, ddof = 1; NaN if only one item was drawn."""
    n = counts.sum(axis=1, keepdims=True)
    centred = values - values.mean(axis=0)  # without it, two large sums are subtracted below and digits are lost
    squares = counts @ centred**2
    spread = squares - (counts @ centred) ** 2 / n
    # If all drawn values are equal, rounding leaves a tiny number whose root would look like a spread.
    spread = np.where(spread > 1e-13 * squares, spread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, np.sqrt(spread / (n - 1)), np.nan)


def ratio(counts: Array, numerator: Array, denominator: Array) -> Array:
    """Divide two sums over the drawn items, as in a mean over rows; NaN where the lower sum is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        below = counts @ denominator
        return np.where(below != 0, counts @ numerator / below, np.nan)


def percentiles(samples: Array, level: float = LEVEL) -> tuple[Array, Array]:
    """Compute both ends of the percentile interval along the first axis (linear interpolation); NaN stays NaN."""
    tail = (1 - level) / 2
    lower, upper = np.quantile(samples, [tail, 1 - tail], axis=0)
    return lower, upper


def bootstrap(
    columns: Columns, statistic: Statistic, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> dict[str, Interval]:
    """Compute percentile intervals for every unit, over the items that the unit has.

    Parameters
    ----------
    columns
        Name -> array (items, units). A unit *has* the items for which none of its columns is NaN; these are resampled.
    statistic
        See the module's docstring.
    draws, seed, level
        Number of draws (0: estimates only, intervals NaN), seed of the generator, coverage.

    Returns
    -------
    dict
        Name of the figure -> `Interval` over units.
    """
    units = next(iter(columns.values())).shape[1]
    return _intervals(columns, statistic, [(unit,) for unit in range(units)], draws, seed, level)


def paired(
    columns: Columns,
    statistic: Statistic,
    pairs: Sequence[tuple[int, int]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Compute percentile intervals of differences between units, a minus b, on the items that both have.

    Both units of a pair are computed from the same draws, so what an item adds to both of them cancels.

    Parameters
    ----------
    columns, statistic, draws, seed, level
        As in `bootstrap`.
    pairs
        Indices (a, b) of units.

    Returns
    -------
    dict
        Name of the figure -> `Interval` over pairs.
    """
    return _intervals(columns, statistic, list(pairs), draws, seed, level)


def _intervals(
    columns: Columns, statistic: Statistic, targets: Sequence[tuple[int, ...]], draws: int, seed: int, level: float
) -> dict[str, Interval]:
    """Compute intervals of targets: single units (a,) or differences (a, b)."""
    complete = ~np.any([np.isnan(values) for values in columns.values()], axis=0)
    has = np.array([complete[:, target].all(axis=1) for target in targets], bool).reshape(len(targets), len(complete))
    names = statistic({name: np.zeros((1, 1)) for name in columns}, np.ones((1, 1)))
    unknown = np.full(len(targets), np.nan)
    found = {name: Interval(unknown.copy(), unknown.copy(), unknown.copy(), has.sum(axis=1)) for name in names}
    for items, block in _blocks(has):
        chosen, contrast = _select(columns, items, [targets[index] for index in block])
        ones = np.ones((1, len(items)))
        for name, figure in statistic(chosen, ones).items():
            found[name].estimate[block] = contrast(figure)[0]
        if len(items) < 2 or draws == 0:
            continue
        drawn = [statistic(chosen, chunk) for chunk in counts(len(items), draws, seed)]
        for name in names:
            samples = contrast(np.concatenate([part[name] for part in drawn]))
            found[name].lower[block], found[name].upper[block] = percentiles(samples, level)
    return found


def _blocks(has: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield sets of items, each with a few of the targets that have exactly these; skip targets without items."""
    if not len(has):
        return
    sets, which = np.unique(has, axis=0, return_inverse=True)
    for number, items in enumerate(sets):
        members = np.flatnonzero(which.ravel() == number)
        if items.any():
            for start in range(0, len(members), _UNITS):
                yield np.flatnonzero(items), members[start : start + _UNITS]


def _select(
    columns: Columns, items: npt.NDArray[np.intp], targets: Sequence[tuple[int, ...]]
) -> tuple[Columns, Callable[[Array], Array]]:
    """Select the units that the targets need; return their columns, and a function from figures of units to targets."""
    units = np.unique(targets).tolist()
    first = [units.index(target[0]) for target in targets]
    second = [units.index(target[-1]) for target in targets]
    single = all(len(target) == 1 for target in targets)

    def contrast(figure: Array) -> Array:
        return figure[:, first] if single else figure[:, first] - figure[:, second]

    return {name: values[items][:, units] for name, values in columns.items()}, contrast
