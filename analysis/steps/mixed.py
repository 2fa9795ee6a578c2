"""Fit the mixed models of text features by another package, to check the built-in engine (Haller et al., section 4.3).

::

    rows = join_answers_with_features(runs)
    ours = select_first_units(effects, rows.columns)
    theirs = fit_units_again(rows.assign(response=rows["agreement"]), ours, "statsmodels")
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
import pandas as pd

from analysis.runs.folder import UNIT
from analysis.statistics import mixed
from analysis.statistics.mixed.design import INTERCEPT

TOLERANCE = 1e-4  # largest difference of two searches for the same maximum
PACKAGES = ("statsmodels", "pymer4")


def select_first_units(effects: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """Select the rows of table `mixed` of the first model and condition of every study, which another package can fit.

    Parameters
    ----------
    effects
        Table `mixed`: study, model, condition, term.
    columns
        Columns of the data; a study with a term that is none of them, such as a level of a text, is left out.

    Returns
    -------
    DataFrame
        Rows of `effects`.
    """
    known = effects["term"].isin({INTERCEPT, *columns}).groupby(effects["study"]).transform("all")
    fitted = effects[known]
    return fitted.merge(fitted[list(UNIT)].drop_duplicates("study"))


def fit_units_again(rows: pd.DataFrame, effects: pd.DataFrame, package: str) -> pd.DataFrame:
    """Fit models and conditions once more, by REML, with a random intercept for every item.

    Parameters
    ----------
    rows
        `analysis.features.join_answers_with_features`, with the response of the fits as column response.
    effects
        Rows of table `mixed`: study, model, condition, term; the fits have these terms.
    package
        "statsmodels", or "pymer4" (R's lme4 and lmerTest).

    Returns
    -------
    DataFrame
        study, model, condition, term; estimate: on the raw scale of predictor and response; se of pymer4 only, since
        statsmodels makes its errors of the observed information, and lme4 of the expected one.

    Raises
    ------
    InputError
        Where R or its packages are not there.
    ImportError
        Where statsmodels is not installed.
    """
    fit = _fit_by_statsmodels if package == "statsmodels" else _fit_by_r
    parts = [pd.DataFrame(columns=[*UNIT, "term", "estimate"])]
    for unit, of_unit in effects.groupby(list(UNIT), sort=False):
        terms = [term for term in of_unit["term"] if term != INTERCEPT]
        is_of_unit = (rows[list(UNIT)].astype(str) == list(unit)).all(axis=1)
        complete = rows.loc[is_of_unit, ["item", "response", *terms]].dropna()
        parts.append(fit(complete.astype({"item": str}), terms).assign(**dict(zip(UNIT, unit, strict=True))))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _fit_by_statsmodels(rows: pd.DataFrame, terms: list[str]) -> pd.DataFrame:
    """Fit by statsmodels, with predictors in SDs, which its search needs; return estimates on their own scale."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    values = rows[terms].to_numpy(float)
    centre, sd = values.mean(axis=0), values.std(axis=0)
    design = np.column_stack([np.ones(len(rows)), (values - centre) / sd])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a variance at 0, which the page has a caution for
        found = MixedLM(rows["response"].to_numpy(float), design, rows["item"].to_numpy()).fit(reml=True)
    slopes = np.asarray(found.fe_params)[1:] / sd
    intercept = found.fe_params[0] - centre @ slopes  # at 0 of every predictor, not at its mean
    return pd.DataFrame({"term": [INTERCEPT, *terms], "estimate": [intercept, *slopes]})


def _fit_by_r(rows: pd.DataFrame, terms: list[str]) -> pd.DataFrame:
    """Fit by R's lme4 through pymer4."""
    formula = f"response ~ {' + '.join(terms or ['1'])} + (1 | item)"
    return mixed.fit_mixed_models(rows, formula, engine="pymer4", by=()).table[["term", "estimate", "se"]]
