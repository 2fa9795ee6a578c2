"""Read the numbers that Sato et al. printed, with our column names (results/published)."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue.published_numbers import FOLDER
from analysis.runs import Runs

PRINTED = "Sato et al., Table 1"
SETTING = {"range": "0-9", "temperature": 0.7, "method": "sampled"}  # of Table 1 (section 4)


def read_printed_scores(runs: Runs | None = None) -> pd.DataFrame:
    """Read Tables 1 and 2 of the paper as one long table; it does not depend on the runs.

    Returns
    -------
    DataFrame
        source, group, series, stage (base or instruct), range, temperature, method, kurtosis, tau; the human scores
        have series "gold" and no stage. The two tables differ once: tau of llama after alignment on En-De.
    """
    first, second = (pd.read_csv(FOLDER / f"sato_table{number}.csv") for number in (1, 2))
    gold = first.drop_duplicates("group")[["group", "kurtosis_gold"]].rename(columns={"kurtosis_gold": "kurtosis"})
    parts = [gold.assign(series="gold")]
    for stage, side in (("base", "pre"), ("instruct", "post")):
        figures = {f"kurtosis_{side}": "kurtosis", f"tau_{side}": "tau"}
        parts.append(first[["group", "series", *figures]].rename(columns=figures).assign(stage=stage))
    table1 = pd.concat(parts).assign(source=PRINTED, range=SETTING["range"])
    printed_rows = pd.concat([table1, second.assign(source="Sato et al., Table 2")], ignore_index=True)
    printed_rows = printed_rows.assign(temperature=SETTING["temperature"], method=SETTING["method"])
    return printed_rows[["source", "group", "series", "stage", *SETTING, "kurtosis", "tau"]]


def read_printed_score_differences() -> pd.DataFrame:
    """Read Table 1 as rows of table `score_differences`, with `source`."""
    table = pd.read_csv(FOLDER / "sato_table1.csv")
    for name in ("kurtosis", "tau"):
        table[f"{name}_difference"] = table[f"{name}_post"] - table[f"{name}_pre"]
    return table.assign(source=PRINTED, study="MLQE-PE", post_model=table["series"], **SETTING)
