"""Correlate two measures over models: r with n, interval and p value, or the reason why there are too few models.

::

    correlation.correlate_over_models([3, 7, 13, 70], [0.61, 0.70, 0.68, 0.80], method="spearman")
    correlation.correlate_all_column_pairs(scores)                     # all pairs of columns, pairwise complete
    correlation.correlate_over_models(x, y, control=size)      # partial

Intervals are Fisher's z with standard error 1/sqrt(n - 3), as in R's cor.test (Pearson); for Spearman's rho it is
sqrt((1 + rho^2 / 2) / (n - 3)), without which intervals of a true .9 cover .88 with 10 models and .91 with 30. The p
value of Pearson's r is the t test's; that of Spearman's rho is exact below ten models (all orders of the ranks, also of
tied ones), where the t approximation calls four models in the same order significant (p = 0 instead of 0.083), and the
t test's from ten on, and of partial coefficients. A partial coefficient correlates the residuals of x and y after least
squares on the given variable (of ranks, for Spearman), with one degree of freedom less. pingouin.partial_corr computes
the same.

References
----------
Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation deduced from a small sample. Metron 1.
Bonett, D. G. and Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 23-28.
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

from analysis.statistics.multiplicity import SMALLEST, correct_families_by_holm
from analysis.statistics.rounding import are_scores_constant, remove_rounding_noise
from ground.errors import InputError

LEAST, FEW = 4, 10  # fewer models than LEAST get no coefficient, fewer than FEW a caution
METHODS = ("pearson", "spearman")
INTERVAL = "Fisher z"
CONSTANT = "undefined: the same value for all models"
EXPLAINED = "undefined: nothing is left of a measure that the given one explains"
_NORMAL = 1.959963984540054  # 97.5 % quantile
PERFECT = 1 - 1e-12  # 1 but for rounding: a larger coefficient has no interval
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Hold one correlation with its interval, p value, n and caution.

    Attributes
    ----------
    r
        Pearson's r or Spearman's rho; NaN where refused or undefined.
    lower, upper
        95 % interval; NaN where r is, for a perfect correlation, where Fisher's z is infinite, and for a partial one of
        four models.
    p
        Two-sided p value.
    n
        Number of models that have all values.
    caution
        Why there is no coefficient, or that there are few models; else empty.
    """

    r: float
    lower: float
    upper: float
    p: float
    n: int
    caution: str


def correlate_over_models(
    x: npt.ArrayLike, y: npt.ArrayLike, *, method: str = "pearson", control: npt.ArrayLike | None = None
) -> Coefficient:
    """Correlate two variables over the models that have both.

    Parameters
    ----------
    x, y
        One value per model, NaN if it has none.
    method
        "pearson" or "spearman".
    control
        A third variable, whose influence is removed from both (partial correlation).

    Returns
    -------
    Coefficient
        NaN, with the reason in `caution`, for fewer than `LEAST` models, for a constant variable, and where `control`
        explains a variable wholly.

    Raises
    ------
    InputError
        For an unknown method.
    """
    if method not in METHODS:
        raise InputError(f"method {method!r} is not known; the methods are {' and '.join(METHODS)}")
    columns = [np.asarray(values, float) for values in (x, y, control) if values is not None]
    complete = ~np.any(np.isnan(columns), axis=0)
    columns = [values[complete] for values in columns]
    n = int(complete.sum())
    if n < LEAST:
        return Coefficient(_NAN, _NAN, _NAN, _NAN, n, f"refused: fewer than {LEAST} models")
    columns = [remove_rounding_noise(values) for values in columns]
    if any(are_scores_constant(values) for values in columns[:2]):
        return Coefficient(_NAN, _NAN, _NAN, _NAN, n, CONSTANT)
    if method == "spearman":
        columns = [pd.Series(values).rank().to_numpy() for values in columns]
    x_values, y_values = (columns[0], columns[1]) if control is None else _compute_residuals_of_both_variables(*columns)
    # What is left of a variable that the control explains is rounding, compared with the variable itself.
    if any(
        are_scores_constant(residual, np.abs(whole).max())
        for residual, whole in zip((x_values, y_values), columns[:2], strict=True)
    ):
        return Coefficient(_NAN, _NAN, _NAN, _NAN, n, EXPLAINED)
    r = float(np.corrcoef(x_values, y_values)[0, 1])
    used = n - (control is not None)
    few = f"few: fewer than {FEW} models" if n < FEW else ""
    exact = method == "spearman" and control is None and n < FEW
    p = _compute_exact_permutation_p(x_values, y_values, r) if exact else _compute_t_test_p(r, used)
    ranked = 1 + r**2 / 2 if method == "spearman" else 1.0
    return Coefficient(r, *compute_fisher_interval(r, used, ranked), p, n, few)


