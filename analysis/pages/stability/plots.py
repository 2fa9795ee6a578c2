"""Draw the figures with one row per item; those with one row per model are in `model_plots`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.pages.stability.model_plots import draw_differences, draw_overview
from analysis.reporting.catalogue import selection
from analysis.reporting.drawing import matrices, panels, plotting
from analysis.reporting.drawing.plotting import (
    DIVERGING,
    INK,
    PAGE,
    SEQUENTIAL,
    Drawing,
    Look,
    Looks,
    run_in_report_style,
)
from analysis.reporting.words import labels

__all__ = ["draw_agreement", "draw_differences", "draw_item_stability", "draw_overview", "draw_validity"]

MOST_ITEMS, MOST_COLUMNS = 60, 20  # items and models that a figure has room to name at both widths
MOST_LOW_ITEMS = 20  # items of the lowest validity; that of the others is higher
MIDDLE = 0.5  # where an answer flips
_KEY = ["study", "model", "condition", "item"]


@run_in_report_style
def draw_agreement(
    distribution: pd.DataFrame, items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw the median agreement of every model with every item (compare Haller et al., Figures 2 and 5).

    Parameters
    ----------
    distribution
        Table `distribution`: quartiles per model x condition x item.
    items
        Table `items`, for the texts, and for the ends, mean and range of the agreement.
    width, looks
        In inches; the models, whose classes the cells get: the columns are named, the colours mean agreement.

    Returns
    -------
    Drawing
        The figure.
    """
    name = (
        selection.read_answer_pair_attached_to_frame(distribution).rewrite_agreement_text_for_answers(
            "Median agreement"
        )
        + " (white: 0.5)"
    )
    cells = select_agreement_cells(distribution, items)
    table, names = _pivot_cells_to_items_by_models(cells, "value"), _name_rows_by_start_of_text(items, cells, width)
    is_split = _pivot_cells_to_items_by_models(cells, "split").eq(True).to_numpy(bool)
    return matrices.draw_heat_map(
        table, width, cmap=DIVERGING, low=0, high=1, colour_bar_title=name, is_marked=is_split,
        row_labels=names.loc[table.index],
        column_labels=[str(name) for name in table.columns],
        column_classes=plotting.list_model_css_class_of_each_label(cells, table.columns, looks),
    )  # fmt: skip


