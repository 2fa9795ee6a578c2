"""Fit an ordered logit without random effects, with errors that are robust within items: the engine "ordered_model".

It is statsmodels' `OrderedModel`, to which weights and the slopes of the likelihood are added. Effects are those over
all items. The more items differ, the smaller are these than the effects within an item, which the engine "ordinal"
estimates [1]_.
Errors are of clusters (items), times sqrt(items / (items - 1)), and tested by t with items - 1 degrees of freedom.

Reference
---------
.. [1] Zeger, S. L., Liang, K.-Y., Albert, P. S. (1988). Models for longitudinal data: a generalized estimating equation
   approach. Biometrics 44, 1049-1060.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from analysis.statistics.mixed.design import FitInput
from analysis.statistics.mixed.fits import Fit
from analysis.statistics.mixed.ordered import OrderedDesign, build_ordered_design, build_ordered_fit
from ground.errors import InputError

ALIKE = 1e-12  # share of the squared slopes of rows that those of items are at least, unless all are alike
STEEP = 1e-4  # of the likelihood per answer at its top


def fit_with_ordered_model(fit_input: FitInput) -> Fit:
    """Fit an ordered logit to the rows of one part of a family.

    Raises
    ------
    InputError
        As `build_ordered_design`, and for data without a best fit, as where a predictor tells the answers apart.
    """
    design = build_ordered_design(fit_input)
    model = _build_weighted_model(design)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit is looked at below
        try:
            fit = model.fit(method="bfgs", disp=False, maxiter=1000, gtol=1e-8, skip_hessian=True)
            slopes = model.score_obs(fit.params)
            bread = np.linalg.inv(_compute_negative_hessian(model, fit.params))
        except (np.linalg.LinAlgError, FloatingPointError, ValueError) as error:
            raise InputError(
                f"formula '{fit_input.formula}'{fit_input.label}: the ordered logit has no best fit ({error}); use "
                "fewer predictors"
            ) from error
    n_items, n_terms = len(design.levels), len(design.terms)
    by_item = np.array([np.bincount(design.codes, column, n_items) for column in slopes.T]).T
    variance = bread @ (by_item.T @ by_item) @ bread.T * n_items / (n_items - 1)
    errors = np.sqrt(np.maximum(np.diag(variance), 0.0))[:n_terms]
    if (by_item**2).sum() < ALIKE * (slopes**2).sum():  # items that are all alike do not say what others would give
        errors = np.full(n_terms, np.nan)
    is_top = np.abs(slopes.sum(axis=0)).max() < STEEP * design.weights.sum()
    return build_ordered_fit(
        fit_input, design, engine="ordered_model", coefficients=np.asarray(fit.params)[:n_terms], se=errors,
        df=n_items - 1.0, thresholds=model.transform_threshold_params(fit.params)[1:-1],
        log_likelihood=float(model.loglike(fit.params)), converged=bool(is_top),
        message="" if is_top else "the likelihood is not at its top", intercepts=None,
    )  # fmt: skip


def _build_weighted_model(design: OrderedDesign) -> Any:
    """Build statsmodels' model with weights; its thresholds are t_1, and logarithms of the steps to the next ones."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    class WeightedOrderedModel(OrderedModel):
        """Weigh the rows of statsmodels' ordered model."""

        def loglikeobs(self, params: Any) -> Any:
            """Return the weighted log-likelihood of every row."""
            return design.weights * super().loglikeobs(params)

        def loglike(self, params: Any) -> Any:
            """Return the weighted log-likelihood."""
            return self.loglikeobs(params).sum()

        def score_obs(self, params: Any) -> Any:
            """Return the slopes of `loglikeobs`: (rows, parameters)."""
            low, high = self._bounds(params)
            density_low, density_high = self.pdf(low), self.pdf(high)
            probability = np.maximum(self.prob(low, high), np.finfo(float).tiny)
            steps = np.concatenate([[1.0], np.exp(params[len(design.terms) + 1 :])])
            place = np.arange(len(steps))
            # t_k is the sum of the steps up to k: the upper bound of rank r is t_r, the lower one t_(r - 1).
            upper = density_high[:, None] * (place <= design.ranks[:, None]) * (design.ranks[:, None] < len(steps))
            lower = density_low[:, None] * (place < design.ranks[:, None])
            slopes = np.column_stack([-(density_high - density_low)[:, None] * design.x, (upper - lower) * steps])
            return slopes * (design.weights / probability)[:, None]

        def score(self, params: Any) -> Any:
            """Return the slopes of `loglike`."""
            return self.score_obs(params).sum(axis=0)

    return WeightedOrderedModel(design.ranks, design.x, distr="logit", hasconst=False)


def _compute_negative_hessian(model: Any, parameters: Any) -> Any:
    """Return minus the matrix of second slopes, by central differences of the first."""
    steps = 1e-5 * np.maximum(np.abs(parameters), 1)
    columns = [
        (model.score(parameters + step) - model.score(parameters - step)) / (2 * size)
        for step, size in zip(np.diag(steps), steps, strict=True)
    ]
    second = np.array(columns)
    return -(second + second.T) / 2
