"""Fit the mixed models of text features by another package, to check the built-in engine (Haller et al., section 4.3).

::

    rows = join_answers_with_features(runs)
    ours = select_mixed_rows_of_first_model_per_study(effects, rows.columns)
    theirs = refit_units_with_package(rows.assign(response=rows["agreement"]), ours, "statsmodels")
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
import pandas as pd

from analysis.features.attributes import is_attribute_column, split_term_into_column_and_level
from analysis.runs.folder import UNIT
from analysis.statistics import mixed
from analysis.statistics.mixed.design import INTERCEPT

TOLERANCE = 1e-4  # largest difference of two searches for the same maximum
PACKAGES = ("statsmodels", "pymer4")
NO_VARIANCE = 1e-8  # of items, as a share of that of residuals: statsmodels has no likelihood at 0


def list_attribute_columns_in_terms(effects: pd.DataFrame) -> list[str]:
    """List the attributes of wordings that terms of table `mixed` are about, as "attributes.tone" of its levels."""
    return sorted({split_term_into_column_and_level(term)[0] for term in effects["term"] if is_attribute_column(term)})


def select_mixed_rows_of_first_model_per_study(effects: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """Select the rows of table `mixed` of the first model and condition of every study, which another package can fit.

    Parameters
    ----------
    effects
        Table `mixed`: study, model, condition, term.
    columns
        Columns of the data; a study with a term about none of them is left out.

    Returns
    -------
    DataFrame
        Rows of `effects`.
    """
    term_columns = effects["term"].map(lambda term: split_term_into_column_and_level(term)[0])
    known = term_columns.isin({INTERCEPT, *columns}).groupby(effects["study"]).transform("all")
    fitted = effects[known]
    return fitted.merge(fitted[list(UNIT)].drop_duplicates("study"))


def refit_units_with_package(rows: pd.DataFrame, effects: pd.DataFrame, package: str) -> pd.DataFrame:
    """Fit models and conditions once more, by REML, with a random intercept for every item.

    Parameters
    ----------
    rows
        `analysis.features.join_answers_with_features` with the attributes of `list_attribute_columns_in_terms`, and the
        response of the fits as column response.
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
        complete = _build_predictor_columns(rows[is_of_unit], terms).dropna()
        # R's formulas know no names such as "attributes.tone[rude vs plain]".
        refit = fit(complete.astype({"item": str}), [f"x{place}" for place in range(len(terms))])
        parts.append(refit.assign(term=[INTERCEPT, *terms], **dict(zip(UNIT, unit, strict=True))))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _build_predictor_columns(rows: pd.DataFrame, terms: list[str]) -> pd.DataFrame:
    """Return item, response and a column x0, x1 ... per term; the level of a category is 1 where a wording has it."""
    predictors = {"item": rows["item"], "response": rows["response"]}
    for place, term in enumerate(terms):
        column, levels = split_term_into_column_and_level(term)
        values = rows[column]
        if levels:
            is_level = [float(levels.startswith(f"{value} vs ")) for value in values]
            values = pd.Series(is_level, rows.index).where(values.notna())
        predictors[f"x{place}"] = values
    return pd.DataFrame(predictors)


def _fit_by_statsmodels(rows: pd.DataFrame, terms: list[str]) -> pd.DataFrame:
    """Fit by statsmodels, with predictors in SDs, which its search needs; return estimates on their own scale."""
    from statsmodels.regression.linear_model import OLS
    from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams

    values = rows[terms].to_numpy(float)
    centre, sd = values.mean(axis=0), values.std(axis=0)
    design = np.column_stack([np.ones(len(rows)), (values - centre) / sd])
    response = rows["response"].to_numpy(float)
    model = MixedLM(response, design, rows["item"].to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a variance at 0, which the page has a caution for
        fit = model.fit(reml=True, method="powell")  # its default, bfgs, stops short where the likelihood is flat
    without_items = MixedLMParams.from_components(fit.fe_params, cov_re=np.full((1, 1), NO_VARIANCE))
    # The search stops short of a variance of 0. Where the likelihood is higher there, least squares has the maximum.
    is_at_zero = model.loglike(without_items, profile_fe=True) > fit.llf
    coefficients = OLS(response, design).fit().params if is_at_zero else np.asarray(fit.fe_params)
    slopes = coefficients[1:] / sd
    intercept = coefficients[0] - centre @ slopes  # at 0 of every predictor, not at its mean
    return pd.DataFrame({"term": [INTERCEPT, *terms], "estimate": [intercept, *slopes]})


def _fit_by_r(rows: pd.DataFrame, terms: list[str]) -> pd.DataFrame:
    """Fit by R's lme4 through pymer4."""
    formula = f"response ~ {' + '.join(terms or ['1'])} + (1 | item)"
    return mixed.fit_mixed_models(rows, formula, engine="pymer4", by=()).table[["term", "estimate", "se"]]
