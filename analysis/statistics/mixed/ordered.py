"""Prepare answers on ordered options for ordered logits, and say what their engines have in common.

The response is a rank, 1 to K. With thresholds t_1 < ... < t_(K-1) and the linear predictor h of a row,
P(rank <= k) = 1 / (1 + exp(h - t_k)). The thresholds stand for the intercept. Effects are log odds of a higher answer.

An exact distribution p_1 ... p_K is no single rank. `expand_answers_into_weighted_ranks` gives such an answer a row per
option with weight p_k: the likelihood is then the one expected of an answer that is drawn from it, so that estimates
are those of endlessly many draws, each wording counting once: quasi-maximum likelihood for fractional responses [1]_,
here of several ordered shares [2]_. Sampled answers go in the same way, by their shares. Errors of the engine "ordinal"
are those of one draw per wording, so rather too wide for exact distributions; those of "ordered_model" are robust.

References
----------
.. [1] Papke, L. E., Wooldridge, J. M. (1996). Econometric methods for fractional response variables. Journal of Applied
   Econometrics 11, 619-632.
.. [2] Mullahy, J. (2015). Multivariate fractional regression estimation of econometric share models. Journal of
   Econometric Methods 4, 71-100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.design import (
    INTERCEPT,
    FitInput,
    build_full_rank_design,
    build_model_matrix,
    refuse_too_few_rows_for_coefficients,
)
from analysis.statistics.mixed.fits import Fit, RandomEffect, Variance, summarize_fitted_rows_and_keep_them
from ground.errors import InputError, shorten_to_one_line

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.floating[Any]]

MOST_RANKS = 20
APART = 1e-3  # log-likelihood of an answer: more is certainty
NEVER = 1e-6  # share of the answers: an option below it has no threshold
LATENT_VARIANCE = np.pi**2 / 3  # of a logistic variable
EXPECTED, LIKELIEST = WAYS = ("expected", "likeliest")


@dataclass(frozen=True, slots=True)
class OrderedDesign:
    """Hold the arrays of one ordered logit.

    `terms`, `x` (rows, terms), `sd` (terms), `triangle`: of the predictors, without an intercept; `ranks` (rows): place
    of the answer among `labels`, from 0 on; `weights` (rows); `codes` (rows): place of the item among `levels`;
    `dropped`: what was left out, and why; `row`: index of the rows in the caller's frame.
    """

    terms: tuple[str, ...]
    x: Array
    sd: Array
    triangle: Array
    ranks: NDArray[np.intp]
    labels: tuple[str, ...]
    weights: Array
    codes: NDArray[np.intp]
    levels: pd.Index
    dropped: dict[str, str]
    row: pd.Index


def expand_answers_into_weighted_ranks(frame: pd.DataFrame, shares: Array, way: str = EXPECTED) -> pd.DataFrame:
    """Write every answer as rows of single ranks with weights.

    Parameters
    ----------
    frame
        A row per answer.
    shares
        (answers, options): p_k in rising order; NaN where there is no answer or no such option.
    way
        "expected": a row per option, its weight p_k. "likeliest": one row, the most probable option; an answer with two
        such options is left out.

    Returns
    -------
    DataFrame
        The columns of `frame`, rank (1 to K) and weight; answers without shares are left out.

    Raises
    ------
    InputError
        For an unknown way.
    """
    if way not in WAYS:
        raise InputError(f"an answer is taken as {' or '.join(map(repr, WAYS))}, not {way!r}")
    weights = np.where(np.isnan(shares), 0.0, shares)
    if way == LIKELIEST:
        is_top = (weights == weights.max(axis=1, keepdims=True)) & (weights > 0)
        weights = np.where(is_top.sum(axis=1, keepdims=True) == 1, is_top, 0.0)
    answers, options = np.nonzero(weights)
    return frame.iloc[answers].assign(rank=options + 1, weight=weights[answers, options]).reset_index(drop=True)


def build_ordered_design(fit_input: FitInput) -> OrderedDesign:
    """Build the arrays of one fit.

    Raises
    ------
    InputError
        For a formula without an intercept, a response that is no rank, weights that are none, and as
        `build_full_rank_design`.
    """
    response, formula, label = fit_input.formula.response, fit_input.formula, fit_input.label
    if not formula.intercept:
        raise InputError(f"formula '{formula}': an ordered logit has thresholds for an intercept; leave 0 or - 1 out")
    weights = np.ones(len(fit_input.frame))
    if fit_input.weights:
        weights = fit_input.frame[fit_input.weights].to_numpy(float)
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise InputError(f"weights '{fit_input.weights}'{label}: a weight is no number from 0 on")
    values, ranks = np.unique(fit_input.frame[response].to_numpy(float), return_inverse=True)
    if len(values) > MOST_RANKS or (values != np.round(values)).any():
        raise InputError(
            f"response {shorten_to_one_line(repr(response))}{label} is no rank: an ordered logit explains whole "
            f"numbers, {MOST_RANKS} different ones at most"
        )
    sums = np.bincount(ranks, weights, len(values))
    is_given = sums > NEVER * sums.sum()
    if is_given.sum() < 2:
        raise InputError(
            f"response {shorten_to_one_line(repr(response))}{label} is one option in all rows: nothing varies"
        )
    has_row = is_given[ranks] & (weights > 0)
    rows = replace(fit_input, frame=fit_input.frame[has_row])
    full_matrix = build_model_matrix(rows)
    if len(full_matrix.levels) < 2:
        raise InputError(f"only one {formula.grouping_column}{label}: a random intercept needs at least 2")
    full_rank = build_full_rank_design(full_matrix)
    n_thresholds = int(is_given.sum()) - 1
    refuse_too_few_rows_for_coefficients(len(full_matrix.y), len(full_rank.terms) - 1 + n_thresholds, label)
    never = {f"rank {value:.0f}": "never the answer" for value in values[~is_given]}
    return OrderedDesign(
        terms=full_rank.terms[1:],
        x=full_rank.x[:, 1:],
        sd=full_rank.sd[1:],
        triangle=full_rank.r[1:, 1:],
        ranks=(np.cumsum(is_given) - 1)[ranks[has_row]],
        labels=tuple(f"{value:.0f}" for value in values[is_given]),
        weights=weights[has_row],
        codes=full_matrix.codes,
        levels=full_matrix.levels,
        dropped=full_rank.dropped | never,
        row=rows.frame.index,
    )


def build_ordered_fit(
    fit_input: FitInput, design: OrderedDesign, *, engine: str, coefficients: Array, se: Array, df: float,
    thresholds: Array, log_likelihood: float, converged: bool, message: str,
    intercepts: tuple[float, Array, Array] | None,
) -> Fit:  # fmt: skip
    """Build the result of one ordered logit from what its engine estimated.

    Parameters
    ----------
    fit_input, design
        What was fitted.
    engine
        Its name.
    coefficients, se, df
        Of the terms, and the degrees of freedom of their t tests (infinite: normal).
    thresholds
        (ranks - 1,), rising.
    log_likelihood, converged, message
        As the engine says.
    intercepts
        SD of the random intercepts, their conditional modes and SDs (items,); None: the model has none.

    Returns
    -------
    Fit
        sigma is that of a logistic variable, so that variances and their shares are those of the latent answer.
        fitted: the mean rank, counted from 1 among the options that are given.

    Raises
    ------
    InputError
        Where every answer is as good as certain: effects would be infinite.
    """
    if log_likelihood > -APART * design.weights.sum():
        raise InputError(
            f"formula '{fit_input.formula}'{fit_input.label}: the predictors tell the answers apart, so an ordered "
            "logit has no best fit; use fewer predictors"
        )
    group = fit_input.formula.grouping_column
    fixed = design.x @ coefficients
    total = design.weights.sum()
    variance_fixed = float(
        design.weights @ (fixed - design.weights @ fixed / total) ** 2 / max(total - 1, np.finfo(float).tiny)
    )
    sd, modes, mode_errors = intercepts or (np.nan, np.zeros(len(design.levels)), np.array([]))
    latent = fixed + modes[design.codes]
    names = tuple(map(str, design.levels))
    labels = zip(design.labels, design.labels[1:], strict=False)
    return Fit(
        engine=engine,
        terms=design.terms,
        estimate=coefficients,
        se=se,
        df=np.full(len(design.terms), df),
        sd=design.sd,
        triangle=design.triangle,
        reml=-2 * log_likelihood,
        sigma=float(np.sqrt(LATENT_VARIANCE)),
        variances=(Variance(group, INTERCEPT, sd),) if intercepts else (),
        variance_fixed=variance_fixed,
        variance_random=sd**2,
        converged=converged,
        singular=sd < 1e-4,
        message=message,
        dropped=design.dropped,
        n_levels={group: len(design.levels)},
        rows=summarize_fitted_rows_and_keep_them(
            design.ranks + 1.0, 1 + (1 / (1 + np.exp(thresholds[None, :] - latent[:, None]))).sum(axis=1), design.row
        ),
        random=(RandomEffect(group, INTERCEPT, names, modes, mode_errors),) if intercepts else (),
        thresholds={f"{low}|{high}": float(value) for (low, high), value in zip(labels, thresholds, strict=True)},
    )
