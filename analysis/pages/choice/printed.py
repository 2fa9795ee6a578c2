"""Read the numbers that Choi printed, with our column names (results/published)."""

from __future__ import annotations

import pandas as pd

from analysis.reporting.catalogue.published_numbers import FOLDER

PAPER = "Choi, RoParQ, {}"


def read_printed_accuracy_and_xparacon() -> pd.DataFrame:
    """Read Tables 3 and 5 in the form of our table `choice_printed`; of the second only what is tuned (FT).

    The models of Table 5 that are not tuned are in Table 3, with the same numbers.
    """
    first, second = (pd.read_csv(FOLDER / f"choi_table{number}.csv").assign(source=PAPER.format(f"Table {number}"))
                     for number in (3, 5))  # fmt: skip
    return pd.concat([first.assign(tuned="no"), second[second["tuned"] == "yes"]], ignore_index=True)


def read_printed_choice_wordings() -> pd.DataFrame:
    """Read Table 8 in the form of our table `choice_wordings`: the judge's answers to each wording."""
    return pd.read_csv(FOLDER / "choi_table8.csv").assign(source=PAPER.format("Table 8"))


def read_printed_choice_building() -> pd.DataFrame:
    """Read Tables 2 and 4 in the form of our table `choice_building`."""
    parts = [pd.read_csv(FOLDER / f"choi_table{number}.csv").assign(source=PAPER.format(f"Table {number}"))
             for number in (2, 4)]  # fmt: skip
    return pd.concat(parts, ignore_index=True)
