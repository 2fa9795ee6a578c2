"""Draw the figures on the wording of yes/no questions: which answers stay the same, and how p(Yes) moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.measures.thresholds import is_validity_below_half
from analysis.pages.wording.cells import PATTERNS
from analysis.pages.wording.shifts import BAND, BINS
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import INK, PAGE, RULE, Drawing, Look, Looks, run_in_report_style
from analysis.reporting.words import labels

HALF = 0.5
LEAST = 10  # pairs that a bin needs to be drawn
MOST_LINES = 6  # models whose curves can be told apart in one panel


@run_in_report_style
def draw_consistency(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Consistency with 95 % intervals: a panel per pattern, a row per model and condition.

    Parameters
    ----------
    frame
        Rows of table `consistency` of one study, language and task; a model without valid answers has a row that says
        so.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    return _draw_pattern_panels(frame, "consistency", (0.0, 1.0), HALF, width, looks)


@run_in_report_style
def draw_diff_yes(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the change of “Yes”, and hollow its excess where it differs (Takayama et al., Figure 6).

    Parameters
    ----------
    frame
        Rows of table `consistency` of one study, language and task.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    edge = panels.compute_symmetric_limit(frame[["diff_yes", "diff_yes_lower", "diff_yes_upper", "excess_yes"]])
    return _draw_pattern_panels(frame, "diff_yes", (-edge, edge), 0.0, width, looks, hollow_measure="excess_yes")


@run_in_report_style
def draw_stage_differences(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Consistency of the tuned minus that of the base models of a series (Takayama et al., Figure 7).

    Parameters
    ----------
    frame
        Rows of table `stages` of one study, language and task, measure `consistency`.
    width, looks
        In inches; not used: a row is a series, not a model, so it is black.

    Returns
    -------
    Drawing
        The figure.
    """
    several = frame["shots"].nunique() > 1
    label = frame["series"] + (labels.SEPARATOR + frame["shots"].astype(str) + "-shot" if several else "")
    rows = frame.assign(model="", label=label).rename(
        columns={"lower": "difference_lower", "upper": "difference_upper"}
    )
    edge = panels.compute_symmetric_limit(rows[["difference", "difference_lower", "difference_upper"]])
    return _draw_pattern_panels(rows, "difference", (-edge, edge), 0.0, width, {"": Look(INK, "o")})


