"""Make the table like Table 3 of Haller et al., with the printed rows if models and items are the same."""

from __future__ import annotations

import pandas as pd

from analysis import features
from analysis.pages.stability.printed import select_rows_of_printed_models
from analysis.pages.text_features.tables import DAGGER, tabulate_mixed_effects
from analysis.reporting.catalogue.published_numbers import FOLDER, OURS, insert_published_rows
from analysis.runs import Runs
from analysis.statistics.mixed.design import FAMILY

PERCENTAGE_POINTS = 100
SOURCE = "Haller et al., Table 3"


def tabulate_effects_in_percentage_points(
    runs: Runs, *, engine: str = "auto", invalid: str = "dropped"
) -> pd.DataFrame:
    """Compute effects of the paper's eight predictors on agreement in percentage points (Haller et al., Table 3).

    The models have only these predictors (those of them that are present), so that the numbers mean the same as in the
    paper. What the paper calls "sd" are standard errors.

    Parameters
    ----------
    runs, engine, invalid
        As in `fit_mixed_model_per_unit`.

    Returns
    -------
    DataFrame
        One row per model and condition, wide as printed: study, model, condition, source, and for every predictor X
        effect_X, effect_X_se, effect_X_dagger ("†" if not significant after Bonferroni over the tests of these runs);
        n_rows, n_items. A printed row follows ours if the model and its items were printed.
    """
    ours = _pivot_effects_to_row_per_unit(
        tabulate_mixed_effects(runs, engine=engine, predictors="published", invalid=invalid), list(FAMILY)
    ).assign(source=OURS)
    # Printed rows have no counts (NaN), so these are floats; also without printed rows, so that types never change.
    ours = ours.astype({"n_rows": float, "n_items": float})
    return insert_published_rows(ours, select_rows_of_printed_models(runs, ours), read_printed_effects_per_model())


def read_printed_effects_per_model() -> pd.DataFrame:
    """Read the printed rows with our column names and `printed`, the model's printed name."""
    rows = pd.read_csv(FOLDER / "haller_table3.csv")
    rows = rows.assign(dagger=rows["significant"].map({True: "", False: DAGGER}))
    return (
        _pivot_effects_to_row_per_unit(rows, ["model"], in_percentage_points=True)
        .rename(columns={"model": "printed"})
        .assign(source=SOURCE)
    )


def _pivot_effects_to_row_per_unit(
    rows: pd.DataFrame, unit_columns: list[str], in_percentage_points: bool = False
) -> pd.DataFrame:
    """Make one row per unit; a predictor without a value is NaN, and its dagger is empty."""
    factor = 1 if in_percentage_points else PERCENTAGE_POINTS
    sizes = [name for name in ("n_rows", "n_items") if name in rows]
    wide = rows[[*unit_columns, *sizes]].drop_duplicates().set_index(unit_columns)
    for term in features.PUBLISHED:
        term_rows = rows[rows["term"] == term].set_index(unit_columns)
        wide[f"effect_{term}"] = term_rows["estimate"] * factor
        wide[f"effect_{term}_se"] = term_rows["se"] * factor
        wide[f"effect_{term}_dagger"] = term_rows["dagger"].reindex(wide.index).fillna("")
    return wide.reset_index()


def read_printed_effects() -> pd.DataFrame:
    """Read the printed effects in long form: model, term, estimate (in points), p_bonferroni (1 if †, else 0)."""
    rows = pd.read_csv(FOLDER / "haller_table3.csv")
    return rows.assign(p_bonferroni=rows["significant"].map({True: 0.0, False: 1.0}))