def correlate_all_column_pairs(frame: pd.DataFrame, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """Correlate every pair of columns of a frame, over the models that have both values.

    Parameters
    ----------
    frame
        One row per model, one column per measure.
    methods
        Some of `METHODS`.

    Returns
    -------
    DataFrame
        measure_a, measure_b, method, n, r, lower, upper, p, p_holm (over the pairs of a method), caution: every pair
        once, in the order of the columns.

    Raises
    ------
    InputError
        For an unknown method.
    """
    pairs = list(itertools.combinations(frame.columns, 2))
    rows = [
        {
            "measure_a": a,
            "measure_b": b,
            "method": method,
            **build_coefficient_row(correlate_over_models(frame[a], frame[b], method=method)),
        }
        for method in methods
        for a, b in pairs
    ]
    names = ["measure_a", "measure_b", "method", "n", "r", "lower", "upper", "p", "caution"]
    table = pd.DataFrame(rows, columns=names)
    table.insert(names.index("p") + 1, "p_holm", correct_families_by_holm(table, ["method"]))
    return table


def build_coefficient_row(correlation: Coefficient) -> dict[str, float | int | str]:
    """Return a coefficient as the fields of a table's row: n, r, lower, upper, p, caution."""
    return {name: getattr(correlation, name) for name in ("n", "r", "lower", "upper", "p", "caution")}


def _compute_residuals_of_both_variables(
    x: np.ndarray, y: np.ndarray, control: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a straight line on `control` does not explain of x and of y."""
    design = np.column_stack([np.ones(len(control)), control - control.mean()])
    fitted = design @ np.linalg.lstsq(design, np.column_stack([x, y]), rcond=None)[0]
    return x - fitted[:, 0], y - fitted[:, 1]


def compute_fisher_interval(r: float, n: int, variance_factor: float = 1.0) -> tuple[float, float]:
    """Compute the 95 % interval of a coefficient by Fisher's z.

    scipy's `pearsonr` has the same formula for Pearson's r, but not for ranks and not for another n.

    Parameters
    ----------
    r, n
        The coefficient, and of how many models or items it is; for a partial one, n is one less.
    variance_factor
        How much larger the variance of a rank correlation is.

    Returns
    -------
    tuple of float
        NaN for a perfect correlation, and for fewer than `LEAST`.
    """
    if abs(r) > PERFECT or n < LEAST:
        return _NAN, _NAN
    centre, half = np.arctanh(r), _NORMAL * np.sqrt(variance_factor / (n - 3))
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def _compute_t_test_p(r: float, n: int) -> float:
    """Return the two-sided p value of a coefficient of n models; for a partial coefficient, n is one less."""
    from scipy.special import stdtr

    freedom = n - 2
    with np.errstate(divide="ignore"):
        p = float(2 * stdtr(freedom, -abs(r) * np.sqrt(freedom / np.float64((1 - r) * (1 + r)))))
    return max(p, SMALLEST)  # else one too small for a float would be 0


@functools.cache
def _list_permutations(n: int) -> npt.NDArray[np.intp]:
    """List every order of n models: (n!, n)."""
    return np.array(list(itertools.permutations(range(n))), np.intp)


def _compute_exact_permutation_p(x: np.ndarray, y: np.ndarray, r: float) -> float:
    """Return the exact p value: the share of all orders of `y` whose coefficient is at least as far from 0 as `r`."""
    coefficients = _list_permuted_abs_correlations(tuple(np.sort(x)), tuple(np.sort(y)))
    # Sorted 0, .5, .5, 1 and r = .5: one lies before .5, so that 1 - 1/4 of the orders are as far from 0.
    return float(1 - np.searchsorted(coefficients, abs(r) - 1e-9) / len(coefficients))


@functools.lru_cache(maxsize=16)
def _list_permuted_abs_correlations(x: tuple[float, ...], y: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """Return how far from 0 the coefficient is in every order of y, sorted: the same for all ranks without ties."""
    centred_x, centred_y = np.array(x) - np.mean(x), np.array(y) - np.mean(y)
    return np.sort(
        np.abs(centred_y[_list_permutations(len(y))] @ centred_x)
        / np.sqrt((centred_x @ centred_x) * (centred_y @ centred_y))
    )
