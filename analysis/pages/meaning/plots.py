"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.pages.meaning.figures import DIVIDED
from analysis.reporting.drawing import marks, panels
from analysis.reporting.drawing.plotting import FAINT, INK, OKABE_ITO, PAGE, Drawing, Look, Looks, run_in_report_style
from analysis.reporting.words import labels

SHARES = {
    "all": ("all wordings", Look(OKABE_ITO[5], "o")),
    "same": ("of the same meaning", Look(OKABE_ITO[2], "s")),
    "corrected": ("corrected by what people read", Look(OKABE_ITO[0], "D")),
}
CURVES = {
    "all": ("as many of all wordings", Look(OKABE_ITO[5], "o")),
    "certified": ("wordings that reach the score", Look(OKABE_ITO[2], "s")),
}
MOST_CHECKS = 6  # curves and panels that can be told apart
DODGE = 0.24  # of a row, between marks of one model


@run_in_report_style
def draw_meaning_flips_by_model(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a row per model: its share of changed answers of all wordings, of those that mean the same, and corrected.

    Parameters
    ----------
    frame
        From `figures.build_meaning_flips_by_model_frames`.
    width, looks
        In inches; looks are not used: colours are kinds of wordings.

    Returns
    -------
    Drawing
        The figure.
    """
    share_names = [name for name in SHARES if (frame["wordings"] == name).any()]
    legend = [SHARES[name][0] for name in share_names]
    names = panels.wrap_row_labels(list(dict.fromkeys(frame["label"])), width, 6.0)
    height = panels.choose_distance_between_rows(names, 6.0, 0.36) * len(names)
    drawing, axes = panels.lay_out_panel_with_named_rows(names, width, height, legend)
    for place, name in enumerate(share_names):
        rows, look = frame[frame["wordings"] == name], SHARES[name][1]
        heights = rows["row"] + DODGE * (place - (len(share_names) - 1) / 2)
        axes.hlines(heights, rows["flip_lower"], rows["flip_upper"], colors=look.colour, linewidth=1.2)
        axes.scatter(rows["flip"], heights, s=17, marker=look.marker, c=look.colour, zorder=3)
        texts = rows["label"] + f", {SHARES[name][0]}"
        marks.set_hover_titles_of_marks(
            axes, rows["flip"], heights, texts, rows["flip"], rows["flip_lower"], rows["flip_upper"]
        )
    highest = float(np.nanmax(frame[["flip", "flip_upper"]].to_numpy(float)))
    panels.set_axis_limits_and_ticks(axes, 0, min(1.0, max(0.1, highest)), 4)
    panels.label_x_axis(axes, "share of changed answers")
    panels.draw_legend(drawing, legend, [SHARES[name][1] for name in share_names])
    return drawing


@run_in_report_style
def draw_meaning_curves(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per model: a measure of wordings that reach a score, and of as many of all, the stricter the score.

    Parameters
    ----------
    frame
        From `figures.build_meaning_curves_frames`, of one measure.
    width, looks
        In inches; looks are not used: colours are kinds of wordings.

    Returns
    -------
    Drawing
        The figure.
    """
    models = list(dict.fromkeys(frame["label"]))
    across = min(len(models), 2 if panels.is_one_column_wide(width) else 3)
    legend = [name for name, _ in CURVES.values()]
    drawing, all_axes = panels.lay_out_panels(
        width, len(models), across, 1.25 if panels.is_one_column_wide(width) else 1.5, left=0.52, gap=0.2, below=0.44,
        whole_titles=models,
        top=0.06 + panels.LINE * panels.count_legend_lines(legend, width),
    )  # fmt: skip
    ends = frame[["value_lower", "value_upper", "value"]].to_numpy(float)
    for place, (axes, model) in enumerate(zip(all_axes, models, strict=True)):
        part = frame[frame["label"] == model]
        for kind, (_, look) in CURVES.items():
            rows = part[part["wordings"] == kind].sort_values("kept", ascending=False)
            axes.fill_between(
                rows["kept"], rows["value_lower"].astype(float), rows["value_upper"].astype(float), color=look.colour,
                alpha=0.2, linewidth=0,
            )  # fmt: skip
            axes.plot(rows["kept"], rows["value"], color=look.colour, marker=look.marker, ms=2.5, linewidth=1.2)
            texts = [f"{model}, {kept:.0%} kept, {CURVES[kind][0]}" for kept in rows["kept"]]
            marks.set_hover_titles_of_marks(
                axes, rows["kept"], rows["value"], texts, rows["value"], rows["value_lower"], rows["value_upper"]
            )
        _draw_line_at_threshold(axes, part)
        panels.set_axis_limits_and_ticks(axes, 0, max(0.02, float(np.nanmax(ends))), 3, axis="y")
        panels.set_axis_limits_and_ticks(axes, 0, 1, 2)
        axes.set_xlim(*axes.get_xlim()[::-1])
        if place % across:
            axes.set_yticklabels([])
        panels.label_x_axis(axes, "share of wordings kept")
    panels.label_y_axis(all_axes[0], str(frame["measure"].iloc[0]), 30)
    panels.draw_legend(drawing, legend, [look for _, look in CURVES.values()])
    return drawing


def _draw_line_at_threshold(axes: Axes, part: pd.DataFrame) -> None:
    """Draw a dashed line where the threshold of the check is, between the shares kept by the scores around it."""
    steps = part.drop_duplicates("threshold").sort_values("threshold")
    at = steps["at"].iloc[0]
    if len(steps) > 1 and steps["threshold"].iloc[0] <= at <= steps["threshold"].iloc[-1]:
        kept = float(np.interp(at, steps["threshold"].to_numpy(float), steps["kept"].to_numpy(float)))
        axes.axvline(kept, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)


@run_in_report_style
def draw_meaning_roc(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the ROC curve of every check with its threshold.

    Parameters
    ----------
    frame
        From `figures.build_meaning_roc_frames`.
    width, looks
        In inches; looks are not used: colours are checks.

    Returns
    -------
    Drawing
        The figure.
    """
    order = frame.drop_duplicates("check").sort_values("auc", ascending=False, kind="stable")
    checks = list(order["check"])[:MOST_CHECKS]
    shortened = labels.shorten_but_keep_distinct(checks, 34)
    auc_by_check = dict(zip(order["check"], order["auc"], strict=True))
    legend = [f"{name}: {auc_by_check[check]:.2f}" for check, name in zip(checks, shortened, strict=True)]
    check_looks = [Look(OKABE_ITO[place], "o") for place in range(len(checks))]
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, 2.5, left=0.52, right=0.12 if panels.is_one_column_wide(width) else width - 0.52 - 3.2, title=0.05,
        below=0.4, top=0.06 + panels.LINE * panels.count_legend_lines(legend, width),
    )  # fmt: skip
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
    for check, look in zip(checks, check_looks, strict=True):
        rows = frame[frame["check"] == check]
        first = rows.iloc[0]
        axes.plot(rows["decoys"], rows["passed"], color=look.colour, linewidth=1.4 if first["used"] else 0.9)
        share = [first["passed_share"]]
        marks.set_hover_titles_of_marks(axes, [first["decoy_share"]], share, f"{check}, wordings that pass", share)
        axes.scatter(
            first["decoy_share"], first["passed_share"], s=22, marker=look.marker, edgecolors=look.colour, zorder=4,
            linewidths=1, c=look.colour if first["used"] else "white",
        )  # fmt: skip
    panels.set_axis_limits_and_ticks(axes, 0, 1, 4)
    panels.set_axis_limits_and_ticks(axes, 0, 1, 4, axis="y")
    panels.label_x_axis(axes, "share of decoys that pass")
    panels.label_y_axis(axes, "share of wordings that pass", 30)
    panels.draw_legend(drawing, legend, check_looks)
    return drawing


@run_in_report_style
def draw_meaning_scores(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per check: where the scores of wordings and of each kind of decoys lie.

    Parameters
    ----------
    frame
        From `figures.build_meaning_scores_frames`.
    width, looks
        In inches; looks are not used: colours are wordings and decoys.

    Returns
    -------
    Drawing
        The figure.
    """
    order = frame.drop_duplicates("check").sort_values("auc", ascending=False, kind="stable")
    checks = list(order["check"])[:MOST_CHECKS]
    names = list(frame.drop_duplicates("row").sort_values("row")["group"])
    across = 1 if panels.is_one_column_wide(width) else min(2, len(checks))
    left = panels.measure_row_labels_width(names)
    drawing, all_axes = panels.lay_out_panels(
        width, len(checks), across, panels.choose_distance_between_rows(names, 2.4) * len(names), left=left, below=0.3,
        gap=0.25, whole_titles=[labels.shorten_middle(check, 48) for check in checks],
    )  # fmt: skip
    for place, (axes, check) in enumerate(zip(all_axes, checks, strict=True)):
        rows = frame[frame["check"] == check]
        panels.set_up_panel_of_rows(axes, len(names))
        if place % across == 0:
            panels.draw_row_labels(axes, names)
        # What people are divided about is neither.
        colours = list(np.select([rows["is_same"], rows["group"] != DIVIDED], [OKABE_ITO[2], OKABE_ITO[1]], INK))
        axes.hlines(rows["row"], rows["low"], rows["high"], colors=colours, linewidth=0.8)
        axes.hlines(rows["row"], rows["quarter"], rows["three_quarters"], colors=colours, linewidth=3.2)
        axes.scatter(rows["median"], rows["row"], s=12, c="white", edgecolors=colours, linewidths=1, zorder=3)
        texts = rows["group"].astype(str) + ", median (quartiles)"
        marks.set_hover_titles_of_marks(
            axes, rows["median"], rows["row"], texts, rows["median"], rows["quarter"], rows["three_quarters"]
        )
        ends = rows[["low", "high", "threshold"]].to_numpy(float)
        low, high = min(0.0, float(np.nanmin(ends))), max(1.0, float(np.nanmax(ends)))
        threshold = float(rows["threshold"].iloc[0])
        panels.set_axis_limits_and_ticks(axes, low, high, 4, reference_line=None if np.isnan(threshold) else threshold)
    return drawing
