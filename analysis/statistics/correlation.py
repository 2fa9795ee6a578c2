"""Correlations over models: a coefficient with its n, interval and p value, or a refusal where the models are too few.

::

    correlation.coefficient([3, 7, 13, 70], [0.61, 0.70, 0.68, 0.80], method="spearman")
    correlation.matrix(scores)                     # all pairs of columns, pairwise complete
    correlation.coefficient(x, y, given=size)      # partial

Intervals are Fisher's z with standard error 1/sqrt(n - 3), as in R's cor.test (Pearson) and in pingouin (both). The p
value of Pearson's r is the t test's; that of Spearman's rho is exact below ten models (all orders of the ranks, ties
and all), where the t approximation calls four models in the same order significant (p = 0 instead of 0.083), and the t
test's from ten on. A partial coefficient is that of what least squares on the given variable leaves over (of ranks, for
Spearman), with one degree of freedom less; it is what pingouin.partial_corr computes, and needs no extra package.

References
----------
Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation deduced from a small sample. Metron 1.
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.errors import InputError
from analysis.statistics import multiplicity

LEAST, FEW = 4, 10  # no coefficient from fewer models than the first, a mark below the second
METHODS = ("pearson", "spearman")
INTERVAL = "Fisher z"
_NORMAL = 1.959963984540054  # 97.5 % quantile
_SMALLEST = float(np.finfo(float).tiny)  # what is too small for a float is not 0
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation.

    Attributes
    ----------
    r
        Pearson's r or Spearman's rho; NaN where refused or undefined.
    lower, upper
        95 % interval; NaN for a perfect correlation, about which Fisher's z says nothing.
    p
        Two-sided.
    n
        Models that have all values.
    caution
        Why there is no coefficient, or that it rests on few models; else empty.
    """

    r: float
    lower: float
    upper: float
    p: float
    n: int
    caution: str


def coefficient(
    x: npt.ArrayLike, y: npt.ArrayLike, *, method: str = "pearson", given: npt.ArrayLike | None = None
) -> Coefficient:
    """The correlation of two variables over the models that have both, and `given` where there is one.

    Parameters
    ----------
    x, y, given
        One value per model, NaN where it has none.
    method
        "pearson" or "spearman".

    Raises
    ------
    InputError
        For an unknown method.
    """
    if method not in METHODS:
        raise InputError(f"method {method!r} is not known; the methods are {' and '.join(METHODS)}")
    columns = [np.asarray(values, float) for values in (x, y, given) if values is not None]
    complete = ~np.any(np.isnan(columns), axis=0)
    columns = [values[complete] for values in columns]
    n = int(complete.sum())
    if n < LEAST:
        return Coefficient(_NAN, _NAN, _NAN, _NAN, n, f"refused: fewer than {LEAST} models")
    if method == "spearman":
        columns = [pd.Series(values).rank().to_numpy() for values in columns]
    one, other = (columns[0], columns[1]) if given is None else _residuals(*columns)
    if min(_spread(one, columns[0]), _spread(other, columns[1])) == 0:
        return Coefficient(_NAN, _NAN, _NAN, _NAN, n, "undefined: the same value for all models")
    r = _pearson(one, other)
    used = n - (given is not None)
    few = f"few: fewer than {FEW} models" if n < FEW else ""
    exact = method == "spearman" and given is None and n < FEW
    p = _exact(one, other, r) if exact else _t_test(r, used)
    return Coefficient(r, *_fisher(r, used), p, n, few)


def matrix(frame: pd.DataFrame, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """All correlations between the columns of a frame with one row per model, pairwise complete.

    Returns
    -------
    DataFrame
        measure_a, measure_b, method, n, r, lower, upper, p, p_holm (over the pairs of a method), caution: every pair
        once, in the order of the columns.
    """
    pairs = list(itertools.combinations(frame.columns, 2))
    rows = [
        {"measure_a": a, "measure_b": b, "method": method, **row(coefficient(frame[a], frame[b], method=method))}
        for method in methods
        for a, b in pairs
    ]
    names = ["measure_a", "measure_b", "method", "n", "r", "lower", "upper", "p", "caution"]
    table = pd.DataFrame(rows, columns=names)
    table.insert(names.index("p") + 1, "p_holm", holm(table, ["method"]))
    return table


def row(found: Coefficient) -> dict[str, float | int | str]:
    """A coefficient as the fields of a table's row."""
    return {name: getattr(found, name) for name in ("n", "r", "lower", "upper", "p", "caution")}


def holm(table: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """`p` after Holm, families told apart by some columns; what has no p value is no test."""
    corrected = pd.Series(np.nan, table.index)
    for _, family in table.dropna(subset=["p"]).groupby(list(by)):
        corrected[family.index] = multiplicity.holm(family["p"])
    return corrected


def _residuals(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    design = np.column_stack([np.ones(len(given)), given - given.mean()])
    fitted = design @ np.linalg.lstsq(design, np.column_stack([x, y]), rcond=None)[0]
    return x - fitted[:, 0], y - fitted[:, 1]


def _spread(values: np.ndarray, before: np.ndarray) -> float:
    """Spread, taken for 0 where it is no more than what rounding leaves of what there was before."""
    centred = np.abs(values - values.mean()).max()
    return 0.0 if centred <= 1e-12 * max(np.abs(before).max(), 1e-300) else float(centred)


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _fisher(r: float, n: int) -> tuple[float, float]:
    if abs(r) > 1 - 1e-12 or n < LEAST:
        return _NAN, _NAN
    centre, half = np.arctanh(r), _NORMAL / np.sqrt(n - 3)
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def _t_test(r: float, n: int) -> float:
    from scipy.special import stdtr

    freedom = n - 2
    with np.errstate(divide="ignore"):
        p = float(2 * stdtr(freedom, -abs(r) * np.sqrt(freedom / np.float64((1 - r) * (1 + r)))))
    return max(p, _SMALLEST)


@functools.cache
def _orders(n: int) -> npt.NDArray[np.intp]:
    return np.array(list(itertools.permutations(range(n))), np.intp)


def _exact(x: np.ndarray, y: np.ndarray, r: float) -> float:
    """Share of all orders of one variable whose coefficient is as far from 0."""
    x, y = x - x.mean(), y - y.mean()
    found = np.abs(y[_orders(len(y))] @ x) / np.sqrt((x @ x) * (y @ y))
    return float(np.mean(found >= abs(r) - 1e-9))
