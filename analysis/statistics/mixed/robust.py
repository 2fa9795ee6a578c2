"""Fit least squares with cluster-robust standard errors, to check the mixed models without random effects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.errors import InputError
from analysis.statistics.mixed.design import Matrix, design, family, matrix, parts
from analysis.statistics.mixed.formula import parse
from analysis.statistics.mixed.result import stacked, tests, with_multiplicity

if TYPE_CHECKING:
    import pandas as pd

    from analysis.statistics.mixed.result import Columns

ENGINE = "cluster-robust OLS"


def cluster_robust(
    frame: pd.DataFrame,
    formula: str,
    *,
    by: Sequence[str] | None = None,
    missing: str = "error",
    optional: Collection[str] = (),
) -> pd.DataFrame:
    """Fit ordinary least squares with cluster-robust (CR1) standard errors; t has items - 1 degrees of freedom.

    It assumes nothing about how responses to one item depend on each other. With few items (below about 40) its
    intervals are too narrow (Cameron & Miller 2015, J. Hum. Resour. 50(2), section VI).

    Parameters
    ----------
    frame, formula, by, missing, optional : as in `analysis.statistics.mixed.fit`; the group of `(1 | item)` is the
        cluster.

    Returns
    -------
    DataFrame
        The columns of `Result.table`; `engine` is "cluster-robust OLS".

    Raises
    ------
    InputError
        As `fit`; also for formulas with more than one random intercept.
    """
    asked = parse(formula)
    if not asked.is_random_intercept:
        raise InputError(f"formula '{formula}': cluster-robust regression takes one (1 | item), columns, : and *")
    columns = family(frame, asked, by)
    made = parts(frame, asked, columns, missing=missing, optional=optional)
    return with_multiplicity(stacked(columns, ((part, _coefficients(matrix(part))) for part in made)))


def _coefficients(asked: Matrix) -> Columns:
    from statsmodels.regression.linear_model import OLS

    made = design(asked)
    fitted = OLS(asked.y, made.x).fit(cov_type="cluster", cov_kwds={"groups": asked.codes}, use_t=True)
    df = np.full(len(made.terms), len(asked.levels) - 1.0)
    return {
        "term": made.terms,
        "estimate": fitted.params,
        "se": fitted.bse,
        "df": df,
        **tests(fitted.params, fitted.bse, df),
        "estimate_std": fitted.params * made.sd / asked.y.std(ddof=1),
        "n_rows": len(asked.y),
        "n_items": len(asked.levels),
        "engine": ENGINE,
    }
