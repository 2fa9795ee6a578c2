"""What every engine hands back for one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Variance:
    """Standard deviation of one random effect, on the scale of the response (per unit of `term` for a slope)."""

    group: str
    term: str
    sd: float


@dataclass(frozen=True, slots=True)
class RandomEffect:
    """Conditional modes of one random effect and their conditional standard deviations, one per level."""

    group: str
    term: str
    level: tuple[str, ...]
    estimate: Array
    se: Array


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted model. Arrays over `terms`, then arrays over rows.

    Attributes
    ----------
    estimate, se, df : on the scale of the predictors and of the response; Satterthwaite degrees of freedom.
    sd : standard deviation of the term's column, NaN for the intercept.
    triangle : R of the QR decomposition of the model matrix, what its collinearity is read from.
    reml : the REML criterion at convergence (-2 restricted log-likelihood).
    variance_fixed, variance_random : variance of X beta over rows; of all random effects, averaged over rows.
    dropped : predictors left out, with the reason.
    n_levels : levels of every grouping factor.
    row : the rows of the caller's frame that were fitted.
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
    y: Array
    fitted: Array
    row: pd.Index
    random: tuple[RandomEffect, ...]
