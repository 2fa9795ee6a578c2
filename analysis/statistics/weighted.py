"""Compute weighted moments and correlations, for the bootstrap of `analysis.statistics.resampling`.

Every function takes counts (draws, items), how often each item was drawn. A row of ones gives the measure itself, so
one formula serves the estimate and its draws. Undefined values are NaN: the kurtosis of a constant score, and any
correlation with a constant score. What differs by rounding only is equal (`analysis.statistics.rounding`); `scale` is
the width of the scale that the scores are on, by default their largest absolute value. SciPy's functions take no
counts: each draw would be a call.

References
----------
Joanes, D. N. and Gill, C. A. (1998). Comparing measures of sample skewness and kurtosis. The Statistician 47, 183-189.
Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251 (tau-b).
Zahl, S. (1977). Jackknifing an index of diversity. Ecology 58, 907-913.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.statistics.resampling import Array, Columns, compute_item_sd_in_each_draw
from analysis.statistics.rounding import remove_rounding_noise

_BLOCK = 512  # items whose pairs are held at a time
# Signs and counts are whole numbers far below 2^24: in single precision, their sums are exact, and twice as fast.
_WHOLE = np.float32
# Sums of equal scores are rounded: they leave at most this spread, relative to their mean square and to their mean.
_RESIDUE, _RESOLUTION = 1e-13, 1e-15


def compute_kurtosis_and_variance_per_draw(
    counts: Array, values: Array, *, biased: bool = True, scale: float | None = None
) -> dict[str, Array]:
    """Compute kurtosis (Fisher's: 0 for a normal distribution) and variance (n - 1) over the drawn items.

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).
    biased
        True: kurtosis is m4 / m2^2 - 3 (g2 of Joanes and Gill, the default of scipy). False: it is G2, which is 0 on
        average over samples of a normal distribution, and needs four items.
    scale
        Width of the scale; None: the largest absolute value of a unit.

    Returns
    -------
    dict
        kurtosis (NaN if all are equal), variance: (draws, units).
    """
    values = _remove_rounding_noise_by_unit(values, scale)
    return {
        "kurtosis": _compute_drawn_kurtosis_of_cleaned_scores(counts, values, biased),
        "variance": compute_item_sd_in_each_draw(counts, values) ** 2,
    }


def kurtosis(counts: Array, values: Array, *, biased: bool = True, scale: float | None = None) -> Array:
    """Compute Fisher's kurtosis over the drawn items.

    Parameters
    ----------
    counts, values, biased, scale
        As in `compute_kurtosis_and_variance_per_draw`.

    Returns
    -------
    array (draws, units)
        NaN if all are equal.
    """
    return _compute_drawn_kurtosis_of_cleaned_scores(counts, _remove_rounding_noise_by_unit(values, scale), biased)


def _compute_drawn_kurtosis_of_cleaned_scores(counts: Array, values: Array, biased: bool) -> Array:
    """Compute Fisher's kurtosis over the drawn items of scores that have no rounding noise."""
    n = counts.sum(axis=1, keepdims=True)
    centre = values.mean(axis=0)
    centred = values - centre  # without it, large powers are subtracted below and digits are lost
    first, second, third, fourth = (counts @ centred**power / n for power in (1, 2, 3, 4))
    spread = second - first**2
    tails = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    constant = (spread <= _RESIDUE * second) | (spread <= (_RESOLUTION * centre) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(constant, np.nan, tails / spread**2 - 3)
        if biased:
            return np.asarray(excess)
        return np.where(n > 3, (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6), np.nan)


def round_halves_up_to_whole_numbers(values: Array) -> Array:
    """Round every score to the nearest whole number, halves up, so that no number is favoured (8.5 is 9, 7.5 is 8)."""
    return np.asarray(np.floor(np.asarray(values, float) + 0.5))


def compute_mode_share_and_entropy_per_draw(
    counts: Array, values: Array, n_numbers: float = np.inf
) -> dict[str, Array]:
    """Measure how the drawn scores spread over the whole numbers, each score counted at the nearest one.

    The entropy of the scores at hand is too small for that of scores like these: rare numbers are not seen. So the
    jackknife corrects it (Zahl 1977): n H - (n - 1) mean of H without one item. Its interval is around this value
    (`analysis.statistics.forms.build_entropy_interval_form`).

    Parameters
    ----------
    counts, values
        (draws, items) and (items, units).
    n_numbers
        How many numbers there are to choose from: no entropy is above log2 of it.

    Returns
    -------
    dict
        mode_share: share of the most frequent number, 0 to 1; entropy: in bits, corrected, 0 for one number only;
        (draws, units).
    """
    indicators = [_build_value_indicators(column) for column in round_halves_up_to_whole_numbers(values).T]
    # Of units with 3, 2 and 4 different numbers, the columns side by side begin at 0, 3 and 5.
    starts = np.cumsum([0, *(of_unit.shape[1] for of_unit in indicators[:-1])])
    sizes, n = counts @ np.hstack(indicators), counts.sum(axis=1, keepdims=True)
    return {
        "mode_share": np.maximum.reduceat(sizes / n, starts, axis=1),
        "entropy": _estimate_jackknife_entropy(sizes, n, starts, n_numbers),
    }


def _estimate_jackknife_entropy(
    class_sizes: Array, n: Array, unit_starts: npt.NDArray[np.int64], n_numbers: float
) -> Array:
    """Compute the jackknife's entropy of classes (draws, classes) that begin anew at `unit_starts` for every unit.

    With g(x) = x log2 x, the entropy of n scores is log2 n - sum g(size) / n. Without an item of a class, its g(size)
    becomes g(size - 1): items of one class count alike, so that there are as many terms as classes.
    """
    terms = _compute_x_log2_x(class_sizes)
    total = np.add.reduceat(terms, unit_starts, axis=1)
    lost = np.add.reduceat(class_sizes * (terms - _compute_x_log2_x(class_sizes - 1)), unit_starts, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.log2(n) - total / n
        without = np.where(n > 1, np.log2(n - 1) - (total - lost / n) / (n - 1), entropy)
    return np.clip(n * entropy - (n - 1) * without, 0.0, np.log2(n_numbers))


def _compute_x_log2_x(sizes: Array) -> Array:
    """Compute x log2 x; 0 where x is not positive."""
    return np.asarray(sizes * np.log2(np.where(sizes > 0, sizes, 1.0)))


def _build_value_indicators(values: Array) -> Array:
    """Mark the items that have each distinct value, in the order of the values: (items, distinct values) of 0 and 1."""
    distinct, which = np.unique(values, return_inverse=True)
    return np.eye(len(distinct))[which]


def find_mode_and_count_distinct(values: Array) -> tuple[float, int]:
    """Find the most frequent number (of several, the lowest), and count different ones, after rounding."""
    numbers, sizes = np.unique(round_halves_up_to_whole_numbers(values), return_counts=True)
    return (float(numbers[sizes.argmax()]), len(numbers)) if len(numbers) else (np.nan, 0)


def compute_gold_correlations_per_draw(
    columns: Columns, counts: Array, *, scale: float | None = None
) -> dict[str, Array]:
    """Correlate scores with human ones by Kendall's tau-b, Spearman and Pearson.

    Parameters
    ----------
    columns
        `score` and `gold`: (items, units).
    counts
        (draws, items).
    scale
        Width of the scale that both are on; None: the largest absolute value of a unit.

    Returns
    -------
    dict
        tau, spearman, pearson: (draws, units); NaN if either column is constant over the drawn items.
    """
    x = _remove_rounding_noise_by_unit(columns["score"], scale)
    y = _remove_rounding_noise_once_if_columns_equal(columns["gold"], scale)
    return {
        "tau": _correlate_by_tau(counts, x, y),
        "spearman": _correlate_by_spearman(counts, x, y),
        "pearson": _correlate_by_pearson(counts, x, y),
    }


def compute_kendall_tau_per_draw(counts: Array, x: Array, y: Array, *, scale: float | None = None) -> Array:
    """Compute Kendall's tau-b with ties and repeated items.

    Parameters
    ----------
    counts, x, y
        (draws, items), and twice (items, units).
    scale
        As in `compute_gold_correlations_per_draw`.

    Returns
    -------
    array (draws, units)
        NaN if either column is constant over the drawn items.
    """
    return _correlate_by_tau(
        counts, _remove_rounding_noise_by_unit(x, scale), _remove_rounding_noise_once_if_columns_equal(y, scale)
    )


def compute_pearson_correlation_per_draw(counts: Array, x: Array, y: Array) -> Array:
    """Compute Pearson's correlation.

    Parameters
    ----------
    counts, x, y
        As in `compute_kendall_tau_per_draw`.

    Returns
    -------
    array (draws, units)
        NaN if either column is constant over the drawn items.
    """
    return _correlate_by_pearson(
        counts, _remove_rounding_noise_by_unit(x, None), _remove_rounding_noise_once_if_columns_equal(y, None)
    )


def _remove_rounding_noise_by_unit(values: Array, scale: float | None) -> Array:
    """Free every unit of (items, units) from rounding noise."""
    return np.column_stack([remove_rounding_noise(unit, scale) for unit in values.T])


def _remove_rounding_noise_once_if_columns_equal(values: Array, scale: float | None) -> Array:
    """Free scores from rounding noise, in one column where all units have the same: as a rule, human scores."""
    return _remove_rounding_noise_by_unit(values[:, :1] if (values == values[:, :1]).all() else values, scale)


def _correlate_by_tau(counts: Array, x: Array, y: Array) -> Array:
    """Compute tau-b from c' S c / 2, the concordant minus the discordant pairs of a draw with counts c.

    S (items, items) holds sign(x_i - x_j) sign(y_i - y_j). It is the same for all draws, so that a draw costs a matrix
    product instead of a sort.
    """
    balance, small = [], counts.astype(_WHOLE)
    for x_scores, y_scores in zip(*(scores.T for scores in np.broadcast_arrays(x, y)), strict=True):
        signs = (
            _compute_signs_of_some_items_minus_all(x_scores, rows)
            * _compute_signs_of_some_items_minus_all(y_scores, rows)
            for rows in _list_slices_of_item_blocks(x_scores)
        )
        balance.append(np.einsum("di,di->d", counts, np.hstack([small @ block for block in signs])))
    drawn = counts.sum(axis=1, keepdims=True)
    untied = (drawn**2 - _sum_tie_powers(counts, x, 2)) * (drawn**2 - _sum_tie_powers(counts, y, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(untied > 0, np.column_stack(balance) / np.sqrt(untied), np.nan)


def _correlate_by_spearman(counts: Array, x: Array, y: Array) -> Array:
    """Compute Pearson's correlation of the ranks, ties sharing their mean rank.

    In the draw "a, b, b, c" of the values 5, 7, 9 (counts 1, 2, 1), b has the ranks 2 and 3, so both get 2.5. Twice the
    distance of a rank from the mean rank is how many drawn items are below, less how many are above; the squared
    distances from it of n ranks sum to (n^3 - sum t^3) / 12, with t the sizes of the ties.
    """
    small, product = counts.astype(_WHOLE), []
    for unit in range(x.shape[1]):
        of_x = counts * np.hstack(
            [
                small @ _compute_signs_of_some_items_minus_all(x[:, unit], rows)
                for rows in _list_slices_of_item_blocks(x)
            ]
        )
        if unit < y.shape[1]:
            of_y = np.hstack(
                [
                    small @ _compute_signs_of_some_items_minus_all(y[:, unit], rows)
                    for rows in _list_slices_of_item_blocks(y)
                ]
            )
        product.append(np.einsum("di,di->d", of_x, of_y) / 4)
    drawn = counts.sum(axis=1, keepdims=True)
    squares = (drawn**3 - _sum_tie_powers(counts, x, 3)) / 12 * ((drawn**3 - _sum_tie_powers(counts, y, 3)) / 12)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, np.clip(np.column_stack(product) / np.sqrt(squares), -1, 1), np.nan)


def _list_slices_of_item_blocks(values: Array) -> list[slice]:
    """List slices that cut the items into blocks of at most `_BLOCK`."""
    return [slice(start, start + _BLOCK) for start in range(0, len(values), _BLOCK)]


def _compute_signs_of_some_items_minus_all(values: Array, item_slice: slice) -> Array:
    """Compare some items with all: (all, some)."""
    return np.sign(values[item_slice] - values[:, None]).astype(_WHOLE)


def _sum_tie_powers(counts: Array, scores: Array, power: int) -> Array:
    """Sum a power of the sizes of the ties, which are how often each distinct value was drawn: (draws, units)."""
    all_different = [len(np.unique(values)) == len(values) for values in scores.T]  # as most exact scores are
    sizes = (
        counts if is_distinct else counts @ _build_value_indicators(values)
        for values, is_distinct in zip(scores.T, all_different, strict=True)
    )
    powers = f"{','.join(['dv'] * power)}->d"
    return np.column_stack([np.einsum(powers, *[ties] * power) for ties in sizes])


def _correlate_by_pearson(counts: Array, x: Array, y: Array) -> Array:
    """Compute Pearson's correlation over the drawn items; NaN for a constant column."""
    n = counts.sum(axis=1, keepdims=True)
    left, right = x - x.mean(axis=0), y - y.mean(axis=0)  # without it, squares are subtracted below and digits are lost
    sum_x, sum_y, square_x, square_y, product = (counts @ v for v in (left, right, left**2, right**2, left * right))
    of_x, of_y = square_x - sum_x**2 / n, square_y - sum_y**2 / n
    varies = (of_x > _RESIDUE * square_x) & (of_y > _RESIDUE * square_y)
    for values, spread in ((x, of_x), (y, of_y)):
        varies = varies & (spread > n * (_RESIDUE * np.abs(values).max(axis=0)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, np.clip((product - sum_x * sum_y / n) / np.sqrt(of_x * of_y), -1, 1), np.nan)
