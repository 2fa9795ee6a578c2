"""Make tables of a family of fits: tests with corrected p values, diagnostics, residuals, random effects."""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.statistics.mixed.by_item import compute_item_sums_of_fit
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.robust import compute_robust_se
from analysis.statistics.mixed.slopes import compute_slope_variation_p_values
from analysis.statistics.multiplicity import ALPHA, bonferroni, holm
from analysis.statistics.resampling import LEVEL
from analysis.statistics.significance import ROUNDING

if TYPE_CHECKING:
    import pandas as pd

    from analysis.statistics.mixed.design import FitInput
    from analysis.statistics.mixed.fits import Array, Fit

    Columns = Mapping[str, Any]

POOLED = "all"  # name of the model if one fit takes all of them


@dataclass(frozen=True)
class Result:
    """Hold the fits of a family and make tables of them. Every table starts with the columns of the family."""

    by: tuple[str, ...]
    fits: Sequence[tuple[FitInput, Fit]]

    @cached_property
    def table(self) -> pd.DataFrame:
        """Return one row per fit and coefficient.

        Columns: term; estimate, se, lower, upper (95 %, t) on the raw scale of predictor and response; df
        (Satterthwaite), statistic (t), p (two-sided); p_bonferroni, p_holm over the `n_tests` tests of the table,
        intercepts left out; se_robust, lower_robust, upper_robust, p_robust, p_robust_bonferroni: the same estimate
        with cluster-robust errors (see `robust`); p_slopes of the test whether the effect differs between items (see
        `slopes`); confirmed; estimate_std, the response's change in its SDs per SD of the predictor; n_rows, n_items;
        engine.

        An effect is `confirmed` if p_bonferroni and p_robust_bonferroni are below 0.05. Formulas that the built-in
        engine cannot fit have no robust errors, nor has engine "ordinal"; p_bonferroni alone decides.
        """
        table = add_corrected_p_values(self._stack_fit_tables(_build_coefficient_table))
        sure = table["p_bonferroni"] < ALPHA
        if self.fits[0][0].formula.is_fittable_by_builtin_engine and self.fits[0][1].engine != "ordinal":
            sure &= table["p_robust_bonferroni"] < ALPHA
        table.insert(list(table.columns).index("p_slopes") + 1, "confirmed", sure)
        return table

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """Return one row per fit.

        Columns: engine, formula, converged, singular, message; reml, the criterion; sigma, the residual SD;
        sd_<group>, of a random intercept, sd_<group>_<term>, of a slope; icc, the random effects' share of the
        variance that the fixed effects do not explain; r2_marginal, r2_conditional (Nakagawa & Schielzeth 2013, for
        slopes Johnson 2014); n_rows, n_items, n_<group>; n_missing, rows left out; dropped, predictors left out, why.
        Of ordered logits, also their thresholds; reml is -2 log-likelihood, and sigma, icc and R2 are those of the
        latent answer. Engine "ordered_model" has no icc and R2: it knows no variance of items.
        """
        return self._stack_fit_tables(_build_fit_diagnostics)

    @cached_property
    def vif(self) -> pd.DataFrame:
        """Return the variance inflation factor per fit and predictor (columns term, vif), without intercepts."""
        return self._stack_fit_tables(_compute_variance_inflation)

    @property
    def residuals(self) -> pd.DataFrame:
        """Return one row per fitted row: row (its index in the frame), fitted (random effects included), residual.

        Of fits whose rows were dropped there are none. The columns of the family are categorical: there may be millions
        of rows.
        """
        import pandas as pd

        names = self._stack_fit_tables(lambda *_: {"fit": [0]}).drop(columns="fit").astype("category")
        rows_by_fit = [fit.rows for _, fit in self.fits]
        number = np.repeat(np.arange(len(self.fits), dtype=np.int32), [len(rows.y) for rows in rows_by_fit])
        columns: dict[str, Any] = {name: values.array.take(number) for name, values in names.items()}
        columns["row"] = np.concatenate([rows.index for rows in rows_by_fit])
        columns["fitted"] = np.concatenate([rows.fitted for rows in rows_by_fit])
        columns["residual"] = np.concatenate([rows.y - rows.fitted for rows in rows_by_fit])
        return pd.DataFrame(columns, copy=False)

    @cached_property
    def random_effects(self) -> pd.DataFrame:
        """Return one row per fit, random effect and level: group, term, level, estimate (conditional mode), se."""
        import pandas as pd

        names = ("group", "term", "level", "estimate", "se")

        def build_effects(_: FitInput, fit: Fit) -> pd.DataFrame:
            effects = [pd.DataFrame({name: getattr(effect, name) for name in names}) for effect in fit.random]
            return pd.concat(effects) if effects else pd.DataFrame(columns=list(names))

        return self._stack_fit_tables(build_effects)

    def _stack_fit_tables(self, build_table: Callable[[FitInput, Fit], Columns | pd.DataFrame]) -> pd.DataFrame:
        """Join the tables that `build_table` makes of every fit, each after the values of its family or `POOLED`."""
        import pandas as pd

        frames = []
        for part, fit in self.fits:
            frame = pd.DataFrame(build_table(part, fit))
            names = {**({} if "model" in self.by else {"model": POOLED}), **dict(zip(self.by, part.key, strict=True))}
            for place, (name, value) in enumerate(names.items()):
                frame.insert(place, name, value)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def list_indices_of_largest_residual_fits(fits: Sequence[tuple[FitInput, Fit]], n_fits: int) -> list[int]:
    """List the places of the fits whose residuals have the largest mean square.

    Parameters
    ----------
    fits
        Of one family.
    n_fits
        How many are listed, by place; of equal ones the first.

    Returns
    -------
    list of int
        Indices into `fits`, ascending.
    """
    mean_squares = np.array([fit.rows.mean_square for _, fit in fits])
    places: list[int] = np.sort(np.argsort(-mean_squares, kind="stable")[:n_fits]).tolist()
    return places


