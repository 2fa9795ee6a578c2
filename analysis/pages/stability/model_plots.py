"""Draw the figures with one row or cell per model."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.measures.thresholds import is_silent
from analysis.pages.stability.columns import parse_flip_threshold_percent
from analysis.pages.stability.measures import choose_headline_flip
from analysis.reporting.drawing import matrices, panels, plotting
from analysis.reporting.drawing.plotting import INK, PAGE, Drawing, Look, apply_style
from analysis.reporting.words import labels
from analysis.statistics.multiplicity import ALPHA

Looks = Mapping[str, Look]
FOREST = 12  # pairs of models that a list shows better than a triangle
SIDE = 20  # models that a triangle has room to name at both widths


@apply_style
def draw_overview(stability: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw validity, range, standard deviation and flips of every model: dots with 95 % intervals.

    Parameters
    ----------
    stability
        Table `stability`: one row per model x condition.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_colours_and_markers`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = stability.assign(silent=is_silent(stability["validity"]))
    frame = frame.assign(
        label=labels.build_row_labels(frame) + stability["mark"].map(" ({})".format).replace(" ()", "")
    )
    frame = frame.sort_values(["silent", "range_mean", "label"], na_position="last")
    frame = frame.iloc[labels.select_first_and_last(range(len(frame)), panels.ROWS)].assign(
        row=range(min(len(frame), panels.ROWS))
    )
    flip = choose_headline_flip(frame)
    measures = {
        "validity": "Validity",
        "range_mean": "Range",
        "sd_mean": "SD",
        flip: f"Flips > {parse_flip_threshold_percent(flip):g} %",
    }
    stacked = panels.is_narrow(width)
    names = labels.drop_prefix_and_shorten_names(list(frame["label"]), panels.compute_max_label_letters(width))
    across = 2 if stacked else 4
    high = len(frame) * panels.choose_row_pitch(len(frame), 3.6)
    drawing, panel_axes = panels.lay_out_panels(width, 4, across, high, left=panels.measure_row_labels(names))
    for i, (axes, (measure, title)) in enumerate(zip(panel_axes, measures.items(), strict=True)):
        panels.draw_row_guides(axes, len(frame))
        panels.draw_dots(
            axes,
            frame,
            measure,
            looks or plotting.assign_colours_and_markers(frame["model"]),
            is_hollow=frame["silent"],
        )
        panels.draw_title(axes, title)
        top = float(frame[[measure, f"{measure}_upper"]].max().max())
        panels.scale_axis(axes, 0, 1 if measure == "validity" or pd.isna(top) else max(0.1, top), 2 if stacked else 3)
        if i % across == 0:
            panels.draw_row_labels(axes, names)
    return drawing


@apply_style
def draw_differences(
    frame: pd.DataFrame, *, measure: str | None = None, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw paired differences between models on the same items: as a triangle, or as a list (see
    `choose_listed_pairs`).

    Parameters
    ----------
    frame
        Table `differences`: one row per measure and pair, `difference` = a minus b with its 95 % interval.
    measure
        The measure to show; the first of the frame unless given.
    width, looks
        In inches; not used: a pair has no colour.

    Returns
    -------
    Drawing
        The figure.
    """
    measure = measure or str(frame["measure"].iloc[0])
    pairs = frame[frame["measure"] == measure].dropna(subset=["difference"])
    pairs = pairs.assign(**labels.build_pair_labels(pairs), clear=pairs["p_holm"] < ALPHA)
    return (
        _draw_difference_triangle(pairs, width)
        if (listed_pairs := choose_listed_pairs(pairs)) is None
        else _draw_difference_forest(listed_pairs, width)
    )


def choose_listed_pairs(pairs: pd.DataFrame) -> pd.DataFrame | None:
    """Choose the pairs that a list shows: all of few, the largest where models do not fit a triangle; else None.

    Parameters
    ----------
    pairs
        Columns a and b (labels of both sides), difference.
    """
    if len(pairs) <= FOREST:
        return pairs
    if len(pd.concat([pairs["a"], pairs["b"]]).unique()) <= SIDE:
        return None
    return pairs.loc[pairs["difference"].abs().sort_values(ascending=False, kind="stable").index[: panels.ROWS]]


def _draw_difference_forest(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw a row per pair, the largest negative difference on top; filled where it is significant after Holm."""
    pairs = pairs.sort_values("difference", kind="stable").reset_index(drop=True)
    pairs = pairs.assign(row=pairs.index, model="", difference_lower=pairs["lower"], difference_upper=pairs["upper"])
    names = list(pd.concat([pairs["a"], pairs["b"]]).unique())
    short = dict(
        zip(names, labels.drop_prefix_and_shorten_names(names, 13 if panels.is_narrow(width) else 26), strict=True)
    )
    rows = [f"{short[a]} − {short[b]}" for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, 0.19 * max(1, len(pairs)), left=panels.measure_row_labels(rows), title=0.05
    )
    panels.draw_row_guides(axes, len(pairs))
    panels.draw_row_labels(axes, rows)
    panels.draw_dots(axes, pairs, "difference", {"": Look(INK, "o")}, is_hollow=~pairs["clear"])
    edge = panels.compute_symmetric_limit(pairs[["lower", "upper", "difference"]])
    panels.scale_axis(axes, -edge, edge, 4, reference_line=0.0)
    return drawing


def _draw_difference_triangle(pairs: pd.DataFrame, width: float) -> Drawing:
    """Draw row minus column, the models sorted by their mean difference; marked where significant after Holm."""
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
    )  # fmt: skip
