"""Make the tables of the page on text features: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import features
from analysis.measures.agreement import CONVENTIONS, average_validity_of_paraphrases
from analysis.pages.text_features.family import (
    explain_dropped_predictors,
    find_units_with_invalid_answers,
    fit_mixed_model_per_unit,
    parse_predictor_names,
)
from analysis.statistics.mixed import compare_fits_on_two_scales
from analysis.statistics.mixed.design import FAMILY, INTERCEPT
from analysis.statistics.multiplicity import replace_underflowed_p_values

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

DAGGER = "†"
UNIT = list(FAMILY)


def tabulate_mixed_effects(
    runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all", invalid: str = "dropped"
) -> pd.DataFrame:
    """Estimate and test every predictor under every model, with intervals.

    Parameters
    ----------
    runs, engine, scale, predictors, invalid
        As in `fit_mixed_model_per_unit`.

    Returns
    -------
    DataFrame
        One row per fit and coefficient. Raw scale: change in agreement (0 to 1), or in its logit, per unit of the
        predictor. `*_std`: in SDs of both, with cluster-robust intervals. `p_bonferroni` and `p_holm` go over the
        `n_tests` tests of the table, intercepts left out; `dagger` marks what is not `confirmed`: in the paper's Table
        3, what is not significant after Bonferroni; here also what cluster-robust errors do not confirm. Its `attrs`
        hold notes: which predictors that were named are in no row, and why.
    """
    fits = fit_mixed_model_per_unit(runs, engine=engine, scale=scale, predictors=predictors, invalid=invalid)
    table = _add_daggers_and_intervals(fits.result.table.assign(scale=scale)).merge(
        average_validity_of_paraphrases(runs).drop(columns="validity_at_most"), on=UNIT, how="left"
    )
    table.attrs["notes"] = explain_dropped_predictors(fits, parse_predictor_names(predictors, runs))
    return table


def tabulate_effects_by_invalid_convention(
    runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all"
) -> pd.DataFrame:
    """Compare both ways to treat invalid answers, for the models that gave some: dropped, or counted as not agreeing.

    Parameters
    ----------
    runs, engine, scale, predictors
        As in `fit_mixed_model_per_unit`.

    Returns
    -------
    DataFrame
        study, model, condition, term; estimate_X, p_bonferroni_X, p_robust_bonferroni_X, confirmed_X: as in `mixed`
        under both conventions, n_rows_X: responses in the fit. NaN where a convention leaves no fit or drops the term.
    """
    import pandas as pd

    units = find_units_with_invalid_answers(runs)
    if not units:
        return pd.DataFrame()
    key, value_columns = [*UNIT, "term"], ["estimate", "p_bonferroni", "p_robust_bonferroni", "confirmed", "n_rows"]
    parts = []
    for name in CONVENTIONS:
        table = tabulate_mixed_effects(runs, engine=engine, scale=scale, predictors=predictors, invalid=name)
        is_slope_of_units = pd.MultiIndex.from_frame(table[UNIT]).isin(units) & (table["term"] != INTERCEPT)
        parts.append(table[is_slope_of_units].set_index(key)[value_columns].add_suffix(f"_{name}"))
    return pd.concat(parts, axis=1, sort=False).reset_index()


def tabulate_mixed_diagnostics(
    runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all", invalid: str = "dropped"
) -> pd.DataFrame:
    """Describe every fit, to be read before the estimates of `mixed` are believed.

    Parameters
    ----------
    runs, engine, scale, predictors, invalid
        As in `fit_mixed_model_per_unit`.

    Returns
    -------
    DataFrame
        One row per fit: explained variance, variance components, convergence, what was left out, and the mean validity
        of the responses with its upper bound (`measures.agreement.average_validity_of_paraphrases`). A model that
        could not be fitted has a row, too: `message` says why.
    """
    import pandas as pd

    fits = fit_mixed_model_per_unit(runs, engine=engine, scale=scale, predictors=predictors, invalid=invalid)
    table = fits.result.diagnostics.assign(response=fits.response)
    missing = [
        {**dict(zip(FAMILY, unit, strict=True)), "message": f"not fitted: {why}", "converged": False, "singular": False,
         "n_rows": 0, "n_missing": 0, "n_items": 0, "dropped": "", "response": fits.response, "formula": fits.formula}
        for unit, why in fits.left_out.items()
    ]  # fmt: skip
    if missing:
        table = pd.concat([table, pd.DataFrame(missing)], ignore_index=True)
    return table.merge(average_validity_of_paraphrases(runs), on=UNIT, how="left")


def tabulate_vif(
    runs: Runs, *, engine: str = "auto", predictors: str = "all", invalid: str = "dropped"
) -> pd.DataFrame:
    """Compute the variance inflation factor of every predictor in every fit.

    Parameters
    ----------
    runs, engine, predictors, invalid
        As in `fit_mixed_model_per_unit`; the engine changes nothing here, but fits of it may be there already.

    Returns
    -------
    DataFrame
        study, model, condition, term, vif.
    """
    return fit_mixed_model_per_unit(runs, engine=engine, predictors=predictors, invalid=invalid).result.vif


def tabulate_effects_on_agreement_and_logit(
    runs: Runs, *, engine: str = "auto", predictors: str = "all", invalid: str = "dropped"
) -> pd.DataFrame:
    """Compare every effect on agreement with the same on its logit: do sign and significance hold on both?

    Parameters
    ----------
    runs, engine, predictors, invalid
        As in `fit_mixed_model_per_unit`.

    Returns
    -------
    DataFrame
        The columns of `compare_fits_on_two_scales`; `verdict` is its `agreement`.
    """
    results = [
        fit_mixed_model_per_unit(runs, engine=engine, scale=scale, predictors=predictors, invalid=invalid).result
        for scale in ("identity", "logit")
    ]
    return compare_fits_on_two_scales(*results).rename(columns={"agreement": "verdict"})


def tabulate_feature_correlations(runs: Runs) -> pd.DataFrame:
    """Correlate the features of the paraphrases, the counterpart of Figure 6; see `analysis.features`."""
    return replace_underflowed_p_values(features.correlate_feature_pairs_in_each_study(runs))


def tabulate_software_computing_features(runs: Runs) -> pd.DataFrame:
    """List what computed the features, and which are missing and why."""
    return features.tabulate_components_of_study_features(runs)


def _add_daggers_and_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Add the daggers and the intervals of standardised estimates to the table."""
    tested = table["term"] != INTERCEPT
    dagger = ~table["confirmed"] & tested
    # One factor takes an estimate and its interval to the scale of SDs; an estimate of exactly 0 has lost it.
    factor = table["estimate_std"] / table["estimate"].where(table["estimate"] != 0)
    return replace_underflowed_p_values(table).assign(
        dagger=dagger.map({True: DAGGER, False: ""}),
        estimate_std_lower=table["lower_robust"] * factor,
        estimate_std_upper=table["upper_robust"] * factor,
    )
