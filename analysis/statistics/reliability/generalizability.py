"""Make coefficients of reliability from variance components: of items by a model, and of models by items and wordings.

Each is a share of variance: that between items, or models, divided by the sum of itself and the error variance.
*Relative* coefficients count as error what changes an order, *absolute* ones also what moves all at once.

References
----------
Brennan, R. L. (2001). Generalizability Theory, sections 1.1 and 4.1 (E rho^2 relative, Phi absolute).
McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients. Psychological
Methods 1, 30-46 (Table 4; ICC of cases 1, 2 and 3).
Krippendorff, K. (2019). Content Analysis, 4th edition, chapter 12 (alpha of intervals).
"""

from __future__ import annotations

import numpy as np

from analysis.statistics.reliability.components import Array, ModelComponents
from analysis.statistics.reliability.panel import Panel
from analysis.statistics.resampling import LEVEL
from analysis.statistics.rounding import DIGITS

DRAWS = 4_000
LEAST_FREEDOM = 5  # of what is left: with fewer, wordings and items are not told apart well enough for an interval


def compute_intraclass_correlations(panel: Panel) -> dict[str, float]:
    """Compute the intraclass correlations of a panel: how far one wording, or the mean of all, tells items apart.

    Returns
    -------
    dict
        icc and icc_mean. Nested: ICC(1) of one wording and of the mean of an item's. Crossed: ICC(A,1) and ICC(A,k),
        where a wording that moves all items counts as error; and icc_order, icc_order_mean: ICC(C,1) and ICC(C,k),
        where it does not, unless items have different ones (`Incidence.unshared_variance`); both are NaN where nested.
        icc_sample, only where answers were sampled: that of one wording and a single sample. With one wording of each
        item, nothing but sampling counts as error. NaN where the components are; negative where that of items is.
    """
    order, sampled, n_wordings = panel.inner, panel.sampled, panel.n_wordings
    shared = panel.wording if panel.crossed and not np.isnan(panel.wording) else 0.0
    error = order + shared
    coefficients = {
        "icc": _compute_signal_share(panel.item, error),
        "icc_mean": _compute_signal_share(panel.item, error / n_wordings),
    }
    if sampled:
        coefficients["icc_sample"] = _compute_signal_share(panel.item, error - sampled.noise_variance + sampled.sample)
    unshared_error = shared * panel.incidence.unshared_variance
    return coefficients | {
        "icc_order": _compute_signal_share(panel.item, order) if panel.crossed else np.nan,
        "icc_order_mean": _compute_signal_share(panel.item, order / n_wordings + unshared_error)
        if panel.crossed
        else np.nan,
    }


def compute_krippendorff_alpha(values: Array) -> float:
    """Compute Krippendorff's alpha of answers (items, wordings) on an interval scale; NaN without two that differ.

    The observed disagreement is the mean squared difference of two answers to one item, the expected one that of any
    two answers; both are sums of squares. The package `krippendorff` makes a table of all pairs of different values
    instead: with 30,000 exact probabilities it would take 7 GB.
    """
    has_answer = ~np.isnan(values)
    values, has_answer = values[has_answer.sum(axis=1) > 1], has_answer[has_answer.sum(axis=1) > 1]
    sizes, n = has_answer.sum(axis=1), int(has_answer.sum())
    if n < 2:
        return np.nan
    first = values[has_answer][0]  # less an answer, those that are all alike are 0, and no sum of them is rounding
    filled = np.where(has_answer, values - first, 0.0)
    filled = np.where(np.abs(filled) > DIGITS * np.nanmax(np.abs(values)), filled, 0.0)
    means = filled.sum(axis=1) / sizes
    within = (np.where(has_answer, filled - means[:, None], 0.0) ** 2).sum(axis=1)
    total = float((np.where(has_answer, filled - filled.sum() / n, 0.0) ** 2).sum())
    observed = float((within * sizes / (sizes - 1)).sum()) / n
    return 1 - observed * (n - 1) / total if total > 0 else np.nan


def compute_relative_coefficient(components: ModelComponents, n_items: float, n_wordings: float) -> float:
    """Compute the relative coefficient (E rho^2) of models' means over other numbers of items and wordings of each.

    Parameters
    ----------
    components
        Of several models; negative ones count as 0.
    n_items, n_wordings
        How many items, and wordings of each, the means are foreseen over.

    Returns
    -------
    float
        Within 0 and 1; NaN where models do not differ in anything.
    """
    return _compute_signal_share(
        max(components.model, 0.0), _compute_relative_error_variance(components, n_items, n_wordings)
    )


