"""The counterpart of the paper's Table 3, beside the printed one where models and items are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis import features
from analysis.pages.stability import printed as published
from analysis.pages.text_features.tables import DAGGER, mixed
from analysis.statistics.mixed.design import FAMILY

if TYPE_CHECKING:
    from analysis.runs import Runs

PERCENTAGE_POINTS = 100
SOURCE = "Haller et al., Table 3"


def table3(runs: Runs, *, engine: str = "auto") -> pd.DataFrame:
    """Effects of the paper's eight predictors on agreement in percentage points (Haller et al., Table 3).

    Fitted to these predictors alone (those of them that are present), whatever else is known of the wordings, so that
    the numbers mean what they mean in the paper. Its "sd" are standard errors.

    Returns
    -------
    DataFrame
        One row per model and condition, wide as printed: study, model, condition, source, and for every predictor X
        effect_X, effect_X_se, effect_X_dagger ("†" where not significant after Bonferroni over the tests of these
        runs); n_rows, n_items. A printed row follows ours where the model and its items were printed.
    """
    ours = _wide(mixed(runs, engine=engine, predictors="published"), list(FAMILY)).assign(source=published.OURS)
    beside = published.matched(runs, ours)[[*FAMILY, "printed"]].merge(printed(), on="printed")
    both = pd.concat([ours, beside], ignore_index=True)
    order = both.groupby(list(FAMILY), sort=False).ngroup().argsort(kind="stable")
    return both.iloc[order].reset_index(drop=True).drop(columns="printed")


def printed() -> pd.DataFrame:
    """The printed rows under our column names, with `printed`, the model's printed name."""
    rows = pd.read_csv(published.FOLDER / "haller_table3.csv")
    rows = rows.assign(dagger=rows["significant"].map({True: "", False: DAGGER}))
    return _wide(rows, ["model"], per_cent=True).rename(columns={"model": "printed"}).assign(source=SOURCE)


def _wide(rows: pd.DataFrame, unit: list[str], per_cent: bool = False) -> pd.DataFrame:
    """One row per unit; a predictor that a unit does not have is NaN, its dagger empty."""
    factor = 1 if per_cent else PERCENTAGE_POINTS
    sizes = [name for name in ("n_rows", "n_items") if name in rows]
    wide = rows[[*unit, *sizes]].drop_duplicates().set_index(unit)
    for term in features.PUBLISHED:
        found = rows[rows["term"] == term].set_index(unit)
        wide[f"effect_{term}"] = found["estimate"] * factor
        wide[f"effect_{term}_se"] = found["se"] * factor
        wide[f"effect_{term}_dagger"] = found["dagger"].reindex(wide.index).fillna("")
    return wide.reset_index()


def printed_effects() -> pd.DataFrame:
    """The printed effects in long form: model, term, estimate (percentage points), p_bonferroni (with a dagger 1)."""
    rows = pd.read_csv(published.FOLDER / "haller_table3.csv")
    return rows.assign(p_bonferroni=rows["significant"].map({True: 0.0, False: 1.0}))
