"""Draw the figures on scores: how models use a scale, and how well."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from analysis.pages.scoring.items import label_rows_with_model_and_prompt, parse_range_ends
from analysis.reporting.drawing import marks, panels, plotting
from analysis.reporting.drawing.plotting import FAINT, INK, PAGE, RULE, Drawing, Look, Looks, run_in_report_style
from analysis.reporting.words import labels

HUMAN = "human scores"
MOST_PANELS = 4  # groups of items in one picture
MOST_OMISSIONS = 14  # omissions that the figure of influence lists
MOST_NAMES = 12  # names that a legend has room for
MOST_LINES = 6  # models whose lines can be told apart in one panel
_GRID = 80  # points of a violin's outline
LOGARITHMIC = 20.0  # kurtosis from which on its axis is logarithmic beyond 1


@run_in_report_style
def draw_score_violins(items: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the distribution of every model's scores and the human ones, a panel per group (Sato et al., Figures 2, 4).

    Parameters
    ----------
    items
        Table `score_items`: one setting, at most `MOST_PANELS` groups.
    width, looks
        In inches; the models, which all look alike, as their names stand beside the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(items["model"]))
    items = _limit_to_extreme_models_that_fit(items, "score", panels.ROWS).assign(panel=_name_panel_of_each_row)
    panel_names, names = list(items["panel"].unique()), list(items["label"].unique())
    human = bool(items["gold"].notna().any())
    rows = [HUMAN, *names] if human else names
    row_labels = [HUMAN] * human + panels.wrap_row_labels(names, width)
    across = min(len(panel_names), 2 if panels.is_one_column_wide(width) else 4)
    high = len(rows) * panels.choose_distance_between_rows(row_labels, 3.6, 0.27)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(panel_names), across, high, left=panels.measure_row_labels_width(row_labels), bottom=0.15,
        whole_titles=panel_names,
    )  # fmt: skip
    scale = parse_range_ends(items["setting"].iloc[0].split("/")[0])
    for index, (axes, panel) in enumerate(zip(panel_axes, panel_names, strict=True)):
        part = items[items["panel"] == panel]
        panels.set_up_panel_of_rows(axes, len(rows))
        panels.set_axis_limits_and_ticks(axes, *scale, 5)
        if human:
            _draw_violin(
                axes, 0, part.drop_duplicates("item")["gold"].to_numpy(float), scale, Look(FAINT, "o"), True, HUMAN
            )
        for row, name in enumerate(names, start=int(human)):
            model_rows = part[part["label"] == name]
            if len(model_rows):
                filled = model_rows["stage"].iloc[0] != "base"
                scores = model_rows["score"].to_numpy(float)
                look = looks[model_rows["model"].iloc[0]]
                _draw_violin(axes, row, scores, scale, look, filled, name)
                marks.record_models_of_drawn_rows(axes, [row], [look])
        if index % across == 0:
            panels.draw_row_labels(axes, row_labels)
        if index >= len(panel_names) - across:
            panels.label_x_axis(axes, "Score")
    return drawing


def _limit_to_extreme_models_that_fit(frame: pd.DataFrame, measure: str, max_models: int) -> pd.DataFrame:
    """Keep all models that a figure has room for, or the ends of their order by the mean of a measure; add `label`."""
    rows = frame if "label" in frame else frame.assign(label=labels.build_row_labels(frame))
    order = rows.groupby("label")[measure].mean().sort_values(kind="stable", na_position="last").index
    return rows[rows["label"].isin(labels.keep_ends_of_long_sequence(list(order), max_models))]


def _name_panel_of_each_row(frame: pd.DataFrame) -> pd.Series:
    """Name the panel of every row: its group, with the study where there are several."""
    several = frame["study"].nunique() > 1
    return frame["group"] + (labels.SEPARATOR + frame["study"] if several else "")


def _draw_violin(
    axes: Axes, row: int, values: np.ndarray, scale: tuple[float, float], look: Look, filled: bool, name: str
) -> None:
    """Draw a mirrored kernel density of fixed height, cut at the lowest and highest score; the stroke is the median."""
    values = values[~np.isnan(values)]
    if not len(values):
        panels.draw_text(
            axes, (0.5, row), "no score", coordinates=axes.get_yaxis_transform(), ha="center", color=FAINT, label="said"
        )
        return
    least = max(scale[1] - scale[0], 1e-9) / 60  # so that a constant score is a narrow peak
    spread = values.std(ddof=1) * len(values) ** -0.2 if len(values) > 1 else 0.0  # Scott's rule
    bandwidth = max(least, spread)
    grid = np.linspace(max(values.min() - least, scale[0]), min(values.max() + least, scale[1]), _GRID)
    density = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2).sum(axis=1)
    half = 0.42 * density / density.max()
    face = look.colour if filled else "white"
    axes.fill_between(grid, row - half, row + half, facecolor=face, edgecolor=look.colour, linewidth=0.8, zorder=2,
                      gid=look.svg_class_of_model)  # fmt: skip
    median, quarters = float(np.median(values)), np.quantile(values, [0.25, 0.75])
    marks.set_hover_titles_of_marks(axes, [median], [row], f"{name}, median (quartiles)", [median], quarters[:1],
    quarters[1:],
                     look.svg_class_of_model)  # fmt: skip
    axes.vlines(median, row - 0.2, row + 0.2, colors="white" if filled else look.colour, linewidth=1.2, zorder=3,
                gid=look.svg_class_of_model)  # fmt: skip


@run_in_report_style
def draw_score_temperatures(scores: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw kurtosis and tau by temperature, a row of panels per group (Sato et al., Figures 3 and 5).

    Parameters
    ----------
    scores
        Rows of table `scores` for one range and method, at several temperatures; at most `MOST_PANELS` groups.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    scores = select_temperature_lines_to_draw(scores).assign(panel=_name_panel_of_each_row)
    looks = _assign_looks_to_labels(scores, looks)
    groups, names, legend_names = list(scores["panel"].unique()), *_list_labels_and_legend_names(scores)
    drawing, panel_axes = panels.lay_out_panels(
        width, 2 * len(groups), 2, min(1.6, 6.4 / len(groups) - 0.45), left=0.34, gap=0.45, bottom=0.18,
        whole_titles=[f"{measure.capitalize()}, {group}" for group in groups for measure in ("kurtosis", "tau")],
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    for number, axes in enumerate(panel_axes):
        group, measure = groups[number // 2], ("kurtosis", "tau")[number % 2]
        part = scores[scores["panel"] == group]
        step = 0.014 * np.ptp(scores["temperature"])  # beside each other, so that no interval hides another
        for place, name in enumerate(names):
            _draw_temperature_line(
                axes, part[part["label"] == name], measure, looks, (place - (len(names) - 1) / 2) * step
            )
        axes.xaxis.set_major_locator(FixedLocator(sorted(scores["temperature"].unique())))
        axes.xaxis.set_minor_locator(NullLocator())
        _scale_measure_axis(axes, measure, scores["kurtosis"].max())
        limits = scores[[measure, f"{measure}_lower", f"{measure}_upper"]]  # one scale, so that groups compare
        if limits.notna().any(axis=None):
            low, high = float(np.nanmin(limits)), float(np.nanmax(limits))
            axes.set_ylim(min(0, low) - 0.06 * (high - low), high + 0.08 * (high - low) + 1e-9)
        if number >= len(panel_axes) - 2:
            panels.label_x_axis(axes, "Temperature")
    _draw_score_legend(drawing, scores, names, legend_names, looks)
    return drawing


def select_temperature_lines_to_draw(scores: pd.DataFrame) -> pd.DataFrame:
    """Keep the lines that a panel has room for, with column `label`: all, or the ends of their order by mean tau."""
    return _limit_to_extreme_models_that_fit(label_rows_with_model_and_prompt(scores), "tau", MOST_LINES)


def _list_labels_and_legend_names(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the labels in the order of the models' names, and as a legend writes them (none where they are many)."""
    first = frame.drop_duplicates("label").sort_values(["model", "label"], kind="stable")
    names = list(first["label"])
    return names, names if len(names) <= MOST_NAMES else []