def compute_absolute_coefficient(components: ModelComponents, n_items: float, n_wordings: float) -> float:
    """Compute the absolute coefficient (Phi): items and wordings that move all models are errors, too.

    Parameters
    ----------
    components, n_items, n_wordings
        As in `compute_relative_coefficient`.

    Returns
    -------
    float
        Within 0 and 1; NaN where nothing differs.
    """
    item, wording = max(components.item, 0.0), max(np.nan_to_num(components.wording), 0.0)
    if np.isnan(components.item_wording):
        more = item / n_items + wording / n_items / n_wordings
    else:
        shared = wording / components.incidence.predict_effective_n_wordings(n_wordings)
        more = item / n_items + shared + max(components.item_wording, 0.0) / n_items / n_wordings
    return _compute_signal_share(
        max(components.model, 0.0), _compute_relative_error_variance(components, n_items, n_wordings) + more
    )


def compute_relative_coefficient_interval(components: ModelComponents, seed: int = 0) -> tuple[float, float]:
    """Compute the interval of the relative coefficient with the numbers of the study, for models, items and wordings
    like these.

    Generalized: mean squares are drawn as S f / X, with X from the chi-square distribution of f degrees of freedom. The
    spread of the models' means has as many as models less one. What models make of items, and of wordings that items
    share, may differ between these: however many models there are, it tells of other items and wordings with as many
    as there are of them, less one. So the error of *these* is taken out of the spread of the means with the degrees of
    freedom of models by items (or by wordings), and that of *others* is drawn around it once more.

    Parameters
    ----------
    components
        Of several models.
    seed
        Of the draws.

    Returns
    -------
    tuple of float
        Both within 0 and 1; NaN where nothing differs, or fewer than `LEAST_FREEDOM` degrees of freedom are left: with
        2 of 19 wordings of each of 10 items, such intervals covered .82 to .95.
    """
    rng = np.random.default_rng(seed)
    models, items, incidence = components.n_models - 1, components.n_items - 1, components.incidence
    shared = not np.isnan(components.model_wording)
    by_item = components.model_item + components.residual / incidence.n_wordings
    by_wording = components.model_wording if shared else 0.0
    by_item += by_wording * incidence.unshared_variance  # items have different wordings
    if not components.spread > 0 or components.freedom < LEAST_FREEDOM:
        return np.nan, np.nan

    def draw_variance(variance: float, free: float) -> Array:
        """Draw what a true variance may be, given its estimate and degrees of freedom."""
        return max(variance, 0.0) * free / rng.chisquare(free, DRAWS)

    spread = draw_variance(components.spread, models)
    error_of_these = draw_variance(by_item, models * items) / components.n_items
    error_of_others = error_of_these * items / rng.chisquare(items, DRAWS)
    if shared:
        of_residual = components.residual / components.per_wording
        mean_square = draw_variance(by_wording + of_residual, models * components.levels)
        wording_share = (
            1 / incidence.n_shared - incidence.unshared_variance / components.n_items
        )  # the rest is in `by_item`
        wording_error = np.maximum(mean_square - of_residual, 0.0) * wording_share
        error_of_these = error_of_these + wording_error
        error_of_others = error_of_others + wording_error * components.levels / rng.chisquare(components.levels, DRAWS)
    true = np.maximum(spread - error_of_these, 0.0)
    with np.errstate(invalid="ignore"):
        coefficients = true / (true + error_of_others)
    if np.isnan(coefficients).any():
        return np.nan, np.nan
    low, high = np.quantile(coefficients, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (float(low), float(high)) if high > low else (np.nan, np.nan)


def _compute_relative_error_variance(components: ModelComponents, n_items: float, n_wordings: float) -> float:
    """Compute the error variance that changes the order of models' means over so many items and wordings."""
    by_item, by_wording = max(components.model_item, 0.0), max(np.nan_to_num(components.model_wording), 0.0)
    shared = by_wording / components.incidence.predict_effective_n_wordings(n_wordings) if by_wording else 0.0
    return by_item / n_items + shared + components.residual / n_items / n_wordings


def _compute_signal_share(signal_variance: float, error_variance: float) -> float:
    """Return signal / (signal + error); NaN where the sum is not above 0."""
    total = signal_variance + error_variance
    return float(signal_variance / total) if total > 0 else np.nan
