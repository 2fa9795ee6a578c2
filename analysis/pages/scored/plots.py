"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import INK, OKABE_ITO, PAGE, Drawing, Look, Looks, run_in_report_style
from analysis.reporting.drawing.svg import encode_model_classes_as_svg_id
from analysis.reporting.words import labels

PARTS = {
    "passed_some": ("in some wordings only", OKABE_ITO[5]),
    "passed_all": ("in all", OKABE_ITO[2]),
    "passed_none": ("in none", OKABE_ITO[4]),
}


@run_in_report_style
def draw_scored_means(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a row per model: its mean, the interval for these wordings (thick) and for wordings like these (thin).

    Parameters
    ----------
    frame
        The rows of table `scored_means` by one measure, with `label`.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    names = panels.wrap_row_labels(list(frame["label"]), width, 6.0)
    drawing, axes = panels.lay_out_panel_with_named_rows(
        names, width, panels.choose_distance_between_rows(names, 6.0) * len(names)
    )
    rows = frame.assign(row=np.arange(len(frame)))
    low, high = _choose_axis_ends(rows)
    classes = [looks[model].svg_class_of_model for model in rows["model"]]
    axes.hlines(rows["row"], rows["like_lower"].clip(low, high), rows["like_upper"].clip(low, high),
                colors=[looks[model].colour for model in rows["model"]], linewidth=0.6,
                gid=encode_model_classes_as_svg_id(classes))  # fmt: skip
    panels.draw_dots(axes, rows, "mean", looks)
    panels.set_axis_limits_and_ticks(axes, low, high, 4)
    panels.label_x_axis(axes, labels.shorten_middle(f"mean {frame['measure'].iloc[0]}", 40))
    return drawing


def _choose_axis_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Choose the ends of the axis: 0 and 1 where they are the bounds of the measure, else those of what is drawn."""
    if (rows["range"] == "0-1").all():
        return 0.0, 1.0
    values = rows[["mean", "mean_lower", "mean_upper", "like_lower", "like_upper"]].to_numpy(float)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


@run_in_report_style
def draw_scored_passes(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a bar per model: shares of items that pass in some, in all and in none of their wordings.

    Parameters
    ----------
    frame
        The rows of table `scored_spread` by one measure, with `label`.
    width, looks
        In inches; looks are not used: colours are parts of a bar.

    Returns
    -------
    Drawing
        The figure.
    """
    names = panels.wrap_row_labels(list(frame["label"]), width, 6.0)
    part_names = [name for name, _ in PARTS.values()]
    height = panels.choose_distance_between_rows(names, 6.0) * len(names)
    drawing, axes = panels.lay_out_panel_with_named_rows(names, width, height, part_names)
    places = np.arange(len(frame))
    start = np.zeros(len(frame))
    for column, (part_name, colour) in PARTS.items():
        axes.barh(places, frame[column], left=start, height=0.62, color=colour, linewidth=0)
        marks.set_hover_titles_of_marks(axes, start + frame[column] / 2, places, frame["label"] + f", {part_name}",
        frame[column],
                         sizes=[(share, 0.62) for share in frame[column]])  # fmt: skip
        start = start + frame[column].to_numpy(float)
    axes.hlines(places, frame["passed_some_lower"], frame["passed_some_upper"], colors=INK, linewidth=0.9, zorder=3)
    panels.set_axis_limits_and_ticks(axes, 0, 1, 4)
    panels.label_x_axis(axes, "share of items")
    panels.draw_legend(drawing, part_names, [Look(colour, "s") for _, colour in PARTS.values()])
    return drawing
