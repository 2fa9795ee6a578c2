"""Make coefficients of reliability from variance components: of items by a model, and of models by items and wordings.

Each is a share of variance: that of what is to be told apart, divided by itself and the error. *Relative* coefficients
count as error what changes an order, *absolute* ones also what moves all at once.

References
----------
Brennan, R. L. (2001). Generalizability Theory, sections 1.1 and 4.1 (E rho^2 relative, Phi absolute).
McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients. Psychological
Methods 1, 30-46 (Table 4; ICC of cases 1, 2 and 3).
Krippendorff, K. (2019). Content Analysis, 4th edition, chapter 12 (alpha of intervals).
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.reliability.components import Across, Array
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.resampling import LEVEL

DRAWS = 4_000


def icc(panel: Panel) -> dict[str, float]:
    """Compute the intraclass correlations of a panel: how far one wording, or the mean of all, tells items apart.

    Returns
    -------
    dict
        icc and icc_mean. Nested: ICC(1) of one wording and of the mean of all. Crossed: ICC(A,1) and ICC(A,k), where a
        wording that moves all items counts as error; and icc_order, icc_order_mean: ICC(C,1) and ICC(C,k), where it
        does not. icc_sample, where answers were sampled: that of one wording and a single sample. With one wording of
        each item, nothing but sampling counts as error. NaN where the components are; negative where that of items is.
    """
    order, sampled = panel.inner, panel.sampled
    error = order + (panel.wording if panel.crossed and panel.n_wordings > 1 else 0.0)
    found = {"icc": _share(panel.item, error), "icc_mean": _share(panel.item, error / panel.n_wordings)}
    if sampled:
        found["icc_sample"] = _share(panel.item, error - sampled.noise + sampled.sample)
    return found | {
        "icc_order": _share(panel.item, order) if panel.crossed else np.nan,
        "icc_order_mean": _share(panel.item, order / panel.n_wordings) if panel.crossed else np.nan,
    }


def alpha(values: Array) -> float:
    """Compute Krippendorff's alpha of answers (items, wordings) on an interval scale; NaN without two that differ.

    The observed disagreement is the mean squared difference of two answers to one item, the expected one that of any
    two answers; both are sums of squares. The package `krippendorff` makes a table of all pairs of different values
    instead: with 30,000 exact probabilities it would take 7 GB.
    """
    known = ~np.isnan(values)
    values, known = values[known.sum(axis=1) > 1], known[known.sum(axis=1) > 1]
    sizes, n = known.sum(axis=1), int(known.sum())
    if n < 2:
        return np.nan
    filled = np.where(known, values, 0.0)
    means = filled.sum(axis=1) / sizes
    within = (np.where(known, filled - means[:, None], 0.0) ** 2).sum(axis=1)
    total = float((np.where(known, filled - filled.sum() / n, 0.0) ** 2).sum())
    observed = float((within * sizes / (sizes - 1)).sum()) / n
    return 1 - observed * (n - 1) / total if total > 0 else np.nan


def relative(found: Across, n_items: float, n_wordings: float) -> float:
    """Compute the relative coefficient (E rho^2) of models' means over other numbers of items and wordings.

    Negative components of the error count as 0. A negative component of models gives a negative coefficient.
    """
    return _share(found.model, _relative_error(found, n_items, n_wordings))


def absolute(found: Across, n_items: float, n_wordings: float) -> float:
    """Compute the absolute coefficient (Phi): items and wordings that move all models are errors, too."""
    item, wording = max(found.item, 0.0), max(np.nan_to_num(found.wording), 0.0)
    if np.isnan(found.item_wording):
        more = item / n_items + wording / n_items / n_wordings
    else:
        more = item / n_items + wording / n_wordings + max(found.item_wording, 0.0) / n_items / n_wordings
    return _share(found.model, _relative_error(found, n_items, n_wordings) + more)


def relative_interval(found: Across, seed: int = 0, level: float = LEVEL) -> tuple[float, float]:
    """Compute the interval of `relative` with the numbers of the study, for models like these.

    Generalized, as in `ranges`: the variance of the models' means and the mean squares of the error are drawn anew.
    """
    rng = np.random.default_rng(seed)
    models, items, wordings = found.n_models - 1, found.n_items - 1, found.n_wordings - 1
    nested = np.isnan(found.model_wording)
    free = models * items * wordings
    if not (nested or free > 0) or not found.spread > 0:
        return np.nan, np.nan
    scale = found.n_items * found.n_wordings
    inner = 0.0 if nested else found.residual * free / rng.chisquare(free, DRAWS)
    shared = found.residual / found.n_wordings + found.model_item
    by_item = max(shared, 0.0) * models * items / rng.chisquare(models * items, DRAWS)
    error = by_item / found.n_items
    if not nested:
        mean_square = max(found.residual / found.n_items + found.model_wording, 0.0) / found.n_wordings
        by_wording = mean_square * models * wordings / rng.chisquare(models * wordings, DRAWS)
        error = error + np.maximum(by_wording - inner / scale, 0.0)
    spread = found.spread * models / rng.chisquare(models, DRAWS)
    low, high = np.quantile(1 - error / spread, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _relative_error(found: Across, n_items: float, n_wordings: float) -> float:
    by_item, by_wording = max(found.model_item, 0.0), max(np.nan_to_num(found.model_wording), 0.0)
    return by_item / n_items + by_wording / n_wordings + found.residual / n_items / n_wordings


def _share(signal: float, error: float) -> float:
    total = signal + error
    return float(signal / total) if total > 0 else np.nan
