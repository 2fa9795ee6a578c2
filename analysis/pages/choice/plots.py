"""Draw the figures on multiple choice: accuracy against XParaCon, XParaCon by model, letters, losses of training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.measures.choices import ALL, NO_SUBSET
from analysis.reporting.drawing import marks, panels, plotting, svg
from analysis.reporting.drawing.plotting import FAINT, HIGHEST, INK, PAGE, RULE, Drawing, Looks, run_in_report_style
from analysis.reporting.words import labels
from ground.capitals import capitalise_sentence

BEYOND = 0.09  # part of the height of a panel, for what is infinite
TALLEST_STACK = 6.7  # inches of panels below each other: a page of `article` has 7.6, and the caption stands on it
ROOM_BETWEEN_PANELS = 0.61  # inches above and below each line of panels, for its title and its axis
ROWS = 16  # rows of dots that there is room for in three lines of panels
LINES = 7  # lines that can be told apart in one panel


def list_panel_subsets(rows: pd.DataFrame) -> list[str]:
    """List the subsets that have panels: each, or all questions where there is one."""
    names = list(dict.fromkeys(rows["subset"]))
    return [name for name in names if name != ALL] or names


def format_subset_title(subset: str) -> str:
    """Write the title of the panel of a subset.

    >>> [format_subset_title(subset) for subset in ("all", "none", "math reasoning", "mmlu_anatomy", "ARC")]
    ['All questions', 'No subset', 'Math reasoning', 'mmlu_anatomy', 'ARC']
    """
    title = subset if "_" in subset else capitalise_sentence(subset)
    return {ALL: "All questions", NO_SUBSET: "No subset"}.get(subset, title)


@run_in_report_style
def draw_choice_map(
    rows: pd.DataFrame, arrows: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw accuracy against XParaCon, a panel per subset, with arrows from a base model to the one tuned from it.

    The names stand right of the points, in the order of their heights; a line leads from each to its point. What is
    infinite stands above a dashed line.

    Parameters
    ----------
    rows
        Rows of table `choice` of one study, with `label` and `silent`.
    arrows
        Labels of tuned models (`after`) and of their base models (`before`).
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    subsets = list_panel_subsets(rows)
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(rows["model"]))
    names = list(rows["label"].unique())
    across = 1 if panels.is_one_column_wide(width) else min(2, len(subsets))
    room = 0.45 * (width / across - 0.48)  # inches of a name: a little less than half of a panel
    fitted_names = {name: plotting.insert_line_breaks_into_name(name, room) for name in names}
    down = -(-len(subsets) // across)
    tallest = (0.128 * plotting.count_lines_of_tallest_text(fitted_names.values()) * len(names) + 0.86) * down
    legend_names = [] if tallest < HIGHEST else panels.prefix_names_with_numbers(names)
    if legend_names:
        across = min(2, len(subsets))
        fitted_names = {name: str(number) for number, name in enumerate(names, start=1)}
    most = 2.3 if panels.is_one_column_wide(width) else 2.6
    high = max(
        min(most, TALLEST_STACK / -(-len(subsets) // across) - ROOM_BETWEEN_PANELS),
        0.128 * plotting.count_lines_of_tallest_text(fitted_names.values()) * len(names) + 0.25,
    )
    drawing, panel_axes = panels.lay_out_panels(
        width, len(subsets), across, high, left=0.42, right=0.06, gap=0.44, below=0.42,
        whole_titles=list(map(format_subset_title, subsets)),
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    model_of = dict(zip(rows["label"], rows["model"], strict=True))
    panels.draw_legend(drawing, legend_names, [looks[model_of[name]] for name in names[: len(legend_names)]])
    for axes, subset in zip(panel_axes, subsets, strict=True):
        part = rows[rows["subset"] == subset]
        heights = _set_xparacon_axis_and_place_values(axes, part["xparacon"])
        names_at = (
            panels.measure_panel_size(axes)[0] - plotting.measure_widest_text(fitted_names.values()) - 0.1
        )  # inches from the left
        _set_accuracy_axis(axes, part, names_at)
        points = dict(zip(part["label"], zip(part["accuracy"], heights, strict=True), strict=True))
        for after, before in arrows.itertuples(index=False):
            if after in points and before in points:
                axes.annotate("", points[after], points[before], annotation_clip=True, zorder=2,
                              arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.9, "shrinkA": 3, "shrinkB": 3,
                                          "mutation_scale": 8})  # fmt: skip
        for model, model_rows in part.assign(height=heights).groupby("model", sort=False):
            look = looks[str(model)]
            faces = ["white" if quiet else look.colour for quiet in model_rows["silent"]]
            axes.scatter(model_rows["accuracy"], model_rows["height"], s=20, marker=look.marker, c=faces,
                         edgecolors=look.colour,
                         linewidths=1, zorder=3, gid=look.svg_class_of_model)  # fmt: skip
            pairs = zip(model_rows["label"], model_rows["xparacon"], strict=True)
            names = [f"{label}, XParaCon {svg.format_value_with_interval(value)}, accuracy" for label, value in pairs]
            marks.set_hover_titles_of_marks(axes, model_rows["accuracy"], model_rows["height"], names,
            model_rows["accuracy"],
                             classes=look.svg_class_of_model)  # fmt: skip
        _draw_point_names(axes, part.assign(height=heights), fitted_names, looks, names_at)
        panels.label_y_axis(axes, "XParaCon")
    return drawing


def _set_xparacon_axis_and_place_values(axes: Axes, values: pd.Series) -> pd.Series:
    """Set the vertical axis for XParaCon; return where the values stand, the infinite ones above a dashed line."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (1.0, 2.0)
    pad = max(0.25, 0.12 * (high - low))
    low, high = low - pad, high + pad
    infinite = len(finite) < len(values)
    step = (high - low) * BEYOND / (1 - BEYOND) if infinite else 0.0
    axes.set_ylim(low, high + 2 * step)
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    axes.set_yticks([*ticks, *([high + step] if infinite else [])])
    axes.set_yticklabels([*(f"{tick:g}" for tick in ticks), *(["∞"] if infinite else [])])
    if infinite:
        axes.axhline(high, color=FAINT, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
    return values.where(np.isfinite(values), high + step)


def _set_accuracy_axis(axes: Axes, part: pd.DataFrame, names_left_inches: float) -> None:
    """Set the horizontal axis, so that accuracy ends so many inches from the left, where the names begin."""
    accuracies = pd.concat([part["accuracy"], part["chance"]])
    low, high = (float(accuracies.min()), float(accuracies.max())) if len(part) else (0.0, 1.0)
    pad = max(0.03, 0.08 * (high - low))
    low, high = max(-0.02, low - pad), min(1.02, high + pad)
    axes.set_xlim(low, low + (high - low) * panels.measure_panel_size(axes)[0] / (names_left_inches - 0.2))
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    while len(ticks) > 5:
        ticks = ticks[::2]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    middle = max(0.0, names_left_inches - 0.2) / 2 / panels.measure_panel_size(axes)[0]  # of the part with numbers
    panels.draw_text(axes, (middle, 0), "accuracy", (0, -22), ha="center", va="baseline")
    if len(part):
        axes.axvline(float(part["chance"].mean()), color=RULE, linewidth=0.8, zorder=0)


def _draw_point_names(
    axes: Axes, part: pd.DataFrame, fitted_names: Mapping[str, str], looks: Looks, names_left_inches: float
) -> None:
    """Write the names at the right, apart from one another, each with a thin line to its point."""
    sorted_rows = part.sort_values("height", kind="stable")
    tall = panels.measure_panel_size(axes)[1]
    low, high = axes.get_ylim()
    target_heights = ((sorted_rows["height"] - low) / (high - low)).to_numpy() * tall
    left, right = axes.get_xlim()
    at = left + (right - left) * names_left_inches / panels.measure_panel_size(axes)[0]
    for place, (_, row) in zip(
        push_positions_apart(
            target_heights, (panels.LINE - 0.01) * plotting.count_lines_of_tallest_text(fitted_names.values()), tall
        ),
        sorted_rows.iterrows(),
        strict=True,
    ):
        y, colour = low + (high - low) * place / tall, looks[row["model"]].colour
        axes.plot([row["accuracy"], at], [row["height"], y], color=colour, linewidth=0.4, alpha=0.7, zorder=1,
                  gid=looks[row["model"]].svg_class_of_model)  # fmt: skip
        panels.draw_text(axes, (at, y), fitted_names[row["label"]], (2, 0), coordinates="data", label="said",
                         gid=looks[row["model"]].svg_class_of_model)  # fmt: skip


def push_positions_apart(places: np.ndarray, step: float, highest_place: float) -> np.ndarray:
    """Move places as little as possible, so that they are `step` apart and inside 0 to `highest_place`.

    The squared distances are least: neighbours that would be too near share the mean of what they wanted (isotonic
    regression), and what is outside moves to the edge.

    >>> [push_positions_apart(np.array(places), 0.2, 3.0).round(2).tolist() for places in ([0.5, 0.5, 2.0], [2.9, 3.0])]
    [[0.4, 0.6, 2.0], [2.7, 2.9]]

    Parameters
    ----------
    places
        Places in rising order, in inches.
    step, highest_place
        In inches, too.

    Returns
    -------
    array
        The new places.
    """
    from scipy.optimize import isotonic_regression

    steps = step * np.arange(len(places))
    pooled = isotonic_regression(places - steps).x if len(places) else steps
    return np.asarray(np.clip(pooled, step / 2, highest_place - step / 2 - steps[-1:].sum()) + steps)


@run_in_report_style
def draw_choice_xparacon(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw XParaCon with intervals, a panel per subset, a row per model and condition, the highest on top.

    An interval without an end goes to the edge of the panel, and so does the mark of an infinite value: a triangle.

    Parameters
    ----------
    frame
        Rows of table `choice` of one study, with `label` and `silent`.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    subsets = list_panel_subsets(frame)
    rows = frame[frame["subset"].isin(subsets)].sort_values(
        ["silent", "xparacon"], ascending=[True, False], kind="stable"
    )
    names = labels.keep_ends_of_long_sequence(list(rows["label"].unique()), panels.ROWS)
    rows = rows[rows["label"].isin(names)]
    rows = rows.assign(row=rows["label"].map(names.index))
    across = 1 if panels.is_one_column_wide(width) else min(3, len(subsets))
    row_labels, legend_names = panels.choose_row_labels_and_legend_names(names, width, -(-len(subsets) // across))
    drawing, panel_axes = panels.lay_out_panels(
        width,
        len(subsets),
        across,
        len(names) * panels.choose_distance_between_rows(row_labels, 2.4 if legend_names else 3.6),
        left=panels.measure_row_labels_width(row_labels),
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
        below=0.38,
        whole_titles=list(map(format_subset_title, subsets)),
    )
    model_of = dict(zip(rows["label"], rows["model"], strict=True))
    panels.draw_legend(drawing, legend_names, [looks[model_of[name]] for name in names[: len(legend_names)]])
    ends = rows[["xparacon", "xparacon_lower", "xparacon_upper"]].to_numpy(float)
    finite_ends = ends[np.isfinite(ends)]
    low, high = (
        (float(np.floor(finite_ends.min())), float(np.ceil(finite_ends.max() + 0.25)))
        if len(finite_ends)
        else (1.0, 2.0)
    )
    for number, (axes, subset) in enumerate(zip(panel_axes, subsets, strict=True)):
        part = rows[rows["subset"] == subset]
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, low, high, 4)
        infinite = np.isinf(part["xparacon"])
        clipped = part.assign(xparacon_upper=part["xparacon_upper"].clip(upper=axes.get_xlim()[1]))
        panels.draw_dots(axes, clipped[~infinite], "xparacon", looks, is_hollow=part.loc[~infinite, "silent"])
        for _, row in clipped[infinite].iterrows():
            colour = looks[row["model"]].colour
            axes.hlines(row["row"], row["xparacon_lower"], high, colors=colour, linewidth=1.2,
                        gid=looks[row["model"]].svg_class_of_model)  # fmt: skip
            axes.scatter(high, row["row"], s=22, marker=">", zorder=3, edgecolors=colour, linewidths=1,
                         gid=looks[row["model"]].svg_class_of_model,
                         c="white" if row["silent"] else colour)  # fmt: skip
        panels.label_x_axis(axes, "XParaCon")
        if number % across == 0:
            panels.draw_row_labels(axes, row_labels)
    return drawing


@run_in_report_style
def draw_choice_positions(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw how often each letter is chosen: a panel per letter, a row per model and condition, with intervals.

    The stroke is the share of the answers for which the letter is right.

    Parameters
    ----------
    frame
        Rows of table `positions` of one study, over all answers, with `label` and `silent`.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    gaps = frame.assign(gap=(frame["share"] - frame["is_right"]).abs()).groupby("label", sort=False)["gap"].max()
    names = labels.keep_ends_of_long_sequence(list(gaps.sort_values(ascending=False, kind="stable").index), ROWS)
    rows = frame[frame["label"].isin(names)]
    rows = rows.assign(row=rows["label"].map(names.index))
    letters = [letter for letter in rows["letter"].unique() if rows.loc[rows["letter"] == letter, "share"].max() > 0]
    fitted_names = panels.wrap_row_labels(names, width, 2.1, 6)
    across = min(len(letters), 2 if panels.is_one_column_wide(width) else 6)
    pitch, down = panels.choose_distance_between_rows(fitted_names, 2.1), -(-len(letters) // across)
    legend_names = [] if (pitch * len(names) + 0.4) * down < HIGHEST else panels.prefix_names_with_numbers(names)
    if legend_names:
        across = min(3, len(letters))
        fitted_names = [str(number) for number in range(1, len(names) + 1)]
    drawing, panel_axes = panels.lay_out_panels(
        width,
        len(letters),
        across,
        len(names) * panels.choose_distance_between_rows(fitted_names, 2.1),
        left=panels.measure_row_labels_width(fitted_names),
        gap=0.16,
        top=0.03 + panels.LINE * panels.count_legend_lines(legend_names, width),
        whole_titles=[letter if len(letter) == 1 else "no choice" for letter in letters],
    )
    model_of = dict(zip(rows["label"], rows["model"], strict=True))
    panels.draw_legend(drawing, legend_names, [looks[model_of[name]] for name in names[: len(legend_names)]])
    high = float(np.nanmax(rows[["share", "share_upper", "is_right"]].to_numpy(float)))
    for number, (axes, letter) in enumerate(zip(panel_axes, letters, strict=True)):
        part = rows[rows["letter"] == letter]
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, 0, high, 2)
        axes.vlines(part["is_right"], part["row"] - 0.35, part["row"] + 0.35, colors=FAINT, linewidth=1.4, zorder=2)
        panels.draw_dots(axes, part, "share", looks, is_hollow=part["silent"])
        if number % across == 0:
            panels.draw_row_labels(axes, fitted_names)
    return drawing


@run_in_report_style
def draw_training_losses(training_history: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the loss of each adapter while it learned: a line on the training examples, marks on the validation ones.

    Parameters
    ----------
    training_history
        Table `choice_history`.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    models = list(training_history["model"].unique())[:LINES]
    looks = plotting.assign_looks_of_distinct_colours(looks or plotting.assign_look_to_each_model(models), models)
    legend_names = models
    drawing, (axes,) = panels.lay_out_panels(
        width, 1, 1, 2.0 if panels.is_one_column_wide(width) else 2.4, left=0.46, title=0.05, below=0.4,
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    for model in models:
        part, look = training_history[training_history["model"] == model], looks[model]
        trained, checked = part.dropna(subset=["loss"]), part.dropna(subset=["validation_loss"])
        axes.plot(trained["step"], trained["loss"], color=look.colour, linewidth=1, gid=look.svg_class_of_model)
        axes.plot(checked["step"], checked["validation_loss"], look.marker, color=look.colour, ms=4, linestyle="none",
                  gid=look.svg_class_of_model)  # fmt: skip
        names = [f"{model}, step {step:g}" for step in checked["step"]]
        marks.set_hover_titles_of_marks(axes, checked["step"], checked["validation_loss"], names,
        checked["validation_loss"],
                         classes=look.svg_class_of_model)  # fmt: skip
    values = training_history.loc[training_history["model"].isin(models), ["loss", "validation_loss"]].to_numpy(float)
    steps = training_history.loc[training_history["model"].isin(models), "step"]
    panels.set_axis_limits_and_ticks(axes, 0, float(np.nanmax(values)), 4, axis="y")
    panels.set_axis_limits_and_ticks(axes, 0, float(steps.max()), 4)
    panels.label_x_axis(axes, "training steps")
    panels.label_y_axis(axes, "loss, nats per token", 26)
    panels.draw_legend(drawing, legend_names, [looks[model] for model in models])
    return drawing
