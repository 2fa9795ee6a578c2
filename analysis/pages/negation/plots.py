"""Draw the figures on negation: right labels without and with a negation, and the change."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.pages.negation.judgements import KINDS
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import PAGE, Drawing, Looks, run_in_report_style
from analysis.reporting.words import labels

LINES = 7  # lines that can be told apart in one panel
TITLES = {"important": "Important negation", "unimportant": "Unimportant negation"}


def choose_slope_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Choose the rows that the slopes show, with column `label`.

    A model has one line: in the condition with most valid answers (the first of several). Of more than `LINES` models,
    those are drawn whose accuracy over important pairs changes most; those that the verdict leaves out, as they guess
    or are silent, only where there is room.
    """
    best = frame.sort_values("valid", ascending=False, kind="stable").drop_duplicates("model")
    rows = frame.merge(best[["model", "condition"]], on=["model", "condition"])
    change = rows.assign(change=rows["acc_change"].abs(), first=rows["pairs"] == KINDS[0])
    keys, ascending = ["silent", "able", "first", "change"], [True, False, False, False]
    ranks = change.sort_values(keys, ascending=ascending, kind="stable")
    order = ranks["model"].unique()
    rows = rows[rows["model"].isin(order[:LINES])]
    return rows.assign(label=labels.build_row_labels(rows.drop(columns="condition")))


@run_in_report_style
def draw_negation_slopes(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Acc and Acc′ joined by a line: a panel per kind of pairs, a line per model, intervals at both ends.

    Parameters
    ----------
    frame
        Rows of table `minimal_pairs` of one study, with `valid`, `silent` and `able`.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = choose_slope_rows(frame)
    models = dict(sorted(dict(zip(rows["model"], rows["label"], strict=True)).items()))
    hollow = rows.groupby("model")["silent"].any()
    looks = plotting.assign_looks_of_distinct_colours(looks or plotting.assign_look_to_each_model(models), models)
    kinds = [kind for kind in KINDS if (rows["pairs"] == kind).any()]
    legend_names = list(models.values())
    high = 2.1 if panels.is_one_column_wide(width) else 2.6
    drawing, panel_axes = panels.lay_out_panels(
        width, len(kinds), len(kinds), high, left=0.46, bottom=0.2, gap=0.24,
        whole_titles=[TITLES[kind] for kind in kinds],
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    offsets = np.linspace(-0.06, 0.06, len(models)) if len(models) > 1 else np.zeros(1)
    for number, (axes, kind) in enumerate(zip(panel_axes, kinds, strict=True)):
        for offset, model in zip(offsets, models, strict=True):
            part = rows[(rows["model"] == model) & (rows["pairs"] == kind)]
            for _, row in part.iterrows():
                x, y = [offset, 1 + offset], [row["acc"], row["acc_negated"]]
                look, face = looks[model], "white" if hollow[model] else looks[model].colour
                axes.plot(x, y, color=look.colour, linewidth=1, linestyle=panels.DASHED if hollow[model] else "-",
                          gid=look.svg_class_of_model)  # fmt: skip
                lower, upper = ([row[f"acc_{end}"], row[f"acc_negated_{end}"]] for end in ("lower", "upper"))
                axes.vlines(x, lower, upper, colors=look.colour, linewidth=0.8, gid=look.svg_class_of_model)
                axes.plot(
                    x, y, look.marker, color=look.colour, mfc=face, ms=4, linestyle="none", gid=look.svg_class_of_model
                )
                names = [f"{row['label']}, {which} the negation" for which in ("without", "with")]
                marks.set_hover_titles_of_marks(axes, x, y, names, y, lower, upper, look.svg_class_of_model)
        panels.set_axis_limits_and_ticks(axes, 0, 1, axis="y")
        axes.set(xlim=(-0.25, 1.25), xticks=[0, 1])
        axes.set_xticklabels(["without", "with"])
        panels.label_x_axis(axes, "the negation")
        if number:
            axes.set_yticklabels([])
        else:
            panels.label_y_axis(axes, "share of right labels")
    panels.draw_legend(
        drawing, legend_names, [looks[model] for model in models], [bool(hollow[model]) for model in models]
    )
    return drawing


@run_in_report_style
def draw_negation_changes(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw AccChg with 95 % intervals: a panel per kind of pairs, a row per model and condition.

    The largest loss over important pairs is on top; models that do not answer (`thresholds.is_validity_below_half`)
    stand below.

    Parameters
    ----------
    frame
        Rows of table `minimal_pairs` of one study, with `silent`.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = frame.rename(columns={"lower": "acc_change_lower", "upper": "acc_change_upper"})
    rows = rows.assign(label=labels.build_row_labels(rows))
    ranks = rows.sort_values(["silent", "pairs", "acc_change"], kind="stable", na_position="last")
    names = labels.keep_ends_of_long_sequence(list(ranks["label"].unique()), panels.ROWS)
    rows = rows[rows["label"].isin(names)]
    rows = rows.assign(row=rows["label"].map(names.index))
    edge = panels.compute_symmetric_limit(rows[["acc_change", "acc_change_lower", "acc_change_upper"]])
    kinds = [kind for kind in KINDS if (rows["pairs"] == kind).any()]
    across = 1 if panels.is_one_column_wide(width) else len(kinds)
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(rows["model"]))
    row_labels, legend_names = panels.choose_row_labels_and_legend_names(names, width, -(-len(kinds) // across))
    across = len(kinds) if legend_names else across  # numbers leave room for panels side by side
    high = len(names) * panels.choose_distance_between_rows(row_labels, 2.4 if legend_names else 3.6)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(kinds), across, high, left=panels.measure_row_labels_width(row_labels),
        whole_titles=[TITLES[kind] for kind in kinds],
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    model_of = dict(zip(rows["label"], rows["model"], strict=True))
    panels.draw_legend(drawing, legend_names, [looks[model_of[name]] for name in names[: len(legend_names)]])
    for number, (axes, kind) in enumerate(zip(panel_axes, kinds, strict=True)):
        part = rows[rows["pairs"] == kind]
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, -edge, edge, 2, reference_line=0.0)
        panels.draw_dots(axes, part, "acc_change", looks, is_hollow=part["silent"])
        if number % across == 0:
            panels.draw_row_labels(axes, row_labels)
    return drawing
