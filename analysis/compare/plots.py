"""Draw the differences of a comparison with both intervals, and say in a caption what is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.compare.verdicts import HIGHER_A, HIGHER_B
from analysis.measures.reworded import LOGIT
from analysis.reporting.drawing import panels
from analysis.reporting.drawing.plotting import FAINT, OKABE_ITO, PAGE, Drawing, Look, run_in_report_style
from analysis.reporting.words import labels

LOOKS = {HIGHER_A: Look(OKABE_ITO[0], "o"), HIGHER_B: Look(OKABE_ITO[1], "s"), "": Look(FAINT, "D")}
WORDS = {HIGHER_A: HIGHER_A, HIGHER_B: HIGHER_B, "": "neither is found higher"}


@run_in_report_style
def draw_differences(frame: pd.DataFrame, *, width: float = PAGE) -> Drawing:
    """Draw a row per comparison: the difference, its interval for these wordings (thick) and for wordings like these.

    Parameters
    ----------
    frame
        Rows of `measures.compare_paired_runs`, of one unit, with `label`.
    width
        In inches.

    Returns
    -------
    Drawing
        The figure.
    """
    names = panels.wrap_row_labels(list(frame["label"]), width, 6.0)
    kinds = frame["verdict"].where(frame["verdict"].isin([HIGHER_A, HIGHER_B]), "")
    drawn_kinds = [kind for kind in LOOKS if (kinds == kind).any()]
    legend = [WORDS[kind] for kind in drawn_kinds]
    height = panels.choose_distance_between_rows(names, 6.0) * len(names)
    drawing, axes = panels.lay_out_panel_with_named_rows(names, width, height, legend)
    rows = frame.assign(
        row=np.arange(len(frame)), model=kinds, difference_lower=frame["lower"], difference_upper=frame["upper"]
    )
    limit = panels.compute_symmetric_limit(rows[["difference", "lower", "upper", "like_lower", "like_upper"]])
    axes.hlines(rows["row"], rows["like_lower"], rows["like_upper"], linewidth=0.6,
                colors=[LOOKS[kind].colour for kind in kinds])  # fmt: skip
    panels.draw_dots(axes, rows, "difference", LOOKS)
    panels.set_axis_limits_and_ticks(axes, -limit, limit, 4, reference_line=0)
    panels.label_x_axis(axes, "A less B")
    panels.draw_legend(drawing, legend, [LOOKS[kind] for kind in drawn_kinds])
    return drawing


def caption_differences(frame: pd.DataFrame, n_rows: int) -> str:
    """Say what dots and lines are.

    Parameters
    ----------
    frame
        The rows that are drawn.
    n_rows
        How many there are.

    Returns
    -------
    The caption.
    """
    measures = set(frame["measure"])
    unit = "" if len(measures) > 1 else f" in {frame['measure'].iloc[0]}"
    unit += ", which is agreement on a scale without ends" if measures == {LOGIT} else ""
    return (
        f"A less B{unit}. {labels.describe_interval_lines(frame, ('lower', 'upper'))}"
        + (" No line: one item, or fewer than six that differ from the others." if frame["lower"].isna().any() else "")
        + " Colours follow the verdict, which is after Holm; intervals are not corrected."
        + labels.describe_shown_rows(len(frame), n_rows, "rows", "first")
    )
