"""Fit one random intercept by profiled REML with Satterthwaite degrees of freedom, in numpy: the engine "profile".

The model is y = X beta + b[item] + e with b ~ N(0, phi sigma^2) and e ~ N(0, sigma^2). Given phi = theta^2, beta and
sigma have closed forms, so that only phi is searched for [1]_. The rows are summed up once, per item. Whatever depends
on phi is then a sum over items of item means, weighted by u = n / (1 + n phi); the rest, the differences within items,
does not depend on phi.

For example, item A is answered with 1 and 3, item B with 4, 6 and 8, and the only predictor is the intercept, X = 1:

=====================  =======================================  =================================
`Matrix.codes`         0, 0, 1, 1, 1                            the item of every row
`Sums.size`            2, 3                                     rows per item
`Sums.y`               2, 6                                     item means
`Sums.within_yy`       1 + 1 + 4 + 0 + 4 = 10                   squares around the item means
u at phi = 1           2 / (1 + 2) = 2/3,  3 / (1 + 3) = 3/4    weight of every item
beta at phi = 1        (2/3 * 2 + 3/4 * 6) / (2/3 + 3/4)        70/17 = 4.12, weighted mean
b[A], b[B]             phi u (mean - beta)                      -24/17 = -1.41,  24/17 = 1.41
=====================  =======================================  =================================

X is replaced by its QR factor q, and y by its residuals after least squares. Both leave the model as it is, and keep
digits that would be lost if predictors or response were very large or far from 0.

References
----------
.. [1] Bates, Maechler, Bolker, Walker (2015). Fitting linear mixed-effects models using lme4. J. Stat. Softw. 67(1),
   eq. 39-42.
.. [2] Kuznetsova, Brockhoff, Christensen (2017). lmerTest package. J. Stat. Softw. 82(13), section 2.1.
.. [3] Nakagawa, Schielzeth (2013). A general and simple method for obtaining R2 from generalized linear mixed-effects
   models. Methods Ecol. Evol. 4(2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.design import INTERCEPT, build_full_rank_design, build_model_matrix
from analysis.statistics.mixed.fits import Fit, RandomEffect, Variance, summarize_fitted_rows_and_keep_them
from ground.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.design import Design, FitInput, Matrix

    Array = NDArray[np.floating[Any]]

BOUNDARY = 1e-5  # as in lme4, a smaller theta is zero (lmerControl: boundary.tol)
SINGULAR = 1e-4  # as in lme4, a fit with a smaller theta is singular (isSingular: tol)
# Values of phi between which the optimum is searched; phi is the variance of items in units of the residual variance
GRID = np.concatenate([[0.0], np.logspace(2 * np.log10(BOUNDARY), 10, 21)])
# A Hessian of the two variances whose determinant is a smaller share of its diagonal's product is singular
UNDETERMINED = 1e-8
LOWEST_FREEDOM = 0.1  # fewer degrees of freedom are as good as none: t intervals of 1e12 standard errors and more
ONLY_BETWEEN = 1e-10  # share of the squares of a predictor within items up to which these are rounding
EXACT = 1e-24  # a residual sum of squares below this share of the response's is rounding (1e-12 of its size)


@dataclass(frozen=True, slots=True)
class PredictorSums:
    """Hold a design summed up per item: sizes, means of the columns of q, and deviations from these means."""

    full_matrix: Matrix
    design: Design
    size: Array  # items
    q: Array  # items x terms
    deviation: Array  # rows x terms: q minus its item's mean
    within_qq: Array  # terms x terms


@dataclass(frozen=True, slots=True)
class Sums:
    """Hold the sufficient statistics of one fit: size and means of every item, cross-products within items."""

    size: Array  # items
    q: Array  # items x terms
    y: Array  # items
    within_qq: Array  # terms x terms
    within_qy: Array  # terms
    within_yy: float

    @property
    def residual_df(self) -> int:
        """Return the number of rows minus the number of coefficients."""
        return int(self.size.sum()) - self.q.shape[1]


@dataclass(frozen=True, slots=True)
class Profile:
    """Hold the REML criterion at one phi and its parts.

    `criterion` omits a constant of the design; `slope` is its derivative in phi. `coefficient` (terms) and `unscaled`
    (terms x terms, covariance / sigma^2) are in the orthonormal basis; `residual` (items) are means of y - X beta.
    """

    phi: float
    weight: Array
    coefficient: Array
    unscaled: Array
    residual: Array
    penalised: float  # penalised residual sum of squares
    criterion: float
    slope: float


class ProfileEngine:
    """Fit the parts of a family one after the other.

    The models of a family mostly answer the same wordings. The sums that depend only on the wordings are kept, and used
    again if the next part has the same wordings.
    """

    def __init__(self) -> None:
        self._last: PredictorSums | None = None

    def fit_random_intercept_model(self, fit_input: FitInput) -> Fit:
        """Fit `response ~ columns + (1 | group)` to the rows of one part.

        Raises
        ------
        InputError
            As `build_model_matrix` and `build_full_rank_design`; also for a response that items and predictors explain
            without a remainder, and where the rows do not determine the variances.
        """
        full_matrix = build_model_matrix(fit_input)
        if self._last is None or not full_matrix.has_same_predictors_and_items(self._last.full_matrix):
            self._last = compute_sufficient_statistics_of_predictors(full_matrix, build_full_rank_design(full_matrix))
        full_rank, predictor_sums = self._last.design, self._last
        ols = full_rank.q.T @ full_matrix.y
        residuals = full_matrix.y - full_rank.q @ ols
        sums = add_response_sums(predictor_sums, residuals)
        undetermined = InputError(
            f"{len(residuals)} rows and {len(full_rank.terms)} coefficients{fit_input.label} do not determine the "
            f"variances of {fit_input.formula.grouping_column} and residual: use fewer predictors"
        )
        best = None
        if residuals @ residuals > EXACT * full_matrix.y @ full_matrix.y:
            if _do_predictors_explain_all_item_means(sums):
                raise undetermined
            best = find_profile_of_lowest_criterion(sums)
        if best is None:
            raise InputError(
                f"response '{fit_input.formula.response}'{fit_input.label} does not vary within any "
                f"{fit_input.formula.grouping_column} beyond its predictors: no residual variance to estimate"
            )
        sigma2 = best.penalised / sums.residual_df
        basis = np.linalg.inv(full_rank.r)  # orthonormal basis -> columns of the design
        coefficient = ols + best.coefficient
        variance = np.einsum("ij,jk,ik->i", basis, best.unscaled, basis)
        fixed = full_rank.q @ coefficient
        modes = best.phi * best.weight * best.residual
        if (freedom := _compute_satterthwaite_freedom(sums, best, basis, variance)) is None:
            raise undetermined
        modes_se = np.sqrt(sigma2 * best.phi / (1 + sums.size * best.phi))
        group, singular = fit_input.formula.grouping_column, bool(np.sqrt(best.phi) < SINGULAR)
        return Fit(
            engine="profile",
            terms=full_rank.terms,
            estimate=basis @ coefficient,
            se=np.sqrt(sigma2 * variance),
            df=freedom,
            sd=full_rank.sd,
            triangle=full_rank.r,
            reml=best.criterion + 2 * float(np.log(np.abs(np.diag(full_rank.r))).sum()),
            sigma=float(np.sqrt(sigma2)),
            variances=(Variance(group, INTERCEPT, float(np.sqrt(best.phi * sigma2))),),
            variance_fixed=float(fixed.var(ddof=1)),
            variance_random=best.phi * sigma2,
            converged=True,
            singular=singular,
            message=f"boundary (singular) fit: no variance left for {group}" if singular else "",
            dropped=full_rank.dropped,
            n_levels={group: len(full_matrix.levels)},
            rows=summarize_fitted_rows_and_keep_them(
                full_matrix.y, fixed + modes[full_matrix.codes], fit_input.frame.index
            ),
            random=(RandomEffect(group, INTERCEPT, tuple(map(str, full_matrix.levels)), modes, modes_se),),
        )


def compute_sufficient_statistics_of_predictors(full_matrix: Matrix, full_rank: Design) -> PredictorSums:
    """Compute the sufficient statistics that depend on the predictors only.

    Parameters
    ----------
    full_matrix, full_rank
        The model matrix, and the design of full rank that was made of it.

    Returns
    -------
    PredictorSums
        To be used for every response to the same wordings.
    """
    size = np.bincount(full_matrix.codes).astype(float)
    q = np.array([np.bincount(full_matrix.codes, column) for column in full_rank.q.T]).T / size[:, None]
    deviation = full_rank.q - q[full_matrix.codes]
    return PredictorSums(full_matrix, full_rank, size, q, deviation, deviation.T @ deviation)


def add_response_sums(predictor_sums: PredictorSums, y: Array) -> Sums:
    """Add a response to the sufficient statistics of the predictors.

    Parameters
    ----------
    predictor_sums
        Of the predictors, from `compute_sufficient_statistics_of_predictors`.
    y
        Response (rows), or what least squares leave of it.

    Returns
    -------
    Sums
        All that a fit needs of the rows.
    """
    codes = predictor_sums.full_matrix.codes
    means = np.bincount(codes, y) / predictor_sums.size
    deviation = y - means[codes]
    return Sums(
        predictor_sums.size, predictor_sums.q, means, predictor_sums.within_qq, deviation @ predictor_sums.deviation,
        float(deviation @ deviation),
    )  # fmt: skip


def _do_predictors_explain_all_item_means(sums: Sums) -> bool:
    """Tell whether as many predictors differ between items only as there are items: the criterion is flat then."""
    # Columns of q have the length 1: along a direction that does not vary within items, the squares there sum to 0.
    n_between = int((np.linalg.eigvalsh(sums.within_qq) < ONLY_BETWEEN).sum())
    return n_between >= len(sums.size)


def compute_profile_at_phi(sums: Sums, phi: float) -> Profile:
    """Compute the profiled REML criterion (Bates et al., eq. 39-42).

    Parameters
    ----------
    sums
        Sufficient statistics of a fit.
    phi
        Variance of the items in units of the residual variance, from 0 on.

    Returns
    -------
    Profile
        The criterion and its slope, and the estimates, at this phi.
    """
    weight = sums.size / (1 + sums.size * phi)
    weighted = sums.q * weight[:, None]
    unscaled = np.linalg.inv(sums.within_qq + weighted.T @ sums.q)
    coefficient = unscaled @ (sums.within_qy + weighted.T @ sums.y)
    residual = sums.y - sums.q @ coefficient
    # the parts within and between items are added, never subtracted from a total, which would lose digits at large phi
    within = sums.within_yy + coefficient @ (sums.within_qq @ coefficient - 2 * sums.within_qy)
    penalised = float(within + weight @ residual**2)
    log_det = float(np.log1p(sums.size * phi).sum() - np.linalg.slogdet(unscaled)[1])
    criterion = log_det + sums.residual_df * (1 + np.log(2 * np.pi * penalised / sums.residual_df))
    leverage = np.einsum("ij,jk,ik->i", sums.q, unscaled, sums.q)
    slope = weight.sum() - weight**2 @ (leverage + sums.residual_df / penalised * residual**2)
    return Profile(phi, weight, coefficient, unscaled, residual, penalised, float(criterion), float(slope))


def find_profile_of_lowest_criterion(sums: Sums) -> Profile | None:
    """Find the profile with the lowest criterion, at phi = 0 or where the slope is 0; None if it falls without end."""
    from scipy.optimize import brentq

    def compute_slope(log_phi: float) -> float:
        """Compute the slope of the profiled criterion at exp(log_phi)."""
        return compute_profile_at_phi(sums, float(np.exp(log_phi))).slope

    slopes = [compute_profile_at_phi(sums, phi).slope for phi in GRID]
    valleys = [j for j in range(1, len(GRID) - 1) if slopes[j] < 0 <= slopes[j + 1]]
    roots = [np.exp(brentq(compute_slope, *np.log(GRID[j : j + 2]), xtol=1e-14, rtol=1e-14)) for j in valleys]
    if slopes[1] >= 0:  # the criterion rises from phi = 0 on
        roots.append(0.0)
    return min(
        (compute_profile_at_phi(sums, float(phi)) for phi in roots), key=lambda point: point.criterion, default=None
    )


def _compute_satterthwaite_freedom(sums: Sums, best: Profile, basis: Array, variance: Array) -> Array | None:
    """Compute the degrees of freedom of every coefficient as lmerTest does: df = 2 v^2 / (g' V g).

    v is the variance of the coefficient, g its gradient and V the asymptotic covariance of the variance parameters,
    twice the inverse Hessian of the criterion before profiling [2]_. lmerTest differentiates numerically in
    (theta, sigma). At the optimum any other parameters give the same df, so the derivatives here are exact and in
    (log phi, log sigma), which have no units. At phi = 0 the gradient in theta is zero and df is rows - terms.
    None where the rows do not determine the variances: the Hessian is not positive definite, or a df nearly 0.
    """
    if best.phi == 0:
        return np.full(len(variance), float(sums.residual_df))
    u2, u3 = best.weight**2, best.weight**3
    sigma2 = best.penalised / sums.residual_df
    first = (sums.q * u2[:, None]).T @ sums.q  # -d/dphi of the inverse of `unscaled`
    second = (sums.q * u3[:, None]).T @ sums.q
    shift = (u2 * best.residual) @ sums.q
    spread = best.unscaled @ first
    rss_1 = -float(u2 @ best.residual**2)
    rss_2 = 2 * float(u3 @ best.residual**2) - 2 * float(shift @ best.unscaled @ shift)
    log_det_2 = -float(u2.sum()) + 2 * float(np.trace(best.unscaled @ second)) - float(np.trace(spread @ spread))
    mixed = -2 * best.phi * rss_1 / sigma2
    hessian = np.array([[best.phi**2 * (log_det_2 + rss_2 / sigma2), mixed], [mixed, 4 * sums.residual_df]])
    if hessian[0, 0] <= 0 or np.linalg.det(hessian) <= UNDETERMINED * np.prod(np.diag(hessian)):
        return None
    by_phi = best.phi * np.einsum("ij,jk,ik->i", basis, spread @ best.unscaled, basis) / variance
    gradient = np.stack([by_phi, np.full_like(by_phi, 2.0)])
    freedom = 1 / np.einsum("ij,ij->j", gradient, np.linalg.solve(hessian, gradient))
    return None if freedom.min() < LOWEST_FREEDOM else freedom