def _assign_looks_to_labels(frame: pd.DataFrame, looks: Looks | None) -> Looks:
    """Give every label its model's look, one each where a model has several; all one where there is no legend."""
    looks = looks or plotting.assign_look_to_each_model(frame["model"])
    model_by_label = dict(zip(frame["label"], frame["model"], strict=True))
    look_by_label = {label: looks[model] for label, model in model_by_label.items()}
    names, legend_names = _list_labels_and_legend_names(frame)
    if not legend_names:  # no colour is unsaid
        return plotting.assign_one_look_to_all_models(look_by_label)
    return plotting.assign_looks_of_distinct_colours(look_by_label, names)


def _draw_temperature_line(axes: Axes, part: pd.DataFrame, measure: str, looks: Looks, shift: float) -> None:
    """Draw the values of one model, moved aside `shift` a little; a line joins those that have an interval."""
    defined_rows = part.dropna(subset=[measure]).sort_values("temperature")
    if defined_rows.empty:
        return
    look, tuned = looks[defined_rows["label"].iloc[0]], defined_rows["stage"].iloc[0] != "base"
    x, y = defined_rows["temperature"].to_numpy() + shift, defined_rows[measure].to_numpy()
    lower, upper = (defined_rows[f"{measure}_{end}"] for end in ("lower", "upper"))
    has_interval = lower.notna().to_numpy()
    axes.vlines(x, lower, upper, colors=look.colour, linewidth=0.6, alpha=0.6, gid=look.svg_class_of_model)
    axes.plot(x[has_interval], y[has_interval], color=look.colour, linewidth=1.1,
              linestyle="-" if tuned else (0, (3, 2)), gid=look.svg_class_of_model)  # fmt: skip
    names = [
        f"{name}, temperature {at:g}"
        for name, at in zip(defined_rows["label"], defined_rows["temperature"], strict=True)
    ]
    marks.set_hover_titles_of_marks(axes, x, y, names, y, lower, upper, look.svg_class_of_model)
    axes.plot(x, y, look.marker, ms=3.6, mfc=look.colour if tuned else "white", mec=look.colour, mew=1,
              gid=look.svg_class_of_model)  # fmt: skip


