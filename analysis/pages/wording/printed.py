"""What Takayama et al. printed, under our column names and on our scales (results/published)."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.printed import FOLDER

SOURCE = "Takayama et al., Table "
PER_CENT = ("consistency", "yes", "diff_yes", "accuracy", "diff_acc")


def groups() -> pd.DataFrame:
    """Tables 1 and 3 in the form of our table `groups`: other models and other items than ours.

    GPT-4o stands as a stage of its own, as it has a column of its own there.
    """
    tables = pd.concat([pd.read_csv(FOLDER / f"takayama_table{number}.csv") for number in (1, 3)], ignore_index=True)
    shares = {name: tables[name] / 100 for name in PER_CENT}
    return tables.assign(
        source=SOURCE + tables["table"].astype(str),
        stage=tables["column"].replace({"Base": "base", "Instruct": "instruct"}),
        condition=tables["shots"].astype(str) + "-shot",
        **shares,
    )[["source", "stage", "condition", "language", "task", "pattern", *PER_CENT]]


def matrix() -> pd.DataFrame:
    """The printed matrix of Figure 8 in long form, in its printed order: measure_a, measure_b, r."""
    wide = pd.read_csv(FOLDER / "takayama_figure8.csv").set_index("measure")
    return wide.stack().rename("r").rename_axis(["measure_a", "measure_b"]).reset_index()


def size() -> pd.DataFrame:
    """The printed Table 2: pattern, r (Spearman, size and Overall, Japanese morality)."""
    return pd.read_csv(FOLDER / "takayama_table2.csv")[["pattern", "r"]]
