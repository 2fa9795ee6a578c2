"""Draw the figures of the page; each function takes the frames of its namesake in `captions`."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.reporting.drawing import panels, plotting
from analysis.reporting.drawing.plotting import PAGE, Drawing, Looks, run_in_report_style


def select_rows_of_first_models(frame: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of the first models that a figure has room for; rows of a model stay together."""
    models = list(dict.fromkeys(frame["model"]))
    sizes = frame.groupby("model", sort=False).size().cumsum()
    chosen = [model for model in models if sizes[model] <= panels.ROWS] or models[:1]
    return frame[frame["model"].isin(chosen)].head(panels.ROWS).reset_index(drop=True)


@run_in_report_style
def draw_reading_effects(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw, for every model and reading, the SD over wordings and the share of it that stays under every reading.

    Parameters
    ----------
    frame
        Rows of table `readings` of one study and setting.
    width, looks
        In inches; how each model is drawn, by default `plotting.assign_look_to_each_model`.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = select_rows_of_first_models(frame)
    measures = {"wording_sd": "SD over wordings", "kept": "Share that stays"}
    return _draw_dots_per_model_and_reading(rows, list(rows["reading"]), measures, width, looks)


@run_in_report_style
def draw_reading_agreement(frame: pd.DataFrame, *, width: float = PAGE, looks: Looks | None = None) -> Drawing:
    """Draw, for every model and pair of readings, the share on the same side and the correlation over wordings.

    Parameters
    ----------
    frame
        Rows of table `reading_pairs` of one study and setting.
    width, looks
        As in `draw_reading_effects`.

    Returns
    -------
    Drawing
        The figure.
    """
    rows = select_rows_of_first_models(frame)
    names = [f"{a} – {b}" for a, b in zip(rows["reading_a"], rows["reading_b"], strict=True)]
    return _draw_dots_per_model_and_reading(
        rows, names, {"same_side": "On the same side", "correlation": "Correlation"}, width, looks
    )


def _draw_dots_per_model_and_reading(
    rows: pd.DataFrame, names: list[str], measures: Mapping[str, str], width: float, looks: Looks | None
) -> Drawing:
    """Draw a row of dots per model and reading, a panel per measure, the models by their colours."""
    frame = rows.assign(row=range(len(rows)), label=rows["model"] + " · " + pd.Series(names, rows.index))
    models = list(dict.fromkeys(frame["model"]))
    look_by_model = plotting.assign_looks_of_distinct_colours(
        looks or plotting.assign_look_to_each_model(models), models
    )
    top = 0.06 + panels.LINE * panels.count_legend_lines(models, width)
    row_labels = panels.wrap_row_labels(names, width, 6.0)
    high = len(frame) * panels.choose_distance_between_rows(row_labels, 6.0)
    drawing, panel_axes = panels.lay_out_panels(
        width, len(measures), len(measures), high, left=panels.measure_row_labels_width(row_labels), top=top, gap=0.26,
        whole_titles=list(measures.values()),
    )  # fmt: skip
    panels.draw_legend(drawing, models, [look_by_model[model] for model in models])
    for number, (axes, measure) in enumerate(zip(panel_axes, measures, strict=True)):
        panels.set_up_panel_of_rows(axes, len(frame))
        panels.draw_dots(axes, frame.astype({measure: float}), measure, look_by_model)
        ends = frame[[measure, f"{measure}_lower", f"{measure}_upper"]].astype(float)
        high_end, low_end = ends.max().max(), min(0.0, float(ends.min().min())) if ends.notna().any(axis=None) else 0.0
        largest = 1.0 if measure != "wording_sd" or pd.isna(high_end) else max(0.1, float(high_end))
        panels.set_axis_limits_and_ticks(axes, low_end, largest, 2 if panels.is_one_column_wide(width) else 4)
        if number == 0:
            panels.draw_row_labels(axes, row_labels)
    return drawing
