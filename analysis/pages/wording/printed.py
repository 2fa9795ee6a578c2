"""Read the numbers that Takayama et al. printed, with our column names and scales (results/published)."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue.published_numbers import FOLDER

SOURCE = "Takayama et al., Table "
PER_CENT = ("consistency", "yes", "diff_yes", "accuracy", "diff_acc")


def read_printed_means_by_training_stage() -> pd.DataFrame:
    """Read Tables 1 and 3 in the form of our table `groups`; models and items differ from ours.

    GPT-4o is a stage of its own, because it has its own column in the paper.
    """
    tables = pd.concat([pd.read_csv(FOLDER / f"takayama_table{number}.csv") for number in (1, 3)], ignore_index=True)
    shares = {name: tables[name] / 100 for name in PER_CENT}
    return tables.assign(
        source=SOURCE + tables["table"].astype(str),
        stage=tables["column"].replace({"Base": "base", "Instruct": "instruct"}),
        condition=tables["shots"].astype(str) + "-shot",
        **shares,
    )[["source", "stage", "condition", "language", "task", "pattern", *PER_CENT]]
