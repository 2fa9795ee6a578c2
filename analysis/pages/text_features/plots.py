"""Draw the figures on text features: effects under every model, correlations, residuals, random intercepts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator

from analysis.pages.text_features.columns import TERMS
from analysis.pages.text_features.family import MOST_PANELS
from analysis.pages.text_features.terms import phrase_predictor_as_title, sort_predictors_by_significance
from analysis.reporting.drawing import marks, matrices, panels, plotting
from analysis.reporting.drawing.plotting import (
    DIVERGING,
    FAINT,
    INK,
    PAGE,
    Drawing,
    Looks,
    measure_text_width,
    run_in_report_style,
)
from analysis.reporting.words import labels
from analysis.statistics.mixed.design import INTERCEPT
from analysis.statistics.mixed.result import ALPHA

BINS = (44, 30)
DENSE = 400  # rows from which on a cloud is drawn as a density
MOST_ROWS = panels.ROWS
LEAST_EDGE = 1e-3  # of a residual or intercept: numbers that only rounding keeps from 0 would be written as 1e-10


def compute_effect_axis_limit(mixed: pd.DataFrame) -> float:
    """Return half the width of the axis of effects: every estimate fits on it, and 19 of 20 intervals do."""
    ends = mixed[["estimate_std_lower", "estimate_std_upper"]].abs().max(axis=1).dropna()
    largest = float(mixed["estimate_std"].abs().max())
    return 1.08 * max(0.01, largest, float(ends.quantile(0.95)) if len(ends) else 0.0)


def select_drawn_effects(mixed: pd.DataFrame) -> pd.DataFrame:
    """Keep the effects that a figure has room for, with column `label`: of all models, or of those that move most."""
    frame = mixed[mixed["term"] != INTERCEPT].dropna(subset=["estimate_std"])
    return select_rows_of_largest_mean_square_labels(frame, "estimate_std", MOST_ROWS)


def select_rows_of_largest_mean_square_labels(frame: pd.DataFrame, value_column: str, max_labels: int) -> pd.DataFrame:
    """Keep the labels with the largest root mean square of a value, where there are more than `max_labels`.

    Parameters
    ----------
    frame
        Rows with `label`, or with the columns that it is made of.
    value_column
        The column.
    max_labels
        Most labels to keep.

    Returns
    -------
    DataFrame
        Their rows, with `label`.
    """
    frame = frame if "label" in frame else frame.assign(label=labels.build_row_labels(frame))
    size = (frame[value_column] ** 2).groupby(frame["label"], observed=True).mean()
    size = size.sort_values(ascending=False, kind="stable")
    return frame if len(size) <= max_labels else frame[frame["label"].isin(size.index[:max_labels])]


def has_room_for_dots(frame: pd.DataFrame) -> bool:
    """Return whether dots with intervals fit, a row per model and a panel per feature, also into one column."""
    lines = -(-frame["term"].nunique() // 2)
    return bool(lines * (0.39 + 0.118 * frame["label"].nunique()) < plotting.HIGHEST - 0.2)


@run_in_report_style
def draw_effects(mixed: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw standardised effects: with intervals, a panel per predictor; of many models as a map of models x predictors.

    Parameters
    ----------
    mixed
        Table `mixed`.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    frame = select_drawn_effects(mixed)
    names, terms = sorted(frame["label"].unique()), sort_predictors_by_significance(frame)
    if not has_room_for_dots(frame):
        return _draw_effect_map(frame, names, terms, width, looks)
    across = min(len(terms), 2 if panels.is_one_column_wide(width) else 5)
    row_labels = panels.wrap_row_labels(names, width, 8.6 / -(-len(terms) // across) - 0.39)
    lines = -(-len(terms) // across)
    high = len(names) * panels.choose_distance_between_rows(row_labels, 8.6 / lines - 0.39, 0.17)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(terms), across, high, left=panels.measure_row_labels_width(row_labels), bottom=0.17,
        whole_titles=[phrase_predictor_as_title(term) for term in terms],
    )  # fmt: skip
    edge = compute_effect_axis_limit(frame)
    frame = frame.assign(row=frame["label"].map(names.index))
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    for i, (axes, term) in enumerate(zip(panel_axes, terms, strict=True)):
        panels.set_up_panel_of_rows(axes, len(names))
        panels.set_axis_limits_and_ticks(axes, -edge, edge, 2, reference_line=0.0)
        _draw_effect_dots_in_panel(axes, frame[frame["term"] == term], edge, looks)
        if i % across == 0:
            panels.draw_row_labels(axes, row_labels)
    unit = "SDs of the response per SD of the feature"
    left_of_drawing = measure_text_width(unit) + panels.LABEL - panel_axes[-1].get_position().x1 * width
    over = max(0.0, left_of_drawing)
    panels.draw_text(panel_axes[-1], (1, 0), unit, (72 * over, -20), ha="right", va="baseline", label="unit")
    return drawing


def _draw_effect_dots_in_panel(axes: Axes, frame: pd.DataFrame, edge: float, looks: Looks) -> None:
    """Draw one row per model; filled where significant, arrows where an interval is longer than the axis."""
    low, high = frame["estimate_std_lower"], frame["estimate_std_upper"]
    clipped = frame.assign(estimate_std_lower=low.clip(lower=-edge), estimate_std_upper=high.clip(upper=edge))
    panels.draw_dots(axes, clipped, "estimate_std", looks, is_hollow=~frame["confirmed"].astype(bool))
    for is_beyond, place, marker in ((low < -edge, -edge, "<"), (high > edge, edge, ">")):
        colours = [looks[model].colour for model in frame.loc[is_beyond, "model"]]
        if colours:
            axes.scatter(
                [place] * len(colours), frame.loc[is_beyond, "row"], s=12, marker=marker, c=colours, linewidths=0
            )


def _draw_effect_map(
    frame: pd.DataFrame, names: list[str], terms: list[str], width: float, looks: Looks | None
) -> Drawing:
    """Draw the effects as a map of models x predictors; confirmed ones are marked."""
    values, clear = (
        frame.pivot(index="label", columns="term", values=value).reindex(index=names, columns=terms)
        for value in ("estimate_std", "confirmed")
    )
    edge = float(f"{panels.compute_symmetric_limit(values):.2g}")
    return matrices.draw_heat_map(
        values.astype(float), width, cmap=DIVERGING, low=-edge, high=edge,
        colour_bar_title="SDs of the response per SD",
        row_labels=panels.wrap_row_labels(names, width, 6.0, len(terms)),
        column_labels=[phrase_predictor_as_title(term) for term in terms],
        is_marked=clear.fillna(False).to_numpy(bool),
        row_classes=plotting.list_model_css_class_of_each_label(frame, names, looks),
    )  # fmt: skip


@run_in_report_style
def draw_correlations(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw correlations between the features as a clustered matrix with its values (Haller et al., Figure 6).

    Parameters
    ----------
    frame
        Table `correlations` of one study, in the order of its clustering.
    width, looks
        In inches; not used: the colours mean correlations.

    Returns
    -------
    Drawing
        The figure.
    """
    order = list(dict.fromkeys(frame["feature_a"]))
    r, p, n = (
        frame.pivot(index="feature_a", columns="feature_b", values=value).reindex(index=order, columns=order)
        for value in ("r", "p", "n")
    )
    lines = n.map(lambda count: f"n {count:,.0f}").to_numpy() if frame["n"].nunique() > 1 else None
    return matrices.draw_lower_triangle(
        r.to_numpy(float), [TERMS[name].header for name in order], width, colour_limit=1,
        colour_bar_title="Pearson correlation",
        is_marked=(p < ALPHA).to_numpy(), second_lines=lines,
    )  # fmt: skip