def _select_rows_that_fit_figure(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Keep the reworded rows that a figure has room for, or the ends of their order by a measure; add `label`."""
    rows = frame[frame["pattern"].isin(list(PATTERNS))]
    if "label" not in rows:
        rows = rows.assign(label=labels.build_row_labels(rows))
    order = rows.groupby("label")[measure].mean().sort_values(kind="stable", na_position="last").index
    return rows[rows["label"].isin(labels.keep_ends_of_long_sequence(list(order), panels.ROWS))]


def _draw_pattern_panels(
    frame: pd.DataFrame, measure: str, limits: tuple[float, float], reference_line: float, width: float,
    looks: Looks | None,
    hollow_measure: str = "",
) -> Drawing:  # fmt: skip
    """Draw dots with intervals, a panel per pattern and a row per label; `hollow_measure` is a second one."""
    rows = _select_rows_that_fit_figure(frame, measure)
    names = list(dict.fromkeys(rows["label"]))
    rows = rows.assign(row=rows["label"].map(names.index))
    patterns = [pattern for pattern in PATTERNS if (rows["pattern"] == pattern).any()]
    across = min(2 if panels.is_one_column_wide(width) else 4, len(patterns))
    row_labels, legend_names = panels.choose_row_labels_and_legend_names(names, width, -(-len(patterns) // across))
    across = min(4, len(patterns)) if legend_names else across
    high = len(names) * panels.choose_distance_between_rows(row_labels, 2.4 if legend_names else 3.6)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(patterns), across, high, left=panels.measure_row_labels_width(row_labels),
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
        whole_titles=[PATTERNS[pattern] for pattern in patterns],
    )  # fmt: skip
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(rows["model"]))
    model_of = dict(zip(rows["label"], rows["model"], strict=True))
    panels.draw_legend(drawing, legend_names, [looks[model_of[name]] for name in names[: len(legend_names)]])
    for i, (axes, pattern) in enumerate(zip(panel_axes, patterns, strict=True)):
        part = rows[rows["pattern"] == pattern]
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, *limits, 2, reference_line=reference_line)
        panels.draw_dots(axes, part, measure, looks, undefined_text="no valid answers")
        if hollow_measure:
            second = part[(part[hollow_measure] - part[measure]).abs() > 1e-9]
            panels.draw_dots(
                axes, second, hollow_measure, looks, is_hollow=second["n"] > -1, undefined_text="", with_intervals=False
            )
        if i % across == 0:
            panels.draw_row_labels(axes, row_labels)
    return drawing


@run_in_report_style
def draw_overall_scores(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw Overall, the mean over patterns and tasks, by language; best of the first language on top (Figure 3).

    Models that do not answer (`thresholds.is_validity_below_half`) stand below the others.

    Parameters
    ----------
    frame
        Table `overall`.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = frame.assign(silent=is_validity_below_half(frame["valid"]))
    rows = rows.assign(label=labels.build_row_labels(rows))
    languages = list(dict.fromkeys(rows["language"]))
    first_language = rows[rows["language"] == languages[0]].sort_values(
        ["silent", "overall"], ascending=[True, False], na_position="last"
    )
    names = labels.keep_ends_of_long_sequence(
        list(dict.fromkeys([*first_language["label"], *rows["label"]])), panels.ROWS
    )
    rows = rows[rows["label"].isin(names)]
    rows = rows.assign(row=rows["label"].map(names.index))
    row_labels = panels.wrap_row_labels(names, width)
    across = min(len(languages), 2 if panels.is_one_column_wide(width) else 4)
    high = len(names) * panels.choose_distance_between_rows(row_labels, 3.6)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(languages), across, high, left=panels.measure_row_labels_width(row_labels),
        whole_titles=[f"Overall, {language}" if language else "Overall" for language in languages],
    )  # fmt: skip
    for i, (axes, language) in enumerate(zip(panel_axes, languages, strict=True)):
        part = rows[rows["language"] == language]
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, 0, 1)
        panels.draw_dots(
            axes,
            part,
            "overall",
            plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(rows["model"])),
            is_hollow=part["silent"],
        )
        if i % across == 0:
            panels.draw_row_labels(axes, row_labels)
    return drawing


def select_drawn_bins(frame: pd.DataFrame) -> pd.DataFrame:
    """Choose the bins that are drawn.

    A model has one line: in the condition where it answers most pairs (the first of several). Of more than `MOST_LINES`
    models, those whose answers move most are drawn: by the mean absolute shift of their bins, weighted by pairs. A bin
    is drawn if it holds `LEAST` pairs and has an interval.
    """
    sizes = frame.groupby(["model", "condition"], sort=False)["n"].sum().reset_index()
    main_conditions = sizes.sort_values("n", ascending=False, kind="stable").drop_duplicates("model")
    rows = frame.merge(main_conditions[["model", "condition"]], on=["model", "condition"])
    mean_shifts = (rows["shift"].abs() * rows["n"]).groupby(rows["model"]).sum() / rows.groupby("model")["n"].sum()
    drawn_models = mean_shifts.sort_values(ascending=False, kind="stable").index[:MOST_LINES]
    rows = rows[rows["model"].isin(drawn_models)]
    return rows.assign(label=labels.build_row_labels(rows.drop(columns="condition")))[
        (rows["n"] >= LEAST) & rows["shift_lower"].notna()
    ]


@run_in_report_style
def draw_shift_curve(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw p(Yes) after rewording by p(Yes) before, in bins: a panel per pattern, a line per model (Figure 2).

    Two bins are joined by a line only where they are neighbours: a gap between them would be a guess.

    Parameters
    ----------
    frame
        Rows of table `curve` of one study, language and task.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = select_drawn_bins(frame)
    rows = rows.assign(low=rows["p_yes"] + rows["shift_lower"] - rows["shift"],
                       high=rows["p_yes"] + rows["shift_upper"] - rows["shift"])  # fmt: skip
    models = dict(sorted(dict(zip(rows["model"], rows["label"], strict=True)).items()))
    looks = plotting.assign_looks_of_distinct_colours(looks or plotting.assign_look_to_each_model(models), models)
    patterns = [pattern for pattern in PATTERNS if (frame["pattern"] == pattern).any()]
    across = min(2 if panels.is_one_column_wide(width) else 4, len(patterns))
    legend_names = list(models.values())
    side = (width - 0.56 - 0.14 * (across - 1)) / across
    drawing, panel_axes = panels.lay_out_panels(
        width, len(patterns), across, side, left=0.46, right=0.1, bottom=0.2,
        whole_titles=[PATTERNS[pattern] for pattern in patterns],
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    for i, (axes, pattern) in enumerate(zip(panel_axes, patterns, strict=True)):
        axes.axvspan(*BAND, color=RULE, alpha=0.45, linewidth=0, zorder=0)
        unmoved = [1, 0] if pattern == "antonym" else [0, 1]
        axes.plot([0, 1], unmoved, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        for model in models:
            part = rows[(rows["model"] == model) & (rows["pattern"] == pattern)].sort_values("bin_low")
            _draw_shift_line(axes, part, looks[model])
        panels.set_axis_limits_and_ticks(axes, 0, 1)
        panels.set_axis_limits_and_ticks(axes, 0, 1, axis="y")
        if i % across:
            axes.set_yticklabels([])
        else:
            panels.label_y_axis(axes, "p(Yes) after")
        if i >= len(patterns) - across:
            panels.label_x_axis(axes, "p(Yes) before")
    panels.draw_legend(drawing, legend_names, [looks[model] for model in models])
    return drawing


def _draw_shift_line(axes: Axes, part: pd.DataFrame, look: Look) -> None:
    """Draw the bins of one model: their means with intervals, and lines between neighbouring bins."""
    x, y = part["p_original"].to_numpy(float), part["p_yes"].to_numpy(float)
    axes.vlines(x, part["low"].clip(0, 1), part["high"].clip(0, 1), colors=look.colour, linewidth=0.7, alpha=0.7,
                gid=look.svg_class_of_model)  # fmt: skip
    breaks = np.flatnonzero(np.diff(part["bin_low"].to_numpy(float)) > 1.5 / BINS) + 1
    axes.plot(np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan), color=look.colour, linewidth=1,
              gid=look.svg_class_of_model)  # fmt: skip
    axes.plot(x, y, look.marker, color=look.colour, ms=3.4, linestyle="none", gid=look.svg_class_of_model)
    marks.set_hover_titles_of_marks(axes, x, y, part["label"], y, part["low"], part["high"], look.svg_class_of_model)