def collect_fits_keeping_rows_of_worst_ones(
    fits: Iterable[tuple[FitInput, Fit]], n_fits: int
) -> list[tuple[FitInput, Fit]]:
    """Collect fits as they are made, and drop the rows of each that is not among those of the largest residuals.

    Parameters
    ----------
    fits
        Of one family.
    n_fits
        How many keep their rows: those of `list_indices_of_largest_residual_fits`.

    Returns
    -------
    list
        All fits. At no time are there rows of more than one fit more than `n_fits`.
    """
    collected: list[tuple[FitInput, Fit]] = []
    largest: list[tuple[float, int]] = []  # a heap of mean squares, the smallest first; of equal ones the last place
    for fit_input, fit in fits:
        heapq.heappush(largest, (fit.rows.mean_square, -len(collected)))
        collected.append((fit_input, fit))
        if len(largest) > n_fits:
            place = -heapq.heappop(largest)[1]
            collected[place] = collected[place][0], collected[place][1].copy_without_rows()
    return collected


def compare_fits_on_two_scales(identity: Result, logit: Result) -> pd.DataFrame:
    """Compare two fits of one family, one per scale of the response.

    Parameters
    ----------
    identity, logit
        The fits of agreement, and those of its logit.

    Returns
    -------
    DataFrame
        One row per fit and predictor that both scales estimate: term; estimate, se, p_bonferroni,
        p_robust_bonferroni and estimate_std of either scale (suffix _identity, _logit); same_sign; same_significance
        (of what is `confirmed`); agreement, in words.
    """
    key = [*dict.fromkeys((*(() if "model" in identity.by else ("model",)), *identity.by)), "term"]
    compared_columns = [*key, "estimate", "se", "p_bonferroni", "p_robust_bonferroni", "estimate_std", "confirmed"]
    identity_table, logit_table = (
        table[table["term"] != INTERCEPT][compared_columns] for table in (identity.table, logit.table)
    )
    merged = identity_table.merge(logit_table, on=key, suffixes=("_identity", "_logit"), validate="one_to_one")
    merged["same_sign"] = np.sign(merged["estimate_identity"]) == np.sign(merged["estimate_logit"])
    significant = [merged.pop(f"confirmed_{scale}") for scale in ("identity", "logit")]
    merged["same_significance"] = significant[0] == significant[1]
    conditions = [
        significant[0] & significant[1] & merged["same_sign"],
        significant[0] & significant[1],
        significant[0],
        significant[1],
    ]
    verdicts = [
        "significant on both, same sign",
        "significant on both, opposite sign",
        "on identity only",
        "on logit only",
    ]
    merged["agreement"] = np.select(conditions, verdicts, "significant on neither")
    return merged


def add_robust_errors_and_slope_tests_to_fit(fit_input: FitInput, fit: Fit) -> Fit:
    """Add robust errors and tests of slopes to a fit with one random intercept, while its rows are there.

    Parameters
    ----------
    fit_input, fit
        The rows, and the fit that was made of them.

    Returns
    -------
    Fit
        Unchanged where the formula is another, whose fit may have random slopes itself, and for ordered logits.
    """
    if fit.thresholds or not fit_input.formula.is_fittable_by_builtin_engine:
        return fit
    items = compute_item_sums_of_fit(fit_input, fit)
    return replace(fit, se_robust=compute_robust_se(items, fit), p_slopes=compute_slope_variation_p_values(items))


def add_corrected_p_values(table: pd.DataFrame) -> pd.DataFrame:
    """Add p_bonferroni, p_holm, n_tests after p, and p_robust_bonferroni after p_robust; intercepts are not counted."""
    for name, source, correct in (
        ("p_holm", "p", holm),
        ("p_bonferroni", "p", bonferroni),
        ("p_robust_bonferroni", "p_robust", bonferroni),
    ):
        tested = ((table["term"] != INTERCEPT) & table[source].notna()).to_numpy()
        corrected = np.full(len(table), np.nan)
        corrected[tested] = correct(table[source].to_numpy()[tested])
        table.insert(list(table.columns).index(source) + 1, name, corrected)
    table.insert(list(table.columns).index("p_holm") + 1, "n_tests", int(table["p_holm"].notna().sum()))
    return table


