"""Choose the rows that the figures of the page are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.measures.scores import GOLD, read_scores
from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.scoring.influence import (
    LEAST,
    NOTHING,
    add_names_of_correlation_points,
    blank_differences_of_invalid_models,
)
from analysis.pages.scoring.items import choose_headline_setting, select_setting_rows
from analysis.pages.scoring.plots import MOST_PANELS
from analysis.pages.scoring.printed import PRINTED, read_printed_score_differences
from analysis.reporting.catalogue.frames import Frames
from analysis.reporting.catalogue.published_numbers import OURS
from analysis.reporting.words import labels


def choose_scoring_setting_of_figures(frames: Frames) -> str:
    """Return the range, temperature and method that the figures are about (`items.choose_headline_setting`)."""
    return choose_headline_setting(read_scores(frames.runs), frames.options.get("setting", ""))


def build_score_violins_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `score_items`, some groups of items at a time."""
    yield from split_frame_by_most_groups_drawn(
        _add_nonanswering_column_over_item_groups(frames["score_items"], frames["scores"])
    )


def build_score_temperatures_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield the rows of table `scores` with the page's range and method, where several temperatures were asked and a
    figure is defined."""
    span, _, method = choose_scoring_setting_of_figures(frames).rsplit("/", 2)
    scores = frames["scores"]
    rows = scores[(scores["range"] == span) & (scores["method"] == method) & (scores["model"] != GOLD)]
    rows = rows.dropna(subset=["temperature"])  # that of a maker has no place on the axis
    if rows["temperature"].nunique() > 1 and rows[["kurtosis", "tau"]].notna().any(axis=None):
        # A line goes over all temperatures: it has the mark where the model answers at none of them.
        lines = rows.groupby(["study", "group", "model", "form", "prompt"], sort=False, dropna=False)
        best_validity = lines["validity"].transform("max")
        yield from split_frame_by_most_groups_drawn(rows.assign(silent=is_validity_below_half(best_validity)))


def build_score_methods_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame]]:
    """Yield table `score_methods`, with a model marked that answers in both ways in none of its rows."""
    table = frames["score_methods"]
    if len(table):
        lower_validity = table[["validity_sampled", "validity_exact"]].min(axis=1)
        best_validity = lower_validity.groupby([table["study"], table["model"]], sort=False).transform("max")
        yield (table.assign(silent=is_validity_below_half(best_validity)),)


def _add_nonanswering_column_over_item_groups(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column `silent`: whether the model gives too few numbers, over the groups of items."""
    unit_validity = (
        scores[scores["model"] != GOLD].groupby(["study", "model", "condition"], sort=False)["validity"].mean()
    )
    return labels.add_nonanswering_unit_column(items, unit_validity.reset_index())


def build_score_influence_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield the correlation of kurtosis and tau with each omission, and its points, by study in the page's setting."""
    setting, table = choose_scoring_setting_of_figures(frames), frames["score_influence"]
    answered_differences = blank_differences_of_invalid_models(
        select_setting_rows(frames["score_differences"], setting)
    )
    yield from _frame_influence_if_enough_points(
        select_setting_rows(table[table["source"] == OURS], setting), answered_differences
    )


def build_score_influence_printed_frames(frames: Frames) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield the correlation with each omission, and its points, of the paper's printed differences."""
    table = frames["score_influence"]
    yield from _frame_influence_if_enough_points(table[table["source"] == PRINTED], read_printed_score_differences())


def _frame_influence_if_enough_points(
    table: pd.DataFrame, differences: pd.DataFrame
) -> Iterator[tuple[pd.DataFrame, ...]]:
    """Yield the rows of every study and its named points, where there are enough of them for a correlation."""
    whole_rows = table[table["omitted"] == NOTHING]
    for study in whole_rows.loc[whole_rows["n"] >= LEAST, "study"]:
        study_points = add_names_of_correlation_points(differences[differences["study"] == study])
        yield table[table["study"] == study], study_points


def split_frame_by_most_groups_drawn(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame]]:
    """Split rows with study and group into parts of at most `MOST_PANELS` groups of items, in their order."""
    names = frame[["study", "group"]].drop_duplicates()
    for start in range(0, len(names), MOST_PANELS):
        yield (frame.merge(names.iloc[start : start + MOST_PANELS], on=["study", "group"]),)
