"""Choose the setting that the page is about, and lay scores out for what compares models on the same items."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from analysis.measures.scores import MAKER, METHODS, name_scoring_settings
from analysis.reporting.words import labels
from ground.errors import InputError


def choose_headline_setting(rows: pd.DataFrame, setting: str = "") -> str:
    """Choose the setting that sentences and figures are about.

    Parameters
    ----------
    rows
        Rows with range, temperature and method; human scores have no method.
    setting
        The setting to take, such as "0-9/0.7/sampled"; empty: chosen here.

    Returns
    -------
    str
        `setting` if one is given; else the first range that was asked, the method "sampled" if that was used, and the
        temperature nearest to 0.7, the paper's.

    Raises
    ------
    InputError
        For a setting that was not asked.
    """
    condition_rows = rows[rows["method"].notna()].drop_duplicates(["range", "temperature", "method"])
    names = name_scoring_settings(condition_rows)
    if setting and setting not in set(names):
        raise InputError(f"no condition has the setting {setting!r}; there are {', '.join(names)}")
    if setting:
        return setting
    first = condition_rows[condition_rows["range"] == condition_rows["range"].iloc[0]]
    first = first.assign(
        exact=first["method"] != "sampled",
        thought=~first["method"].isin(METHODS),
        off=(first["temperature"] - 0.7).abs(),
    )
    return str(name_scoring_settings(first.sort_values(["exact", "thought", "off"], kind="stable")).iloc[0])


def parse_range_ends(span: str) -> tuple[int, int]:
    """Read the two ends of a range.

    >>> parse_range_ends("1-100"), parse_range_ends("-5-5")
    ((1, 100), (-5, 5))
    """
    low, high = re.fullmatch(r"(-?\d+)-(-?\d+)", span).groups()  # type: ignore[union-attr]
    return int(low), int(high)


def phrase_temperature(name: str) -> str:
    """Write a temperature in words, from its number or from its name in a setting.

    >>> phrase_temperature("0.7"), phrase_temperature("maker"), phrase_temperature(f"{float('nan'):g}")
    ('temperature 0.7', 'the maker’s temperature', 'the maker’s temperature')
    """
    return "the maker’s temperature" if name in (MAKER, "nan") else f"temperature {name}"


def select_setting_rows(frame: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Choose the rows of one setting.

    Parameters
    ----------
    frame
        Rows with range, temperature and method.
    setting
        Such as "0-9/0.7/sampled".

    Returns
    -------
    DataFrame
        Its rows.
    """
    if frame.empty:
        return frame
    return frame[name_scoring_settings(frame.assign(temperature=frame["temperature"].astype(float))) == setting]


def label_rows_with_model_and_prompt(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column `label` to table `scores`: the model, with its prompt and form where it was asked in several."""
    prompts = (scores["prompt"] + "/" + scores["form"].fillna("")).str.strip("/")
    return scores.assign(label=labels.build_row_labels(scores.assign(condition=prompts)))


def build_score_matrix_gold_and_width(rows: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, float]:
    """Return the scores (items, units) of one group and range by (model, condition), human scores, and the width."""
    wide = rows.pivot(index="item", columns=["model", "condition"], values="score")
    units = rows[["model", "condition"]].drop_duplicates()
    items = rows.drop_duplicates("item").set_index("item")
    wide = wide.reindex(index=items.index, columns=pd.MultiIndex.from_frame(units))
    return wide, items["gold"].to_numpy(float), float(rows["high"].iloc[0] - rows["low"].iloc[0])
