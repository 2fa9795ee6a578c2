"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.pages.scales.columns import phrase_name_of_style
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import (
    DIVERGING,
    INK,
    OKABE_ITO,
    PAGE,
    Drawing,
    Look,
    Looks,
    run_in_report_style,
)
from analysis.reporting.drawing.svg import encode_model_classes_as_svg_id
from analysis.reporting.words import labels

NEUTRAL = "#d5d9de"
CHANGES = {"labels": "another kind of label", "middle": "with or without the middle"}
REVERSED = " (R)"  # ends the name of an item whose key is -1
ITEM_LETTERS = 34


@run_in_report_style
def draw_scales_scores(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per scale: every model's score, the interval for these wordings (thick) and like these (thin).

    Parameters
    ----------
    frame
        The rows of table `scales_scores` of one study, with `label` and `row`.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    return _draw_dots_by_panel(frame, "scale", "score", width, looks, (0.0, 1.0), None, str)


@run_in_report_style
def draw_scales_styles(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per style: every model's difference with both intervals; a dashed line at 0.

    Parameters
    ----------
    frame
        The rows of table `scales_styles` of one study that have a difference, with `label` and `row`.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    limit = panels.compute_symmetric_limit(frame[["difference", "lower", "upper", "like_lower", "like_upper"]])
    limit = min(1.0, limit)
    return _draw_dots_by_panel(frame, "style", "difference", width, looks, (-limit, limit), 0.0, phrase_name_of_style)


def _draw_dots_by_panel(
    frame: pd.DataFrame, panel: str, measure: str, width: float, looks: Looks | None, ends: tuple[float, float],
    reference_line: float | None, phrase_panel: Callable[[str], str],
) -> Drawing:  # fmt: skip
    """Draw rows of models in panels side by side, with dots and two intervals."""
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    in_order = frame.drop_duplicates("label").sort_values("row")
    names = panels.wrap_row_labels(list(in_order["label"]), width, 3.2)
    titles = list(dict.fromkeys(frame[panel]))
    n_across = min(len(titles), 2 if panels.is_one_column_wide(width) else 3)
    drawing, all_axes = panels.lay_out_panels(
        width, len(titles), n_across, panels.choose_distance_between_rows(names, 3.2) * len(names),
        left=panels.measure_row_labels_width(names), below=0.24, gap=0.26,
        whole_titles=[phrase_panel(str(title)) for title in titles],
    )  # fmt: skip
    for place, (title, axes) in enumerate(zip(titles, all_axes, strict=True)):
        rows = frame[frame[panel] == title]
        panels.set_up_panel_of_rows(axes, len(names))
        if place % n_across == 0:
            panels.draw_row_labels(axes, names)
        axes.hlines(rows["row"], rows["like_lower"].clip(*ends), rows["like_upper"].clip(*ends),
                    colors=[looks[model].colour for model in rows["model"]], linewidth=0.6,
                    gid=encode_model_classes_as_svg_id(looks[model].svg_class_of_model for model in rows["model"])
                    )  # fmt: skip
        clipped = rows.assign(**{
            f"{measure}_{side}": rows[f"{measure}_{side}"].clip(*ends) for side in ("lower", "upper")
        })  # fmt: skip
        panels.draw_dots(axes, clipped, measure, looks)
        panels.set_axis_limits_and_ticks(axes, *ends, 2, reference_line=reference_line)
    return drawing


@run_in_report_style
def draw_scales_moves(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a row per change: how far two answers are apart that differ in it alone; that of models in another colour.

    Parameters
    ----------
    frame
        The rows of table `scales_moves` of one study.
    width, looks
        In inches; looks are not used: rows are no models.

    Returns
    -------
    Drawing
        The figure.
    """
    names = [CHANGES.get(change, f"another {change}") for change in frame["change"]]
    drawing, axes = panels.lay_out_panel_with_named_rows(names, width, 0.19 * len(names))
    rows = frame.assign(
        row=np.arange(len(frame)), model=np.where(frame["change"] == "model", "model", "other"), label=names
    )
    colours = {"model": Look(OKABE_ITO[1], "s"), "other": Look(OKABE_ITO[0], "o")}
    panels.draw_dots(axes, rows, "apart", colours)
    highest = float(np.nanmax(rows[["apart", "apart_upper"]].to_numpy(float)))
    panels.set_axis_limits_and_ticks(axes, 0, max(0.05, highest), 4)
    panels.label_x_axis(axes, "distance of two answers, as a share of the scale")
    return drawing


@run_in_report_style
def draw_scales_items(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per model: a bar per item with the shares of its options, lower ones left of 0, higher ones right.

    Parameters
    ----------
    frame
        Rows of table `scales_items` of one scale, with `label`, `panel` and `item_row`.
    width, looks
        In inches; looks are not used: colours are options.

    Returns
    -------
    Drawing
        The figure.
    """
    items = frame.drop_duplicates("item").sort_values("item_row")
    texts = [str(name) + REVERSED * (key < 0) for name, key in zip(items["item"], items["key"], strict=True)]
    letters = min(ITEM_LETTERS, panels.compute_letter_limit_of_labels(width))
    names = labels.shorten_but_keep_distinct(texts, letters)
    models = frame.drop_duplicates("label").sort_values("panel")["label"]
    options = list_option_names(frame)
    legend_names = labels.shorten_but_keep_distinct(options, 34)
    n_across = min(len(models), 2 if panels.is_one_column_wide(width) else 4)
    pitch = panels.choose_distance_between_rows(names, 5.2, 0.16)
    drawing, all_axes = panels.lay_out_panels(
        width, len(models), n_across, pitch * len(names), left=panels.measure_row_labels_width(names), below=0.22,
        whole_titles=list(models),
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    colours = choose_option_colours(len(options))
    row_by_item = {item: row for row, item in enumerate(items["item"])}
    for place, (model, axes) in enumerate(zip(models, all_axes, strict=True)):
        rows = frame[frame["label"] == model]
        panels.set_up_panel_of_rows(axes, len(names))
        if place % n_across == 0:
            panels.draw_row_labels(axes, names)
        _draw_diverging_bars(axes, rows, rows["item"].map(row_by_item).to_numpy(), colours, options)
    panels.draw_legend(drawing, legend_names, [Look(colour, "s") for colour in colours])
    return drawing


def list_option_names(frame: pd.DataFrame) -> list[str]:
    """List the names of the options of some items, or their ranks where a name holds the separator of the names."""
    n_options = int(frame.filter(regex=r"^share_\d+$").notna().any().sum())
    names = str(frame["options"].iloc[0]).split("; ")
    return names if len(names) == n_options else [str(rank) for rank in range(1, n_options + 1)]


def choose_option_colours(n_options: int) -> list[str]:
    """Choose a colour per option: orange low, purple high, grey in the middle of an odd number."""
    colour_map = matplotlib.colormaps[DIVERGING]
    places = np.linspace(0.1, 0.9, n_options)
    if n_options % 2 == 0:  # without a middle, the lightest ones would be as light as each other
        half = n_options // 2
        places = np.concatenate([np.linspace(0.1, 0.38, half), np.linspace(0.62, 0.9, half)])
    colours = [matplotlib.colors.to_hex(colour_map(place)) for place in places]
    if n_options % 2 == 1:
        colours[n_options // 2] = NEUTRAL
    return colours


def _draw_diverging_bars(
    axes: Axes, rows: pd.DataFrame, places: np.ndarray, colours: list[str], options: list[str]
) -> None:
    """Draw the stacked bars of one model: 0 stands between the lower and the higher half of the options."""
    shares = rows[[f"share_{rank}" for rank in range(1, len(colours) + 1)]].fillna(0).to_numpy(float)
    below = shares[:, : len(colours) // 2].sum(axis=1)
    start = -below - (shares[:, len(colours) // 2] / 2 if len(colours) % 2 else 0)
    for rank, colour in enumerate(colours):
        axes.barh(places, shares[:, rank], left=start, height=0.78, color=colour, linewidth=0)
        names = rows["item"].astype(str) + f", {options[rank]}"
        marks.set_hover_titles_of_marks(axes, start + shares[:, rank] / 2, places, names, shares[:, rank],
                         sizes=[(share, 0.78) for share in shares[:, rank]])  # fmt: skip
        start = start + shares[:, rank]
    axes.axvline(0, color=INK, linewidth=0.6, zorder=3)
    panels.set_axis_limits_and_ticks(axes, -1, 1, 2)
    axes.set_xticks([-0.5, 0, 0.5], ["50 %", "0", "50 %"])
