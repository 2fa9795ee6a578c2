"""Write what weakens the answer of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.reporting.words import (
    format_percent,
    join_long_names,
    join_names,
    labels,
    list_few_items_cautions,
    list_few_models_cautions,
)
from analysis.reporting.words.doubts import LEFT_OUT, WIDE, WRONG, Caution
from analysis.reporting.words.validity import FEW_ANSWERS, list_cautions_unless_all_models_unjudged
from ground.errors import format_part_with_verb

JUDGE = "judge "


def list_cautions(readings: pd.DataFrame) -> tuple[str, ...]:
    """Write all cautions but those on thoughts without an end, which every page has; where no reading is compared, the
    verdict says why.

    Parameters
    ----------
    readings
        Table `readings`.

    Returns
    -------
    tuple of str
    """
    labelled = add_labels_and_conditions_to_readings(readings)
    compared = labelled[labelled["compared"].astype(bool) & (labelled["n_items"].astype(float) > 0)]
    items = compared.drop_duplicates("name").set_index("name")["n_items"]
    return (
        *list_cautions_unless_all_models_unjudged(labelled, FEW_ANSWERS),
        *_describe_model_judges_and_self_judging(readings),
        *_describe_left_out_wordings(compared), *_describe_readings_of_unknown_noise(compared),
        *_describe_bounds_of_reading_specific_shares(compared),
        *list_few_items_cautions(items.astype(float), consequence="little is known of other items"),
        *list_few_models_cautions(readings["model"].nunique()),
    )  # fmt: skip


def add_labels_and_conditions_to_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Name the model of every reading, with setting and study where `labels.build_row_labels` needs them.

    Parameters
    ----------
    readings
        Table `readings`.

    Returns
    -------
    DataFrame
        The rows with `name`; `label`, with the reading, for `words.validity`; and `condition`, as readings of one
        setting are conditions of their own.
    """
    names = labels.build_row_labels(readings[["study", "model"]].assign(condition=readings["setting"]))
    return readings.assign(
        name=names,
        label=readings["reading"] + " (" + names + ")",
        condition=readings["setting"] + "/" + readings["reading"],
    )


def _join_readings_of_rows(rows: pd.DataFrame, compared: pd.DataFrame) -> str:
    """Join the readings of some rows; one that other compared rows are of, too, is named with its model and setting."""
    is_elsewhere = rows["reading"].isin(compared.drop(index=rows.index)["reading"])
    names = list(rows["reading"].mask(is_elsewhere, rows["label"]).unique())
    return join_long_names(names) if is_elsewhere.any() else join_names(names)


def _describe_model_judges_and_self_judging(readings: pd.DataFrame) -> Iterator[str]:
    """Say that a judge is a model, and where it judges itself."""
    judged = readings[readings["reading"].str.startswith(JUDGE)] if len(readings) else readings
    if judged.empty:
        return
    judges = judged["reading"].str.removeprefix(JUDGE).str.partition(" (")[0]  # a temperature follows
    names = join_names(list(dict.fromkeys(judges)))
    yield Caution(
        f"A judge is a model of its own ({names}): the wording may move it, too. Only "
        "a sheet of what people read tells its errors.",
        WRONG,
    )
    own_judges = list(dict.fromkeys(judged["model"][judges == judged["model"]]))
    if own_judges:
        yield Caution(
            f"Judge and judged are the same model: {join_names(own_judges)}. A model may read its own texts kindly.",
            WRONG,
        )


def _describe_left_out_wordings(compared: pd.DataFrame) -> Iterator[str]:
    """Say how many wordings some readings did not answer."""
    rows = compared[compared["left_out"].astype(float) > 0].drop_duplicates("name")
    if len(rows):
        n_answered = rows["left_out"] + rows["n_wordings"]
        rows = rows.loc[(rows["left_out"] / n_answered).astype(float).sort_values(ascending=False, kind="stable").index]
        n_left = int(rows["left_out"].sum())
        with_models = f"With {join_long_names(list(rows['name']))}, " if compared["name"].nunique() > 1 else ""
        yield Caution(
            f"{with_models}{format_part_with_verb(n_left, int(n_answered.sum()), 'wording', 'is', 'are')} left out, as "
            "not every reading answered all. Those left may be the easy ones: ask all wordings in every way to keep "
            "them.",
            LEFT_OUT,
        )


def _describe_readings_of_unknown_noise(compared: pd.DataFrame) -> Iterator[str]:
    """Name readings of which it is not known what sampling adds."""
    rows = compared[compared["wording_sd"].isna()]
    if len(rows):
        yield Caution(
            f"What sampling adds is not known of {_join_readings_of_rows(rows, compared)}: a single text at a "
            "temperature above 0, or not known. Its variance over wordings has no number: ask for several texts.",
            WIDE,
        )


def _describe_bounds_of_reading_specific_shares(compared: pd.DataFrame) -> Iterator[str]:
    """Say where only bounds are known of what is a reading's own."""
    n_compared = compared.groupby(["study", "model", "setting"])["reading"].transform("size")
    unknown = compared[compared["own"].isna() & compared["own_most"].isna() & (n_compared > 1)]
    if len(unknown):
        yield Caution(
            f"Nothing is known of what is due to the reading for {_join_readings_of_rows(unknown, compared)}. Rules "
            "for the same texts may misread them alike: ask more items, several texts per wording, or wordings that "
            "move the answer more.",
            WIDE,
        )
    rows = compared[compared["own"].isna() & compared["own_most"].notna()]
    if len(rows):
        rows = rows.loc[rows["own_most"].astype(float).sort_values(ascending=False, kind="stable").index]
        up_to = format_percent(float(rows["own_most"].iloc[0]))
        yield Caution(
            f"What is due to the reading has only bounds, of up to {up_to}, for "
            f"{_join_readings_of_rows(rows, compared)}. For a number, ask in two more ways (texts: several per "
            "wording, not at a low temperature), or read texts by hand (-p sheet=FILE).",
            WIDE,
        )
