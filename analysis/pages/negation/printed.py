"""Read the numbers that Yoshida et al. printed, with our column names and scales (results/published)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.reporting.catalogue.published_numbers import FOLDER

SEEDS = 5


def read_printed_negation_accuracy() -> pd.DataFrame:
    """Read Tables 2, 7 and 8 in the form of our table `negation_printed`; the paper's per cent are shares here.

    The tuned models are means over `SEEDS` splits of the training set (caption of Table 2, appendix D.2).
    """
    first = pd.read_csv(FOLDER / "yoshida_table2.csv").assign(source="Yoshida et al., Table 2")
    appendix_tables = [pd.read_csv(FOLDER / f"yoshida_table{number}.csv") for number in (7, 8)]
    second = (
        appendix_tables[0]
        .merge(appendix_tables[1], on=["setting", "model"])
        .assign(source="Yoshida et al., Tables 7 and 8")
    )
    rows = pd.concat([first, second], ignore_index=True)
    shares = [name for name in rows if name.startswith("acc")]
    seeds = rows["setting"].str.startswith("tuned").map({True: SEEDS, False: np.nan})
    return rows.assign(**rows[shares] / 100, seeds=seeds)


def read_printed_negation_data_counts() -> pd.DataFrame:
    """Read Tables 3 and 4 in the form of our table `negation_data`; the two sets stand in the column `study`."""
    third, fourth = (pd.read_csv(FOLDER / f"yoshida_table{number}.csv") for number in (3, 4))
    return third.merge(fourth, on="study").assign(source="Yoshida et al., Tables 3 and 4")
