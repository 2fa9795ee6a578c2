"""Split the variance of answers into parts: items, wordings, what both share, and models with each of these.

Answers are a sum of random effects with mean 0 and of a residual. Henderson's third method fits the factors one after
the other by least squares and equates the reductions in the sum of squares with what they are expected to be. It needs
neither equal numbers nor a normal distribution, and never iterates. Where no answer is missing it is the analysis of
variance of the textbooks, and, where no estimate is negative, also REML. A negative estimate is returned as it is: it
says that the component is small.

Models answer the same items in the same wordings, so that their factor is balanced whatever is missing elsewhere. Their
interactions are the components of each model's answers minus the mean over models, times M / (M - 1).

References
----------
Henderson, C. R. (1953). Estimation of variance and covariance components. Biometrics 9, 226-252.
Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance Components, sections 4.3 (balanced) and 5.5 (method
III).
Brennan, R. L. (2001). Generalizability Theory, section 3.4 (p x i x o and p x (i : o) designs).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.reliability.incidence import Incidence, measure_which_items_have_which_wordings
from analysis.statistics.rounding import DIGITS, SQUARED_ROUNDING, drop_rounding_of_sums
from analysis.statistics.shares import Array


@dataclass(frozen=True, slots=True)
class Components:
    """Hold the variance components of items and wordings.

    Attributes
    ----------
    item, wording, residual
        In the unit of the answers squared. Wordings that are nested in their items have no component apart from the
        residual: `wording` is NaN. All are NaN where the answers do not tell them apart: one item, one wording each.
    freedom
        Degrees of freedom of the residual.
    squares
        Sum of squares that is left of every item with an answer; together `residual` times `freedom`.
    levels, per_wording
        Crossed: degrees of freedom of the wordings, and how many answers a wording's mean counts like: the mean square
        of wordings holds their component and a `per_wording`-th of the residual. Nested: 0, and NaN.
    """

    item: float
    wording: float
    residual: float
    freedom: float
    squares: Array
    levels: float = 0.0
    per_wording: float = np.nan


UNKNOWN = Components(np.nan, np.nan, np.nan, 0.0, np.zeros(0))


def estimate_variance_components(values: Array, crossed: bool, scale: float | None = None) -> Components:
    """Estimate the components of answers.

    Parameters
    ----------
    values
        Answers (items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings; else each has its own, and columns mean nothing.
    scale
        The size of what the answers are differences of, by which rounding is told; None: the largest answer.

    Returns
    -------
    Components
        `UNKNOWN` where the answers do not tell the components apart. What differs by rounding only has no variance.
    """
    has_answer = ~np.isnan(values)
    if has_answer.sum() < 2:
        return UNKNOWN
    filled = np.where(has_answer, values, 0.0)
    # Less their mean, so that no digits are lost in the squares of large answers; no estimate depends on it.
    largest = float(np.abs(filled).max()) if scale is None else scale
    filled = np.where(has_answer, filled - filled.sum() / has_answer.sum(), 0.0)
    filled = np.where(np.abs(filled) > DIGITS * largest, filled, 0.0)
    estimate = _estimate_crossed_components if crossed else _estimate_nested_components
    return estimate(filled, has_answer, largest * largest * float(has_answer.sum()))


def _estimate_nested_components(values: Array, has_answer: npt.NDArray[np.bool_], largest_sum: float) -> Components:
    """Estimate the components of items and residual where every item has wordings of its own."""
    sizes = has_answer.sum(axis=1)
    sizes, values = sizes[sizes > 0], values[sizes > 0]
    n, n_items = int(sizes.sum()), len(sizes)
    if n_items < 2 or n <= n_items:
        return UNKNOWN
    between = float((values.sum(axis=1) ** 2 / sizes).sum())
    total = float((values**2).sum())
    means = values.sum(axis=1) / sizes
    # Squares of what is left, not a difference of sums, which would lose the digits of small wordings in large items.
    squares = (np.where(has_answer[has_answer.any(axis=1)], values - means[:, None], 0.0) ** 2).sum(axis=1)
    residual = drop_rounding_of_sums(float(squares.sum()), largest_sum, SQUARED_ROUNDING) / (n - n_items)
    item = drop_rounding_of_sums(between - values.sum() ** 2 / n - (n_items - 1) * residual, total) / (
        n - float((sizes**2).sum()) / n
    )
    return Components(float(item), np.nan, residual, float(n - n_items), squares)


def _estimate_crossed_components(values: Array, has_answer: npt.NDArray[np.bool_], largest_sum: float) -> Components:
    """Estimate the components of items, wordings and residual where all items share the wordings."""
    values, has_answer = values[has_answer.any(axis=1)], has_answer[has_answer.any(axis=1)]
    values, has_answer = values[:, has_answer.any(axis=0)], has_answer[:, has_answer.any(axis=0)]
    if min(values.shape) < 2:
        return UNKNOWN
    per_item, per_wording, n = has_answer.sum(axis=1), has_answer.sum(axis=0), int(has_answer.sum())
    of_items = float((values.sum(axis=1) ** 2 / per_item).sum())
    of_wordings = float((values.sum(axis=0) ** 2 / per_wording).sum())
    if n == values.size:  # without holes, the equations below say that a wording's effect is its mean less that of all
        right = values.sum(axis=0) - values.sum() / values.shape[1]
        effects, rank, trace = right / len(values), values.shape[1] - 1, float(n - len(values))
    else:
        # Wordings after items: the normal equations of the wordings, with the items taken out.
        weights = has_answer / per_item[:, None]
        equations = np.diag(per_wording.astype(float)) - weights.T @ has_answer
        right = values.sum(axis=0) - weights.T @ values.sum(axis=1)
        effects, _, rank, _ = np.linalg.lstsq(equations, right, rcond=1e-9)
        trace = float(np.trace(equations))
    total = float((values**2).sum())
    added = drop_rounding_of_sums(float(effects @ right), largest_sum, SQUARED_ROUNDING)
    freedom = n - len(values) - int(rank)
    if freedom < 1 or not rank:
        return UNKNOWN
    adjusted = np.where(has_answer, values - effects, 0.0)
    squares = (np.where(has_answer, adjusted - (adjusted.sum(axis=1) / per_item)[:, None], 0.0) ** 2).sum(axis=1)
    residual = drop_rounding_of_sums(float(squares.sum()), largest_sum, SQUARED_ROUNDING) / freedom
    of_item = n - values.shape[1]  # what the component of items counts in the reduction by items after wordings
    # A last digit of an answer moves the square of a small effect of its wording by their product.
    wording = drop_rounding_of_sums(added - rank * residual, float(np.sqrt(total * added))) / trace
    levels = int(rank) + len(values) - values.shape[1]  # of items, after wordings
    reduction = drop_rounding_of_sums(of_items + added - of_wordings - levels * residual, total)
    item = reduction / of_item if of_item > 0 else np.nan
    per_wording = trace / int(rank)
    return Components(float(item), float(wording), residual, float(freedom), squares, float(rank), per_wording)


def estimate_covariance_of_models_over_wordings(values: Array) -> Array:
    """Estimate how models' answers (models, items, wordings) vary together over crossed wordings: (models, models).

    The diagonal holds the component of wordings of each model, as `estimate_variance_components` does; elsewhere its
    sums of squares are sums of products. All models have the same cells; NaN where nothing can be told.
    """
    has_answer = ~np.isnan(values[0])
    weights = has_answer / has_answer.sum(axis=1)[:, None]
    filled = np.where(has_answer, values, 0.0)
    filled = np.where(has_answer, filled - filled.sum(axis=(1, 2), keepdims=True) / has_answer.sum(), 0.0)
    equations = np.diag(has_answer.sum(axis=0).astype(float)) - weights.T @ has_answer
    right = filled.sum(axis=1).T - weights.T @ filled.sum(axis=2).T
    effects, _, rank, _ = np.linalg.lstsq(equations, right, rcond=1e-9)
    freedom = int(has_answer.sum()) - len(has_answer) - int(rank)
    if freedom < 1 or not rank:
        return np.full((len(values), len(values)), np.nan)
    flat, sums = filled.reshape(len(values), -1), filled.sum(axis=2) / np.sqrt(has_answer.sum(axis=1))
    added = effects.T @ right
    residual = (flat @ flat.T - sums @ sums.T - added) / freedom
    return np.asarray((added - rank * residual) / np.trace(equations))


@dataclass(frozen=True, slots=True)
class ModelComponents:
    """Hold the components of several models' answers to the same items in the same wordings.

    Attributes
    ----------
    model, item, wording, item_wording, model_item, model_wording, residual
        Nested: `wording` is that of wordings within items, `residual` holds how models differ in these, and
        item_wording and model_wording are NaN. One wording of each item: `wording` is NaN, too, a part of `item` and
        `model_item`, and `residual` is what sampling adds.
    n_models
        How many.
    incidence
        Which of the common items has which of the common wordings.
    spread
        Variance of the models' means.
    freedom, levels, per_wording
        As in `Components`, of each model: degrees of freedom of what is left, and of wordings.
    """

    model: float
    item: float
    wording: float
    item_wording: float
    model_item: float
    model_wording: float
    residual: float
    n_models: int
    incidence: Incidence
    spread: float
    freedom: float
    levels: float = 0.0
    per_wording: float = np.nan

    @property
    def n_items(self) -> int:
        """Return the number of common items."""
        return self.incidence.n_items

    @property
    def n_wordings(self) -> float:
        """Return the number of common wordings of each item, as their harmonic mean."""
        return self.incidence.n_wordings


def estimate_model_variance_components(
    values: Array, crossed: bool, noise_variance: float = 0.0
) -> ModelComponents | None:
    """Estimate the components of several models' answers over the cells that all models have.

    Parameters
    ----------
    values
        Answers (models, items, wordings), NaN where there is none.
    crossed
        Whether all items share the wordings.
    noise_variance
        What sampling adds to an answer, mean over models; with several wordings it is a part of the residual.

    Returns
    -------
    ModelComponents or None
        None for fewer than two models or items, or where `estimate_variance_components` tells nothing apart.
    """
    has_answer: npt.NDArray[np.bool_] = np.all(~np.isnan(values), axis=0)
    rows, columns = has_answer.any(axis=1), has_answer.any(axis=0)
    values, has_answer = values[:, rows][:, :, columns], has_answer[rows][:, columns]
    n_models, n_items = len(values), int(rows.sum())
    if n_models < 2 or n_items < 2:
        return None
    if (has_answer.shape[1] if crossed else has_answer.sum(axis=1).max()) == 1:
        return _estimate_one_wording_components(values[:, has_answer].reshape(n_models, n_items), noise_variance)
    values = np.where(has_answer, values, np.nan)
    mean, scale = values.mean(axis=0), float(np.nanmax(np.abs(values)))
    common = estimate_variance_components(mean, crossed)
    by_model = [estimate_variance_components(of_model - mean, crossed, scale) for of_model in values]
    if np.isnan([common.residual, *(of_model.residual for of_model in by_model)]).any():
        return None
    share, incidence = n_models / (n_models - 1), measure_which_items_have_which_wordings(has_answer, crossed)
    model_item, model_wording, residual = (
        share * float(np.mean([getattr(of_model, name) for of_model in by_model]))
        for name in ("item", "wording", "residual")
    )
    means = (np.where(has_answer, values, 0.0).sum(axis=2) / has_answer.sum(axis=1)).mean(axis=1)
    spread = drop_rounding_of_sums(float(means.var(ddof=1)), scale * scale, SQUARED_ROUNDING)
    error = (residual / incidence.n_wordings + model_item) / n_items
    if crossed:
        error += model_wording / incidence.n_shared
        wording, item_wording = common.wording - model_wording / n_models, common.residual - residual / n_models
    else:
        wording, item_wording = common.residual - residual / n_models, np.nan
    return ModelComponents(
        spread - error, common.item - model_item / n_models, wording, item_wording, model_item, model_wording, residual,
        n_models, incidence, spread, common.freedom, common.levels, common.per_wording,
    )  # fmt: skip


def _estimate_one_wording_components(values: Array, noise_variance: float) -> ModelComponents:
    """Estimate the components of answers (models, items): the analysis of variance of two factors."""
    n_models, n_items = values.shape
    models, items = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    left = float(((values - models - items + values.mean()) ** 2).sum()) / (n_models - 1) / (n_items - 1)
    largest = float(np.abs(values).max())
    residual, spread, of_items = (
        drop_rounding_of_sums(variance, largest * largest, SQUARED_ROUNDING)
        for variance in (left, float(models.var(ddof=1)), float(items.var(ddof=1)))
    )
    return ModelComponents(
        spread - residual / n_items, of_items - residual / n_models, np.nan, np.nan,
        residual - noise_variance,
        np.nan,
        noise_variance, n_models, Incidence(n_items, 1.0, np.nan, 0.0), spread, n_items - 1.0,
    )  # fmt: skip