@run_in_report_style
def draw_residuals(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw residuals against fitted values, a panel per model: their density, and the mean residual along the axis.

    Parameters
    ----------
    frame
        study, model, condition, fitted, residual: one row per response of at most `MOST_PANELS` fits.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    drawing, model_panels = _lay_out_model_panels(frame, "residual", width, "Fitted", "Residual")
    for axes, panel in model_panels:
        edge = 1.05 * max(LEAST_EDGE, float(panel["residual"].abs().max()))
        x_low, x_high = float(panel["fitted"].min()), float(panel["fitted"].max())
        if x_high - x_low < LEAST_EDGE:  # all fitted values are alike
            x_low, x_high = x_low - LEAST_EDGE, x_high + LEAST_EDGE
        look = looks[panel["model"].iloc[0]]
        extent = [[x_low, x_high], [-edge, edge]]
        axes.set_gid(look.svg_class_of_model)
        if len(panel) >= DENSE:
            counts, *_ = np.histogram2d(panel["fitted"], panel["residual"], bins=BINS, range=extent)
            axes.imshow(
                np.where(counts > 0, np.log1p(counts), np.nan).T, origin="lower", aspect="auto", vmin=0,
                extent=(x_low, x_high, -edge, edge), interpolation="nearest", cmap=_build_tint_colormap(look.colour),
            )  # fmt: skip
        else:
            axes.scatter(panel["fitted"], panel["residual"], s=3, color=look.colour, linewidths=0, rasterized=True)
        axes.axhline(0, color=INK, linewidth=0.7, linestyle=panels.DASHED)
        _draw_residual_trend(axes, panel)
        panels.set_axis_limits_and_ticks(axes, x_low, x_high)
        axes.set_ylim(-edge, edge)
    return drawing


def _draw_residual_trend(axes: Axes, panel: pd.DataFrame) -> None:
    """Draw the mean residual over tenths of the fitted values: flat at 0 where the model is right on average.

    A tenth holds 20 rows or more; with fewer rows, there are fewer parts than ten. Bars: 1.96 standard errors.
    """
    tenths = pd.qcut(panel["fitted"], min(10, max(2, len(panel) // 20)), duplicates="drop")
    grouped = panel.groupby(tenths, observed=True)
    means, error = grouped[["fitted", "residual"]].mean(), 1.96 * grouped["residual"].sem()
    axes.vlines(means["fitted"], means["residual"] - error, means["residual"] + error, colors=INK, linewidth=0.8)
    axes.plot(means["fitted"], means["residual"], color=INK, linewidth=1, marker="o", ms=2)


@run_in_report_style
def draw_intercepts(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw the random intercepts of the items with 95 % intervals, sorted, a panel per model.

    Parameters
    ----------
    frame
        study, model, condition, level, estimate, se: one row per item; at most `MOST_PANELS` models.
    width, looks
        In inches; the models, which all look alike (`plotting.assign_one_look_to_all_models`): their names stand beside
        the marks.

    Returns
    -------
    Drawing
        The figure.
    """
    looks = plotting.assign_one_look_to_all_models(looks or plotting.assign_look_to_each_model(frame["model"]))
    drawing, model_panels = _lay_out_model_panels(frame, "estimate", width, "Items, sorted", "Random intercept")
    for axes, rows in model_panels:
        panel = rows.sort_values("estimate", kind="stable")
        look = looks[panel["model"].iloc[0]]
        axes.set_gid(look.svg_class_of_model)
        x, centre, error = np.arange(len(panel)), panel["estimate"].to_numpy(), 1.96 * panel["se"].to_numpy()
        axes.axhline(0, color=INK, linewidth=0.7, linestyle=panels.DASHED, zorder=1)
        marks.set_hover_titles_of_marks(
            axes, x, centre, "item " + panel["level"].astype(str), centre, centre - error, centre + error,
            look.svg_class_of_model,
        )  # fmt: skip
        many = len(panel) > DENSE
        axes.vlines(x, centre - error, centre + error, colors=look.colour, linewidth=0.6, alpha=0.7, rasterized=many)
        axes.scatter(x, centre, s=3, color=look.colour, linewidths=0, zorder=3, rasterized=many)
        edge = 1.05 * max(LEAST_EDGE, float((np.abs(centre) + error).max()))
        axes.set_ylim(-edge, edge)
        axes.set_xticks([])
    return drawing


def _lay_out_model_panels(
    frame: pd.DataFrame, value_column: str, width: float, x_label: str, y_label: str
) -> tuple[Drawing, list[tuple[Axes, pd.DataFrame]]]:
    """Make a small panel per model, each on its own scale: else a model that hardly moves would show nothing."""
    frame = select_rows_of_largest_mean_square_labels(frame, value_column, MOST_PANELS)
    names = sorted(frame["label"].unique())
    across = min(len(names), 2 if panels.is_one_column_wide(width) else 4)
    drawing, axes_of = panels.lay_out_panels(
        width, len(names), across, 1.0 if len(names) > 4 else 1.3, left=0.52, gap=0.42, bottom=0.2,
        whole_titles=names, titles_left=0.36,
    )  # fmt: skip
    parts = dict(list(frame.groupby("label", sort=False, observed=True)))
    for i, axes in enumerate(axes_of):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=2))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=3, symmetric=True))
        axes.spines[["left", "bottom"]].set_color(FAINT)
        if i % across == 0:
            panels.label_y_axis(axes, y_label, 31)
        if i >= len(names) - across:
            panels.label_x_axis(axes, x_label)
    return drawing, [(axes, parts[name]) for axes, name in zip(axes_of, names, strict=True)]


def _build_tint_colormap(colour: str) -> Colormap:
    """Return a colour map from nearly white to the model's colour."""
    return LinearSegmentedColormap.from_list("tints", ["#f3f4f6", colour])