def select_agreement_cells(distribution: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Choose the cells of the map: all, or the items nearest to 0.5 and the models with the largest mean range.

    Parameters
    ----------
    distribution, items
        As in `draw_agreement`.

    Returns
    -------
    DataFrame
        row, label, value (median agreement; mean agreement where a wording has one answer, because the quartiles would
        hide the shares), split (whether the quartiles lie on both sides of 0.5), answers; sorted by the median of the
        items over models, lowest first. Without models that are not judged: their agreement is of little mass.
    """
    if "silent" in distribution:
        distribution = distribution[~distribution["silent"]]
    agreement_columns = ["agreement_min", "agreement_max", "agreement_mean", "agreement_range"]
    frame = distribution.dropna(subset=["median"]).merge(items[[*_KEY, *agreement_columns]], on=_KEY)
    units = frame.groupby(_KEY[:3])
    has_one_answer = units["agreement_min"].transform(lambda v: v.isin([0, 1]).all()) & units[
        "agreement_max"
    ].transform(lambda v: v.isin([0, 1]).all())
    frame = frame.assign(
        label=labels.build_row_labels(frame), row=frame["item"].astype(str), answers=has_one_answer,
        value=frame["median"].where(~has_one_answer, frame["agreement_mean"]),
        split=(frame["q25"] < MIDDLE) & (frame["q75"] > MIDDLE),
    )  # fmt: skip
    ranges = frame.groupby("label")["agreement_range"].mean().sort_values(ascending=False, kind="stable")
    frame = frame[frame["label"].isin(ranges.index[:MOST_COLUMNS])]
    medians = frame.groupby("row")["value"].median()
    nearest = (medians - MIDDLE).abs().sort_values(kind="stable").index[:MOST_ITEMS]
    return _select_rows_sorted_by_score(frame, medians.loc[nearest])


def _select_rows_sorted_by_score(frame: pd.DataFrame, scores: pd.Series) -> pd.DataFrame:
    """Keep the rows that have a score, sorted by it, lowest first."""
    order = {row: place for place, row in enumerate(scores.sort_values(kind="stable").index)}
    scored_rows = frame[frame["row"].isin(list(order))]
    return scored_rows.assign(place=scored_rows["row"].map(order)).sort_values(["place", "label"]).drop(columns="place")


def _pivot_cells_to_items_by_models(cells: pd.DataFrame, value_column: str) -> pd.DataFrame:
    """Return items x models, the items in the order of the cells, the models in that of their names."""
    return cells.pivot(index="row", columns="label", values=value_column).reindex(cells["row"].unique())


def _name_rows_by_start_of_text(items: pd.DataFrame, cells: pd.DataFrame, width: float) -> pd.Series:
    """Name the rows by the beginning of their text, or by their item where texts begin alike or cannot be drawn."""
    texts = items.assign(row=items["item"].astype(str)).drop_duplicates("row").set_index("row")["text"].astype(str)
    rows = list(cells["row"].unique())
    length = panels.compute_letter_limit_of_labels(width, cells["label"].nunique())
    return pd.Series(_choose_item_labels(list(texts.loc[rows]), rows, length), index=rows)


def _choose_item_labels(texts: Sequence[str], item_ids: Sequence[str], length: int) -> list[str]:
    """Return the openings of the texts as labels, or ids where openings are alike or cannot be drawn."""
    names = labels.take_first_words_after_shared_colon_prefix(texts, length)
    if len(set(names)) == len(names) and all(map(plotting.can_font_draw_text, names)):
        return names
    return labels.shorten_but_keep_distinct(item_ids, length)


@run_in_report_style
def draw_validity(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the mean validity of every model on every item as a heat map (Haller et al., section 4.1 and Appendix H).

    Parameters
    ----------
    items
        Table `items`, for `validity_mean`.
    width, looks
        In inches; the models, whose classes the cells get: the columns are named, the colours mean mass.

    Returns
    -------
    Drawing
        The figure.
    """
    cells = select_cells_of_lowest_validity(items)
    table = _pivot_cells_to_items_by_models(cells, "validity_mean")
    names = _name_rows_by_start_of_text(items, cells, width)
    return matrices.draw_heat_map(
        table, width, cmap=SEQUENTIAL, low=0, high=1, colour_bar_title="Validity", row_labels=names.loc[table.index],
        column_labels=[str(name) for name in table.columns],
        column_classes=plotting.list_model_css_class_of_each_label(cells, table.columns, looks),
    )  # fmt: skip


def select_cells_of_lowest_validity(items: pd.DataFrame) -> pd.DataFrame:
    """Choose the cells of the map: all, or the items and models of the lowest mean validity; sorted by it."""
    frame = items.dropna(subset=["validity_mean"])
    frame = frame.assign(label=labels.build_row_labels(frame), row=frame["item"].astype(str))
    models = frame.groupby("label")["validity_mean"].mean().sort_values(kind="stable").index[:MOST_COLUMNS]
    frame = frame[frame["label"].isin(models)]
    return _select_rows_sorted_by_score(
        frame, frame.groupby("row")["validity_mean"].mean().sort_values(kind="stable").iloc[:MOST_LOW_ITEMS]
    )


@run_in_report_style
def draw_item_stability(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the normalised SD of every item, mean and standard error over models (Haller et al., Figure 3).

    Parameters
    ----------
    frame
        Table `item_stability`: one row per item and family (causal, masked).
    width, looks
        In inches; not used: the marks stand for families, not models, so they are black and white.

    Returns
    -------
    Drawing
        The figure.
    """
    answer_choice = selection.read_answer_pair_attached_to_frame(frame)
    frame = frame.dropna(subset=["normalised_sd_mean"])
    ranked = tabulate_items_least_stable_first(frame).head(MOST_ITEMS)
    names = _choose_item_labels(
        list(ranked["text"].astype(str)),
        list(ranked["item"].astype(str)),
        26 if panels.is_one_column_wide(width) else 62,
    )
    families = sorted(frame["family"].unique())
    looks_by_family = {family: Look(INK, "os"[i % 2]) for i, family in enumerate(families)}
    hollow = [i % 2 == 1 for i in range(len(families))]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, len(ranked) * panels.choose_distance_between_rows(names, 8),
        left=panels.measure_row_labels_width(names), below=0.34,
        title=0.05, top=0.17 * (len(families) > 1),
    )  # fmt: skip
    panels.set_up_panel_of_rows(axes, len(ranked))
    panels.draw_row_labels(axes, names)
    places = ranked.reset_index(names="row")[["row", "study", "item"]].merge(frame, on=["study", "item"])
    error = places["normalised_sd_se"].fillna(0)
    places = places.assign(
        model=places["family"], label=places["item"].astype(str),
        normalised_sd_mean_lower=places["normalised_sd_mean"] - error,
        normalised_sd_mean_upper=places["normalised_sd_mean"] + error,
        row=places["row"] + (places["family"].map(families.index) - (len(families) - 1) / 2) * 0.3,
    )  # fmt: skip
    second = places["family"].map(dict(zip(families, hollow, strict=True)))
    panels.draw_dots(axes, places, "normalised_sd_mean", looks_by_family, is_hollow=second)
    panels.set_axis_limits_and_ticks(axes, 0, max(0.1, float(places["normalised_sd_mean_upper"].max())), 4)
    panels.label_x_axis(axes, answer_choice.rewrite_agreement_text_for_answers("Normalised SD of agreement"))
    if len(families) > 1:
        panels.draw_legend(
            drawing, [f"{family} models" for family in families], [looks_by_family[f] for f in families], hollow
        )
    return drawing


def tabulate_items_least_stable_first(item_stability: pd.DataFrame) -> pd.DataFrame:
    """Sort items by their normalised SD over all models, least stable first: study, item, text, mean."""
    weight = item_stability["n_models"]
    frame = item_stability.assign(total=item_stability["normalised_sd_mean"] * weight, weight=weight)
    grouped = frame.groupby(["study", "item"], sort=True).agg(
        text=("text", "first"), total=("total", "sum"), weight=("weight", "sum")
    )
    grouped["mean"] = grouped["total"] / grouped["weight"]
    return grouped.sort_values("mean", ascending=False, kind="stable").reset_index()[["study", "item", "text", "mean"]]