def _scale_measure_axis(axes: Axes, measure: str, largest_value: float, axis_names: str = "y") -> None:
    """Scale an axis: logarithmic beyond 1 for a large kurtosis; a line at 0: no peak, or no relation."""
    for name in axis_names:
        axis = axes.yaxis if name == "y" else axes.xaxis
        if measure == "kurtosis" and largest_value > LOGARITHMIC:
            getattr(axes, f"set_{name}scale")("symlog", linthresh=1)
            axis.set_major_locator(FixedLocator([-1, 0, *(10.0**power for power in range(7))]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}".replace("-", "−")))
        (axes.axhline if name == "y" else axes.axvline)(0, color=RULE, linewidth=0.7, zorder=0)


def _draw_score_legend(
    drawing: Drawing, frame: pd.DataFrame, names: list[str], legend_names: list[str], looks: Looks
) -> None:
    """Draw the legend, if `legend_names` has any; hollow means before tuning."""
    first = frame.drop_duplicates("label").set_index("label")
    if legend_names:
        panels.draw_legend(drawing, legend_names, [looks[name] for name in names],
                      [first.loc[name, "stage"] == "base" for name in names])  # fmt: skip


@run_in_report_style
def draw_score_methods(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw kurtosis and tau of sampled scores against those of exact ones, a point per group, model and setting.

    Parameters
    ----------
    frame
        Table `score_methods`.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = frame.assign(label=labels.build_row_labels(frame))
    looks = _assign_looks_to_labels(frame, looks)
    names, legend_names = _list_labels_and_legend_names(frame)
    across = 1 if panels.is_one_column_wide(width) else 2
    side = (width - 0.6 - 0.6 * (across - 1)) / across
    drawing, panel_axes = panels.lay_out_panels(
        width, 2, across, side, left=0.5, right=0.1, gap=0.6, below=0.42, whole_titles=["Kurtosis", "Tau"],
        top=0.06 + panels.LINE * panels.count_legend_lines(legend_names, width),
    )  # fmt: skip
    for axes, (measure, edge, factor) in zip(panel_axes, (("kurtosis", 0.4, 1.3), ("tau", 0.05, 1.0)), strict=True):
        defined_rows = frame.dropna(subset=[f"{measure}_sampled", f"{measure}_exact"])
        for name in names:
            part = defined_rows[defined_rows["label"] == name]
            if len(part):
                look, tuned = looks[name], part["stage"].iloc[0] != "base"
                axes.plot(part[f"{measure}_exact"], part[f"{measure}_sampled"], look.marker, ms=3.2, mec=look.colour,
                          mfc=look.colour if tuned else "white", mew=0.8, alpha=0.8, linestyle="none",
                          rasterized=len(defined_rows) > 2000, gid=look.svg_class_of_model)  # fmt: skip
                marks.set_hover_titles_of_marks(axes, part[f"{measure}_exact"], part[f"{measure}_sampled"],
                f"{name}, sampled",
                                 part[f"{measure}_sampled"], classes=look.svg_class_of_model)  # fmt: skip
        values = pd.concat([defined_rows[f"{measure}_exact"], defined_rows[f"{measure}_sampled"]])
        _scale_measure_axis(axes, measure, values.max(), "xy")
        limits = (values.min() - edge, values.max() * factor + edge) if len(values) else (0.0, 1.0)
        axes.plot(limits, limits, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        axes.set_xlim(*limits)
        axes.set_ylim(*limits)
        panels.label_x_axis(axes, "Exact")
        panels.label_y_axis(axes, "Sampled", 28)
    _draw_score_legend(drawing, frame, names, legend_names, looks)
    return drawing


@run_in_report_style
def draw_score_influence(
    influence: pd.DataFrame, points: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None
) -> Drawing:
    """Draw the points that the correlation of kurtosis and tau is made of, and the correlation without each of them.

    Parameters
    ----------
    influence
        Rows of table `score_influence` of one source and setting.
    points
        Their points (`analysis.pages.scoring.influence.add_names_of_correlation_points`).
    width, looks
        In inches; not used: a point is a series, not a model, so it is black, with the shape of its series.

    Returns
    -------
    Drawing
        The figure.
    """
    omissions = select_most_influential_omissions(influence)
    # No names: there are three points only, or the correlation is undefined without any one of them.
    names = _wrap_names_of_omissions(omissions, 0.55 * min(width, 4.3))
    series = sorted(points.dropna(subset=["kurtosis_difference", "tau_difference"])["series"].astype(str).unique())
    legend_names = series if len(series) <= MOST_NAMES else []
    stacked = panels.is_one_column_wide(width) or not names
    room = panels.measure_row_labels_width(names)
    low = panels.choose_distance_between_rows(names, 6.0, 0.17) * len(names)
    side = width - 0.65 if panels.is_one_column_wide(width) else 2.7
    head = 0.08 + panels.LINE * panels.count_legend_lines(legend_names, width)
    tall = head + max(side, low) + 0.4 + (0.5 + low if stacked and names else 0)
    drawing = Drawing(figsize=(width, tall))
    height = side if stacked else max(side, low)
    _draw_influence_points(
        drawing.add_axes((0.5 / width, (tall - head - height) / tall, side / width, height / tall)), points, influence
    )
    if names:
        left = room if stacked else 0.5 + side + room
        place = (left / width, 0.4 / tall, (width - left - 0.12) / width, (low if stacked else height) / tall)
        _draw_correlations_by_omission(drawing.add_axes(place), influence, omissions, names)
    shapes = [Look(INK, plotting.MARKERS[place % len(plotting.MARKERS)]) for place in range(len(legend_names))]
    panels.draw_legend(drawing, legend_names, shapes)
    return drawing


def select_most_influential_omissions(influence: pd.DataFrame) -> pd.DataFrame:
    """Choose the omissions that the figure lists: those that change the correlation most, largest change first."""
    defined_omissions = influence[(influence["omitted"] != "nothing") & influence["pearson"].notna()]
    order = defined_omissions["change"].abs().sort_values(ascending=False, kind="stable").index
    return defined_omissions.loc[order[:MOST_OMISSIONS]]


def _wrap_names_of_omissions(omissions: pd.DataFrame, room: float) -> list[str]:
    """Name the omissions in lines of some inches: points as they are, groups and series with a note."""
    endings = omissions["omitted"].map({"point": "", "group": " (group)", "series": " (series)"})
    return [
        plotting.insert_line_breaks_into_name(f"{name}{ending}", room)
        for name, ending in zip(omissions["omitted_name"], endings, strict=True)
    ]


def _draw_influence_points(axes: Axes, points: pd.DataFrame, influence: pd.DataFrame) -> None:
    """Draw the changes of kurtosis and tau, with the name of the point that moves the correlation most."""
    defined_points = points.dropna(subset=["kurtosis_difference", "tau_difference"])
    for number, (_, part) in enumerate(defined_points.groupby("series", sort=True)):
        axes.plot(part["kurtosis_difference"], part["tau_difference"], linestyle="none", ms=4, color=INK,
                  marker=plotting.MARKERS[number % len(plotting.MARKERS)])  # fmt: skip
        marks.set_hover_titles_of_marks(axes, part["kurtosis_difference"], part["tau_difference"],
        part["point"].astype(str) + ", tau",
                         part["tau_difference"])  # fmt: skip
    _scale_measure_axis(axes, "tau", 0, "xy")
    axes.margins(0.08, 0.14)
    single = influence[(influence["omitted"] == "point") & influence["change"].notna()]
    if len(single):
        name = single.loc[single["change"].abs().idxmax(), "omitted_name"]
        row = defined_points[defined_points["point"] == name].iloc[0]
        right = row["kurtosis_difference"] > defined_points["kurtosis_difference"].median()
        panels.draw_text(axes, (row["kurtosis_difference"], row["tau_difference"]),
                         plotting.insert_line_breaks_into_name(str(name), 0.4 * panels.measure_panel_size(axes)[0]),
                    (4 if right else -4, 4), va="bottom", coordinates="data", ha="right" if right else "left",
                    label="said")  # fmt: skip
    panels.label_x_axis(axes, "Kurtosis, post minus pre")
    panels.label_y_axis(axes, "Tau, post minus pre", 29)


def _draw_correlations_by_omission(
    axes: Axes, influence: pd.DataFrame, omissions: pd.DataFrame, names: list[str]
) -> None:
    """Draw the correlation without each point, group or series; the line and the band are those of all points."""
    whole = influence[influence["omitted"] == "nothing"].iloc[0]
    panels.set_up_panel_of_rows(axes, len(omissions))
    if not np.isnan(whole["pearson_lower"]):
        axes.axvspan(whole["pearson_lower"], whole["pearson_upper"], color=RULE, alpha=0.4, linewidth=0, zorder=0)
    panels.set_axis_limits_and_ticks(axes, -1, 1, 4, reference_line=whole["pearson"])
    axes.scatter(omissions["pearson"], range(len(omissions)), s=17, color=INK, zorder=3)
    marks.set_hover_titles_of_marks(axes, omissions["pearson"], range(len(omissions)), names, omissions["pearson"])
    panels.draw_row_labels(axes, names)
    panels.label_x_axis(axes, "Pearson’s r without it")
