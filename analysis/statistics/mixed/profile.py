"""The built-in engine: one random intercept by profiled REML, Satterthwaite degrees of freedom, numpy only.

The model is y = X beta + b[item] + e with b ~ N(0, phi sigma^2) and e ~ N(0, sigma^2). Given phi = theta^2, beta and
sigma have closed forms, so that only phi is searched for [1]_. Everything that depends on phi is a sum over items of
item means weighted by u = n / (1 + n phi), plus a within-item part that does not depend on it: no row is touched twice.

The design enters through its QR factors and y through its least-squares residuals. Both leave the model as it is, and
make the sums immune to the scale and the offset of predictors and response.

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

from analysis.errors import InputError
from analysis.statistics.mixed.design import INTERCEPT, design, matrix
from analysis.statistics.mixed.fits import Fit, RandomEffect, Variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.statistics.mixed.design import Design, Matrix, Part

    Array = NDArray[np.floating[Any]]

BOUNDARY = 1e-5  # lme4 takes a theta this small for zero (lmerControl: boundary.tol)
SINGULAR = 1e-4  # and calls a fit singular below this one (isSingular: tol)
# Where the optimum is looked for: phi, the variance of items in units of the residual variance
GRID = np.concatenate([[0.0], np.logspace(2 * np.log10(BOUNDARY), 10, 21)])
EXACT = 1e-24  # a residual sum of squares this small beside the response's is rounding (1e-12 of its size)


@dataclass(frozen=True, slots=True)
class Items:
    """A design collapsed to its items: sizes, means of the columns of q, and what differs within items."""

    asked: Matrix
    design: Design
    size: Array  # items
    q: Array  # items x terms
    deviation: Array  # rows x terms: q less its item's mean
    within_qq: Array  # terms x terms


@dataclass(frozen=True, slots=True)
class Sums:
    """Sufficient statistics of one fit: sizes and means of every item, cross-products within items."""

    size: Array  # items
    q: Array  # items x terms
    y: Array  # items
    within_qq: Array  # terms x terms
    within_qy: Array  # terms
    within_yy: float

    @property
    def df(self) -> int:
        """Rows less coefficients."""
        return int(self.size.sum()) - self.q.shape[1]


@dataclass(frozen=True, slots=True)
class Profile:
    """The REML criterion at one phi and what it is made of.

    `criterion` is up to the constant of the design; `slope` its derivative in phi. `coefficient` and `unscaled`
    (covariance / sigma^2) are in the orthonormal basis, `residual` are item means of y - X beta.
    """

    phi: float
    weight: Array
    coefficient: Array
    unscaled: Array
    residual: Array
    penalised: float  # penalised residual sum of squares
    criterion: float
    slope: float


class Engine:
    """Fits the parts of a family one after the other.

    The models of a family mostly answer the same wordings. What depends on these alone is kept from one fit to the
    next and used again where they are the same.
    """

    def __init__(self) -> None:
        self._last: Items | None = None

    def fit(self, part: Part) -> Fit:
        """Fit `response ~ columns + (1 | group)` to the rows of one part.

        Raises
        ------
        InputError
            What `matrix` and `design` raise, and a response that items and predictors explain without a remainder.
        """
        asked = matrix(part)
        if self._last is None or not asked.has_wordings_of(self._last.asked):
            self._last = collapse(asked, design(asked))
        made, items = self._last.design, self._last
        ols = made.q.T @ asked.y
        left = asked.y - made.q @ ols
        sums = item_sums(items, left)
        best = optimum(sums) if left @ left > EXACT * asked.y @ asked.y else None
        if best is None:
            raise InputError(
                f"response '{part.formula.response}'{part.label} does not vary within any {part.formula.group} "
                "beyond its predictors: no residual variance to estimate"
            )
        sigma2 = best.penalised / sums.df
        basis = np.linalg.inv(made.r)  # orthonormal basis -> columns of the design
        coefficient = ols + best.coefficient
        variance = np.einsum("ij,jk,ik->i", basis, best.unscaled, basis)
        fixed = made.q @ coefficient
        modes = best.phi * best.weight * best.residual
        modes_se = np.sqrt(sigma2 * best.phi / (1 + sums.size * best.phi))
        group, singular = part.formula.group, bool(np.sqrt(best.phi) < SINGULAR)
        return Fit(
            engine="profile",
            terms=made.terms,
            estimate=basis @ coefficient,
            se=np.sqrt(sigma2 * variance),
            df=satterthwaite(sums, best, basis, variance),
            sd=made.sd,
            triangle=made.r,
            reml=best.criterion + 2 * float(np.log(np.abs(np.diag(made.r))).sum()),
            sigma=float(np.sqrt(sigma2)),
            variances=(Variance(group, INTERCEPT, float(np.sqrt(best.phi * sigma2))),),
            variance_fixed=float(fixed.var(ddof=1)),
            variance_random=best.phi * sigma2,
            converged=True,
            singular=singular,
            message=f"boundary (singular) fit: no variance left for {group}" if singular else "",
            dropped=made.dropped,
            n_levels={group: len(asked.levels)},
            y=asked.y,
            fitted=fixed + modes[asked.codes],
            row=part.frame.index,
            random=(RandomEffect(group, INTERCEPT, tuple(map(str, asked.levels)), modes, modes_se),),
        )


def collapse(asked: Matrix, made: Design) -> Items:
    """The predictors' share of the sufficient statistics."""
    size = np.bincount(asked.codes).astype(float)
    q = np.array([np.bincount(asked.codes, column) for column in made.q.T]).T / size[:, None]
    deviation = made.q - q[asked.codes]
    return Items(asked, made, size, q, deviation, deviation.T @ deviation)


