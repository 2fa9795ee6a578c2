"""Draw the figures on reliability: errors by the number of wordings, ranks, and accuracies with templates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.pages.reliability.columns import ALL
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import FAINT, INK, OKABE_ITO, PAGE, Drawing, Look, Looks, run_in_report_style
from analysis.reporting.words import labels

AT = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)  # numbers of wordings that curves are drawn through, and more
FURTHER = (1.5, 2, 3, 5, 7, 10)  # steps from 100 on: 150, 200, 300 ...
MOST_TICKS = 9
NAMES = {"mean": "Mean", "sd": "SD over wordings", "flips": "Share of flips"}
WAYS = {"wordings": "Other wordings", "both": "Other wordings and items"}
CONDITIONS = 3  # panels of a figure, one for each condition
LEAST_RANGE = 0.02  # end of an axis where all ranges are 0
LINES = 7  # lines that can be told apart in one panel


def list_wording_counts_for_curves(most: float) -> list[float]:
    """List the numbers of wordings that curves are drawn through: up to 100, and further where more were asked.

    >>> list_wording_counts_for_curves(5) == list(AT), list_wording_counts_for_curves(400)[-4:]
    (True, [150.0, 200, 300, 400])
    """
    numbers: list[float] = list(AT)
    while numbers[-1] < most:
        numbers += [numbers[-1] * step for step in FURTHER]
    return [number for number in numbers if number < most or number <= AT[-1]] + [most] * (most > AT[-1])


def list_wording_ticks(least: int, most: float) -> list[int]:
    """List the round numbers of wordings on an axis: 1, 2, 5, 10 ..., or 1, 10, 100 where these would be too many.

    >>> list_wording_ticks(2, 450)
    [2, 5, 10, 20, 50, 100, 200]
    """
    decades = range(len(str(int(most))))
    ticks = [step * 10**decade for decade in decades for step in (1, 2, 5)]
    ticks = [tick for tick in ticks if least <= tick <= most]
    return ticks if len(ticks) <= MOST_TICKS else [tick for tick in ticks if str(tick).startswith("1")]


def choose_error_curves(frame: pd.DataFrame) -> pd.DataFrame:
    """Choose the rows of the curves that are drawn: of too many models, those that wordings widen least and most."""
    order = frame.drop_duplicates("label").sort_values("widening", kind="stable")["label"].tolist()
    return frame[frame["label"].isin(labels.keep_ends_of_long_sequence(order, LINES))]


@run_in_report_style
def draw_wordings_needed(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the standard error of each model's mean by the number of wordings, with a mark at the number asked.

    Parameters
    ----------
    frame
        From `figures.build_wordings_needed_frames`: a row for every model and number of wordings.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = choose_error_curves(frame)
    models = dict(zip(rows["model"], rows["label"], strict=True))
    looks = plotting.assign_looks_of_distinct_colours(looks or plotting.assign_look_to_each_model(models), models)
    legend_names = list(models.values())
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, 2.2 if panels.is_one_column_wide(width) else 2.6, left=0.52, title=0.05, below=0.4,
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    for model in models:
        part, look = rows[rows["model"] == model], looks[model]
        axes.plot(np.log(part["at"]), part["predicted"], color=look.colour, linewidth=1, gid=look.svg_class_of_model)
        model_row = part.iloc[0]
        place = np.log(model_row["n_wordings"])
        axes.plot(place, model_row["error"], look.marker, color=look.colour, ms=4, linestyle="none", zorder=3,
                  gid=look.svg_class_of_model)  # fmt: skip
        name = f"{model_row['label']}, {model_row['n_wordings']:g} wordings"
        marks.set_hover_titles_of_marks(
            axes, [place], [model_row["error"]], name, [model_row["error"]], classes=look.svg_class_of_model
        )
    highest = float(max(rows["predicted"].max(), rows["error"].max()))
    panels.set_axis_limits_and_ticks(axes, 0, highest * 1.02, 4, axis="y")
    ticks = list_wording_ticks(1, rows["at"].max())
    axes.set(xlim=(-0.1, np.log(rows["at"].max()) + 0.1), xticks=np.log(ticks))
    axes.set_xticklabels(list(map(str, ticks)))
    panels.label_x_axis(axes, "wordings of each item")
    panels.label_y_axis(axes, "standard error", 30)
    panels.draw_legend(drawing, legend_names, [looks[model] for model in models])
    return drawing


@run_in_report_style
def draw_planned_errors(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per figure: errors by the number of wordings, foreseen as lines and actual as marks.

    Parameters
    ----------
    frame
        From `figures.build_planned_errors_frames`: a row for every figure, model and number of wordings.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = frame[frame["label"].isin(labels.keep_ends_of_long_sequence(list(dict.fromkeys(frame["label"])), LINES))]
    models = dict(zip(frame["model"], frame["label"], strict=True))
    looks = plotting.assign_looks_of_distinct_colours(looks or plotting.assign_look_to_each_model(models), models)
    figures = list(dict.fromkeys(frame["figure"]))
    legend_names = list(models.values())
    stacked = panels.is_one_column_wide(width)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(figures), 1 if stacked else len(figures), 1.6 if stacked else 2.0, left=0.52, gap=0.5, below=0.4,
        whole_titles=[NAMES[figure] for figure in figures],
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    most = float(frame["k"].max())
    for axes, figure in zip(panel_axes, figures, strict=True):
        rows = frame[frame["figure"] == figure]
        for model in models:
            part, look = rows[rows["model"] == model], looks[model]
            x = np.log(part["k"])
            axes.plot(x, part["predicted"], color=look.colour, linewidth=1, gid=look.svg_class_of_model)
            axes.plot(
                x, part["actual"], look.marker, color=look.colour, ms=3.5, linestyle="none", gid=look.svg_class_of_model
            )
            names = [f"{models[model]}, {k:g} wordings" for k in part["k"]]
            marks.set_hover_titles_of_marks(
                axes, x, part["actual"], names, part["actual"], classes=look.svg_class_of_model
            )
        highest = float(np.nanmax(rows[["predicted", "actual"]].to_numpy(float), initial=0.0))
        panels.set_axis_limits_and_ticks(axes, 0, max(highest * 1.02, 1e-6), 4, axis="y")
        ticks = list_wording_ticks(2, most) if most >= 10 else list(range(2, int(most) + 1))
        axes.set(xlim=(np.log(2) - 0.1, np.log(max(most, 3)) + 0.1), xticks=np.log(ticks))
        axes.set_xticklabels(list(map(str, ticks)))
        panels.label_x_axis(axes, "wordings of each item")
    panels.label_y_axis(panel_axes[0], "standard error", 30)
    panels.draw_legend(drawing, legend_names, [looks[model] for model in models])
    return drawing


@run_in_report_style
def draw_ranking_calibration(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel for each way of holding back: the share of pairs that kept its order by what was foreseen.

    Parameters
    ----------
    frame
        From `figures.build_ranking_calibration_frames`: a row for every way and class of probabilities.
    width, looks
        In inches; not used: a mark is a class of pairs.

    Returns
    -------
    Drawing
        The figure.
    """
    ways = list(dict.fromkeys(frame["anew"]))
    drawing, panel_axes = panels.lay_out_panels(
        width, len(ways), len(ways), 2.2, left=0.52, gap=0.5, below=0.4, whole_titles=[WAYS[way] for way in ways]
    )
    for axes, way in zip(panel_axes, ways, strict=True):
        rows = frame[frame["anew"] == way]
        low = min(0.5, float(rows["kept"].min()))
        axes.plot([0.5, 1], [0.5, 1], color=FAINT, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        axes.plot(rows["foreseen"], rows["kept"], color=INK, linewidth=1)
        axes.scatter(
            rows["foreseen"],
            rows["kept"],
            s=6 + 60 * rows["n_cases"] / rows["n_cases"].max(),
            c=INK,
            zorder=3,
            clip_on=False,  # those of many pairs, at an end of the axis, are larger than its margin
        )
        names = [f"{n:,.0f} pairs, {share:.2f} foreseen" for n, share in rows[["n_cases", "foreseen"]].to_numpy(float)]
        marks.set_hover_titles_of_marks(axes, rows["foreseen"], rows["kept"], names, rows["kept"])
        panels.set_axis_limits_and_ticks(axes, 0.5, 1, 4)
        panels.set_axis_limits_and_ticks(axes, low, 1, 4, axis="y")
        panels.label_x_axis(axes, "probability foreseen")
    panels.label_y_axis(panel_axes[0], "share that kept its order", 30)
    return drawing


def _lay_out_named_rows(names: Sequence[str], width: float) -> tuple[list[str], Drawing, Axes]:
    """Lay out one panel with a row per name; return the names on lines that fit, the figure, and the panel."""
    fitted_names = panels.wrap_row_labels(names, width)
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, len(names) * panels.choose_distance_between_rows(fitted_names, 3.6),
        left=panels.measure_row_labels_width(fitted_names), title=0.05, below=0.4,
    )  # fmt: skip
    panels.set_up_panel_of_rows(axes, len(names))
    return fitted_names, drawing, axes