def compute_t_tests(estimate: Array, se: Array, df: Array) -> Columns:
    """Test estimates against 0 by t.

    Parameters
    ----------
    estimate, se, df
        Estimates, their standard errors and degrees of freedom: (terms,).

    Returns
    -------
    dict
        statistic, p (two-sided), lower and upper (95 %): (terms,). NaN without an error: that items are alike does not
        mean that an estimate is known exactly.
    """
    from scipy.stats import t

    se = np.where(se > ROUNDING * np.abs(estimate), se, np.nan)
    half = t.ppf(0.5 + LEVEL / 2, df) * se
    p = 2 * t.sf(np.abs(estimate / se), df)
    return {"statistic": estimate / se, "p": p, "lower": estimate - half, "upper": estimate + half}


def _build_coefficient_table(fit_input: FitInput, fit: Fit) -> Columns:
    """Build the columns of `Result.table` for one fit: a row per term with its estimate, tests and intervals."""
    unknown = np.full(len(fit.terms), np.nan)
    # Of ordered logits, errors of "ordered_model" are robust themselves, and there are no others.
    se_robust = fit.se if fit.engine == "ordered_model" else unknown if fit.se_robust is None else fit.se_robust
    robust = compute_t_tests(
        fit.estimate, se_robust, np.full(len(fit.terms), fit.n_levels[fit_input.formula.grouping_column] - 1.0)
    )
    return {
        "term": fit.terms,
        "estimate": fit.estimate,
        "se": fit.se,
        "df": fit.df,
        **compute_t_tests(fit.estimate, fit.se, fit.df),
        "se_robust": se_robust,
        **{f"{name}_robust": robust[name] for name in ("p", "lower", "upper")},
        "p_slopes": unknown if fit.p_slopes is None else fit.p_slopes,
        "estimate_std": fit.estimate * fit.sd / fit.response_sd,
        "n_rows": fit.rows.n,
        "n_items": fit.n_levels[fit_input.formula.grouping_column],
        "engine": fit.engine,
    }


def _build_fit_diagnostics(fit_input: FitInput, fit: Fit) -> Columns:
    """Build the one row of `Result.diagnostics` for one fit."""
    residual = fit.sigma**2
    total = fit.variance_fixed + fit.variance_random + residual
    diagnosis = {
        "engine": fit.engine,
        "formula": str(fit_input.formula),
        "converged": fit.converged,
        "singular": fit.singular,
        "message": fit.message,
        "reml": fit.reml,
        "sigma": fit.sigma,
        **{
            f"sd_{effect.group}" if effect.term == INTERCEPT else f"sd_{effect.group}_{effect.term}": effect.sd
            for effect in fit.variances
        },
        "icc": fit.variance_random / (fit.variance_random + residual),
        "r2_marginal": fit.variance_fixed / total,
        "r2_conditional": (fit.variance_fixed + fit.variance_random) / total,
        "n_rows": fit.rows.n,
        "n_items": fit.n_levels[fit_input.formula.grouping_column],
        **{f"n_{group}": n for group, n in fit.n_levels.items() if group != fit_input.formula.grouping_column},
        "n_missing": fit_input.n_missing,
        "dropped": "; ".join(f"{name}: {reason}" for name, reason in (fit_input.dropped | fit.dropped).items()),
        **(
            {"thresholds": "; ".join(f"{name}: {at:.4f}" for name, at in fit.thresholds.items())}
            if fit.thresholds
            else {}
        ),
    }
    return {name: [value] for name, value in diagnosis.items()}


def _compute_variance_inflation(part: FitInput, fit: Fit) -> Columns:
    """Compute the variance inflation factors from the triangle R of the design.

    R has one row per term instead of thousands of rows, and R'R = X'X. So, without the first row and column (the
    intercept), a regression of one column of R on the others has the same R2 as that of X. The rows are stacked on
    their negatives, because statsmodels expects columns with mean zero.
    """
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    start = int(INTERCEPT in fit.terms)
    triangle, terms = fit.triangle[start:, start:], fit.terms[start:]
    if len(terms) < 2:
        return {"term": terms, "vif": [1.0] * len(terms)}
    triangle = triangle / np.linalg.norm(triangle, axis=0)
    rows = np.vstack([triangle, -triangle])
    with warnings.catch_warnings():
        # The VIF itself shows that.
        warnings.filterwarnings("ignore", message="The design matrix is poorly conditioned")
        return {"term": terms, "vif": [variance_inflation_factor(rows, j) for j in range(len(terms))]}
