"""Fit mixed-effects models of responses on features of their wording, one fit per language model.

::

    result = mixed.fit_mixed_models(frame, "agreement ~ n_words + zipf + (1 | item)")
    result.table          # estimates, tests, intervals
    result.diagnostics    # convergence, variances, R2, what was left out
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.statistics.mixed.design import FAMILY, iterate_checked_fit_inputs
from analysis.statistics.mixed.formula import DefaultFormula, Formula, build_default_formula, parse_formula
from analysis.statistics.mixed.ordered import expand_answers_into_weighted_ranks
from analysis.statistics.mixed.response import Response, compute_response_on_scale
from analysis.statistics.mixed.result import (
    Result,
    add_robust_errors_and_slope_tests_to_fit,
    collect_fits_keeping_rows_of_worst_ones,
    compare_fits_on_two_scales,
    list_indices_of_largest_residual_fits,
)
from ground.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.statistics.mixed.design import FitInput
    from analysis.statistics.mixed.fits import Fit

__all__ = [
    "ENGINES",
    "DefaultFormula",
    "Formula",
    "Response",
    "Result",
    "build_default_formula",
    "choose_engine_that_fits_formula",
    "collect_fits_keeping_rows_of_worst_ones",
    "compare_fits_on_two_scales",
    "compute_response_on_scale",
    "expand_answers_into_weighted_ranks",
    "fit_mixed_models",
    "list_indices_of_largest_residual_fits",
    "parse_formula",
]

ENGINES = ("auto", "profile", "pymer4", "ordinal", "ordered_model")
OF_RANKS = ENGINES[3:]  # ordered logits


def fit_mixed_models(
    frame: pd.DataFrame,
    formula: str,
    *,
    engine: str = "auto",
    by: Sequence[str] | None = None,
    missing: str = "error",
    optional: Collection[str] = (),
    weights: str = "",
) -> Result:
    """Fit one model to each part of a frame: linear mixed by REML, with Satterthwaite tests, or an ordered logit.

    The fits together are a *family*: their p values are corrected for the tests of all of them.

    Parameters
    ----------
    frame : one row per response; any tidy table.
    formula : in the notation of lme4, e.g. "agreement ~ n_words + zipf + (1 | item)".
    engine : "profile" is built in: one random intercept, fixed terms made of columns and their products. "pymer4" is
        R's lme4 and lmerTest: any formula. "auto" takes the built-in one if it can fit the formula, else R. Only the
        formula decides, so that results do not depend on what is installed. Two engines fit ordered logits to ranks
        (see `ordered`), by maximum likelihood: "ordinal" is R's clmm with one random intercept, "ordered_model" is
        statsmodels' OrderedModel without one, with errors that are robust within items.
    by : columns that cut the frame, one fit for each of their values. The default is those of study, model and
        condition that the frame has and the formula does not use: rows of different models are pooled only on request.
        () fits all rows at once.
    missing : "error" refuses rows without a value in a named column; "drop" leaves them out and counts them
        (`n_missing` of the diagnostics).
    optional : predictors that a fit may drop, with a note, if none of its rows has a value (`text_logprob` of models
        that cannot give it).
    weights : column with the weight of every row, for ordered logits (`expand_answers_into_weighted_ranks`); empty:
        all count once.

    Returns
    -------
    Result
        Its table corrects p values (Bonferroni, Holm) for all tests of the family, except those of intercepts.

    Raises
    ------
    InputError
        One line naming the formula, column or fit at fault.
    """
    parsed_formula = parse_formula(formula)
    engine_name = choose_engine_that_fits_formula(parsed_formula, engine)
    if weights and engine_name not in OF_RANKS:
        raise InputError(f"engine '{engine_name}' takes no weights; {' and '.join(OF_RANKS)} do")
    fit_one = _import_fit_function_of_engine(engine_name)
    if by is None:
        columns = tuple(name for name in FAMILY if name in frame.columns and name not in parsed_formula.formula_columns)
    else:
        columns = (by,) if isinstance(by, str) else tuple(by)
    fits = []
    for part in iterate_checked_fit_inputs(
        frame, parsed_formula, columns, missing=missing, optional=optional, weights=weights
    ):
        fit = add_robust_errors_and_slope_tests_to_fit(part, fit_one(part))
        # The rows of 500 models would fill the memory; an empty part that is no copy would keep them.
        fits.append((replace(part, frame=part.frame.head(0).copy()), fit))
    return Result(columns, fits)


def choose_engine_that_fits_formula(formula: Formula, engine: str = "auto") -> str:
    """Name the engine that fits a formula.

    Parameters
    ----------
    formula
        To be fitted.
    engine
        One of `ENGINES`.

    Returns
    -------
    str
        The given one; of "auto", "profile" where it can fit the formula, else "pymer4".

    Raises
    ------
    InputError
        For an unknown engine, and a formula that "profile" or an ordered logit cannot fit.
    """
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'; there are {', '.join(ENGINES)}")
    if engine == "auto":
        return "profile" if formula.is_fittable_by_builtin_engine else "pymer4"
    if engine != "pymer4" and not formula.is_fittable_by_builtin_engine:
        raise InputError(
            f"formula '{formula}': engine '{engine}' fits one random intercept like (1 | item) and columns joined by "
            "+, : and *; engine 'pymer4' fits the rest"
        )
    return engine


def _import_fit_function_of_engine(name: str) -> Callable[[FitInput], Fit]:
    """Return the engine's function; only its module is imported. R starts with the first fit of pymer4 or ordinal."""
    if name == "pymer4":
        from analysis.statistics.mixed.lme4 import fit_with_lme4 as fit
    elif name == "ordinal":
        from analysis.statistics.mixed.clmm import fit_with_clmm as fit
    elif name == "ordered_model":
        from analysis.statistics.mixed.ordered_model import fit_with_ordered_model as fit
    else:
        from analysis.statistics.mixed.profile import ProfileEngine

        return ProfileEngine().fit_random_intercept_model
    return fit