@run_in_report_style
def draw_wording_ranking(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a row per model: its rank, and the ranks that hold in other studies.

    Parameters
    ----------
    frame
        From `figures.build_wording_ranking_frames`: a row for every model.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = frame.sort_values("rank", kind="stable")
    names = labels.keep_ends_of_long_sequence(list(rows["label"]), panels.ROWS)
    rows = rows[rows["label"].isin(names)]
    rows = rows.assign(row=rows["label"].map(names.index))
    fitted_names, drawing, axes = _lay_out_named_rows(names, width)
    panels.set_axis_limits_and_ticks(axes, 1, max(2, len(frame)), 4)
    axes.set_xticks([tick for tick in axes.get_xticks() if float(tick).is_integer()])
    looks = looks or plotting.assign_look_to_each_model(rows["model"])
    panels.draw_dots(axes, rows, "rank", plotting.assign_one_look_to_all_models(looks))
    panels.draw_row_labels(axes, fitted_names)
    panels.label_x_axis(axes, "rank")
    return drawing


@run_in_report_style
def draw_template_accuracies(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a row per model: a dot for every template, and a stroke at their mean.

    Parameters
    ----------
    frame
        From `figures.build_template_accuracies_frames`: a row for every model and template.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    means = frame.groupby("label")["accuracy"].mean().sort_values(ascending=False, kind="stable")
    names = labels.keep_ends_of_long_sequence(list(means.index), panels.ROWS)
    fitted_names, drawing, axes = _lay_out_named_rows(names, width)
    panels.set_axis_limits_and_ticks(axes, 0, 1)
    rows = frame[frame["label"].isin(names)]
    panels.draw_dots(axes, rows.assign(row=rows["label"].map(names.index)), "accuracy", looks, with_intervals=False)
    for row, name in enumerate(names):
        axes.vlines(means[name], row - 0.35, row + 0.35, colors=FAINT, linewidth=1.5, zorder=4)
    panels.draw_row_labels(axes, fitted_names)
    panels.label_x_axis(axes, "accuracy")
    return drawing


@run_in_report_style
def draw_template_reliability(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per condition and a row per task: the reliability with one template, and with four.

    Parameters
    ----------
    frame
        The rows of one study of table `template_reliability`.
    width, looks
        In inches; not used: the marks stand for numbers of templates.

    Returns
    -------
    Drawing
        The figure.
    """
    ways = {"one": Look(OKABE_ITO[1], "o"), "four": Look(OKABE_ITO[0], "s")}
    names = ["One template of each task", "Four"]
    top = 0.06 + panels.LINE * panels.count_legend_lines(names, width)
    drawing, panel_axes, tasks = _lay_out_condition_panels(
        frame, frame.groupby("task", sort=False)["one"].mean(), width, top
    )
    for axes, (_, part) in zip(panel_axes, _list_drawn_conditions_with_rows(frame), strict=True):
        panels.set_axis_limits_and_ticks(axes, 0, 1, 4)
        for name, look in ways.items():
            rows = part[part["task"].isin(tasks) & part[name].notna()].assign(model=name)
            panels.draw_dots(
                axes, rows.assign(row=rows["task"].map(tasks.index)), name, {name: look}, label_column="task"
            )
        panels.label_x_axis(axes, "reliability")
    panels.draw_legend(drawing, names, list(ways.values()))
    return drawing


@run_in_report_style
def draw_template_ranges(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw a panel per condition and a row per task: a dot for every model's range over templates, and their mean.

    Parameters
    ----------
    frame
        The rows of one study of table `template_scores`.
    width, looks
        In inches; not used: all dots are alike.

    Returns
    -------
    Drawing
        The figure.
    """
    order = -frame.groupby("task", sort=False)["range"].mean()
    drawing, panel_axes, tasks = _lay_out_condition_panels(frame, order, width, 0.03)
    for axes, (_, part) in zip(panel_axes, _list_drawn_conditions_with_rows(frame), strict=True):
        panels.set_axis_limits_and_ticks(axes, 0, float(frame["range"].max()) or LEAST_RANGE, 4)
        rows = part[part["task"].isin(tasks)]
        axes.scatter(rows["range"], rows["task"].map(tasks.index), s=9, c=OKABE_ITO[0], alpha=0.35, linewidths=0)
        marks.set_hover_titles_of_marks(axes, rows["range"], rows["task"].map(tasks.index),
        rows["task"] + " · " + rows["model"],
                         rows["range"])  # fmt: skip
        for task, mean in rows.groupby("task", sort=False)["range"].mean().items():
            axes.vlines(mean, tasks.index(task) - 0.35, tasks.index(task) + 0.35, colors=INK, linewidth=1.5, zorder=4)
        panels.label_x_axis(axes, "highest minus lowest accuracy")
    return drawing


def _list_drawn_conditions_with_rows(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Split the rows by condition, with its name; only the conditions that there is room to draw."""
    return [(str(name), part) for name, part in frame.groupby("condition", sort=False)][:CONDITIONS]


def _lay_out_condition_panels(
    frame: pd.DataFrame, sort_value_by_task: pd.Series, width: float, top_margin: float
) -> tuple[Drawing, list[Axes], list[str]]:
    """Return a figure, a panel per condition, and the tasks of its rows by `sort_value_by_task`."""
    places = sort_value_by_task.sort_values(kind="stable")
    tasks = [*(task for task in places.index if task == ALL), *(task for task in places.index if task != ALL)]
    tasks = labels.keep_ends_of_long_sequence(tasks, panels.ROWS)
    short_tasks = labels.shorten_but_keep_distinct(
        ["mean over tasks" if task == ALL else task for task in tasks], panels.compute_letter_limit_of_labels(width)
    )
    conditions = _list_drawn_conditions_with_rows(frame)
    across = 1 if panels.is_one_column_wide(width) else len(conditions)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(conditions), across, len(tasks) * panels.choose_distance_between_rows(short_tasks, 3.6),
        left=panels.measure_row_labels_width(short_tasks), top=top_margin,
        below=0.4, title=0.19 if len(conditions) > 1 else 0.05,
        whole_titles=[f"condition {condition}" for condition, _ in conditions] if len(conditions) > 1 else (),
    )  # fmt: skip
    for number, axes in enumerate(panel_axes):
        panels.set_up_panel_of_rows(axes, len(tasks))
        if number % across == 0:
            panels.draw_row_labels(axes, short_tasks)
    return drawing, panel_axes, tasks