def item_sums(items: Items, y: Array) -> Sums:
    """The sufficient statistics of a response on the rows of a collapsed design."""
    codes = items.asked.codes
    means = np.bincount(codes, y) / items.size
    deviation = y - means[codes]
    return Sums(items.size, items.q, means, items.within_qq, deviation @ items.deviation, float(deviation @ deviation))


def profile(sums: Sums, phi: float) -> Profile:
    """The profiled REML criterion at `phi`."""
    weight = sums.size / (1 + sums.size * phi)
    weighted = sums.q * weight[:, None]
    unscaled = np.linalg.inv(sums.within_qq + weighted.T @ sums.q)
    coefficient = unscaled @ (sums.within_qy + weighted.T @ sums.y)
    residual = sums.y - sums.q @ coefficient
    # within and between items are added, never subtracted from a total: nothing cancels however large phi gets
    within = sums.within_yy + coefficient @ (sums.within_qq @ coefficient - 2 * sums.within_qy)
    penalised = float(within + weight @ residual**2)
    log_det = float(np.log1p(sums.size * phi).sum() - np.linalg.slogdet(unscaled)[1])
    criterion = log_det + sums.df * (1 + np.log(2 * np.pi * penalised / sums.df))
    leverage = np.einsum("ij,jk,ik->i", sums.q, unscaled, sums.q)
    slope = weight.sum() - weight**2 @ (leverage + sums.df / penalised * residual**2)
    return Profile(phi, weight, coefficient, unscaled, residual, penalised, float(criterion), float(slope))


def optimum(sums: Sums) -> Profile | None:
    """The profile at its lowest criterion, the boundary or a root of the slope; None if it falls for ever."""
    from scipy.optimize import brentq

    def slope(log_phi: float) -> float:
        return profile(sums, float(np.exp(log_phi))).slope

    slopes = [profile(sums, phi).slope for phi in GRID]
    valleys = [j for j in range(1, len(GRID) - 1) if slopes[j] < 0 <= slopes[j + 1]]
    roots = [np.exp(brentq(slope, *np.log(GRID[j : j + 2]), xtol=1e-14, rtol=1e-14)) for j in valleys]
    if slopes[1] >= 0:  # nothing to gain by leaving the boundary
        roots.append(0.0)
    return min((profile(sums, float(phi)) for phi in roots), key=lambda point: point.criterion, default=None)


def satterthwaite(sums: Sums, best: Profile, basis: Array, variance: Array) -> Array:
    """Degrees of freedom per coefficient, as lmerTest defines them: df = 2 v^2 / (g' V g).

    v is the variance of the coefficient, g its gradient and V the asymptotic covariance of the variance parameters,
    twice the inverse Hessian of the criterion before profiling [2]_. lmerTest differentiates numerically in
    (theta, sigma); at the optimum any other parameters give the same df, so here it is done exactly and in
    (log phi, log sigma), which have no units. At the boundary the gradient in theta is zero and rows - terms is left.
    """
    if best.phi == 0:
        return np.full(len(variance), float(sums.df))
    u2, u3 = best.weight**2, best.weight**3
    sigma2 = best.penalised / sums.df
    first = (sums.q * u2[:, None]).T @ sums.q  # -d/dphi of the inverse of `unscaled`
    second = (sums.q * u3[:, None]).T @ sums.q
    shift = (u2 * best.residual) @ sums.q
    spread = best.unscaled @ first
    rss_1 = -float(u2 @ best.residual**2)
    rss_2 = 2 * float(u3 @ best.residual**2) - 2 * float(shift @ best.unscaled @ shift)
    log_det_2 = -float(u2.sum()) + 2 * float(np.trace(best.unscaled @ second)) - float(np.trace(spread @ spread))
    hessian = np.array(
        [
            [best.phi**2 * (log_det_2 + rss_2 / sigma2), -2 * best.phi * rss_1 / sigma2],
            [-2 * best.phi * rss_1 / sigma2, 4 * sums.df],
        ]
    )
    by_phi = best.phi * np.einsum("ij,jk,ik->i", basis, spread @ best.unscaled, basis) / variance
    gradient = np.stack([by_phi, np.full_like(by_phi, 2.0)])
    return 1 / np.einsum("ij,ij->j", gradient, np.linalg.solve(hessian, gradient))
