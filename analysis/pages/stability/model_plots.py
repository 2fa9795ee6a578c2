"""Draw the figures with one row or cell per model."""

from __future__ import annotations

import pandas as pd

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.pages.stability.measures import choose_headline_flip_column
from analysis.reporting.drawing import matrices, panels, plotting
from analysis.reporting.drawing.plotting import (
    INK,
    PAGE,
    Drawing,
    Look,
    Looks,
    insert_line_breaks_into_name,
    measure_text_width,
    run_in_report_style,
)
from analysis.reporting.words import labels
from analysis.statistics.multiplicity import ALPHA

FOREST = 12  # pairs of models that a list shows better than a triangle
MOST_LINES = 2  # of a pair of names in the list
SIDE = 20  # models that a triangle has room to name at both widths


@run_in_report_style
def draw_overview(stability: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw validity, range, standard deviation and flips of every model: dots with 95 % intervals.

    Parameters
    ----------
    stability
        Table `stability`: one row per model x condition.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = stability.assign(silent=is_validity_below_half(stability["validity"]))
    frame = frame.assign(
        label=labels.build_row_labels(frame) + stability["mark"].map(" ({})".format).replace(" ()", "")
    )
    frame = frame.sort_values(["silent", "range_mean", "label"], na_position="last")
    frame = frame.iloc[labels.keep_ends_of_long_sequence(range(len(frame)), panels.ROWS)].assign(
        row=range(min(len(frame), panels.ROWS))
    )
    flip = choose_headline_flip_column(frame)
    measures = {
        "validity": "Validity",
        "range_mean": "Range",
        "sd_mean": "SD",
        flip: f"Flips > {parse_flip_threshold_percent(flip):g} %",
    }
    stacked = panels.is_one_column_wide(width)
    across = 2 if stacked else 4
    names, legend_names = panels.choose_row_labels_and_legend_names(list(frame["label"]), width, 4 // across)
    across = 4 if legend_names else across
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    high = len(frame) * panels.choose_distance_between_rows(names, 2.4 if legend_names else 3.6)
    drawing, panel_axes = panels.lay_out_panels(
        width, 4, across, high, left=panels.measure_row_labels_width(names), whole_titles=list(measures.values()),
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    panels.draw_legend(drawing, legend_names, [looks[name] for name in frame["model"][: len(legend_names)]])
    for i, (axes, measure) in enumerate(zip(panel_axes, measures, strict=True)):
        panels.set_up_panel_of_rows(axes, len(frame))
        panels.draw_dots(axes, frame, measure, looks, is_hollow=frame["silent"])
        top = float(frame[[measure, f"{measure}_upper"]].max().max())
        panels.set_axis_limits_and_ticks(
            axes, 0, 1 if measure == "validity" or pd.isna(top) else max(0.1, top), 2 if stacked else 3
        )
        if i % across == 0:
            panels.draw_row_labels(axes, names)
    return drawing


@run_in_report_style
def draw_differences(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw paired differences of the first measure between models on the same items: as a triangle, or as a list (see
    `choose_listed_pairs`).

    Parameters
    ----------
    frame
        Table `differences`: one row per measure and pair, `difference` = a minus b with its 95 % interval.
    width, looks
        In inches; the models, whose classes the cells of a triangle get: a pair has no colour.

    Returns
    -------
    Drawing
        The figure.
    """
    pairs = frame[frame["measure"] == frame["measure"].iloc[0]].dropna(subset=["difference"])
    pairs = pairs.assign(**labels.build_labels_of_both_sides_of_pairs(pairs), clear=pairs["p_holm"] < ALPHA)
    return (
        _draw_difference_triangle(pairs, width, looks)
        if (listed_pairs := choose_listed_pairs(pairs)) is None
        else _draw_difference_forest(listed_pairs, width, looks)
    )


def choose_listed_pairs(pairs: pd.DataFrame) -> pd.DataFrame | None:
    """Choose the pairs that a list shows: all of few, the largest where models do not fit a triangle; else None.

    The columns of `pairs` are a and b, the labels of both sides, and difference.
    """
    if len(pairs) <= FOREST:
        return pairs
    if len(pd.concat([pairs["a"], pairs["b"]]).unique()) <= SIDE:
        return None
    return pairs.loc[pairs["difference"].abs().sort_values(ascending=False, kind="stable").index[: panels.ROWS]]


def _draw_difference_forest(pairs: pd.DataFrame, width: float, looks: Looks | None) -> Drawing:
    """Draw a row per pair, the largest negative difference on top; filled where it is significant after Holm.

    Where the names of a pair would take too many lines, numbers stand for them, and a legend has the names.
    """
    pairs = pairs.sort_values("difference", kind="stable").reset_index(drop=True)
    pairs = pairs.assign(
        label=pairs["a"] + " − " + pairs["b"],
        row=pairs.index,
        model="",
        difference_lower=pairs["lower"],
        difference_upper=pairs["upper"],
    )
    rows = [_wrap_pair_of_names(a, b, 0.55 * width) for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    sides = pd.concat([pairs[[side, f"{side}_model"]].set_axis(["label", "model"], axis="columns") for side in "ab"])
    names = list(dict.fromkeys(sides["label"])) if plotting.count_lines_of_tallest_text(rows) > MOST_LINES else []
    if names:
        rows = [f"{names.index(a) + 1} − {names.index(b) + 1}" for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, panels.choose_distance_between_rows(rows, 6.0) * max(1, len(pairs)),
        left=panels.measure_row_labels_width(rows), title=0.05,
        top=0.03 + panels.LINE * panels.count_legend_lines(panels.prefix_names_with_numbers(names), width),
    )  # fmt: skip
    if names:
        panels.draw_numbered_legend(drawing, names, plotting.list_model_css_class_of_each_label(sides, names, looks))
    panels.set_up_panel_of_rows(axes, len(pairs))
    panels.draw_row_labels(axes, rows)
    panels.draw_dots(axes, pairs, "difference", {"": Look(INK, "o")}, is_hollow=~pairs["clear"])
    edge = panels.compute_symmetric_limit(pairs[["lower", "upper", "difference"]])
    panels.set_axis_limits_and_ticks(axes, -edge, edge, 4, reference_line=0.0)
    return drawing


def _wrap_pair_of_names(a: str, b: str, width: float) -> str:
    """Write a pair in one line, or its two sides below each other."""
    pair = f"{a} − {b}"
    return (
        pair
        if measure_text_width(pair) <= width
        else f"{insert_line_breaks_into_name(f'{a} −', width)}\n{insert_line_breaks_into_name(b, width)}"
    )


def _draw_difference_triangle(pairs: pd.DataFrame, width: float, looks: Looks | None) -> Drawing:
    """Draw row minus column, the models sorted by their mean difference; marked where significant after Holm."""
    models = pd.concat(
        [pairs[[side, f"{side}_model"]].set_axis(["label", "model"], axis="columns") for side in ("a", "b")]
    )
    swapped = pairs.assign(a=pairs["b"], b=pairs["a"], difference=-pairs["difference"])
    mirrored_pairs = pd.concat([pairs, swapped])
    order = list(mirrored_pairs.groupby("a")["difference"].mean().sort_values(kind="stable").index)
    values, clear = (
        mirrored_pairs.pivot_table(index="a", columns="b", values=name, aggfunc="max").reindex(
            index=order, columns=order
        )
        for name in ("difference", "clear")
    )
    return matrices.draw_lower_triangle(
        values.to_numpy(float), order, width,
        colour_limit=panels.compute_symmetric_limit(values), colour_bar_title="Row minus column",
        is_marked=clear.fillna(0).to_numpy(float) > 0,
        model_classes=plotting.list_model_css_class_of_each_label(models, order, looks),
    )  # fmt: skip
