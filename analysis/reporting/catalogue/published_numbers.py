"""Put the numbers that a paper printed (results/published) next to the same numbers of these runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.runs.folder import UNIT
from ground.shipped import find_shipped_folder

if TYPE_CHECKING:
    import pandas as pd

FOLDER = find_shipped_folder("results") / "published"
OURS = "these runs"  # value of column `source` for rows that were not printed


def insert_published_rows(
    own_rows: pd.DataFrame, matched_rows: pd.DataFrame, published_rows: pd.DataFrame
) -> pd.DataFrame:
    """Insert printed rows after our rows of the same study, model and condition.

    Parameters
    ----------
    own_rows
        Our rows, with columns study, model and condition.
    matched_rows
        Those of our rows that were printed, too, with `printed`, the model's name in the paper.
    published_rows
        The paper's rows: `printed` and any other columns.

    Returns
    -------
    DataFrame
        The columns of both without `printed`. A printed row has the study, model and condition of the run, so that both
        sort and filter as one group.
    """
    import pandas as pd  # here: citations need the folder only, and a report that runs notebooks no DataFrame

    units = list(UNIT)
    printed_units = matched_rows[[*units, "printed"]].drop_duplicates().merge(published_rows, on="printed")
    all_rows = pd.concat([own_rows, printed_units], ignore_index=True) if len(printed_units) else own_rows
    # The sort is stable: our rows were first, the printed ones follow them.
    order = all_rows.groupby(units, sort=False).ngroup()
    return all_rows.iloc[order.argsort(kind="stable")].drop(columns="printed", errors="ignore").reset_index(drop=True)
