"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.pages.drift.columns import CHANGED
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import INK, PAGE, Drawing, Looks, run_in_report_style
from analysis.reporting.words import labels

ACROSS = {True: 1, False: 3}  # panels in a line of a narrow figure, and of a wide one
LEFT = 0.54  # inches for the numbers, such as 0.999, and the name of the axis
HEIGHT = 1.0
ENDS = ["value", "value_lower", "value_upper", "like_lower", "like_upper"]


@run_in_report_style
def draw_drift_series(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per model: its mean at every look, with both intervals, and the look that a change begins with.

    Parameters
    ----------
    frame
        The rows of table `drift_measures` of one study and measure, with `label`, `found` and `changed_time`.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    names = list(frame["label"].unique())
    across = min(ACROSS[panels.is_one_column_wide(width)], len(names))
    drawing, all_axes = panels.lay_out_panels(
        width, len(names), across, HEIGHT, left=LEFT, title=0.22, below=0.36, gap=LEFT, whole_titles=names
    )
    values = frame[ENDS].to_numpy(float)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if not high > low:
        low, high = low - 0.05, high + 0.05
    for axes, name in zip(all_axes, names, strict=True):
        rows = frame[frame["label"] == name]
        look = looks[rows["model"].iloc[0]]
        number = rows["look"].to_numpy(float)
        axes.set_gid(look.svg_class_of_model)
        marks.set_hover_titles_of_marks(
            axes, number, rows["value"], [f"{name}, look {place:g}" for place in number], rows["value"],
            rows["value_lower"], rows["value_upper"], look.svg_class_of_model,
        )  # fmt: skip
        axes.vlines(number, rows["like_lower"], rows["like_upper"], colors=look.colour, linewidth=0.6)
        axes.vlines(number, rows["value_lower"], rows["value_upper"], colors=look.colour, linewidth=1.6)
        axes.plot(number, rows["value"], color=look.colour, linewidth=0.6, marker=look.marker, markersize=3.5)
        panels.set_axis_limits_and_ticks(axes, 1, max(float(frame["look"].max()), 2), 4)
        axes.set_xticks([tick for tick in axes.get_xticks() if tick == round(tick)])  # there is no look 1.5
        panels.set_axis_limits_and_ticks(axes, low, high, 3, axis="y")
        if rows["found"].iloc[0] == CHANGED:
            begins = rows.loc[rows["time"] == rows["changed_time"], "look"].iloc[0] - 0.5
            axes.axvline(begins, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        panels.label_x_axis(axes, "look")
    panels.label_y_axis(all_axes[0], labels.shorten_middle(str(frame["measure"].iloc[0]), 18), points=31)
    return drawing
