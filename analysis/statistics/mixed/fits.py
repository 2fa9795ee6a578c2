"""Define the result of one fit, the same for every engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Variance:
    """Hold the SD of one random effect, on the scale of the response (of a slope: per unit of `term`)."""

    group: str
    term: str
    sd: float


@dataclass(frozen=True, slots=True)
class RandomEffect:
    """Hold one random effect: per level, its conditional mode and conditional standard deviation."""

    group: str
    term: str
    level: tuple[str, ...]
    estimate: Array
    se: Array


@dataclass(frozen=True, slots=True)
class FittedRows:
    """Hold the rows of a fit, and what is left of them once they are dropped: of many fits there are millions.

    Attributes
    ----------
    n, response_sd, mean_square : how many there are; SD of their responses; mean square of their residuals.
    y, fitted, index : the responses, what is fitted to them (random effects included), and the index that the rows have
        in the caller's frame; empty once they are dropped.
    """

    n: int
    response_sd: float
    mean_square: float
    y: Array
    fitted: Array
    index: pd.Index


def summarize_fitted_rows_and_keep_them(y: Array, fitted: Array, index: pd.Index) -> FittedRows:
    """Sum up the rows of a fit, and hold them.

    Parameters
    ----------
    y, fitted, index
        As in `FittedRows`.

    Returns
    -------
    FittedRows
        Number, standard deviation and mean squared residual of the rows, and the rows.
    """
    return FittedRows(len(y), float(y.std(ddof=1)), float(np.mean((y - fitted) ** 2)), y, fitted, index)


@dataclass(frozen=True, slots=True)
class Fit:
    """Hold one fitted model: arrays over `terms`, and its rows.

    Attributes
    ----------
    estimate, se, df : on the scale of the predictors and of the response; Satterthwaite degrees of freedom, of ordered
        logits infinite ("ordinal") or items - 1 ("ordered_model").
    sd : standard deviation of the term's column, NaN for the intercept.
    triangle : R of the QR decomposition of the model matrix; the variance inflation is computed from it.
    reml : the REML criterion at convergence (-2 restricted log-likelihood); of an ordered logit, -2 log-likelihood.
    variance_fixed, variance_random : variance of X beta over rows; of all random effects, averaged over rows.
    dropped : predictor left out -> reason.
    n_levels : number of levels of every grouping factor.
    rows : the rows that were fitted.
    thresholds : of an ordered logit, by the ranks that they part ("1|2"); else empty.
    se_robust, p_slopes : of one random intercept: errors that hold where effects differ between items (`robust`), and
        tests whether they do (`slopes`); else None.
    """

    engine: str
    terms: tuple[str, ...]
    estimate: Array
    se: Array
    df: Array
    sd: Array
    triangle: Array
    reml: float
    sigma: float
    variances: tuple[Variance, ...]
    variance_fixed: float
    variance_random: float
    converged: bool
    singular: bool
    message: str
    dropped: dict[str, str]
    n_levels: dict[str, int]
    rows: FittedRows
    random: tuple[RandomEffect, ...]
    thresholds: dict[str, float] = field(default_factory=dict)
    se_robust: Array | None = None
    p_slopes: Array | None = None

    @property
    def response_sd(self) -> float:
        """Return the SD of the response; of an ordered logit, of the latent answer."""
        if self.thresholds:
            return float(np.sqrt(self.variance_fixed + np.nan_to_num(self.variance_random) + self.sigma**2))
        return self.rows.response_sd

    def copy_without_rows(self) -> Fit:
        """Return the fit with what its rows sum up to only."""
        rows = self.rows
        # An empty part that is no copy would keep all of them.
        return replace(
            self, rows=replace(
                rows, y=rows.y[:0].copy(), fitted=rows.fitted[:0].copy(), index=rows.index[:0].copy(deep=True)
            )
        )  # fmt: skip
