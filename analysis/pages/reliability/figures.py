"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.reliability.plots import list_wording_counts_for_curves
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.words import labels

UNIT = [*labels.UNIT, "measure"]


def build_wordings_needed_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield for every study the predicted standard errors of its models by the number of wordings."""
    if frames["wording_precision"].empty:
        return
    parts = frames["variance_components"][[*UNIT, "item", "wording", "interaction", "sample", "n_samples"]]
    rows = select_first_unit_of_answering_models(frames["wording_precision"]).merge(parts, on=UNIT)
    rows = rows[rows["item"].notna() & (rows["n_wordings"] > 1)]
    for _, part in rows.groupby("study", sort=False):
        numbers = list_wording_counts_for_curves(float(part["n_wordings"].max()))
        curves = part.merge(pd.DataFrame({"at": numbers}), how="cross")
        yield (
            curves.assign(
                predicted=predict_standard_errors(curves, curves["at"]), label=labels.build_row_labels(curves)
            ),
        )


def predict_standard_errors(rows: pd.DataFrame, n_wordings: pd.Series) -> pd.Series:
    """Predict the standard error of every row with other numbers of wordings.

    As `panel.Panel.predict_standard_error_at_size`.

    Parameters
    ----------
    rows
        Components and sizes, as in tables `variance_components` and `wording_precision`.
    n_wordings
        Number of wordings, for each row.

    Returns
    -------
    Series
        Standard errors; NaN without components.
    """
    item, shared = rows["item"], rows["interaction"].notna()
    inner = rows["interaction"].where(shared, rows["wording"]) + (rows["sample"] / rows["n_samples"]).fillna(0)
    # As `Incidence.predict_effective_n_wordings`: n_shared grows with the wordings of an item. Items that have 5 of 10
    # wordings would have 8 of 16.
    of_all = (rows["wording"] * rows["n_wordings"] / rows["n_shared"]).where(shared, 0)
    return np.sqrt((item + inner / n_wordings) / rows["n_items"] + of_all / n_wordings)


def select_first_unit_of_answering_models(precision: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that sentences and figures are about: every model that answers, under its first condition."""
    first_conditions = precision[precision["headline"]].drop_duplicates(["study", "model"])
    has_mean = first_conditions["mean"].notna()
    return first_conditions[has_mean & ~is_validity_below_half(first_conditions["validity"])]


def build_wording_ranking_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the ranking of every study by its headline measure; of accuracies, the first one."""
    frame = frames["wording_ranking"]
    for _, part in frame[frame["headline"].astype(bool)].groupby("study", sort=False) if len(frame) else ():
        is_first = part[["task", "condition"]].eq(part[["task", "condition"]].iloc[0]).all(axis=1)
        drawn_rows = part[is_first] if part["task"].iloc[0] else part
        yield (drawn_rows.assign(label=labels.build_row_labels(drawn_rows)),)


def build_template_accuracies_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the accuracies of every study's models with every template, each model under its first condition."""
    if frames["wording_precision"].empty:
        return
    frame, answering_units = frames["templates"], select_first_unit_of_answering_models(frames["wording_precision"])
    rows = frame.merge(answering_units[labels.UNIT], on=labels.UNIT).dropna(subset=["accuracy"])
    for _, part in rows.groupby("study", sort=False):
        yield (part.assign(label=labels.build_row_labels(part)),)


def build_template_reliability_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield how reliably templates rank the models of every study of accuracies."""
    frame = frames["template_reliability"]
    for _, part in frame.groupby("study", sort=False) if len(frame) else ():
        yield (part,)


def build_template_ranges_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the ranges over templates of every study of accuracies."""
    frame = frames["template_scores"]
    rows = frame[(frame["task"] != "") & (frame["n_templates"] > 1)] if len(frame) else frame
    for _, part in rows.groupby("study", sort=False) if len(rows) else ():
        yield (part,)


def build_planned_errors_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield for every study the foreseen and the actual errors of its models, each under its first condition."""
    frame = frames["planned_errors"]
    if frame.empty:
        return
    answering_units = select_first_unit_of_answering_models(frames["wording_precision"])
    for _, part in frame.merge(answering_units[labels.UNIT], on=labels.UNIT).groupby("study", sort=False):
        if part[["predicted", "actual"]].notna().all(axis=1).any():
            yield (part.assign(label=labels.build_row_labels(part)),)


def build_ranking_calibration_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the classes of probabilities of every study."""
    frame = frames["ranking_calibration"]
    for _, part in frame.groupby("study", sort=False) if len(frame) else ():
        yield (part,)
