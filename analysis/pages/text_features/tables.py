"""Make the tables of the page on text features: runs in, tidy frame out. `catalogue` lists them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import features
from analysis.pages.text_features.family import family
from analysis.runs.agreement import prepare
from analysis.statistics.mixed import compare_scales
from analysis.statistics.mixed.design import FAMILY, INTERCEPT

if TYPE_CHECKING:
    import pandas as pd

    from analysis.runs import Runs

DAGGER = "†"
UNIT = list(FAMILY)
SMALLEST = 2.2250738585072014e-308  # the smallest normal number of double precision


def mixed(runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all") -> pd.DataFrame:
    """Estimate and test every predictor under every model, with intervals; parameters as in `family`.

    Returns
    -------
    DataFrame
        One row per fit and coefficient. Raw scale: change in agreement (0 to 1), or in its logit, per unit of the
        predictor. `*_std`: in SDs of both, with cluster-robust intervals. `p_bonferroni` and `p_holm` go over the
        `n_tests` tests of the table, intercepts left out; `dagger` marks what is not `confirmed`: in the paper's Table
        3, what is not significant after Bonferroni; here also what cluster-robust errors do not confirm.
    """
    table = family(runs, engine=engine, scale=scale, predictors=predictors).result.table.assign(scale=scale)
    return _finished(table)


def mixed_diagnostics(
    runs: Runs, *, engine: str = "auto", scale: str = "identity", predictors: str = "all"
) -> pd.DataFrame:
    """Describe every fit, to be read before the estimates of `mixed` are believed; parameters as in `family`.

    Returns
    -------
    DataFrame
        One row per fit: explained variance, variance components, convergence, what was left out, and the mean validity
        of the responses. A model that could not be fitted has a row, too: `message` says why.
    """
    import pandas as pd

    found = family(runs, engine=engine, scale=scale, predictors=predictors)
    table = found.result.diagnostics.assign(response=found.response)
    missing = [
        {**dict(zip(FAMILY, unit, strict=True)), "message": f"not fitted: {why}", "converged": False, "singular": False,
         "n_rows": 0, "n_missing": 0, "n_items": 0, "dropped": "", "response": found.response, "formula": found.formula}
        for unit, why in found.left_out.items()
    ]  # fmt: skip
    if missing:
        table = pd.concat([table, pd.DataFrame(missing)], ignore_index=True)
    prepare(runs)
    validity = runs.sql(
        "SELECT study, model, condition, sum(n_rows * validity_mean) / sum(n_rows) AS validity "
        "FROM item_patterns WHERE NOT original GROUP BY ALL"
    )
    return table.merge(validity, on=UNIT, how="left")


def vif(runs: Runs, *, predictors: str = "all") -> pd.DataFrame:
    """Compute the variance inflation factor of every predictor in every fit: study, model, condition, term, vif."""
    return family(runs, predictors=predictors).result.vif


def scales(runs: Runs, *, engine: str = "auto", predictors: str = "all") -> pd.DataFrame:
    """Compare every effect on agreement with the same on its logit: do sign and significance hold on both?"""
    both = [family(runs, engine=engine, scale=scale, predictors=predictors).result for scale in ("identity", "logit")]
    return compare_scales(*both).rename(columns={"agreement": "verdict"})


def correlations(runs: Runs) -> pd.DataFrame:
    """Correlate the features of the paraphrases, the counterpart of Figure 6; see `analysis.features`."""
    return _floored(features.correlations(runs))


def components(runs: Runs) -> pd.DataFrame:
    """List what computed the features, and which are missing and why."""
    return features.components(runs)


def _floored(table: pd.DataFrame) -> pd.DataFrame:
    """Raise p values that are too small for a float to the smallest one that is not 0."""
    names = [name for name in table if name == "p" or name.startswith("p_")]
    return table.assign(**{name: table[name].clip(lower=SMALLEST) for name in names})


def _finished(table: pd.DataFrame) -> pd.DataFrame:
    """Add the daggers and the intervals of standardised estimates to the table."""
    tested = table["term"] != INTERCEPT
    dagger = ~table["confirmed"] & tested
    # One factor takes an estimate and its interval to the scale of SDs; an estimate of exactly 0 has lost it.
    factor = table["estimate_std"] / table["estimate"].where(table["estimate"] != 0)
    return _floored(table).assign(
        dagger=dagger.map({True: DAGGER, False: ""}),
        estimate_std_lower=table["lower_robust"] * factor,
        estimate_std_upper=table["upper_robust"] * factor,
    )
